/* Switches of the cpu, resident, coop, hybrid and multi engines that change how a run goes and not its result: each changes the
 * counters that it is there to change. A switch that is ignored fails here (docs/lab/tests.md). */
#include "device/emulator/watch.h"
#include "engine/engine.h"
#include "engine/table.h"

static td_run *run_on(const char *graph_name, const char *program, const char *engine, const char *devices, double edges,
                      const char *settings)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = test_graph(test_graph_named(graph_name), TEST_U8, NULL);
    const td_program_info *info = program_of(program)->info;
    td_run_options options = {.pool = pool, .engine = engine, .devices = devices, .gpu_edges = edges,
                              .has_source = info->needs_source, .source = busiest(graph),
                              .has_iterations = info->iterations > 0, .iterations = 3};
    td_run *run = run_of(program, graph, options, settings);
    CHECK_STR(run->engine, engine);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
    return run;
}

static td_run *run_set(const char *program, const char *engine, const char *devices, double edges, const char *settings)
{
    return run_on("rmat 10", program, engine, devices, edges, settings);
}

/* A counter of the run, of the emulator, or 0. */
static uint64_t counted(const char *program, const char *engine, const char *settings, const char *counter)
{
    bool multi = strcmp(engine, "multi") == 0;
    bool cpu = strcmp(engine, "cpu") == 0 || strcmp(engine, "hybrid") == 0, coop = strcmp(engine, "coop") == 0;
    td_run *run = run_set(program, engine, cpu ? NULL : multi ? "emu:4@dgx1" : "emu@unchecked", coop ? 0.5 : 0, settings);
    uint64_t value = 0;
    for (int i = 0; i < run->counter_count; i++)
        if (strcmp(run->counters[i].name, counter) == 0) value = run->counters[i].value;
    if (strcmp(counter, "launches") == 0) value = run->launches;
    if (strcmp(counter, "iterations") == 0) value = run->iterations;
    if (strcmp(counter, "edges") == 0) value = run->edges_processed;
    if (strcmp(counter, "pages") == 0) value = run->full_rows[0].pages_cpu;
    if (strcmp(counter, "array_bytes") == 0) value = run->array_bytes;
    for (int w = 0; strcmp(counter, "pieces") == 0 && w < run->worker_count; w++) value += run->workers[w].pieces;
    for (int w = 0; strcmp(counter, "idle") == 0 && w < run->worker_count; w++) value += run->workers[w].idle_seconds > 0;
    td_run_destroy(run);
    return value;
}

TEST(narrow_buckets_take_more_rounds)
{
    CHECK(counted("sssp", "cpu", "cpu.delta=1", "iterations") > counted("sssp", "cpu", "cpu.delta=1000", "iterations"));
    CHECK(counted("sssp", "resident", "resident.delta=1", "iterations") >
          counted("sssp", "resident", "resident.delta=1000", "iterations"));
    CHECK(counted("sssp", "coop", "coop.invoke=always coop.delta=1", "iterations") >
          counted("sssp", "coop", "coop.invoke=always coop.delta=1000", "iterations"));
    CHECK(counted("sssp", "multi", "multi.delta=1", "iterations") >
          counted("sssp", "multi", "multi.delta=1000", "iterations"));
}

TEST(several_gpus_exchange_and_divide_as_asked)
{
    CHECK(counted("bfs", "multi", "multi.loop_blocks=1", "blocks") < counted("bfs", "multi", "multi.loop_blocks=4", "blocks"));
    if (!td_watch_built()) SKIP("this build counts no accesses");
    CHECK(counted("bfs", "multi", "", "peer_bytes") > 0);
    CHECK_EQ(counted("bfs", "multi", "multi.exchange=copies", "peer_bytes"), 0);
    CHECK(counted("bfs", "multi", "multi.partition=random multi.seed=1", "peer_bytes") !=
          counted("bfs", "multi", "multi.partition=random multi.seed=7", "peer_bytes"));
}

/* Iterations longer than t3 keep all GPUs; below it fewer may take over. */
TEST(fewer_gpus_are_considered_below_t3)
{
    uint64_t gpus[2] = {0, 0}, rows[2] = {0, 0};
    for (int high = 0; high < 2; high++) {
        td_run *run = run_on("grid 30x40", "labels", "multi", "emu:4@dgx1", 0,
                             high ? "multi.loop_edges=0 multi.t3=1000" : "multi.loop_edges=0 multi.t3=0");
        for (uint32_t i = 0; i < run->row_count; i++) gpus[high] += run->full_rows[i].gpus;
        rows[high] = run->row_count;
        td_run_destroy(run);
    }
    CHECK_EQ(gpus[0], 4 * rows[0]);
    CHECK(gpus[1] < 4 * rows[1]);
}

TEST(a_fixed_direction_is_that_of_every_iteration)
{
    static const char *const words[][2] = {{"cpu.direction=push", "push"}, {"cpu.direction=pull", "pull"},
                                           {"resident.direction=push", "push"}, {"resident.direction=pull", "pull"}};
    for (int i = 0; i < 4; i++) {
        td_run *run = run_set("bfs", i < 2 ? "cpu" : "resident", i < 2 ? NULL : "emu@unchecked", 0, words[i][0]);
        for (uint32_t row = 0; row < run->row_count; row++) CHECK_STR(run->rows[row].direction, words[i][1]);
        td_run_destroy(run);
    }
}

TEST(long_lists_are_divided_from_the_degree_given_on)
{
    CHECK(counted("bfs", "cpu", "cpu.direction=push cpu.high_degree=16", "pieces") > 0);
    CHECK_EQ(counted("bfs", "cpu", "cpu.direction=push", "pieces"), 0);
    CHECK(counted("bfs", "resident", "resident.direction=push resident.high_degree=32", "grid_barriers") >
          counted("bfs", "resident", "resident.direction=push", "grid_barriers"));
}

TEST(the_cpu_divides_steps_and_pulls_as_told)
{
    CHECK(counted("pagerank", "cpu", "cpu.piece=5", "array_bytes") > counted("pagerank", "cpu", "", "array_bytes"));
    CHECK(counted("bfs", "cpu", "cpu.serial=0", "idle") > 0);
    CHECK_EQ(counted("bfs", "cpu", "cpu.serial=4000000000", "idle"), 0);
}

TEST(launches_have_the_sizes_and_rounds_given)
{
    static const char *const push = "resident.direction=push", *const one = "resident.direction=push resident.rounds=1";
    CHECK(counted("bfs", "resident", one, "launches") > counted("bfs", "resident", push, "launches"));
    CHECK(counted("bfs", "resident", "resident.direction=push resident.small=0", "blocks") >
          counted("bfs", "resident", push, "blocks"));
}

/* A cluster has blocks of 512 threads; the other launches of this GPU have one of 256. */
TEST(a_cluster_executes_the_rounds_of_tiny_frontiers)
{
    const char *devices = emulated("cluster.topology", "gpus 1\nmultiprocessors 1\nresident-threads 2048\ncluster 4\n");
    uint64_t threads[3];
    static const char *const settings[] = {"resident.direction=push", "resident.direction=push resident.tiny=200",
                                           "resident.direction=push resident.tiny=1000000"};
    for (int i = 0; i < 3; i++) {
        td_run *run = run_set("bfs", "resident", devices, 0, settings[i]);
        threads[i] = 0;
        for (int c = 0; c < run->counter_count; c++)
            if (strcmp(run->counters[c].name, "threads") == 0) threads[i] = run->counters[c].value;
        td_run_destroy(run);
    }
    CHECK(threads[0] < threads[1]);
    CHECK(threads[1] != threads[2]);
}

TEST(sampled_edges_save_others)
{
    CHECK(counted("wcc", "cpu", "cpu.samples=0", "edges") != counted("wcc", "cpu", "cpu.samples=8", "edges"));
    if (!td_watch_built()) SKIP("this build counts no accesses");
    CHECK(counted("wcc", "resident", "resident.samples=0", "atomics") !=
          counted("wcc", "resident", "resident.samples=8", "atomics"));
}

TEST(pages_have_the_edges_given)
{
    CHECK(counted("pagerank", "hybrid", "hybrid.page=500", "pages") > counted("pagerank", "hybrid", "", "pages"));
}

static uint32_t notified(const char *settings)
{
    td_run *run = run_set("adsorption", "hybrid", NULL, 0, settings);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < run->row_count; i++) rows += strcmp(run->rows[i].direction, "notify") == 0;
    td_run_destroy(run);
    return rows;
}

TEST(a_page_run_notifies_as_told)
{
    CHECK(notified("hybrid.direction=notify") > 0);
    CHECK_EQ(notified("hybrid.direction=pull"), 0);
}

TEST_MAIN
