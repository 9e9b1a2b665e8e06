/* What only long lists and long runs of the resident engine reach: vertices of several pieces, lists that a first-hit
 * pull leaves to whole blocks, and asynchronous pulls, which settle sooner. Against the cpu engine, and verified. */
#include "engine/ways.h"

#include "device/emulator/sanitizer.h"
#include "run/verify_run.h"

enum { LEAVES = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 4500 : 9000, PATH = 8 };

/* Two hubs with the same leaves, and a path that reaches one of them last: its list is long and nobody in it is
 * active for a while. */
static td_graph *hubs(bool symmetric)
{
    uint32_t (*ends)[2] = NULL, *weights = NULL;
    uint64_t count = 0, vertices = LEAVES + PATH + 2;
    CHECK_OK(TD_NEW(&ends, 3 * vertices, "edges"));
    CHECK_OK(TD_NEW(&weights, 3 * vertices, "weights"));
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
        ends[count][0] = 0, ends[count][1] = 2 + leaf, weights[count++] = 1 + leaf % 90;
        ends[count][0] = 2 + leaf, ends[count][1] = 1, weights[count++] = 1 + leaf % 70;
    }
    for (uint32_t i = 0; i < PATH; i++) {
        uint32_t from = LEAVES + 2 + i, to = i + 1 < PATH ? from + 1 : 0;
        ends[count][0] = from, ends[count][1] = to, weights[count++] = 3;
    }
    td_graph *graph = test_graph_of(vertices, (const uint32_t (*)[2])ends, weights, count, symmetric);
    td_free(ends);
    td_free(weights);
    return graph;
}

static void compare(const td_graph *graph, const char *program, const char *settings)
{
    const td_program_info *info = program_of(program)->info;
    td_run_options options = {.has_source = info->needs_source, .source = LEAVES + 2, .parents = info->gives_parents};
    const char *claims;
    const char *own = strncmp(settings, "kcore.degree=in", 15) == 0 ? "kcore.degree=in" : "";
    td_run *cpu = run_of(program, graph, options, own);
    options.engine = "resident";
    options.devices = "emu";
    td_run *run = run_of(program, graph, options, settings);
    if (memcmp(cpu->values, run->values, graph->vertices * sizeof(uint32_t)) != 0)
        TEST_FAIL("%s with '%s' on %s hubs is not what the cpu engine finds", program, settings,
                  graph->symmetric ? "symmetric" : "directed");
    CHECK_OK(td_run_verify(run, NULL, &claims));
    td_run_destroy(cpu);
    td_run_destroy(run);
}

TEST(hubs_of_several_pieces_are_done_whole)
{
    static const struct {
        const char *program, *settings;
    } cases[] = {{"bfs", ""}, {"bfs", "resident.direction=pull"},
                 {"bfs", "resident.direction=push resident.balance=iwb"}, {"sssp", ""},
                 {"sssp", "resident.direction=pull"}, {"kcore", ""}, {"kcore", "resident.kcore=peel"},
                 {"kcore", "resident.kcore=histogram"}, {"kcore", "kcore.degree=in resident.kcore=histogram"},
                 {"kcore", "kcore.degree=in resident.kcore=peel"}, {"labels", "resident.direction=pull"},
                 {"wcc", "resident.samples=0"}, {"wcc", ""}, {"mst", ""}};
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        td_graph *graph = hubs(symmetric == 1);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) compare(graph, cases[i].program, cases[i].settings);
        td_graph_destroy(graph);
    }
}

/* Layers, each vertex of one leading to all of the next: ranks flow one way, from lower to higher numbers. */
enum { LAYERS = 9, WIDTH = 48 };

static td_graph *layers(void)
{
    uint32_t (*ends)[2] = NULL;
    uint64_t count = 0;
    CHECK_OK(TD_NEW(&ends, (LAYERS - 1) * WIDTH * WIDTH, "edges"));
    for (uint32_t layer = 0; layer + 1 < LAYERS; layer++)
        for (uint32_t pair = 0; pair < WIDTH * WIDTH; pair++) {
            ends[count][0] = layer * WIDTH + pair / WIDTH;
            ends[count++][1] = (layer + 1) * WIDTH + pair % WIDTH;
        }
    td_graph *graph = test_graph_of(LAYERS * WIDTH, (const uint32_t (*)[2])ends, NULL, count, false);
    td_free(ends);
    return graph;
}

static uint32_t iterations_of(const td_graph *graph, td_mode mode, const char *settings)
{
    td_run_options options = {.engine = "resident", .devices = "emu", .mode = mode, .has_tolerance = true,
                              .tolerance = 1e-9};
    td_run *run = run_of("pagerank", graph, options, settings);
    CHECK(run->converged);
    uint32_t iterations = run->iterations;
    td_run_destroy(run);
    return iterations;
}

TEST(asynchronous_pulls_settle_sooner)
{
    td_graph *graph = layers();
    uint32_t sync = iterations_of(graph, TD_MODE_SYNC, "pagerank.dangling=ignore");
    uint32_t async = iterations_of(graph, TD_MODE_ASYNC, "pagerank.dangling=ignore");
    printf("    %u iterations, asynchronously %u\n", sync, async);
    CHECK_EQ(sync, LAYERS + 1);
    CHECK(async < sync);
    td_graph_destroy(graph);
}

TEST_MAIN
