/* The table of programs (tests/engine/table.h) on the stream engine and a real GPU that may
 * hold 5%, 25%, 60% or all of the edges; and some larger graphs, of which many
 * subgraphs cross. TANDEM_TEST_FEW=1 leaves out most of it, for compute-sanitizer. */
#include "engine/stream_ways.h"
#include "gpu/gpu.h"

#include "store/gen.h"

static const char *const larger[] = {"k12", "u13", "grid150", "k16"};
enum { LARGER = sizeof larger / sizeof *larger, FEW_VERTICES = 600 };

static bool few(void) { return getenv("TANDEM_TEST_FEW") != NULL; }

/* Primes, so that every setting gets its turn. */
static int stride_of(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (few()) return graph->vertices > FEW_VERTICES || circuit ? 0 : 2579;
    if (getenv("TANDEM_TEST_ALL") != NULL) return circuit ? 1283 : 61;
    return circuit ? 4271 : graph->vertices <= TINY ? 797 : 1283;
}

/* One whole GPU stays open, so that its context is not made anew for every run. */
static td_device *hold_open(td_loop **loop)
{
    td_device *device = NULL;
    need_gpu();
    CHECK_OK(td_loop_create(loop));
    CHECK_OK(td_devices_open(&device, gpu_name(), &(td_device_options){.loop = *loop}));
    return device;
}

static void check(const char *program)
{
    td_loop *loop = NULL;
    td_device *open = hold_open(&loop);
    stream_place place = {.devices = gpu_name()};
    CHECK_OK(td_pool_create(&place.pool, 4));
    check_program(program, &(table_ways){STREAM_WAYS, stream_run_way, stride_of, stream_leave, &place, place.pool});
    td_pool_destroy(place.pool);
    td_devices_close(open);
    td_loop_destroy(loop);
}

TEST(bfs_streams_to_the_gpu) { check("bfs"); }
TEST(sssp_streams_to_the_gpu) { check("sssp"); }
TEST(wcc_streams_to_the_gpu) { check("wcc"); }
TEST(labels_streams_to_the_gpu) { check("labels"); }
TEST(kcore_streams_to_the_gpu) { check("kcore"); }
TEST(mst_streams_to_the_gpu) { check("mst"); }
TEST(pagerank_streams_to_the_gpu) { check("pagerank"); }
TEST(adsorption_streams_to_the_gpu) { check("adsorption"); }
TEST(nn_streams_to_the_gpu) { check("nn"); }
TEST(heat_streams_to_the_gpu) { check("heat"); }
TEST(circuit_streams_to_the_gpu) { check("circuit"); }

/* Weights are 1 .. 100; programs that take none leave them alone. */
static void check_larger(const char *name, int seed)
{
    td_loop *loop = NULL;
    td_device *open = hold_open(&loop);
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    stream_place place = {.devices = gpu_name()};
    CHECK_OK(td_pool_create(&place.pool, 8));
    CHECK(td_gen_named(name, &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, place.pool));
    table_ways ways = {STREAM_WAYS, stream_run_way, stride_of, stream_leave, &place, place.pool};
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int kind = TEST_UNWEIGHTED; kind <= TEST_U8; kind++)
            (void)check_program_on(td_programs[p]->info->name, graph, name, seed, (test_weights)kind, &ways);
    stream_leave(&place);
    td_graph_destroy(graph);
    td_pool_destroy(place.pool);
    td_devices_close(open);
    td_loop_destroy(loop);
}

TEST(larger_graphs_stream_to_the_gpu)
{
    if (few()) SKIP("TANDEM_TEST_FEW");
    for (int i = 0; i < LARGER; i++) check_larger(larger[i], i);
}

TEST_MAIN
