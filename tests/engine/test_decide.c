/* Decisions of the multi engine, scenario by scenario: eight GPUs with links of equal rates unless stated otherwise. An
 * edge takes 1 ns on its own GPU and 2 ns on another. */
#include "test.h"

#include "base/random.h"
#include "engine/multi/decide.h"

#include <math.h>

enum { N = 8 };

typedef struct scene {
    double load[N], cost[N * N];
    td_reduction_tree tree;
    td_decide_input in;
    td_decide_state state;
    td_decision out;
} scene;

static void begin(scene *s)
{
    double bandwidth[N * N];
    *s = (scene){.out.group = -1};
    for (int i = 0; i < N * N; i++) {
        bandwidth[i] = 100e9;
        s->cost[i] = i % (N + 1) == 0 ? 1e-9 : 2e-9;
    }
    CHECK_OK(td_reduction_tree_make(N, bandwidth, NULL, &s->tree));
    s->in = (td_decide_input){.n = N, .load = s->load, .cost = s->cost, .tree = &s->tree, .p = 5e-6,
                              .steal_seconds = 10e-6, .change_seconds = 50e-6, .t1 = TD_ADAPTIVE, .t2 = TD_ADAPTIVE,
                              .t3 = TD_ADAPTIVE, .steal_frontiers = true, .steal_ownership = true};
}

static void set_loads(scene *s, double each)
{
    for (int i = 0; i < N; i++) s->load[i] = each;
}

/* Every decision: fragments belong to GPUs of the group, all edges are processed, by GPUs of the group alone. */
static void decide(scene *s)
{
    double longest = 0;
    CHECK_OK(td_decide(&s->in, &s->state, &s->out));
    const td_decision *d = &s->out;
    int stay = 0;
    for (int j = 0; j < N; j++) stay += d->stays[j];
    CHECK_EQ(stay, d->group);
    CHECK_EQ(s->state.group, d->group);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        CHECK(d->stays[d->owner[i]]);
        for (int j = 0; j < N; j++) {
            CHECK(d->share[i * N + j] >= 0 && (d->share[i * N + j] == 0 || d->stays[j]));
            sum += d->share[i * N + j];
            if (d->steal != TD_STEAL_STOLEN && d->share[i * N + j] > 0) CHECK_EQ(d->owner[i], j);
        }
        CHECK(fabs(sum - s->load[i]) <= 1e-9 * s->load[i]);
    }
    for (int j = 0; j < N; j++) {
        double seconds = 0;
        for (int i = 0; i < N; i++)
            if (d->share[i * N + j] > 0) seconds += s->cost[i * N + j] * d->share[i * N + j];
        longest = fmax(longest, seconds);
    }
    CHECK(fabs(longest - d->longest) <= 1e-9 * longest);
    double steal = d->steal == TD_STEAL_STOLEN ? s->in.steal_seconds : 0;
    CHECK(fabs(d->predicted - (d->longest + s->in.p * d->group + steal)) <= 1e-9 * d->predicted);
    CHECK(d->estimate[d->group] == d->predicted);
    for (int m = 1; m <= N && d->grouping == TD_GROUP_BEST; m++)
        CHECK(d->estimate[m] == 0 || d->estimate[m] >= d->predicted);
}

static void reasons(const scene *s, int group, td_group_reason grouping, td_steal_reason steal)
{
    if (s->out.group != group || s->out.grouping != grouping || s->out.steal != steal)
        TEST_FAIL("a group of %d (%s), %s, instead of %d (%s), %s", s->out.group,
                  td_group_reason_words(s->out.grouping), td_steal_reason_words(s->out.steal), group,
                  td_group_reason_words(grouping), td_steal_reason_words(steal));
}

TEST(a_tiny_first_frontier_is_for_one_gpu)
{
    scene s;
    begin(&s);
    s.load[3] = 12;
    decide(&s);
    reasons(&s, 1, TD_GROUP_BEST, TD_STEAL_ALONE);
    CHECK(!s.out.changed && s.out.owner[3] == 0);
}

/* A traversal: one GPU begins, all take part when the work grows, fewer at the end, and every change is announced. */
TEST(groups_follow_the_work)
{
    const double loads[] = {10, 200, 5e3, 4e5, 8e6, 3e6, 6e4, 4e3, 300, 200, 100, 50, 20, 5};
    scene s;
    int groups[14];
    begin(&s);
    for (int k = 0; k < 14; k++) {
        int before = s.state.group;
        set_loads(&s, loads[k]);
        decide(&s);
        groups[k] = s.out.group;
        CHECK(s.out.changed == (k > 0 && groups[k] != before));
        s.in.last_seconds = s.out.predicted;
    }
    CHECK_EQ(groups[0], 1);
    CHECK_EQ(groups[4], 8);
    CHECK_EQ(groups[5], 8);
    CHECK_EQ(groups[13], 1);
}

TEST(balanced_loads_are_not_stolen)
{
    scene s;
    begin(&s);
    set_loads(&s, 1e6);
    s.load[2] += 5e3; /* 5 us more than the others, and a steal costs 10 */
    decide(&s);
    reasons(&s, 8, TD_GROUP_BEST, TD_STEAL_BALANCED);
    CHECK(s.out.longest == s.out.unbalanced);
    s.load[2] += 20e3;
    decide(&s);
    CHECK(s.out.steal == TD_STEAL_STOLEN || s.out.steal == TD_STEAL_NO_GAIN);
}

TEST(skewed_loads_are_stolen)
{
    scene s;
    begin(&s);
    set_loads(&s, 1e5);
    s.load[5] = 8e6;
    decide(&s);
    reasons(&s, 8, TD_GROUP_BEST, TD_STEAL_STOLEN);
    CHECK(s.out.longest < 0.3 * s.out.unbalanced);
    CHECK(s.out.unbalanced == 8e6 * 1e-9);
    CHECK(s.out.solves >= 1);
}

TEST(a_steal_that_saves_less_than_it_costs_is_left)
{
    scene s;
    begin(&s);
    set_loads(&s, 1e5);
    s.load[0] = 112e3; /* differs by 12 us, of which a steal could save less than its 10 */
    s.in.steal_ownership = false;
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_NO_GAIN);
    CHECK_EQ(s.out.solves, 1);
}

TEST(given_thresholds_count_edges)
{
    scene s;
    begin(&s);
    set_loads(&s, 1e5);
    s.load[5] = 8e6;
    s.in.steal_ownership = false;
    s.in.t1 = 8e6;
    s.in.t2 = 7.9e6;
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_STOLEN);
    s.in.t1 = 8e6 + 1;
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_SMALL);
    CHECK_EQ(s.out.solves, 0);
    s.in.t1 = 0;
    s.in.t2 = 7.9e6 + 1;
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_BALANCED);
    CHECK_EQ(s.out.solves, 0);
}

TEST(a_long_iteration_keeps_all_gpus)
{
    scene s;
    begin(&s);
    set_loads(&s, 10);
    s.state.group = 8;
    s.in.last_seconds = 1; /* p (n - 1) is 35 us */
    decide(&s);
    reasons(&s, 8, TD_GROUP_LONG, TD_STEAL_SMALL);
    s.in.last_seconds = 50 * 35e-6 * 0.99;
    s.in.change_seconds = 0;
    decide(&s);
    reasons(&s, 1, TD_GROUP_BEST, TD_STEAL_ALONE);
    begin(&s);
    set_loads(&s, 10);
    s.state.group = 8;
    s.in.last_seconds = 1e-3;
    s.in.t3 = 1e-3;
    decide(&s);
    reasons(&s, 8, TD_GROUP_LONG, TD_STEAL_SMALL);
    s.in.t3 = 1.01e-3;
    s.in.change_seconds = 0;
    decide(&s);
    reasons(&s, 1, TD_GROUP_BEST, TD_STEAL_ALONE);
}

/* However long the last iteration: a smaller group may grow. */
TEST(ownership_comes_back)
{
    scene s;
    begin(&s);
    set_loads(&s, 4e6);
    s.state.group = 2;
    s.in.last_seconds = 1;
    decide(&s);
    reasons(&s, 8, TD_GROUP_BEST, TD_STEAL_BALANCED);
    CHECK(s.out.changed);
}

/* Eight GPUs lose 35 us in every iteration against one; a change costs 50 us: the second iteration changes. */
TEST(a_group_is_kept_until_it_has_lost_a_change)
{
    scene s;
    begin(&s);
    s.load[0] = 10;
    s.state.group = 8;
    decide(&s);
    reasons(&s, 8, TD_GROUP_KEPT, TD_STEAL_SMALL);
    CHECK(fabs(s.state.regret - 35e-6) < 1e-9);
    decide(&s);
    reasons(&s, 1, TD_GROUP_BEST, TD_STEAL_ALONE);
    CHECK(s.out.changed && s.state.regret == 0);
}

/* Work that swings between two sizes does not make the group swing when a change costs more than it saves. */
TEST(swinging_work_does_not_swing_the_group)
{
    scene s;
    int changes = 0;
    begin(&s);
    s.in.change_seconds = 1e-3;
    for (int k = 0; k < 40; k++) {
        set_loads(&s, k % 2 == 0 ? 8e3 : 20e3);
        decide(&s);
        changes += s.out.changed;
        s.in.last_seconds = s.out.predicted;
    }
    CHECK(changes <= 1);
}

TEST(switches_turn_stealing_off)
{
    scene s;
    begin(&s);
    set_loads(&s, 1e5);
    s.load[5] = 8e6;
    s.in.steal_frontiers = s.in.steal_ownership = false;
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_OFF);
    s.in.steal_ownership = true;
    set_loads(&s, 5);
    s.in.change_seconds = 0;
    decide(&s);
    reasons(&s, 1, TD_GROUP_BEST, TD_STEAL_ALONE);
    CHECK_EQ(s.out.solves, 0);
    s.in.steal_ownership = false; /* the run goes on with it off: all take part again */
    decide(&s);
    reasons(&s, 8, TD_GROUP_OFF, TD_STEAL_OFF);
    CHECK(s.out.changed);
}

/* The decision is the best of all sizes, each solved on its own: what is skipped could not have won. */
TEST(no_other_group_is_better)
{
    for (uint64_t seed = 0; seed < 600; seed++) {
        scene s;
        uint64_t drawn = 0;
        double best = INFINITY;
        begin(&s);
        double size = pow(10, 7 * td_random_unit(td_random_at(seed, drawn++)));
        for (int i = 0; i < N; i++) s.load[i] = floor(size * pow(td_random_unit(td_random_at(seed, drawn++)), 3));
        for (int i = 0; i < N * N; i++)
            if (i % (N + 1) != 0) s.cost[i] = (1.2 + 4 * td_random_unit(td_random_at(seed, drawn++))) * 1e-9;
        s.in.steal_seconds = seed % 2 == 0 ? 0 : 10e-6;
        if (seed % 3 == 0) s.in.t1 = s.in.t2 = 0;
        decide(&s);
        for (int m = 1; m <= N; m++) {
            double cost[N * N], share[N * N], own[N] = {0}, kept = 0, stolen;
            for (int i = 0; i < N * N; i++) cost[i] = s.tree.stays[m][i % N] ? s.cost[i] : INFINITY;
            for (int i = 0; i < N; i++) own[s.tree.owner[m][i]] += s.load[i] * s.cost[i * N + s.tree.owner[m][i]];
            for (int j = 0; j < N; j++) kept = fmax(kept, own[j]);
            CHECK_OK(td_allocation_solve(N, s.load, cost, share, &stolen));
            best = fmin(best, fmin(kept, stolen + s.in.steal_seconds) + s.in.p * m);
        }
        if (!(s.out.predicted <= best * (1 + 1e-9)))
            TEST_FAIL("seed %d: %g, %g is possible", (int)seed, s.out.predicted, best);
    }
}

TEST(fragments_that_some_gpus_may_not_process)
{
    scene s;
    begin(&s);
    s.load[0] = 100; /* small: one GPU would do, but GPU 0 may not process fragment 0 */
    for (int j = 0; j < N; j++) s.cost[j] = j == 2 ? 1e-9 : INFINITY;
    decide(&s);
    CHECK_EQ(s.out.group, 3); /* GPUs 0, 1 and 2 */
    CHECK(s.out.share[2] == 100 && s.out.steal == TD_STEAL_STOLEN);
    s.cost[2] = INFINITY;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
}

TEST(a_lost_gpu_takes_no_part)
{
    scene s;
    double bandwidth[N * N];
    bool lost[N] = {[0] = true};
    begin(&s);
    for (int i = 0; i < N * N; i++) bandwidth[i] = 100e9;
    CHECK_OK(td_reduction_tree_make(N, bandwidth, lost, &s.tree));
    set_loads(&s, 1e7);
    s.state.group = 8;
    decide(&s);
    CHECK_EQ(s.out.group, 7);
    CHECK(!s.out.stays[0] && s.out.changed && s.out.owner[0] != 0);
}

TEST(no_active_edge_at_all)
{
    scene s;
    begin(&s);
    decide(&s);
    CHECK_EQ(s.out.group, 1);
    CHECK(s.out.longest == 0);
}

TEST(one_gpu_has_nothing_to_decide)
{
    double load = 5, cost = 1e-9, bandwidth = 0;
    td_reduction_tree tree;
    td_decide_state state = {0};
    td_decision out;
    CHECK_OK(td_reduction_tree_make(1, &bandwidth, NULL, &tree));
    td_decide_input in = {.n = 1, .load = &load, .cost = &cost, .tree = &tree, .steal_frontiers = true,
                          .steal_ownership = true};
    CHECK_OK(td_decide(&in, &state, &out));
    CHECK(out.group == 1 && out.grouping == TD_GROUP_ALONE && out.steal == TD_STEAL_ALONE && out.share[0] == 5);
}

TEST(wrong_figures_are_refused)
{
    scene s;
    begin(&s);
    s.in.p = -1;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "p is -1");
    s.in.p = NAN;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
    begin(&s);
    s.in.change_seconds = INFINITY;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "change_seconds");
    begin(&s);
    s.load[4] = NAN;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
    begin(&s);
    s.in.n = 7;
    CHECK_STATUS(td_decide(&s.in, &s.state, &s.out), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "8 GPUs for 7 fragments");
}

TEST(reasons_have_names_and_words)
{
    CHECK_STR(td_steal_reason_name(TD_STEAL_NO_GAIN), "no-gain");
    CHECK_STR(td_group_reason_name(TD_GROUP_KEPT), "kept");
    CHECK_CONTAINS(td_steal_reason_words(TD_STEAL_BALANCED), "(t2)");
    CHECK_CONTAINS(td_group_reason_words(TD_GROUP_LONG), "(t3)");
}

TEST_MAIN
