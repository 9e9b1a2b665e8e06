#include "base/loop.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <pthread.h>
#include <time.h>

typedef struct completion {
    uint64_t time, sequence, value, arrived;
    td_handler handler;
    void *context;
    td_status status;
    td_failure *failure; /* NULL unless failed */
} completion;

struct td_loop {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    completion *heap; /* earliest first; room for every expected completion */
    uint64_t count, room, expected, posted, time, posted_at;
    bool stopped;
    td_status trouble; /* the queue could not grow, or a completion came unannounced */
    td_loop_clock *clocks;
};

static bool earlier(const completion *a, const completion *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static void swap(completion *a, completion *b)
{
    completion keep = *a;
    *a = *b;
    *b = keep;
}

static void sift_up(completion *heap, uint64_t i)
{
    for (; i > 0 && earlier(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2) swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(completion *heap, uint64_t count)
{
    for (uint64_t i = 0;;) {
        uint64_t least = i;
        for (uint64_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (earlier(&heap[child], &heap[least])) least = child;
        if (least == i) return;
        swap(&heap[i], &heap[least]);
        i = least;
    }
}

td_status td_loop_create(td_loop **out)
{
    td_loop *loop = NULL;
    TD_CHECK(TD_NEW_ZEROED(&loop, 1, "event loop"));
    pthread_mutex_init(&loop->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&loop->arrived, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = loop;
    return TD_OK;
}

void td_loop_destroy(td_loop *loop)
{
    if (loop == NULL) return;
    for (uint64_t i = 0; i < loop->count; i++) td_free(loop->heap[i].failure);
    pthread_cond_destroy(&loop->arrived);
    pthread_mutex_destroy(&loop->lock);
    td_free(loop->heap);
    td_free(loop);
}

td_status td_loop_reserve(td_loop *loop, uint64_t count)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&loop->lock);
    if (count > loop->room) status = TD_RESIZE(&loop->heap, count, "event queue");
    if (count > loop->room && status == TD_OK) loop->room = count;
    pthread_mutex_unlock(&loop->lock);
    return status;
}

/* Reserves space here, on the announcing thread, so that a completion, which may come
 * from a driver's callback, never allocates. */
void td_loop_expect(td_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    uint64_t needed = loop->count + loop->expected + 1;
    if (needed > loop->room) {
        td_status grown = TD_RESIZE(&loop->heap, needed * 2, "event queue");
        if (grown == TD_OK) loop->room = needed * 2;
        else loop->trouble = grown;
    }
    loop->expected++;
    pthread_mutex_unlock(&loop->lock);
}

void td_loop_complete(td_loop *loop, uint64_t time, td_handler handler, void *context, td_status status,
                      uint64_t value)
{
    td_failure *failure = NULL, kept;
    if (status != TD_OK) {
        td_failure_keep(&kept);
        if (TD_NEW(&failure, 1, "message") == TD_OK) *failure = kept;
        td_failure_set(&kept);
    }
    pthread_mutex_lock(&loop->lock);
    bool announced = loop->expected > 0;
    if (announced) loop->expected--;
    else loop->trouble = TD_INTERNAL;
    if (announced && loop->count < loop->room) {
        loop->heap[loop->count] = (completion){time, loop->posted++, value, td_clock_ns(),
                                               handler, context, status, failure};
        sift_up(loop->heap, loop->count++);
    } else {
        td_free(failure);
    }
    pthread_cond_signal(&loop->arrived);
    pthread_mutex_unlock(&loop->lock);
}

uint64_t td_loop_time(const td_loop *loop) { return loop->time; }

uint64_t td_loop_arrived(const td_loop *loop) { return loop->posted_at; }

void td_loop_stop(td_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    loop->stopped = true;
    pthread_cond_signal(&loop->arrived);
    pthread_mutex_unlock(&loop->lock);
}

void td_loop_add_clock(td_loop *loop, td_loop_clock *clock)
{
    clock->next = loop->clocks;
    loop->clocks = clock;
}

void td_loop_remove_clock(td_loop *loop, td_loop_clock *clock)
{
    td_loop_clock **at = &loop->clocks;
    while (*at != NULL && *at != clock) at = &(*at)->next;
    if (*at != NULL) *at = clock->next;
}

/* The clock with the earliest thing to do, and when; NULL: none has any. */
static td_loop_clock *next_clock(const td_loop *loop, uint64_t *time)
{
    td_loop_clock *first = NULL;
    for (td_loop_clock *clock = loop->clocks; clock != NULL; clock = clock->next) {
        uint64_t then = 0;
        if (!clock->pending(clock->context, &then) || (first != NULL && then >= *time)) continue;
        first = clock;
        *time = then;
    }
    return first;
}

/* A completion stamped with a virtual time waits for all that was announced, and for what clocks do before it. */
static bool deliverable(const td_loop *loop, const td_loop_clock *clock, uint64_t next)
{
    if (loop->count == 0) return false;
    if (loop->heap[0].time == 0) return true;
    return loop->expected == 0 && (clock == NULL || loop->heap[0].time <= next);
}

static void wait_a_little(td_loop *loop)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 100000000; /* test the cancel flag ten times a second */
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&loop->arrived, &loop->lock, &until);
}

static td_status trouble(const td_loop *loop)
{
    td_refusal refusal = td_memory_lack(loop->count * sizeof(completion));
    if (loop->trouble == TD_NO_MEMORY)
        return td_refuse(&refusal, "no memory for more completions that wait; {memory} allows more");
    if (loop->trouble != TD_OK) return td_fail(loop->trouble, "a completion arrived that was never announced");
    return td_cancel_check();
}

/* Called with the lock held; releases it while a handler runs. */
static void deliver(td_loop *loop)
{
    completion first = loop->heap[0];
    loop->heap[0] = loop->heap[--loop->count];
    sift_down(loop->heap, loop->count);
    loop->time = first.time;
    loop->posted_at = first.arrived;
    pthread_mutex_unlock(&loop->lock);
    for (td_loop_clock *clock = loop->clocks; clock != NULL; clock = clock->next)
        clock->delivered(clock->context, first.time);
    if (first.failure != NULL) td_failure_set(first.failure);
    td_free(first.failure);
    first.handler(first.context, first.status, first.value);
    pthread_mutex_lock(&loop->lock);
}

/* With the lock held, which is let go meanwhile: the clock posts. */
static void advance(td_loop *loop, td_loop_clock *clock)
{
    pthread_mutex_unlock(&loop->lock);
    clock->advance(clock->context);
    pthread_mutex_lock(&loop->lock);
}

td_status td_loop_run(td_loop *loop)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&loop->lock);
    while (!loop->stopped) {
        uint64_t next = 0;
        td_loop_clock *clock = next_clock(loop, &next);
        status = trouble(loop);
        if (status != TD_OK || (loop->count == 0 && loop->expected == 0 && clock == NULL)) break;
        if (deliverable(loop, clock, next)) deliver(loop);
        else if (clock != NULL && loop->expected == 0) advance(loop, clock);
        else wait_a_little(loop);
    }
    loop->stopped = false;
    pthread_mutex_unlock(&loop->lock);
    return status;
}

td_status td_loop_poll(td_loop *loop, uint64_t until)
{
    pthread_mutex_lock(&loop->lock);
    td_status status = trouble(loop);
    while (status == TD_OK) {
        uint64_t next = 0;
        td_loop_clock *clock = next_clock(loop, &next);
        if (deliverable(loop, clock, next) && loop->heap[0].time <= until) deliver(loop);
        else if (clock != NULL && loop->expected == 0 && next <= until) advance(loop, clock);
        else break;
        status = trouble(loop);
    }
    loop->stopped = false;
    pthread_mutex_unlock(&loop->lock);
    return status;
}
