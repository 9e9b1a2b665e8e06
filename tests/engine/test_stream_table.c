/* Every program of the table on the stream engine, on an emulated GPU that may hold 5%,
 * 25%, 60% or all of the edges, in ways that differ from row to row. TANDEM_TEST_ALL=1
 * in the environment takes many more of them. */
#include "engine/stream_ways.h"

#include "device/emulator/sanitizer.h"

/* Vertices: more is left to GPUs. The sanitizers are slower than the watch. */
enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 2000 };

/* Primes, so that every setting gets its turn. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    bool rounds = strcmp(of->program, "sssp") == 0 || strcmp(of->program, "kcore") == 0 ||
        strcmp(of->program, "mst") == 0; /* hundreds */
    bool settles = program_of(of->program)->info->kind == TD_KIND_GAS && !program_of(of->program)->cpu[0].fused;
    if (graph->vertices > (circuit ? VERY_TINY - 1 : rounds ? MANY / 8 : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 37;
    if (settles && graph->vertices > MANY / 20) return 0; /* differences are pushed for hundreds of rounds */
    if (circuit || settles || kind != awkward) return 7919;
    return graph->vertices <= TINY ? 3299 : 5501;
}

static void check(const char *program)
{
    table_place place = {.devices = narrow_gpu()};
    CHECK_OK(td_pool_create(&place.pool, 2));
    table_ways ways = {STREAM_WAYS, stream_run_way, way_stride, table_leave, &place, place.pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(place.pool);
}

TEST(bfs_streams) { check("bfs"); }
TEST(sssp_streams) { check("sssp"); }
TEST(wcc_streams) { check("wcc"); }
TEST(labels_streams) { check("labels"); }
TEST(kcore_streams) { check("kcore"); }
TEST(mst_streams) { check("mst"); }
TEST(pagerank_streams) { check("pagerank"); }
TEST(adsorption_streams) { check("adsorption"); }
TEST(nn_streams) { check("nn"); }
TEST(heat_streams) { check("heat"); }
TEST(circuit_streams) { check("circuit"); }

TEST_MAIN
