/* The table of programs (tests/engine/table.h) on the resident engine and a real GPU:
 * the whole one and one slice of eight. The small graphs in more ways than on the
 * emulator, and some larger ones on which blocks, clusters and heavy vertices meet in
 * earnest. TANDEM_TEST_FEW=1 leaves out most of it, for compute-sanitizer. */
#include "engine/resident_ways.h"
#include "gpu/gpu.h"

#include "store/gen.h"

static const char *const larger[] = {"k12", "u13", "grid150", "k16"};
enum { LARGER = sizeof larger / sizeof *larger, FEW_VERTICES = 600 };

static bool few(void) { return getenv("TANDEM_TEST_FEW") != NULL; }

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

/* One whole GPU stays open, so that its context is not made anew for every run. */
static td_device *hold_open(td_loop **loop)
{
    td_device *device = NULL;
    need_gpu();
    CHECK_OK(td_loop_create(loop));
    CHECK_OK(td_devices_open(&device, gpu_name(), &(td_device_options){.loop = *loop}));
    return device;
}

static void check_on(const char *program, const char *devices, int (*stride)(const row *, const td_graph *, test_weights))
{
    td_loop *loop = NULL;
    td_device *open = hold_open(&loop);
    resident_place place = {.devices = devices};
    CHECK_OK(td_pool_create(&place.pool, 2));
    check_program(program, &(table_ways){RESIDENT_WAYS, resident_run_way, stride, resident_leave, &place, place.pool});
    td_pool_destroy(place.pool);
    td_devices_close(open);
    td_loop_destroy(loop);
}

static void check(const char *program)
{
    char slice[64];
    check_on(program, gpu_name(), stride_of_all);
    snprintf(slice, sizeof slice, "%s/8#3", gpu_name());
    check_on(program, slice, stride_of_some);
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

/* Weights are 1 .. 100; programs that take none leave them alone. */
static void check_larger(const char *name, int seed)
{
    td_loop *loop = NULL;
    td_device *open = hold_open(&loop);
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    resident_place place = {.devices = gpu_name()};
    CHECK_OK(td_pool_create(&place.pool, 8));
    CHECK(td_gen_named(name, &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, place.pool));
    table_ways ways = {RESIDENT_WAYS, resident_run_way, stride_of_all, resident_leave, &place, place.pool};
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int kind = TEST_UNWEIGHTED; kind <= TEST_U8; kind++)
            (void)check_program_on(td_programs[p]->info->name, graph, name, seed, (test_weights)kind, &ways);
    resident_leave(&place);
    td_graph_destroy(graph);
    td_pool_destroy(place.pool);
    td_devices_close(open);
    td_loop_destroy(loop);
}

TEST(larger_graphs_on_the_gpu)
{
    if (few()) SKIP("TANDEM_TEST_FEW");
    for (int i = 0; i < LARGER; i++) check_larger(larger[i], i);
}

TEST_MAIN
