/* Core numbers on the stream engine in one launch (stream.kcore=peel), on an emulated GPU: the edges that cross the
 * link, by the rows and by the device's own count, against peeling level by level; where the switch is refused;
 * failures. */
#include "device/emulator/watch.h"
#include "engine/stream_ways.h"

#include "store/gen.h"

typedef struct crossed {
    uint64_t launches, bytes, host_bytes; /* bytes: of the rows; host_bytes: counted by the device */
    uint32_t *cores;
} crossed;

static crossed cross(const td_graph *graph, double share, const char *settings)
{
    td_run_options options = {.engine = "stream", .devices = narrow_gpu(), .gpu_edges = share};
    td_run *run = run_of("kcore", graph, options, settings);
    crossed of = {.launches = run->launches};
    CHECK_EQ(strcmp(run->engine, "stream"), 0);
    for (uint32_t i = 0; i < run->row_count; i++)
        of.bytes += run->full_rows[i].bytes_whole + run->full_rows[i].bytes_extracted + run->full_rows[i].bytes_direct;
    for (int i = 0; i < run->counter_count; i++)
        if (strcmp(run->counters[i].name, "host_bytes") == 0) of.host_bytes = run->counters[i].value;
    CHECK_OK(TD_NEW(&of.cores, graph->vertices, "core numbers"));
    memcpy(of.cores, run->values, graph->vertices * sizeof *of.cores);
    printf("    %-70s %4" PRIu64 " launches, %7" PRIu64 " bytes of a graph of %7" PRIu64 "\n", settings, of.launches,
           of.bytes, td_graph_bytes(graph));
    td_run_destroy(run);
    return of;
}

static td_graph *generated(const char *kind, uint64_t scale)
{
    td_graph *graph = NULL;
    bool web = strcmp(kind, "web") == 0;
    td_build_options build = {.symmetrize = !web, .dedup = true, .drop_loops = true};
    td_gen_spec spec = {.kind = kind, .seed = 7, .scale = scale, .degree = 12, .rewire = -1};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

TEST(the_resident_prefix_of_a_peeling_does_not_cross)
{
    static const char *const kinds[] = {"rmat", "web"};
    for (int k = 0; k < 2; k++) {
        td_graph *graph = generated(kinds[k], 9);
        td_run *cpu = run_of("kcore", graph, (td_run_options){0}, "");
        crossed levels = cross(graph, 0.4, "stream.subgraph=512 stream.kcore=levels");
        crossed peel = cross(graph, 0.4, "stream.subgraph=512 stream.kcore=peel");
        crossed bare = cross(graph, 0.4, "stream.subgraph=512 stream.kcore=peel stream.prefix=0");
        crossed pieces = cross(graph, 0.4, "stream.subgraph=512 stream.kcore=peel stream.high_degree=32");
        crossed all[] = {levels, peel, bare, pieces};
        CHECK(peel.bytes < levels.bytes);
        CHECK(peel.bytes < bare.bytes);
        if (td_watch_built()) { /* other builds count no accesses */
            CHECK(peel.host_bytes < levels.host_bytes);
            CHECK_EQ(peel.host_bytes, peel.bytes);
            CHECK_EQ(bare.host_bytes, bare.bytes);
        }
        CHECK_EQ(pieces.bytes, peel.bytes);
        CHECK(10 * peel.launches < levels.launches);
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(memcmp(all[i].cores, cpu->values, graph->vertices * sizeof(uint32_t)), 0);
            td_free(all[i].cores);
        }
        td_run_destroy(cpu);
        td_graph_destroy(graph);
    }
}

TEST(settings_of_subgraphs_and_limits_are_refused_with_the_reason)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_UNWEIGHTED, NULL);
    td_run *run = NULL;
    td_run_options options = {.engine = "stream", .devices = narrow_gpu(), .gpu_edges = 0.5};
    CHECK_STATUS(try_run(&run, "kcore", graph, options, "stream.kcore=peel stream.low=whole"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "stream.kcore=levels");
    CHECK_STATUS(try_run(&run, "kcore", graph, options, "stream.kcore=peel stream.variant=lbase"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "stream.variant=full");
    options.has_iterations = true;
    options.iterations = 2;
    CHECK_STATUS(try_run(&run, "kcore", graph, options, "stream.kcore=peel"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "stream.kcore=levels");
    td_graph_destroy(graph);
}

TEST(a_device_lost_at_any_operation_leaves_nothing)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_UNWEIGHTED, NULL);
    td_settings settings = settings_from("stream.kcore=peel stream.subgraph=128");
    td_run_options options = {.engine = "stream", .devices = narrow_gpu(), .gpu_edges = 0.6, .settings = &settings};
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_run *run = NULL;
        td_device_fail_at(nth);
        td_status status = td_run_program(&run, program_of("kcore"), graph, &options);
        td_device_fail_at(0);
        td_run_destroy(run);
        if (status == TD_OK) break;
        CHECK_STATUS(status, TD_DEVICE);
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(nth > 10);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

TEST_MAIN
