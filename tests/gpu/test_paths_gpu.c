/* The table of programs (tests/engine/table.h) on the paths engine and a real GPU, whole and in four slices.
 * Runs are drawn so that every program meets every setting; TANDEM_TEST_ALL=1 runs several times as many,
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

/* Rows with a number of iterations do not run. */
static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices > TINY ? 0 : 2;
    return graph->vertices > LARGE ? 1 : 3;
}

static void check(const char *program)
{
    gpu_check(program, gpu_name(), (gpu_ways){PATHS_GPU_WAYS, paths_run_gpu_way, stride_of, runs_of});
}

TEST(bfs_along_paths_of_the_gpu) { check("bfs"); }
TEST(sssp_along_paths_of_the_gpu) { check("sssp"); }
TEST(labels_along_paths_of_the_gpu) { check("labels"); }
TEST(kcore_along_paths_of_the_gpu) { check("kcore"); }
TEST(pagerank_along_paths_of_the_gpu) { check("pagerank"); }
TEST(adsorption_along_paths_of_the_gpu) { check("adsorption"); }
TEST(circuit_along_paths_of_the_gpu) { check("circuit"); }

/* Four slices share the paths. */
static int slices_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0;
    (void)kind;
    if (few()) return graph->vertices > FEW_VERTICES || circuit ? 0 : 409;
    if (circuit) return graph->vertices > VERY_TINY ? 0 : 293;
    return getenv("TANDEM_TEST_ALL") != NULL ? 13 : graph->vertices <= TINY ? 97 : 211;
}

static int slices_runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices > VERY_TINY ? 0 : 1;
    return graph->vertices > LARGE ? 1 : 2;
}

static void check_slices(const char *program)
{
    char devices[64];
    snprintf(devices, sizeof devices, "%s/4", gpu_name());
    gpu_check(program, devices, (gpu_ways){PATHS_SEVERAL_WAYS, paths_run_several_way, slices_stride, slices_runs_of});
}

TEST(bfs_along_paths_of_slices) { check_slices("bfs"); }
TEST(sssp_along_paths_of_slices) { check_slices("sssp"); }
TEST(labels_along_paths_of_slices) { check_slices("labels"); }
TEST(kcore_along_paths_of_slices) { check_slices("kcore"); }
TEST(pagerank_along_paths_of_slices) { check_slices("pagerank"); }
TEST(adsorption_along_paths_of_slices) { check_slices("adsorption"); }
TEST(circuit_along_paths_of_slices) { check_slices("circuit"); }

TEST_MAIN
