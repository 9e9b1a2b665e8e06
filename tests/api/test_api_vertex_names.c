/* Names of vertices, columns and saved results through the API. */
#include "test.h"

#include "tandem.h"

static td_session *session;

static td_graph *open_named(void)
{
    td_graph *graph = NULL;
    const char *text = "from;to;km\nRome;Oslo;7\nOslo;Bonn;2\n";
    CHECK_OK(td_session_create(2, &session));
    test_write_file(test_path("n.csv"), text, strlen(text));
    CHECK_OK(td_graph_open(session, test_path("n.csv"), NULL, &graph));
    return graph;
}

TEST(names_are_found_and_given)
{
    td_graph *graph = open_named();
    uint32_t vertex = 9;
    CHECK(td_graph_has_names(graph));
    CHECK_STR(td_graph_vertex_name(graph, 0), "Bonn");
    CHECK(td_graph_vertex_name(graph, 3) == NULL);
    CHECK_OK(td_graph_find_name(graph, "Rome", &vertex));
    CHECK_EQ(vertex, 2);
    CHECK_STATUS(td_graph_find_name(graph, "Roma", &vertex), TD_NOT_FOUND);
    CHECK_STATUS(td_graph_find_name(graph, NULL, &vertex), TD_INVALID);
    CHECK(!td_graph_has_names(NULL));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_request_names_its_source)
{
    td_graph *graph = open_named();
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .source_name = "Oslo"};
    CHECK_OK(td_session_run(session, graph, "bfs", &request, &result));
    CHECK_EQ(td_result_u32(result)[1], 0);
    CHECK_EQ(td_result_u32(result)[0], 1);
    td_result_destroy(result);
    request.has_source = true;
    CHECK_STATUS(td_session_run(session, graph, "bfs", &request, &result), TD_USAGE);
    request = (td_request){.size = sizeof request, .source_name = "Paris"};
    CHECK_STATUS(td_session_run(session, graph, "bfs", &request, &result), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "vertex 'Paris' is not in");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(ids_as_text_are_sources_of_graphs_without_names)
{
    const uint64_t sources[] = {5, 7}, targets[] = {7, 9};
    td_edges edges = {.size = sizeof edges, .count = 2, .sources = sources, .targets = targets};
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .source_name = "7"};
    CHECK_OK(td_session_create(2, &session));
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_OK(td_session_run(session, graph, "bfs", &request, &result));
    CHECK_EQ(td_result_u32(result)[1], 0);
    td_result_destroy(result);
    request.source_name = "Oslo";
    CHECK_STATUS(td_session_run(session, graph, "bfs", &request, &result), TD_USAGE);
    CHECK(td_graph_vertex_name(graph, 0) == NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static const char *content(const char *path)
{
    static char text[512];
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

TEST(results_are_saved_by_suffix_and_with_a_heading)
{
    td_graph *graph = open_named();
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .source_name = "Rome"};
    td_save_options options = {.size = sizeof options, .header = true};
    CHECK_OK(td_session_run(session, graph, "bfs", &request, &result));
    CHECK_OK(td_result_save(session, result, test_path("r.csv"), NULL));
    CHECK_STR(content(test_path("r.csv")), "Bonn,2\nOslo,1\nRome,0\n");
    CHECK_OK(td_result_save_as(session, result, test_path("r.txt"), &options));
    CHECK_STR(content(test_path("r.txt")), "vertex\tlevel\nBonn\t2\nOslo\t1\nRome\t0\n");
    options.format = "csv";
    CHECK_OK(td_result_save_as(session, result, test_path("r.txt"), &options));
    CHECK_STR(content(test_path("r.txt")), "vertex,level\nBonn,2\nOslo,1\nRome,0\n");
    options.format = "papyrus";
    CHECK_STATUS(td_result_save_as(session, result, test_path("r.txt"), &options), TD_USAGE);
    CHECK_OK(td_result_format_check(NULL));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(columns_are_an_option_of_opening)
{
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .columns = "_,source,target"};
    CHECK_OK(td_session_create(2, &session));
    test_write_file(test_path("c.csv"), "x,1,2\ny,2,3\n", 12);
    CHECK_OK(td_graph_open(session, test_path("c.csv"), &options, &graph));
    CHECK_EQ(td_graph_edges(graph), 2);
    td_graph_destroy(graph);
    options.columns = "source";
    CHECK_STATUS(td_graph_open(session, test_path("c.csv"), &options, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "td_graph_options.columns source: an edge needs a source and a target");
    CHECK_STATUS(td_graph_options_check(&options), TD_USAGE);
    td_session_destroy(session);
}

TEST(programs_say_whether_they_can_be_verified)
{
    CHECK(td_program_verifies("bfs"));
    CHECK(!td_program_verifies("frobnicate"));
    CHECK(!td_program_verifies(NULL));
}

TEST_MAIN
