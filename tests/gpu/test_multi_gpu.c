/* The table of programs (tests/engine/table.h) on the multi engine and slices of a real GPU: two, four and eight. The
 * small graphs in more ways than on the emulator, and some larger ones. TANDEM_TEST_FEW=1 leaves out most of it, for
 * compute-sanitizer. */
#include "engine/multi_ways.h"
#include "gpu/tables.h"

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    bool buckets = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0; /* almost as many as vertices */
    (void)kind;
    if (few()) return graph->vertices > FEW_VERTICES || circuit || buckets ? 0 : 1201;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 61 : 7;
    return circuit || buckets ? 797 : graph->vertices <= TINY ? 397 : 293;
}

/* The larger graphs: `place` names a whole GPU. */
static td_run *run_on_slices(void *context, subject *about, int number)
{
    static const int slices[] = {8, 4, 2};
    table_place *place = context;
    char devices[64];
    snprintf(devices, sizeof devices, "%s/%d", place->devices, slices[number % 3]);
    return multi_run_on(place, devices, about, number / 3);
}

static void check_slices(const char *program, int slices)
{
    char devices[64];
    snprintf(devices, sizeof devices, "%s/%d", gpu_name(), slices);
    gpu_check(program, devices, (gpu_ways){MULTI_WAYS, multi_run_way, stride_of});
}

static void check(const char *program)
{
    check_slices(program, 2);
    check_slices(program, 4);
    check_slices(program, 8);
}

TEST(bfs_on_slices) { check("bfs"); }
TEST(sssp_on_slices) { check("sssp"); }
TEST(wcc_on_slices) { check("wcc"); }
TEST(labels_on_slices) { check("labels"); }
TEST(kcore_on_slices) { check("kcore"); }
TEST(mst_on_slices) { check("mst"); }
TEST(pagerank_on_slices) { check("pagerank"); }
TEST(adsorption_on_slices) { check("adsorption"); }
TEST(nn_on_slices) { check("nn"); }
TEST(heat_on_slices) { check("heat"); }
TEST(circuit_on_slices) { check("circuit"); }

TEST(larger_graphs_on_slices) { gpu_check_larger((gpu_ways){MULTI_WAYS * 3, run_on_slices, stride_of}); }

TEST_MAIN
