/* The table of programs on the hybrid engine and a real GPU that takes pages, from disk and from memory. Runs are drawn
 * so that every program meets every setting; TANDEM_TEST_ALL=1 runs several times as many. */
#include "engine/hybrid_ways.h"
#include "gpu/tables.h"

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return 0;
    return graph->vertices <= TINY ? 1999 : 997;
}

static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return 0;
    return of->weights == KIND(TEST_UNWEIGHTED) && of->iterations == 0 && graph->vertices <= LARGE ? 3 : 1;
}

static void check(const char *program)
{
    table_draws draws = {.runs = runs_of};
    gpu_skip_under_budget();
    need_gpu();
    hybrid_check(program, gpu_name(), way_stride, by_strides() ? NULL : &draws);
}

TEST(bfs_by_pages_on_the_gpu) { check("bfs"); }
TEST(sssp_by_pages_on_the_gpu) { check("sssp"); }
TEST(labels_by_pages_on_the_gpu) { check("labels"); }
TEST(pagerank_by_pages_on_the_gpu) { check("pagerank"); }
TEST(adsorption_by_pages_on_the_gpu) { check("adsorption"); }
TEST(nn_by_pages_on_the_gpu) { check("nn"); }
TEST(heat_by_pages_on_the_gpu) { check("heat"); }

TEST(a_budget_by_pages_on_the_gpu)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "pagerank", "adsorption", "nn", "heat", NULL};
    budget plan = gpu_budget(programs, false);
    table_draws draws = {.runs = runs_of};
    hybrid_place where;
    need_gpu();
    hybrid_open(&where, gpu_name(), true);
    table_ways ways = hybrid_ways(&where, way_stride, &draws);
    check_within(&plan, &ways);
    hybrid_close(&where);
}

TEST_MAIN
