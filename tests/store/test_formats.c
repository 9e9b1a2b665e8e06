#include "text_reading.h"

#include "store/packed.h"

static const char *detected(const char *name, const char *text, size_t bytes)
{
    const td_format *format = NULL;
    test_write_file(test_path(name), text, bytes);
    CHECK_OK(td_format_detect(test_path(name), &format));
    return format->name;
}

static const char *detected_text(const char *name, const char *text) { return detected(name, text, strlen(text)); }

TEST(content_comes_before_name)
{
    CHECK_STR(detected_text("a.txt", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n"), "mtx");
    CHECK_STR(detected_text("a.txt", "c note\np sp 1 0\n"), "dimacs");
    CHECK_STR(detected_text("a", "# note\n1 2\n"), "edgelist");
    CHECK_STR(detected_text("a.weird", "1,2,0.5\n"), "edgelist");
}

TEST(a_name_decides_where_the_content_does_not)
{
    CHECK_STR(detected_text("a.gr", "c only a note\n"), "dimacs");
    CHECK_STR(detected_text("a.csv", "???\n"), "edgelist");
    CHECK_STR(detected_text("A.MTX", "1 1 1\n1 1\n"), "mtx");
}

TEST(suffixes_of_compressors_are_looked_through)
{
    const char *text = "c only a note\n";
    for (int codec = 0; codec < TEST_CODECS; codec++) {
        const td_format *format = NULL;
        char name[32];
        snprintf(name, sizeof name, "a.gr%s", test_codecs[codec].suffix);
        if (!test_write_compressed(test_path(name), text, strlen(text), 1, test_codecs[codec].compress)) continue;
        CHECK_OK(td_format_detect(test_path(name), &format));
        CHECK_STR(format->name, "dimacs");
    }
}

TEST(a_file_that_nothing_fits_is_an_error_that_lists_the_formats)
{
    const td_format *format = NULL;
    test_write_file(test_path("noise"), "\x01\x02garbage\xff", 10);
    CHECK_STATUS(td_format_detect(test_path("noise"), &format), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), test_path("noise"));
    for (int i = 0; td_formats[i] != NULL; i++) CHECK_CONTAINS(td_last_message(), td_formats[i]->name);
    CHECK_STATUS(td_format_detect(test_folder(), &format), TD_IO);
    CHECK(format == NULL);
}

TEST(a_format_can_be_named)
{
    td_graph *graph = NULL;
    test_write_file(test_path("plain.mtx"), "5 6\n", 4);
    CHECK_OK(test_read(&graph, test_path("plain.mtx"), "edgelist", 1));
    CHECK_STR(test_describe(graph), "2: 5>6");
    td_graph_destroy(graph);
    CHECK_STATUS(test_read(&graph, test_path("plain.mtx"), "edgelst", 1), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "no format 'edgelst'; known are");
}

TEST(every_format_says_what_it_is)
{
    for (int i = 0; td_formats[i] != NULL; i++) {
        const td_format *format = td_formats[i];
        CHECK(format->name[0] != '\0' && format->description[0] != '\0');
        CHECK(format->suffixes != NULL && format->recognise != NULL);
        CHECK(td_format_named(format->name) == format);
        td_probe nothing = {.path = "x", .suffix = "", .head = ""};
        CHECK_EQ(format->recognise(&nothing), 0);
    }
}

/* Reads text with options, and the packed file of the same text with the same options. */
static void expect_same_from_packed(const char *text, td_build_options options, const char *description)
{
    td_graph *plain = NULL, *packed = NULL;
    test_write_file(test_path("g.txt"), text, strlen(text));
    CHECK_OK(td_graph_read(&plain, test_path("g.txt"), NULL, NULL, NULL));
    CHECK_OK(td_packed_write(plain, test_path("g.tg"), NULL));
    td_graph_destroy(plain);
    CHECK_OK(td_graph_read(&plain, test_path("g.txt"), NULL, &options, NULL));
    CHECK_OK(td_graph_read(&packed, test_path("g.tg"), NULL, &options, NULL));
    CHECK_OK(td_graph_check(packed, NULL));
    CHECK_STR(test_describe(packed), description);
    CHECK(test_digest(packed) == test_digest(plain));
    td_graph_destroy(plain);
    td_graph_destroy(packed);
}

TEST(build_options_apply_to_a_packed_file_too)
{
    const char *list = "7 7 1\n7 100 5\n7 100 3\n9 7 4\n";
    expect_same_from_packed(list, (td_build_options){0}, "3: 7>7:1 7>100:3 7>100:5 9>7:4");
    expect_same_from_packed(list, (td_build_options){.drop_loops = true}, "3: 7>100:3 7>100:5 9>7:4");
    expect_same_from_packed(list, (td_build_options){.dedup = true}, "3: 7>7:1 7>100:3 9>7:4");
    expect_same_from_packed(list, (td_build_options){.symmetrize = true, .dedup = true},
                            "3: 7>7:1 7>9:4 7>100:3 9>7:4 100>7:3");
    expect_same_from_packed(list, (td_build_options){.drop_weights = true}, "3: 7>7 7>100 7>100 9>7");
    expect_same_from_packed("1 2 .5\n2 1 -1\n", (td_build_options){.symmetrize = true, .dedup = true},
                            "2: 1>2:-1 2>1:-1");
}

TEST(a_packed_file_that_is_symmetric_is_not_doubled)
{
    td_graph *graph = NULL;
    td_build_options options = {.symmetrize = true};
    test_write_file(test_path("s.txt"), "1 2\n", 4);
    CHECK_OK(td_graph_read(&graph, test_path("s.txt"), NULL, &options, NULL));
    CHECK_OK(td_packed_write(graph, test_path("s.tg"), NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_graph_read(&graph, test_path("s.tg"), NULL, &options, NULL));
    CHECK_STR(test_describe(graph), "2: 1>2 2>1");
    CHECK(graph->symmetric);
    td_graph_destroy(graph);
}

TEST(a_rebuild_survives_failing_allocations)
{
    td_graph *graph = NULL;
    td_build_options options = {.symmetrize = true, .dedup = true};
    test_write_file(test_path("f.txt"), "1 2 3\n9 1 4\n", 12);
    CHECK_OK(td_graph_read(&graph, test_path("f.txt"), NULL, NULL, NULL));
    CHECK_OK(td_packed_write(graph, test_path("f.tg"), NULL));
    td_graph_destroy(graph);
    uint64_t held = td_memory().now, nth = 0;
    td_status status;
    do {
        td_alloc_fail_at(++nth);
        status = td_graph_read(&graph, test_path("f.tg"), NULL, &options, NULL);
        td_alloc_fail_at(0);
        if (status == TD_OK) td_graph_destroy(graph);
        CHECK_EQ(td_memory().now, held);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
    } while (status != TD_OK && nth < 1000);
    CHECK_OK(status);
    CHECK(nth > 10);
}

TEST_MAIN
