#include "test.h"

#include "base/cancel.h"
#include "base/lines.h"

#include <errno.h>

static char *print_numbers(const void *context, uint64_t begin, uint64_t end, char *at)
{
    (void)context;
    for (uint64_t i = begin; i < end; i++) at += sprintf(at, "%" PRIu64 "\n", i);
    return at;
}

static td_status write_numbers(const char *path, uint64_t count, int threads)
{
    td_status status = TD_OK;
    td_pool *pool = NULL;
    td_outfile *file = NULL;
    TD_CHECK(td_pool_create(&pool, threads));
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    TD_TRY(td_lines_write(file, pool, count, 8, print_numbers, NULL, "writing numbers"));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    td_pool_destroy(pool);
    return status;
}

static void check_numbers(const char *path, uint64_t count)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    char line[32];
    uint64_t seen = 0;
    while (fgets(line, sizeof line, file) != NULL && strtoull(line, NULL, 10) == seen) seen++;
    bool ended = feof(file) != 0;
    fclose(file);
    CHECK(ended);
    CHECK_EQ(seen, count);
}

TEST(items_come_out_in_order_whatever_the_threads)
{
    for (int threads = 1; threads <= 8; threads *= 2) {
        const char *path = test_path("numbers");
        CHECK_OK(write_numbers(path, 1000000, threads));
        check_numbers(path, 1000000);
    }
}

TEST(none_one_and_exactly_full_stretches)
{
    const uint64_t counts[] = {0, 1, 32767, 32768, 32769, 65536};
    for (int i = 0; i < 6; i++) {
        const char *path = test_path("numbers");
        CHECK_OK(write_numbers(path, counts[i], 3));
        check_numbers(path, counts[i]);
    }
}

TEST(a_failing_write_ends_all_workers)
{
    const char *path = test_path("full");
    for (uint64_t nth = 2; nth <= 4; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        CHECK_STATUS(write_numbers(path, 1000000, 4), TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left");
        CHECK(access(path, F_OK) != 0);
    }
    td_outfile_fail_at(0, 0);
}

TEST(a_cancel_ends_all_workers)
{
    td_cancel_request();
    td_status status = write_numbers(test_path("cancelled"), 1000000, 4);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
}

TEST(failing_allocations_are_reported)
{
    uint64_t nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = write_numbers(test_path("memory"), 1000, 2);
        td_alloc_fail_at(0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    CHECK(nth > 2);
}

TEST_MAIN
