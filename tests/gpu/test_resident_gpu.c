/* The table of programs (tests/engine/table.h) on the resident engine and a real GPU: the whole one and one slice of
 * eight. The small graphs in more ways than on the emulator, and some larger ones on which blocks, clusters and
 * heavy vertices meet in earnest. TANDEM_TEST_BUDGET=30 runs as many as that many seconds allow. */
#include "engine/resident_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of_all(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 61 : 7;
    return circuit ? 797 : graph->vertices <= TINY ? 131 : 293;
}

static int stride_of_some(const row *of, const td_graph *graph, test_weights kind)
{
    return stride_of_all(of, graph, kind) > 0 ? 1201 : 0;
}

/* Under a budget; the whole table takes strides. */
static int runs_of(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    if (strcmp(of->program, "circuit") == 0) return graph->vertices > TINY ? 0 : 1;
    return graph->vertices > LARGE ? 1 : 3;
}

static const gpu_ways whole = {RESIDENT_WAYS, resident_run_way, stride_of_all, runs_of, .strides_only = true};
static const gpu_ways one_slice = {RESIDENT_WAYS, resident_run_way, stride_of_some, runs_of, .strides_only = true};

static const char *slice_name(void)
{
    static char slice[64];
    snprintf(slice, sizeof slice, "%s/8#3", gpu_name());
    return slice;
}

static void check(const char *program)
{
    gpu_check(program, gpu_name(), whole);
    gpu_check(program, slice_name(), one_slice);
}

TEST(bfs_on_the_gpu) { check("bfs"); }
TEST(sssp_on_the_gpu) { check("sssp"); }
TEST(wcc_on_the_gpu) { check("wcc"); }
TEST(labels_on_the_gpu) { check("labels"); }
TEST(kcore_on_the_gpu) { check("kcore"); }
TEST(mst_on_the_gpu) { check("mst"); }
TEST(pagerank_on_the_gpu) { check("pagerank"); }
TEST(adsorption_on_the_gpu) { check("adsorption"); }
TEST(nn_on_the_gpu) { check("nn"); }
TEST(heat_on_the_gpu) { check("heat"); }
TEST(circuit_on_the_gpu) { check("circuit"); }

TEST(larger_graphs_on_the_gpu) { gpu_check_larger(whole); }

static const char *const programs[] = {"bfs", "sssp", "wcc", "labels", "kcore", "mst", "pagerank", "adsorption", "nn",
                                       "heat", "circuit", NULL};

TEST(a_budget_on_the_gpu) { gpu_check_budget(programs, true, gpu_name(), whole); }
TEST(a_budget_on_a_slice) { gpu_check_budget(programs, false, slice_name(), one_slice); }

TEST_MAIN
