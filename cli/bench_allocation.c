/* `tandem bench allocation`: what it takes to decide who processes which edges (multi engine). Instances are drawn; every
 * one is solved once, with nothing of it in the cache, and its proof is checked afterwards. */
#include "bench.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/multi/decide.h"

#include <math.h>
#include <stdio.h>

enum { INSTANCES = 200, MOST = TD_MULTI_GPUS, GROUP = 8 };

typedef struct instance {
    double load[MOST], cost[MOST * MOST];
} instance;

typedef struct bench {
    const td_bench_settings *settings;
    td_report *report;
    uint64_t seed;
    double *times; /* microseconds */
} bench;

/* Costs of one to three units, or those of a machine: an edge costs its own GPU one unit, others up to ten more. */
static void draw(instance *out, int n, bool own_cheapest, uint64_t seed)
{
    uint64_t drawn = 0;
    for (int i = 0; i < n; i++) out->load[i] = 1e6 * td_random_unit(td_random_at(seed, drawn++));
    for (int i = 0; i < n * n; i++) {
        double unit = td_random_unit(td_random_at(seed, drawn++));
        out->cost[i] = 1e-10 * (!own_cheapest ? 1 + 2 * unit : i % (n + 1) == 0 ? 1 : 1 + 10 * unit);
    }
}

static void show(const bench *b, td_figure figure)
{
    td_progress_end();
    if (td_report_leaves_stdout(&b->settings->common)) td_figure_print(&figure);
    if (b->report->json.file != NULL) td_figure_json(&b->report->json, &figure);
}

static td_status check(const instance *it, int n)
{
    double share[MOST * MOST], longest;
    td_allocation_proof proof;
    TD_CHECK(td_allocation_prove(n, it->load, it->cost, share, &longest, &proof));
    if (fabs(longest - proof.bound) <= 1e-9 * longest) return TD_OK;
    return td_fail(TD_VERIFY, "an allocation for %d GPUs takes %.12g seconds, of which its prices prove %.12g", n, longest,
                   proof.bound);
}

/* The median time of a solve; with a tree, of one solve for every size of a group. */
static td_status time_solves(bench *b, int n, bool own_cheapest, const td_reduction_tree *tree, double *out)
{
    int count = (int)b->settings->trials * INSTANCES;
    for (int k = 0; k < count; k++) {
        instance it;
        double share[MOST * MOST], longest, cost[MOST][MOST * MOST];
        int sizes = tree != NULL ? n : 1;
        TD_CHECK(td_cancel_check());
        draw(&it, n, own_cheapest, b->seed++);
        for (int m = 1; m <= sizes; m++)
            for (int i = 0; i < n * n; i++)
                cost[m - 1][i] = tree == NULL || tree->stays[m][i % n] ? it.cost[i] : INFINITY;
        uint64_t start = td_clock_ns();
        for (int m = 0; m < sizes; m++) TD_CHECK(td_allocation_solve(n, it.load, cost[m], share, &longest));
        b->times[k] = td_seconds_since(start) * 1e6;
        TD_CHECK(check(&it, n));
    }
    *out = td_median(b->times, count);
    return TD_OK;
}

/* Everything at once: which group, which owners, which shares. */
static td_status time_decisions(bench *b, const td_reduction_tree *tree, double *out)
{
    int count = (int)b->settings->trials * INSTANCES;
    for (int k = 0; k < count; k++) {
        instance it;
        td_decide_state state = {0};
        td_decision decision;
        TD_CHECK(td_cancel_check());
        draw(&it, GROUP, true, b->seed++);
        td_decide_input in = {.n = GROUP, .load = it.load, .cost = it.cost, .tree = tree, .p = 5e-6, .t3 = INFINITY,
                              .steal_frontiers = true, .steal_ownership = true};
        uint64_t start = td_clock_ns();
        TD_CHECK(td_decide(&in, &state, &decision));
        b->times[k] = td_seconds_since(start) * 1e6;
    }
    *out = td_median(b->times, count);
    return TD_OK;
}

static td_status bench_sizes(bench *b)
{
    const struct {
        int gpus;
        double aim; /* microseconds; 0: none */
        const char *words;
    } sizes[] = {{4, 0, NULL}, {8, 4.2, "<= 4.2 us"}, {16, 39, "<= 39 us"}};
    for (int own_cheapest = 1; own_cheapest >= 0; own_cheapest--)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char name[64];
            double us = 0;
            td_progress_text("solving for %d GPUs", sizes[i].gpus);
            TD_CHECK(time_solves(b, sizes[i].gpus, own_cheapest, NULL, &us));
            snprintf(name, sizeof name, "%d GPUs, %s", sizes[i].gpus, own_cheapest ? "own edges cheapest" : "any costs");
            show(b, (td_figure){.name = name, .unit = "us", .measured = us, .target = own_cheapest ? sizes[i].words : NULL,
                                .reached = us <= sizes[i].aim});
        }
    return TD_OK;
}

static td_status bench_groups(bench *b)
{
    double bandwidth[GROUP * GROUP], us = 0;
    td_reduction_tree tree;
    for (int i = 0; i < GROUP * GROUP; i++) bandwidth[i] = 1e11;
    TD_CHECK(td_reduction_tree_make(GROUP, bandwidth, NULL, &tree));
    TD_CHECK(time_solves(b, GROUP, true, &tree, &us));
    show(b, (td_figure){.name = "8 GPUs, groups of 1 to 8", .unit = "us", .measured = us, .target = "< 60 us",
                        .reached = us < 60});
    TD_CHECK(time_decisions(b, &tree, &us));
    show(b, (td_figure){.name = "8 GPUs, a whole decision", .unit = "us", .measured = us, .target = "< 60 us",
                        .reached = us < 60});
    return TD_OK;
}

static td_status run(const td_bench_settings *settings, td_report *report)
{
    bench b = {.settings = settings, .report = report, .seed = 1};
    TD_CHECK(TD_NEW(&b.times, settings->trials * INSTANCES, "times of the benchmark"));
    if (td_report_leaves_stdout(&settings->common)) {
        printf("medians of %d drawn instances\n\n", (int)settings->trials * INSTANCES);
        printf("%-33s %13s %13s %8s  aim\n", "figure", "measured", "against", "ratio");
    }
    if (report->json.file != NULL) td_json_array(&report->json, "figures");
    td_status status = bench_sizes(&b);
    if (status == TD_OK) status = bench_groups(&b);
    if (report->json.file != NULL) td_json_end_array(&report->json);
    td_free(b.times);
    return status;
}

const td_bench td_bench_allocation = {"allocation", "deciding which GPU processes which edges", false, run};
