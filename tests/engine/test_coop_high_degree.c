/* The coop engine where one vertex has more edges than a worker or a warp takes at a time: on either side they are set
 * aside and cut into pieces, and every one of them is told, once. */
#include "engine/coop_ways.h"

#include "run/verify_run.h"
#include "store/gen.h"

enum { LEAVES = 50000 };

static td_graph *star(void)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "star", .vertices = LEAVES + 1, .seed = 1, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_low = 1, .weight_high = 9};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static void check_star(const char *program, double cap, const char *settings)
{
    const char *claims;
    td_pool *pool = NULL;
    td_graph *graph = star();
    CHECK_OK(td_pool_create(&pool, 2));
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = cap, .pool = pool,
                              .has_source = program_of(program)->info->needs_source};
    td_run *run = run_of(program, graph, options, settings);
    subject about = {.graph = graph, .graph_name = "star", .weights_name = "u8"};
    CHECK_STR(run->engine, "coop");
    CHECK_OK(td_run_verify(run, pool, &claims));
    coop_check_edges(&about, run);
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(most_of_a_heavy_vertex_is_the_workers) { check_star("sssp", 0.2, "coop.invoke=always coop.link=off"); }
TEST(most_of_a_heavy_vertex_is_the_gpus) { check_star("sssp", 0.9, "coop.invoke=always coop.on_demand=off"); }
TEST(a_heavy_vertex_is_the_workers_alone) { check_star("sssp", 0.5, "coop.invoke=never"); }
TEST(a_heavy_vertex_has_a_label) { check_star("labels", 0.2, "coop.invoke=always coop.link=off"); }

TEST_MAIN
