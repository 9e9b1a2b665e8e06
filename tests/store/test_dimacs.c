#include "text_reading.h"

TEST(arcs_have_lengths_and_one_direction)
{
    test_expect_graph("sp.gr", "c a road\nc\n\np sp 4 3\na 1 2 10\nc in between\na 2 1 20\na 1 4 0\n",
                      "4: 1>2:10 1>4:0 2>1:20");
    test_expect_graph("crlf.gr", "c x\r\np sp 2 1\r\na 1 2 3\r\n", "2: 1>2:3");
    test_expect_graph("end.gr", "p sp 2 1\na 1 2 3", "2: 1>2:3");
}

TEST(edges_of_a_colouring_problem_go_both_ways)
{
    test_expect_graph("edge.col", "c queens\np edge 3 2\ne 1 2\ne 3 3\n", "3: 1>2 2>1 3>3");
    test_expect_graph("col.col", "p col 2 1\ne 2 1\n", "2: 1>2 2>1");
}

TEST(the_content_tells_whatever_the_name) { test_expect_graph("noname", "c x\np sp 2 1\na 1 2 3\n", "2: 1>2:3"); }

TEST(a_graph_without_arcs_is_valid) { test_expect_graph("none.gr", "p sp 3 0\n", "3:"); }

TEST(a_bad_header_is_refused)
{
    test_expect_failure("b1.gr", "c only comments\n", TD_FORMAT, "no problem line");
    test_expect_failure("b2.gr", "p max 2 1\na 1 2 3\n", TD_FORMAT, ":1: the problem 'max' is not supported");
    test_expect_failure("b3.gr", "c x\np sp 2\n", TD_FORMAT, ":2: the number of edges is missing");
    test_expect_failure("b4.gr", "p sp two 1\n", TD_FORMAT, ":1: the number of vertices is 'two'");
    test_expect_failure("b5.gr", "p sp 2 1 7\na 1 2 3\n", TD_FORMAT, ":1: more on the problem line");
    test_expect_failure("b6.gr", "p sp 4294967295 0\n", TD_FORMAT, ":1: 4294967295 vertices; at most 4294967294");
    test_expect_failure("b7.gr", "p sp 2 1\np sp 2 1\na 1 2 3\n", TD_FORMAT, ":2: a second problem line");
    test_expect_failure("b8.gr", "", TD_FORMAT, "is empty");
    test_expect_failure("b9.gr", "p sp -2 1\n", TD_FORMAT, ":1: the number of vertices is -2");
}

TEST(the_header_promises_as_many_arcs_as_there_are)
{
    test_expect_failure("few.gr", "p sp 2 2\na 1 2 3\n", TD_FORMAT, "promises 2 arcs, 1 follow");
    test_expect_failure("many.gr", "p sp 2 0\na 1 2 3\n", TD_FORMAT, "promises 0 arcs, 1 follow");
    test_expect_failure("few.col", "p edge 2 2\ne 1 2\n", TD_FORMAT, "promises 2 edges, 1 follow");
}

TEST(a_bad_line_is_refused)
{
    test_expect_failure("l1.gr", "p sp 2 1\na 1 3 3\n", TD_FORMAT, ":2: vertex 3 is outside the declared range 1..2");
    test_expect_failure("l2.gr", "p sp 2 1\na 0 1 3\n", TD_FORMAT, ":2: vertex 0 is outside");
    test_expect_failure("l3.gr", "p sp 2 1\na 1 2\n", TD_FORMAT, ":2: the weight is missing");
    test_expect_failure("l4.gr", "p sp 2 1\na 1 2 3 4\n", TD_FORMAT, ":2: more on the line than 'a source");
    test_expect_failure("l5.gr", "p sp 2 1\ne 1 2\n", TD_FORMAT, ":2: the line begins with 'e'; only 'a source");
    test_expect_failure("l6.gr", "p edge 2 1\na 1 2 3\n", TD_FORMAT, ":2: the line begins with 'a'; only 'e vertex");
    test_expect_failure("l7.gr", "p edge 2 1\ne 1 2 3\n", TD_FORMAT, ":2: more on the line than 'e vertex");
    test_expect_failure("l8.gr", "p sp 2 1\n1 2 3\n", TD_FORMAT, ":2: the line begins with '1'");
    test_expect_failure("l9.gr", "p sp 2 1\na 1 2 nan\n", TD_FORMAT, ":2: the weight is 'nan'");
    test_expect_failure("l10.gr", "p sp 2 1\na 1 -2 3\n", TD_FORMAT, ":2: the vertex is -2; it must not be negative");
    test_expect_failure("l11.gr", "p sp 2 1\na 1 2 3x\n", TD_FORMAT, ":2: the length is '3x'");
    test_expect_failure("l12.gr", "p sp 2 1\na\n", TD_FORMAT, ":2: the vertex is missing");
}

TEST(threads_and_compression_change_nothing)
{
    enum { VERTICES = 5000, ARCS = 50000 };
    char *text = malloc(ARCS * 32), *end = text;
    end += sprintf(end, "c made\np sp %d %d\n", VERTICES, ARCS);
    for (int i = 0; i < ARCS; i++)
        end += sprintf(end, "a %d %d %d\n", i * 7 % VERTICES + 1, i / 3 % VERTICES + 1, i * 31 % 70000);
    test_expect_same_everywhere("long.gr", text, (size_t)(end - text));
    free(text);
}

TEST(allocations_may_fail) { test_expect_survival("small.gr", "p sp 3 2\na 1 2 5\na 3 1 300\n"); }

TEST_MAIN
