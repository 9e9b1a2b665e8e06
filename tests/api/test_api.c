/* The API as its users see it: only tandem.h, apart from the tests' harness. */
#include "test.h"

#include "tandem.h"

#include <math.h>
#include <pthread.h>

/* A small road map: two towns with a pass between them, and one island. */
static const uint64_t sources[] = {10, 10, 20, 30, 30, 40}, targets[] = {20, 30, 30, 40, 50, 60};
static const uint32_t lengths[] = {7, 3, 1, 2, 9, 4};
enum { EDGES = 6 };

static const td_edges map_edges = {.size = sizeof map_edges, .count = EDGES, .sources = sources, .targets = targets,
                                   .whole_weights = lengths};

static td_session *session_of(int threads)
{
    td_session *session = NULL;
    CHECK_OK(td_session_create(threads, &session));
    return session;
}

static td_graph *map_of(td_session *session)
{
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = true};
    CHECK_OK(td_graph_from_edges(session, &map_edges, &options, &graph));
    return graph;
}

static uint32_t vertex_of(const td_graph *graph, uint64_t id)
{
    uint32_t vertex = 0;
    CHECK_OK(td_graph_find(graph, id, &vertex));
    return vertex;
}

/* Sessions. */

TEST(a_session_has_the_threads_asked_for)
{
    td_session *session = session_of(3);
    CHECK_EQ(td_session_threads(session), 3);
    td_session_destroy(session);
    session = session_of(0);
    CHECK(td_session_threads(session) >= 1);
    td_session_destroy(session);
    td_session_destroy(NULL);
}

TEST(a_session_that_cannot_be_had_leaves_its_place_untouched)
{
    td_session *session = (td_session *)&lengths, *before = session;
    CHECK_STATUS(td_session_create(-1, &session), TD_INVALID);
    CHECK_STATUS(td_session_create(100000, &session), TD_LIMIT);
    CHECK_STATUS(td_session_create(1, NULL), TD_INVALID);
    CHECK(session == before);
}

/* Graphs. */

TEST(a_graph_from_arrays_keeps_ids_edges_and_weights)
{
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &map_edges, NULL, &graph));
    CHECK_EQ(td_graph_vertices(graph), 6);
    CHECK_EQ(td_graph_edges(graph), EDGES);
    CHECK(!td_graph_symmetric(graph));
    CHECK_STR(td_graph_weights(graph), "u8");
    for (int i = 0; i < EDGES; i++) {
        uint64_t count, first;
        uint32_t source = vertex_of(graph, sources[i]), target = vertex_of(graph, targets[i]);
        const uint32_t *list = td_graph_targets(graph, source, &count, &first);
        CHECK_EQ(td_graph_vertex_id(graph, source), sources[i]);
        bool found = false;
        for (uint64_t e = 0; e < count; e++) {
            td_edge edge;
            CHECK_OK(td_graph_edge(graph, first + e, &edge));
            CHECK_EQ(edge.source, source);
            CHECK_EQ(edge.target, list[e]);
            found |= edge.target == target && edge.weight == lengths[i];
        }
        CHECK(found);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(vertices_stated_beforehand_all_exist)
{
    static const uint64_t from[] = {0, 1}, to[] = {1, 4};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_edges edges = {.size = sizeof edges, .count = 2, .sources = from, .targets = to, .vertices = 8};
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_EQ(td_graph_vertices(graph), 8);
    CHECK_STR(td_graph_weights(graph), "none");
    td_graph_destroy(graph);
    edges.vertices = 4;
    CHECK_STATUS(td_graph_from_edges(session, &edges, NULL, &graph), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "4");
    edges = (td_edges){.size = sizeof edges};
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_EQ(td_graph_vertices(graph), 0);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(many_edges_are_copied_by_many_workers)
{
    enum { MANY = 3000000, VERTICES = 1000 };
    uint64_t *ends = malloc(MANY * sizeof *ends);
    CHECK(ends != NULL);
    for (uint64_t i = 0; i < MANY; i++) ends[i] = i % VERTICES;
    td_session *session = session_of(4);
    td_graph *graph = NULL;
    td_edges edges = {.size = sizeof edges, .count = MANY, .sources = ends, .targets = ends, .vertices = VERTICES};
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_EQ(td_graph_edges(graph), MANY);
    for (uint32_t v = 0; v < VERTICES; v++) {
        uint64_t count;
        td_graph_targets(graph, v, &count, NULL);
        CHECK_EQ(count, MANY / VERTICES);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
    free(ends);
}

TEST(the_builders_options_are_taken)
{
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = true, .dedup = true, .drop_loops = true};
    CHECK_OK(td_graph_from_edges(session, &map_edges, &options, &graph));
    CHECK_EQ(td_graph_edges(graph), 2 * EDGES);
    CHECK(td_graph_symmetric(graph));
    td_graph_destroy(graph);
    options = (td_graph_options){.size = sizeof options, .drop_weights = true};
    CHECK_OK(td_graph_from_edges(session, &map_edges, &options, &graph));
    CHECK_STR(td_graph_weights(graph), "none");
    td_graph_destroy(graph);
    options = (td_graph_options){.size = sizeof options, .weights = "0.5:2.0", .weight_seed = 3};
    CHECK_OK(td_graph_from_edges(session, &map_edges, &options, &graph));
    CHECK_STR(td_graph_weights(graph), "f32");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(real_weights_are_kept_and_have_to_be_finite)
{
    float weights[EDGES] = {0.5f, 1, 2, 3, 4, 5};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_edges edges = map_edges;
    edges.whole_weights = NULL;
    edges.real_weights = weights;
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_STR(td_graph_weights(graph), "f32");
    td_graph_destroy(graph);
    graph = NULL;
    weights[2] = NAN;
    CHECK_STATUS(td_graph_from_edges(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "edge 2, from 20 to 30");
    edges.whole_weights = lengths;
    CHECK_STATUS(td_graph_from_edges(session, &edges, NULL, &graph), TD_USAGE);
    CHECK(graph == NULL);
    td_session_destroy(session);
}

TEST(a_graph_comes_back_from_every_file_it_was_saved_to)
{
    static const char *const names[] = {"map.tg", "map.wel", "map.mtx"};
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    for (int i = 0; i < 3; i++) {
        td_graph *again = NULL;
        CHECK_OK(td_graph_save(session, graph, test_path(names[i]), NULL));
        CHECK_OK(td_graph_open(session, test_path(names[i]), NULL, &again));
        CHECK_EQ(td_graph_edges(again), td_graph_edges(graph));
        CHECK_STR(td_graph_weights(again), "u8");
        td_graph_destroy(again);
    }
    CHECK_STATUS(td_graph_save(session, graph, test_path("map.xyz"), NULL), TD_USAGE);
    CHECK_STATUS(td_graph_save(session, graph, test_path("no/such/folder/map.tg"), NULL), TD_IO);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(files_that_are_none_say_what_is_wrong)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    CHECK_STATUS(td_graph_open(session, test_path("absent.txt"), NULL, &graph), TD_IO);
    CHECK_CONTAINS(td_last_message(), "absent.txt");
    test_write_file(test_path("bad.txt"), "1 2\n3 x\n", 8);
    CHECK_STATUS(td_graph_open(session, test_path("bad.txt"), NULL, &graph), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "bad.txt:2");
    td_graph_options options = {.size = sizeof options, .format = "papyrus"};
    CHECK_STATUS(td_graph_open(session, test_path("bad.txt"), &options, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "papyrus");
    CHECK(graph == NULL);
    td_session_destroy(session);
}

TEST(questions_about_what_is_not_there_are_answered)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    uint32_t vertex = 77;
    uint64_t count = 5;
    td_edge edge;
    CHECK_STATUS(td_graph_find(graph, 99, &vertex), TD_NOT_FOUND);
    CHECK_EQ(vertex, 77);
    CHECK(td_graph_vertex_id(graph, 6) == UINT64_MAX);
    CHECK(td_graph_targets(graph, 6, &count, NULL) == NULL);
    CHECK_EQ(count, 0);
    CHECK_STATUS(td_graph_edge(graph, 2 * EDGES, &edge), TD_INVALID);
    td_graph_destroy(graph);
    td_graph_destroy(NULL);
    td_session_destroy(session);
}

/* Programs. */

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

TEST(settings_and_limits_reach_the_engine)
{
    static const char *const settings[] = {"cpu.direction=pull", "pagerank.damping=0.5", "cpu.huge_pages=off", NULL};
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .has_iterations = true, .iterations = 3, .mode = TD_MODE_SYNC,
                          .engine = "cpu", .settings = settings};
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    CHECK_EQ(td_result_iterations(result), 3);
    CHECK(!td_result_converged(result));
    CHECK_STR(td_result_iteration(result, 0)->direction, "pull");
    CHECK_EQ(td_result_iteration(result, 2)->number, 2);
    CHECK(td_result_iteration(result, 3) == NULL);
    td_result_destroy(result);
    request = (td_request){.size = sizeof request, .has_tolerance = true, .tolerance = 0.5};
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
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

/* Plans. */

TEST(a_plan_says_what_a_run_needs_without_running)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_plan plan = {.size = sizeof plan};
    uint64_t held = td_memory_held();
    CHECK_OK(td_session_plan(session, graph, "pagerank", NULL, &plan));
    CHECK_EQ(td_memory_held(), held);
    CHECK_STR(plan.engine, "cpu");
    CHECK(strlen(plan.why) > 10);
    CHECK(plan.graph_bytes > 0);
    CHECK(plan.program_bytes > 0);
    CHECK(plan.fits);
    CHECK_EQ(plan.size, sizeof plan);
    CHECK_STATUS(td_session_plan(session, graph, "sssp", NULL, &plan), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "source");
    plan.size = 0;
    CHECK_STATUS(td_session_plan(session, graph, "pagerank", NULL, &plan), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_plan)");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Wrong calls. */

TEST(structs_without_their_size_are_refused)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session), *other = NULL;
    td_result *result = NULL;
    td_request request = {0};
    td_graph_options options = {0};
    td_edges edges = {0};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_request)");
    CHECK_STATUS(td_graph_from_edges(session, &map_edges, &options, &other), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_graph_options)");
    CHECK_STATUS(td_graph_from_edges(session, &edges, NULL, &other), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_edges)");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* An older program's request is shorter, a newer one's longer. */
TEST(structs_of_other_versions_are_taken_where_they_ask_for_nothing_unknown)
{
    struct {
        td_request request;
        uint64_t later;
    } newer = {.request = {.size = sizeof newer, .has_iterations = true, .iterations = 2}};
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    CHECK_OK(td_session_run(session, graph, "pagerank", &newer.request, &result));
    CHECK_EQ(td_result_iterations(result), 2);
    td_result_destroy(result);
    result = NULL;
    newer.later = 1;
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &newer.request, &result), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "later version");
    newer.request.size = offsetof(td_request, mode);
    newer.request.mode = (td_mode)99; /* not looked at */
    CHECK_OK(td_session_run(session, graph, "pagerank", &newer.request, &result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(wrong_calls_are_refused_with_words)
{
    static const char *const unknown[] = {"pagerank.dampnig=0.5", NULL}, *const foreign[] = {"heat.step=1", NULL};
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request};
    CHECK_STATUS(td_session_run(NULL, graph, "wcc", NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, NULL, "wcc", NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, NULL, NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, NULL), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, "frobnicate", NULL, &result), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "pagerank");
    CHECK_STATUS(td_session_run(session, graph, "bfs", NULL, &result), TD_USAGE);
    request.has_source = true;
    request.source = 11;
    CHECK_STATUS(td_session_run(session, graph, "bfs", &request, &result), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "11");
    request = (td_request){.size = sizeof request, .engine = "steam"};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_USAGE);
    request = (td_request){.size = sizeof request, .settings = unknown};
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "pagerank.damping");
    request.settings = foreign;
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_USAGE);
    request = (td_request){.size = sizeof request, .mode = (td_mode)7};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_INVALID);
    request = (td_request){.size = sizeof request, .mode = TD_MODE_ASYNC};
    CHECK_STATUS(td_session_run(session, graph, "heat", &request, &result), TD_USAGE);
    CHECK(result == NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Cancelling and callbacks. */

typedef struct watcher {
    td_session *session;
    const td_graph *graph;
    td_session *other;
    uint32_t calls, most;
    td_status inner;
} watcher;

static bool watch(void *context, const td_iteration *row)
{
    watcher *self = context;
    self->calls = row->number + 1;
    return self->calls < self->most;
}

TEST(a_callback_can_cancel)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    watcher self = {.most = 3};
    td_request request = {.size = sizeof request, .progress = watch, .progress_context = &self};
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_CANCELLED);
    CHECK_EQ(self.calls, 3);
    CHECK(result == NULL);
    self.most = UINT32_MAX;
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    CHECK_EQ(self.calls, td_result_iterations(result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_request_to_cancel_holds_until_it_is_cleared)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_cancel_request();
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_CANCELLED);
    CHECK_STATUS(td_session_run(session, graph, "pagerank", NULL, &result), TD_CANCELLED);
    td_cancel_clear();
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static bool call_back(void *context, const td_iteration *row)
{
    watcher *self = context;
    td_result *result = NULL;
    (void)row;
    self->inner = td_session_run(self->session, self->graph, "wcc", NULL, &result);
    if (self->inner != TD_USAGE) return false;
    self->inner = td_session_run(self->other, self->graph, "wcc", NULL, &result);
    td_result_destroy(result);
    return true;
}

TEST(a_callback_may_use_another_session_but_not_its_own)
{
    td_session *session = session_of(2), *other = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    watcher self = {.session = session, .other = other, .graph = graph, .inner = TD_INTERNAL};
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .progress = call_back,
                          .progress_context = &self};
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    CHECK_EQ(self.inner, TD_OK);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
    td_session_destroy(other);
}

/* Several sessions at once, each with its own threads and messages. */
static void *work_alone(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument;
    td_session *session = NULL;
    td_graph *graph = NULL;
    if (td_session_create(2, &session) != TD_OK) return "no session";
    if (td_graph_from_edges(session, &map_edges, NULL, &graph) != TD_OK) return "no graph";
    for (int round = 0; round < 50; round++) {
        td_result *result = NULL;
        td_request request = {.size = sizeof request, .has_source = true, .source = 1000 + number};
        char id[32];
        snprintf(id, sizeof id, "%d", (int)(1000 + number));
        if (td_session_run(session, graph, "sssp", &request, &result) != TD_NOT_FOUND) return "a wrong status";
        if (strstr(td_last_message(), id) == NULL) return "somebody else's message";
        request.source = 10;
        if (td_session_run(session, graph, "sssp", &request, &result) != TD_OK) return "no result";
        if (td_result_u32(result)[5] != 9) return "a wrong result";
        td_result_destroy(result);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
    return NULL;
}

TEST(sessions_of_several_threads_do_not_disturb_each_other)
{
    pthread_t threads[3];
    for (uint64_t i = 0; i < 3; i++) CHECK_EQ(pthread_create(&threads[i], NULL, work_alone, (void *)(uintptr_t)i), 0);
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        void *outcome;
        pthread_join(threads[i], &outcome);
        if (outcome != NULL) first = outcome;
    }
    if (first != NULL) TEST_FAIL("%s", first);
}

/* Memory and log. */

/* All of it, from the session to the saved result, with every allocation failing in turn. */
static td_status whole_story(const char *path)
{
    td_status status = TD_OK;
    td_session *session = NULL;
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_plan plan = {.size = sizeof plan};
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .parents = true};
    uint32_t vertices[3];
    double values[3];
    uint64_t count;
    TD_TRY(td_session_create(2, &session));
    TD_TRY(td_graph_from_edges(session, &map_edges, NULL, &graph));
    TD_TRY(td_graph_save(session, graph, path, "tg"));
    td_graph_destroy(graph);
    graph = NULL;
    TD_TRY(td_graph_open(session, path, NULL, &graph));
    TD_TRY(td_session_plan(session, graph, "sssp", &request, &plan));
    TD_TRY(td_session_run(session, graph, "sssp", &request, &result));
    TD_TRY(td_result_verify(session, result));
    TD_TRY(td_result_top(session, result, 3, vertices, values, &count));
    TD_TRY(td_result_save(session, result, path, NULL));
done:
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
    return status;
}

TEST(any_failing_allocation_is_an_error_and_leaves_nothing_behind)
{
    uint64_t held = td_memory_held(), nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = whole_story(test_path("story"));
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory_held(), held);
        if (status == TD_OK) break;
        if (status != TD_NO_MEMORY) TEST_FAIL("allocation %" PRIu64 ": %s", nth, td_last_message());
    }
    CHECK(nth > 20);
}

TEST(the_budget_is_kept)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_memory_set_budget(td_memory_held() + 64);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "budget");
    td_memory_set_budget(0);
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    CHECK(td_memory_peak() >= td_memory_held());
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static void collect(void *context, td_log_level level, const char *line)
{
    char *kept = context;
    if (level == TD_LOG_WARN) snprintf(kept, 256, "%s", line);
}

TEST(warnings_go_to_the_sink)
{
    char line[256] = "";
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &map_edges, NULL, &graph));
    td_log_set_sink(collect, line);
    td_status status = td_graph_save(session, graph, test_path("map.sg"), NULL); /* holds neither weights nor ids */
    td_log_set_sink(NULL, NULL);
    CHECK_EQ(status, TD_OK);
    CHECK_CONTAINS(line, "map.sg");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
