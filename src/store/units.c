#include "store/units.h"

#include "base/account.h"
#include "base/alloc.h"
#include "store/isal.h"
#include "store/units_xz.h"

#include <string.h>

#ifdef TANDEM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TANDEM_HAVE_ZSTD
#include <zstd.h>
#endif

/* How far behind the header of a gzip member the next one is searched for. */
#define MEMBER_BYTES ((size_t)16 << 20)

typedef struct unit_kind unit_kind;

struct td_units {
    const unit_kind *kind;
    const uint8_t *data;
    size_t bytes, position;
    const char *path;
    size_t group, most, probed; /* content: of joined members, of a unit, of the larger of the first two */
    td_unit held; /* the next unit, if it was found already */
    bool holds, isal;
    td_xz_blocks *blocks; /* of xz, and the next one */
    uint64_t next_block;
};

struct td_unit_decoder {
    const td_units *units;
    td_isal *isal;
#ifdef TANDEM_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef TANDEM_HAVE_ZSTD
    ZSTD_DCtx *zstd;
    td_account *payer;
    uint64_t charged;
#endif
};

struct unit_kind {
    const char *format; /* td_decoder_format */
    td_status (*open)(td_units *units); /* NULL: nothing to do */
    /* The member, frame or block at the position; its end is behind the file's end if there is none. */
    td_unit (*find)(const td_units *units);
    td_status (*begin)(td_unit_decoder *decoder);
    void (*end)(td_unit_decoder *decoder);
    td_status (*decode)(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole);
};

static uint32_t little(const uint8_t *at, int bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < bytes; i++) number |= (uint32_t)at[i] << (8 * i);
    return number;
}

static td_unit none(const td_units *units) { return (td_unit){.begin = units->position, .end = SIZE_MAX}; }

/* gzip (RFC 1952). */

enum { GZIP_HEADER = 10, GZIP_TRAILER = 8, GZIP_EXTRA = 4, GZIP_RESERVED = 0xe0 };

/* The header of a member as compressors write it: no reserved flag, a level and a system that exist. */
static bool looks_like_member(const uint8_t *at, size_t bytes)
{
    if (bytes < GZIP_HEADER + GZIP_TRAILER || at[0] != 0x1f || at[1] != 0x8b || at[2] != 8) return false;
    uint8_t flags = at[3], level = at[8], system = at[9];
    return (flags & GZIP_RESERVED) == 0 && (level == 0 || level == 2 || level == 4) && (system <= 13 || system == 255);
}

/* The length that a BGZF block states (SAM specification, 4.1: the extra field BC), 0: it is none. */
static size_t bgzf_bytes(const uint8_t *at, size_t bytes)
{
    if (bytes < GZIP_HEADER + 2 || (at[3] & GZIP_EXTRA) == 0) return 0;
    size_t field = GZIP_HEADER + 2, end = field + little(at + GZIP_HEADER, 2);
    if (end > bytes) return 0;
    for (size_t length; field + 4 <= end; field += 4 + length) {
        length = little(at + field + 2, 2);
        if (at[field] == 'B' && at[field + 1] == 'C' && length == 2 && field + 6 <= end)
            return (size_t)little(at + field + 4, 2) + 1;
    }
    return 0;
}

/* The distance to the next header of a member, or to the end of the file; 0: neither is near. */
static size_t search_member(const uint8_t *at, size_t bytes)
{
    size_t limit = bytes < MEMBER_BYTES ? bytes : MEMBER_BYTES;
    const uint8_t *from = at + GZIP_HEADER, *end = at + limit;
    while (from < end && (from = memmem(from, (size_t)(end - from), "\x1f\x8b\x08", 3)) != NULL) {
        if (looks_like_member(from, bytes - (size_t)(from - at))) return (size_t)(from - at);
        from++;
    }
    return limit == bytes ? bytes : 0;
}

/* The content's length is the last word of a member. Deflate cannot make more than 1032 bytes of one. */
static td_unit gzip_find(const td_units *units)
{
    enum { MOST_RATIO = 1032 };
    const uint8_t *at = units->data + units->position;
    size_t left = units->bytes - units->position;
    if (!looks_like_member(at, left)) return none(units);
    size_t length = bgzf_bytes(at, left);
    if (length == 0) length = search_member(at, left);
    if (length < GZIP_HEADER + GZIP_TRAILER || length > left) return none(units);
    size_t room = little(at + length - 4, 4);
    if (room > length * MOST_RATIO) return none(units);
    return (td_unit){.begin = units->position, .end = units->position + length, .room = room, .members = 1};
}

static td_status gzip_begin(td_unit_decoder *decoder)
{
    if (decoder->units->isal) return td_isal_create(&decoder->isal);
#ifdef TANDEM_HAVE_ZLIB
    decoder->gzip = (z_stream){.zalloc = td_zlib_new, .zfree = td_zlib_free};
    int code = inflateInit2(&decoder->gzip, 15 + 16);
    if (code == Z_MEM_ERROR) return TD_NO_MEMORY;
    if (code != Z_OK) return td_fail(TD_INTERNAL, "%s: zlib does not start (%d)", decoder->units->path, code);
#endif
    return TD_OK;
}

static void gzip_end(td_unit_decoder *decoder)
{
    td_isal_destroy(decoder->isal);
#ifdef TANDEM_HAVE_ZLIB
    if (!decoder->units->isal) inflateEnd(&decoder->gzip);
#endif
}

/* One member; its end goes to span->in. */
static void gzip_member(td_unit_decoder *decoder, td_isal_span *span)
{
    if (decoder->isal != NULL) {
        td_isal_member(decoder->isal, span);
        return;
    }
#ifdef TANDEM_HAVE_ZLIB
    z_stream *stream = &decoder->gzip;
    unsigned char nothing; /* zlib refuses a NULL place, even for no bytes */
    stream->next_in = (unsigned char *)span->in;
    stream->avail_in = (unsigned)(span->in_end - span->in);
    stream->next_out = span->out != NULL ? (unsigned char *)span->out : &nothing;
    stream->avail_out = (unsigned)(span->out_end - span->out);
    span->ended = inflateReset(stream) == Z_OK && inflate(stream, Z_FINISH) == Z_STREAM_END;
    span->in = stream->next_in;
    span->out = span->out_end - stream->avail_out;
#endif
}

static td_status gzip_decode(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole)
{
    const td_units *units = decoder->units;
    td_isal_span span = {.in = units->data + unit->begin, .in_end = units->data + unit->end, .out = into,
                         .out_end = into + unit->room};
    do {
        span.ended = false;
        gzip_member(decoder, &span);
    } while (span.ended && span.in < span.in_end);
    *whole = span.ended;
    *got = (size_t)(span.out - into);
    return TD_OK;
}

/* zstd (RFC 8878). */

#ifdef TANDEM_HAVE_ZSTD
enum { ZSTD_HEADER = 4, ZSTD_BLOCK_HEADER = 3, ZSTD_BLOCK_MOST = 128 << 10 };
enum { ZSTD_RAW = 0, ZSTD_RLE = 1, ZSTD_RESERVED = 3 }; /* types of blocks */

/* The frame's header: dictionary id, window and content size have the lengths that its first byte states. */
static size_t zstd_header_bytes(uint8_t descriptor)
{
    static const size_t sizes[] = {0, 2, 4, 8}, ids[] = {0, 1, 2, 4};
    bool single = (descriptor & 0x20) != 0;
    size_t size = descriptor >> 6 == 0 && single ? 1 : sizes[descriptor >> 6];
    return ZSTD_HEADER + 1 + !single + ids[descriptor & 3] + size;
}

static td_unit zstd_find(const td_units *units)
{
    const uint8_t *at = units->data + units->position;
    size_t left = units->bytes - units->position, room = 0;
    if (left < 2 * ZSTD_HEADER) return none(units);
    if (memcmp(at, "\x28\xb5\x2f\xfd", ZSTD_HEADER) != 0) { /* skippable, or nothing */
        bool skippable = (at[0] & 0xf0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", 3) == 0;
        size_t length = 2 * ZSTD_HEADER + (size_t)little(at + ZSTD_HEADER, 4);
        if (!skippable || length > left) return none(units);
        return (td_unit){.begin = units->position, .end = units->position + length, .members = 1};
    }
    size_t length = zstd_header_bytes(at[ZSTD_HEADER]), checksum = at[ZSTD_HEADER] & 4 ? 4 : 0;
    for (bool last = false; !last && room <= units->most;) {
        if (length + ZSTD_BLOCK_HEADER > left) return none(units);
        uint32_t header = little(at + length, ZSTD_BLOCK_HEADER), type = header >> 1 & 3, size = header >> 3;
        if (type == ZSTD_RESERVED || size > ZSTD_BLOCK_MOST) return none(units);
        last = header & 1;
        length += ZSTD_BLOCK_HEADER + (type == ZSTD_RLE ? 1 : size);
        room += type == ZSTD_RAW || type == ZSTD_RLE ? size : ZSTD_BLOCK_MOST;
    }
    length += checksum;
    if (length > left) return none(units);
    return (td_unit){.begin = units->position, .end = units->position + length, .room = room, .members = 1};
}

static td_status zstd_begin(td_unit_decoder *decoder)
{
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY};
    td_account_levels levels;
    decoder->payer = td_account_current();
    decoder->zstd = ZSTD_createDCtx();
    if (decoder->zstd == NULL) return td_refuse(&system, "%s: no memory for the zstd decoder", decoder->units->path);
    uint64_t held = ZSTD_sizeof_DCtx(decoder->zstd);
    td_refusal refusal = td_memory_lack(held);
    if (!td_account_charge(decoder->payer, held, &levels))
        return td_refuse(&refusal, "%s: no memory for the zstd decoder", decoder->units->path);
    td_account_raise_peak(decoder->payer, levels);
    decoder->charged = held;
    return TD_OK;
}

static void zstd_end(td_unit_decoder *decoder)
{
    ZSTD_freeDCtx(decoder->zstd);
    if (decoder->charged > 0) td_account_credit(decoder->payer, decoder->charged);
}

static td_status zstd_decode(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole)
{
    size_t made = ZSTD_decompressDCtx(decoder->zstd, into, unit->room, decoder->units->data + unit->begin,
                                      unit->end - unit->begin);
    *whole = !ZSTD_isError(made);
    *got = *whole ? made : 0;
    return TD_OK;
}
#endif

/* xz: all blocks are known in advance. */

static td_status xz_open(td_units *units)
{
    TD_CHECK(td_xz_blocks_read(&units->blocks, units->data, units->bytes));
    if (units->blocks == NULL || td_xz_largest(units->blocks) > units->most) units->position = units->bytes;
    return TD_OK;
}

/* Behind the last block there are only indexes, which have been read. */
static td_unit xz_find(const td_units *units)
{
    const td_xz_block *block = td_xz_block_at(units->blocks, units->next_block);
    if (block == NULL) return none(units);
    return (td_unit){.begin = block->begin, .end = block->end, .room = block->content, .members = 1,
                     .first = units->next_block};
}

static td_status xz_decode(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole)
{
    const td_units *units = decoder->units;
    *got = 0;
    *whole = true;
    for (uint64_t i = 0; i < unit->members && *whole; i++) {
        const td_xz_block *block = td_xz_block_at(units->blocks, unit->first + i);
        TD_CHECK(td_xz_block_decode(block, units->data, into + *got, whole));
        *got += block->content;
    }
    return TD_OK;
}

static const unit_kind kinds[] = {
    {"gzip", NULL, gzip_find, gzip_begin, gzip_end, gzip_decode},
#ifdef TANDEM_HAVE_ZSTD
    {"zstd", NULL, zstd_find, zstd_begin, zstd_end, zstd_decode},
#endif
    {"xz", xz_open, xz_find, NULL, NULL, xz_decode},
};

static const unit_kind *kind_of(const void *data, size_t bytes)
{
    const char *format = td_decoder_format_of(data, bytes);
    for (size_t i = 0; format != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].format, format) == 0) return &kinds[i];
    return NULL;
}

static td_unit joined(const td_unit *a, const td_unit *b)
{
    return (td_unit){a->begin, b->end, a->room + b->room, a->members + b->members, a->first};
}

static bool find(td_units *units, td_unit *out)
{
    if (units->position >= units->bytes) return false;
    *out = units->kind->find(units);
    if (out->end > units->bytes || out->room > units->most) return false;
    units->position = out->end;
    units->next_block++;
    return true;
}

bool td_units_next(td_units *units, td_unit *unit)
{
    td_unit next;
    if (units->holds) *unit = units->held;
    else if (!find(units, unit)) return false;
    units->holds = false;
    while (!units->holds && find(units, &next)) {
        units->holds = unit->room + next.room > units->group || next.end - unit->begin > MEMBER_BYTES;
        if (units->holds) units->held = next;
        else *unit = joined(unit, &next);
    }
    return true;
}

size_t td_units_position(const td_units *units) { return units->blocks != NULL ? units->bytes : units->position; }

td_status td_units_open(td_units **out, const void *data, size_t bytes, const char *path, size_t group, size_t most)
{
    td_status status = TD_OK;
    td_units *units = NULL;
    td_unit first;
    *out = NULL;
    const unit_kind *kind = kind_of(data, bytes);
    if (kind == NULL) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&units, 1, "units of a compressed file"));
    *units = (td_units){.kind = kind, .data = data, .bytes = bytes, .path = path, .group = group, .most = most,
                        .isal = strcmp(td_decoder_library_of(data, bytes), "ISA-L") == 0};
    if (kind->open != NULL) TD_TRY(kind->open(units));
    if (td_units_next(units, &first) && units->holds) {
        units->probed = first.room > units->held.room ? first.room : units->held.room;
        units->position = 0;
        units->next_block = 0;
        units->holds = false;
        *out = units;
        units = NULL;
    }
done:
    td_units_close(units);
    return status;
}

void td_units_close(td_units *units)
{
    if (units == NULL) return;
    td_xz_blocks_free(units->blocks);
    td_free(units);
}

uint64_t td_units_decoder_bytes(const td_units *units)
{
    enum { LITTLE = 256 << 10 }; /* of the others */
    return units->blocks != NULL ? td_xz_decoder_bytes(units->blocks) : LITTLE;
}

uint64_t td_units_largest(const td_units *units)
{
    size_t block = units->blocks != NULL ? td_xz_largest(units->blocks) : units->probed;
    return block > units->group ? block : units->group;
}

void td_units_limit(td_units *units, size_t most)
{
    if (units->most > most) units->most = most;
}

/* A sequential decoder of xz begins with the file. */
td_status td_units_resume(const td_units *units, size_t begin, uint64_t content, td_decoder **out)
{
    td_status status = TD_OK;
    td_decoder *decoder = NULL;
    char scratch[4096];
    bool anew = units->blocks != NULL;
    TD_TRY(td_decoder_create(&decoder, units->data, units->bytes, units->path, anew ? 0 : begin));
    for (size_t got = 1; anew && content > 0 && got > 0; content -= got)
        TD_TRY(td_decoder_read(decoder, scratch, content < sizeof scratch ? (size_t)content : sizeof scratch, &got));
    *out = decoder;
    decoder = NULL;
done:
    td_decoder_destroy(decoder);
    return status;
}

td_status td_unit_decoder_create(td_unit_decoder **out, const td_units *units)
{
    td_status status = TD_OK;
    td_unit_decoder *decoder = NULL;
    TD_CHECK(TD_NEW_ZEROED(&decoder, 1, "decoder of a worker"));
    decoder->units = units;
    if (units->kind->begin != NULL) TD_TRY(units->kind->begin(decoder));
    *out = decoder;
    decoder = NULL;
done:
    td_unit_decoder_destroy(decoder);
    return status;
}

void td_unit_decoder_destroy(td_unit_decoder *decoder)
{
    if (decoder == NULL) return;
    if (decoder->units->kind->end != NULL) decoder->units->kind->end(decoder);
    td_free(decoder);
}

td_status td_unit_decode(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole)
{
    return decoder->units->kind->decode(decoder, unit, into, got, whole);
}
