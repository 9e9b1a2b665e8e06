/* Graphalytics datasets: .v, .e and .properties, and the pair alone. */
#include "text_reading.h"

#include "base/log.h"
#include "base/random.h"

#define VERTEX_AND_EDGE_FILE "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\n"
#define WEIGHT "graph.g.edge-properties.names = weight\ngraph.g.edge-properties.types = real\n"

static void write_text(const char *name, const char *text) { test_write_file(test_path(name), text, strlen(text)); }

static void write_dataset(const char *properties, const char *vertices, const char *edges)
{
    remove(test_path("g.properties"));
    if (properties != NULL) write_text("g.properties", properties);
    write_text("g.v", vertices);
    write_text("g.e", edges);
}

static void expect(const char *name, const char *description)
{
    td_graph *graph = NULL;
    CHECK_OK(test_read(&graph, test_path(name), NULL, 2));
    CHECK_STR(test_describe(graph), description);
    td_graph_destroy(graph);
}

static void expect_refused(td_status wanted, const char *part)
{
    td_graph *graph = NULL;
    CHECK_STATUS(test_read(&graph, test_path("g.properties"), "graphalytics", 2), wanted);
    CHECK_CONTAINS(td_last_message(), part);
    CHECK(graph == NULL);
}

TEST(vertices_without_edges_are_kept_and_ids_too)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\n", "7\n100\n5\n18446744073709551615\n",
                  "5 7\n7 5\n7 7\n");
    expect("g.properties", "4: 5>7 7>5 7>7");
}

TEST(undirected_edges_go_both_ways)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = false\n" WEIGHT, "1\n2\n3\n", "1 2 0.5\r\n3 2 2\n\n");
    expect("g.properties", "3: 1>2:0.5 2>1:0.5 2>3:2 3>2:2");
}

TEST(any_of_its_names_will_do)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = false\n", "1\n2\n", "1 2\n");
    expect("g.properties", "2: 1>2 2>1");
    expect("g.v", "2: 1>2 2>1");
    expect("g.e", "2: 1>2 2>1");
    expect("g", "2: 1>2 2>1");
}

TEST(the_weight_is_the_property_called_so)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.edge-properties.names = since, weight, mood\n",
                  "1\n2\n", "1 2 1999 5 good\n");
    expect("g.properties", "2: 1>2:5");
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.edge-properties.names = length,colour\n",
                  "1\n2\n", "1 2 7 red\n");
    expect("g.properties", "2: 1>2:7");
}

TEST(vertex_properties_are_passed_over_if_declared)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.vertex-properties.names = age\n",
                  "1 33\n2 44\n", "1 2\n");
    expect("g.properties", "2: 1>2");
}

static char said[TD_MESSAGE_BYTES];

static void keep_said(void *context, td_log_level level, const char *line)
{
    (void)context;
    if (level == TD_LOG_INFO) snprintf(said, sizeof said, "%s", line);
}

TEST(the_pair_alone_is_read_as_directed_and_that_is_said)
{
    td_log_set_sink(keep_said, NULL);
    write_dataset(NULL, "1\n2\n3\n", "\n1 2\n");
    td_graph *plain = NULL, *weighted = NULL;
    td_status first = test_read(&plain, test_path("g.e"), NULL, 2);
    bool directed = strstr(said, "taken as directed") != NULL;
    write_dataset(NULL, "1\n2\n3\n", "1 2 9\n");
    td_status second = test_read(&weighted, test_path("g"), NULL, 2);
    bool with_weight = strstr(said, "with a weight") != NULL;
    td_log_set_sink(NULL, NULL);
    CHECK(first == TD_OK && second == TD_OK && directed && with_weight);
    CHECK_STR(test_describe(plain), "3: 1>2");
    CHECK_STR(test_describe(weighted), "3: 1>2:9");
    td_graph_destroy(plain);
    td_graph_destroy(weighted);
}

TEST(a_lone_edge_file_is_an_edge_list)
{
    write_text("lone.e", "1 2\n2 3\n");
    expect("lone.e", "3: 1>2 2>3");
}

TEST(edges_of_unlisted_vertices_are_refused_with_their_line)
{
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\n", "1\n2\n", "1 2\n2 1\n2 3\n");
    expect_refused(TD_FORMAT, "g.e:3: vertex 3 is not in ");
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\n", "1\n2\n", "18446744073709551615 2\n");
    expect_refused(TD_FORMAT, "g.e:1: vertex 18446744073709551615 is not in ");
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = true\n", "", "1 2\n");
    expect_refused(TD_FORMAT, "g.e:1: vertex 1 is not in ");
}

TEST(malformed_lines_are_refused_with_their_number)
{
    static const char directed[] = VERTEX_AND_EDGE_FILE "graph.g.directed = true\n";
    static const char weighted[] = VERTEX_AND_EDGE_FILE "graph.g.directed = true\n" WEIGHT;
    const struct {
        const char *properties, *vertices, *edges, *words;
    } cases[] = {
        {directed, "1\nx\n", "", "g.v:2: the vertex id is 'x'"},
        {directed, "1\n2 3\n", "", "g.v:2: more on the line than a vertex id"},
        {directed, "1\n-2\n", "", "g.v:2: the vertex id is -2"},
        {directed, "1\n18446744073709551616\n", "", "g.v:2: the vertex id 18446744073709551616 is too large"},
        {directed, "1\n2\n1\n", "", "g.v: vertex 1 is listed twice"},
        {directed, "1\n2\n", "1\n", "g.e:1: the vertex id is missing"},
        {directed, "1\n2\n", "1 2 5\n", "g.e:1: more on the line"},
        {weighted, "1\n2\n", "1 2 5\n2 1\n", "g.e:2: the edge has 0 properties, not 1"},
        {weighted, "1\n2\n", "1 2 5 6\n", "g.e:1: more on the line"},
        {weighted, "1\n2\n", "1 2 nan\n", "g.e:1: the weight is 'nan'"},
        {weighted, "1\n2\n", "1 2 5x\n", "g.e:1: the weight is '5x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_dataset(cases[i].properties, cases[i].vertices, cases[i].edges);
        expect_refused(TD_FORMAT, cases[i].words);
    }
}

TEST(properties_that_do_not_fit_are_refused)
{
    const struct {
        const char *properties;
        td_status status;
        const char *words;
    } cases[] = {
        {"graph.g.edge-file = g.e\n", TD_FORMAT, "no property 'graph.NAME.vertex-file'"},
        {"graph.g.vertex-file = g.v\ngraph.g.edge-file =\n", TD_FORMAT, "no property 'graph.NAME.edge-file'"},
        {VERTEX_AND_EDGE_FILE, TD_FORMAT, "no property 'graph.NAME.directed'"},
        {VERTEX_AND_EDGE_FILE "graph.g.directed = maybe\n", TD_FORMAT, "directed = maybe"},
        {"graph.g.vertex-file = h.v\ngraph.g.edge-file = g.e\ngraph.g.directed = true\n", TD_IO, "h.v"},
        {"graph.g.vertex-file = g.v\ngraph.g.edge-file = h.e\ngraph.g.directed = true\n", TD_IO, "h.e"},
        {VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.meta.vertices = 3\ngraph.g.meta.edges = 1\n", TD_FORMAT,
         "g.v has 2 vertices"},
        {VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.meta.vertices = 2\ngraph.g.meta.edges = 2\n", TD_FORMAT,
         "g.e has 1 edges"},
        {VERTEX_AND_EDGE_FILE "graph.g.directed = true\ngraph.g.meta.vertices = 2\ngraph.g.meta.edges = many\n",
         TD_FORMAT, "meta.edges = many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_dataset(cases[i].properties, "1\n2\n", "1 2\n");
        expect_refused(cases[i].status, cases[i].words);
    }
}

TEST(cut_files_are_refused_where_counts_are_promised)
{
    static const char vertices[] = "11\n12\n13\n", edges[] = "11 12 5\n13 11 6\n12 13 7\n";
    static const char properties[] = VERTEX_AND_EDGE_FILE
        "graph.g.directed = true\ngraph.g.meta.vertices = 3\ngraph.g.meta.edges = 3\n" WEIGHT;
    for (size_t kept = 0; kept + 1 < sizeof vertices - 1; kept++) {
        write_dataset(properties, vertices, edges);
        test_write_file(test_path("g.v"), vertices, kept);
        expect_refused(TD_FORMAT, "g.");
    }
    for (size_t kept = 0; kept + 1 < sizeof edges - 1; kept++) {
        write_dataset(properties, vertices, edges);
        test_write_file(test_path("g.e"), edges, kept);
        expect_refused(TD_FORMAT, "g.e");
    }
}

TEST(every_allocation_may_fail)
{
    static const char *const names[] = {"g.properties", "g.e", "g"};
    write_dataset(VERTEX_AND_EDGE_FILE "graph.g.directed = false\n", "1\n2\n3\n", "1 2\n");
    for (int i = 0; i < 3; i++) {
        uint64_t held = td_memory().now;
        for (uint64_t nth = 1;; nth++) {
            td_graph *graph = NULL;
            td_alloc_fail_at(nth);
            td_status status = test_read(&graph, test_path(names[i]), NULL, 2);
            td_alloc_fail_at(0);
            if (status == TD_OK) CHECK_STR(test_describe(graph), "3: 1>2 2>1");
            td_graph_destroy(graph);
            CHECK_EQ(td_memory().now, held);
            if (status == TD_OK && nth > 60) break;
            CHECK(status == TD_OK || status == TD_NO_MEMORY);
        }
    }
}

TEST(threads_and_compression_change_nothing)
{
    enum { VERTICES = 30000, EDGES = 120000 };
    static char text[8 << 20];
    size_t vertex_bytes = 0, edge_bytes = 0;
    remove(test_path("g.properties"));
    for (uint64_t v = 0; v < VERTICES; v++)
        vertex_bytes += (size_t)sprintf(text + vertex_bytes, "%" PRIu64 "\n", td_mix64(v) >> 8);
    td_log_set_level(TD_LOG_WARN);
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        char name[32];
        snprintf(name, sizeof name, "large%s.v", codec < 0 ? "" : test_codecs[codec].suffix + 1);
        test_write_file(test_path(name), text, vertex_bytes);
    }
    for (uint64_t e = 0; e < EDGES; e++)
        edge_bytes += (size_t)sprintf(text + edge_bytes, "%" PRIu64 " %" PRIu64 " %u.5\n",
                                      td_mix64(td_random_at(1, e) % VERTICES) >> 8,
                                      td_mix64(td_random_at(2, e) % VERTICES) >> 8, (unsigned)(e % 50));
    uint64_t first = 0;
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        static const int threads[] = {1, 2, 8};
        char name[32];
        snprintf(name, sizeof name, "large%s.e%s", codec < 0 ? "" : test_codecs[codec].suffix + 1,
                 codec < 0 ? "" : test_codecs[codec].suffix);
        if (codec < 0)
            test_write_file(test_path(name), text, edge_bytes);
        else if (!test_write_compressed(test_path(name), text, edge_bytes, 3, test_codecs[codec].compress))
            continue;
        for (int i = 0; i < 3; i++) {
            td_graph *graph = NULL;
            CHECK_OK(test_read(&graph, test_path(name), NULL, threads[i]));
            CHECK_EQ(graph->vertices, VERTICES);
            if (first == 0) first = test_digest(graph);
            CHECK(test_digest(graph) == first);
            td_graph_destroy(graph);
        }
    }
    td_log_set_level(TD_LOG_INFO);
}

TEST(the_benchmarks_examples_are_read)
{
    char path[600];
    td_graph *graph = NULL;
    snprintf(path, sizeof path, "%s/graphalytics/example-directed.properties", test_shared_data());
    CHECK_OK(test_read(&graph, path, NULL, 2));
    CHECK_EQ(graph->vertices, 10);
    CHECK_EQ(graph->edges, 17);
    CHECK_EQ(graph->weights, TD_WEIGHT_F32);
    CHECK(!graph->symmetric);
    td_graph_destroy(graph);
    graph = NULL;
    snprintf(path, sizeof path, "%s/graphalytics/example-undirected", test_shared_data());
    CHECK_OK(test_read(&graph, path, NULL, 2));
    CHECK_EQ(graph->vertices, 9);
    CHECK_EQ(graph->edges, 24);
    CHECK(graph->symmetric);
    td_graph_destroy(graph);
}

TEST_MAIN
