/* The table of programs (tests/engine/table.h) on the multi engine and slices of a real GPU: two, four and eight.
 * The small graphs in more ways than on the emulator, and some larger ones. Runs are drawn so that every program
 * meets every setting; TANDEM_TEST_ALL=1 runs several times as many, TANDEM_TEST_BUDGET=30 as many as that many
 * seconds allow. */
#include "engine/multi_scene.h"
#include "engine/multi_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    bool buckets = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0; /* almost as many as vertices */
    (void)kind;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 61 : 7;
    return circuit || buckets ? 797 : graph->vertices <= TINY ? 397 : 293;
}

static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool buckets = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0; /* almost as many iterations as vertices */
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices <= VERY_TINY ? 1 : 0;
    if (buckets) return 1;
    return of->weights == KIND(TEST_UNWEIGHTED) && of->iterations == 0 && graph->vertices <= LARGE ? 3 : 1;
}

static td_run *run_on_slices(void *context, subject *about, int number)
{
    table_place *place = (table_place *)context + number % GPU_PLACES;
    return multi_run_on(place, place->devices, about, number / GPU_PLACES);
}

static void open_slices(gpu_table *table)
{
    static const int slices[GPU_PLACES] = {8, 4, 2};
    static char devices[GPU_PLACES][64];
    for (int i = 0; i < GPU_PLACES; i++) snprintf(devices[i], sizeof devices[i], "%s/%d", gpu_name(), slices[i]);
    gpu_table_open_several(table, (const char *const[GPU_PLACES]){devices[0], devices[1], devices[2]},
                           (gpu_ways){MULTI_WAYS * GPU_PLACES, run_on_slices, stride_of, runs_of, false});
}

static void check(const char *program)
{
    gpu_table table;
    gpu_skip_under_budget();
    open_slices(&table);
    gpu_check_table(program, &table);
}

TEST(bfs_on_slices) { check("bfs"); }
TEST(sssp_on_slices) { check("sssp"); }
TEST(wcc_on_slices) { check("wcc"); }
TEST(labels_on_slices) { check("labels"); }
TEST(kcore_on_slices) { check("kcore"); }
TEST(mst_on_slices) { check("mst"); }
TEST(pagerank_on_slices) { check("pagerank"); }
TEST(adsorption_on_slices) { check("adsorption"); }
TEST(nn_on_slices) { check("nn"); }
TEST(heat_on_slices) { check("heat"); }
TEST(circuit_on_slices) { check("circuit"); }

/* Mechanisms of tests/engine/test_multi_recovery, _spill and _hubs, on four slices. */

static td_run_options slices_of(const char *program, const td_graph *graph)
{
    static char devices[64];
    snprintf(devices, sizeof devices, "%s/4", gpu_name());
    td_run_options options = multi_options(program, devices);
    options.source = busiest(graph);
    return options;
}

/* A slice is lost to the run at some operation, and its memory filled with garbage. */
TEST(a_lost_slice_is_left_out)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "kcore", "mst"};
    static const char *const values[] = {"multi.recovery_every=1", "multi.recovery_every=1 multi.values=mirrored"};
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    char name[64];
    snprintf(name, sizeof name, "%s/4#1", gpu_name());
    for (int p = 0; p < 6; p++)
        for (int v = 0; v < 2; v++)
            for (uint64_t nth = 10 + 37 * (uint64_t)(p % 2); nth < 200; nth += by_strides() ? 37 : 74) {
                td_run_options options = slices_of(programs[p], graph);
                td_device_lose_at(name, nth);
                td_run *run = run_of(programs[p], graph, options, values[v]);
                td_device_lose_at("", 0);
                CHECK(nth > 40 || run->recovery.gpus_lost == 1);
                check_as_cpu(run, options, "");
                td_run_destroy(run);
            }
    td_graph_destroy(graph);
}

TEST(slices_read_edges_that_do_not_fit_from_the_host)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "kcore", "mst"};
    td_graph *graph = islands_graph(1, 4000, 30);
    for (int p = 0; p < 6; p++) {
        td_run_options options = slices_of(programs[p], graph);
        options.gpu_edges = 0.25;
        td_run *run = run_of(programs[p], graph, options, "multi.t1=0 multi.t2=0");
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < run->row_count; i++) bytes += run->full_rows[i].bytes_direct;
        CHECK(bytes > 0);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* All rounds in one launch, both directions, long lists; several launches where every round is copied for recovery. */
TEST(searches_on_slices_without_the_host)
{
    static const char *const settings[] = {"multi.loop_pulls=on", "multi.loop_pulls=on multi.recovery_every=1",
                                           "multi.loop_pulls=on multi.loop_blocks=4 multi.partition=random"};
    td_graph *graphs[] = {islands_graph(1, 4000, 30), hubs_graph(9000),
                          test_graph(test_graph_named("small world"), TEST_U8, NULL)};
    for (int g = 0; g < 3; g++) {
        for (int s = 0; s < 3; s++) {
            td_run_options options = slices_of("bfs", graphs[g]);
            td_run *run = run_of("bfs", graphs[g], options, settings[s]);
            check_as_cpu(run, options, "");
            for (uint32_t i = 0; i < run->row_count; i++) CHECK_STR(run->full_rows[i].steal, "loop");
            td_run_destroy(run);
        }
        td_graph_destroy(graphs[g]);
    }
}

TEST(slices_push_along_cached_and_divided_lists)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore"};
    td_graph *graph = hubs_graph(2000); /* lists below multi.high_degree, which are not divided */
    for (int p = 0; p < 4; p++) {
        td_run_options options = slices_of(programs[p], graph);
        options.source = 40; /* no hub */
        const char *rounds = "multi.t1=0 multi.t2=0 multi.loop_edges=0 multi.direction=push";
        char settings[300];
        snprintf(settings, sizeof settings, "%s multi.hub_degree=100", rounds);
        td_run *run = run_of(programs[p], graph, options, settings);
        uint64_t cached = 0;
        for (uint32_t i = 0; i < run->row_count; i++) cached += run->full_rows[i].edges_cached;
        CHECK(cached > 0);
        check_as_cpu(run, options, "");
        check_all_edges(run);
        td_run_destroy(run);
        snprintf(settings, sizeof settings, "%s multi.high_degree=64", rounds);
        run = run_of(programs[p], graph, options, settings);
        check_as_cpu(run, options, "");
        check_all_edges(run);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(larger_graphs_on_slices)
{
    gpu_table table;
    gpu_skip_under_budget();
    open_slices(&table);
    gpu_check_larger_table(&table);
}

TEST(a_budget_on_slices)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "labels", "kcore", "mst", "pagerank", "adsorption", "nn",
                                           "heat", "circuit", NULL};
    gpu_table table;
    budget plan = gpu_budget(programs, true);
    open_slices(&table);
    gpu_check_within(&plan, &table);
}

TEST_MAIN
