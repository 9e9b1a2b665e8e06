/* The same with an emulated GPU that takes pages, alone or beside the processor. Programs that no GPU takes pages of
 * are in test_hybrid_table.c. */
#include "engine/hybrid_ways.h"

#include "device/emulator/sanitizer.h"
#include "engine/hybrid/gpu.h"
#include "store/gen.h"

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 100 : 1200 }; /* vertices: more is left to GPUs */

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    (void)of, (void)kind;
    if (graph->vertices > MANY) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 37;
    return graph->vertices <= TINY ? 3001 : 4201;
}

static void check(const char *program) { hybrid_check(program, "emu", way_stride, NULL); }

TEST(bfs_by_pages_with_a_gpu) { check("bfs"); }
TEST(sssp_by_pages_with_a_gpu) { check("sssp"); }
TEST(labels_by_pages_with_a_gpu) { check("labels"); }
TEST(pagerank_by_pages_with_a_gpu) { check("pagerank"); }
TEST(adsorption_by_pages_with_a_gpu) { check("adsorption"); }
TEST(nn_by_pages_with_a_gpu) { check("nn"); }
TEST(heat_by_pages_with_a_gpu) { check("heat"); }

/* By the virtual clock, on which an edge costs the processor what it costs in coop as well. */

typedef struct machine {
    const char *devices;
    double gather; /* bytes a second of the host's workers, as its topology says */
} machine;

static const machine machines[] = {{"emu@pcie3", 8e9}, {"emu@pcie5", 20e9}, {"emu@h200", 25e9}};
static const char *const shared_programs[] = {"pagerank", "bfs", "sssp"};
enum { MACHINES = sizeof machines / sizeof *machines };
enum { SHARED_PROGRAMS = sizeof shared_programs / sizeof *shared_programs };

typedef struct outcome {
    double seconds;
    uint32_t cpu, gpu; /* pages */
    uint64_t peak, edges;
} outcome;

static outcome outcome_of(const td_graph *graph, td_pool *pool, const machine *on, const char *program, const char *use)
{
    char text[128];
    const td_program_info *info = program_of(program)->info;
    td_run_options options = {.pool = pool, .engine = "hybrid", .devices = on->devices,
                              .has_iterations = info->iterations > 0, .iterations = 4};
    options.has_source = info->needs_source;
    options.source = busiest(graph);
    snprintf(text, sizeof text, "hybrid.page=16384 hybrid.use=%s", use);
    td_run *run = run_of(program, graph, options, text);
    outcome found = {.seconds = run->device_seconds, .peak = run->device_peak, .edges = run->edges_processed};
    for (uint32_t i = 0; i < run->row_count; i++) {
        found.cpu += run->full_rows[i].pages_cpu;
        found.gpu += run->full_rows[i].pages_gpu;
    }
    td_run_destroy(run);
    return found;
}

static td_graph *shared_graph(const char *name, td_pool *pool)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    CHECK(td_gen_named(name, &spec, &build));
    build.attach_weights = true;
    build.weight_low = 1;
    build.weight_high = 50;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

/* What a device that is there takes of the clock once, whoever works: more than a part of a short search. */
static const double TO_BEGIN = 8e-6;

static void check_both(const td_graph *graph, td_pool *pool, const machine *on, const char *program, bool *shared)
{
    outcome gpu = outcome_of(graph, pool, on, program, "gpu"), both = outcome_of(graph, pool, on, program, "both");
    double cpu = (double)outcome_of(graph, pool, on, program, "cpu").edges * TD_HYBRID_EDGE_BYTES / on->gather;
    double better = cpu < gpu.seconds ? cpu : gpu.seconds;
    printf("     %s, %s: cpu %.0f us, gpu %.0f us, both %.0f us (%u and %u pages)\n", on->devices, program, cpu * 1e6,
           gpu.seconds * 1e6, both.seconds * 1e6, both.cpu, both.gpu);
    if (both.seconds > 1.05 * better + TO_BEGIN)
        TEST_FAIL("%s on %s: both take %.2f of the better one", program, on->devices, both.seconds / better);
    CHECK(gpu.gpu > 0);
    CHECK(gpu.peak > graph->vertices * 8);
    *shared |= both.cpu > 0 && both.gpu > 0 && both.seconds < 0.95 * better;
}

TEST(both_are_not_slower_than_the_better_of_the_two)
{
    td_pool *pool;
    bool shared = false; /* somewhere both have work, and are faster for it */
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("slow under a sanitizer");
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = shared_graph("k14", pool);
    for (int m = 0; m < MACHINES; m++)
        for (int p = 0; p < SHARED_PROGRAMS; p++) check_both(graph, pool, &machines[m], shared_programs[p], &shared);
    CHECK(shared);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* Rates of pages do not tell what the two cost each other: once the GPU does all of a sum, and the faster way stays. */
TEST(a_gpu_is_tried_alone_and_the_better_way_is_kept)
{
    td_pool *pool;
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("slow under a sanitizer");
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = shared_graph("k14", pool);
    td_run_options options = {.pool = pool, .engine = "hybrid", .devices = "emu@pcie3", .has_iterations = true,
                              .iterations = 5};
    td_run *run = run_of("pagerank", graph, options, "hybrid.page=16384 hybrid.use=both");
    CHECK_EQ(run->row_count, 5);
    for (uint32_t i = 0; i < run->row_count; i++) CHECK((run->full_rows[i].pages_cpu == 0) == (i == 2));
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* An iteration with a GPU hears what was told within it, and leaves vertices of several levels active; one that looks for
 * any active neighbour must not follow. */
static void check_levels(const char *kind, uint64_t seed)
{
    td_gen_spec spec = {.kind = kind, .scale = 10, .degree = 4, .seed = seed, .rewire = -1};
    td_build_options build = {.symmetrize = seed % 2 == 0};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    td_run_options options = {.has_source = true, .source = busiest(graph)};
    td_run *alone = run_of("bfs", graph, options, "");
    options.engine = "hybrid";
    options.devices = "emu";
    td_run *both = run_of("bfs", graph, options, "hybrid.page=600 hybrid.k=50 hybrid.use=both");
    CHECK(memcmp(alone->values, both->values, graph->vertices * sizeof(uint32_t)) == 0);
    td_run_destroy(both);
    td_run_destroy(alone);
    td_graph_destroy(graph);
}

TEST(levels_are_right_whether_cpu_or_gpu_found_the_one_before)
{
    static const char *const kinds[] = {"rmat", "smallworld", "web"};
    for (uint64_t seed = 1; seed <= 12; seed++) check_levels(kinds[seed % 3], seed);
}

/* A GPU that is lost at its nth operation, while the processor may be in the middle of a page: an error, and nothing
 * left. */
TEST(a_gpu_that_is_lost_ends_the_run_cleanly)
{
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = shared_graph("k10", pool), *paged = NULL;
    CHECK_OK(td_packed_write(graph, test_path("lost.tg"), pool));
    CHECK_OK(td_paged_open(&paged, test_path("lost.tg"), pool, NULL));
    for (int disk = 0; disk < 2; disk++) {
        int lost = 0;
        for (uint64_t nth = 1; nth < 400; nth = nth * 5 / 4 + 1) {
            td_run *run = NULL;
            td_run_options options = {.pool = pool, .engine = "hybrid", .devices = "emu@pcie4", .has_iterations = true,
                                      .iterations = 3};
            td_device_fail_at(nth);
            td_status status = try_run(&run, "pagerank", disk ? paged : graph, options,
                                       "hybrid.page=1024 hybrid.use=both");
            td_device_fail_at(0);
            if (status != TD_OK) CHECK_EQ(status, TD_DEVICE);
            lost += status != TD_OK;
            td_run_destroy(run);
        }
        CHECK(lost > 5);
    }
    td_graph_destroy(paged);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
