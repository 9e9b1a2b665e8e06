#include "test.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* What was handled, in order. */
typedef struct record {
    td_loop *loop;
    int count;
    uint64_t values[4096], times[4096];
    td_status last;
    char message[64];
} record;

static void note(void *context, td_status status, uint64_t value)
{
    record *seen = context;
    seen->values[seen->count] = value;
    seen->times[seen->count++] = td_loop_time(seen->loop);
    seen->last = status;
    if (status != TD_OK) snprintf(seen->message, sizeof seen->message, "%s", td_last_message());
}

static void post(record *seen, uint64_t time, uint64_t value)
{
    td_loop_expect(seen->loop);
    td_loop_complete(seen->loop, time, note, seen, TD_OK, value);
}

static record *new_record(void)
{
    static record seen;
    memset(&seen, 0, sizeof seen);
    CHECK_OK(td_loop_create(&seen.loop));
    return &seen;
}

TEST(an_empty_loop_ends_at_once)
{
    record *seen = new_record();
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 0);
    td_loop_destroy(seen->loop);
}

TEST(completions_are_handled_in_order_of_time)
{
    record *seen = new_record();
    for (uint64_t i = 0; i < 1000; i++) td_loop_expect(seen->loop);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t time = 1 + i * 7919 % 1000;
        td_loop_complete(seen->loop, time, note, seen, TD_OK, time);
    }
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 1000);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(seen->values[i], i + 1);
        CHECK_EQ(seen->times[i], i + 1);
    }
    td_loop_destroy(seen->loop);
}

TEST(at_equal_times_the_order_of_posting_counts)
{
    record *seen = new_record();
    for (uint64_t i = 0; i < 1000; i++) post(seen, 5 - i % 5, i);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 1000);
    for (int i = 1; i < 1000; i++) {
        CHECK(seen->times[i - 1] <= seen->times[i]);
        if (seen->times[i - 1] == seen->times[i]) CHECK(seen->values[i - 1] < seen->values[i]);
    }
    td_loop_destroy(seen->loop);
}

/* A handler that starts the next operation, as policies do. */
static void note_and_continue(void *context, td_status status, uint64_t value)
{
    record *seen = context;
    note(context, status, value);
    if (value == 0) return;
    td_loop_expect(seen->loop);
    td_loop_complete(seen->loop, td_loop_time(seen->loop) + 10, note_and_continue, seen, TD_OK, value - 1);
}

TEST(a_handler_may_start_further_operations)
{
    record *seen = new_record();
    td_loop_expect(seen->loop);
    td_loop_complete(seen->loop, 10, note_and_continue, seen, TD_OK, 99);
    post(seen, 505, 1000);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 101);
    CHECK_EQ(seen->times[49], 500);
    CHECK_EQ(seen->values[50], 1000);
    CHECK_EQ(seen->times[51], 510);
    CHECK_EQ(seen->times[100], 1000);
    td_loop_destroy(seen->loop);
}

static void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void *post_earlier_later(void *context)
{
    record *seen = context;
    pause_ms(30);
    td_loop_complete(seen->loop, 3, note, seen, TD_OK, 3);
    return NULL;
}

TEST(a_later_time_waits_for_what_was_announced)
{
    record *seen = new_record();
    pthread_t thread;
    td_loop_expect(seen->loop);
    post(seen, 9, 9);
    CHECK_EQ(pthread_create(&thread, NULL, post_earlier_later, seen), 0);
    td_status status = td_loop_run(seen->loop);
    pthread_join(thread, NULL);
    CHECK_EQ(status, TD_OK);
    CHECK_EQ(seen->count, 2);
    CHECK_EQ(seen->values[0], 3);
    CHECK_EQ(seen->values[1], 9);
    td_loop_destroy(seen->loop);
}

static void stop_here(void *context, td_status status, uint64_t value)
{
    note(context, status, value);
    td_loop_stop(((record *)context)->loop);
}

TEST(a_completion_of_now_waits_for_nothing)
{
    record *seen = new_record();
    td_loop_expect(seen->loop); /* never completes */
    td_loop_expect(seen->loop);
    td_loop_complete(seen->loop, 0, stop_here, seen, TD_OK, 1);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 1);
    td_loop_destroy(seen->loop);
}

enum { POSTERS = 4, POSTS = 1000 };

static void *post_many(void *context)
{
    record *seen = context;
    static _Atomic uint64_t posters;
    uint64_t me = posters++ % POSTERS;
    for (uint64_t i = 0; i < POSTS; i++)
        td_loop_complete(seen->loop, (i % 3) * 100, note, seen, TD_OK, me * POSTS + i);
    return NULL;
}

TEST(threads_may_post_while_the_loop_runs)
{
    record *seen = new_record();
    pthread_t threads[POSTERS];
    for (int i = 0; i < POSTERS * POSTS; i++) td_loop_expect(seen->loop);
    for (int i = 0; i < POSTERS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, post_many, seen), 0);
    td_status status = td_loop_run(seen->loop);
    for (int i = 0; i < POSTERS; i++) pthread_join(threads[i], NULL);
    CHECK_EQ(status, TD_OK);
    CHECK_EQ(seen->count, POSTERS * POSTS);
    static bool got[POSTERS * POSTS];
    memset(got, 0, sizeof got);
    for (int i = 0; i < seen->count; i++) got[seen->values[i]] = true;
    for (int i = 0; i < POSTERS * POSTS; i++) CHECK(got[i]);
    for (int i = 1; i < seen->count; i++) CHECK(seen->times[i - 1] <= seen->times[i]);
    td_loop_destroy(seen->loop);
}

static void *fail_elsewhere(void *context)
{
    record *seen = context;
    td_status status = td_fail(TD_DEVICE, "card %d fell off", 3);
    td_loop_complete(seen->loop, 0, note, seen, status, 7);
    return NULL;
}

TEST(a_failure_brings_its_message_along)
{
    record *seen = new_record();
    pthread_t thread;
    td_message_set("something else");
    td_loop_expect(seen->loop);
    CHECK_EQ(pthread_create(&thread, NULL, fail_elsewhere, seen), 0);
    td_status status = td_loop_run(seen->loop);
    pthread_join(thread, NULL);
    CHECK_EQ(status, TD_OK); /* what a failure means is the handler's business */
    CHECK_EQ(seen->last, TD_DEVICE);
    CHECK_STR(seen->message, "card 3 fell off");
    td_loop_destroy(seen->loop);
}

TEST(undelivered_failures_leak_nothing)
{
    record *seen = new_record();
    for (int i = 0; i < 10; i++) {
        td_loop_expect(seen->loop);
        td_loop_complete(seen->loop, 1, note, seen, td_fail(TD_IO, "lost"), 0);
    }
    td_loop_destroy(seen->loop);
    td_loop_destroy(NULL);
}

TEST(a_stop_leaves_the_rest_for_the_next_run)
{
    record *seen = new_record();
    post(seen, 1, 1);
    td_loop_expect(seen->loop);
    td_loop_complete(seen->loop, 2, stop_here, seen, TD_OK, 2);
    post(seen, 3, 3);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 2);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 3);
    td_loop_destroy(seen->loop);
}

TEST(a_stop_before_the_run_is_not_missed)
{
    record *seen = new_record();
    td_loop_expect(seen->loop); /* never completes: the run would wait for ever */
    td_loop_stop(seen->loop);
    CHECK_OK(td_loop_run(seen->loop));
    td_loop_destroy(seen->loop);
}

static void *stop_soon(void *context)
{
    pause_ms(20);
    td_loop_stop(context);
    return NULL;
}

static void *cancel_soon(void *context)
{
    (void)context;
    pause_ms(20);
    td_cancel_request();
    return NULL;
}

static td_status run_while(void *(*what)(void *), td_loop *loop)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, what, loop), 0);
    td_status status = td_loop_run(loop);
    pthread_join(thread, NULL);
    return status;
}

TEST(another_thread_can_stop_a_waiting_loop)
{
    record *seen = new_record();
    td_loop_expect(seen->loop);
    CHECK_OK(run_while(stop_soon, seen->loop));
    td_loop_destroy(seen->loop);
}

TEST(a_cancel_ends_a_waiting_loop)
{
    record *seen = new_record();
    td_loop_expect(seen->loop);
    uint64_t start = td_clock_ns();
    td_status status = run_while(cancel_soon, seen->loop);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK(td_seconds_since(start) < 5);
    td_loop_destroy(seen->loop);
}

TEST(a_completion_never_announced_is_an_error)
{
    record *seen = new_record();
    td_loop_complete(seen->loop, 0, note, seen, TD_OK, 1);
    CHECK_STATUS(td_loop_run(seen->loop), TD_INTERNAL);
    CHECK_EQ(seen->count, 0);
    td_loop_destroy(seen->loop);
}

TEST(running_out_of_memory_is_reported_and_leaks_nothing)
{
    td_loop *loop = NULL;
    td_alloc_fail_at(1);
    CHECK_STATUS(td_loop_create(&loop), TD_NO_MEMORY);
    CHECK(loop == NULL);

    record *seen = new_record();
    td_alloc_fail_at(1);
    post(seen, 1, 1);
    CHECK_STATUS(td_loop_run(seen->loop), TD_NO_MEMORY);
    td_loop_destroy(seen->loop);

    seen = new_record(); /* only the message is lost */
    td_loop_expect(seen->loop);
    td_status failure = td_fail(TD_IO, "gone");
    td_alloc_fail_at(1);
    td_loop_complete(seen->loop, 1, note, seen, failure, 5);
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 1);
    CHECK_EQ(seen->last, TD_IO);
    td_loop_destroy(seen->loop);
}

/* A clock that posts a completion at 10, 20 and 30, 5 later than it happens, and sees what is delivered. */
typedef struct ticking {
    record *seen;
    uint64_t next, end, delivered, ran_before; /* ran_before: completions handled when the last tick happened */
} ticking;

static bool tick_pending(void *context, uint64_t *time)
{
    const ticking *self = context;
    *time = self->next;
    return self->next <= self->end;
}

static void tick_advance(void *context)
{
    ticking *self = context;
    self->ran_before = (uint64_t)self->seen->count;
    post(self->seen, self->next + 5, self->next);
    self->next += 10;
}

static void tick_delivered(void *context, uint64_t time) { ((ticking *)context)->delivered = time; }

TEST(a_clock_goes_on_only_until_the_next_completion_is_due)
{
    record *seen = new_record();
    ticking ticks = {.seen = seen, .next = 10, .end = 30};
    td_loop_clock clock = {.context = &ticks, .pending = tick_pending, .advance = tick_advance,
                           .delivered = tick_delivered};
    td_loop_add_clock(seen->loop, &clock);
    post(seen, 12, 1);
    post(seen, 28, 2);
    CHECK_OK(td_loop_poll(seen->loop, 14)); /* what happens at 10 is due at 15 */
    CHECK_EQ(seen->count, 1);
    CHECK_EQ(ticks.next, 20);
    CHECK_OK(td_loop_run(seen->loop));
    const uint64_t values[] = {1, 10, 20, 2, 30};
    CHECK_EQ(seen->count, 5);
    for (int i = 0; i < 5; i++) CHECK_EQ(seen->values[i], values[i]);
    CHECK_EQ(ticks.ran_before, 4); /* what was due before 30 was handled before 30 happened */
    CHECK_EQ(ticks.delivered, 35);
    td_loop_remove_clock(seen->loop, &clock);
    ticks.end = 100;
    CHECK_OK(td_loop_run(seen->loop));
    CHECK_EQ(seen->count, 5);
    td_loop_destroy(seen->loop);
}

TEST_MAIN
