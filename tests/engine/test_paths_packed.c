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

/* A share is one of the packed words: what is on the GPU is less than a partition short of it. Room for all: they cross once. */
TEST(a_quarter_is_a_quarter_of_the_packed_words)
{
    td_graph *graph = web(3000);
    td_run *run = run_with(0.25, "pagerank", graph, SMALL);
    uint64_t all = counted(run, "packed_bytes"), each = all / counted(run, "partitions_packed");
    printf("     %.2f bytes an edge, %" PRIu64 " of %" PRIu64 " on the GPU\n", (double)all / (double)graph->edges,
           counted(run, "resident_bytes"), all);
    CHECK(counted(run, "resident_bytes") <= all / 4);
    CHECK(counted(run, "resident_bytes") > all / 4 - 4 * each);
    CHECK(counted(run, "partitions_read") > 0);
    CHECK_EQ(counted(run, "partitions_chained"), 0); /* short paths */
    td_run_destroy(run);
    run = run_with((double)all, "pagerank", graph, SMALL);
    CHECK_EQ(counted(run, "partitions_resident"), counted(run, "partitions_packed"));
    CHECK_EQ(counted(run, "resident_bytes"), all);
    CHECK_EQ(counted(run, "link_bytes"), all);
    CHECK_EQ(counted(run, "partitions_read"), 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Paths. */

static td_graph *chain_of(uint32_t vertices, bool closed)
{
    uint32_t(*ends)[2] = malloc(vertices * sizeof *ends), *weights = malloc(vertices * sizeof *weights);
    for (uint32_t v = 0; v < vertices; v++) { /* by steps of 7, so that ids do not follow the path */
        ends[v][0] = (uint32_t)(v * UINT64_C(7) % vertices);
        ends[v][1] = (uint32_t)((v + 1) * UINT64_C(7) % vertices);
        weights[v] = 1 + v % 9;
    }
    td_graph *graph = test_graph_of(vertices, ends, weights, closed ? vertices : vertices - 1, false);
    free(ends);
    free(weights);
    return graph;
}

/* Where paths are long, a walk takes a value to the end of its path, not to the next vertex; a walk reads the words at the
 * host once. */
TEST(a_walk_takes_a_value_to_the_end_of_its_path)
{
    for (int closed = 0; closed < 2; closed++) {
        td_graph *graph = chain_of(3001, closed == 1);
        td_run *cpu = run_of("sssp", graph, (td_run_options){.engine = "cpu", .has_source = true, .source = 1507}, "");
        td_run_options options = on_gpu("sssp", graph);
        options.source = 1507;
        options.gpu_edges = 0.25;
        td_run *run = run_of("sssp", graph, options, "");
        printf("     %" PRIu64 " rounds, %" PRIu64 " edges walked, %" PRIu64 " launches\n", counted(run, "rounds"),
               counted(run, "edges_loaded"), run->launches);
        CHECK_EQ(counted(run, "partitions_read"), counted(run, "rounds"));
        CHECK(counted(run, "rounds") < 6);
        CHECK(counted(run, "edges_loaded") < 6 * graph->edges);
        CHECK(counted(run, "updates") <= graph->vertices);
        CHECK(counted(run, "packed_bytes") < 4 * graph->edges);
        CHECK_EQ(memcmp(run->values, cpu->values, graph->vertices * sizeof(uint32_t)), 0);
        td_run_destroy(run);
        td_run_destroy(cpu);
        td_graph_destroy(graph);
    }
}

/* Chains: paths that end in each other's vertices, pass a vertex several times, or close. */
static void compare_chains(const char *program, const char *name, double part)
{
    td_graph *graph = test_graph(test_graph_named(name), TEST_U8, NULL);
    bool real = strcmp(program, "pagerank") == 0 || strcmp(program, "adsorption") == 0;
    td_run_options options = on_gpu(program, graph);
    options.engine = "cpu", options.devices = NULL;
    td_run *right = run_of(program, graph, options, ""),
           *run = run_with(part, program, graph, "paths.merge=free paths.partition_edges=100");
    CHECK(counted(run, "partitions_chained") > 0);
    for (uint32_t v = 0; v < graph->vertices && real; v++)
        CHECK(fabs(((const float *)run->values)[v] - ((const float *)right->values)[v]) < 1e-5);
    if (!real) CHECK_EQ(memcmp(run->values, right->values, graph->vertices * sizeof(uint32_t)), 0);
    td_run_destroy(run);
    td_run_destroy(right);
    td_graph_destroy(graph);
}

TEST(chains_give_the_answers_of_the_cpu)
{
    static const char *const programs[] = {"bfs", "sssp", "pagerank", "adsorption"};
    static const char *const graphs[] = {"rmat 10", "directed cycle", "directed path", "multigraph", "uniform", "tournament 20"};
    for (int p = 0; p < 4; p++)
        for (int g = 0; g < 6; g++) compare_chains(programs[p], graphs[g], g % 2 == 0 ? 1e-9 : 0.5);
}

/* Other paths of the partition leave the vertices of the long one, and end there, before and behind it. */
static td_graph *ring_with_chords(uint64_t seed)
{
    enum { RING = 64, CHORDS = 4 };
    uint32_t ends[RING + CHORDS][2], weights[RING + CHORDS];
    for (uint32_t e = 0; e < RING + CHORDS; e++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bool chord = e >= RING;
        ends[e][0] = chord ? (uint32_t)(seed >> 33) % RING : e;
        ends[e][1] = chord ? (uint32_t)(seed >> 45) % RING : (e + 1) % RING;
        weights[e] = 1 + (uint32_t)(seed >> 57);
    }
    return test_graph_of(RING, (const uint32_t(*)[2])ends, weights, RING + CHORDS, false);
}

TEST(a_chain_hears_of_the_other_paths_of_its_partition)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        td_graph *graph = ring_with_chords(seed);
        td_run *right = run_of("sssp", graph, (td_run_options){.engine = "cpu", .has_source = true, .source = busiest(graph)},
                               "");
        td_run *run = run_with(1e-9, "sssp", graph, "");
        CHECK_EQ(counted(run, "partitions_chained"), 1);
        CHECK_EQ(memcmp(run->values, right->values, graph->vertices * sizeof(uint32_t)), 0);
        td_run_destroy(run);
        td_run_destroy(right);
        td_graph_destroy(graph);
    }
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

/* The plan's share is one of what the words take at most; the run's, of what they take. */
TEST(the_device_memory_stated_is_enough)
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
    uint64_t stated = plan->device_graph_bytes + plan->device_program_bytes;
    CHECK(run->device_peak <= stated);
    CHECK(stated < run->device_peak + counted(run, "packed_bytes") / 10);
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
