#include "test.h"

#include "base/cancel.h"
#include "base/pool.h"

#include <errno.h>

TEST(every_status_has_a_name_and_a_text)
{
    CHECK_STR(td_status_name(TD_OK), "OK");
    CHECK_STR(td_status_name(TD_NO_MEMORY), "NO_MEMORY");
    CHECK_STR(td_status_text(TD_NO_MEMORY), "out of memory or over the memory budget");
    for (int i = TD_OK; i <= TD_INTERNAL; i++) {
        CHECK(td_status_name((td_status)i)[0] != '\0');
        CHECK(td_status_text((td_status)i)[0] != '\0');
    }
    CHECK_STR(td_status_name(TD_INTERNAL), "INTERNAL");
    CHECK_STR(td_status_name((td_status)(TD_INTERNAL + 1)), "UNKNOWN");
    CHECK_STR(td_status_name((td_status)-1), "UNKNOWN");
    CHECK_STR(td_status_text((td_status)1000), "unknown status");
    CHECK(strlen(td_version()) > 0);
}

TEST(the_message_is_what_the_failing_call_said)
{
    CHECK_EQ(td_fail(TD_FORMAT, "line %d: %s", 12, "too short"), TD_FORMAT);
    CHECK_STR(td_last_message(), "line 12: too short");
    CHECK_EQ(td_fail_errno(TD_IO, ENOENT, "cannot open '%s'", "x.tg"), TD_IO);
    CHECK_STR(td_last_message(), "cannot open 'x.tg': No such file or directory");
    CHECK_EQ(td_fail_context(TD_IO, "reading %s", "y"), TD_IO);
    CHECK_STR(td_last_message(), "reading y: cannot open 'x.tg': No such file or directory");
}

TEST(a_message_may_quote_the_one_before_it)
{
    td_fail(TD_IO, "first");
    td_fail(TD_IO, "<%s>", td_last_message());
    CHECK_STR(td_last_message(), "<first>");
    td_message_set(td_last_message());
    CHECK_STR(td_last_message(), "<first>");
    td_message_set(td_last_message() + 1);
    CHECK_STR(td_last_message(), "first>");
}

TEST(a_message_too_long_is_cut)
{
    char longer[3 * TD_MESSAGE_BYTES];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    td_fail(TD_IO, "%s", longer);
    CHECK_EQ(strlen(td_last_message()), TD_MESSAGE_BYTES - 1);
    td_fail_context(TD_IO, "file");
    CHECK_EQ(strlen(td_last_message()), TD_MESSAGE_BYTES - 1);
    CHECK(strncmp(td_last_message(), "file: xxx", 9) == 0);
    td_message_set(longer);
    CHECK_EQ(strlen(td_last_message()), TD_MESSAGE_BYTES - 1);
}

static td_status fail_on_others(void *context, int worker, int workers)
{
    (void)context, (void)workers;
    return worker == 0 ? TD_OK : td_fail(TD_DEVICE, "worker %d", worker);
}

TEST(a_thread_has_its_own_message_until_the_pool_carries_it)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    td_message_set("mine");
    td_status status = td_pool_run(pool, fail_on_others, NULL);
    td_pool_destroy(pool);
    CHECK_EQ(status, TD_DEVICE);
    CHECK_STR(td_last_message(), "worker 1");
}

static int released;

static td_status try_and_release(td_status of_first, td_status of_second)
{
    td_status status = TD_OK;
    TD_TRY(of_first);
    TD_TRY(of_second);
done:
    released++;
    return status;
}

static td_status check_each(td_status of_first, td_status of_second)
{
    TD_CHECK(of_first);
    TD_CHECK(of_second);
    return TD_OK;
}

TEST(the_first_failure_is_handed_up_and_cleanup_runs_once)
{
    released = 0;
    CHECK_EQ(try_and_release(TD_OK, TD_OK), TD_OK);
    CHECK_EQ(try_and_release(TD_IO, TD_LIMIT), TD_IO);
    CHECK_EQ(try_and_release(TD_OK, TD_LIMIT), TD_LIMIT);
    CHECK_EQ(released, 3);
    CHECK_EQ(check_each(TD_OK, TD_OK), TD_OK);
    CHECK_EQ(check_each(TD_OK, TD_LIMIT), TD_LIMIT);
    CHECK_EQ(check_each(TD_IO, TD_LIMIT), TD_IO);
}

static td_status never_called(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    *(bool *)context = true;
    return TD_OK;
}

TEST(a_cancel_is_seen_until_it_is_cleared)
{
    CHECK_OK(td_cancel_check());
    td_cancel_request();
    bool called = false, requested = td_cancel_requested();
    td_status check = td_cancel_check(), loop = td_pool_for(NULL, 100, 10, never_called, &called);
    td_cancel_clear();
    CHECK(requested);
    CHECK_EQ(check, TD_CANCELLED);
    CHECK_EQ(loop, TD_CANCELLED);
    CHECK(!called);
    CHECK_STR(td_last_message(), "interrupted");
    CHECK_OK(td_cancel_check());
}

TEST_MAIN
