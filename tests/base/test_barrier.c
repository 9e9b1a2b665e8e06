#include "test.h"

#include "base/barrier.h"
#include "base/pool.h"

enum { ROUNDS = 300, MOST = 9 };

/* Plain words on purpose: only the barrier orders the writes of one round before the reads behind it. */
typedef struct meeting {
    td_barrier barrier;
    uint32_t marks[MOST];
    uint32_t wrong[MOST];
    uint64_t alone; /* counted by worker 0 between two waits */
} meeting;

static td_status meet(void *context, int worker, int workers)
{
    meeting *self = context;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        self->marks[worker] = round;
        td_barrier_wait(&self->barrier);
        for (int w = 0; w < workers; w++) self->wrong[worker] += self->marks[w] != round;
        td_barrier_wait(&self->barrier);
        if (worker == 0) self->alone++;
        td_barrier_wait(&self->barrier);
        self->wrong[worker] += self->alone != round;
    }
    return TD_OK;
}

TEST(nobody_passes_before_everyone_has_arrived_and_everything_written_is_seen)
{
    static const int threads[] = {1, 2, 3, MOST};
    for (int t = 0; t < 4; t++) {
        td_pool *pool = NULL;
        meeting self = {.alone = 0};
        CHECK_OK(td_pool_create(&pool, threads[t]));
        td_barrier_init(&self.barrier, threads[t]);
        CHECK_OK(td_pool_run(pool, meet, &self));
        for (int w = 0; w < threads[t]; w++) CHECK_EQ(self.wrong[w], 0);
        CHECK_EQ(self.alone, ROUNDS);
        td_pool_destroy(pool);
    }
}

TEST(a_barrier_is_ready_for_another_job_when_everyone_is_through)
{
    td_pool *pool = NULL;
    meeting self = {.alone = 0};
    CHECK_OK(td_pool_create(&pool, 3));
    td_barrier_init(&self.barrier, 3);
    for (int job = 0; job < 3; job++) {
        self.alone = 0;
        CHECK_OK(td_pool_run(pool, meet, &self));
        for (int w = 0; w < 3; w++) CHECK_EQ(self.wrong[w], 0);
    }
    td_pool_destroy(pool);
}

TEST_MAIN
