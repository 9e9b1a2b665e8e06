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

/* BGZF: members of at most 16 KiB of content whose headers state their length (the extra field BC). */
static inline size_t test_bgzf(const char *text, size_t bytes, char *into, size_t room)
{
#ifdef TANDEM_HAVE_ZLIB
    enum { CONTENT = 16 << 10, HEADER = 18, TRAILER = 8 };
    size_t made = 0;
    for (size_t from = 0; from == 0 || from < bytes; from += CONTENT) {
        size_t part = bytes - from < CONTENT ? bytes - from : CONTENT, left = room - made;
        unsigned char *at = (unsigned char *)into + made;
        z_stream stream = {.next_in = (unsigned char *)text + from, .avail_in = (unsigned)part,
                           .next_out = at + HEADER, .avail_out = (unsigned)(left - HEADER - TRAILER)};
        if (left < HEADER + TRAILER + 64 || deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            return 0;
        int code = deflate(&stream, Z_FINISH);
        size_t length = HEADER + stream.total_out + TRAILER;
        unsigned long check = crc32(0, (const unsigned char *)text + from, (unsigned)part);
        deflateEnd(&stream);
        if (code != Z_STREAM_END) return 0;
        memcpy(at, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0", 16);
        at[16] = (unsigned char)(length - 1);
        at[17] = (unsigned char)((length - 1) >> 8);
        for (int i = 0; i < 4; i++) {
            at[length - TRAILER + (size_t)i] = (unsigned char)(check >> (8 * i));
            at[length - 4 + (size_t)i] = (unsigned char)(part >> (8 * i));
        }
        made += length;
    }
    return made;
#else
    (void)text, (void)bytes, (void)into, (void)room;
    return 0;
#endif
}

/* One xz stream of blocks of 32 KiB of content. */
static inline size_t test_xz_blocks(const char *text, size_t bytes, char *into, size_t room)
{
#ifdef TANDEM_HAVE_LZMA
    enum { CONTENT = 32 << 10 };
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret code = lzma_easy_encoder(&stream, 0, LZMA_CHECK_CRC32);
    stream.next_out = (uint8_t *)into;
    stream.avail_out = room;
    for (size_t from = 0; code == LZMA_OK && (from == 0 || from < bytes); from += CONTENT) {
        stream.next_in = (const uint8_t *)text + from;
        stream.avail_in = bytes - from < CONTENT ? bytes - from : CONTENT;
        bool last = from + CONTENT >= bytes;
        do code = lzma_code(&stream, last ? LZMA_FINISH : LZMA_FULL_FLUSH);
        while (code == LZMA_OK);
        if (code == LZMA_STREAM_END && !last) code = LZMA_OK;
    }
    size_t made = code == LZMA_STREAM_END ? stream.total_out : 0;
    lzma_end(&stream);
    return made;
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
