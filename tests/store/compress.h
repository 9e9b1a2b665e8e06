/* Compressed copies of a text, for the tests of what reads them. Each function
 * appends one member (frame, stream) and returns the bytes written, 0 when its
 * library was missing at build time. */
#ifndef TD_TEST_COMPRESS_H
#define TD_TEST_COMPRESS_H

#include "test.h"

#ifdef TANDEM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TANDEM_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef TANDEM_HAVE_LZMA
#include <lzma.h>
#endif

typedef size_t (*test_compressor)(const char *text, size_t bytes, char *into, size_t room);

static inline size_t test_gzip(const char *text, size_t bytes, char *into, size_t room)
{
#ifdef TANDEM_HAVE_ZLIB
    z_stream stream = {.next_in = (unsigned char *)text, .avail_in = (unsigned)bytes,
                       .next_out = (unsigned char *)into, .avail_out = (unsigned)room};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    int code = deflate(&stream, Z_FINISH);
    size_t made = stream.total_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? made : 0;
#else
    (void)text, (void)bytes, (void)into, (void)room;
    return 0;
#endif
}

static inline size_t test_zstd(const char *text, size_t bytes, char *into, size_t room)
{
#ifdef TANDEM_HAVE_ZSTD
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); /* as the zstd tool does */
    size_t made = ZSTD_compress2(context, into, room, text, bytes);
    ZSTD_freeCCtx(context);
    return ZSTD_isError(made) ? 0 : made;
#else
    (void)text, (void)bytes, (void)into, (void)room;
    return 0;
#endif
}

static inline size_t test_xz(const char *text, size_t bytes, char *into, size_t room)
{
#ifdef TANDEM_HAVE_LZMA
    size_t made = 0;
    lzma_ret code = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, bytes, (uint8_t *)into,
                                            &made, room);
    return code == LZMA_OK ? made : 0;
#else
    (void)text, (void)bytes, (void)into, (void)room;
    return 0;
#endif
}

static const struct {
    const char *suffix;
    test_compressor compress;
} test_codecs[] = {{".gz", test_gzip}, {".zst", test_zstd}, {".xz", test_xz}};

enum { TEST_CODECS = sizeof test_codecs / sizeof *test_codecs };

/* Writes `text` to `path` in `members` parts, each compressed on its own. False
 * when the library is missing. */
static inline bool test_write_compressed(const char *path, const char *text, size_t bytes, int members,
                                         test_compressor compress)
{
    size_t room = bytes + bytes / 8 + (size_t)members * 1024 + 1024, made = 0;
    char *packed = malloc(room);
    for (int i = 0; i < members; i++) {
        size_t from = bytes * (size_t)i / (size_t)members, to = bytes * (size_t)(i + 1) / (size_t)members;
        size_t part = compress(text + from, to - from, packed + made, room - made);
        made += part;
        if (part != 0) continue;
        free(packed);
        return false;
    }
    test_write_file(path, packed, made);
    free(packed);
    return true;
}

#endif
