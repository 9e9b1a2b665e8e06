/* Rounds inside a launch (paths.loop) on an emulated GPU: fewer launches, the same answers. */
#include "engine/paths_counts.h"

static void compare_values(const char *program, const td_run *one, const td_run *other)
{
    uint32_t n = one->graph->vertices;
    if (strcmp(program, "pagerank") == 0 || strcmp(program, "adsorption") == 0) {
        for (uint32_t v = 0; v < n; v++)
            CHECK(fabs(((const float *)one->values)[v] - ((const float *)other->values)[v]) < 1e-5);
        return;
    }
    for (uint32_t v = 0; v < n; v++) CHECK_EQ(((const uint32_t *)one->values)[v], ((const uint32_t *)other->values)[v]);
}

/* Launches with and without. */
static void compare(const char *program, const td_graph *graph, const char *settings)
{
    char off[200];
    snprintf(off, sizeof off, "%s paths.loop=off", settings);
    td_run *with = run_on(program, graph, settings), *without = run_on(program, graph, off);
    printf("     %s %s: %" PRIu64 " launches in %" PRIu64 " rounds; off %" PRIu64 " in %" PRIu64 "\n", program,
           settings, with->launches, counted(with, "rounds"), without->launches, counted(without, "rounds"));
    CHECK(with->launches < without->launches);
    CHECK(counted(with, "rounds") > 0);
    compare_values(program, with, without);
    td_run_destroy(with);
    td_run_destroy(without);
}

TEST(rounds_inside_a_launch_take_fewer_launches_and_give_the_same_values)
{
    static const char *const programs[] = {"pagerank", "adsorption", "bfs", "labels", "kcore"};
    td_graph *graph = web(400);
    for (int p = 0; p < 5; p++) {
        compare(programs[p], graph, "");
        compare(programs[p], graph, "paths.variant=t");
    }
    compare("pagerank", graph, "paths.variant=w paths.partition_edges=16");
    for (int p = 0; p < 3; p++) compare(programs[p], graph, "paths.walk=warp paths.partition_edges=64"); /* forward */
    compare("pagerank", graph, "paths.partition_edges=16 paths.layers=off");
    td_graph_destroy(graph);
}

/* Layers of an acyclic graph need no decision of the host between them: a walk of every one, in one launch. */
TEST(layers_without_cycles_are_one_launch)
{
    td_graph *graph = named("layered");
    const char *settings = "paths.acyclic=on paths.partition_edges=8";
    td_run *bfs = run_on("bfs", graph, settings), *ranks = run_on("pagerank", graph, settings);
    CHECK(counted(bfs, "layers") > 3);
    CHECK(counted(ranks, "rounds") >= counted(ranks, "layers"));
    CHECK(bfs->launches <= 6);   /* mirrors, first values, marks of busy vertices, the layers, vertices without edges */
    CHECK(ranks->launches <= 9); /* and the scale, twice */
    CHECK_EQ(counted(ranks, "updates"), graph->vertices);
    td_run_destroy(bfs);
    td_run_destroy(ranks);
    td_graph_destroy(graph);
}

/* More rounds than one launch runs: a value crosses one edge in a round where every edge is a path of its own and the
 * warps walk in the wrong order. */
TEST(long_runs_continue_in_further_launches)
{
    enum { LONG = 1500 };
    uint32_t ends[LONG][2];
    for (uint32_t i = 0; i < LONG; i++) ends[i][0] = LONG - i, ends[i][1] = LONG - i - 1;
    td_graph *graph = test_graph_of(LONG + 1, (const uint32_t(*)[2])ends, NULL, LONG, false);
    td_run_options options = on_gpu("bfs", graph);
    options.source = LONG;
    td_run *run = run_of("bfs", graph, options, "paths.variant=t");
    printf("     %" PRIu64 " rounds in %" PRIu64 " launches\n", counted(run, "rounds"), run->launches);
    CHECK(counted(run, "rounds") > 256);
    CHECK(run->launches < 20);
    for (uint32_t v = 0; v <= LONG; v++) CHECK_EQ(((const uint32_t *)run->values)[v], LONG - v);
    run = (td_run_destroy(run), run_of("bfs", graph, options, "paths.merge=off paths.depth=1 paths.layers=off"));
    printf("     %" PRIu64 " rounds in %" PRIu64 " launches\n", counted(run, "rounds"), run->launches);
    for (uint32_t v = 0; v <= LONG; v++) CHECK_EQ(((const uint32_t *)run->values)[v], LONG - v);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(rounds_inside_a_launch_are_refused_on_cores)
{
    td_graph *graph = named("dag");
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){.engine = "paths"}, "paths.loop=on"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "paths.loop");
    td_graph_destroy(graph);
}

TEST_MAIN
