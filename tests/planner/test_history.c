/* The history of measured runs: bounded, safe against damage and forgery, and against processes that write at once. */
#include "planner/history.h"
#include "base/hash.h"
#include "planner/choose.h"
#include "planner/layouts.h"
#include "planner/rates.h"
#include "store/sidecar.h"
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>

static const td_past sample = {.build_id = 7, .machine = 8, .how = 9, .program = "bfs", .engine = "cpu",
                               .iterations = 12, .prepare = 0.25, .processing = 0.5, .finish = 0.125};

/* A new folder for the cache; returns the path of the history in it. */
static const char *begin(const char *name)
{
    static char path[600];
    setenv("XDG_CACHE_HOME", test_path(name), 1);
    unsetenv("TANDEM_HISTORY");
    snprintf(path, sizeof path, "%s/tandem/runs", test_path(name));
    return path;
}

static int find(td_past *out) { return td_history_find(7, 8, "bfs", out, 16); }

static void write_forged(const char *path, const char *text, bool with_sum)
{
    FILE *file = fopen(path, "a");
    CHECK(file != NULL);
    fprintf(file, "%s %016" PRIx64 "\n", text, with_sum ? td_hash64(text, strlen(text)) : 1);
    fclose(file);
}

TEST(a_run_is_found_again_for_its_graph_machine_and_program)
{
    td_past found[16];
    (void)begin("plain");
    CHECK_EQ(find(found), 0);
    td_history_add(&sample);
    CHECK_EQ(find(found), 1);
    CHECK_EQ(found[0].iterations, 12);
    CHECK(found[0].processing == 0.5 && found[0].prepare == 0.25 && found[0].finish == 0.125 && found[0].how == 9);
    CHECK_STR(found[0].engine, "cpu");
    CHECK_EQ(td_history_find(6, 8, "bfs", found, 16), 0); /* another build */
    CHECK_EQ(td_history_find(7, 9, "bfs", found, 16), 0); /* another machine */
    CHECK_EQ(td_history_find(7, 8, "wcc", found, 16), 0);
    CHECK_EQ(td_history_find(0, 8, "bfs", found, 16), 0); /* of no file */
}

/* A layout beside the graph. */

TEST(runs_that_prepared_for_themselves_are_counted)
{
    td_past one = sample;
    double most = 1;
    (void)begin("prepares");
    CHECK_EQ(td_history_prepares(&sample, &most), 0);
    CHECK(most == 0);
    static const double seconds[] = {2, 0.01, 2.5, 1.4, 0.02}; /* the short ones found the layout in their process */
    for (int i = 0; i < 5; i++) {
        one.prepare = seconds[i];
        td_history_add(&one);
    }
    for (int other = 0; other < 5; other++) { /* settings, engine, graph, program, machine */
        one = sample;
        one.prepare = 3;
        one.how += other == 0;
        one.build_id += other == 2;
        one.machine += other == 4;
        if (other == 1) snprintf(one.engine, sizeof one.engine, "stream");
        if (other == 3) snprintf(one.program, sizeof one.program, "wcc");
        td_history_add(&one);
    }
    CHECK_EQ(td_history_prepares(&sample, &most), 3);
    CHECK(most == 2.5);
}

/* Figures of machine B: sssp on stream and bfs on coop, k25 with a quarter of its edges on the GPU. */
TEST(a_layout_pays_after_some_runs)
{
    td_layout_costs stream = {.prepare = 1.99, .load = 0.41, .bytes = 4.2e9, .slower = 1};
    td_layout_costs coop = {.prepare = 7.6, .load = 0.54, .bytes = 4.2e9, .slower = 1};
    int stream_runs = 0, coop_runs = 0;
    while (!td_layout_pays(&stream)) stream.runs = ++stream_runs;
    while (!td_layout_pays(&coop)) coop.runs = ++coop_runs;
    CHECK(stream_runs >= 4 && stream_runs <= 8);
    CHECK_EQ(coop_runs, 2);
    stream.runs = 1e6;
    stream.prepare = 0.5; /* what reading the layout takes, too */
    CHECK(!td_layout_pays(&stream));
}

/* A plan whose engine reads layouts, on a graph with a history. */
TEST(the_history_of_a_plan_decides_about_its_layout)
{
    static char name[600];
    td_run_options options = {0};
    (void)begin("decides");
    snprintf(name, sizeof name, "%s", test_path("g.tg"));
    td_graph graph = {.vertices = 1000, .edges = 2000000, .build_id = 7, .name = name, .symmetric = true};
    td_plan plan = {.engine = &td_stream_engine, .program = td_program_named("sssp"), .graph = &graph};
    td_past past = {.build_id = 7, .machine = td_rates_machine(1), .how = td_question_how(&options), .program = "sssp",
                    .engine = "stream", .prepare = 0.2};
    CHECK_STATUS(td_plan_check_layout(&plan), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "would not pay after 0 runs");
    for (int i = 0; i < 3; i++) td_history_add(&past);
    CHECK_OK(td_plan_check_layout(&plan));
    double least = 1e-4; /* what saves just enough to pay for lists does not pay for their weights as well */
    for (td_status status = TD_NOT_FOUND; status != TD_OK && least < 1; least *= 1.2) {
        past.build_id = ++graph.build_id;
        past.prepare = least;
        for (int i = 0; i < 3; i++) td_history_add(&past);
        status = td_plan_check_layout(&plan);
    }
    CHECK(least > 1.5e-4 && least < 1);
    graph.weights = TD_WEIGHT_U32;
    CHECK_STATUS(td_plan_check_layout(&plan), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "would not pay after 3 runs");
    graph.weights = TD_WEIGHT_NONE;
    plan.emulated_bytes = 1; /* whose times say nothing */
    CHECK_STATUS(td_plan_check_layout(&plan), TD_NOT_FOUND);
    plan.emulated_bytes = 0;
    graph.edges = 1000; /* too small for a history */
    CHECK_STATUS(td_plan_check_layout(&plan), TD_NOT_FOUND);
    graph.edges = UINT64_C(1) << 42; /* more than any disk has room for */
    past.prepare = 1e6;
    for (int i = 0; i < 3; i++) td_history_add(&past);
    CHECK_STATUS(td_plan_check_layout(&plan), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "has no room for a layout");
}

TEST(a_layout_needs_room_beside_the_graph)
{
    const char *graph = test_path("g.tg");
    CHECK(td_sidecar_has_room(graph, 1 << 20));
    CHECK(!td_sidecar_has_room(graph, UINT64_MAX / 4));
    CHECK(!td_sidecar_has_room(test_path("absent/g.tg"), 1));
}

TEST(the_newest_run_of_an_engine_counts)
{
    td_past found[16], other = sample;
    (void)begin("newest");
    td_history_add(&sample);
    other.processing = 2;
    td_history_add(&other);
    snprintf(other.engine, sizeof other.engine, "resident");
    td_history_add(&other);
    CHECK_EQ(find(found), 2);
    CHECK_STR(found[0].engine, "resident");
    CHECK(found[1].processing == 2);
    CHECK_EQ(td_history_find(7, 8, "bfs", found, 1), 1);
}

TEST(damaged_and_forged_lines_are_skipped)
{
    static const char *const forged[] = {
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 -1 0.5 0.125",
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 inf 0.5 0.125",
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 nan nan nan",
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 0.25 1e300 0.125",
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 0.25 0.5",
        "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 0.25 0.5 0.125 more",
        "0000000000000007 0000000000000008 bfs cpu 12 0.25 0.5 0.125", "",
    };
    td_past found[16];
    const char *path = begin("forged");
    td_history_add(&sample); /* makes the folder */
    CHECK(truncate(path, 0) == 0);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) write_forged(path, forged[i], true);
    write_forged(path, "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 0.25 0.5 0.125", false);
    CHECK_EQ(find(found), 0);
    write_forged(path, "0000000000000007 0000000000000008 0000000000000009 bfs cpu 12 0.25 0.5 0.125", true);
    CHECK_EQ(find(found), 1); /* the same with its sum */
    FILE *file = fopen(path, "a");
    for (int i = 0; i < 3000; i++) fputc(i % 256, file); /* no lines at all, zeros among them */
    fprintf(file, "\n0000000000000007 0000000000000008 00");
    fclose(file);
    CHECK_EQ(find(found), 1);
    td_history_add(&sample); /* behind a line that was cut off: lost, and no more than that */
    td_history_add(&sample);
    CHECK_EQ(find(found), 1);
}

TEST(the_file_is_bounded_and_keeps_the_newest)
{
    td_past found[16], past = sample;
    struct stat facts;
    const char *path = begin("bounded");
    for (uint32_t i = 0; i < 2000; i++) {
        past.iterations = i;
        td_history_add(&past);
        CHECK(stat(path, &facts) == 0 && facts.st_size < TD_HISTORY_BYTES + 1024);
    }
    CHECK_EQ(find(found), 1);
    CHECK_EQ(found[0].iterations, 1999);
}

TEST(processes_may_add_at_once)
{
    enum { PROCESSES = 4, EACH = 40 };
    td_past found[16];
    const char *path = begin("together");
    char line[256];
    int lines = 0;
    td_history_add(&sample);
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) td_history_add(&sample);
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) CHECK(wait(NULL) > 0);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file) != NULL) lines += strncmp(line, "0000000000000007 ", 17) == 0;
    fclose(file);
    CHECK_EQ(lines, PROCESSES * EACH + 1); /* whole lines, none lost */
    CHECK_EQ(find(found), 1);
}

TEST(a_history_that_cannot_be_kept_is_no_failure)
{
    td_past found[16];
    const char *path = begin("odd");
    CHECK(mkdir(test_path("odd"), 0777) == 0 && mkdir(test_path("odd/tandem"), 0777) == 0);
    CHECK(mkdir(path, 0777) == 0); /* a folder in its place */
    td_history_add(&sample);
    CHECK_EQ(find(found), 0);
    CHECK(rmdir(path) == 0 && mkfifo(path, 0666) == 0); /* a pipe: its other end is not waited for */
    td_history_add(&sample);
    CHECK_EQ(find(found), 0);
    CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
    td_history_add(&sample);
    CHECK_EQ(find(found), 0);
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    td_history_add(&sample);
    CHECK_EQ(find(found), 0);
}

TEST(small_graphs_are_not_worth_it_and_it_can_be_switched_off)
{
    (void)begin("switch");
    CHECK(td_history_wants(1 << 20) && !td_history_wants((1 << 20) - 1));
    setenv("TANDEM_HISTORY", "all", 1);
    CHECK(td_history_wants(1));
    setenv("TANDEM_HISTORY", "off", 1);
    CHECK(!td_history_wants(UINT64_C(1) << 40));
}

TEST_MAIN
