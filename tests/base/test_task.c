/* Work beside the event loop: its end is delivered like any completion, on the loop's thread, with its status, message
 * and time. */
#include "test.h"

#include "base/task.h"

#include <stdatomic.h>
#include <string.h>

typedef struct job {
    td_task task;
    td_status status; /* to end with */
    uint64_t time;    /* and when */
    pthread_t worker, handled_by;
    int handled;
    td_status seen;
    char message[TD_MESSAGE_BYTES];
    _Atomic bool go;
} job;

static td_status work(void *context, uint64_t *time)
{
    job *self = context;
    self->worker = pthread_self();
    while (!atomic_load(&self->go)) {}
    *time = self->time;
    return self->status == TD_OK ? TD_OK : td_fail(self->status, "the work failed");
}

static int order;

static void on_end(void *context, td_status status, uint64_t value)
{
    job *self = context;
    td_task_join(&self->task);
    self->handled = ++order + (int)value;
    self->handled_by = pthread_self();
    self->seen = status;
    snprintf(self->message, sizeof self->message, "%s", td_last_message());
}

static job make(td_loop *loop, uint64_t time, td_status status)
{
    return (job){.task = {.loop = loop, .work = work, .handler = on_end}, .time = time, .status = status};
}

TEST(the_end_of_a_task_is_a_completion)
{
    td_loop *loop;
    CHECK_OK(td_loop_create(&loop));
    job one = make(loop, 0, TD_OK);
    one.task.context = &one;
    one.task.value = 100;
    td_task_start(&one.task);
    CHECK_EQ(one.handled, 0);
    atomic_store(&one.go, true);
    order = 0;
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(one.handled, 101);
    CHECK(pthread_equal(one.handled_by, pthread_self()));
    CHECK(!pthread_equal(one.worker, pthread_self()));
    td_loop_destroy(loop);
}

TEST(tasks_that_end_at_virtual_times_are_delivered_in_their_order)
{
    td_loop *loop;
    CHECK_OK(td_loop_create(&loop));
    job late = make(loop, 20, TD_OK), early = make(loop, 10, TD_OK);
    late.task.context = &late;
    early.task.context = &early;
    atomic_store(&late.go, true);
    atomic_store(&early.go, true);
    td_task_start(&late.task);
    td_task_start(&early.task);
    order = 0;
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(early.handled, 1);
    CHECK_EQ(late.handled, 2);
    td_loop_destroy(loop);
}

TEST(a_failure_comes_with_its_message)
{
    td_loop *loop;
    CHECK_OK(td_loop_create(&loop));
    job bad = make(loop, 0, TD_LIMIT);
    bad.task.context = &bad;
    atomic_store(&bad.go, true);
    td_task_start(&bad.task);
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(bad.seen, TD_LIMIT);
    CHECK_CONTAINS(bad.message, "the work failed");
    td_loop_destroy(loop);
}

TEST(a_task_whose_end_nobody_waits_for_can_be_joined)
{
    td_loop *loop;
    CHECK_OK(td_loop_create(&loop));
    job left = make(loop, 0, TD_OK);
    left.task.context = &left;
    atomic_store(&left.go, true);
    td_task_start(&left.task);
    td_task_join(&left.task);
    td_task_join(&left.task);
    CHECK_EQ(left.handled, 0);
    td_loop_destroy(loop);
}

TEST_MAIN
