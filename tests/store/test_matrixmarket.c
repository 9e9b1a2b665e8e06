#include "text_reading.h"

#define BANNER(words) "%%MatrixMarket matrix coordinate " words "\n"
#define PATTERN BANNER("pattern general")
#define REAL BANNER("real general")

static void refuse(const char *name, const char *text, const char *part)
{
    test_expect_failure(name, text, TD_FORMAT, part);
}

TEST(a_pattern_is_a_graph_without_weights)
{
    test_expect_graph("a.mtx", PATTERN "% note\n\n3 3 2\n1 2\n3 1\n", "3: 1>2 3>1");
}

TEST(values_are_weights)
{
    test_expect_graph("i.mtx", BANNER("integer general") "2 2 2\n1 2 7\n2 1 0\n", "2: 1>2:7 2>1:0");
    test_expect_graph("n.mtx", BANNER("integer general") "2 2 2\n1 2 -7\n2 1 0\n", "2: 1>2:-7 2>1:0");
    test_expect_graph("r.mtx", REAL "2 2 2\n1 2 -1.5e-3\n2 1 4\n", "2: 1>2:-0.0015 2>1:4");
}

TEST(real_values_stay_floats_even_if_all_are_whole)
{
    td_graph *graph = NULL;
    const char *text = REAL "2 2 1\n1 2 3\n";
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
    refuse("kd.mtx", BANNER("real skew-symmetric") "2 2 1\n2 2 1\n", ":3: entry (2, 2) on the");
    refuse("kp.mtx", BANNER("pattern skew-symmetric") "2 2 1\n2 1\n", ":1: a pattern cannot");
}

TEST(the_banner_may_be_written_in_any_case)
{
    test_expect_graph("case.mtx", "%%matrixmarket MATRIX Coordinate Pattern GENERAL\r\n2 2 1\r\n1 2\r\n", "2: 1>2");
}

TEST(a_matrix_without_entries_is_a_graph_without_edges)
{
    test_expect_graph("none.mtx", PATTERN "3 3 0\n", "3:");
    test_expect_graph("none2.mtx", BANNER("real symmetric") "3 3 0", "3:");
}

TEST(vertices_without_edges_are_kept) { test_expect_graph("iso.mtx", PATTERN "9 9 1\n2 3\n", "9: 2>3"); }

TEST(what_is_no_sparse_real_matrix_is_not_supported)
{
    test_expect_failure("c.mtx", BANNER("complex general") "1 1 1\n1 1 0 0\n", TD_UNSUPPORTED, "field 'complex'");
    test_expect_failure("h.mtx", BANNER("real hermitian") "1 1 1\n1 1 0\n", TD_UNSUPPORTED, "symmetry 'hermitian'");
    test_expect_failure("d.mtx", "%%MatrixMarket matrix array real general\n1 1\n0\n", TD_UNSUPPORTED,
                        "format 'array'");
    test_expect_failure("v.mtx", "%%MatrixMarket vector coordinate real general\n1 1\n0\n", TD_UNSUPPORTED, "'vector'");
    refuse("rect.mtx", PATTERN "3 4 1\n1 2\n", ":2: the matrix is 3 x 4");
}

TEST(a_bad_header_is_refused)
{
    refuse("b1.mtx", "1 1 1\n1 1\n", ":1: the first line does not begin with %%MatrixMarket");
    refuse("b2.mtx", "%%MatrixMarket matrix coordinate\n", ":1: 3 words where 5 are needed");
    refuse("b3.mtx", PATTERN "% only\n", "ends before the size line");
    refuse("b4.mtx", PATTERN "2 2\n", ":2: the number of entries is missing");
    refuse("b5.mtx", PATTERN "2 2 x\n", ":2: the number of entries is 'x'");
    refuse("b6.mtx", PATTERN "2 2 1 1\n", ":2: the size line has more");
    refuse("b7.mtx", PATTERN "-2 -2 1\n", ":2: the number of rows is -2");
    refuse("b8.mtx", PATTERN "4294967295 4294967295 0\n", ":2: 4294967295 vertices; at most 4294967294");
    refuse("b9.mtx", "", "is empty");
}

TEST(the_header_promises_as_many_entries_as_there_are)
{
    refuse("few.mtx", PATTERN "2 2 3\n1 2\n2 1\n", "promises 3 entries, 2 follow");
    refuse("many.mtx", PATTERN "2 2 1\n1 2\n2 1\n", "promises 1 entries, 2 follow");
    refuse("skew.mtx", BANNER("real skew-symmetric") "2 2 2\n2 1 1\n", "promises 2 entries, 1 follow");
}

TEST(an_entry_lies_inside_the_matrix)
{
    refuse("o1.mtx", PATTERN "2 2 1\n3 1\n", ":3: vertex 3 is outside the declared range 1..2");
    refuse("o2.mtx", PATTERN "2 2 1\n1 3\n", ":3: vertex 3 is outside");
    refuse("o3.mtx", PATTERN "2 2 2\n1 1\n0 1\n", ":4: vertex 0 is outside");
    refuse("o4.mtx", PATTERN "2 2 1\n1 -1\n", ":3: the vertex is -1; it must not");
    refuse("o5.mtx", PATTERN "2 2 1\n1 99999999999999999999\n", "too large");
}

TEST(a_bad_entry_is_refused)
{
    refuse("e1.mtx", PATTERN "2 2 1\n1\n", ":3: the vertex is missing");
    refuse("e2.mtx", PATTERN "2 2 1\n1 2 3\n", ":3: more on the line");
    refuse("e3.mtx", REAL "2 2 1\n1 2\n", ":3: the value is missing");
    refuse("e4.mtx", REAL "2 2 1\n1 2 nan\n", ":3: the value is 'nan'; a finite");
    refuse("e5.mtx", REAL "2 2 1\n1 2 1e99\n", ":3: the weight 1e99 is beyond");
    refuse("e6.mtx", BANNER("integer general") "2 2 1\n1 2 1.5\n", ":3: a fraction in a matrix of integers");
    refuse("e7.mtx", REAL "2 2 1\n1 2 3 4\n", ":3: more on the line");
    refuse("e8.mtx", REAL "2 2 1\n1 2x 3\n", ":3: the vertex is '2x'");
    refuse("e9.mtx", BANNER("integer general") "2 2 1\n1 2 4294967296\n", ":3: the weight 4294967296");
}

TEST(a_header_that_promises_billions_of_vertices_is_an_error_under_a_budget)
{
    td_graph *graph = NULL;
    const char *text = PATTERN "4294967294 4294967294 1\n1 4294967294\n";
    test_write_file(test_path("billions.mtx"), text, strlen(text));
    td_memory_set_budget(td_memory().now + (UINT64_C(256) << 20));
    td_status status = test_read(&graph, test_path("billions.mtx"), NULL, 2);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "budget");
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
