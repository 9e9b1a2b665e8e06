/* The table of programs (tests/engine/table.h) on the paths engine and a real GPU, and some larger graphs.
 * TANDEM_TEST_FEW=1 leaves out most of it, for compute-sanitizer. */
#include "engine/paths_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of rounds */
    (void)kind;
    if (few()) return graph->vertices > FEW_VERTICES || circuit ? 0 : 211;
    if (circuit) return graph->vertices > TINY ? 0 : 101;
    return getenv("TANDEM_TEST_ALL") != NULL ? 7 : graph->vertices <= TINY ? 29 : 53;
}

static void check(const char *program)
{
    gpu_check(program, gpu_name(), (gpu_ways){PATHS_GPU_WAYS, paths_run_gpu_way, stride_of});
}

TEST(bfs_along_paths_of_the_gpu) { check("bfs"); }
TEST(sssp_along_paths_of_the_gpu) { check("sssp"); }
TEST(labels_along_paths_of_the_gpu) { check("labels"); }
TEST(kcore_along_paths_of_the_gpu) { check("kcore"); }
TEST(pagerank_along_paths_of_the_gpu) { check("pagerank"); }
TEST(adsorption_along_paths_of_the_gpu) { check("adsorption"); }
TEST(circuit_along_paths_of_the_gpu) { check("circuit"); }

TEST_MAIN
