#include "test.h"

#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static _Atomic uint64_t touched;

static td_status count_worker(void *context, int worker, int workers)
{
    (void)worker;
    CHECK_EQ(workers, *(int *)context);
    touched++;
    return TD_OK;
}

TEST(every_worker_runs_once)
{
    for (int threads = 1; threads <= 9; threads += 4) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads));
        for (int round = 0; round < 500; round++) {
            touched = 0;
            CHECK_OK(td_pool_run(pool, count_worker, &threads));
            CHECK_EQ(touched, threads);
        }
        td_pool_destroy(pool);
    }
}

static td_status add_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    _Atomic uint64_t *sum = context;
    for (uint64_t i = begin; i < end; i++) *sum += i;
    return TD_OK;
}

TEST(a_loop_covers_its_range_exactly)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    _Atomic uint64_t sum = 0;
    CHECK_OK(td_pool_for(pool, 10001, 7, add_range, &sum));
    CHECK_EQ(sum, UINT64_C(10000) * 10001 / 2);
    td_pool_destroy(pool);
}

static td_status fail_from_300(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)context, (void)worker;
    if (end > 300) return td_fail(TD_FORMAT, "bad chunk at %llu", (unsigned long long)begin);
    return TD_OK;
}

TEST(the_lowest_failure_is_the_one_reported)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    for (int round = 0; round < 200; round++) {
        CHECK_STATUS(td_pool_for(pool, 1000, 10, fail_from_300, NULL), TD_FORMAT);
        CHECK_STR(td_last_message(), "bad chunk at 300");
    }
    td_pool_destroy(pool);
}

typedef struct only_chunk {
    td_pool *pool;
    pthread_t caller;
    int calls;
} only_chunk;

static td_status add_call(void *context, uint64_t begin, uint64_t end, int worker)
{
    only_chunk *seen = context;
    CHECK_EQ(begin, 0);
    CHECK_EQ(end, 64);
    CHECK_EQ(worker, 0);
    CHECK(pthread_equal(pthread_self(), seen->caller));
    CHECK_EQ(td_pool_threads(seen->pool), 1);
    seen->calls++;
    return TD_OK;
}

/* How often threads of the process other than the caller gave up a processor: a worker that was woken sleeps again. */
static long switches_of_workers(void)
{
    struct rusage all, own;
    CHECK_EQ(getrusage(RUSAGE_SELF, &all), 0);
    CHECK_EQ(getrusage(RUSAGE_THREAD, &own), 0);
    return all.ru_nvcsw - own.ru_nvcsw;
}

TEST(a_loop_of_one_chunk_wakes_no_worker)
{
    enum { ROUNDS = 50 };
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    only_chunk seen = {.pool = pool, .caller = pthread_self()};
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 50; i++) nanosleep(&pause, NULL); /* the worker sleeps */
    long before = switches_of_workers();
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(td_pool_for(pool, 64, round % 2 == 0 ? 64 : 4096, add_call, &seen));
        nanosleep(&pause, NULL);
    }
    long switches = switches_of_workers() - before;
    CHECK_EQ(seen.calls, ROUNDS);
    CHECK_EQ(td_pool_threads(pool), 2); /* the loops have ended */
    if (switches >= ROUNDS / 5) fprintf(stderr, "workers slept %ld times in %d loops\n", switches, ROUNDS);
    CHECK(switches < ROUNDS / 5); /* a sanitizer has a thread of its own */
    td_pool_destroy(pool);
}

TEST(a_loop_of_one_chunk_reports_its_failure)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_STATUS(td_pool_for(pool, 400, 400, fail_from_300, NULL), TD_FORMAT);
    CHECK_STR(td_last_message(), "bad chunk at 0");
    CHECK_EQ(td_pool_threads(pool), 2);
    td_pool_destroy(pool);
}

TEST(too_many_threads_are_refused)
{
    td_pool *pool = NULL;
    CHECK_STATUS(td_pool_create(&pool, 100000), TD_LIMIT);
    CHECK(pool == NULL);
}

TEST(a_pool_that_cannot_be_allocated_leaks_nothing)
{
    for (int nth = 1; nth <= 2; nth++) {
        td_pool *pool = NULL;
        td_alloc_fail_at((uint64_t)nth);
        CHECK_STATUS(td_pool_create(&pool, 2), TD_NO_MEMORY);
        td_alloc_fail_at(0);
    }
}

TEST_MAIN
