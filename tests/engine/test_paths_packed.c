/* Packed partitions of paths that stay at the host, on an emulated GPU that watches every access: how many bytes they are
 * and cross the link, that marked ones alone are read, in few launches, and what happens where they cannot be pinned. The
 * table of programs is in test_paths_emulated. */
#include "device/emulator/watch.h"
#include "engine/paths_counts.h"

#define SMALL "paths.partition_edges=64"

static td_run *run_with(double part, const char *program, const td_graph *graph, const char *settings)
{
    part_on_gpu = part;
    td_run *run = run_on(program, graph, settings);
    part_on_gpu = 0;
    return run;
}

static uint64_t count_with(double part, const char *program, const td_graph *graph, const char *settings,
                           const char *counter)
{
    td_run *run = run_with(part, program, graph, settings);
    uint64_t value = counted(run, counter);
    td_run_destroy(run);
    return value;
}

/* By the emulator's count. */
static uint64_t read_at_host(const td_run *run)
{
    for (int i = 0; i < run->counter_count; i++)
        if (strcmp(run->counters[i].name, "host_bytes") == 0) return run->counters[i].value;
    TEST_FAIL("there is no counter host_bytes");
    return 0;
}

/* Batches copy entries, beginnings and mirrors of all their paths, and the host looks after every walk. */
TEST(packed_partitions_take_fewer_bytes_and_launches_than_batches)
{
    td_graph *graph = web(700);
    td_run *packed = run_with(0.1, "pagerank", graph, SMALL),
           *batches = run_with(0.1, "pagerank", graph, SMALL " paths.prefetch=on");
    printf("     %" PRIu64 " bytes over the link, %" PRIu64 " launches; batches %" PRIu64 ", %" PRIu64 "\n",
           counted(packed, "link_bytes"), packed->launches, counted(batches, "batch_bytes"), batches->launches);
    CHECK(counted(packed, "partitions_packed") > 0);
    CHECK(counted(packed, "partitions_resident") < counted(packed, "partitions_packed"));
    CHECK_EQ(counted(batches, "partitions_packed"), 0);
    CHECK(counted(packed, "link_bytes") < counted(batches, "batch_bytes") / 2);
    CHECK(packed->launches < batches->launches / 10);
    td_run_destroy(packed);
    td_run_destroy(batches);
    td_graph_destroy(graph);
}

/* A quarter of what paths take holds all of them when they are packed: they cross the link once. */
TEST(a_quarter_holds_all_packed_partitions)
{
    td_graph *graph = web(3000);
    td_run *run = run_with(0.25, "pagerank", graph, "");
    printf("     %.2f bytes an edge\n", (double)counted(run, "resident_bytes") / (double)graph->edges);
    CHECK_EQ(counted(run, "partitions_resident"), counted(run, "partitions_packed"));
    CHECK_EQ(counted(run, "link_bytes"), counted(run, "resident_bytes"));
    CHECK_EQ(counted(run, "partitions_read"), 0);
    CHECK(counted(run, "resident_bytes") < graph->edges * sizeof(uint32_t)); /* less than lists take */
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* The counter is what kernels have read in the host's memory, to the byte: no word is read twice in a walk. */
TEST(every_word_that_crosses_is_counted_once)
{
    if (!td_watch_built()) SKIP("this build counts no accesses");
    static const char *const programs[] = {"pagerank", "bfs"};
    static const double parts[] = {1e-9, 0.05, 0.1};
    td_graph *graph = web(700);
    for (int i = 0; i < 6; i++) {
        td_run *run = run_with(parts[i % 3], programs[i / 3], graph, SMALL);
        CHECK(read_at_host(run) > 0);
        CHECK_EQ(counted(run, "link_bytes") - counted(run, "resident_bytes"), read_at_host(run));
        if (i % 3 == 0) CHECK_EQ(counted(run, "partitions_resident"), 0);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* A search reads the partitions that it reaches, when it reaches them, and not all of them in every round. */
TEST(marked_partitions_alone_are_read)
{
    td_gen_spec spec = {.kind = "grid", .width = 60, .seed = 1, .rewire = -1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &(td_build_options){0}, NULL));
    td_run *run = run_with(1e-9, "bfs", graph, "paths.partition_edges=32");
    uint64_t read = counted(run, "partitions_read"), all = counted(run, "rounds") * counted(run, "partitions_packed");
    printf("     %" PRIu64 " of %" PRIu64 "\n", read, all);
    CHECK_EQ(read, counted(run, "partitions_walked"));
    CHECK(read < all / 4);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* What is on the GPU is walked again while its own walk marks it. */
TEST(partitions_on_the_gpu_are_walked_again_at_once)
{
    td_graph *graph = web(700);
    uint64_t near = count_with(0.9, "pagerank", graph, SMALL, "rounds"),
             far = count_with(1e-9, "pagerank", graph, SMALL, "rounds");
    CHECK(count_with(0.9, "pagerank", graph, SMALL, "partitions_repeated") > 0);
    CHECK_EQ(count_with(1e-9, "pagerank", graph, SMALL, "partitions_repeated"), 0);
    printf("     %" PRIu64 " rounds, %" PRIu64 " at the host\n", near, far);
    td_graph_destroy(graph);
}

/* Layers make rounds, and every round reads what is marked. */
TEST(packed_partitions_have_no_layers_of_their_own_accord)
{
    td_graph *graph = web(700), *acyclic = named("layered");
    CHECK_EQ(count_with(0.1, "pagerank", graph, SMALL, "layers"), 1);
    CHECK(count_with(0.1, "pagerank", graph, SMALL " paths.layers=on", "layers") > 1);
    CHECK(count_with(0.1, "pagerank", acyclic, "paths.partition_edges=8 paths.acyclic=on", "layers") > 1);
    td_graph_destroy(graph);
    td_graph_destroy(acyclic);
}

TEST(what_cannot_be_pinned_or_packed_is_copied_in_batches)
{
    td_graph *graph = web(700);
    td_device_refuse_pins(true);
    td_run *run = run_with(0.3, "bfs", graph, SMALL);
    td_device_refuse_pins(false);
    CHECK_EQ(counted(run, "partitions_packed"), 0);
    CHECK(counted(run, "batches") > 0);
    td_run_options cpu = {.engine = "cpu", .has_source = true, .source = busiest(graph)};
    td_run *right = run_of("bfs", graph, cpu, "");
    CHECK_EQ(memcmp(run->values, right->values, graph->vertices * sizeof(uint32_t)), 0);
    td_run_destroy(right);
    td_run_destroy(run);
    CHECK(count_with(0.3, "kcore", graph, SMALL, "batches") > 0); /* counts */
    CHECK(count_with(0.3, "labels", graph, SMALL, "batches") > 0); /* values flow back */
    td_graph_destroy(graph);
}

/* Numbers of every width, lists longer than 32 blocks, vertices with their homes among the sources. */
TEST(long_lists_and_wide_numbers_are_read_as_they_were_written)
{
    static const char *const settings[] = {"paths.partition_edges=100000", "paths.partition_edges=1", ""};
    td_gen_spec spec = {.kind = "uniform", .vertices = 20000, .degree = 4, .seed = 3, .rewire = -1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &(td_build_options){0}, NULL));
    td_run_options options = {.engine = "cpu", .has_source = true, .source = busiest(graph)};
    td_run *right = run_of("bfs", graph, options, "");
    for (int i = 0; i < 3; i++) {
        td_run *run = run_with(1e-9, "bfs", graph, settings[i]);
        CHECK(counted(run, "partitions_packed") > 0);
        CHECK_EQ(memcmp(run->values, right->values, graph->vertices * sizeof(uint32_t)), 0);
        td_run_destroy(run);
    }
    td_run_destroy(right);
    td_graph_destroy(graph);
}

TEST(the_device_memory_stated_is_taken_to_the_byte)
{
    td_graph *graph = web(700);
    td_settings settings = settings_from(SMALL);
    td_run_options options = on_gpu("pagerank", graph);
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.settings = &settings;
    options.gpu_edges = 0.1;
    CHECK_OK(td_plan_make(&plan, "paths", program_of("pagerank"), graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    CHECK_EQ(run->device_peak, plan->device_graph_bytes + plan->device_program_bytes);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

/* Faults. */

TEST(a_device_lost_at_any_operation_is_an_error_and_leaves_nothing)
{
    part_on_gpu = 0.3;
    lose_in_turn("bfs", "paths.partition_edges=4");
    part_on_gpu = 0;
}

TEST(every_allocation_fails_once)
{
    part_on_gpu = 0.3;
    fail_allocations("sssp", "paths.partition_edges=4");
    part_on_gpu = 0;
}

TEST_MAIN
