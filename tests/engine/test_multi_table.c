/* Every program of the table on the multi engine, on two and three emulated GPUs that copy through the host and on eight
 * with the links of a DGX-1, in ways that differ from row to row. The emulator watches every access of every kernel, so
 * graphs are small and few ways are taken of each; TANDEM_TEST_ALL=1 in the environment takes many more. */
#include "engine/multi_machines.h"
#include "engine/multi_ways.h"

#include "device/emulator/sanitizer.h"

/* Vertices: more is left to GPUs. The sanitizers are slower than the watch. */
enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 2004, FEW = 130 };

/* Primes, so that every setting and machine gets its turn. One kind of a row's weights is looked at more closely than the
 * others. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (graph->vertices > (circuit ? VERY_TINY : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 17;
    if (kind != awkward && graph->vertices > FEW) return 0;
    if (circuit || kind != awkward) return 5039;
    return graph->vertices <= TINY ? 1601 : graph->vertices <= 600 ? 2503 : 5039;
}

static void check(const char *program)
{
    multi_places places = {.machine = {"emu:2", "emu:3", cube_mesh("cube.topology", "")}, .machines = 3};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    places.place.pool = pool;
    check_program(program, &(table_ways){MULTI_WAYS * 3, multi_run_in_turn, way_stride, table_leave, &places, pool});
    td_pool_destroy(pool);
}

TEST(bfs_on_several_gpus) { check("bfs"); }
TEST(sssp_on_several_gpus) { check("sssp"); }
TEST(wcc_on_several_gpus) { check("wcc"); }
TEST(labels_on_several_gpus) { check("labels"); }
TEST(kcore_on_several_gpus) { check("kcore"); }
TEST(mst_on_several_gpus) { check("mst"); }
TEST(pagerank_on_several_gpus) { check("pagerank"); }
TEST(adsorption_on_several_gpus) { check("adsorption"); }
TEST(nn_on_several_gpus) { check("nn"); }
TEST(heat_on_several_gpus) { check("heat"); }
TEST(circuit_on_several_gpus) { check("circuit"); }

TEST_MAIN
