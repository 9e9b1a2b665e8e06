/* The same with an emulated GPU that takes pages, alone or beside the processor. Programs that no GPU takes pages of are
 * in test_hybrid_table.c. */
#include "engine/hybrid_ways.h"

#include "device/emulator/sanitizer.h"
#include "store/gen.h"

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 100 : 1200 }; /* vertices: more is left to GPUs */

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    (void)of, (void)kind;
    if (graph->vertices > MANY) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 37;
    return graph->vertices <= TINY ? 1999 : 2803;
}

static void check(const char *program) { hybrid_check(program, "emu", way_stride); }

TEST(bfs_by_pages_with_a_gpu) { check("bfs"); }
TEST(sssp_by_pages_with_a_gpu) { check("sssp"); }
TEST(labels_by_pages_with_a_gpu) { check("labels"); }
TEST(pagerank_by_pages_with_a_gpu) { check("pagerank"); }
TEST(adsorption_by_pages_with_a_gpu) { check("adsorption"); }
TEST(nn_by_pages_with_a_gpu) { check("nn"); }
TEST(heat_by_pages_with_a_gpu) { check("heat"); }

/* By the virtual clock, on which an edge costs the processor what it costs in coop as well. */
static double seconds_of(const td_graph *graph, td_pool *pool, const char *program, const char *use, uint32_t *cpu, uint32_t *gpu)
{
    char text[128];
    td_run_options options = {.pool = pool, .engine = "hybrid", .devices = "emu@pcie4", .has_iterations = true, .iterations = 3};
    options.has_source = program_of(program)->info->needs_source;
    options.source = busiest(graph);
    snprintf(text, sizeof text, "hybrid.page=4096 hybrid.use=%s", use);
    td_run *run = run_of(program, graph, options, text);
    double seconds = run->device_seconds;
    *cpu = *gpu = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        *cpu += run->rows[i].pages_cpu;
        *gpu += run->rows[i].pages_gpu;
    }
    td_run_destroy(run);
    return seconds;
}

TEST(both_are_not_slower_than_the_gpu_alone)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    td_pool *pool;
    uint32_t cpu, gpu;
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("slow under a sanitizer");
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK(td_gen_named("k13", &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    double alone = seconds_of(graph, pool, "pagerank", "gpu", &cpu, &gpu);
    CHECK_EQ(cpu, 0);
    CHECK(gpu > 0);
    double both = seconds_of(graph, pool, "pagerank", "both", &cpu, &gpu);
    CHECK(cpu > 0 && gpu > 0);
    CHECK(both <= 1.05 * alone);
    CHECK(both <= 1.05 * 3 * (double)graph->edges * 16 / 12e9); /* the processor alone, at pcie4's host rate */
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
