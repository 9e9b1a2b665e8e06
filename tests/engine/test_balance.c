/* Load balance of the GPU's pushes and stealing among the CPU's workers: every choice of resident.balance, coop.balance,
 * cpu.stealing and coop.stealing does what it is there for, by counters. */
#include "device/emulator/watch.h"
#include "engine/engine.h"
#include "engine/table.h"
#include "store/formats/format.h"

/* A source with 256 neighbours, of which the first `medium` have `degree` neighbours of their own. The other vertices
 * only make the graph too large for coop to leave it to the resident engine. */
static td_graph *uneven_graph(int medium, int degree)
{
    td_graph *graph = NULL;
    const char *path = test_path("uneven.txt");
    FILE *file = fopen(path, "w");
    int leaf = 257;
    CHECK(file != NULL);
    for (int v = 1; v <= 256; v++) fprintf(file, "0 %d\n", v);
    for (int v = 1; v <= medium; v++)
        for (int i = 0; i < degree; i++) fprintf(file, "%d %d\n", v, leaf++);
    CHECK(fclose(file) == 0);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", NULL, NULL));
    return graph;
}

static uint64_t counter_of(const td_counter *all, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0) return all[i].value;
    return 0;
}

typedef struct balance_counts {
    uint64_t moved, barriers, shared, launches, ns;
} balance_counts;

static uint64_t emulator_count(const td_run *run, const char *name)
{
    return counter_of(run->counters, run->counter_count, name);
}

static balance_counts count_balance(const td_graph *graph, const char *engine, const char *balance)
{
    char settings[160];
    bool coop = strcmp(engine, "coop") == 0;
    snprintf(settings, sizeof settings, "%s.balance=%s %s", engine, balance,
             coop ? "coop.invoke=always coop.order=none coop.on_demand=off" : "resident.direction=push");
    td_run_options options = {.engine = engine, .devices = "emu", .gpu_edges = coop ? 0.9 : 0, .has_source = true};
    td_run *run = run_of("bfs", graph, options, settings);
    CHECK_STR(run->engine, engine);
    for (uint32_t v = 0; v < graph->vertices; v++)
        CHECK_EQ(((const uint32_t *)run->values)[v], v == 0 ? 0 : v <= 256 ? 1 : 2);
    balance_counts counts = {counter_of(run->work, run->work_count, "tasks_moved"), emulator_count(run, "barriers"),
                             emulator_count(run, "shared_accesses"), run->launches, emulator_count(run, "kernel_ns")};
    td_run_destroy(run);
    return counts;
}

/* The queue is in the order of the vertices, so the 32 medium lists are one warp's. Of 4 in the mean of a block's eight
 * warps, 28 are too many. */
static void check_balances(const td_graph *graph, const char *engine)
{
    balance_counts thread = count_balance(graph, engine, "thread"), cta = count_balance(graph, engine, "cta");
    balance_counts iwb = count_balance(graph, engine, "iwb"), warp = count_balance(graph, engine, "warp");
    CHECK_EQ(iwb.moved, 28);
    CHECK_EQ(thread.moved + cta.moved + warp.moved, 0);
    CHECK_EQ(iwb.barriers, cta.barriers);
    CHECK(cta.barriers > thread.barriers);
    bool coop = strcmp(engine, "coop") == 0;
    if (coop) CHECK(warp.launches > thread.launches); /* the source's 256 edges are pieces for warps */
    if (!td_watch_built()) return; /* such a build counts no accesses, and kernels take no time for them */
    CHECK(cta.ns < thread.ns);
    if (!coop) CHECK(warp.ns < thread.ns);
    /* A warp's deposit is one atomic, however many tasks it moves. Every one of them is read by 32 lanes, 160 accesses in
     * all; an atomic for each would be 28 more. */
    if (coop) CHECK(iwb.shared - cta.shared < 28 * 160 + 28);
}

TEST(every_balance_divides_a_push_in_its_own_way)
{
    td_graph *graph = uneven_graph(32, 100);
    check_balances(graph, "resident");
    check_balances(graph, "coop");
    td_graph_destroy(graph);
}

/* Stealing. */

enum { WORKERS = 4, LONG_LIST = 40000, ATTEMPTS = 40 };

/* A source with a list that is long enough to be divided. */
static td_graph *star_graph(void)
{
    td_graph *graph = NULL;
    const char *path = test_path("star.txt");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (int v = 1; v <= LONG_LIST; v++) fprintf(file, "0 %d\n%d %d\n", v, v, v % LONG_LIST + 1);
    CHECK(fclose(file) == 0);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", NULL, NULL));
    return graph;
}

static td_worker_row sum_of_workers(const td_graph *graph, td_pool *pool, const char *engine, const char *stealing)
{
    char settings[160];
    bool coop = strcmp(engine, "coop") == 0;
    snprintf(settings, sizeof settings, "%s.stealing=%s %s", engine, stealing,
             coop ? "coop.invoke=always coop.link=off" : "cpu.direction=push");
    td_run_options options = {.pool = pool, .engine = engine, .devices = coop ? "emu@unchecked" : NULL,
                              .gpu_edges = coop ? 0.1 : 0};
    td_run *run = run_of("labels", graph, options, settings);
    td_worker_row sum = {0};
    CHECK_STR(run->engine, engine);
    CHECK_EQ(run->worker_count, WORKERS);
    for (int w = 0; w < WORKERS; w++) {
        sum.steals += run->workers[w].steals;
        sum.gifts += run->workers[w].gifts;
        sum.pieces += run->workers[w].pieces;
        CHECK(run->workers[w].idle_seconds > 0);
    }
    td_run_destroy(run);
    return sum;
}

/* Steals and gifts depend on who is late, so they may take several runs to be seen; what a choice does not do, it never
 * does. */
static void check_stealing(const td_graph *graph, td_pool *pool, const char *engine)
{
    td_worker_row none = {0}, donate = {0}, vertex = {0}, edge = {0};
    for (int i = 0; i < ATTEMPTS && (i < 2 || donate.gifts == 0 || vertex.steals == 0 || edge.steals == 0); i++) {
        none = sum_of_workers(graph, pool, engine, "none");
        CHECK_EQ(none.steals + none.gifts + none.pieces, 0);
        donate = sum_of_workers(graph, pool, engine, "donate");
        CHECK_EQ(donate.steals + donate.pieces, 0);
        vertex = sum_of_workers(graph, pool, engine, "vertex");
        CHECK_EQ(vertex.gifts + vertex.pieces, 0);
        edge = sum_of_workers(graph, pool, engine, "edge");
        CHECK_EQ(edge.gifts, 0);
        CHECK(edge.pieces >= LONG_LIST / 4096);
    }
    CHECK(donate.gifts > 0 && vertex.steals > 0 && edge.steals > 0);
}

TEST(every_way_of_stealing_is_seen_in_the_workers_counters)
{
    td_pool *pool = NULL;
    td_graph *graph = star_graph();
    CHECK_OK(td_pool_create(&pool, WORKERS));
    check_stealing(graph, pool, "cpu");
    check_stealing(graph, pool, "coop");
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST_MAIN
