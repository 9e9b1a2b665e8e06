/* p of ownership stealing: what a group's size costs, fitted to iterations. */
#include "test.h"

#include "base/random.h"
#include "engine/multi/sync.h"

#include <math.h>

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * expected)) TEST_FAIL("%g instead of %g", value, expected);
}

TEST(one_size_gives_its_cost_by_gpu)
{
    td_sync_cost sync;
    td_sync_cost_begin(&sync, 8, 0);
    CHECK(td_sync_cost_fit(&sync, NULL) == 0);
    for (int i = 0; i < 10; i++) td_sync_cost_add(&sync, 8, 100e-6 + 40e-6, 100e-6);
    near(td_sync_cost_fit(&sync, NULL), 5e-6, 1e-9);
}

TEST(a_guess_counts_until_iterations_outweigh_it)
{
    td_sync_cost sync;
    td_sync_cost_begin(&sync, 8, 7e-6);
    near(td_sync_cost_fit(&sync, NULL), 7e-6, 1e-9);
    for (int i = 0; i < 100; i++) td_sync_cost_add(&sync, 8, 16e-6, 0);
    near(td_sync_cost_fit(&sync, NULL), 2e-6, 0.03);
}

/* Beyond z: 20 us whatever the group, and 2 us for each GPU, with noise. */
TEST(several_sizes_determine_the_constant)
{
    td_sync_cost sync;
    double q = -1;
    td_sync_cost_begin(&sync, 8, 0);
    for (uint64_t i = 0; i < 400; i++) {
        int m = 1 + (int)(i % 8);
        double noise = 1e-6 * (td_random_unit(td_random_at(1, i)) - 0.5), z = 1e-3 * td_random_unit(td_random_at(2, i));
        td_sync_cost_add(&sync, m, z + 20e-6 + 2e-6 * m + noise, z);
    }
    near(td_sync_cost_fit(&sync, &q), 2e-6, 0.05);
    near(q, 20e-6, 0.05);
}

TEST(recent_iterations_count_more)
{
    td_sync_cost sync;
    td_sync_cost_begin(&sync, 4, 0);
    for (int i = 0; i < 1000; i++) td_sync_cost_add(&sync, 4, 400e-6, 0);
    for (int i = 0; i < 300; i++) td_sync_cost_add(&sync, 4, 8e-6, 0);
    near(td_sync_cost_fit(&sync, NULL), 2e-6, 0.2);
}

TEST(neither_part_is_negative)
{
    td_sync_cost sync;
    double q = -1;
    td_sync_cost_begin(&sync, 8, 0);
    for (int i = 0; i < 20; i++) { /* more GPUs were cheaper: p is nothing, all is constant */
        td_sync_cost_add(&sync, 1, 30e-6, 0);
        td_sync_cost_add(&sync, 8, 10e-6, 0);
    }
    CHECK(td_sync_cost_fit(&sync, &q) == 0);
    near(q, 20e-6, 0.05);
    td_sync_cost_begin(&sync, 8, 0);
    for (int i = 0; i < 20; i++) { /* steeper than proportional: no constant below zero */
        td_sync_cost_add(&sync, 1, 1e-6, 0);
        td_sync_cost_add(&sync, 8, 80e-6, 0);
    }
    near(td_sync_cost_fit(&sync, &q), 10e-6, 0.05);
    CHECK(q == 0);
}

TEST(an_iteration_faster_than_predicted_costs_nothing)
{
    td_sync_cost sync;
    td_sync_cost_begin(&sync, 8, 0);
    td_sync_cost_add(&sync, 8, 1e-6, 5e-6);
    td_sync_cost_add(&sync, 8, NAN, 5e-6);
    td_sync_cost_add(&sync, 8, INFINITY, 5e-6);
    CHECK(td_sync_cost_fit(&sync, NULL) == 0);
}

TEST_MAIN
