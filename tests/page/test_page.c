/* The page about runs, from reports that are wrong, hostile, or long. */
#include "test.h"

#include "page/page.h"

#include <stdlib.h>

#define HEAD "\"program\": \"bfs\", \"engine\": \"cpu\""

static td_status make(const char *json, char **html)
{
    return td_page_make(&(td_page_source){"it.json", json, strlen(json)}, 1, html);
}

TEST(a_report_without_rows_or_figures_is_enough)
{
    char *html = NULL;
    CHECK_OK(make("{" HEAD ", \"rows\": []}", &html));
    CHECK_CONTAINS(html, "No iteration was recorded");
    free(html);
}

TEST(what_is_no_report_is_refused)
{
    static const struct { const char *json, *words; } wrong[] = {
        {"[]", "no JSON object"}, {"{}", "no \"program\""}, {"{\"program\": \"bfs\"}", "no \"engine\""},
        {"{" HEAD "}", "no \"rows\""}, {"{" HEAD ", \"rows\": {}}", "\"rows\" is not a list"},
        {"{" HEAD ", \"rows\": [1]}", "no object"}, {"{" HEAD ", \"rows\": [{\"edges\": -1}]}", "\"rows[].edges\""},
        {"{" HEAD ", \"rows\": [{\"edges\": \"9\"}]}", "\"rows[].edges\""},
        {"{" HEAD ", \"rows\": [{\"direction\": 5}]}", "\"rows[].direction\" is not a text"},
        {"{" HEAD ", \"rows\": [{\"busy\": [1, [2]]}]}", "\"rows[].busy\""},
        {"{\"program\": 5, \"engine\": \"cpu\", \"rows\": []}", "no \"program\""},
        {"{" HEAD ", \"seconds\": -1, \"rows\": []}", "\"seconds\" is not a number from 0"},
        {"{" HEAD ", \"seconds\": 1e300, \"rows\": []}", "\"seconds\" is not a number from 0 to 1e21"},
        {"{" HEAD ", \"rows\": [{\"edges\": 1e300}]}", "\"rows[].edges\""},
        {"{" HEAD ", \"rows\": [{\"busy\": [1e300]}]}", "\"rows[].busy\""},
        {"{" HEAD ", \"plan\": [], \"rows\": []}", "\"plan\" is not an object"},
        {"{" HEAD ", \"plan\": {\"why\": 1}, \"rows\": []}", "\"plan.why\""},
        {"{" HEAD ", \"devices\": [{}], \"rows\": []}", "\"devices[].name\""},
        {"{" HEAD ", \"devices\": [{\"name\": \"cpu\", \"edges\": null, \"peak_bytes\": true}], \"rows\": []}",
         "peak_bytes"},
        {"{" HEAD ", \"converged\": 1, \"rows\": []}", "\"converged\" is not true or false"},
        {"{" HEAD ", \"rows\": []", "line 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *html = NULL;
        td_status status = make(wrong[i].json, &html);
        if (status != TD_FORMAT) TEST_FAIL("%s gives %s", wrong[i].json, td_status_name(status));
        CHECK_CONTAINS(td_last_message(), wrong[i].words);
        CHECK_CONTAINS(td_last_message(), "it.json");
        CHECK(html == NULL);
    }
}

static const char *find_any(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strstr(text, *words) != NULL) return *words;
    return NULL;
}

#define EVIL "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\\\"&"

TEST(texts_are_escaped_everywhere)
{
    static const char *const forbidden[] = {"<script>alert", "<img", "onerror='", "\"&\"", NULL};
    char *html = NULL;
    const char *json = "{\"program\": \"" EVIL "\", \"engine\": \"" EVIL "\", \"mode\": \"" EVIL
                       "\", \"input\": \"" EVIL "\", \"verified\": \"" EVIL "\", \"plan\": {\"engine\": \"" EVIL
                       "\", \"why\": \"" EVIL "\"}, \"result\": {\"digest\": \"" EVIL "\"}, \"devices\": [{\"name\": \"" EVIL
                       "\"}], \"rows\": [{\"direction\": \"" EVIL "\", \"edges\": 5, \"active_vertices\": 3}]}";
    CHECK_OK(td_page_make(&(td_page_source){"</h2><script>alert(3)</script>\"'<img>", json, strlen(json)}, 1, &html));
    const char *found = find_any(html, forbidden);
    if (found != NULL) TEST_FAIL("the page has %s", found);
    CHECK_CONTAINS(html, "&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&quot;&amp;");
    int scripts = 0;
    for (const char *at = html; (at = strstr(at, "<script")) != NULL; at++) scripts++;
    CHECK_EQ(scripts, 1);
    free(html);
}

TEST(names_that_are_no_utf8_leave_the_page_utf8)
{
    const char *json = "{" HEAD ", \"rows\": []}";
    char *html = NULL;
    CHECK_OK(td_page_make(&(td_page_source){"caf\xe9 \xc3\xa9 \xe2\x82", json, strlen(json)}, 1, &html));
    CHECK_CONTAINS(html, "<bdi>caf\xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd</bdi>");
    free(html);
}

/* The exact figure of a key in the summary, -1 where the page has none. */
static double summary_figure(const char *html, const char *key)
{
    char words[100];
    snprintf(words, sizeof words, "<td data-key=\"%s\" data-value=\"", key);
    const char *at = strstr(html, words);
    return at != NULL ? strtod(at + strlen(words), NULL) : -1;
}

TEST(phases_are_shown_and_missing_ones_are_not_zero)
{
    char *html = NULL;
    CHECK_OK(make("{" HEAD ", \"times\": {\"start\": 1, \"plan\": 2, \"finish\": 3, \"write\": 4}, "
                  "\"wall\": {\"seconds\": 11, \"report\": 0.5, \"close\": 0.25}, \"rows\": []}", &html));
    CHECK_EQ(summary_figure(html, "start"), 1);
    CHECK_EQ(summary_figure(html, "plan"), 2);
    CHECK_EQ(summary_figure(html, "finish"), 3);
    CHECK_EQ(summary_figure(html, "write"), 4);
    CHECK_EQ(summary_figure(html, "wall"), 11);
    CHECK_EQ(summary_figure(html, "wall_close"), 0.25);
    CHECK_EQ(summary_figure(html, "verify"), -1);
    free(html);
    CHECK_OK(make("{" HEAD ", \"times\": {\"output\": 5}, \"rows\": []}", &html)); /* an older report */
    CHECK_EQ(summary_figure(html, "write"), 5);
    free(html);
}

TEST(a_phase_that_one_of_two_runs_had)
{
    const char *with = "{" HEAD ", \"times\": {\"verify\": 5}, \"rows\": []}", *without = "{" HEAD ", \"rows\": []}";
    td_page_source sources[] = {{"a", with, strlen(with)}, {"b", without, strlen(without)}};
    char *html = NULL;
    CHECK_OK(td_page_make(sources, 2, &html));
    CHECK_CONTAINS(html, "<td data-key=\"verify\" data-value=\"5\">5 s</td><td>–</td>");
    free(html);
}

/* The bands of the wall clock: every phase has its length on one scale, the planner's estimate beside it. */
TEST(phases_are_drawn_as_long_as_they_were)
{
    char *html = NULL;
    CHECK_OK(make("{" HEAD ", \"seconds\": 5, \"times\": {\"start\": 1, \"load\": 1, \"finish\": 2}, \"wall\": {\"report\": "
                  "1}, \"predicted\": {\"seconds\": 5, \"load\": 1, \"processing\": 4}, \"rows\": []}", &html));
    CHECK_CONTAINS(html, "took 10 s");
    CHECK_CONTAINS(html, "<path class=\"p0\" d=\"M0 100V0H200V100Z\"/><path class=\"p3\" d=\"M200 100V0H700V100Z\"/>"
                         "<path class=\"p4\" d=\"M700 100V0H1000V100Z\"/>");
    CHECK_CONTAINS(html, "expected by the plan 5 s");
    CHECK_CONTAINS(html, "<path class=\"p0\" d=\"M0 100V0H100V100Z\"/><path class=\"p3\" d=\"M100 100V0H500V100Z\"/>");
    CHECK_CONTAINS(html, ", loading 2 s, processing 5 s, finishing 3 s\"");
    free(html);
    CHECK_OK(make("{" HEAD ", \"rows\": []}", &html));
    CHECK(strstr(html, "class=\"band phases") == NULL);
    free(html);
}

/* A device that took edges in a time that was not measured was not busy for 0 seconds. */
TEST(busy_seconds_that_were_not_measured)
{
    char *html = NULL;
    CHECK_OK(make("{" HEAD ", \"devices\": [{\"name\": \"cuda:0\", \"edges\": 5}, {\"name\": \"cuda:1\"}], \"rows\": []}", &html));
    CHECK_CONTAINS(html, "<th scope=\"row\">cuda:0</th><td data-key=\"busy_seconds\" data-value=\"0\">not measured</td>");
    CHECK_CONTAINS(html, "<th scope=\"row\">cuda:1</th><td data-key=\"busy_seconds\" data-value=\"0\">0 s</td>");
    free(html);
}

/* A report with this many iterations; free() frees it. */
static char *long_report(uint32_t rows)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    fprintf(file, "{" HEAD ", \"iterations\": %u, \"devices\": [{\"name\": \"cpu\"}], \"rows\": [", rows);
    for (uint32_t i = 0; i < rows; i++)
        fprintf(file, "%s{\"number\": %u, \"direction\": \"%s\", \"active_vertices\": %u, \"edges\": %u, "
                "\"start\": %u, \"seconds\": 1}", i > 0 ? "," : "", i, i % 3 == 0 ? "pull" : "push",
                i == 54321 ? 777777u : i % 1000, i % 77, i);
    fputs("]}", file);
    fclose(file);
    return text;
}

TEST(a_hundred_thousand_iterations_stay_below_half_a_megabyte)
{
    enum { ROWS = 100000 };
    double edges = 0, seen = 0, groups = 0;
    char *html = NULL, *json = long_report(ROWS);
    for (uint32_t i = 0; i < ROWS; i++) edges += i % 77;
    CHECK_OK(make(json, &html));
    CHECK(strlen(html) < 500000);
    CHECK_CONTAINS(html, "100,000 iterations, a column for every 250");
    CHECK_CONTAINS(html, "777,777"); /* the maximum of one iteration is not lost in its group */
    const char *at = strstr(html, "class=\"rows\"");
    while ((at = strstr(at, "data-key=\"edges\" data-value=\"")) != NULL && strstr(at, "</details>") != NULL) {
        at += strlen("data-key=\"edges\" data-value=\"");
        seen += strtod(at, NULL);
        groups++;
    }
    CHECK_EQ(groups, 400);
    CHECK_EQ(seen, edges); /* sums are exact */
    free(html);
    free(json);
}

TEST(sixteen_runs_share_the_room)
{
    td_page_source sources[TD_PAGE_RUNS + 1];
    char *html = NULL, *json = long_report(20000);
    for (int i = 0; i <= TD_PAGE_RUNS; i++) sources[i] = (td_page_source){"run.json", json, strlen(json)};
    CHECK_OK(td_page_make(sources, TD_PAGE_RUNS, &html));
    CHECK(strlen(html) < 1000000);
    CHECK_EQ(td_page_make(sources, TD_PAGE_RUNS + 1, &html), TD_LIMIT);
    CHECK_EQ(td_page_make(sources, 0, &html), TD_LIMIT);
    free(html);
    free(json);
}

/* A report whose figures have as many digits as they can, and states of every device in every column; free() frees it. */
static char *wide_report(uint32_t rows, uint32_t gpus)
{
    char *text = NULL;
    size_t bytes = 0;
    const char *measured = gpus > 1 ? "\"longest_seconds\": 0.008"
                                    : "\"copy_seconds\": 0.005, \"compute_seconds\": 0.004, \"both_seconds\": 0.003";
    FILE *file = open_memstream(&text, &bytes);
    fprintf(file, "{\"program\": \"bfs\", \"engine\": \"%s\", \"devices\": [", gpus == 1 ? "stream" : "multi");
    for (uint32_t g = 0; g < gpus; g++) fprintf(file, "%s{\"name\": \"cuda:%u\"}", g > 0 ? "," : "", g);
    fputs("], \"rows\": [", file);
    for (uint32_t i = 0; i < rows; i++) {
        fprintf(file, "%s{\"number\": %u, \"direction\": \"%s\", \"active_vertices\": %u, \"edges\": %u987, \"start\": "
                "%.17g, \"seconds\": %.17g, %s, \"bytes_whole\": %u654321, \"bytes_useful\": %u4321, \"busy\": [", i > 0 ? "," : "", i,
                i % 3 == 0 ? "pull" : i % 3 == 1 ? "push" : "near", 1000000000 + i * 20011 % 999999937,
                100000000 + i * 70001 % 899999963, i * 0.0123456789, 0.0087654321 + i % 7 * 1e-4, measured,
                900000 + i * 30011 % 99991, 900000 + i * 40009 % 99991);
        for (uint32_t g = 0; g < gpus; g++) fprintf(file, "%s%.17g", g > 0 ? "," : "", 0.001 + (i + g) % 11 * 0.0007);
        fputs("]}", file);
    }
    fputs("]}", file);
    fclose(file);
    return text;
}

static size_t page_bytes(int runs, const char *json)
{
    td_page_source sources[TD_PAGE_RUNS];
    char *html = NULL;
    for (int i = 0; i < runs; i++) sources[i] = (td_page_source){"run.json", json, strlen(json)};
    CHECK_OK(td_page_make(sources, runs, &html));
    size_t bytes = html != NULL ? strlen(html) : SIZE_MAX;
    free(html);
    return bytes;
}

/* docs/guide/report.md states the bounds. */
TEST(pages_are_as_small_as_the_guide_says)
{
    enum { ROWS = 1000, ONE = 500000, ALL = 2500000 };
    static const uint32_t gpus[] = {1, 8};
    for (int i = 0; i < 2; i++) {
        char *json = wide_report(ROWS, gpus[i]);
        size_t one = page_bytes(1, json), four = page_bytes(4, json), sixteen = page_bytes(16, json);
        if (one >= ONE || four >= ALL || sixteen >= ALL || four < 2 * one)
            TEST_FAIL("%u GPUs: pages of 1, 4, 16 runs have %zu, %zu, %zu bytes", gpus[i], one, four, sixteen);
        free(json);
    }
}

/* A table's row alone. */
static const char *row_of(char row[2000], const char *at)
{
    const char *end = strstr(at, "</tr>");
    CHECK(end != NULL && end - at < 2000);
    snprintf(row, 2000, "%.*s", (int)(end - at), at);
    return row;
}

/* Where the time went: states add up to the iterations' seconds, by the rules of every engine. */
static double state(const char *html, const char *device, const char *key)
{
    char words[100], row[2000];
    const char *at = strstr(html, "class=\"states\"");
    snprintf(words, sizeof words, "<tr data-device=\"%s\"", device);
    at = at != NULL ? strstr(at, words) : NULL;
    if (at == NULL) return -1;
    at = row_of(row, at);
    snprintf(words, sizeof words, "data-key=\"%s\" data-value=\"", key);
    at = strstr(at, words);
    return at != NULL ? strtod(at + strlen(words), NULL) : 0; /* states that never occur have no column */
}

static void check_states(const char *json, const char *device, const double wanted[5])
{
    static const char *const keys[] = {"compute", "both", "copy", "idle", "undivided"};
    char *html = NULL;
    CHECK_OK(make(json, &html));
    for (int i = 0; i < 5; i++) {
        double seen = state(html, device, keys[i]);
        if (seen < wanted[i] - 1e-9 || seen > wanted[i] + 1e-9)
            TEST_FAIL("%s of %s is %g, not %g: %s", keys[i], device, seen, wanted[i], json);
    }
    free(html);
}

#define RUN(engine, devices, row) \
    "{\"program\": \"bfs\", \"engine\": \"" engine "\", \"devices\": [" devices "], " \
    "\"rows\": [{\"seconds\": 10, " row "}]}"
#define GPU "{\"name\": \"cuda:0\"}"

TEST(states_of_devices)
{
    check_states(RUN("cpu", "{\"name\": \"cpu\"}", "\"edges\": 1"), "cpu", (double[]){10, 0, 0, 0, 0});
    check_states(RUN("stream", GPU, "\"copy_seconds\": 4, \"compute_seconds\": 5, \"both_seconds\": 2"), "cuda:0",
                 (double[]){3, 2, 2, 3, 0});
    check_states(RUN("other", GPU, "\"copy_seconds\": 4, \"compute_seconds\": 5, \"both_seconds\": 2"), "cuda:0",
                 (double[]){3, 2, 2, 3, 0}); /* by its columns, not by its name */
    check_states(RUN("stream", GPU, "\"edges\": 9"), "cuda:0", (double[]){0, 0, 0, 0, 10});
    check_states(RUN("stream", "{\"name\": \"emu:0\"}", "\"copy_seconds\": 0.1, \"compute_seconds\": 0.4"), "emu:0",
                 (double[]){8, 0, 2, 0, 0});
    const char *shared = RUN("coop", "{\"name\": \"cpu\"}, " GPU,
                             "\"cpu_idle_seconds\": 1, \"gpu_idle_seconds\": 4, \"edges_gpu\": 5");
    check_states(shared, "cpu", (double[]){9, 0, 0, 1, 0});
    check_states(shared, "cuda:0", (double[]){6, 0, 0, 4, 0});
    check_states(RUN("coop", GPU, "\"cpu_idle_seconds\": 0, \"edges_gpu\": 0"), "cuda:0", (double[]){0, 0, 0, 10, 0});
    const char *several = RUN("multi", GPU ", {\"name\": \"cuda:1\"}", "\"busy\": [7, 2.5], \"longest_seconds\": 7");
    check_states(several, "cuda:1", (double[]){2.5, 0, 0, 7.5, 0});
    check_states(RUN("multi", GPU, "\"busy\": []"), "cuda:0", (double[]){0, 0, 0, 0, 10});
    check_states(RUN("hybrid", "{\"name\": \"cpu\"}", "\"disk_wait_seconds\": 3"), "cpu", (double[]){7, 0, 0, 3, 0});
    const char *paged = RUN("hybrid", "{\"name\": \"cpu\"}, " GPU, "\"disk_wait_seconds\": 3, \"pages_gpu\": 2");
    check_states(paged, "cpu", (double[]){0, 0, 0, 3, 7});
    check_states(paged, "cuda:0", (double[]){0, 0, 0, 0, 10});
    paged = RUN("hybrid", "{\"name\": \"cpu\"}, " GPU, "\"disk_wait_seconds\": 3, \"pages_gpu\": 0");
    check_states(paged, "cpu", (double[]){7, 0, 0, 3, 0});
}

TEST(what_is_not_measured_is_not_called_computing)
{
    const char *walks = RUN("paths", "{\"name\": \"cpu\"}, " GPU, "\"edges\": 1");
    check_states(RUN("resident", GPU, "\"edges\": 1"), "cuda:0", (double[]){0, 0, 0, 0, 10});
    check_states(walks, "cuda:0", (double[]){0, 0, 0, 0, 10});
    check_states(walks, "cpu", (double[]){0, 0, 0, 0, 10});
    check_states(RUN("paths", "{\"name\": \"cpu\"}", "\"edges\": 1"), "cpu", (double[]){10, 0, 0, 0, 0});
}

TEST(failing_memory_leaves_nothing)
{
    const char *json = RUN("stream", GPU, "\"copy_seconds\": 4, \"bytes_whole\": 7, \"bytes_useful\": 3");
    for (uint64_t n = 1;; n++) {
        uint64_t before = td_memory_held();
        char *html = NULL;
        td_alloc_fail_at(n);
        td_status status = make(json, &html);
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory_held(), before);
        free(html);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK(n < 20);
    }
}

TEST_MAIN
