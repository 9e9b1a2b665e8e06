/* The paths engine on an emulated GPU, which watches every access: the table of programs, what its switches promise by
 * the emulator's exact counters, the memory that plans state, and what goes wrong. */
#include "engine/paths_counts.h"

#include "device/emulator/sanitizer.h"

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 600 };

/* Primes, so that every setting gets its turn. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of rounds */
    bool slow = circuit || strcmp(of->program, "pagerank") == 0;
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (graph->vertices > (circuit ? VERY_TINY : slow ? 300 : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 101 : 17;
    if (kind != awkward && graph->vertices > TINY) return 0;
    if (slow || kind != awkward) return PATHS_GPU_WAYS; /* one of them */
    return graph->vertices <= TINY ? 211 : graph->vertices <= 600 ? 307 : PATHS_GPU_WAYS;
}

static void check(const char *program)
{
    table_place place = {.devices = narrow_gpu()};
    CHECK_OK(td_pool_create(&place.pool, 2));
    table_ways ways = {PATHS_GPU_WAYS, paths_run_gpu_way, way_stride, table_leave, &place, place.pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(place.pool);
}

TEST(bfs_along_paths_of_a_gpu) { check("bfs"); }
TEST(sssp_along_paths_of_a_gpu) { check("sssp"); }
TEST(labels_along_paths_of_a_gpu) { check("labels"); }
TEST(kcore_along_paths_of_a_gpu) { check("kcore"); }
TEST(pagerank_along_paths_of_a_gpu) { check("pagerank"); }
TEST(adsorption_along_paths_of_a_gpu) { check("adsorption"); }
TEST(circuit_along_paths_of_a_gpu) { check("circuit"); }

/* Counters. */

/* PageRank changes every vertex of these graphs at least once, so that as many updates as vertices are one for each, in
 * whichever order the lanes of a warp come: paths of many partitions begin at the vertices of "layered". */
TEST(on_an_acyclic_graph_every_vertex_is_updated_once)
{
    static const char *const graphs[] = {"dag", "layered", "tree", "directed path", "tournament 20", "directed star"};
    for (int g = 0; g < 6; g++) {
        td_graph *graph = named(graphs[g]);
        CHECK_EQ(count_on("pagerank", graph, "paths.acyclic=on paths.partition_edges=8", "updates"), graph->vertices);
        td_graph_destroy(graph);
    }
}

TEST(a_value_travels_the_length_of_a_path_in_one_round)
{
    td_graph *graph = named("directed path");
    td_run_options options = on_gpu("bfs", graph);
    options.source = 0;
    td_run *paths = run_of("bfs", graph, options, ""), *plain = run_of("bfs", graph, options, "paths.variant=t");
    CHECK_EQ(counted(paths, "rounds"), 1);
    CHECK(counted(plain, "rounds") > 1);
    td_run_destroy(paths);
    td_run_destroy(plain);
    td_graph_destroy(graph);
}

/* Deposits at vertices of high in-degree are gathered in shared memory: fewer reach the masters. */
TEST(proxies_save_deposits_at_masters)
{
    td_graph *graph = web(700);
    td_run *with = run_on("pagerank", graph, "paths.proxy=8"), *without = run_on("pagerank", graph, "paths.proxy=0");
    CHECK(counted(with, "proxied") > 0);
    CHECK_EQ(counted(without, "proxied"), 0);
    CHECK(counted(with, "deposits") < counted(without, "deposits"));
    CHECK_EQ(count_on("kcore", graph, "", "proxied"), 0); /* counts, not sums */
    CHECK_EQ(count_on("pagerank", graph, "", "proxied"), 0); /* warps deposit sums */
    CHECK(count_on("pagerank", graph, "paths.walk=lanes", "proxied") > 0);
    CHECK(count_on("pagerank", graph, "paths.streams=2", "proxied") > 0); /* lanes, too */
    td_run_destroy(with);
    td_run_destroy(without);
    td_graph_destroy(graph);
}

/* Vertex 10 receives 1 from 1 .. 8 by proxy and 100 from 9, whose path applies it: what the proxy holds is read first, so
 * that no vertex is applied twice. */
TEST(a_path_reads_the_proxies_of_its_warp)
{
    uint32_t ends[19][2] = {[18] = {10, 11}};
    uint32_t weights[19] = {[18] = 1};
    for (uint32_t i = 0; i < 9; i++) {
        ends[2 * i][0] = 0, ends[2 * i][1] = i + 1, weights[2 * i] = 1;
        ends[2 * i + 1][0] = i + 1, ends[2 * i + 1][1] = 10, weights[2 * i + 1] = i == 8 ? 100 : 1;
    }
    td_graph *graph = test_graph_of(12, ends, weights, 19, false);
    td_run_options options = on_gpu("sssp", graph);
    options.source = 0;
    /* In this order of lanes, that of 9 comes behind one that has a proxy. */
    td_run *run = run_of("sssp", graph, options, "paths.layers=off paths.proxy=1 paths.pack=off");
    printf("     %" PRIu64 " updates\n", counted(run, "updates"));
    CHECK(counted(run, "proxied") > 0);
    CHECK_EQ(counted(run, "updates"), 11);
    CHECK_EQ(((const uint32_t *)run->values)[11], 3);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Rings of 100 ohms with loops of 1 ohm. A loop's path is walked by another warp than the one that applies its vertex,
 * and a proxy keeps its deposit until the walk ends: a vertex that received what it sends to itself would be applied
 * with an older value of its own than it subtracts, a hundred times the difference, and grow in every round. */
enum { RING = 24, RING_EDGES = 5 * RING };

static td_graph *rings_with_loops(void)
{
    static const uint32_t steps[] = {1, 7, 0, 0, 0};
    uint32_t ends[RING_EDGES][2], weights[RING_EDGES];
    for (uint32_t e = 0; e < RING_EDGES; e++) {
        ends[e][0] = e / 5, ends[e][1] = (e / 5 + steps[e % 5]) % RING;
        weights[e] = steps[e % 5] > 0 ? 100 : 1;
    }
    return test_graph_of(RING, (const uint32_t(*)[2])ends, weights, RING_EDGES, false);
}

static void check_ring(const td_graph *graph, const char *settings)
{
    td_run_options options = on_gpu("circuit", graph);
    options.tolerance = 1e-8, options.has_source = true, options.source = 0;
    td_run *run = run_of("circuit", graph, options, settings);
    double *volts = reference_circuit(graph, run->inputs[0]);
    printf("     %s: %" PRIu64 " rounds\n", settings, counted(run, "rounds"));
    for (uint32_t v = 0; v < RING; v++) CHECK(fabs(((const double *)run->values)[v] - volts[v]) < 1e-6);
    td_free(volts);
    td_run_destroy(run);
}

TEST(loops_carry_no_current_however_late_they_are_walked)
{
    static const char *const settings[] = {
        "paths.partition_edges=32 paths.acyclic=on paths.proxy=2 paths.pack=off",
        "paths.partition_edges=32 paths.proxy=1",
        "paths.merge=off paths.depth=1 paths.partition_edges=32 paths.proxy=0", "paths.variant=t"};
    td_graph *graph = rings_with_loops();
    for (int i = 0; i < 4; i++) check_ring(graph, settings[i]);
    td_graph_destroy(graph);
}

/* The share of lanes at work while PageRank is walked on a grid. */
static double lanes_in_use(const char *settings)
{
    td_graph *graph = named("grid 30x40");
    td_run *run = run_on("pagerank", graph, settings);
    double used = (double)counted(run, "edges_loaded") / (double)counted(run, "lane_slots");
    printf("     %s: lanes in use %.3f\n", settings, used);
    td_run_destroy(run);
    td_graph_destroy(graph);
    return used;
}

TEST(packed_lanes_waste_less)
{
    CHECK(lanes_in_use("paths.walk=lanes paths.variant=w") > lanes_in_use("paths.walk=lanes paths.variant=w paths.pack=off"));
}

/* Lanes that bring something for one vertex are neighbours: one of them deposits the sum. */
TEST(lanes_of_a_warp_deposit_together)
{
    td_graph *graph = web(700);
    td_run *warp = run_on("pagerank", graph, "paths.walk=warp paths.proxy=0 paths.dense=1"),
           *lanes = run_on("pagerank", graph, "paths.walk=lanes paths.proxy=0");
    double of_warp = (double)counted(warp, "deposits") / (double)counted(warp, "edges_sent");
    double of_lanes = (double)counted(lanes, "deposits") / (double)counted(lanes, "edges_sent");
    printf("     deposits for every edge sent: %.3f, lane by lane %.3f\n", of_warp, of_lanes);
    CHECK(of_warp < 0.6 * of_lanes);
    td_run_destroy(warp);
    td_run_destroy(lanes);
    td_graph_destroy(graph);
}

/* A round in which many vertices change walks all paths, and marks none. */
TEST(dense_rounds_mark_nothing)
{
    td_graph *graph = web(700);
    td_run *dense = run_on("pagerank", graph, "paths.walk=warp paths.dense=0.05"),
           *sparse = run_on("pagerank", graph, "paths.walk=warp paths.dense=1");
    printf("     %" PRIu64 " of %" PRIu64 " rounds, notices %" PRIu64 " and %" PRIu64 "\n", counted(dense, "rounds_dense"),
           counted(dense, "rounds"), counted(dense, "notices"), counted(sparse, "notices"));
    CHECK(counted(dense, "rounds_dense") > 0);
    CHECK_EQ(counted(sparse, "rounds_dense"), 0);
    CHECK(counted(dense, "notices") < counted(sparse, "notices"));
    td_run_destroy(dense);
    td_run_destroy(sparse);
    td_graph_destroy(graph);
}

TEST(packed_lanes_waste_less_where_they_take_paths_as_they_come)
{
    CHECK(lanes_in_use("paths.walk=warp paths.variant=w") > lanes_in_use("paths.walk=warp paths.variant=w paths.pack=off"));
}

TEST(near_vertices_first_saves_updates_of_distances)
{
    td_gen_spec spec = {.kind = "web", .vertices = 700, .degree = 24, .seed = 1, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    for (int loop = 0; loop < 2; loop++) {
        td_run *near = run_on("sssp", graph, loop ? "" : "paths.loop=off"),
               *all = run_on("sssp", graph, loop ? "paths.near=off" : "paths.near=off paths.loop=off");
        CHECK(counted(near, "updates") < counted(all, "updates"));
        CHECK(counted(near, "bounds_raised") > 0);
        CHECK_EQ(counted(all, "bounds_raised"), 0);
        CHECK_EQ(memcmp(near->values, all->values, graph->vertices * sizeof(uint32_t)), 0);
        td_run_destroy(near);
        td_run_destroy(all);
    }
    td_graph_destroy(graph);
}

/* Layers that leave most of a GPU idle are left out, where paths depend on themselves. */
TEST(layers_too_small_for_a_gpu_are_left_out)
{
    td_graph *graph = web(700), *dag = named("dag");
    CHECK_EQ(count_on("pagerank", graph, "", "layers"), 1);
    CHECK(count_on("pagerank", graph, "paths.layers=on", "layers") > 1);
    CHECK(count_on("pagerank", graph, "paths.early=on", "layers") > 1);
    CHECK_EQ(count_on("bfs", graph, "", "layers"), 1);
    CHECK(count_on("bfs", graph, "paths.layers=on", "layers") > 1);
    CHECK(count_on("bfs", graph, "paths.early=on", "layers") > 1);
    CHECK(count_on("pagerank", dag, "paths.acyclic=on", "layers") > 1);
    td_graph_destroy(graph);
    td_graph_destroy(dag);
}

TEST(free_warps_take_the_next_partition)
{
    td_graph *graph = web(700);
    const char *few = "paths.partition_edges=32";
    CHECK(count_on("pagerank", graph, few, "partitions_stolen") > 0);
    CHECK_EQ(count_on("pagerank", graph, "paths.partition_edges=32 paths.steal=off", "partitions_stolen"), 0);
    td_graph_destroy(graph);
}

TEST(priority_saves_updates_and_ranks_partitions)
{
    td_graph *graph = web(700);
    const char *full = "paths.partition_edges=16", *w = "paths.partition_edges=16 paths.variant=w";
    td_run *run = run_on("pagerank", graph, full), *without = run_on("pagerank", graph, w);
    CHECK(counted(run, "updates") < counted(without, "updates"));
    CHECK(counted(run, "updates") < count_on("pagerank", graph, "paths.variant=t", "updates"));
    CHECK(counted(run, "partitions_sorted") > 0);
    CHECK_EQ(counted(without, "partitions_sorted"), 0);
    CHECK_EQ(count_on("pagerank", graph, "", "partitions_sorted"), 0); /* fewer partitions than warps */
    td_run_destroy(run);
    td_run_destroy(without);
    td_graph_destroy(graph);
}

/* Paths of vertices with many edges are marked by blocks, and the answers are right: the hub of a star. */
TEST(vertices_of_many_edges_have_their_paths_marked_by_blocks)
{
    enum { LEAVES = 600 };
    uint32_t ends[2 * LEAVES + 1][2] = {[2 * LEAVES] = {LEAVES + 2, 0}};
    for (uint32_t i = 0; i < LEAVES; i++) {
        ends[i][0] = 0, ends[i][1] = i + 1;
        ends[LEAVES + i][0] = i + 1, ends[LEAVES + i][1] = LEAVES + 1;
    }
    td_graph *graph = test_graph_of(LEAVES + 3, ends, NULL, 2 * LEAVES + 1, false);
    td_run_options options = on_gpu("bfs", graph);
    options.source = LEAVES + 2;
    td_run *run = run_of("bfs", graph, options, "");
    CHECK(counted(run, "late_vertices") > 0);
    CHECK_EQ(((const uint32_t *)run->values)[LEAVES + 1], 3);
    for (uint32_t i = 1; i <= LEAVES; i++) CHECK_EQ(((const uint32_t *)run->values)[i], 2);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Memory. */

static void compare_memory(const td_graph *graph, const char *program, const char *text)
{
    td_settings settings = settings_from(text);
    td_run_options options = on_gpu(program, graph);
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "paths", program_of(program), graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    uint64_t stated = plan->device_graph_bytes + plan->device_program_bytes;
    if (run->device_peak != stated)
        TEST_FAIL("%s with '%s' takes %" PRIu64 " bytes, stated are %" PRIu64, program, text, run->device_peak, stated);
    CHECK(plan->program_bytes > stated); /* emulated memory is the host's */
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

TEST(the_device_memory_stated_is_taken_to_the_byte)
{
    static const char *const programs[] = {"pagerank", "adsorption", "sssp", "bfs", "kcore", "labels"};
    static const char *const settings[] = {"", "paths.merge=free paths.proxy=0", "paths.variant=t", "paths.variant=w"};
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U16, NULL);
    for (int p = 0; p < 6; p++) compare_memory(graph, programs[p], settings[p % 4]);
    compare_memory(graph, "kcore", "paths.variant=t");
    td_graph_destroy(graph);
}

TEST(a_gpu_that_is_too_small_is_refused_with_the_bytes_needed)
{
    td_graph *graph = named("rmat 10");
    td_run_options options = on_gpu("pagerank", graph);
    td_run *run = NULL;
    options.gpu_memory = 50000;
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, ""), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "are free");
    td_graph_destroy(graph);
}

/* A second run of a session takes the decomposition of the first, unless another one is asked for. */
TEST(a_session_makes_the_decomposition_once)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U16, NULL);
    td_cache kept = {0};
    td_run_options options = on_gpu("pagerank", graph);
    options.cache = &kept;
    td_run *first = run_of("pagerank", graph, options, ""), *second = run_of("sssp", graph, (td_run_options){
        .engine = "paths", .devices = narrow_gpu(), .cache = &kept, .has_source = true}, "");
    uint64_t bytes = kept.layouts[0].host_bytes;
    CHECK(bytes > graph->edges * sizeof(uint32_t));
    CHECK(kept.layouts[1].state == NULL);
    td_run *other = run_of("pagerank", graph, options, "paths.merge=off paths.depth=1");
    CHECK(kept.layouts[0].host_bytes != bytes);
    CHECK(kept.layouts[1].state == NULL);
    td_run_destroy(first);
    td_run_destroy(second);
    td_run_destroy(other);
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

/* Faults. */

TEST(a_device_lost_at_any_operation_is_an_error_and_leaves_nothing)
{
    lose_in_turn("pagerank", "");
    lose_in_turn("bfs", "paths.variant=t");
}

TEST(every_allocation_fails_once) { fail_allocations("sssp", ""); }

TEST_MAIN
