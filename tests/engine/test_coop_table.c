/* Every program of the table on the coop engine, with an emulated GPU that may hold 5%, 10%, 25%, 50% or 90% of the
 * edges, in ways that differ from row to row. TANDEM_TEST_ALL=1 in the environment takes many more of them. */
#include "engine/coop_ways.h"

#include "device/emulator/sanitizer.h"

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 2000 };

/* Primes, so that every setting gets its turn. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (!td_coop_cooperates(program_of(of->program))) return graph->vertices <= TINY ? 2003 : 0; /* the cpu engine's */
    if (graph->vertices > (circuit ? VERY_TINY : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 17;
    if (circuit || kind != awkward) return 2003;
    return graph->vertices <= TINY ? 541 : 1201;
}

static void check(const char *program)
{
    table_place place = {.devices = narrow_gpu()};
    CHECK_OK(td_pool_create(&place.pool, 2));
    td_log_set_level(TD_LOG_WARN); /* it says when it stands aside */
    table_ways ways = {COOP_WAYS, coop_run_way, way_stride, table_leave, &place, place.pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(place.pool);
}

TEST(bfs_on_gpu_and_cpu) { check("bfs"); }
TEST(sssp_on_gpu_and_cpu) { check("sssp"); }
TEST(wcc_on_gpu_and_cpu) { check("wcc"); }
TEST(labels_on_gpu_and_cpu) { check("labels"); }
TEST(kcore_on_gpu_and_cpu) { check("kcore"); }
TEST(mst_on_gpu_and_cpu) { check("mst"); }
TEST(pagerank_on_gpu_and_cpu) { check("pagerank"); }
TEST(adsorption_on_gpu_and_cpu) { check("adsorption"); }
TEST(nn_on_gpu_and_cpu) { check("nn"); }
TEST(heat_on_gpu_and_cpu) { check("heat"); }
TEST(circuit_on_gpu_and_cpu) { check("circuit"); }

TEST_MAIN
