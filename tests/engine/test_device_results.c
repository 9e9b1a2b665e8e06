/* Work at the ends of a run on one GPU that the GPU does for the host, because the lists are there: a forest's edges with
 * their ends and weights, kcore's numbers of neighbours. The host neither reads the mapped file for it, nor makes what the
 * GPU makes; results are those of the cpu engine, whatever fails is an error. */
#include "engine/failures.h"

#include "gpu/bytes.h"
#include "gpu/ring.h"
#include "planner/plan.h"
#include "run/checkpoint.h"
#include "run/result.h"
#include "store/builder.h"
#include "store/checks.h"
#include "store/gen.h"

static td_pool *pool;

/* The emulated GPU, under the watch unless a real one is named. */
static const char *gpu(const char *emulated)
{
    const char *named = getenv("TANDEM_TEST_GPU");
    return named != NULL ? named : emulated;
}

static const char *write_graph(const td_graph *graph)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", test_path("results.tg"));
    CHECK_OK(td_packed_write(graph, path, NULL));
    return path;
}

static td_run *run_on(const char *engine, const char *devices, const char *program, const td_graph *graph,
                      const char *settings)
{
    td_run_options options = {.engine = engine, .devices = devices, .pool = pool};
    return run_of(program, graph, options, settings);
}

/* Edges, ends, weights, their sum and the digest. */
static void check_equal(const td_run *run, const td_run *wanted, const char *graph, int weights)
{
    td_run_summary a, b;
    uint32_t from = 0, wanted_from = 0;
    CHECK_OK(td_run_summarise(run, pool, &a));
    CHECK_OK(td_run_summarise(wanted, pool, &b));
    bool equal = run->edge_count == wanted->edge_count && a.digest == b.digest && a.groups == b.groups &&
                 run->total_weight == wanted->total_weight;
    for (uint64_t i = 0; i < wanted->edge_count && equal; i++) {
        td_named_edge one = td_run_named_edge(run, i, &from), other = td_run_named_edge(wanted, i, &wanted_from);
        equal = run->edges[i] == wanted->edges[i] && one.source == other.source && one.target == other.target &&
                one.weight == other.weight && td_run_forest_edge(run, i, 0).source == from;
    }
    if (!equal) TEST_FAIL("%s, %s: the forest is another one", graph, test_weight_names[weights]);
}

/* On every graph with every kind of weight, under the emulator's watch: with lists in the file, whose forests the GPU lists,
 * except those of weights that are ranked, which are in memory. */
TEST(forests_of_mapped_files_are_listed_by_the_gpu)
{
    int listed = 0;
    td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK); /* smaller lists would be copied into memory */
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int weights = TEST_U8; weights <= TEST_F64; weights++) {
            if (test_graphs[g].vertices == 0 || test_graphs[g].vertices > 2000) continue;
            td_graph *graph = test_graph(g, weights, NULL), *mapped = NULL;
            td_run *wanted = run_on("cpu", NULL, "mst", graph, "");
            CHECK_OK(td_packed_map_unchecked(&mapped, write_graph(graph), pool));
            td_run *run = run_on("resident", gpu("emu"), "mst", mapped, "");
            check_equal(run, wanted, test_graphs[g].name, weights);
            CHECK_EQ(run->forest != NULL, weights != TEST_F64);
            listed += run->forest != NULL && run->edge_count > 0;
            td_run_destroy(run);
            td_run_destroy(wanted);
            td_graph_destroy(mapped);
            td_graph_destroy(graph);
        }
    td_gpu_ring_limits(0, 0);
    CHECK(listed > 80);
}

/* A value's bytes have marks for 61 edges a vertex: lists of 200 edges take several windows. */
static td_graph *dense(void)
{
    td_gen_spec spec = {.kind = "uniform", .vertices = 1500, .degree = 100, .seed = 9};
    td_build_options build = {.symmetrize = true, .attach_weights = true, .weight_low = 1, .weight_high = 1e6};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK(graph->edges > 3 * 61 * (uint64_t)graph->vertices);
    return graph;
}

/* The edges come back through the ring, or at once where it does not pay. */
TEST(dense_forests_are_listed_window_by_window)
{
    td_graph *graph = dense(), *mapped = NULL;
    const char *path = write_graph(graph);
    td_run *wanted = run_on("cpu", NULL, "mst", graph, "");
    for (int way = 0; way < 2; way++) {
        td_gpu_ring_limits(way == 0 ? 1 : 2 * sizeof(td_forest_edge) * graph->vertices, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_run *run = run_on("resident", gpu(narrow_gpu()), "mst", mapped, "");
        CHECK(run->forest != NULL && td_checks_pending(mapped, mapped->out.targets));
        check_equal(run, wanted, "dense", TEST_U32);
        td_run_destroy(run);
        td_graph_destroy(mapped);
        td_gpu_ring_limits(0, 0);
    }
    td_run_destroy(wanted);
    td_graph_destroy(graph);
}

/* Loops, lists in both directions, in-edges alone: where the GPU counts, the host has no input. */
TEST(neighbours_of_kcore_are_counted_by_the_gpu)
{
    static const char *const degrees[] = {"both", "in", "neighbours"}, *const ways[] = {"peel", "rounds", "histogram"};
    int counted = 0;
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int d = 0; d < 3; d++)
            for (int way = 0; way < 3; way++) {
                char settings[96], cores[32];
                if (test_graphs[g].vertices == 0 || test_graphs[g].vertices > 2000) continue;
                td_graph *graph = test_graph(g, TEST_UNWEIGHTED, NULL);
                snprintf(cores, sizeof cores, "kcore.degree=%s", degrees[d]);
                snprintf(settings, sizeof settings, "%s resident.kcore=%s", cores, ways[way]);
                td_run *wanted = run_on("cpu", NULL, "kcore", graph, cores);
                td_run *run = run_on("resident", gpu(way == 0 ? "emu" : narrow_gpu()), "kcore", graph, settings);
                bool by_gpu = d != 1 || run->graph->symmetric;
                if (memcmp(run->values, wanted->values, graph->vertices * sizeof(uint32_t)) != 0)
                    TEST_FAIL("%s, %s: other cores", test_graphs[g].name, settings);
                CHECK_EQ(run->inputs[0] == NULL, by_gpu);
                CHECK(wanted->inputs[0] != NULL);
                counted += by_gpu;
                td_run_destroy(run);
                td_run_destroy(wanted);
                td_graph_destroy(graph);
            }
    CHECK(counted > 100);
}

static uint64_t stated(const char *engine, const td_graph *graph, const char *checkpoint)
{
    td_plan *plan = NULL;
    td_settings none = {0};
    td_run_options options = {.pool = pool, .settings = &none, .devices = strcmp(engine, "cpu") != 0 ? narrow_gpu() : NULL,
                              .checkpoint = checkpoint, .gpu_edges = strcmp(engine, "stream") == 0 ? 0.5 : 0};
    CHECK_OK(td_plan_make(&plan, engine, program_of("kcore"), graph, &options));
    CHECK_EQ(plan->options.counts_neighbours, strcmp(engine, "resident") == 0 && checkpoint == NULL);
    uint64_t bytes = plan->program_bytes - td_checkpoint_bytes(plan->program, plan->graph, &plan->options);
    td_plan_destroy(plan);
    return bytes;
}

/* Checkpoints are about the input, which the host makes then. */
TEST(a_plan_states_the_input_of_kcore_only_where_the_host_makes_it)
{
    td_graph *graph = dense();
    uint64_t input = graph->vertices * sizeof(double);
    CHECK_EQ(stated("resident", graph, test_folder()), stated("resident", graph, NULL) + input);
    (void)stated("cpu", graph, NULL);
    (void)stated("stream", graph, NULL);
    td_graph_destroy(graph);
}

/* On a GPU whose memory is its own, groups are named when the host has nothing but the result. */
TEST(a_plan_states_the_names_of_groups)
{
    td_graph *graph = dense();
    td_settings none = {0};
    td_run_options options = {.pool = pool, .settings = &none};
    td_gpu_bytes need;
    CHECK_OK(td_gpu_count_bytes(program_of("mst"), graph, &options, &td_gpu_default_choice, &need));
    uint64_t vertex = 2 * sizeof(uint32_t) + sizeof(uint64_t); /* its label, its name, an edge */
    CHECK_EQ(need.host, graph->vertices * vertex);
    td_graph_destroy(graph);
}

/* Every request for memory fails once, until a run needs fewer. Without a ring lists are copied into memory, where the graph
 * keeps them. */
static void check_allocations(const char *program, const char *path, td_run_options options)
{
    bool all = false;
    for (uint64_t nth = 1; !all; nth++) {
        td_graph *mapped = NULL;
        td_run *run = NULL;
        uint64_t held = td_memory().now;
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        uint64_t requests = td_memory().requests;
        td_alloc_fail_at(nth);
        td_status status = try_run(&run, program, mapped, options, "");
        td_alloc_fail_at(0);
        all = status == TD_OK && td_memory().requests - requests < nth;
        td_run_destroy(run);
        td_graph_destroy(mapped);
        if (status != TD_OK && status != TD_NO_MEMORY) TEST_FAIL("%s, request %d: %s", program, (int)nth, td_last_message());
        CHECK_EQ(td_memory().now, held);
    }
}

/* Lists in the file; every operation of the device fails once as well. */
TEST(what_fails_on_the_way_is_an_error_and_leaves_nothing)
{
    static const char *const programs[] = {"mst", "kcore"};
    td_graph *graph = test_graph(test_graph_named("two components, symmetric"), TEST_U8, NULL), *mapped = NULL;
    const char *path = write_graph(graph);
    td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
    for (int p = 0; p < 2; p++) {
        td_run_options options = {.engine = "resident", .devices = "emu", .pool = pool};
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        check_every_operation(program_of(programs[p]), mapped, options, "", (failures){200, 1, 10});
        CHECK(td_checks_pending(mapped, mapped->out.targets));
        td_graph_destroy(mapped);
        check_allocations(programs[p], path, options);
    }
    td_gpu_ring_limits(0, 0);
    td_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    CHECK_OK(td_pool_create(&pool, 2));
    int result = test_main(argc, argv);
    td_pool_destroy(pool);
    return result;
}
