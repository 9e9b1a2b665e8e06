/* PageRank by changes (--async on the stream engine): the same ranks as synchronously, whatever is on the device, and
 * fewer bytes over the link. */
#include "engine/stream_ways.h"

#include "run/verify_run.h"
#include "store/gen.h"

#include <math.h>

static td_graph *generated(const char *kind, uint64_t vertices, bool symmetric)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = kind, .seed = 7, .vertices = vertices, .degree = 24, .rewire = -1};
    td_build_options build = {.symmetrize = symmetric};
    if (strcmp(kind, "rmat") == 0) spec.vertices = 0, spec.scale = 8;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static td_run *run_at(const td_graph *graph, td_mode mode, double tolerance, double cap, const char *settings)
{
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = cap, .mode = mode,
                              .has_tolerance = true, .tolerance = tolerance};
    return run_of("pagerank", graph, options, settings);
}

static void verify(const td_run *run)
{
    const char *claims;
    CHECK_OK(td_run_verify(run, NULL, &claims));
}

static double distance(const td_run *one, const td_run *other)
{
    double sum = 0;
    const float *a = one->values, *b = other->values;
    for (uint32_t v = 0; v < one->graph->vertices; v++) sum += fabs((double)a[v] - (double)b[v]);
    return sum;
}

static uint64_t moved(const td_run *run)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < run->row_count; i++)
        bytes += run->full_rows[i].bytes_whole + run->full_rows[i].bytes_extracted + run->full_rows[i].bytes_direct;
    return bytes;
}

static const double TOLERANCE = 1e-5;

/* Two answers are each within change / (1 - damping) of the fixpoint, and a little more by rounding. */
static void check_same(const td_graph *graph, const char *settings, double damping)
{
    static const double caps[] = {0.05, 0.25, 0.6, 1};
    char streams[256];
    td_run *cpu = run_of("pagerank", graph, (td_run_options){0}, settings);
    for (int i = 0; i < 4; i++) {
        snprintf(streams, sizeof streams, "stream.subgraph=%s %s", caps[i] < 0.1 ? "512" : "4K", settings);
        td_run *run = run_at(graph, TD_MODE_ASYNC, TOLERANCE, caps[i], streams);
        CHECK(run->converged);
        verify(run);
        if (distance(run, cpu) > 2 * TOLERANCE / (1 - damping))
            TEST_FAIL("%s at %.0f%%: ranks are %g away", settings, 100 * caps[i], distance(run, cpu));
        td_run_destroy(run);
    }
    td_run_destroy(cpu);
}

TEST(ranks_are_the_same_whatever_is_on_the_device)
{
    td_graph *skewed = generated("rmat", 0, true), *web = generated("web", 400, false);
    check_same(skewed, "pagerank.damping=0.85", 0.85);
    check_same(web, "pagerank.dangling=ignore", 0.85);
    check_same(web, "pagerank.damping=0.3", 0.3);
    td_graph_destroy(skewed);
    td_graph_destroy(web);
}

TEST(personal_jumps_and_sinks_keep_the_sum)
{
    char settings[256];
    td_graph *graph = generated("web", 400, false);
    test_write_file(test_path("personal.txt"), "0 1\n5 3\n17 2\n", 14);
    snprintf(settings, sizeof settings, "pagerank.personal=%s", test_path("personal.txt"));
    check_same(graph, settings, 0.85);
    td_graph_destroy(graph);
}

TEST(damping_may_be_none_or_all)
{
    td_graph *graph = generated("web", 300, false);
    td_run *none = run_at(graph, TD_MODE_ASYNC, TOLERANCE, 0.25, "pagerank.damping=0 stream.subgraph=1K");
    CHECK(none->converged);
    verify(none);
    td_run_destroy(none);
    td_graph *even = generated("rmat", 0, true);
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25,
                              .mode = TD_MODE_ASYNC, .has_iterations = true, .iterations = 5};
    td_run *all = run_of("pagerank", even, options, "pagerank.damping=1 stream.subgraph=1K");
    CHECK_EQ(all->iterations, 5);
    verify(all);
    td_run_destroy(all);
    td_graph_destroy(even);
    td_graph_destroy(graph);
}

TEST(in_fewer_bits_fewer_bytes_cross_than_synchronously)
{
    td_graph *graph = generated("web", 3000, false);
    td_run *sync = run_at(graph, TD_MODE_SYNC, 1e-6, 0.1, "stream.subgraph=4K");
    td_run *async = run_at(graph, TD_MODE_ASYNC, 1e-6, 0.1, "stream.subgraph=4K stream.compress=on");
    verify(async);
    printf("    %" PRIu64 " bytes, synchronously %" PRIu64 "\n", moved(async), moved(sync));
    CHECK(moved(async) < moved(sync));
    CHECK(5 * async->edges_processed < sync->edges_processed);
    for (uint32_t i = 1; i < async->row_count; i++) CHECK(2 * async->rows[i].active_edges < graph->edges);
    td_run_destroy(sync);
    td_run_destroy(async);
    td_graph_destroy(graph);
}

TEST(a_limit_stops_it_where_it_is)
{
    td_graph *graph = generated("web", 400, false);
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25,
                              .mode = TD_MODE_ASYNC, .has_iterations = true};
    for (uint32_t n = 0; n < 4; n += 3) {
        options.iterations = n;
        td_run *run = run_of("pagerank", graph, options, "stream.subgraph=1K");
        CHECK_EQ(run->iterations, n);
        CHECK(!run->converged);
        if (n > 0) verify(run);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(settings_that_change_nothing_in_a_mode_are_refused)
{
    td_run *run = NULL;
    td_graph *graph = generated("web", 300, false);
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25};
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, "stream.low=direct"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "has no effect on pagerank, which gathers along every edge; "
                                      "it is for stream.activity=on, or async");
    options.mode = TD_MODE_ASYNC;
    CHECK_OK(try_run(&run, "pagerank", graph, options, "stream.low=direct"));
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
