/* Measuring the memory of the machine. */
#include "device/cpu/rates.h"

#include "test.h"

TEST(rates_are_positive_and_memory_is_given_back)
{
    td_pool *pool = NULL;
    td_cpu_rates rates;
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_cpu_measure(pool, 32 << 20, &rates));
    td_pool_destroy(pool);
    CHECK_EQ(rates.threads, 2);
    CHECK(rates.copy > 1e6 && rates.read > 1e6);
    CHECK_EQ(rates.gather_count, 1);
    for (int i = 0; i < rates.gather_count; i++)
        CHECK(rates.gather[i].small_pages > 1e3 && rates.gather[i].huge_pages > 1e3);
}

TEST(measuring_within_a_small_budget_fails_cleanly)
{
    td_cpu_rates rates;
    bool huge = td_huge_pages_on();
    td_memory_set_budget(1 << 20);
    td_status status = td_cpu_measure(NULL, 32 << 20, &rates);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_EQ(td_huge_pages_on(), huge);
}

TEST_MAIN
