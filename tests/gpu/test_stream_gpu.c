/* The table of programs (tests/engine/table.h) on the stream engine and a real GPU that may hold 5%, 25%, 60% or all
 * of the edges; and some larger graphs, of which many subgraphs cross. Runs are drawn so that every program meets
 * every setting; TANDEM_TEST_ALL=1 runs several times as many, TANDEM_TEST_BUDGET=30 as many as that many seconds
 * allow. */
#include "engine/stream_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 1283 : 61;
    return circuit ? 4271 : graph->vertices <= TINY ? 797 : 1283;
}

/* bfs has few rows and as many settings. */
static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0;
    (void)kind;
    if (circuit) return graph->vertices <= TINY ? 1 : 0;
    return of->weights == KIND(TEST_UNWEIGHTED) && of->iterations == 0 && graph->vertices <= LARGE ? 3 : 1;
}

static const gpu_ways ways = {STREAM_WAYS, stream_run_way, stride_of, runs_of, false};

static void check(const char *program)
{
    gpu_check(program, gpu_name(), ways);
}

TEST(bfs_streams_to_the_gpu) { check("bfs"); }
TEST(sssp_streams_to_the_gpu) { check("sssp"); }
TEST(wcc_streams_to_the_gpu) { check("wcc"); }
TEST(labels_streams_to_the_gpu) { check("labels"); }
TEST(kcore_streams_to_the_gpu) { check("kcore"); }
TEST(mst_streams_to_the_gpu) { check("mst"); }
TEST(pagerank_streams_to_the_gpu) { check("pagerank"); }
TEST(adsorption_streams_to_the_gpu) { check("adsorption"); }
TEST(nn_streams_to_the_gpu) { check("nn"); }
TEST(heat_streams_to_the_gpu) { check("heat"); }
TEST(circuit_streams_to_the_gpu) { check("circuit"); }

TEST(larger_graphs_stream_to_the_gpu) { gpu_check_larger(ways); }

TEST(a_budget_of_streams_to_the_gpu)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "labels", "kcore", "mst", "pagerank", "adsorption", "nn",
                                           "heat", "circuit", NULL};
    gpu_check_budget(programs, true, gpu_name(), ways);
}

TEST_MAIN
