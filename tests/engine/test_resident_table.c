/* Every program of the table on the resident engine, on an emulated GPU, in ways
 * that differ from row to row. The emulator watches every access of every kernel,
 * so graphs are small and few ways are taken of each; TANDEM_TEST_ALL=1 in the
 * environment takes many more. */
#include "engine/resident_ways.h"

#include "device/emulator/sanitizer.h"

/* Vertices: more is left to GPUs. The sanitizers are slower than the watch. */
enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 2000 };

/* Primes, so that every setting gets its turn. One kind of a row's weights is looked at more closely than the others.
 */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (graph->vertices > (circuit ? VERY_TINY : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 7;
    if (circuit || kind != awkward) return 1601;
    return graph->vertices <= TINY ? 563 : 1109;
}

static void check(const char *program)
{
    table_place place = {.devices = narrow_gpu()};
    CHECK_OK(td_pool_create(&place.pool, 2));
    table_ways ways = {RESIDENT_WAYS, resident_run_way, way_stride, table_leave, &place, place.pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(place.pool);
}

TEST(bfs_on_the_emulator) { check("bfs"); }
TEST(sssp_on_the_emulator) { check("sssp"); }
TEST(wcc_on_the_emulator) { check("wcc"); }
TEST(labels_on_the_emulator) { check("labels"); }
TEST(kcore_on_the_emulator) { check("kcore"); }
TEST(mst_on_the_emulator) { check("mst"); }
TEST(pagerank_on_the_emulator) { check("pagerank"); }
TEST(adsorption_on_the_emulator) { check("adsorption"); }
TEST(nn_on_the_emulator) { check("nn"); }
TEST(heat_on_the_emulator) { check("heat"); }
TEST(circuit_on_the_emulator) { check("circuit"); }

TEST_MAIN
