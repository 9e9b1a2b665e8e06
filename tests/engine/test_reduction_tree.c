/* The reduction tree: groups of GPUs that keep the most bandwidth, and owners of the fragments of the others. */
#include "test.h"

#include "base/loop.h"
#include "base/random.h"
#include "device/device.h"
#include "device/links.h"
#include "engine/multi/tree.h"

#include <math.h>

enum { MOST = TD_MULTI_GPUS };

/* Measured on the emulated DGX-1, as the engine does. */
static void measure_dgx1(double bandwidth[64])
{
    td_device *devices = NULL;
    td_loop *loop = NULL;
    td_link_matrix links;
    CHECK_OK(td_loop_create(&loop));
    CHECK_OK(td_devices_open(&devices, "emu:8@dgx1", &(td_device_options){.loop = loop}));
    td_status status = td_links_measure(devices, &links);
    for (int i = 0; i < 8 && status == TD_OK; i++)
        for (int j = 0; j < 8; j++) bandwidth[i * 8 + j] = i == j ? 830e9 : td_links_at(&links, i + 1, j + 1)->rate;
    if (status == TD_OK) td_links_free(&links);
    td_devices_close(devices);
    td_loop_destroy(loop);
    CHECK_OK(status);
}

static void check_tree(const td_reduction_tree *t, const bool *lost)
{
    for (int m = t->most; m >= 1; m--) {
        int count = 0;
        for (int j = 0; j < t->n; j++) {
            count += t->stays[m][j];
            CHECK(!t->stays[m][j] || lost == NULL || !lost[j]);
            CHECK(t->owner[m][j] >= 0 && t->owner[m][j] < t->n && t->stays[m][t->owner[m][j]]);
            if (t->stays[m][j]) CHECK_EQ(t->owner[m][j], j);
            if (m == t->most) continue;
            CHECK(t->stays[m][j] == (t->stays[m + 1][j] && j != t->evicted[m]));
            if (t->owner[m + 1][j] != t->evicted[m]) CHECK_EQ(t->owner[m][j], t->owner[m + 1][j]);
        }
        CHECK_EQ(count, m);
    }
}

static void check_group(const td_reduction_tree *t, int m, const int *gpus)
{
    for (int i = 0; i < m; i++)
        if (!t->stays[m][gpus[i]]) TEST_FAIL("GPU %d does not belong to the group of %d", gpus[i], m);
}

TEST(a_dgx1_keeps_its_double_links)
{
    double bandwidth[64] = {0};
    td_reduction_tree t;
    measure_dgx1(bandwidth);
    CHECK_OK(td_reduction_tree_make(8, bandwidth, NULL, &t));
    check_tree(&t, NULL);
    check_group(&t, 4, (int[]){0, 1, 2, 3});
    check_group(&t, 2, (int[]){0, 3}); /* the paper's example: not 0 and 7 */
    check_group(&t, 1, (int[]){0});
    /* In a group of four every GPU owns the fragment of the GPU at the other end of its link between the halves. */
    for (int i = 0; i < 8; i++) CHECK_EQ(t.owner[4][i], i % 4);
    for (int m = 2; m < 8; m++) CHECK(t.bandwidth[m] < t.bandwidth[m + 1] && t.bandwidth[m] > 0);
    CHECK(t.bandwidth[1] == 0);
}

/* The greedy tree is as good as trying all groups. */
TEST(no_group_of_a_dgx1_has_more_bandwidth)
{
    double bandwidth[64] = {0};
    td_reduction_tree t;
    measure_dgx1(bandwidth);
    CHECK_OK(td_reduction_tree_make(8, bandwidth, NULL, &t));
    for (unsigned set = 0; set < 256; set++) {
        int m = __builtin_popcount(set);
        double sum = 0;
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                if (i != j && set >> i & 1 && set >> j & 1) sum += bandwidth[i * 8 + j];
        if (m > 1) CHECK(sum <= 1.01 * t.bandwidth[m]);
    }
}

/* Slices of one GPU: all links alike but for what measuring adds. The lowest numbers remain, fragments spread evenly. */
TEST(equal_links_keep_the_lowest_numbers)
{
    double bandwidth[64];
    td_reduction_tree t;
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (int i = 0; i < 64; i++) bandwidth[i] = 500e9 * (1 + 0.02 * td_random_unit(td_random_at(seed, (uint64_t)i)));
        CHECK_OK(td_reduction_tree_make(8, bandwidth, NULL, &t));
        check_tree(&t, NULL);
        for (int m = 1; m <= 8; m++)
            for (int j = 0; j < 8; j++) CHECK(t.stays[m][j] == (j < m));
        int owned[8] = {0};
        for (int i = 0; i < 8; i++) owned[t.owner[4][i]]++;
        for (int j = 0; j < 4; j++) CHECK_EQ(owned[j], 2);
    }
}

TEST(of_equal_links_the_slowest_memory_goes_first)
{
    double bandwidth[9] = {300e9, 50e9, 50e9, 50e9, 900e9, 50e9, 50e9, 50e9, 900e9};
    td_reduction_tree t;
    CHECK_OK(td_reduction_tree_make(3, bandwidth, NULL, &t));
    CHECK_EQ(t.evicted[2], 0);
    CHECK_EQ(t.evicted[1], 2);
}

TEST(a_lost_gpu_belongs_to_no_group)
{
    double bandwidth[64] = {0};
    bool lost[8] = {[0] = true, [5] = true};
    td_reduction_tree t;
    measure_dgx1(bandwidth);
    CHECK_OK(td_reduction_tree_make(8, bandwidth, lost, &t));
    CHECK_EQ(t.most, 6);
    check_tree(&t, lost);
    CHECK_EQ(t.owner[6][0] == t.owner[6][5], 0);
    /* Its memory is gone, so that its fast link to GPU 2 does not count. */
    double fast[9] = {0, 1e9, 9e9, 1e9, 0, 1e9, 9e9, 1e9, 0};
    CHECK_OK(td_reduction_tree_make(3, fast, lost, &t));
    CHECK_EQ(t.owner[2][0], 1);
}

TEST(any_network_gives_a_tree)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        int n = 1 + (int)(seed % MOST), left = 0;
        uint64_t drawn = 0;
        double bandwidth[MOST * MOST];
        bool lost[MOST];
        td_reduction_tree t;
        for (int i = 0; i < n * n; i++) {
            double unit = td_random_unit(td_random_at(seed, drawn++));
            bandwidth[i] = unit < 0.3 ? 0 : 1e9 * unit;
        }
        for (int j = 0; j < n; j++) left += !(lost[j] = td_random_unit(td_random_at(seed, drawn++)) < 0.3);
        if (left == 0) lost[n - 1] = false;
        CHECK_OK(td_reduction_tree_make(n, bandwidth, lost, &t));
        check_tree(&t, lost);
    }
}

TEST(wrong_arguments_are_refused)
{
    td_reduction_tree t;
    CHECK_STATUS(td_reduction_tree_make(0, (double[]){1}, NULL, &t), TD_INVALID);
    CHECK_STATUS(td_reduction_tree_make(17, (double[]){1}, NULL, &t), TD_INVALID);
    CHECK_STATUS(td_reduction_tree_make(2, (double[]){1, 1, -1, 1}, NULL, &t), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "from GPU 1 to GPU 0 is -1");
    CHECK_STATUS(td_reduction_tree_make(1, (double[]){NAN}, NULL, &t), TD_INVALID);
    CHECK_STATUS(td_reduction_tree_make(1, (double[]){INFINITY}, NULL, &t), TD_INVALID);
    CHECK_STATUS(td_reduction_tree_make(2, (double[]){1, 1, 1, 1}, (bool[]){true, true}, &t), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "all 2 GPUs are lost");
}

TEST_MAIN
