/* The table of programs (tests/engine/table.h) on the coop engine, with a real GPU that may hold 5%, 10%, 25%, 50%
 * or 90% of the edges; and some larger graphs, of which both sides take many pieces. TANDEM_TEST_BUDGET=30 runs as
 * many as that many seconds allow. */
#include "engine/coop_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (!td_coop_cooperates(program_of(of->program))) return 1499;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 839 : 17;
    return circuit ? 1499 : graph->vertices <= TINY ? 211 : 367;
}

/* Under a budget; the whole table takes strides. */
static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices > TINY ? 0 : 1;
    return graph->vertices > LARGE ? 1 : 3;
}

static const gpu_ways ways = {COOP_WAYS, coop_run_way, stride_of, runs_of, .strides_only = true};

static void check(const char *program) { gpu_check(program, gpu_name(), ways); }

TEST(bfs_with_the_gpu) { check("bfs"); }
TEST(sssp_with_the_gpu) { check("sssp"); }
TEST(labels_with_the_gpu) { check("labels"); }
TEST(pagerank_with_the_gpu) { check("pagerank"); }
TEST(adsorption_with_the_gpu) { check("adsorption"); }
TEST(nn_with_the_gpu) { check("nn"); }
TEST(heat_with_the_gpu) { check("heat"); }
TEST(circuit_with_the_gpu) { check("circuit"); }

TEST(larger_graphs_with_the_gpu) { gpu_check_larger(ways); }

TEST(a_budget_with_the_gpu)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "pagerank", "adsorption", "nn", "heat", "circuit", NULL};
    gpu_check_budget(programs, true, gpu_name(), ways);
}

TEST_MAIN
