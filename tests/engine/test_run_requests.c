/* What a run refuses, and what it leaves behind when it cannot go on. */
#include "engine/engine.h"
#include "running.h"

#include "base/cancel.h"

static td_status attempt(const char *program, const td_graph *graph, td_run_options options)
{
    td_run *run = NULL;
    td_status status = td_run_program(&run, td_program_named(program), graph, &options);
    if (status == TD_OK) td_run_destroy(run);
    else CHECK(run == NULL);
    return status;
}

static void refuse(const char *program, const char *edges, td_run_options options, td_status status, const char *words)
{
    td_graph *graph = graph_of(edges);
    CHECK_STATUS(attempt(program, graph, options), status);
    CHECK_CONTAINS(td_last_message(), words);
    td_graph_destroy(graph);
}

static const td_run_options FROM_0 = {.has_source = true};

TEST(what_a_program_does_not_take_is_refused)
{
    refuse("bfs", "1 2\n", (td_run_options){0}, TD_USAGE, "bfs needs a source vertex");
    refuse("wcc", "1 2\n", FROM_0, TD_USAGE, "wcc starts everywhere");
    refuse("wcc", "1 2\n", (td_run_options){.parents = true}, TD_USAGE, "wcc has no parents");
    refuse("heat", "1 2\n", (td_run_options){.mode = TD_MODE_ASYNC}, TD_USAGE, "synchronously only");
    refuse("wcc", "1 2\n", (td_run_options){.mode = TD_MODE_ASYNC}, TD_USAGE, "async has no effect on wcc");
    refuse("bfs", "1 2\n", (td_run_options){.has_source = true, .has_tolerance = true, .tolerance = 1}, TD_USAGE,
           "takes no tolerance");
    refuse("pagerank", "1 2\n", (td_run_options){.has_tolerance = true, .tolerance = -1}, TD_USAGE, "at least 0");
    refuse("bfs", "1 2\n", (td_run_options){.has_source = true, .source = 2}, TD_INVALID, "beyond the last vertex");
}

TEST(weights_that_a_program_cannot_use_are_refused)
{
    refuse("sssp", "1 2\n", FROM_0, TD_INVALID, "weights 1:1 makes every weight 1");
    refuse("mst", "1 2\n", (td_run_options){0}, TD_INVALID, "mst needs edge weights");
    refuse("sssp", "7 8 1.5\n8 9 -2\n", FROM_0, TD_INVALID, "the edge from 8 to 9 has weight -2");
    refuse("circuit", "7 8 1\n8 9 0\n", (td_run_options){0}, TD_INVALID, "the edge from 8 to 9 has weight 0");
    refuse("mst", "1 2 4294967295\n", (td_run_options){0}, TD_LIMIT, "4294967294");
    td_settings single = SET("sssp.precision=single");
    refuse("sssp", "1 2 4294967000\n2 3 4294967000\n", (td_run_options){.has_source = true, .settings = &single},
           TD_LIMIT, "the distance of vertex 3 is beyond 4294967293, the largest of 32 bits; give "
           "sssp.precision=double");
    td_settings_clear(&single);
}

/* Writes the file and gives "key=path". */
static const char *file_setting(const char *key, const char *text)
{
    static char setting[700];
    const char *path = test_path("values.txt");
    test_write_file(path, text, strlen(text));
    snprintf(setting, sizeof setting, "%s=%s", key, path);
    return setting;
}

static void refuse_file(const char *program, const char *key, const char *text, const char *words)
{
    td_settings set = SET(file_setting(key, text));
    refuse(program, "1 2 1\n2 3 1\n", (td_run_options){.settings = &set}, TD_INVALID, words);
    td_settings_clear(&set);
}

TEST(inputs_from_files_are_checked)
{
    refuse_file("nn", "nn.inputs", "1 0.5\n2 1\n", "vertex 2 cannot be an input: it has 1 in-edges");
    refuse_file("pagerank", "pagerank.personal", "1 -1\n", "vertex 1 has a negative weight");
    refuse_file("pagerank", "pagerank.personal", "1 0\n", "add up to zero");
    td_settings set = SET(file_setting("nn.inputs", "1 0.5\n\n# none\n4 1\n"));
    refuse("nn", "1 2 1\n2 3 1\n", (td_run_options){.settings = &set}, TD_NOT_FOUND, "values.txt:4");
    td_settings_clear(&set);
    set = SET(file_setting("adsorption.seeds", "1 x\n"));
    refuse("adsorption", "1 2 1\n", (td_run_options){.settings = &set}, TD_FORMAT, "values.txt:1");
    td_settings_clear(&set);
    set = SET("heat.initial=/nowhere/at/all");
    refuse("heat", "1 2 1\n", (td_run_options){.settings = &set}, TD_IO, "/nowhere/at/all");
    td_settings_clear(&set);
    set = SET("circuit.ground=77");
    refuse("circuit", "1 2 1\n", (td_run_options){.settings = &set}, TD_USAGE, "circuit.ground=77");
    td_settings_clear(&set);
    set = SET("circuit.ground=1"); /* the default source */
    refuse("circuit", "1 2 1\n", (td_run_options){.settings = &set}, TD_USAGE, "the same node is held at 1 V");
    td_settings_clear(&set);
    set = SET(file_setting("circuit.sources", "1 5\n"));
    CHECK_OK(td_settings_add(&set, "circuit.ground=1"));
    refuse("circuit", "1 2 1\n", (td_run_options){.settings = &set}, TD_USAGE, "the same node is held at 5 V");
    td_settings_clear(&set);
    set = SET(file_setting("adsorption.seeds", "1 1\n"));
    refuse("adsorption", "1 2 1\n", (td_run_options){.has_source = true, .settings = &set}, TD_USAGE,
           "give one of them");
    td_settings_clear(&set);
    set = SET(file_setting("heat.initial", "1 1e39\n"));
    refuse("heat", "1 2 1\n", (td_run_options){.settings = &set}, TD_FORMAT, "values.txt:1: 1e39 is beyond");
    td_settings_clear(&set);
    set = SET("heat.step=10");
    refuse("heat", "1 2 1\n", (td_run_options){.settings = &set}, TD_INVALID, "heat.step=10 is unstable");
    td_settings_clear(&set);
}

TEST(values_beyond_all_bounds_are_an_error_and_no_convergence)
{
    td_settings set = SET("nn.activation=relu");
    refuse("nn", "1 2 3.4e38\n2 3 3.4e38\n", (td_run_options){.settings = &set}, TD_LIMIT, "beyond all bounds");
    td_settings_clear(&set);
}

/* Pieces of heavy lists that end exactly with the last list. */
TEST(heavy_vertices_that_fill_whole_pieces_are_pushed_exactly)
{
    td_edge_list *list = NULL;
    td_edge_chunk *chunk;
    CHECK_OK(td_edges_create(&list, NULL));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 7 * 4096 + 6, false));
    for (uint64_t hub = 0; hub < 7; hub++)
        for (uint64_t i = 0; i < 4096; i++)
            CHECK_OK(td_chunk_put(chunk, hub, i == 0 && hub < 6 ? hub + 1 : 10 + hub * 4096 + i));
    td_graph *graph = NULL;
    CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
    td_edges_destroy(list);
    td_settings set = SET("cpu.direction=push");
    CHECK_OK(td_settings_add(&set, "cpu.high_degree=4096"));
    td_run *run = run_of("bfs", graph, (td_run_options){.has_source = true, .settings = &set});
    CHECK_EQ(run->edges_processed, 7 * 4096);
    for (uint32_t v = 0; v < graph->vertices; v++) CHECK(((const uint32_t *)run->values)[v] != UINT32_MAX);
    td_run_destroy(run);
    td_settings_clear(&set);
    td_graph_destroy(graph);
}

TEST(a_forest_that_hooks_in_one_long_chain_is_flattened_in_one_walk)
{
    enum { LONG = 300000 };
    td_edge_list *list = NULL;
    td_edge_chunk *chunk;
    CHECK_OK(td_edges_create(&list, NULL));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, LONG, true));
    list->weighted = true;
    for (uint32_t i = 0; i < LONG; i++) {
        CHECK_OK(td_chunk_put(chunk, i, i + 1));
        td_chunk_weight_integer(chunk, false, LONG - i);
    }
    td_graph *graph = NULL;
    CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
    td_edges_destroy(list);
    td_run *run = run_of("mst", graph, (td_run_options){0});
    CHECK_EQ(run->edge_count, LONG);
    CHECK(run->seconds < 5); /* walking from every vertex takes minutes */
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Every program on graphs where there is next to nothing to do. */
static td_run_options usual(const td_program_info *info)
{
    return (td_run_options){.has_source = info->needs_source};
}

static void run_all(const char *edges, td_build_options build)
{
    td_graph *graph = graph_built(edges, build);
    for (int i = 0; td_programs[i] != NULL; i++) {
        const td_program_info *info = td_programs[i]->info;
        if (info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE) continue;
        CHECK_OK(attempt(info->name, graph, usual(info)));
    }
    td_graph_destroy(graph);
}

TEST(a_single_vertex_and_isolated_ones_are_graphs_too)
{
    const td_build_options loop_free = {.drop_loops = true};
    run_all("5 5 3\n", (td_build_options){0});
    run_all("5 5 3\n", loop_free);
    run_all("5 5 3\n6 6 1\n9 9 2\n", loop_free);
    run_all("5 5\n6 6\n9 9\n", loop_free);
}

TEST(an_empty_graph_is_refused)
{
    td_graph empty = {0};
    CHECK_STATUS(attempt("wcc", &empty, (td_run_options){0}), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "no vertices");
}

/* Loops carry no current, however well they conduct. */
TEST(loops_do_not_slow_a_circuit_down)
{
    td_graph *graph = graph_of("1 2 1000\n2 3 1000\n2 2 1\n3 4 1000\n3 3 1\n");
    td_settings set = SET(file_setting("circuit.sources", "1 9\n4 0\n"));
    td_run *run = run_of("circuit", graph, (td_run_options){.settings = &set});
    const double *volts = run->values;
    CHECK(run->converged);
    CHECK(run->iterations < 200);
    CHECK(volts[1] > 6 - 1e-8 && volts[1] < 6 + 1e-8);
    CHECK(volts[2] > 3 - 1e-8 && volts[2] < 3 + 1e-8);
    td_run_destroy(run);
    td_settings_clear(&set);
    td_graph_destroy(graph);
}

static bool stop_at_two(void *context, const td_iteration *row)
{
    ++*(int *)context;
    return row->number < 2;
}

TEST(a_progress_callback_can_stop_a_run)
{
    td_graph *graph = graph_of("1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n");
    int rows = 0;
    td_run_options options = {.has_source = true, .each = stop_at_two, .each_context = &rows};
    CHECK_STATUS(attempt("bfs", graph, options), TD_CANCELLED);
    CHECK_EQ(rows, 3);
    td_graph_destroy(graph);
}

TEST(a_cancel_stops_every_program)
{
    td_graph *graph = graph_of("1 2 1\n2 3 1\n3 1 1\n");
    for (int i = 0; td_programs[i] != NULL; i++) {
        const td_program_info *info = td_programs[i]->info;
        td_cancel_request();
        td_status status = attempt(info->name, graph, usual(info));
        td_cancel_clear();
        if (status != TD_CANCELLED) TEST_FAIL("%s ends with %s", info->name, td_status_name(status));
        CHECK_STR(td_last_message(), "interrupted");
    }
    td_graph_destroy(graph);
}

TEST(failing_allocations_are_reported_and_leak_nothing)
{
    td_graph *graph = graph_of("1 2 1\n2 3 4\n3 1 1\n3 4 2\n4 4 1\n");
    for (int i = 0; td_programs[i] != NULL; i++) {
        const td_program_info *info = td_programs[i]->info;
        td_run_options options = usual(info);
        options.parents = info->gives_parents;
        uint64_t held = td_memory().now, nth = 1;
        for (;; nth++) {
            td_alloc_fail_at(nth);
            td_status status = attempt(info->name, graph, options);
            td_alloc_fail_at(0);
            CHECK_EQ(td_memory().now, held);
            if (status == TD_OK) break;
            if (status != TD_NO_MEMORY) TEST_FAIL("%s, allocation %d: %s", info->name, (int)nth, td_last_message());
        }
        CHECK(nth > 3);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
