/* WebGraph ASCII graphs. */
#include "text_reading.h"

#include "base/random.h"

TEST(line_i_lists_the_successors_of_vertex_i)
{
    test_expect_graph("a.graph-txt", "4\n1 2\n\n0 3 \n3\n", "4: 0>1 0>2 2>0 2>3 3>3");
    test_expect_graph("a.graph-txt", "4\r\n1 2\r\n\r\n0 3\r\n3", "4: 0>1 0>2 2>0 2>3 3>3");
    test_expect_graph("a.graph-txt", "1\n\n", "1:");
    test_expect_graph("a.graph-txt", "0\n", "0:");
    test_expect_graph("a.graph-txt", "2\n1\n\n\n\n", "2: 0>1");
}

TEST(content_alone_tells_it) { test_expect_graph("unnamed", "3\n1 2\n\n0\n", "3: 0>1 0>2 2>0"); }

TEST(what_does_not_fit_is_refused)
{
    test_expect_failure("b.graph-txt", "", TD_FORMAT, "is empty");
    test_expect_failure("b.graph-txt", "\n1\n", TD_FORMAT, "b.graph-txt:1: the number of vertices is missing");
    test_expect_failure("b.graph-txt", "x\n1\n", TD_FORMAT, "b.graph-txt:1: the number of vertices is 'x'");
    test_expect_failure("b.graph-txt", "2 3\n1\n0\n", TD_FORMAT, "b.graph-txt:1: more on the first line");
    test_expect_failure("b.graph-txt", "4294967295\n1\n", TD_FORMAT, "at most 4294967294");
    test_expect_failure("b.graph-txt", "3\n1\n0\n", TD_FORMAT,
                        "promises 3 vertices, each on a line of its own, 2 follow");
    test_expect_failure("b.graph-txt", "2\n1\n0\n\n1\n", TD_FORMAT,
                        "promises 2 vertices, each on a line of its own, 4");
    test_expect_failure("b.graph-txt", "2\n1\n0 2\n", TD_FORMAT, "b.graph-txt:3: neighbour 2 is outside 0..1");
    test_expect_failure("b.graph-txt", "2\n1\n0 -1\n", TD_FORMAT, "b.graph-txt:3: the neighbour is -1");
    test_expect_failure("b.graph-txt", "2\n1\n0 18446744073709551616\n", TD_FORMAT, "is too large");
    test_expect_failure("b.graph-txt", "2\n1\n0/1\n", TD_FORMAT, "b.graph-txt:3: the neighbour is '0/1'");
}

TEST(a_cut_file_is_refused)
{
    static const char text[] = "5\n1 2\n3\n4\n0 1\n2\n";
    for (size_t kept = 0; kept + 2 < sizeof text - 1; kept++) {
        td_graph *graph = NULL;
        test_write_file(test_path("cut.graph-txt"), text, kept);
        CHECK_STATUS(test_read(&graph, test_path("cut.graph-txt"), "graph-txt", 1), TD_FORMAT);
    }
}

TEST(every_allocation_may_fail) { test_expect_survival("memory.graph-txt", "3\n1 2\n\n0\n"); }

/* A line that fills pieces, and many that are empty. */
TEST(threads_and_compression_change_nothing)
{
    enum { VERTICES = 100000 };
    static char text[6 << 20];
    size_t at = (size_t)sprintf(text, "%d\n", VERTICES);
    for (unsigned v = 0; v < VERTICES; v++) {
        unsigned count = v == 500 ? 60000 : (unsigned)(td_random_at(1, v) % 9);
        for (unsigned i = 0; i < count; i++)
            at += (size_t)sprintf(text + at, "%u ", (unsigned)(td_random_at(v + 2, i) % VERTICES));
        text[at++] = '\n';
    }
    test_expect_same_everywhere("large.graph-txt", text, at);
}

static void expect_counts(const char *file, int threads, uint64_t vertices, uint64_t edges)
{
    char path[600];
    const td_build_options out_only = {.out_only = true};
    td_graph *graph = NULL;
    td_pool *pool = NULL;
    snprintf(path, sizeof path, "%s/%s", test_shared_data(), file);
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_graph_read(&graph, path, NULL, &out_only, pool));
    CHECK_EQ(graph->vertices, vertices);
    CHECK_EQ(graph->edges, edges);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(version_histories_are_read_with_their_counts)
{
    expect_counts("git-postgres-16.0.graph-txt.xz", 2, 688350, 10377711);
    expect_counts("git-rust-1.40.0.graph-txt.xz", 2, 1056279, 50714805);
}

TEST_MAIN
