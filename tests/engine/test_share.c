/* Sharing out: whatever the way of stealing, every unit is done exactly once. */
#include "test.h"

#include "base/share.h"

static const char *const stealing_names[] = {"none", "donate", "vertex", "edge"};

typedef struct work {
    td_share_out share;
    uint8_t *done;         /* times a unit was handed out */
    uint64_t count, grain;
    int slow;              /* worker that dawdles, so that others must take from it; -1: none */
    uint64_t units_of[16]; /* by worker */
    bool empty;            /* an empty range was handed out */
    bool large;            /* more than a grain at once */
} work;

static td_status take_all(void *context, int worker, int workers)
{
    (void)workers;
    work *self = context;
    uint64_t begin, end;
    while (td_share_out_take(&self->share, worker, &begin, &end)) {
        if (begin >= end) __atomic_store_n(&self->empty, true, __ATOMIC_RELAXED);
        if (end - begin > self->grain) __atomic_store_n(&self->large, true, __ATOMIC_RELAXED);
        for (uint64_t u = begin; u < end; u++) __atomic_fetch_add(&self->done[u], 1, __ATOMIC_RELAXED);
        self->units_of[worker] += end - begin;
        if (worker == self->slow) usleep(20);
    }
    return TD_OK;
}

static void check_round(work *self, td_pool *pool, const char *what)
{
    memset(self->done, 0, self->count);
    memset(self->units_of, 0, sizeof self->units_of);
    td_share_out_deal(&self->share, self->count, (uint32_t)self->grain);
    CHECK_OK(td_pool_run(pool, take_all, self));
    for (uint64_t u = 0; u < self->count; u++)
        if (self->done[u] != 1)
            TEST_FAIL("stealing=%s: unit %" PRIu64 " of %" PRIu64 " was done %d times", what, u, self->count,
                      self->done[u]);
    CHECK(!self->empty);
    CHECK(!self->large);
}

static void check_mode(td_stealing stealing, int threads, int slow, int rounds)
{
    static const uint64_t counts[] = {0, 1, 7, 8, 9, 64, 1000, 4096};
    static const uint64_t grains[] = {1, 3, 64};
    td_pool *pool = NULL;
    work self = {.slow = slow};
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_share_out_create(&self.share, threads, stealing));
    CHECK_OK(TD_NEW_ZEROED(&self.done, 4096, "marks"));
    for (int round = 0; round < rounds; round++) {
        self.count = counts[round % 8];
        self.grain = grains[round % 3];
        check_round(&self, pool, stealing_names[stealing]);
    }
    td_free(self.done);
    td_share_out_destroy(&self.share);
    td_pool_destroy(pool);
}

TEST(every_unit_is_done_exactly_once)
{
    for (int mode = TD_STEAL_NONE; mode <= TD_STEAL_EDGE; mode++) {
        check_mode((td_stealing)mode, 1, -1, 24);
        check_mode((td_stealing)mode, 2, -1, 1000);
        check_mode((td_stealing)mode, 8, -1, 1000);
    }
}

TEST(every_unit_is_done_exactly_once_when_one_worker_is_slow)
{
    for (int mode = TD_STEAL_NONE; mode <= TD_STEAL_EDGE; mode++) check_mode((td_stealing)mode, 8, mode % 8, 48);
}

/* Units of a worker that sleeps over each of them, of 64 dealt to two workers. */
static uint64_t left_to_the_slow(td_stealing stealing)
{
    td_pool *pool = NULL;
    work self = {.slow = 1, .count = 64, .grain = 1};
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_share_out_create(&self.share, 2, stealing));
    CHECK_OK(TD_NEW_ZEROED(&self.done, self.count, "marks"));
    check_round(&self, pool, stealing_names[stealing]);
    uint64_t left = self.units_of[1];
    CHECK_EQ(self.units_of[0] + left, 64);
    td_free(self.done);
    td_share_out_destroy(&self.share);
    td_pool_destroy(pool);
    return left;
}

TEST(without_stealing_everyone_keeps_to_its_own)
{
    CHECK_EQ(left_to_the_slow(TD_STEAL_NONE), 32);
}

TEST(idle_workers_take_from_a_slow_one_or_are_given_by_it)
{
    for (int mode = TD_STEAL_DONATE; mode <= TD_STEAL_EDGE; mode++) {
        uint64_t least = 64;
        for (int attempt = 0; attempt < 20 && least >= 32; attempt++) {
            uint64_t left = left_to_the_slow((td_stealing)mode);
            if (left < least) least = left;
        }
        CHECK(least < 32);
    }
}

/* A thief visits the others clockwise and takes from the tail, so that the owner and it meet last (CGgraph). */
TEST(a_thief_takes_the_tail_of_the_next_run)
{
    td_share_out share = {0};
    uint64_t begin, end;
    CHECK_OK(td_share_out_create(&share, 4, TD_STEAL_VERTEX));
    td_share_out_deal(&share, 40, 5);
    for (int i = 0; i < 2; i++) CHECK(td_share_out_take(&share, 1, &begin, &end));
    CHECK_EQ(begin, 15);
    static const uint64_t stolen[] = {25, 20, 35, 30, 5, 0}; /* runs 2, 3 and 0, each from its tail */
    for (int i = 0; i < 6; i++) {
        CHECK(td_share_out_take(&share, 1, &begin, &end));
        CHECK_EQ(begin, stolen[i]);
        CHECK_EQ(end, stolen[i] + 5);
        CHECK_EQ(share.runs[1].steals, (uint64_t)i + 1);
    }
    CHECK(!td_share_out_take(&share, 1, &begin, &end));
    CHECK_EQ(share.runs[0].steals + share.runs[2].steals + share.runs[3].steals, 0);
    td_share_out_destroy(&share);
}

/* One that has ended waits until the last has. */
TEST(idle_time_is_that_between_a_workers_end_and_the_last_ones)
{
    td_share_out share = {0};
    CHECK_OK(td_share_out_create(&share, 2, TD_STEAL_EDGE));
    td_share_out_end(&share, 0);
    usleep(2000);
    td_share_out_end(&share, 1);
    td_share_out_close(&share);
    CHECK(share.runs[0].idle >= 2000000);
    CHECK(share.runs[1].idle + 2000000 <= share.runs[0].idle);
    td_share_out_destroy(&share);
}

TEST(one_worker_alone_gets_all_at_once)
{
    for (int mode = TD_STEAL_NONE; mode <= TD_STEAL_EDGE; mode++) {
        td_share_out share = {0};
        uint64_t begin, end;
        CHECK_OK(td_share_out_create(&share, 8, (td_stealing)mode));
        td_share_out_deal_one(&share, 100000);
        CHECK(td_share_out_take(&share, 0, &begin, &end));
        CHECK_EQ(begin, 0);
        CHECK_EQ(end, 100000);
        CHECK(!td_share_out_take(&share, 0, &begin, &end));
        td_share_out_deal_one(&share, 0);
        CHECK(!td_share_out_take(&share, 0, &begin, &end));
        td_share_out_destroy(&share);
    }
}

TEST(the_largest_count_is_dealt_out_whole)
{
    td_share_out share = {0};
    CHECK_OK(td_share_out_create(&share, 3, TD_STEAL_NONE));
    td_share_out_deal(&share, UINT32_MAX, UINT32_C(1) << 30);
    uint64_t begin, end, next = 0;
    for (int worker = 0; worker < 3; worker++)
        while (td_share_out_take(&share, worker, &begin, &end)) {
            CHECK_EQ(begin, next);
            next = end;
        }
    CHECK_EQ(next, UINT32_MAX);
    td_share_out_destroy(&share);
}

TEST(queues_that_cannot_be_allocated_are_an_error)
{
    td_share_out share = {0};
    td_alloc_fail_at(1);
    CHECK_STATUS(td_share_out_create(&share, 8, TD_STEAL_EDGE), TD_NO_MEMORY);
    td_alloc_fail_at(0);
    td_share_out_destroy(&share);
}

TEST_MAIN
