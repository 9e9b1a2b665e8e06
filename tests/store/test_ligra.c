/* Ligra adjacency graphs. */
#include "text_reading.h"

#include "base/random.h"

TEST(offsets_and_targets_become_edges)
{
    test_expect_graph("a.adj", "AdjacencyGraph\n4\n5\n0\n2\n2\n4\n1\n2\n0\n3\n3\n", "4: 0>1 0>2 2>0 2>3 3>3");
    test_expect_graph("a.adj", "  AdjacencyGraph 4 5 0 2 2 4\r\n1 2 0 3 3", "4: 0>1 0>2 2>0 2>3 3>3");
    test_expect_graph("a.adj", "AdjacencyGraph\n2\n0\n0\n0\n", "2:");
    test_expect_graph("a.adj", "AdjacencyGraph\n0\n0\n", "0:");
}

TEST(weights_follow_the_targets)
{
    test_expect_graph("w.adj", "WeightedAdjacencyGraph\n3\n3\n0\n2\n3\n1\n2\n0\n10\n20\n30\n",
                      "3: 0>1:10 0>2:20 1>0:30");
    test_expect_graph("w.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n-3\n4\n", "2: 0>1:-3 1>0:4");
    test_expect_graph("w.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n1.5\n4\n", "2: 0>1:1.5 1>0:4");
}

TEST(what_does_not_fit_is_refused)
{
    test_expect_failure("b.adj", "AdjacencyGraph\n", TD_FORMAT, "the number of vertices is missing");
    test_expect_failure("b.adj", "AdjacencyGraph\nx\n", TD_FORMAT, "b.adj:2: the number of vertices is 'x'");
    test_expect_failure("b.adj", "AdjacencyGraph\n4294967295\n1\n", TD_FORMAT, "at most 4294967294");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n18446744073709551615\n", TD_FORMAT,
                        "b.adj:3: 18446744073709551615");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n", TD_FORMAT,
                        "2 vertices and 2 edges make 4 numbers, but 3 follow");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n0\n0\n", TD_FORMAT, "make 4 numbers, but 5 follow");
    test_expect_failure("b.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n", TD_FORMAT,
                        "make 6 numbers with the weights, but 4 follow");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n2\n", TD_FORMAT,
                        "b.adj:7: target 2, but the last vertex is 1");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n3\n1\n0\n", TD_FORMAT,
                        "b.adj:5: the offset of vertex 1 is 3");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n1\n1\n1\n0\n", TD_FORMAT, "the first must be 0");
    test_expect_failure("b.adj", "AdjacencyGraph\n3\n2\n0\n2\n1\n1\n0\n", TD_FORMAT,
                        "vertex 2 is 1; offsets must not descend");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n-1\n", TD_FORMAT, "b.adj:7: the target is -1");
    test_expect_failure("b.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n0x\n", TD_FORMAT, "b.adj:7: the target is '0x'");
    test_expect_failure("b.adj", "AdjacencyGraph\n0\n1\n0\n", TD_FORMAT, "target 0");
    test_expect_failure("b.adj", "WeightedAdjacencyGraph\n2\n1\n0\n1\n1\nnan\n", TD_FORMAT,
                        "b.adj:7: the weight is 'nan'");
    test_expect_failure("b.adj", "WeightedAdjacencyGraph\n2\n1\n0\n1\n1\n4294967296\n", TD_FORMAT, "4294967295");
}

TEST(other_texts_are_not_taken_for_it)
{
    td_graph *graph = NULL;
    test_write_file(test_path("c.adj"), "AdjacencyGraphs\n1\n0\n0\n", 22);
    CHECK_STATUS(test_read(&graph, test_path("c.adj"), "ligra", 1), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "the first word must be AdjacencyGraph");
}

TEST(a_cut_file_is_refused)
{
    static const char text[] = "WeightedAdjacencyGraph\n3\n3\n0\n2\n3\n1\n2\n0\n10\n20\n3\n";
    for (size_t kept = 0; kept + 2 < sizeof text - 1; kept++) {
        td_graph *graph = NULL;
        test_write_file(test_path("cut.adj"), text, kept);
        CHECK_STATUS(test_read(&graph, test_path("cut.adj"), "ligra", 1), TD_FORMAT);
    }
}

TEST(every_allocation_may_fail)
{
    test_expect_survival("memory.adj", "WeightedAdjacencyGraph\n3\n3\n0\n2\n3\n1\n2\n0\n10\n20\n30\n");
}

TEST(threads_and_compression_change_nothing)
{
    enum { VERTICES = 20000, EDGES = 300000 };
    static char text[6 << 20];
    size_t at = (size_t)sprintf(text, "WeightedAdjacencyGraph\n%d\n%d\n", VERTICES, EDGES);
    for (uint64_t v = 0; v < VERTICES; v++)
        at += (size_t)sprintf(text + at, "%" PRIu64 "\n", v * v * EDGES / VERTICES / VERTICES);
    for (uint64_t e = 0; e < EDGES; e++)
        at += (size_t)sprintf(text + at, "%" PRIu64 "\n", td_random_at(1, e) % VERTICES);
    for (uint64_t e = 0; e < EDGES; e++) at += (size_t)sprintf(text + at, "%" PRIu64 "\n", td_random_at(2, e) % 1000);
    test_expect_same_everywhere("large.adj", text, at);
}

TEST_MAIN
