/* Prefix sums by any number of workers are those of one. */
#include "base/alloc.h"
#include "base/random.h"
#include "base/sums.h"
#include "test.h"

TEST(sums_do_not_depend_on_threads)
{
    static const uint64_t counts[] = {0, 1, 65536, 262143, 262144, 300001, 1048577};
    for (int threads = 1; threads < 4; threads++) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads));
        for (int c = 0; c < 7; c++) {
            uint64_t *sums = NULL, sum = 0;
            CHECK_OK(TD_NEW(&sums, counts[c] + 1, "sums"));
            sums[0] = 77;
            for (uint64_t i = 0; i < counts[c]; i++) sums[i + 1] = td_random_at(3, i) >> 40;
            CHECK_OK(td_sum_up(sums, counts[c], pool));
            CHECK_EQ(sums[0], 0);
            for (uint64_t i = 0; i < counts[c]; i++) {
                sum += td_random_at(3, i) >> 40;
                CHECK(sums[i + 1] == sum);
            }
            td_free(sums);
        }
        td_pool_destroy(pool);
    }
}

TEST(a_request_that_fails_is_an_error)
{
    td_pool *pool = NULL;
    uint64_t *sums = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(TD_NEW_ZEROED(&sums, 400001, "sums"));
    td_alloc_fail_at(1);
    CHECK_STATUS(td_sum_up(sums, 400000, pool), TD_NO_MEMORY);
    td_alloc_fail_at(0);
    td_free(sums);
    td_pool_destroy(pool);
}

TEST_MAIN
