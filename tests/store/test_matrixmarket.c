#include "text_reading.h"

#define BANNER(words) "%%MatrixMarket matrix coordinate " words "\n"

TEST(a_pattern_is_a_graph_without_weights)
{
    test_expect_graph("a.mtx", BANNER("pattern general") "% note\n\n3 3 2\n1 2\n3 1\n", "3: 1>2 3>1");
}

TEST(values_are_weights)
{
    test_expect_graph("i.mtx", BANNER("integer general") "2 2 2\n1 2 7\n2 1 0\n", "2: 1>2:7 2>1:0");
    test_expect_graph("n.mtx", BANNER("integer general") "2 2 2\n1 2 -7\n2 1 0\n", "2: 1>2:-7 2>1:0");
    test_expect_graph("r.mtx", BANNER("real general") "2 2 2\n1 2 -1.5e-3\n2 1 4\n", "2: 1>2:-0.0015 2>1:4");
}

TEST(real_values_stay_floats_even_if_all_are_whole)
{
    td_graph *graph = NULL;
    const char *text = BANNER("real general") "2 2 1\n1 2 3\n";
    test_write_file(test_path("whole.mtx"), text, strlen(text));
    CHECK_OK(test_read(&graph, test_path("whole.mtx"), NULL, 1));
    CHECK_EQ(graph->weights, TD_WEIGHT_F32);
    td_graph_destroy(graph);
}

TEST(a_symmetric_entry_stands_for_both_directions_and_a_loop_for_one)
{
    test_expect_graph("s.mtx", BANNER("pattern symmetric") "3 3 3\n2 1\n3 3\n3 2\n", "3: 1>2 2>1 2>3 3>2 3>3");
    test_expect_graph("w.mtx", BANNER("integer symmetric") "2 2 2\n2 1 5\n1 1 3\n", "2: 1>1:3 1>2:5 2>1:5");
    test_expect_graph("upper.mtx", BANNER("pattern symmetric") "2 2 1\n1 2\n", "2: 1>2 2>1");
}

TEST(a_skew_symmetric_entry_has_a_mirror_image_of_the_other_sign)
{
    test_expect_graph("k.mtx", BANNER("real skew-symmetric") "2 2 1\n2 1 0.5\n", "2: 1>2:-0.5 2>1:0.5");
    test_expect_graph("ki.mtx", BANNER("integer skew-symmetric") "2 2 1\n2 1 5\n", "2: 1>2:-5 2>1:5");
    test_expect_failure("kd.mtx", BANNER("real skew-symmetric") "2 2 1\n2 2 1\n", TD_FORMAT, ":3: entry (2, 2) on the");
    test_expect_failure("kp.mtx", BANNER("pattern skew-symmetric") "2 2 1\n2 1\n", TD_FORMAT, ":1: a pattern cannot");
}

TEST(the_banner_may_be_written_in_any_case)
{
    test_expect_graph("case.mtx", "%%matrixmarket MATRIX Coordinate Pattern GENERAL\r\n2 2 1\r\n1 2\r\n", "2: 1>2");
}

TEST(a_matrix_without_entries_is_a_graph_without_edges)
{
    test_expect_graph("none.mtx", BANNER("pattern general") "3 3 0\n", "3:");
    test_expect_graph("none2.mtx", BANNER("real symmetric") "3 3 0", "3:");
}

TEST(vertices_without_edges_are_kept) { test_expect_graph("iso.mtx", BANNER("pattern general") "9 9 1\n2 3\n", "9: 2>3"); }

TEST(what_is_no_sparse_real_matrix_is_not_supported)
{
    test_expect_failure("c.mtx", BANNER("complex general") "1 1 1\n1 1 0 0\n", TD_UNSUPPORTED, "field 'complex'");
    test_expect_failure("h.mtx", BANNER("real hermitian") "1 1 1\n1 1 0\n", TD_UNSUPPORTED, "symmetry 'hermitian'");
    test_expect_failure("d.mtx", "%%MatrixMarket matrix array real general\n1 1\n0\n", TD_UNSUPPORTED, "format 'array'");
    test_expect_failure("v.mtx", "%%MatrixMarket vector coordinate real general\n1 1\n0\n", TD_UNSUPPORTED, "'vector'");
    test_expect_failure("rect.mtx", BANNER("pattern general") "3 4 1\n1 2\n", TD_FORMAT, ":2: the matrix is 3 x 4");
}

TEST(a_bad_header_is_refused)
{
    test_expect_failure("b1.mtx", "1 1 1\n1 1\n", TD_FORMAT, ":1: the first line does not begin with %%MatrixMarket");
    test_expect_failure("b2.mtx", "%%MatrixMarket matrix coordinate\n", TD_FORMAT, ":1: 3 words where 5 are needed");
    test_expect_failure("b3.mtx", BANNER("pattern general") "% only\n", TD_FORMAT, "ends before the size line");
    test_expect_failure("b4.mtx", BANNER("pattern general") "2 2\n", TD_FORMAT, ":2: the number of entries is missing");
    test_expect_failure("b5.mtx", BANNER("pattern general") "2 2 x\n", TD_FORMAT, ":2: the number of entries is 'x'");
    test_expect_failure("b6.mtx", BANNER("pattern general") "2 2 1 1\n", TD_FORMAT, ":2: the size line has more");
    test_expect_failure("b7.mtx", BANNER("pattern general") "-2 -2 1\n", TD_FORMAT, ":2: the number of rows is -2");
    test_expect_failure("b8.mtx", BANNER("pattern general") "4294967295 4294967295 0\n", TD_FORMAT,
                        ":2: 4294967295 vertices; at most 4294967294");
    test_expect_failure("b9.mtx", "", TD_FORMAT, "is empty");
}

TEST(the_header_promises_as_many_entries_as_there_are)
{
    test_expect_failure("few.mtx", BANNER("pattern general") "2 2 3\n1 2\n2 1\n", TD_FORMAT, "promises 3 entries, 2 follow");
    test_expect_failure("many.mtx", BANNER("pattern general") "2 2 1\n1 2\n2 1\n", TD_FORMAT, "promises 1 entries, 2 follow");
    test_expect_failure("skew.mtx", BANNER("real skew-symmetric") "2 2 2\n2 1 1\n", TD_FORMAT, "promises 2 entries, 1 follow");
}

TEST(an_entry_lies_inside_the_matrix)
{
    test_expect_failure("o1.mtx", BANNER("pattern general") "2 2 1\n3 1\n", TD_FORMAT, ":3: vertex 3 is outside the declared range 1..2");
    test_expect_failure("o2.mtx", BANNER("pattern general") "2 2 1\n1 3\n", TD_FORMAT, ":3: vertex 3 is outside");
    test_expect_failure("o3.mtx", BANNER("pattern general") "2 2 2\n1 1\n0 1\n", TD_FORMAT, ":4: vertex 0 is outside");
    test_expect_failure("o4.mtx", BANNER("pattern general") "2 2 1\n1 -1\n", TD_FORMAT, ":3: the vertex is -1; it must not");
    test_expect_failure("o5.mtx", BANNER("pattern general") "2 2 1\n1 99999999999999999999\n", TD_FORMAT, "too large");
}

TEST(a_bad_entry_is_refused)
{
    test_expect_failure("e1.mtx", BANNER("pattern general") "2 2 1\n1\n", TD_FORMAT, ":3: the vertex is missing");
    test_expect_failure("e2.mtx", BANNER("pattern general") "2 2 1\n1 2 3\n", TD_FORMAT, ":3: more on the line");
    test_expect_failure("e3.mtx", BANNER("real general") "2 2 1\n1 2\n", TD_FORMAT, ":3: the value is missing");
    test_expect_failure("e4.mtx", BANNER("real general") "2 2 1\n1 2 nan\n", TD_FORMAT, ":3: the value is 'nan'; a finite");
    test_expect_failure("e5.mtx", BANNER("real general") "2 2 1\n1 2 1e99\n", TD_FORMAT, ":3: the weight 1e99 is beyond");
    test_expect_failure("e6.mtx", BANNER("integer general") "2 2 1\n1 2 1.5\n", TD_FORMAT, ":3: a fraction in a matrix of integers");
    test_expect_failure("e7.mtx", BANNER("real general") "2 2 1\n1 2 3 4\n", TD_FORMAT, ":3: more on the line");
    test_expect_failure("e8.mtx", BANNER("real general") "2 2 1\n1 2x 3\n", TD_FORMAT, ":3: the vertex is '2x'");
    test_expect_failure("e9.mtx", BANNER("integer general") "2 2 1\n1 2 4294967296\n", TD_FORMAT, ":3: the weight 4294967296");
}

TEST(threads_and_compression_change_nothing)
{
    enum { ROWS = 5000, ENTRIES = 50000 };
    char *text = malloc(ENTRIES * 32), *end = text;
    end += sprintf(end, "%s%d %d %d\n", BANNER("real symmetric"), ROWS, ROWS, ENTRIES);
    for (int i = 0; i < ENTRIES; i++)
        end += sprintf(end, "%d %d %.*f\n", i * 7 % ROWS + 1, i / 3 % ROWS + 1, i % 9, i * 0.37 - 900);
    test_expect_same_everywhere("long.mtx", text, (size_t)(end - text));
    free(text);
}

TEST(allocations_may_fail)
{
    test_expect_survival("small.mtx", BANNER("real skew-symmetric") "3 3 2\n2 1 5\n3 1 .5\n");
}

TEST_MAIN
