#include "compress.h"
#include "test.h"

#include "store/input.h"
#include "store/isal.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* What the pieces of a file add up to: their texts put together again. */
typedef struct seen {
    char *text; /* by position */
    size_t bytes;
    _Atomic uint64_t total, pieces, unfinished;
} seen;

static td_status put_back(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    seen *all = context;
    size_t bytes = (size_t)(piece->end - piece->text);
    if (bytes == 0) return td_fail(TD_INTERNAL, "an empty piece");
    if (piece->byte + bytes > all->bytes) return td_fail(TD_INTERNAL, "a piece behind the end");
    memcpy(all->text + piece->byte, piece->text, bytes);
    all->total += bytes;
    all->pieces++;
    if (piece->end[-1] != '\n') all->unfinished++;
    return TD_OK;
}

/* Reads `path` from `skip` on and expects exactly the rest of `text`. */
static void expect_text(const char *path, const char *text, size_t bytes, size_t skip, int threads)
{
    td_input *input = NULL;
    td_pool *pool = NULL;
    seen all = {.text = calloc(1, bytes + 1), .bytes = bytes};
    uint64_t pieces = 0;
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_input_open(&input, path));
    for (int round = 0; round < 2; round++) { /* an input can be read again */
        all.total = all.pieces = all.unfinished = 0;
        CHECK_OK(td_input_pieces(input, pool, skip, put_back, &all, &pieces));
        CHECK_EQ(all.total, bytes - skip);
        CHECK(memcmp(all.text + skip, text + skip, bytes - skip) == 0);
        CHECK(pieces >= all.pieces);
        CHECK_EQ(all.unfinished, bytes > skip && text[bytes - 1] != '\n');
    }
    td_input_close(input);
    td_pool_destroy(pool);
    free(all.text);
}

/* Lines of varying length, one of them `longest` bytes long. */
static char *many_lines(size_t bytes, size_t longest)
{
    char *text = malloc(bytes + 1);
    for (size_t i = 0, line = 0; i < bytes; i++)
        text[i] = i == line ? (line += 1 + i * 7919 % 61, '\n') : (char)('a' + i % 26);
    if (longest > 0) memset(text + bytes / 3, 'x', longest);
    text[bytes] = '\0';
    return text;
}

TEST(a_plain_file_comes_back_whole_whatever_the_threads)
{
    static const size_t sizes[] = {0, 1, 2, 65535, 65536, 65537, 1000000, 9000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = many_lines(sizes[i], sizes[i] > 500000 ? 200000 : 0);
        const char *path = test_path("plain");
        test_write_file(path, text, sizes[i]);
        for (int threads = 1; threads <= 8; threads *= 2) expect_text(path, text, sizes[i], 0, threads);
        free(text);
    }
}

TEST(a_compressed_file_comes_back_whole_whatever_the_threads)
{
    static const size_t sizes[] = {1, 65536, 1000000, 9000000};
    for (int codec = 0; codec < TEST_CODECS; codec++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *text = many_lines(sizes[i], sizes[i] > 500000 ? 300000 : 0);
            const char *path = test_path("packed");
            int members = sizes[i] > 1 ? 5 : 1;
            if (!test_write_compressed(path, text, sizes[i], members, test_codecs[codec].compress)) {
                free(text);
                continue;
            }
            for (int threads = 1; threads <= 8; threads *= 2) expect_text(path, text, sizes[i], 0, threads);
            free(text);
        }
}

TEST(a_header_is_skipped)
{
    const char *text = "header\nof two lines\nbody 1\nbody 2";
    size_t bytes = strlen(text), skip = strlen("header\nof two lines\n");
    test_write_file(test_path("headed"), text, bytes);
    expect_text(test_path("headed"), text, bytes, skip, 2);
    expect_text(test_path("headed"), text, bytes, bytes, 2);
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        if (!test_write_compressed(test_path("headed.z"), text, bytes, 2, test_codecs[codec].compress)) continue;
        expect_text(test_path("headed.z"), text, bytes, skip, 2);
        expect_text(test_path("headed.z"), text, bytes, bytes, 2);
    }
}

TEST(a_file_of_one_line_without_end_is_one_piece)
{
    size_t bytes = 3000000;
    char *text = malloc(bytes);
    memset(text, '7', bytes);
    test_write_file(test_path("line"), text, bytes);
    expect_text(test_path("line"), text, bytes, 0, 4);
    for (int codec = 0; codec < TEST_CODECS; codec++)
        if (test_write_compressed(test_path("line.z"), text, bytes, 2, test_codecs[codec].compress))
            expect_text(test_path("line.z"), text, bytes, 0, 4);
    free(text);
}

static td_status note_index(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    _Atomic uint64_t *digest = context;
    *digest += (piece->index + 1) * (piece->byte + 1) * (uint64_t)(piece->end - piece->text);
    return TD_OK;
}

TEST(how_a_file_is_cut_depends_on_the_file_alone)
{
    size_t bytes = 2000000;
    char *text = many_lines(bytes, 0);
    test_write_file(test_path("cut"), text, bytes);
    bool packed = test_write_compressed(test_path("cut.z"), text, bytes, 1, test_gzip);
    const char *names[] = {"cut", "cut.z"};
    for (int n = 0; n < 1 + packed; n++) {
        uint64_t first = 0;
        for (int threads = 1; threads <= 8; threads++) {
            td_input *input = NULL;
            td_pool *pool = NULL;
            _Atomic uint64_t digest = 0;
            CHECK_OK(td_pool_create(&pool, threads));
            CHECK_OK(td_input_open(&input, test_path(names[n])));
            CHECK_OK(td_input_pieces(input, pool, 0, note_index, &digest, NULL));
            if (threads == 1) first = digest;
            CHECK_EQ(digest, first);
            td_input_close(input);
            td_pool_destroy(pool);
        }
    }
    free(text);
}

static td_status fail_at_x(void *context, const td_piece *piece, int worker)
{
    (void)context, (void)worker;
    const char *x = memchr(piece->text, 'X', (size_t)(piece->end - piece->text));
    return x != NULL ? td_fail_line(piece, x, "an X here") : TD_OK;
}

static void expect_failure_at_line(const char *path, uint64_t skip, unsigned line, int threads)
{
    td_input *input = NULL;
    td_pool *pool = NULL;
    char message[600];
    snprintf(message, sizeof message, "%s:%u: an X here", path, line);
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_input_open(&input, path));
    CHECK_STATUS(td_input_pieces(input, pool, skip, fail_at_x, NULL, NULL), TD_FORMAT);
    CHECK_STR(td_last_message(), message);
    td_input_close(input);
    td_pool_destroy(pool);
}

TEST(the_earliest_failure_is_reported_with_its_line)
{
    enum { LINES = 200000, BAD = 123456 };
    char *text = malloc(LINES * 16), *end = text;
    for (int i = 1; i <= LINES; i++) end += sprintf(end, "%d %s\n", i, i >= BAD && i % 3 == BAD % 3 ? "X" : "y");
    size_t bytes = (size_t)(end - text), skip = strlen("1 y\n2 y\n");
    for (int threads = 1; threads <= 8; threads *= 2) {
        test_write_file(test_path("bad"), text, bytes);
        expect_failure_at_line(test_path("bad"), skip, BAD, threads);
        for (int codec = 0; codec < TEST_CODECS; codec++)
            if (test_write_compressed(test_path("bad.z"), text, bytes, 3, test_codecs[codec].compress))
                expect_failure_at_line(test_path("bad.z"), skip, BAD, threads);
    }
    free(text);
}

TEST(the_head_is_the_beginning_of_the_content)
{
    size_t bytes = 200000;
    char *text = many_lines(bytes, 0);
    test_write_file(test_path("plain"), text, bytes);
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        const char *path = test_path(codec < 0 ? "plain" : "packed");
        if (codec >= 0 && !test_write_compressed(path, text, bytes, 7, test_codecs[codec].compress)) continue;
        td_input *input = NULL;
        const char *head = NULL;
        size_t head_bytes = 0;
        CHECK_OK(td_input_open(&input, path));
        CHECK_EQ(td_input_compressed(input), codec >= 0);
        CHECK_OK(td_input_head(input, &head, &head_bytes));
        CHECK_EQ(head_bytes, 65536);
        CHECK(memcmp(head, text, head_bytes) == 0);
        td_piece start = {.input = input, .text = head, .end = head + head_bytes};
        td_fail_line(&start, memchr(head + 1, '\n', 1000), "here");
        CHECK_CONTAINS(td_last_message(), ":2: here");
        td_input_close(input);
    }
    free(text);
}

static td_status read_all(const char *path, int threads)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    td_pool *pool = NULL;
    const char *head;
    size_t bytes;
    TD_TRY(td_pool_create(&pool, threads));
    TD_TRY(td_input_open(&input, path));
    TD_TRY(td_input_head(input, &head, &bytes));
    TD_TRY(td_input_pieces(input, pool, 0, fail_at_x, NULL, NULL));
done:
    td_input_close(input);
    td_pool_destroy(pool);
    return status;
}

TEST(a_truncated_stream_is_an_error_that_names_the_byte)
{
    size_t bytes = 300000;
    char *text = many_lines(bytes, 0);
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        const char *path = test_path("cut.z");
        char where[64];
        if (!test_write_compressed(path, text, bytes, 2, test_codecs[codec].compress)) continue;
        struct stat facts;
        CHECK(stat(path, &facts) == 0);
        for (long size = (long)facts.st_size - 1; size > 8; size -= 1 + size / 16) {
            CHECK(truncate(path, size) == 0);
            for (int threads = 1; threads <= 2; threads++) {
                td_status status = read_all(path, threads);
                if (status == TD_OK) continue; /* the cut fell between two members */
                CHECK_EQ(status, TD_CORRUPT);
                snprintf(where, sizeof where, "byte %ld: ", size);
                CHECK_CONTAINS(td_last_message(), "truncated");
                CHECK_CONTAINS(td_last_message(), where);
                CHECK_CONTAINS(td_last_message(), path);
            }
        }
    }
    free(text);
}

TEST(a_corrupt_stream_is_an_error_that_names_the_file)
{
    size_t bytes = 100000, room = 200000;
    char *text = many_lines(bytes, 0), *packed = malloc(room);
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        size_t made = test_codecs[codec].compress(text, bytes, packed, room);
        if (made == 0) continue;
        for (size_t at = 40; at < made; at += made / 17) {
            packed[at] ^= 0x10;
            test_write_file(test_path("broken.z"), packed, made);
            packed[at] ^= 0x10;
            CHECK_STATUS(read_all(test_path("broken.z"), 2), TD_CORRUPT);
            CHECK_CONTAINS(td_last_message(), test_path("broken.z"));
            CHECK_CONTAINS(td_last_message(), "byte ");
        }
        memcpy(packed + made, "garbage!", 8);
        test_write_file(test_path("trailed.z"), packed, made + 8);
        CHECK_STATUS(read_all(test_path("trailed.z"), 2), TD_CORRUPT);
    }
    free(text);
    free(packed);
}

TEST(padding_behind_a_gzip_member_is_ignored)
{
    char packed[256] = {0};
    size_t made = test_gzip("1 2\n", 4, packed, 128);
    if (made == 0) SKIP("built without zlib");
    test_write_file(test_path("padded.gz"), packed, made + 100);
    expect_text(test_path("padded.gz"), "1 2\n", 4, 0, 1);
}

TEST(an_empty_member_and_an_empty_content_are_fine)
{
    char packed[512];
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        size_t none = test_codecs[codec].compress("", 0, packed, 256);
        if (none == 0) continue;
        test_write_file(test_path("none.z"), packed, none);
        expect_text(test_path("none.z"), "", 0, 0, 2);
        size_t some = test_codecs[codec].compress("1 2\n", 4, packed + none, 256);
        test_write_file(test_path("some.z"), packed, none + some);
        expect_text(test_path("some.z"), "1 2\n", 4, 0, 2);
    }
}

TEST(a_codec_whose_library_is_missing_is_named)
{
    const struct {
        const char *magic, *library;
        bool missing;
    } all[] = {
#ifdef TANDEM_HAVE_ZLIB
        {"\x1f\x8b....", "zlib", false},
#else
        {"\x1f\x8b....", "zlib", !td_isal_found()},
#endif
#ifdef TANDEM_HAVE_ZSTD
        {"\x28\xb5\x2f\xfd..", "libzstd", false},
#else
        {"\x28\xb5\x2f\xfd..", "libzstd", true},
#endif
#ifdef TANDEM_HAVE_LZMA
        {"\xfd" "7zXZ\0", "liblzma", false},
#else
        {"\xfd" "7zXZ\0", "liblzma", true},
#endif
    };
    for (int i = 0; i < 3; i++) {
        test_write_file(test_path("magic"), all[i].magic, 6);
        CHECK_STATUS(read_all(test_path("magic"), 1), all[i].missing ? TD_UNSUPPORTED : TD_CORRUPT);
        if (all[i].missing) CHECK_CONTAINS(td_last_message(), all[i].library);
    }
}

static void expect_refused(const char *path, const char *why)
{
    td_input *input = NULL;
    CHECK_STATUS(td_input_open(&input, path), TD_IO);
    CHECK_CONTAINS(td_last_message(), path);
    CHECK_CONTAINS(td_last_message(), why);
    CHECK(input == NULL);
}

TEST(what_is_no_regular_file_is_refused_by_name)
{
    expect_refused(test_path("absent"), "No such file");
    expect_refused(test_folder(), "directory");
    expect_refused("/dev/null", "device");
    CHECK(mkfifo(test_path("fifo"), 0600) == 0);
    expect_refused(test_path("fifo"), "FIFO");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", test_path("socket"));
    CHECK(bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
    expect_refused(test_path("socket"), "socket");
    close(descriptor);
    if (geteuid() == 0) return; /* root reads everything */
    test_write_file(test_path("secret"), "1 2\n", 4);
    CHECK(chmod(test_path("secret"), 0) == 0);
    expect_refused(test_path("secret"), "Permission denied");
}

TEST(an_allocation_that_fails_is_an_error_without_a_leak)
{
    size_t bytes = 3000000;
    char *text = many_lines(bytes, 100000);
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        const char *path = test_path(codec < 0 ? "plain" : "packed");
        if (codec < 0)
            test_write_file(path, text, bytes);
        else if (!test_write_compressed(path, text, bytes, 2, test_codecs[codec].compress))
            continue;
        for (int threads = 1; threads <= 2; threads++) {
            uint64_t held = td_memory().now, nth = 0;
            td_status status;
            do {
                td_alloc_fail_at(++nth);
                status = read_all(path, threads);
                td_alloc_fail_at(0);
                CHECK_EQ(td_memory().now, held);
                CHECK(status == TD_OK || status == TD_NO_MEMORY);
                if (status != TD_OK) CHECK_CONTAINS(td_last_message(), "memory");
            } while (status != TD_OK && nth < 1000);
            CHECK_OK(status);
            CHECK(nth > 4);
        }
    }
    free(text);
}

TEST_MAIN
