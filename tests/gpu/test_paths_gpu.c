/* The table of programs (tests/engine/table.h) on the paths engine and a real GPU, whole and in four slices. Runs
 * are drawn so that every program meets every setting; TANDEM_TEST_ALL=1 runs several times as many,
 * TANDEM_TEST_BUDGET=30 as many as that many seconds allow. */
#include "engine/paths_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of rounds */
    (void)kind;
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

static const gpu_ways ways = {PATHS_GPU_WAYS, paths_run_gpu_way, stride_of, runs_of, false};

static void check(const char *program) { gpu_check(program, gpu_name(), ways); }

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
    if (circuit) return graph->vertices > VERY_TINY ? 0 : 293;
    return getenv("TANDEM_TEST_ALL") != NULL ? 13 : graph->vertices <= TINY ? 97 : 211;
}

static int slices_runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices > VERY_TINY ? 0 : 1;
    return graph->vertices > LARGE ? 1 : 2;
}

static const gpu_ways slices_ways = {PATHS_SEVERAL_WAYS, paths_run_several_way, slices_stride, slices_runs_of, false};

static const char *slices_name(void)
{
    static char devices[64];
    snprintf(devices, sizeof devices, "%s/4", gpu_name());
    return devices;
}

static void check_slices(const char *program) { gpu_check(program, slices_name(), slices_ways); }

TEST(bfs_along_paths_of_slices) { check_slices("bfs"); }
TEST(sssp_along_paths_of_slices) { check_slices("sssp"); }
TEST(labels_along_paths_of_slices) { check_slices("labels"); }
TEST(kcore_along_paths_of_slices) { check_slices("kcore"); }
TEST(pagerank_along_paths_of_slices) { check_slices("pagerank"); }
TEST(adsorption_along_paths_of_slices) { check_slices("adsorption"); }
TEST(circuit_along_paths_of_slices) { check_slices("circuit"); }

static const char *const programs[] = {"bfs", "sssp", "labels", "kcore", "pagerank", "adsorption", "circuit", NULL};

TEST(a_budget_along_paths_of_the_gpu) { gpu_check_budget(programs, false, gpu_name(), ways); }
TEST(a_budget_along_paths_of_slices) { gpu_check_budget(programs, false, slices_name(), slices_ways); }

TEST_MAIN
