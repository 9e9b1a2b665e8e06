/* METIS graphs, strict and as programs write them. */
#include "text_reading.h"

#include "base/log.h"
#include "base/random.h"

static char warnings[4 * TD_MESSAGE_BYTES];

static void keep_warnings(void *context, td_log_level level, const char *line)
{
    (void)context;
    size_t used = strlen(warnings);
    if (level <= TD_LOG_INFO) snprintf(warnings + used, sizeof warnings - used, "%s\n", line);
}

/* Reads the text and keeps what is said on the way. */
static void expect_said(const char *text, const char *description, const char *said)
{
    td_graph *graph = NULL;
    warnings[0] = '\0';
    test_write_file(test_path("said.graph"), text, strlen(text));
    td_log_set_sink(keep_warnings, NULL);
    td_status status = test_read(&graph, test_path("said.graph"), NULL, 2);
    td_log_set_sink(NULL, NULL);
    CHECK_OK(status);
    CHECK_STR(test_describe(graph), description);
    if (said == NULL)
        CHECK_STR(warnings, "");
    else
        CHECK_CONTAINS(warnings, said);
    td_graph_destroy(graph);
}

TEST(each_line_lists_the_neighbours_of_its_vertex)
{
    expect_said("3 2\n2\n1 3\n2\n", "3: 1>2 2>1 2>3 3>2", NULL);
    expect_said("3 2\n 2 \r\n1\t3\r\n2", "3: 1>2 2>1 2>3 3>2", NULL);
}

TEST(comments_do_not_count_and_blank_lines_are_vertices)
{
    expect_said("% a comment\n\n%\n4 1\n\n% between\n3\n2\n%\n\n%end\n", "4: 2>3 3>2", NULL);
}

TEST(weights_are_read)
{
    expect_said("3 2 1\n2 7\n1 7 3 900\n2 900\n", "3: 1>2:7 2>1:7 2>3:900 3>2:900", NULL);
    expect_said("3 2 001\n2 7\n1 7 3 900\n2 900\n", "3: 1>2:7 2>1:7 2>3:900 3>2:900", NULL);
}

TEST(vertex_weights_and_sizes_are_passed_over)
{
    expect_said("3 2 10\n5 2\n6 1 3\n7 2\n", "3: 1>2 2>1 2>3 3>2", "are ignored");
    expect_said("3 2 10 2\n5 5 2\n6 6 1 3\n7 7 2\n", "3: 1>2 2>1 2>3 3>2", "are ignored");
    expect_said("3 2 100\n5 2\n6 1 3\n7 2\n", "3: 1>2 2>1 2>3 3>2", "are ignored");
    expect_said("3 2 111 2\n1 5 5 2 9\n1 6 6 1 9 3 8\n1 7 7 2 8\n", "3: 1>2:9 2>1:9 2>3:8 3>2:8", "are ignored");
}

TEST(directed_lists_are_read_with_a_warning)
{
    expect_said("3 3\n2 3\n\n2\n", "3: 1>2 1>3 3>2", "read as directed edges");
    expect_said("3 0\n\n\n\n", "3:", NULL);
}

TEST(a_format_that_the_lines_contradict_is_ignored_with_a_warning)
{
    expect_said("3 3 100\n2 3\n\n2\n", "3: 1>2 1>3 3>2", "fmt is 100, but the lines hold no vertex weights");
    expect_said("3 2 10\n2\n1 3\n2\n", "3: 1>2 2>1 2>3 3>2", "fmt is 10, but the lines hold no vertex weights");
}

TEST(blank_lines_may_follow) { expect_said("2 1\n2\n1\n\n\n", "2: 1>2 2>1", NULL); }

TEST(what_does_not_fit_is_refused)
{
    test_expect_failure("a.graph", "% nothing\n", TD_FORMAT, "no header");
    test_expect_failure("a.graph", "3\n\n\n\n", TD_FORMAT, "a.graph:1: the number of edges is missing");
    test_expect_failure("a.graph", "%\n3 x\n", TD_FORMAT, "a.graph:2: the number of edges is 'x'");
    test_expect_failure("a.graph", "3 2 1 1 1\n", TD_FORMAT, "more in the header");
    test_expect_failure("a.graph", "3 2 2\n2\n1 3\n2\n", TD_FORMAT, "fmt is 2");
    test_expect_failure("a.graph", "3 2 1000\n2\n1 3\n2\n", TD_FORMAT, "fmt is 1000");
    test_expect_failure("a.graph", "3 2 10 70000\n", TD_FORMAT, "70000 weights per vertex");
    test_expect_failure("a.graph", "4294967295 2\n", TD_FORMAT, "at most 4294967294");
    test_expect_failure("a.graph", "2 9223372036854775808\n\n\n", TD_FORMAT, "9223372036854775808 edges");
    test_expect_failure("a.graph", "3 2\n2\n1 3\n", TD_FORMAT,
                        "promises 3 vertices, each on a line of its own, 2 follow");
    test_expect_failure("a.graph", "3 2\n2\n1 3\n2\n1\n", TD_FORMAT,
                        "promises 3 vertices, each on a line of its own, 4");
    test_expect_failure("a.graph", "3 2\n2\n1 4\n2\n", TD_FORMAT, "a.graph:3: neighbour 4 is outside 1..3");
    test_expect_failure("a.graph", "3 2\n2\n1 0\n2\n", TD_FORMAT, "a.graph:3: neighbour 0 is outside 1..3");
    test_expect_failure("a.graph", "3 2\n2\n1 -3\n2\n", TD_FORMAT, "a.graph:3: the neighbour is -3");
    test_expect_failure("a.graph", "3 2\n2\n1 3x\n2\n", TD_FORMAT, "a.graph:3: the neighbour is '3x'");
    test_expect_failure("a.graph", "0 1\n1\n", TD_FORMAT, "promises no vertices");
    test_expect_failure("a.graph", "3 5\n2\n1 3\n2\n", TD_FORMAT,
                        "promises 5 edges, but 4 neighbours are listed; 10 (each edge from both ends) or 5");
}

TEST(bad_weights_are_refused)
{
    test_expect_failure("w.graph", "2 1 1\n2\n1 5\n", TD_FORMAT, "w.graph:2: the weight is missing");
    test_expect_failure("w.graph", "2 1 1\n2 -5\n1 5\n", TD_FORMAT, "w.graph:2: the weight is -5");
    test_expect_failure("w.graph", "2 1 1\n2 1.5\n1 5\n", TD_FORMAT, "w.graph:2: the weight is '1.5'");
    test_expect_failure("w.graph", "2 1 1\n2 nan\n1 5\n", TD_FORMAT, "w.graph:2: the weight is 'nan'");
    test_expect_failure("w.graph", "2 1 1\n2 4294967296\n1 5\n", TD_FORMAT, "4294967295");
}

/* The first failure is the one reported: the format is what the header says. */
TEST(a_format_that_fits_neither_way_is_reported_as_declared)
{
    test_expect_failure("f.graph", "3 9 100\n1 2 3\n\n1 2\n", TD_FORMAT,
                        "f.graph:3: the vertex weight or size is missing");
}

TEST(a_cut_file_is_refused)
{
    static const char text[] = "4 3 1\n2 7\n1 7 3 9\n2 9 4 8\n3 8\n";
    for (size_t kept = 0; kept + 2 < sizeof text - 1; kept++) {
        td_graph *graph = NULL;
        test_write_file(test_path("cut.graph"), text, kept);
        CHECK_STATUS(test_read(&graph, test_path("cut.graph"), "metis", 1), TD_FORMAT);
    }
}

TEST(every_allocation_may_fail)
{
    td_log_set_level(TD_LOG_QUIET);
    test_expect_survival("memory.graph", "3 2 100\n2\n1 3\n2\n");
    td_log_set_level(TD_LOG_INFO);
}

/* Lists of very different lengths over many pieces. */
static size_t large_text(char *text, unsigned vertices)
{
    uint64_t entries = 0, at = 0;
    for (unsigned v = 0; v < vertices; v++) entries += v % 1000 == 0 ? 3000 : td_random_at(1, v) % 12;
    at = (uint64_t)sprintf(text, "%u %" PRIu64 " 1\n", vertices, entries);
    for (unsigned v = 0; v < vertices; v++) {
        unsigned count = v % 1000 == 0 ? 3000 : (unsigned)(td_random_at(1, v) % 12);
        if (v % 77 == 0) at += (uint64_t)sprintf(text + at, "%% comment\n");
        for (unsigned i = 0; i < count; i++)
            at += (uint64_t)sprintf(text + at, "%u %u ", 1 + (unsigned)(td_random_at(v + 2, i) % vertices), i);
        text[at++] = '\n';
    }
    return at;
}

TEST(threads_and_compression_change_nothing)
{
    static char text[8 << 20];
    td_log_set_level(TD_LOG_QUIET);
    test_expect_same_everywhere("large.graph", text, large_text(text, 50000));
    td_log_set_level(TD_LOG_INFO);
}

/* The deduplicated list, without its loops. */
static void expect_like_list(const char *metis_file, const char *list_file, bool weighted)
{
    char path[2][600];
    td_graph *metis = NULL, *list = NULL;
    const td_build_options simple = {.dedup = true, .drop_loops = true};
    snprintf(path[0], sizeof path[0], "%s/formats/%s", test_shared_data(), metis_file);
    snprintf(path[1], sizeof path[1], "%s/formats/%s", test_shared_data(), list_file);
    warnings[0] = '\0';
    td_log_set_sink(keep_warnings, NULL);
    td_status status = test_read(&metis, path[0], NULL, 2);
    td_log_set_sink(NULL, NULL);
    CHECK_OK(status);
    CHECK_CONTAINS(warnings, "read as directed edges");
    CHECK_OK(td_graph_read(&list, path[1], NULL, &simple, NULL));
    CHECK_EQ(metis->vertices, 14);
    CHECK_EQ(metis->edges, 53);
    CHECK_EQ(list->edges, 53);
    CHECK(!metis->symmetric);
    for (uint32_t v = 0, at = 0; v < list->vertices; v++) {
        uint32_t same;
        CHECK_OK(td_graph_find(metis, td_graph_id(list, v) + 1, &same));
        CHECK_EQ(td_degree(&list->out, v), td_degree(&metis->out, same));
        for (uint64_t i = 0; i < td_degree(&list->out, v); i++, at++) {
            uint64_t e = metis->out.offsets[same] + i;
            CHECK_EQ(td_graph_id(list, list->out.targets[at]) + 1, td_graph_id(metis, metis->out.targets[e]));
        }
    }
    CHECK_EQ(metis->weights != TD_WEIGHT_NONE, weighted);
    td_graph_destroy(metis);
    td_graph_destroy(list);
}

TEST(the_shared_examples_equal_their_edge_list)
{
    expect_like_list("4.graph", "4.el", false);
    expect_like_list("4w.graph", "4.el", true);
}

TEST_MAIN
