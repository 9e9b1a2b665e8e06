#include "text_reading.h"

TEST(blanks_tabs_commas_and_semicolons_separate_in_any_mix)
{
    test_expect_graph("mix.txt", "1 2\n1\t3\n2,3\n3;1\n  3 ,\t4 ;\n", "4: 1>2 1>3 2>3 3>1 3>4");
}

TEST(comments_and_blank_lines_are_passed_over)
{
    test_expect_graph("notes.txt", "# Nodes: 9 Edges: 2\n% also this\n\n   \n1 2\n# in between\n\n2 1\n#no end",
                      "2: 1>2 2>1");
}

TEST(lines_may_end_like_those_of_windows)
{
    test_expect_graph("crlf.txt", "# one\r\n1 2\r\n\r\n2 3\r\n", "3: 1>2 2>3");
    test_expect_graph("crlf.csv", "source,target\r\n1,2\r\n2,3", "3: 1>2 2>3");
}

TEST(the_last_newline_may_be_missing)
{
    test_expect_graph("end.txt", "1 2\n2 3", "3: 1>2 2>3");
    test_expect_graph("end.wel", "1 2 5\n2 3 6", "3: 1>2:5 2>3:6");
}

TEST(a_first_line_of_words_is_a_header)
{
    test_expect_graph("header.csv", "source,target,weight\n1,2,3\n", "2: 1>2:3");
    test_expect_graph("quoted.csv", "# exported\n\"from\";\"to\"\n1;2\n", "2: 1>2");
    test_expect_failure("late.csv", "1,2\nsource,target\n", TD_FORMAT, ":2: the vertex id is 'source'");
    test_expect_failure("twice.csv", "source,target\nfrom,to\n1,2\n", TD_FORMAT, ":2: the vertex id is 'from'");
}

TEST(a_byte_order_mark_is_no_part_of_the_first_id)
{
    test_expect_graph("mark.csv", "\xef\xbb\xbf" "1,2\n", "2: 1>2");
    test_expect_graph("mark2.csv", "\xef\xbb\xbf" "from,to\n1,2\n", "2: 1>2");
}

static char said[2048];

static void hear(void *context, td_log_level level, const char *line)
{
    (void)context;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s%s\n", level == TD_LOG_WARN ? "warning: " : "", line);
}

/* What reading these lines says. */
static const char *said_of(const char *name, const char *text, const char *graph)
{
    said[0] = '\0';
    td_log_set_sink(hear, NULL);
    test_expect_graph(name, text, graph);
    td_log_set_sink(NULL, NULL);
    return said;
}

TEST(weights_are_not_rounded_silently)
{
    CHECK_CONTAINS(said_of("tenth.wel", "1 2 0.1\n2 1 0.5\n", "2: 1>2:0.1 2>1:0.5"), "some were rounded");
    CHECK_STR(said_of("half.wel", "1 2 0.25\n2 1 0.5\n", "2: 1>2:0.25 2>1:0.5"), "");
    CHECK_STR(said_of("whole.wel", "1 2 16777217\n2 1 5\n", "2: 1>2:1.67772e+07 2>1:5"), "");
    CHECK_CONTAINS(said_of("mixed.wel", "1 2 16777217\n2 1 0.5\n", "2: 1>2:1.67772e+07 2>1:0.5"),
                   "integer weights beyond 2^24 = 16777216 are rounded");
    CHECK_CONTAINS(said, "warning: ");
}

TEST(ids_are_any_64_bit_numbers)
{
    test_expect_graph("sparse.txt", "18446744073709551615 0\n9999999999 7\n",
                      "4: 9999999999>7 18446744073709551615>0");
    test_expect_failure("above.txt", "1 2\n18446744073709551616 3\n", TD_FORMAT,
                        ":2: the vertex id 18446744073709551616 is too large");
}

TEST(loops_and_parallel_edges_are_kept) { test_expect_graph("multi.txt", "5 5\n5 6\n5 6\n", "2: 5>5 5>6 5>6"); }

TEST(weights_are_integers_or_reals)
{
    test_expect_graph("int.wel", "1 2 4294967295\n2 1 0\n", "2: 1>2:4.29497e+09 2>1:0");
    test_expect_graph("real.wel", "1 2 0.5\n2 1 -3e2\n1 1 7\n", "2: 1>1:7 1>2:0.5 2>1:-300");
    test_expect_graph("signed.wel", "1 2 -4\n2 1 +4\n", "2: 1>2:-4 2>1:4");
}

TEST(a_weight_that_cannot_be_kept_is_refused)
{
    test_expect_failure("nan.wel", "1 2 3\n1 2 nan\n", TD_FORMAT, ":2: the weight is 'nan'; a finite number");
    test_expect_failure("inf.wel", "1 2 -inf\n", TD_FORMAT, ":1: the weight is '-inf'");
    test_expect_failure("huge.wel", "1 2 1e39\n", TD_FORMAT, ":1: the weight 1e39 is beyond the range of a float");
    test_expect_failure("tiny.wel", "1 2 0.5\n2 3 1e-50\n", TD_FORMAT, ":2: the weight 1e-50 is below the range of a float");
    test_expect_failure("none.wel", "1 2 1e-400\n", TD_FORMAT, ":1: the weight 1e-400 is below the range of a float");
    test_expect_graph("zero.wel", "1 2 0.0\n2 3 0e5\n3 1 .5\n", "3: 1>2:0 2>3:0 3>1:0.5");
    test_expect_failure("huger.wel", "1 2 1e999\n", TD_FORMAT, ":1: the weight 1e999 is too large");
    test_expect_failure("wide.wel", "1 2 4294967296\n", TD_FORMAT, ":1: the weight 4294967296 is beyond 4294967295");
    test_expect_failure("wide.wel", "1 2 4294967296\n", TD_FORMAT, "kept as a float, and weights f64 allows 2^53");
    test_expect_failure("word.wel", "1 2 3\n1 2 heavy\n", TD_FORMAT, ":2: the weight is 'heavy'");
    test_expect_failure("tail.wel", "1 2 3\n1 2 3kg\n", TD_FORMAT, ":2: the weight is '3kg'");
}

TEST(every_line_has_as_many_columns_as_the_first)
{
    test_expect_failure("missing.wel", "1 2 3\n\n1 2\n", TD_FORMAT, ":3: 2 columns, but the first edge has 3");
    test_expect_failure("extra.el", "1 2\n1 2 3\n", TD_FORMAT, ":2: 3 columns, but the first edge has 2");
    test_expect_failure("one.el", "1 2\n7\n", TD_FORMAT, ":2: 1 column; an edge has 2");
    test_expect_failure("four.txt", "1 2 3 4\n", TD_FORMAT, ":1: 4 columns; an edge has 2");
    test_expect_failure("five.wel", "1 2 3\n1 2 3 4 5\n", TD_FORMAT, ":2: 5 columns; an edge has 2");
    test_expect_failure("empty.csv", "1,2,3\n1,2,\n", TD_FORMAT, ":2: 2 columns, but the first edge has 3");
}

TEST(an_id_that_is_none_is_refused)
{
    test_expect_failure("negative.txt", "1 2\n-5 2\n", TD_FORMAT, ":2: the vertex id is -5; it must not be negative");
    test_expect_failure("negative2.txt", "1 2\n5 -2\n", TD_FORMAT, ":2: the vertex id is -2; it must not be negative");
    test_expect_failure("fraction.txt", "1 2\n1.5 2\n", TD_FORMAT, ":2: the vertex id is '1.5'");
    test_expect_failure("word.txt", "1 2\n1 b\n", TD_FORMAT, ":2: the vertex id is 'b'");
    test_expect_failure("glued.txt", "1 2\n1 2#3\n", TD_FORMAT, ":2: the vertex id is '2#3'");
}

TEST(a_file_without_edges_is_an_error)
{
    test_expect_failure("empty.txt", "", TD_FORMAT, "is empty");
    test_expect_failure("comments.txt", "# nothing\n\n% more\n", TD_FORMAT, "no edge in it");
    test_expect_failure("header.csv", "source,target\n", TD_FORMAT, "no edge in it");
}

/* Ids and weights of all lengths, comments now and then: several pieces. */
static char *long_list(size_t lines, bool weighted, size_t *bytes)
{
    char *text = malloc(lines * 64), *end = text;
    for (size_t i = 0; i < lines; i++) {
        uint64_t mixed = i * UINT64_C(0x9e3779b97f4a7c15) >> 20;
        if (i % 1000 == 999) end += sprintf(end, "# line %zu\n", i);
        end += sprintf(end, "%zu%c%" PRIu64, i * i % 10007, i % 7 == 0 ? ',' : ' ', mixed % 99991);
        if (weighted) end += sprintf(end, "\t%" PRIu64, mixed >> (mixed % 30 + 14));
        end += sprintf(end, i % 5 == 0 ? "\r\n" : "\n");
    }
    *bytes = (size_t)(end - text);
    return text;
}

TEST(threads_and_compression_change_nothing)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        size_t bytes;
        char *text = long_list(60000, weighted, &bytes);
        test_expect_same_everywhere(weighted ? "long.wel" : "long.el", text, bytes);
        free(text);
    }
}

TEST(the_line_named_is_right_in_a_long_file_too)
{
    size_t bytes;
    char *text = long_list(60000, false, &bytes), *at = text;
    for (int line = 1; line < 50000; line++) at = strchr(at, '\n') + 1;
    at[0] = 'X';
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        td_graph *graph = NULL;
        const char *path = test_path(codec < 0 ? "bad.el" : "bad.el.packed");
        if (codec < 0)
            test_write_file(path, text, bytes);
        else if (!test_write_compressed(path, text, bytes, 2, test_codecs[codec].compress))
            continue;
        for (int threads = 1; threads <= 8; threads *= 2) {
            CHECK_STATUS(test_read(&graph, path, "edgelist", threads), TD_FORMAT);
            CHECK_CONTAINS(td_last_message(), ":50000: ");
        }
    }
    free(text);
}

TEST(comments_longer_than_the_head_are_passed_over)
{
    size_t bytes = 300000;
    char *text = malloc(bytes + 32);
    for (size_t i = 0; i < bytes; i++) text[i] = i % 100 == 99 ? '\n' : i % 100 == 0 ? '#' : 'c';
    strcpy(text + bytes, "1 2 3\n2 1 4\n");
    test_expect_graph("comments.txt", text, "2: 1>2:3 2>1:4");
    free(text);
}

TEST(allocations_may_fail)
{
    test_expect_survival("small.wel", "1 2 3\n2 9999999999 4\n3 1 -1\n");
    test_expect_survival("small.el", "0 1\n1 2\n");
}

TEST_MAIN
