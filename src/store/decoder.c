/* One table of codecs, each a begin, a step and an end around its library's
 * stream. A step consumes input and produces output as far as there is room; a step
 * that does neither has met a truncated file. */
#include "store/decoder.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/size.h"
#include "store/isal.h"

#include <stdlib.h>
#include <string.h>

#ifdef TANDEM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TANDEM_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef TANDEM_HAVE_LZMA
#include <lzma.h>
#endif

/* The limit of one step: zlib counts in 32 bits. */
#define STEP_BYTES ((size_t)1 << 30)
/* Files made with a larger window are refused: 2 GiB is what `zstd --long=31` needs. */
#define WINDOW_LIMIT_LOG 31

typedef struct codec {
    const char *name;
    const char *library; /* for the message when it is missing */
    bool (*magic)(const uint8_t *data, size_t bytes);
    bool (*usable)(void);                    /* NULL: wherever it is compiled in */
    td_status (*begin)(td_decoder *decoder); /* NULL: not compiled in */
    td_status (*step)(td_decoder *decoder, char *into, size_t room, size_t *got);
    void (*end)(td_decoder *decoder);
    td_status (*next)(td_decoder *decoder); /* at a boundary inside the file, where decoding is to begin */
    uint64_t (*bytes)(const td_decoder *decoder); /* of memory, after the first step; NULL: little */
} codec;

struct td_decoder {
    const codec *codec;
    const char *path;
    const uint8_t *data;
    size_t bytes, position;
    bool begun;    /* the library's state exists */
    bool finished; /* the content ended at the end of the file */
    uint64_t members; /* gzip members or zstd frames that have ended; not counted in xz */
    td_isal *isal;
#ifdef TANDEM_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef TANDEM_HAVE_ZSTD
    ZSTD_DStream *zstd;
    td_account *payer;  /* charged for the library's memory, which is not from td_alloc */
    uint64_t charged;
#endif
#ifdef TANDEM_HAVE_LZMA
    lzma_stream xz;
    lzma_allocator allocator;
#endif
};

static td_status corrupt(const td_decoder *decoder, const char *why)
{
    return td_fail(TD_CORRUPT, "%s: byte %zu: the %s stream is corrupt: %s", decoder->path, decoder->position,
                   decoder->codec->name, why);
}

static bool gzip_magic(const uint8_t *data, size_t bytes) { return bytes >= 2 && data[0] == 0x1f && data[1] == 0x8b; }

/* A member is followed by another one, by zeros up to the end (padding of tapes), or by the end. */
static td_status gzip_find_member(td_decoder *decoder, bool *found)
{
    *found = gzip_magic(decoder->data + decoder->position, decoder->bytes - decoder->position);
    if (*found) return TD_OK;
    for (; decoder->position < decoder->bytes; decoder->position++)
        if (decoder->data[decoder->position] != 0) return corrupt(decoder, "something else follows its end");
    decoder->finished = true;
    return TD_OK;
}

static bool isal_usable(void)
{
    td_decoder_choice choice;
    return td_decoder_chosen(&choice) == TD_OK && !choice.zlib && td_isal_found();
}

static td_status isal_begin(td_decoder *decoder) { return td_isal_create(&decoder->isal); }

static td_status isal_next(td_decoder *decoder)
{
    bool found;
    TD_CHECK(gzip_find_member(decoder, &found));
    if (found) td_isal_reset(decoder->isal);
    return TD_OK;
}

static td_status isal_step(td_decoder *decoder, char *into, size_t room, size_t *got)
{
    td_isal_span span = {.in = decoder->data + decoder->position, .in_end = decoder->data + decoder->bytes,
                         .out = into, .out_end = into + room};
    td_isal_step(decoder->isal, &span);
    decoder->position = (size_t)(span.in - decoder->data);
    *got = (size_t)(span.out - into);
    if (span.wrong != NULL) return corrupt(decoder, span.wrong);
    if (!span.ended) return TD_OK;
    decoder->members++;
    return isal_next(decoder);
}

static void isal_end(td_decoder *decoder) { td_isal_destroy(decoder->isal); }

/* A frame, or the skippable frame with which parallel compressors begin. */
static bool zstd_magic(const uint8_t *data, size_t bytes)
{
    if (bytes < 4) return false;
    if (memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0) return true;
    return (data[0] & 0xf0) == 0x50 && memcmp(data + 1, "\x2a\x4d\x18", 3) == 0;
}

static bool xz_magic(const uint8_t *data, size_t bytes) { return bytes >= 6 && memcmp(data, "\xfd" "7zXZ\0", 6) == 0; }

#if defined(TANDEM_HAVE_ZLIB) || defined(TANDEM_HAVE_LZMA)
static void *new_for_library(const char *what, uint64_t count, uint64_t element)
{
    void *block = NULL;
    return td_new_bytes(&block, count, element, what) == TD_OK ? block : NULL;
}
#endif

#ifdef TANDEM_HAVE_ZLIB
void *td_zlib_new(void *opaque, unsigned count, unsigned element)
{
    (void)opaque;
    return new_for_library("gzip decoder", count, element);
}

void td_zlib_free(void *opaque, void *block)
{
    (void)opaque;
    td_free(block);
}

static td_status gzip_begin(td_decoder *decoder)
{
    decoder->gzip = (z_stream){.zalloc = td_zlib_new, .zfree = td_zlib_free};
    int code = inflateInit2(&decoder->gzip, 15 + 16);
    if (code == Z_MEM_ERROR) return TD_NO_MEMORY;
    if (code != Z_OK) return td_fail(TD_INTERNAL, "%s: zlib does not start (%d)", decoder->path, code);
    return TD_OK;
}

static td_status gzip_next(td_decoder *decoder)
{
    bool found;
    TD_CHECK(gzip_find_member(decoder, &found));
    if (!found || inflateReset(&decoder->gzip) == Z_OK) return TD_OK;
    return corrupt(decoder, "a further member does not start");
}

static td_status gzip_step(td_decoder *decoder, char *into, size_t room, size_t *got)
{
    z_stream *stream = &decoder->gzip;
    size_t left = decoder->bytes - decoder->position;
    unsigned input = (unsigned)(left < STEP_BYTES ? left : STEP_BYTES);
    unsigned output = (unsigned)(room < STEP_BYTES ? room : STEP_BYTES);
    stream->next_in = (unsigned char *)decoder->data + decoder->position; /* zlib only reads there */
    stream->avail_in = input;
    stream->next_out = (unsigned char *)into;
    stream->avail_out = output;
    int code = inflate(stream, Z_NO_FLUSH);
    decoder->position += input - stream->avail_in;
    *got = output - stream->avail_out;
    if (code == Z_STREAM_END) {
        decoder->members++;
        return gzip_next(decoder);
    }
    if (code == Z_MEM_ERROR) return TD_NO_MEMORY;
    if (code == Z_OK || code == Z_BUF_ERROR) return TD_OK;
    return corrupt(decoder, stream->msg != NULL ? stream->msg : "no valid data");
}

static void gzip_end(td_decoder *decoder) { inflateEnd(&decoder->gzip); }
#else
#define gzip_begin NULL
#define gzip_step NULL
#define gzip_end NULL
#define gzip_next NULL
#endif

#ifdef TANDEM_HAVE_ZSTD
/* Charges what the library holds by now; its window is allocated with the first frame. */
static td_status zstd_charge(td_decoder *decoder)
{
    td_account_levels levels;
    uint64_t held = ZSTD_sizeof_DStream(decoder->zstd), more = held > decoder->charged ? held - decoder->charged : 0;
    if (more == 0) return TD_OK;
    td_refusal refusal = td_memory_lack(more);
    char size[TD_NUMBER_BYTES];
    if (!td_account_charge(decoder->payer, more, &levels))
        return td_refuse(&refusal, "%s: the zstd decoder needs %s", decoder->path, td_format_size(size, held));
    td_account_raise_peak(decoder->payer, levels);
    decoder->charged = held;
    return TD_OK;
}

static td_status zstd_begin(td_decoder *decoder)
{
    decoder->payer = td_account_current();
    decoder->zstd = ZSTD_createDStream();
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY};
    if (decoder->zstd == NULL) return td_refuse(&system, "%s: no memory for the zstd decoder", decoder->path);
    ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, WINDOW_LIMIT_LOG);
    return TD_OK;
}

static td_status zstd_step(td_decoder *decoder, char *into, size_t room, size_t *got)
{
    ZSTD_inBuffer input = {decoder->data, decoder->bytes, decoder->position};
    ZSTD_outBuffer output = {into, room, 0};
    size_t code = ZSTD_decompressStream(decoder->zstd, &output, &input);
    decoder->position = input.pos;
    *got = output.pos;
    if (ZSTD_isError(code)) return corrupt(decoder, ZSTD_getErrorName(code));
    TD_CHECK(zstd_charge(decoder));
    decoder->members += code == 0;
    decoder->finished = code == 0 && decoder->position == decoder->bytes;
    return TD_OK;
}

static td_status zstd_next(td_decoder *decoder)
{
    decoder->finished = decoder->position == decoder->bytes;
    return TD_OK;
}

static void zstd_end(td_decoder *decoder)
{
    ZSTD_freeDStream(decoder->zstd);
    if (decoder->charged > 0) td_account_credit(decoder->payer, decoder->charged);
}

static uint64_t zstd_bytes(const td_decoder *decoder) { return decoder->charged; }
#else
#define zstd_begin NULL
#define zstd_step NULL
#define zstd_end NULL
#define zstd_next NULL
#define zstd_bytes NULL
#endif

#ifdef TANDEM_HAVE_LZMA
void *td_xz_new(void *opaque, size_t count, size_t element)
{
    (void)opaque;
    return new_for_library("xz decoder", count, element);
}

void td_xz_free(void *opaque, void *block)
{
    (void)opaque;
    td_free(block);
}

static td_status xz_begin(td_decoder *decoder)
{
    decoder->allocator = (lzma_allocator){td_xz_new, td_xz_free, NULL};
    decoder->xz = (lzma_stream)LZMA_STREAM_INIT;
    decoder->xz.allocator = &decoder->allocator;
    uint64_t memory_limit = (UINT64_C(1) << WINDOW_LIMIT_LOG) + (UINT64_C(64) << 20);
    lzma_ret code = lzma_stream_decoder(&decoder->xz, memory_limit, LZMA_CONCATENATED);
    if (code == LZMA_MEM_ERROR) return TD_NO_MEMORY;
    if (code != LZMA_OK) return td_fail(TD_INTERNAL, "%s: liblzma does not start (%d)", decoder->path, (int)code);
    return TD_OK;
}

static td_status xz_step(td_decoder *decoder, char *into, size_t room, size_t *got)
{
    lzma_stream *stream = &decoder->xz;
    stream->next_in = decoder->data + decoder->position;
    stream->avail_in = decoder->bytes - decoder->position;
    stream->next_out = (uint8_t *)into;
    stream->avail_out = room;
    lzma_ret code = lzma_code(stream, LZMA_FINISH);
    decoder->position = decoder->bytes - stream->avail_in;
    *got = room - stream->avail_out;
    switch (code) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: return TD_OK;
    case LZMA_STREAM_END: decoder->finished = true; return TD_OK;
    case LZMA_MEM_ERROR: return TD_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR: return corrupt(decoder, "it asks for more than 2 GiB to decode");
    case LZMA_FORMAT_ERROR: return corrupt(decoder, "something else follows its end");
    case LZMA_OPTIONS_ERROR: return corrupt(decoder, "it uses options that liblzma does not know");
    default: return corrupt(decoder, "the data do not match their checksum or code");
    }
}

static void xz_end(td_decoder *decoder) { lzma_end(&decoder->xz); }

static uint64_t xz_bytes(const td_decoder *decoder) { return lzma_memusage(&decoder->xz); }
#else
#define xz_begin NULL
#define xz_step NULL
#define xz_end NULL
#define xz_bytes NULL
#endif

static const codec codecs[] = {
    {"gzip", "ISA-L", gzip_magic, isal_usable, isal_begin, isal_step, isal_end, isal_next, NULL},
    {"gzip", "zlib", gzip_magic, NULL, gzip_begin, gzip_step, gzip_end, gzip_next, NULL},
    {"zstd", "libzstd", zstd_magic, NULL, zstd_begin, zstd_step, zstd_end, zstd_next, zstd_bytes},
    {"xz", "liblzma", xz_magic, NULL, xz_begin, xz_step, xz_end, NULL, xz_bytes},
};

static const codec *codec_of(const void *data, size_t bytes)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i].magic(data, bytes) && (codecs[i].usable == NULL || codecs[i].usable())) return &codecs[i];
    return NULL;
}

td_status td_decoder_chosen(td_decoder_choice *out)
{
    const char *wish = getenv("TANDEM_DECODER");
    *out = (td_decoder_choice){0};
    for (const char *word = wish != NULL ? wish : ""; *word != '\0';) {
        size_t length = strcspn(word, ",");
        bool sequential = length == 10 && memcmp(word, "sequential", length) == 0;
        bool zlib = length == 4 && memcmp(word, "zlib", length) == 0;
        if (!sequential && !zlib)
            return td_fail(TD_USAGE, "TANDEM_DECODER is '%s'; allowed are sequential, zlib, and both with a comma "
                           "between them", wish);
        out->sequential |= sequential;
        out->zlib |= zlib;
        word += length + (word[length] == ',');
    }
    return TD_OK;
}

const char *td_decoder_format_of(const void *data, size_t bytes)
{
    const codec *codec = codec_of(data, bytes);
    return codec != NULL && codec->begin != NULL ? codec->name : NULL;
}

const char *td_decoder_library_of(const void *data, size_t bytes)
{
    const codec *codec = codec_of(data, bytes);
    return codec != NULL && codec->begin != NULL ? codec->library : NULL;
}

bool td_decoder_recognises(const void *data, size_t bytes) { return codec_of(data, bytes) != NULL; }

td_status td_decoder_create(td_decoder **out, const void *data, size_t bytes, const char *path, size_t begin)
{
    td_status status = TD_OK;
    td_decoder *decoder = NULL;
    td_decoder_choice choice;
    TD_CHECK(td_decoder_chosen(&choice));
    const codec *codec = codec_of(data, bytes);
    if (codec == NULL) return td_fail(TD_FORMAT, "%s: neither gzip, zstd nor xz", path);
    if (codec->begin == NULL)
        return td_fail(TD_UNSUPPORTED, "%s is compressed with %s, and Tandem was built without %s: decompress it first",
                       path, codec->name, codec->library);
    TD_CHECK(TD_NEW_ZEROED(&decoder, 1, "decoder"));
    decoder->codec = codec;
    decoder->path = path;
    decoder->data = data;
    decoder->bytes = bytes;
    decoder->position = begin;
    TD_TRY(codec->begin(decoder));
    decoder->begun = true;
    if (begin > 0) TD_TRY(codec->next(decoder));
    *out = decoder;
    decoder = NULL;
done:
    td_decoder_destroy(decoder);
    return status;
}

void td_decoder_destroy(td_decoder *decoder)
{
    if (decoder == NULL) return;
    if (decoder->begun) decoder->codec->end(decoder);
    td_free(decoder);
}

td_status td_decoder_read(td_decoder *decoder, char *into, size_t room, size_t *got)
{
    *got = 0;
    while (*got < room && !decoder->finished) {
        size_t made = 0, before = decoder->position;
        uint64_t members = decoder->members;
        TD_CHECK(decoder->codec->step(decoder, into + *got, room - *got, &made));
        *got += made;
        if (made != 0 || decoder->position != before || decoder->members != members || decoder->finished) continue;
        return corrupt(decoder, "truncated, the file ends inside it");
    }
    return TD_OK;
}

uint64_t td_decoder_bytes(const td_decoder *decoder)
{
    enum { LITTLE = 64 << 10 };
    if (decoder->isal != NULL) return td_isal_bytes();
    return decoder->codec->bytes != NULL ? decoder->codec->bytes(decoder) : LITTLE;
}

uint64_t td_decoder_members(const td_decoder *decoder) { return decoder->members; }

uint64_t td_decoder_position(const td_decoder *decoder) { return decoder->position; }
