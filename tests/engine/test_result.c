#include "running.h"

#include "run/output.h"
#include "run/result.h"

#include <math.h>

/* 10 -> 20 -> 30 -> 20, 10 -> 30, and 40 -> 50 apart. */
static const char EDGES[] = "10 20 2\n20 30 3\n30 20 1\n10 30 9\n40 50 7\n";

static const char *file_text(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    return text;
}

static const char *written(const td_run *run, const char *format)
{
    const char *path = test_path("result");
    const td_output_format *chosen;
    CHECK_OK(td_output_format_find(format, "", &chosen));
    CHECK_OK(td_run_write(run, path, chosen, false, NULL));
    return file_text(path);
}

TEST(levels_are_written_with_original_ids)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_from("bfs", graph, 10);
    CHECK_STR(written(run, "tsv"), "10\t0\n20\t1\n30\t1\n40\tinf\n50\tinf\n");
    CHECK_STR(written(run, "csv"), "10,0\n20,1\n30,1\n40,inf\n50,inf\n");
    CHECK_STR(written(run, "graphalytics"),
              "10 0\n20 1\n30 1\n40 9223372036854775807\n50 9223372036854775807\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(distances_have_the_kind_of_the_weights)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_from("sssp", graph, 10);
    CHECK_STR(written(run, "tsv"), "10\t0\n20\t2\n30\t5\n40\tinf\n50\tinf\n");
    CHECK_STR(written(run, "graphalytics"), "10 0\n20 2\n30 5\n40 Infinity\n50 Infinity\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
    graph = graph_of("1 2 0.5\n3 3 1.0\n");
    run = run_from("sssp", graph, 1);
    CHECK_STR(written(run, "tsv"), "1\t0\n2\t0.5\n3\tinf\n");
    CHECK_STR(written(run, "graphalytics"), "1 0.000000000000000e+00\n2 5.000000000000000e-01\n3 Infinity\n");
    td_run_destroy(run);
    td_settings single = SET("sssp.precision=single");
    run = run_of("sssp", graph, (td_run_options){.has_source = true, .settings = &single});
    CHECK_STR(written(run, "tsv"), "1\t0.0\n2\t0.5\n3\tinf\n");
    td_run_destroy(run);
    td_settings_clear(&single);
    td_graph_destroy(graph);
    graph = graph_of("1 2 4294967295\n2 3 4294967295\n4 4 1\n"); /* 64 bits */
    run = run_from("sssp", graph, 1);
    CHECK_STR(written(run, "tsv"), "1\t0\n2\t4294967295\n3\t8589934590\n4\tinf\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(parents_are_a_column_of_ids)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_of("sssp", graph, (td_run_options){.has_source = true, .source = 0, .parents = true});
    CHECK_STR(written(run, "tsv"), "10\t0\t10\n20\t2\t10\n30\t5\t20\n40\tinf\t-\n50\tinf\t-\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(components_are_named_by_the_id_of_a_member)
{
    static const char *const programs[] = {"wcc", "labels"};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = graph_of(EDGES);
        td_run *run = run_of(programs[i], graph, (td_run_options){0});
        CHECK_STR(written(run, "tsv"), "10\t10\n20\t10\n30\t10\n40\t40\n50\t40\n");
        td_run_destroy(run);
        td_graph_destroy(graph);
    }
}

TEST(a_forest_is_written_as_edges)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_of("mst", graph, (td_run_options){0});
    CHECK_STR(written(run, "tsv"), "10\t20\t2\n30\t20\t1\n40\t50\t7\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
    graph = graph_of("1 2 0.25\n2 1 -0.5\n");
    run = run_of("mst", graph, (td_run_options){0});
    CHECK_STR(written(run, "csv"), "2,1,-0.5\n");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(doubles_come_back_as_they_were)
{
    td_graph *graph = graph_of("1 2\n2 3\n3 4\n");
    td_settings set = SET("circuit.ground=4");
    td_run *run = run_of("circuit", graph, (td_run_options){.settings = &set});
    double volts[4];
    CHECK_EQ(sscanf(written(run, "tsv"), "1 %lg 2 %lg 3 %lg 4 %lg", &volts[0], &volts[1], &volts[2], &volts[3]), 4);
    for (int v = 0; v < 4; v++) CHECK(volts[v] == ((double *)run->values)[v]);
    td_run_destroy(run);
    td_settings_clear(&set);
    td_graph_destroy(graph);
}

TEST(an_unknown_output_format_is_refused_with_those_there_are)
{
    const td_output_format *format;
    CHECK_STATUS(td_output_format_find("xml", "", &format), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "tsv, csv, graphalytics");
}

TEST(a_summary_counts_what_was_reached)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_from("sssp", graph, 10);
    td_run_summary summary;
    CHECK_OK(td_run_summarise(run, NULL, &summary));
    CHECK_EQ(summary.reached, 3);
    CHECK(summary.lowest == 0 && summary.highest == 5 && summary.sum == 7);
    td_run_destroy(run);
    run = run_of("wcc", graph, (td_run_options){0});
    CHECK_OK(td_run_summarise(run, NULL, &summary));
    CHECK_EQ(summary.groups, 2);
    CHECK_EQ(summary.largest, 3);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(a_digest_tells_results_apart)
{
    td_graph *graph = graph_of(EDGES), *shorter = graph_of("10 20 2\n20 30 2\n30 20 1\n10 30 9\n40 50 7\n");
    td_run *one = run_from("sssp", graph, 10), *two = run_from("sssp", graph, 10);
    td_run *other = run_from("sssp", shorter, 10);
    td_run_summary of_one, of_two, of_other;
    CHECK_OK(td_run_summarise(one, NULL, &of_one));
    CHECK_OK(td_run_summarise(two, NULL, &of_two));
    CHECK_OK(td_run_summarise(other, NULL, &of_other));
    CHECK(of_one.digest == of_two.digest);
    CHECK(of_one.digest != of_other.digest);
    td_run_destroy(one);
    td_run_destroy(two);
    td_run_destroy(other);
    td_graph_destroy(graph);
    td_graph_destroy(shorter);
}

TEST(a_digest_of_a_forest_sees_its_edges)
{
    td_graph *graph = graph_of("1 2 5\n2 3 5\n1 3 5\n"), *other = graph_of("1 2 5\n2 3 4\n1 3 4\n");
    td_run *one = run_of("mst", graph, (td_run_options){0}), *two = run_of("mst", other, (td_run_options){0});
    td_run_summary of_one, of_two;
    CHECK_OK(td_run_summarise(one, NULL, &of_one));
    CHECK_OK(td_run_summarise(two, NULL, &of_two));
    CHECK(of_one.digest != of_two.digest);
    td_run_destroy(one);
    td_run_destroy(two);
    td_graph_destroy(graph);
    td_graph_destroy(other);
}

TEST(the_top_is_the_largest_values_in_order)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_from("sssp", graph, 10);
    td_top *rows;
    uint64_t count;
    CHECK_OK(td_run_top(run, NULL, 2, &rows, &count));
    CHECK_EQ(count, 2);
    CHECK_EQ(td_graph_id(graph, rows[0].vertex), 30);
    CHECK(rows[0].value == 5);
    CHECK_EQ(td_graph_id(graph, rows[1].vertex), 20);
    td_free(rows);
    CHECK_OK(td_run_top(run, NULL, 100, &rows, &count)); /* unreached vertices are not far, they are nowhere */
    CHECK_EQ(count, 3);
    CHECK_EQ(td_graph_id(graph, rows[2].vertex), 10);
    td_free(rows);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(the_top_of_components_is_the_largest_ones)
{
    td_graph *graph = graph_of("1 1\n2 3\n4 5\n5 6\n7 8\n");
    td_run *run = run_of("wcc", graph, (td_run_options){0});
    static const uint64_t names[] = {4, 2, 7, 1};
    static const int sizes[] = {3, 2, 2, 1};
    td_top *rows;
    uint64_t count;
    CHECK_OK(td_run_top(run, NULL, 10, &rows, &count));
    CHECK_EQ(count, 4);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(td_graph_id(graph, rows[i].vertex), names[i]);
        CHECK_EQ(rows[i].value, sizes[i]);
    }
    td_free(rows);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

static td_graph *star(uint32_t leaves)
{
    char *text = NULL, *at;
    CHECK_OK(TD_NEW(&text, (uint64_t)leaves * 24 + 1, "text"));
    at = text;
    *at = '\0';
    for (uint32_t i = 1; i <= leaves; i++) at += sprintf(at, "0 %u %u\n", i, i * 7919 % 10007);
    td_graph *graph = graph_of(text);
    td_free(text);
    return graph;
}

TEST(the_top_agrees_with_a_full_sort)
{
    td_graph *graph = star(10006);
    td_run *run = run_from("sssp", graph, 0);
    for (uint64_t most = 1; most <= 20000; most *= 7) {
        td_top *rows;
        uint64_t count;
        CHECK_OK(td_run_top(run, NULL, most, &rows, &count));
        CHECK_EQ(count, most < 10007 ? most : 10007);
        for (uint64_t i = 0; i < count; i++) CHECK_EQ(rows[i].value, 10006 - i); /* 7919 i mod 10007: every value */
        td_free(rows);
    }
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(summaries_do_not_depend_on_the_threads)
{
    td_graph *graph = star(50000);
    td_run *run = run_of("pagerank", graph, (td_run_options){0});
    td_run_summary one, many;
    CHECK_OK(td_run_summarise(run, NULL, &one));
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 4));
    CHECK_OK(td_run_summarise(run, pool, &many));
    CHECK(memcmp(&one, &many, sizeof one) == 0);
    td_pool_destroy(pool);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Groups of many sizes whose vertices lie between one another: of every worker's counts, and of its heaps. */
enum { GROUPED = 60000, GROUPS = 97 };

/* The name of a vertex's group: its lowest vertex, as after a run; a vertex of another group, as in a run that has not
 * finished; its lowest vertex, or itself because nearly all are alone. */
static uint32_t name_of(int shape, uint32_t v)
{
    uint32_t group = v < GROUPS ? v : v % 3 == 0 ? (v / 3 * 31) % GROUPS : 5;
    if (shape == 1) return (group + 1) % GROUPS + 20000;
    return shape == 2 && v % 11 > 0 ? v : group;
}

static void check_groups(const td_run *run, td_pool *pool, const uint32_t *sizes)
{
    td_run_summary summary;
    td_top *rows;
    uint64_t count, groups = 0;
    uint32_t largest = 0;
    for (uint32_t v = 0; v < GROUPED; v++) {
        groups += sizes[v] > 0;
        largest = sizes[v] > largest ? sizes[v] : largest;
    }
    CHECK_OK(td_run_summarise(run, pool, &summary));
    CHECK_EQ(summary.groups, groups);
    CHECK_EQ(summary.largest, largest);
    CHECK_OK(td_run_top(run, pool, 50, &rows, &count));
    CHECK_EQ(count, 50);
    for (uint64_t r = 0; r < count; r++) CHECK_EQ(rows[r].value, sizes[rows[r].vertex]);
    for (uint64_t r = 1; r < count; r++)
        CHECK(rows[r - 1].value > rows[r].value ||
              (rows[r - 1].value == rows[r].value && rows[r - 1].vertex < rows[r].vertex));
    td_free(rows);
}

/* In a budget they are counted in windows. */
TEST(groups_and_their_top_do_not_depend_on_the_threads)
{
    static uint32_t sizes[GROUPED];
    td_graph *graph = star(GROUPED - 1);
    td_run *run = run_of("wcc", graph, (td_run_options){0});
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 4));
    for (int shape = 0; shape < 3; shape++) {
        memset(sizes, 0, sizeof sizes);
        for (uint32_t v = 0; v < GROUPED; v++) sizes[((uint32_t *)run->values)[v] = name_of(shape, v)]++;
        for (int i = 0; i < 4; i++) {
            if (i >= 2) td_memory_set_budget(td_memory().now + (128 << 10));
            check_groups(run, i % 2 == 0 ? NULL : pool, sizes);
            td_memory_set_budget(0);
        }
    }
    td_pool_destroy(pool);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

static td_status use_result(const td_run *run)
{
    td_run_summary summary;
    td_top *rows = NULL;
    uint64_t count;
    TD_CHECK(td_run_summarise(run, NULL, &summary));
    TD_CHECK(td_run_top(run, NULL, 3, &rows, &count));
    td_free(rows);
    return td_run_write(run, test_path("memory"), &td_output_formats[0], false, NULL);
}

TEST(failing_allocations_are_reported_and_leak_nothing)
{
    td_graph *graph = graph_of(EDGES);
    td_run *run = run_of("wcc", graph, (td_run_options){0});
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = use_result(run);
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    CHECK(nth > 5);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Plans count the first rows of a report alone. */
TEST(a_report_that_memory_is_too_short_for_ends_early)
{
    td_run run = {0};
    td_run_options options = {0};
    td_row row = {0};
    for (int i = 0; i < 64; i++) CHECK_OK(td_run_add_row(&run, &options, &row));
    td_alloc_fail_at(1);
    CHECK_OK(td_run_add_row(&run, &options, &row));
    td_alloc_fail_at(0);
    for (int i = 0; i < 100; i++) CHECK_OK(td_run_add_row(&run, &options, &row));
    CHECK_EQ(run.row_count, 64); /* the first ones, without a gap */
    td_free(run.rows);
}

TEST_MAIN
