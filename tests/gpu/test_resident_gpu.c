/* The table of programs (tests/engine/table.h) on the resident engine and a real GPU:
 * the whole one and one slice of eight. The small graphs in more ways than on the
 * emulator, and some larger ones on which blocks, clusters and heavy vertices meet in
 * earnest. TANDEM_TEST_FEW=1 leaves out most of it, for compute-sanitizer. */
#include "engine/resident_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of_all(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (few()) return graph->vertices > FEW_VERTICES || circuit ? 0 : 1201;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 61 : 7;
    return circuit ? 797 : graph->vertices <= TINY ? 131 : 293;
}

static int stride_of_some(const row *of, const td_graph *graph, test_weights kind)
{
    return stride_of_all(of, graph, kind) > 0 ? 1201 : 0;
}

static void check(const char *program)
{
    char slice[64];
    gpu_check(program, gpu_name(), (gpu_ways){RESIDENT_WAYS, resident_run_way, stride_of_all, NULL});
    snprintf(slice, sizeof slice, "%s/8#3", gpu_name());
    gpu_check(program, slice, (gpu_ways){RESIDENT_WAYS, resident_run_way, stride_of_some, NULL});
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

TEST(larger_graphs_on_the_gpu) { gpu_check_larger((gpu_ways){RESIDENT_WAYS, resident_run_way, stride_of_all, NULL}); }

TEST_MAIN
