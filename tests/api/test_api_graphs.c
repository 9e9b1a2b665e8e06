/* The API: sessions, and graphs from arrays and files. */
#include "map.h"

#include <math.h>

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

TEST_MAIN
