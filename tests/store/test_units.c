/* Compressed files whose parts are decoded side by side: whatever the file holds, pieces and messages are those of the
 * sequential decoder. */
#include "compress.h"
#include "test.h"

#include "base/hash.h"
#include "store/input.h"

#include <pthread.h>

/* What came of reading a file: the pieces, in order, or the message. */
typedef struct outcome {
    td_status status;
    char message[TD_MESSAGE_BYTES];
    uint64_t pieces, bytes, digest;
    td_decoding decoding;
} outcome;

typedef struct gathering {
    _Atomic uint64_t pieces, bytes, digest;
} gathering;

static td_status gather(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    gathering *all = context;
    uint64_t place[] = {piece->index, piece->byte, piece->line};
    size_t bytes = (size_t)(piece->end - piece->text);
    if (memchr(piece->text, '!', bytes) != NULL) return td_fail_line(piece, memchr(piece->text, '!', bytes), "no");
    all->pieces++;
    all->bytes += bytes;
    all->digest += td_hash64(place, sizeof place) * (td_hash64(piece->text, bytes) | 1);
    return TD_OK;
}

static outcome read_as(const char *path, const char *decoder, int threads)
{
    outcome out = {0};
    gathering all = {0};
    td_input *input = NULL;
    td_pool *pool = NULL;
    setenv("TANDEM_DECODER", decoder, 1);
    CHECK_OK(td_pool_create(&pool, threads));
    out.status = td_input_open(&input, path);
    if (out.status == TD_OK) out.status = td_input_pieces(input, pool, 0, gather, &all, &out.pieces);
    if (out.status != TD_OK) snprintf(out.message, sizeof out.message, "%s", td_last_message());
    if (out.status == TD_OK) out = (outcome){.pieces = out.pieces, .bytes = all.bytes, .digest = all.digest};
    if (input != NULL) td_input_add_decoding(input, &out.decoding);
    td_input_close(input);
    td_pool_destroy(pool);
    unsetenv("TANDEM_DECODER");
    return out;
}

/* Expects what the sequential decoder gives, with every library; returns the outcome of four threads. */
static outcome expect_same(const char *path)
{
    outcome last = {0};
    for (int zlib = 0; zlib < 2; zlib++) {
        outcome wanted = read_as(path, zlib ? "sequential,zlib" : "sequential", 2);
        CHECK_EQ(wanted.decoding.parallel, 0);
        for (int threads = 1; threads <= 4; threads++) {
            last = read_as(path, zlib ? "zlib" : "", threads);
            CHECK_EQ(last.status, wanted.status);
            CHECK_STR(last.message, wanted.message);
            CHECK_EQ(last.pieces, wanted.pieces);
            CHECK_EQ(last.bytes, wanted.bytes);
            CHECK_EQ(last.digest, wanted.digest);
            if (threads == 1) CHECK_EQ(last.decoding.parallel, 0);
            if (last.status != TD_OK) continue;
            CHECK_EQ(last.decoding.content, last.bytes);
            if (wanted.decoding.members > 0) CHECK_EQ(last.decoding.members, wanted.decoding.members);
        }
    }
    return last;
}

static char *many_lines(size_t bytes)
{
    char *text = malloc(bytes + 1);
    for (size_t i = 0, line = 0; i < bytes; i++)
        text[i] = i == line ? (line += 1 + i * 7919 % 61, '\n') : (char)('a' + i * i % 26);
    text[bytes] = '\0';
    return text;
}

enum { KINDS = 5, BYTES = 1000000, ROOM = 2 * BYTES, MEMBERS = 20 };

static size_t put_members(const char *text, test_compressor compress, char *into)
{
    size_t made = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        size_t from = BYTES * i / MEMBERS, to = BYTES * (i + 1) / MEMBERS;
        size_t part = compress(text + from, to - from, into + made, ROOM - made);
        if (part == 0) return 0;
        made += part;
    }
    return made;
}

/* The file of one kind: BGZF, gzip members, zstd frames, xz blocks, xz streams. 0: its library is missing. */
static size_t put_kind(int kind, const char *text, char *into)
{
    switch (kind) {
    case 0: return test_bgzf(text, BYTES, into, ROOM);
    case 1: return put_members(text, test_gzip, into);
    case 2: return put_members(text, test_zstd, into);
    case 3: return test_xz_blocks(text, BYTES, into, ROOM);
    default: return put_members(text, test_xz, into);
    }
}

static const uint64_t members_of[KINDS] = {(BYTES + (16 << 10) - 1) / (16 << 10), MEMBERS, MEMBERS,
                                           (BYTES + (32 << 10) - 1) / (32 << 10), MEMBERS};

TEST(every_member_frame_and_block_is_decoded_side_by_side)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        if (made == 0) continue;
        test_write_file(test_path("units"), packed, made);
        outcome of = expect_same(test_path("units"));
        CHECK_OK(of.status);
        CHECK_EQ(of.bytes, BYTES);
        CHECK_EQ(of.decoding.parallel, members_of[kind]);
    }
    free(text);
    free(packed);
}

TEST(damage_anywhere_gives_the_message_of_the_sequential_decoder)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        for (size_t at = made / 9; made > 0 && at < made; at += made / 7) {
            packed[at] ^= 0x20;
            test_write_file(test_path("broken"), packed, made);
            packed[at] ^= 0x20;
            CHECK_EQ(expect_same(test_path("broken")).status, TD_CORRUPT);
            test_write_file(test_path("short"), packed, at);
            outcome of = expect_same(test_path("short"));
            CHECK(of.status == TD_CORRUPT || of.bytes < BYTES);
        }
    }
    free(text);
    free(packed);
}

TEST(what_follows_the_last_member_is_found)
{
    char *text = many_lines(BYTES), *packed = calloc(1, ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        if (made == 0) continue;
        memset(packed + made, 0, 64);
        test_write_file(test_path("padded"), packed, made + 64); /* only zstd refuses zeros */
        CHECK_EQ(expect_same(test_path("padded")).status, kind == 2 ? TD_CORRUPT : TD_OK);
        memcpy(packed + made, "1 2\n3 4\nsomething else\n", 24);
        test_write_file(test_path("trailed"), packed, made + 24);
        CHECK_EQ(expect_same(test_path("trailed")).status, TD_CORRUPT);
        memset(packed + made, 0, 64);
    }
    free(text);
    free(packed);
}

TEST(a_line_that_fails_is_named_wherever_it_is)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    text[700001] = text[900001] = '!';
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        if (made == 0) continue;
        test_write_file(test_path("failing"), packed, made);
        CHECK_EQ(expect_same(test_path("failing")).status, TD_FORMAT);
    }
    free(text);
    free(packed);
}

TEST(a_block_that_states_a_wrong_length_is_decoded_in_sequence)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    size_t made = test_bgzf(text, BYTES, packed, ROOM), block = 0;
    if (made == 0) SKIP("built without zlib");
    const unsigned char *bytes = (const unsigned char *)packed;
    for (int i = 0; i < 12; i++) block += bytes[block + 16] + 256u * bytes[block + 17] + 1;
    for (int by = -2; by <= 2; by++) {
        unsigned char *low = (unsigned char *)packed + block + 16, was = *low;
        *low = (unsigned char)(was + by * 3);
        test_write_file(test_path("forged"), packed, made);
        *low = was;
        outcome of = expect_same(test_path("forged"));
        CHECK_OK(of.status);
        CHECK_EQ(of.bytes, BYTES);
        CHECK_EQ(of.decoding.parallel == members_of[0], by == 0);
        if (by != 0) CHECK(of.decoding.parallel > 0);
    }
    free(text);
    free(packed);
}

/* Stored content may contain a whole member, whose header looks like that of the next one. */
TEST(a_member_inside_a_member_is_no_member)
{
#ifdef TANDEM_HAVE_ZLIB
    enum { INNER = 1 << 12 };
    char *text = many_lines(BYTES), *packed = malloc(ROOM), *stored = malloc(ROOM);
    size_t made = put_members(text, test_gzip, packed), used = made;
    char inner[INNER];
    size_t length = test_gzip("1 2\n3 4\n", 8, inner, INNER);
    for (size_t i = 0; i < 3; i++) memcpy(text + 100000 * (i + 1), inner, length);
    z_stream stream = {.next_in = (unsigned char *)text, .avail_in = BYTES, .next_out = (unsigned char *)stored,
                       .avail_out = ROOM};
    CHECK(deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size_t more = stream.total_out;
    deflateEnd(&stream);
    char *both = malloc(used + more);
    memcpy(both, packed, used);
    memcpy(both + used, stored, more);
    test_write_file(test_path("inside"), both, used + more);
    outcome of = expect_same(test_path("inside"));
    CHECK_OK(of.status);
    CHECK_EQ(of.bytes, 2 * BYTES);
    CHECK_EQ(of.decoding.members, MEMBERS + 1);
    CHECK_EQ(of.decoding.parallel, MEMBERS);
    free(both);
    free(stored);
    free(packed);
    free(text);
#else
    SKIP("built without zlib");
#endif
}

/* A zstd file with frames of every kind: skippable ones, empty ones, without content size. */
TEST(frames_of_all_kinds_may_follow_each_other)
{
#ifdef TANDEM_HAVE_ZSTD
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    size_t made = 0;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    for (int i = 0; i < MEMBERS; i++) {
        memcpy(packed + made, "\x57\x2a\x4d\x18\x05\0\0\0hello", 13);
        made += 13 + test_zstd("", 0, packed + made + 13, 100);
        ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, i % 2);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, i / 2 % 2);
        size_t from = BYTES / MEMBERS * (size_t)i;
        size_t part = ZSTD_compress2(context, packed + made, ROOM - made, text + from, BYTES / MEMBERS);
        CHECK(!ZSTD_isError(part));
        made += part;
    }
    ZSTD_freeCCtx(context);
    test_write_file(test_path("frames"), packed, made);
    outcome of = expect_same(test_path("frames"));
    CHECK_OK(of.status);
    CHECK_EQ(of.bytes, BYTES);
    CHECK_EQ(of.decoding.parallel, 3 * MEMBERS);
    free(text);
    free(packed);
#else
    SKIP("built without zstd");
#endif
}

TEST(empty_members_and_one_large_member_among_small_ones)
{
    char *text = many_lines(BYTES), *packed = malloc(4 * ROOM);
    size_t made = 0;
    for (int i = 0; i < 200; i++) made += test_gzip(text, i % 3 == 0 ? 0 : 5000, packed + made, ROOM);
    if (made == 0) SKIP("built without zlib");
    made += test_gzip(text, BYTES, packed + made, ROOM);
    for (int i = 0; i < 50; i++) made += test_bgzf(text, 100, packed + made, ROOM);
    test_write_file(test_path("mixed"), packed, made);
    outcome of = expect_same(test_path("mixed"));
    CHECK_OK(of.status);
    CHECK_EQ(of.decoding.parallel, 251);
    free(text);
    free(packed);
}

TEST(one_member_is_decoded_in_sequence)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        size_t made = test_codecs[codec].compress(text, BYTES, packed, ROOM);
        if (made == 0) continue;
        test_write_file(test_path("one"), packed, made);
        CHECK_EQ(expect_same(test_path("one")).decoding.parallel, 0);
    }
    free(text);
    free(packed);
}

TEST(units_keep_to_a_part_of_the_budget)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        if (made == 0) continue;
        test_write_file(test_path("units"), packed, made);
        uint64_t held = td_memory().now, none = 0, all = 0;
        for (uint64_t budget = 4 << 20; budget <= 256 << 20; budget *= 2) {
            td_memory_set_budget(held + budget);
            td_memory_reset_peak();
            outcome of = read_as(test_path("units"), "", 2);
            uint64_t peak = td_memory().peak;
            td_memory_set_budget(0);
            CHECK_OK(of.status);
            CHECK_EQ(of.bytes, BYTES);
            CHECK(peak <= held + budget);
            none += of.decoding.parallel == 0;
            all += of.decoding.parallel == members_of[kind];
        }
        CHECK(all > 0);
        if (kind >= 3) CHECK(none > 0); /* a decoder of xz takes more than an eighth of a few MiB */
    }
    free(text);
    free(packed);
}

TEST(an_allocation_that_fails_is_an_error_without_a_leak)
{
    char *text = many_lines(BYTES), *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t made = put_kind(kind, text, packed);
        if (made == 0) continue;
        test_write_file(test_path("units"), packed, made);
        uint64_t held = td_memory().now, nth = 0;
        outcome of;
        do {
            td_input *input = NULL;
            td_pool *pool = NULL;
            gathering all = {0};
            CHECK_OK(td_pool_create(&pool, 2));
            CHECK_OK(td_input_open(&input, test_path("units")));
            td_alloc_fail_at(++nth);
            of.status = td_input_pieces(input, pool, 0, gather, &all, NULL);
            td_alloc_fail_at(0);
            td_input_close(input);
            td_pool_destroy(pool);
            CHECK_EQ(td_memory().now, held);
            CHECK(of.status == TD_OK || of.status == TD_NO_MEMORY);
        } while (of.status != TD_OK && nth < 1000);
        CHECK_OK(of.status);
        CHECK(nth > 6);
    }
    free(text);
    free(packed);
}

TEST(another_word_for_the_decoder_is_refused)
{
    char packed[128];
    size_t made = test_gzip("1 2\n", 4, packed, sizeof packed);
    if (made == 0) SKIP("built without zlib");
    test_write_file(test_path("one"), packed, made);
    outcome of = read_as(test_path("one"), "sequential,fast", 1);
    CHECK_EQ(of.status, TD_USAGE);
    CHECK_CONTAINS(of.message, "TANDEM_DECODER is 'sequential,fast'; allowed are sequential, zlib");
}

TEST_MAIN
