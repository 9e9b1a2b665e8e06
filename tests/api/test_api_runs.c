/* The API: what programs find, and what a plan says beforehand. */
#include "map.h"

#include "base/alloc.h"

TEST(programs_have_names_and_summaries)
{
    int count = 0;
    bool sssp = false;
    for (const char *name; (name = td_program_name(count)) != NULL; count++) {
        CHECK(td_program_summary(name) != NULL);
        sssp |= strcmp(name, "sssp") == 0;
    }
    CHECK(count >= 10);
    CHECK(sssp);
    CHECK(td_program_name(-1) == NULL);
    CHECK(td_program_name(count + 5) == NULL);
    CHECK(td_program_summary("frobnicate") == NULL);
    CHECK(td_program_summary(NULL) == NULL);
}

TEST(distances_and_parents_are_those_of_the_map)
{
    static const uint64_t ids[] = {10, 20, 30, 40, 50, 60};
    static const uint32_t distances[] = {0, 4, 3, 5, 12, 9}, parents[] = {10, 30, 10, 30, 30, 40};
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .parents = true};
    td_result *result = NULL;
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    CHECK_EQ(td_result_kind(result), TD_VALUE_U32);
    CHECK(td_result_f32(result) == NULL);
    CHECK(td_result_f64(result) == NULL);
    for (int i = 0; i < 6; i++) {
        uint32_t v = vertex_of(graph, ids[i]);
        double value = -1;
        CHECK_EQ(td_result_u32(result)[v], distances[i]);
        CHECK(td_result_value(result, v, &value));
        CHECK(value == distances[i]);
        CHECK_EQ(td_graph_vertex_id(graph, td_result_parents(result)[v]), parents[i]);
    }
    CHECK(td_result_converged(result));
    CHECK(td_result_iterations(result) >= 1);
    CHECK(td_result_edges_processed(result) >= 2 * EDGES);
    CHECK(td_result_seconds(result) >= 0);
    CHECK_OK(td_result_verify(session, result));
    td_result_destroy(result);
    td_result_destroy(NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(what_is_not_reached_has_no_value)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 40};
    CHECK_OK(td_graph_from_edges(session, &map_edges, NULL, &graph)); /* directed */
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    double value = -1;
    CHECK_EQ(td_result_u32(result)[vertex_of(graph, 10)], TD_UNREACHED);
    CHECK(!td_result_value(result, vertex_of(graph, 10), &value));
    CHECK(td_result_value(result, vertex_of(graph, 60), &value));
    CHECK(!td_result_value(result, 6, &value));
    CHECK(td_result_parents(result) == NULL);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(the_forest_names_its_edges)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    CHECK_OK(td_session_run(session, graph, "mst", NULL, &result));
    uint64_t count;
    const uint64_t *edges = td_result_edges(result, &count);
    double total = 0;
    CHECK_EQ(count, 5);
    for (uint64_t i = 0; i < count; i++) {
        td_edge edge;
        CHECK_OK(td_graph_edge(graph, edges[i], &edge));
        total += edge.weight;
    }
    CHECK(total == 3 + 1 + 2 + 9 + 4);
    CHECK(td_result_total_weight(result) == total);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(every_program_runs_with_what_it_needs_and_verifies)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    for (int p = 0; td_program_name(p) != NULL; p++) {
        const char *name = td_program_name(p);
        td_request request = {.size = sizeof request, .source = 10};
        request.has_source = strcmp(name, "bfs") == 0 || strcmp(name, "sssp") == 0;
        td_result *result = NULL;
        CHECK_OK(td_session_run(session, graph, name, &request, &result));
        CHECK_OK(td_result_verify(session, result));
        CHECK((td_result_u32(result) != NULL) + (td_result_f32(result) != NULL) + (td_result_f64(result) != NULL) == 1);
        td_result_destroy(result);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static bool note_huge_pages(void *context, const td_iteration *row)
{
    (void)row;
    *(bool *)context = td_huge_pages_on();
    return true;
}

TEST(settings_and_limits_reach_the_engine)
{
    static const char *const settings[] = {"cpu.direction=pull", "pagerank.damping=0.5", "cpu.huge_pages=off", NULL};
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .has_iterations = true, .iterations = 3, .mode = TD_MODE_SYNC,
                          .engine = "cpu", .settings = settings, .progress = note_huge_pages};
    bool huge_pages = true;
    request.progress_context = &huge_pages;
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    CHECK(!huge_pages);
    CHECK_EQ(td_result_iterations(result), 3);
    CHECK(!td_result_converged(result));
    CHECK_STR(td_result_iteration(result, 0)->direction, "pull");
    CHECK_EQ(td_result_iteration(result, 2)->number, 2);
    CHECK(td_result_iteration(result, 3) == NULL);
    td_result_destroy(result);
    request = (td_request){.size = sizeof request, .has_tolerance = true, .tolerance = 0.5,
                           .progress = note_huge_pages, .progress_context = &huge_pages};
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    CHECK(huge_pages);
    CHECK(td_result_converged(result));
    CHECK(td_result_iterations(result) < 5);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(the_top_vertices_come_largest_first)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 10};
    uint32_t vertices[10];
    double values[10];
    uint64_t count = 0;
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    CHECK_OK(td_result_top(session, result, 2, vertices, values, &count));
    CHECK_EQ(count, 2);
    CHECK_EQ(td_graph_vertex_id(graph, vertices[0]), 50);
    CHECK(values[0] == 12);
    CHECK_EQ(td_graph_vertex_id(graph, vertices[1]), 60);
    CHECK_OK(td_result_top(session, result, 10, vertices, values, &count));
    CHECK_EQ(count, 6);
    td_result_destroy(result);
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    CHECK_OK(td_result_top(session, result, 10, vertices, values, &count));
    CHECK_EQ(count, 1);
    CHECK(values[0] == 6);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(results_are_saved_with_original_ids)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 10};
    char text[256] = "";
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    CHECK_OK(td_result_save(session, result, test_path("out.tsv"), NULL));
    FILE *file = fopen(test_path("out.tsv"), "r");
    CHECK(file != NULL);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    CHECK_CONTAINS(text, "10\t0\n");
    CHECK_CONTAINS(text, "50\t12\n");
    CHECK_STATUS(td_result_save(session, result, test_path("out.tsv"), "papyrus"), TD_USAGE);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static bool stop_after_two(void *context, const td_iteration *row)
{
    int *rows = context;
    (void)row;
    return ++*rows < 2;
}

TEST(a_run_that_was_stopped_goes_on_from_its_folder)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *whole = NULL, *result = NULL;
    int rows = 0;
    const char *folder = test_folder();
    td_request plain = {.size = sizeof plain, .has_iterations = true, .iterations = 6};
    td_request stopped = plain, resumed = plain;
    stopped.checkpoint = folder;
    stopped.progress = stop_after_two;
    stopped.progress_context = &rows;
    resumed.checkpoint = resumed.resume = folder;
    resumed.checkpoint_every = 4;
    CHECK_OK(td_session_run(session, graph, "heat", &plain, &whole));
    CHECK_EQ(td_result_resumed(whole), 0);
    CHECK_EQ(td_result_checkpoints(whole, NULL), 0);
    CHECK_STATUS(td_session_run(session, graph, "heat", &stopped, &result), TD_CANCELLED);
    CHECK_CONTAINS(td_last_message(), folder);
    CHECK_OK(td_session_run(session, graph, "heat", &resumed, &result));
    uint64_t bytes = 0;
    CHECK_EQ(td_result_resumed(result), 2);
    CHECK_EQ(td_result_iterations(result), 6);
    CHECK_EQ(td_result_checkpoints(result, &bytes), 1);
    CHECK(bytes > 0);
    CHECK(td_result_iteration(result, 1) == NULL); /* it was the other run's */
    CHECK_EQ(td_result_iteration(result, 2)->number, 2);
    CHECK_EQ(td_result_iteration(result, 5)->number, 5);
    CHECK(td_result_iteration(result, 6) == NULL);
    for (uint32_t v = 0; v < td_graph_vertices(graph); v++) CHECK(td_result_f32(result)[v] == td_result_f32(whole)[v]);
    td_result_destroy(whole);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_plan_says_what_a_run_needs_without_running)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_plan *plan = NULL;
    td_plan_memory row = {.size = sizeof row};
    uint64_t held = td_memory_held();
    CHECK_OK(td_session_plan(session, graph, "pagerank", NULL, &plan));
    CHECK_STR(td_plan_engine(plan), "cpu");
    CHECK(strlen(td_plan_why(plan)) > 10);
    CHECK(td_plan_fits(plan));
    CHECK_OK(td_plan_memory_row(plan, 0, &row));
    CHECK_STR(row.place, "host");
    CHECK(row.graph > 0);
    CHECK(row.program > 0);
    CHECK(row.fits);
    CHECK_STATUS(td_plan_memory_row(plan, 1, &row), TD_NOT_FOUND); /* the cpu engine uses no device */
    row.size = 0;
    CHECK_STATUS(td_plan_memory_row(plan, 0, &row), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_plan_memory)");
    CHECK_EQ(td_plan_counter(plan, "subgraph_slots"), 0);
    CHECK(td_plan_counter_name(plan, 0) == NULL);
    td_plan_destroy(plan);
    CHECK_EQ(td_memory_held(), held);
    CHECK_STATUS(td_session_plan(session, graph, "sssp", NULL, &plan), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "source");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_plan_is_refused_where_its_run_is_certain_to_be)
{
    td_session *session = session_of(1);
    td_edges bare = map_edges;
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_plan *plan = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 10};
    bare.whole_weights = NULL;
    CHECK_OK(td_graph_from_edges(session, &bare, NULL, &graph));
    td_status status = td_session_run(session, graph, "sssp", &request, &result);
    CHECK(status != TD_OK);
    CHECK_STATUS(td_session_plan(session, graph, "sssp", &request, &plan), status);
    CHECK_CONTAINS(td_last_message(), "sssp needs edge weights");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* The texts of a request are the plan's own: the caller's may be gone when it runs. */
TEST(a_plan_runs_several_times_after_its_request_is_gone)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_plan *plan = NULL;
    td_result *results[2] = {NULL};
    td_plan_memory row = {.size = sizeof row};
    char *devices = strdup("emu");
    td_request request = {.size = sizeof request, .devices = devices, .has_iterations = true, .iterations = 5};
    CHECK_OK(td_session_plan(session, graph, "pagerank", &request, &plan));
    memset(devices, 'x', strlen(devices));
    free(devices);
    CHECK_STR(td_plan_engine(plan), "resident");
    CHECK_OK(td_plan_memory_row(plan, 1, &row));
    CHECK_STR(row.place, "emu:0");
    CHECK(row.graph > 0 && row.program > 0 && row.free > row.graph + row.program);
    td_device_row device = {.size = sizeof device};
    CHECK_OK(td_plan_device_row(plan, 0, &device));
    CHECK_STR(device.device, "emu:0");
    CHECK_EQ(device.graph, row.graph);
    CHECK(device.peak == 0 && device.edges == 0);
    CHECK_STATUS(td_plan_device_row(plan, 1, &device), TD_NOT_FOUND); /* the CPU does not compute */
    CHECK_STATUS(td_plan_device_row(NULL, 0, &device), TD_INVALID);
    for (int i = 0; i < 2; i++) CHECK_OK(td_plan_run(session, plan, &results[i]));
    CHECK_OK(td_result_device_row(results[1], 0, &device));
    CHECK_EQ(device.edges, td_result_edges_processed(results[1]));
    CHECK_EQ(device.peak, row.graph + row.program);
    CHECK(device.busy_seconds > 0 && device.bytes_out > 0);
    device.size = 3;
    CHECK_STATUS(td_result_device_row(results[1], 0, &device), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_device_row)");
    for (uint32_t v = 0; v < td_graph_vertices(graph); v++)
        CHECK(td_result_f32(results[0])[v] == td_result_f32(results[1])[v]);
    td_session *other = session_of(1);
    td_result *none = NULL;
    CHECK_STATUS(td_plan_run(other, plan, &none), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "another session's");
    CHECK_STATUS(td_plan_prepare(other, plan, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "another session's");
    td_session_destroy(other);
    for (int i = 0; i < 2; i++) td_result_destroy(results[i]);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* The session keeps its devices open and the graph on them. */
TEST(three_runs_of_a_session_open_the_device_once)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_request request = {.size = sizeof request, .devices = "emu", .engine = "resident"};
    for (int i = 0; i < 3; i++) {
        td_result *result = NULL;
        CHECK_OK(td_session_run(session, graph, i == 1 ? "wcc" : "kcore", &request, &result));
        CHECK_EQ(td_result_device_opens(result), 1);
        td_result_destroy(result);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* A graph that goes takes what the session made of it along: another one at the same address is another graph. */
TEST(a_session_forgets_a_graph_that_is_destroyed)
{
    td_session *session = session_of(1);
    static const char *const engines[] = {"resident", "stream", "coop"};
    for (int i = 0; i < 48; i++) {
        uint64_t n = 40 + (uint64_t)(i % 3), sources[64], targets[64];
        for (uint64_t e = 0; e < n; e++) sources[e] = e, targets[e] = i % 2 == 0 ? e + 1 : (e * 7 + 3) % n;
        td_edges edges = {.size = sizeof edges, .count = n, .sources = sources, .targets = targets, .vertices = n + 1};
        td_request request = {.size = sizeof request, .devices = "emu@unchecked", .engine = engines[i / 16],
                              .has_source = true, .gpu_edges = i / 16 == 0 ? 0 : 0.6};
        td_graph *graph = NULL;
        td_result *result = NULL;
        CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
        td_status status = td_session_run(session, graph, "bfs", &request, &result);
        if (status == TD_OK) CHECK_OK(td_result_verify(session, result));
        else CHECK_EQ(status, TD_NO_MEMORY); /* so few edges do not always leave room for two subgraphs */
        td_result_destroy(result);
        td_graph_destroy(graph);
    }
    td_session_destroy(session);
}

/* Every engine's counters have a name, each once, and the stream engine's are those of its iterations. */
TEST(what_engines_count_besides_has_a_name)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_result *result = NULL;
    enum { COUNT = 16000 };
    static uint64_t sources[COUNT], targets[COUNT];
    for (uint64_t e = 0; e < COUNT; e++) sources[e] = e % 500, targets[e] = (e * 37 + e / 500) % 500;
    td_edges edges = {.size = sizeof edges, .count = COUNT, .sources = sources, .targets = targets, .vertices = 500};
    const char *settings[] = {"stream.subgraph=1K", NULL};
    td_request request = {.size = sizeof request, .engine = "stream", .devices = "emu@unchecked", .gpu_edges = 0.5,
                          .has_iterations = true, .iterations = 2, .settings = settings};
    for (int i = 0; td_iteration_counter_name(i) != NULL; i++)
        for (int j = 0; j < i; j++) CHECK(strcmp(td_iteration_counter_name(i), td_iteration_counter_name(j)) != 0);
    CHECK(td_iteration_counter_name(20) != NULL);
    CHECK(td_iteration_counter_name(-1) == NULL && td_iteration_counter_name(1000) == NULL);
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    const td_iteration *row = td_result_iteration(result, 0);
    CHECK(td_iteration_counter(row, "subgraphs_whole") + td_iteration_counter(row, "subgraphs_resident") > 1);
    CHECK(td_iteration_counter(row, "bytes_whole") > 0);
    CHECK(td_iteration_counter(row, "compute_seconds") > 0);
    td_result_destroy(result);
    const char *divided[] = {"multi.t1=0", "multi.t2=0", NULL};
    request = (td_request){.size = sizeof request, .engine = "multi", .devices = "emu:2@unchecked", .has_iterations = true,
                           .iterations = 2, .settings = divided};
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    row = td_result_iteration(result, 0);
    CHECK(td_iteration_counter(row, "load") == 2 && td_iteration_counter(row, "share") == 4);
    CHECK(td_iteration_counter(row, "load_0") + td_iteration_counter(row, "load_1") == COUNT);
    CHECK(td_iteration_counter(row, "share_0") + td_iteration_counter(row, "share_1") == td_iteration_counter(row, "load_0"));
    CHECK(td_iteration_counter(row, "load_2") == 0 && td_iteration_counter(row, "load_x") == 0);
    CHECK(td_iteration_text(row, "steal") != NULL && td_iteration_text(row, "load") == NULL);
    CHECK(td_iteration_counter(row, "steal") == 0 && td_iteration_text(row, "nothing") == NULL);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
