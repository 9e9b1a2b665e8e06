/* Paths that stay at the host, on an emulated GPU that watches every access: what batches, copying ahead and making way
 * promise by exact counters, the memory that is enough, and what goes wrong. The table of programs is in
 * test_paths_emulated. */
#include "engine/paths_counts.h"

/* Counters. */

#define SMALL "paths.partition_edges=64 paths.batch_edges=512 "

TEST(batches_make_way_and_are_kept_where_they_can_be)
{
    td_graph *graph = web(700);
    td_run *few = run_on("pagerank", graph, SMALL "paths.streams=3"),
           *many = run_on("pagerank", graph, SMALL "paths.streams=64");
    printf("     %" PRIu64 " batches: %" PRIu64 " copied, %" PRIu64 " kept, %" PRIu64 " evictions, %" PRIu64 " bytes\n",
           counted(few, "batches"), counted(few, "batches_copied"), counted(few, "batches_kept"),
           counted(few, "evictions"), counted(few, "batch_bytes"));
    CHECK(counted(few, "batches") > 3);
    CHECK(counted(few, "batches_copied") > counted(few, "batches"));
    CHECK(counted(few, "evictions") > 0);
    CHECK(counted(few, "batches_kept") > 0);
    CHECK_EQ(counted(many, "evictions"), 0); /* a slot for every batch */
    CHECK(counted(many, "batches_copied") <= counted(many, "batches"));
    CHECK(counted(many, "batch_bytes") < counted(few, "batch_bytes"));
    td_run_destroy(few);
    td_run_destroy(many);
    td_graph_destroy(graph);
}

/* The next batch is copied while another is walked: copies and walks overlap in virtual time. */
TEST(copying_ahead_saves_time)
{
    td_graph *graph = web(700);
    td_run *on = run_on("pagerank", graph, SMALL "paths.streams=3"),
           *off = run_on("pagerank", graph, SMALL "paths.streams=3 paths.prefetch=off");
    double each = on->device_seconds / (double)counted(on, "batches_copied"),
           without = off->device_seconds / (double)counted(off, "batches_copied");
    printf("     %" PRIu64 " of %" PRIu64 " copied ahead; per batch %.2f us, without %.2f us\n",
           counted(on, "batches_prefetched"), counted(on, "batches_copied"), 1e6 * each, 1e6 * without);
    CHECK(counted(on, "batches_prefetched") > counted(on, "batches_copied") / 2);
    CHECK(each < without);
    CHECK_EQ(counted(off, "batches_prefetched"), 0);
    td_run_destroy(on);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

/* A search crosses a grid: the batches ahead of it are active, those behind it are not. */
TEST(the_batch_with_the_fewest_active_successors_makes_way)
{
    td_gen_spec spec = {.kind = "grid", .width = 60, .seed = 1, .rewire = -1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &(td_build_options){0}, NULL));
    const char *small = "paths.partition_edges=32 paths.batch_edges=600 paths.streams=6";
    uint64_t successors = count_on("bfs", graph, small, "batch_bytes");
    char text[200];
    snprintf(text, sizeof text, "%s paths.evict=oldest", small);
    uint64_t oldest = count_on("bfs", graph, text, "batch_bytes");
    printf("     %" PRIu64 " bytes, oldest first %" PRIu64 "\n", successors, oldest);
    CHECK(successors < oldest);
    td_graph_destroy(graph);
}

/* A quarter of the edges on the GPU, of what each engine needs of them: a path crosses the link about once where
 * nothing is on a cycle, a list in every iteration. */
TEST(fewer_bytes_cross_the_link_than_in_the_stream_engine)
{
    td_gen_spec spec = {.kind = "layered", .width = 60, .layers = 40, .degree = 5, .seed = 1, .rewire = -1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &(td_build_options){0}, NULL));
    td_run_options options = on_gpu("pagerank", graph);
    options.gpu_edges = 0.25;
    td_run *paths = run_of("pagerank", graph, options, "paths.partition_edges=128");
    options.engine = "stream";
    td_run *stream = run_of("pagerank", graph, options, "stream.compress=off");
    printf("     %" PRIu64 " bytes, stream %" PRIu64 "\n", counted(paths, "link_bytes"), stream->bytes_to_device);
    CHECK(counted(paths, "link_bytes") < stream->bytes_to_device);
    td_run_destroy(paths);
    td_run_destroy(stream);
    td_graph_destroy(graph);
}

/* Memory. */

static td_run_options within(const char *program, const td_graph *graph, uint64_t bytes)
{
    td_run_options options = on_gpu(program, graph);
    options.gpu_memory = bytes;
    return options;
}

/* A graph whose paths do not fit runs by itself, down to the memory that a refusal names, where two batches fit. */
TEST(memory_for_two_batches_is_enough)
{
    static const char *const programs[] = {"pagerank", "bfs", "kcore"};
    td_graph *graph = web(700);
    for (int p = 0; p < 3; p++) {
        td_run *all = run_on(programs[p], graph, "paths.partition_edges=32"), *run = NULL;
        CHECK_EQ(counted(all, "batches"), 0);
        td_run_options options = within(programs[p], graph, all->device_peak / 8);
        CHECK_STATUS(try_run(&run, programs[p], graph, options, "paths.partition_edges=32"), TD_NO_MEMORY);
        options.gpu_memory = td_last_refusal()->needed;
        printf("     %s: %" PRIu64 " bytes instead of %" PRIu64 "\n", programs[p], options.gpu_memory,
               all->device_peak);
        CHECK(options.gpu_memory < all->device_peak);
        run = run_of(programs[p], graph, options, "paths.partition_edges=32");
        CHECK(counted(run, "evictions") > 0);
        CHECK(run->device_peak <= options.gpu_memory);
        td_run_destroy(run);
        options.gpu_memory = all->device_peak - 1;
        run = run_of(programs[p], graph, options, "paths.partition_edges=32");
        CHECK(counted(run, "batches") + counted(run, "partitions_packed") > 0);
        td_run_destroy(run);
        td_run_destroy(all);
    }
    td_graph_destroy(graph);
}

TEST(settings_without_effect_are_refused)
{
    static const char *const settings[][2] = {
        {"paths.prefetch=off", "paths.prefetch"}, {"paths.evict=oldest", "paths.evict"},
        {"paths.batch_edges=100", "paths.batch_edges"}, {"paths.streams=2 paths.loop=on", "paths.loop"}};
    td_graph *graph = named("dag");
    td_run *run = NULL;
    for (int i = 0; i < 4; i++) {
        if (try_run(&run, "pagerank", graph, on_gpu("pagerank", graph), settings[i][0]) != TD_USAGE)
            TEST_FAIL("%s is not refused", settings[i][0]);
        CHECK_CONTAINS(td_last_message(), settings[i][1]);
        CHECK_CONTAINS(td_last_message(), "no effect");
    }
    td_run_options plain = on_gpu("pagerank", graph), cores = {.engine = "paths", .gpu_edges = 0.5};
    plain.gpu_edges = 0.5;
    CHECK_STATUS(try_run(&run, "pagerank", graph, plain, "paths.variant=t"), TD_USAGE);
    CHECK_STATUS(try_run(&run, "pagerank", graph, cores, ""), TD_USAGE);
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){.engine = "paths"}, "paths.streams=2"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "paths.streams");
    td_graph_destroy(graph);
}

/* Faults. */

#define TINY_BATCHES "paths.streams=2 paths.batch_edges=8 paths.partition_edges=4"

TEST(a_device_lost_at_any_operation_is_an_error_and_leaves_nothing) { lose_in_turn("pagerank", TINY_BATCHES); }

TEST(every_allocation_fails_once) { fail_allocations("kcore", TINY_BATCHES); }

/* Beyond the bound of distances a vertex keeps its value. What it has been brought already must not have its home's
 * batch walked again: two batches would go on for ever. 32 vertices, many edges between the first of them, and weights up
 * to 60,000. */
TEST(what_waits_beyond_the_bound_is_brought_once)
{
    enum { EDGES = 8192 };
    static uint32_t ends[EDGES][2], weights[EDGES];
    for (uint32_t seed = 1; seed < 3; seed++) {
        for (uint64_t e = 0; e < EDGES; e++) {
            uint64_t random = td_random_at(seed, e), skew = td_random_at(seed + 100, e);
            ends[e][0] = (uint32_t)(random & skew & 31);
            ends[e][1] = (uint32_t)((random >> 8) & (skew >> 8) & 31);
            weights[e] = 1 + (uint32_t)((random >> 16) % 60000);
        }
        td_graph *graph = test_graph_of(32, (const uint32_t(*)[2])ends, weights, EDGES, false);
        for (uint32_t source = 24; source < 32; source++) {
            td_run_options options = on_gpu("sssp", graph);
            options.source = source;
            options.gpu_edges = 0.5;
            td_run *run = run_of("sssp", graph, options, "");
            options.engine = "cpu", options.devices = NULL, options.gpu_edges = 0;
            td_run *cpu = run_of("sssp", graph, options, "");
            CHECK_EQ(memcmp(run->values, cpu->values, graph->vertices * sizeof(uint32_t)), 0);
            td_run_destroy(run);
            td_run_destroy(cpu);
        }
        td_graph_destroy(graph);
    }
}

TEST_MAIN
