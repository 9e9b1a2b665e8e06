/* What can go wrong in a run of the coop engine, on an emulated GPU: a device lost at any operation (the CPU ends the
 * run from what the host has), allocations that fail one after another, caps that leave the GPU nothing or everything,
 * settings that make no sense. Nothing is left on host or device. */
#include "engine/engine.h"
#include "engine/coop_ways.h"

#include "base/log.h"
#include "run/result.h"
#include "planner/plan.h"

static const char *const programs[] = {"bfs", "sssp", "labels", "pagerank", "heat"};
static const char *const ways[] = {"coop.order=hot", "coop.order=none"};
enum { PROGRAMS = 5, SETTINGS_WAYS = 2 };

static td_graph *graph_for(void) { return test_graph(test_graph_named("dag"), TEST_U8, NULL); }

static td_run_options options_for(const char *program, const td_graph *graph)
{
    const td_program_info *info = program_of(program)->info;
    bool limited = strcmp(program, "pagerank") == 0 || strcmp(program, "heat") == 0;
    return (td_run_options){.engine = "coop", .devices = "emu", .gpu_edges = 0.3, .has_source = info->needs_source,
                            .source = busiest(graph), .parents = info->gives_parents, .has_iterations = limited,
                            .iterations = 3};
}

static void settings_of(char *text, size_t room, const char *way)
{
    snprintf(text, room, "coop.invoke=always coop.piece=1 %s", way);
}

static void check_right(const char *program, const td_run *run)
{
    const char *claims;
    CHECK_STR(run->engine, "coop");
    if (td_run_verify(run, NULL, &claims) != TD_OK) TEST_FAIL("%s: %s", program, td_last_message());
}

static void count_lost(void *context, td_log_level level, const char *line)
{
    if (level == TD_LOG_WARN && strstr(line, "the CPU continues alone") != NULL) ++*(int *)context;
}

/* The nth operation of the device is its last, for every n until a run needs no more of them. Before the first
 * iteration it is an error; from then on the CPU ends the run. */
static void check_every_operation(const td_graph *graph, const char *program, const char *way)
{
    char settings[128];
    td_run_options options = options_for(program, graph);
    settings_of(settings, sizeof settings, way);
    uint64_t held = td_memory().now, nth = 1;
    int lost = 0, before = -1;
    td_log_set_sink(count_lost, &lost);
    for (; before != lost || lost == 0; nth++) {
        td_run *run = NULL;
        before = lost;
        td_device_fail_at(nth);
        td_status status = try_run(&run, program, graph, options, settings);
        td_device_fail_at(0);
        if (status == TD_OK) check_right(program, run);
        else if (status != TD_DEVICE)
            TEST_FAIL("%s %s, operation %llu: %s", program, way, (unsigned long long)nth, td_last_message());
        else if (lost > 0)
            TEST_FAIL("%s %s, operation %llu: not ended by the CPU: %s", program, way, (unsigned long long)nth,
                      td_last_message());
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        CHECK(nth < 5000);
    }
    td_log_set_sink(NULL, NULL);
    CHECK(lost > 10);
}

TEST(a_gpu_lost_in_mid_run_does_not_take_the_run_with_it)
{
    td_graph *graph = graph_for();
    for (int p = 0; p < PROGRAMS; p++)
        for (int w = 0; w < SETTINGS_WAYS; w++) check_every_operation(graph, programs[p], ways[w]);
    td_graph_destroy(graph);
}

/* A neuron without edges is a sink that keeps its input for ever: it has to be among the values at the host. */
TEST(sinks_that_wait_keep_their_values_when_a_gpu_is_lost)
{
    td_graph *graph = test_graph(test_graph_named("mostly isolated"), TEST_U8, NULL);
    check_every_operation(graph, "nn", "coop.order=hot coop.sinks=defer");
    td_graph_destroy(graph);
}

static void check_every_allocation(const td_graph *graph, const char *program, td_run_options options)
{
    char text[128];
    settings_of(text, sizeof text, ways[0]);
    td_settings settings = settings_from(text);
    options.settings = &settings;
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_run *run = NULL;
        uint64_t requests = td_memory().requests;
        td_alloc_fail_at(nth);
        td_status status = td_run_program(&run, program_of(program), graph, &options);
        td_alloc_fail_at(0);
        bool last = status == TD_OK && td_memory().requests - requests < nth;
        if (status == TD_OK) check_right(program, run);
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        if (last) break;
        if (status != TD_OK && status != TD_NO_MEMORY)
            TEST_FAIL("%s: allocation %llu fails and gives %s: '%s'", program, (unsigned long long)nth,
                      td_status_name(status), td_last_message());
    }
    CHECK(nth > 20);
    td_settings_clear(&settings);
}

TEST(any_failing_allocation_is_an_error_or_makes_no_difference_and_leaves_nothing_behind)
{
    td_graph *graph = graph_for();
    td_log_set_level(TD_LOG_QUIET);
    for (int p = 0; p < PROGRAMS; p++) check_every_allocation(graph, programs[p], options_for(programs[p], graph));
    td_log_set_level(TD_LOG_WARN);
    td_graph_destroy(graph);
}

TEST(failing_allocations_of_lists_in_fewer_bits_leave_nothing_behind_either)
{
    td_graph *graph = large_graph();
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = 0.6, .has_iterations = true,
                              .iterations = 1};
    td_log_set_level(TD_LOG_QUIET);
    check_every_allocation(graph, "pagerank", options);
    td_log_set_level(TD_LOG_WARN);
    td_graph_destroy(graph);
}

static uint64_t edges_over_the_link(const td_graph *graph, const char *program)
{
    uint64_t edges = 0;
    td_run *run = run_of(program, graph, options_for(program, graph), "coop.invoke=always coop.piece=1 coop.order=hot");
    check_right(program, run);
    for (uint32_t i = 0; i < run->row_count; i++) edges += run->full_rows[i].edges_link;
    td_run_destroy(run);
    return edges;
}

TEST(memory_that_cannot_be_pinned_leaves_the_link_to_others)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    int lost = 0; /* a GPU that tries all the same */
    td_log_set_sink(count_lost, &lost);
    for (int p = 0; p < PROGRAMS; p++) {
        uint64_t pinned = edges_over_the_link(graph, programs[p]);
        td_device_refuse_pins(true);
        uint64_t otherwise = edges_over_the_link(graph, programs[p]);
        td_device_refuse_pins(false);
        if (pinned == 0 || otherwise > 0)
            TEST_FAIL("%s: %llu edges over the link, %llu where memory cannot be pinned", programs[p],
                      (unsigned long long)pinned, (unsigned long long)otherwise);
    }
    td_log_set_sink(NULL, NULL);
    CHECK_EQ(lost, 0);
    td_graph_destroy(graph);
}

static void note_line(void *context, td_log_level level, const char *line)
{
    (void)level;
    snprintf(context, 256, "%s", line);
}

/* Who runs instead, and what is said. */
static void check_instead(double cap, const char *settings, const char *engine, const char *words)
{
    char said[256] = "";
    td_graph *graph = graph_for();
    td_run_options options = options_for("sssp", graph);
    options.gpu_edges = cap;
    td_log_set_level(TD_LOG_INFO);
    td_log_set_sink(note_line, said);
    td_run *run = run_of("sssp", graph, options, settings);
    td_log_set_sink(NULL, NULL);
    td_log_set_level(TD_LOG_WARN);
    CHECK_STR(run->engine, engine);
    CHECK_CONTAINS(said, words);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(a_cap_that_fits_nothing_or_everything_is_reported_and_another_engine_runs)
{
    check_instead(1e-9, "", "cpu", "the CPU runs it alone");
    check_instead(0, "", "resident", "the graph fits on the GPU");
}

/* Each of the two has --async, what they share has not. */
TEST(async_changes_nothing_where_two_share_an_iteration_and_is_refused)
{
    static const struct {
        double cap;
        const char *engine; /* NULL: refused */
    } cases[] = {{0.3, NULL}, {1e-9, "cpu"}, {0, "resident"}};
    td_graph *graph = graph_for();
    for (int i = 0; i < 3; i++) {
        td_run *run = NULL;
        td_run_options options = options_for("pagerank", graph);
        options.mode = TD_MODE_ASYNC;
        options.gpu_edges = cases[i].cap;
        td_status status = try_run(&run, "pagerank", graph, options, "coop.invoke=always");
        CHECK_STATUS(status, cases[i].engine == NULL ? TD_USAGE : TD_OK);
        if (run == NULL) CHECK_CONTAINS(td_last_message(), "async has no effect");
        if (run == NULL) continue;
        CHECK_STR(run->engine, cases[i].engine);
        CHECK(run->async);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

static void check_refused(const char *program, const char *setting, const char *words)
{
    td_graph *graph = graph_for();
    td_run *run = NULL;
    td_run_options options = options_for(program, graph);
    td_settings settings = settings_from(setting);
    td_status status = td_plan_check_settings(td_engine_named("coop"), program_of(program), &settings);
    td_settings_clear(&settings);
    if (status == TD_OK) status = try_run(&run, program, graph, options, setting);
    if (status != TD_USAGE) TEST_FAIL("%s with %s gives %s", program, setting, td_status_name(status));
    CHECK_CONTAINS(td_last_message(), words);
    td_graph_destroy(graph);
}

TEST(settings_that_make_no_sense_are_refused)
{
    check_refused("bfs", "coop.order=hottest", "none|hot|indegree|random|rcm|gorder|bisect|auto");
    check_refused("bfs", "coop.delta=3", "coop.delta");
    check_refused("labels", "coop.sinks=defer", "has no effect on labels");
    check_refused("bfs", "coop.compress=off", "has no effect on bfs");
    check_refused("sssp", "coop.tau=100", "coop.invoke=paper");
    check_refused("pagerank", "coop.sinks=defer", "iteration limit");
    check_refused("bfs", "coop.order=hot coop.extract=random", "coop.order has no effect");
    check_refused("wcc", "coop.order=hot", "has no effect on wcc");
}

TEST(a_graph_of_long_ways_is_left_to_the_cpu_after_a_few_rounds)
{
    char said[256] = "";
    td_graph *graph = test_graph(test_graph_named("path"), TEST_U8, NULL);
    for (int p = 0; p < 2; p++) {
        td_log_set_level(TD_LOG_INFO);
        td_log_set_sink(note_line, said);
        td_run *run = run_of(programs[p], graph, options_for(programs[p], graph), "coop.piece=1 coop.order=hot");
        td_log_set_sink(NULL, NULL);
        td_log_set_level(TD_LOG_WARN);
        check_right(programs[p], run);
        CHECK_CONTAINS(said, "frontiers stay small");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* What the mechanisms are for, by the emulator's clock. */
static double seconds_of(const td_graph *graph, const char *program, const char *devices, double cap,
                         const char *settings)
{
    td_run_options options = options_for(program, graph);
    options.devices = devices;
    options.gpu_edges = cap;
    options.parents = false;
    td_run *run = run_of(program, graph, options, settings);
    CHECK_STR(run->engine, "coop");
    double seconds = run->device_seconds;
    td_run_destroy(run);
    return seconds;
}

TEST(a_search_among_near_numbers_is_the_cpus)
{
    char said[256] = "";
    td_graph *graph = test_graph(test_graph_named("path"), TEST_U8, NULL);
    td_log_set_level(TD_LOG_INFO);
    td_log_set_sink(note_line, said);
    td_run *run = run_of("sssp", graph, options_for("sssp", graph), "");
    td_log_set_sink(NULL, NULL);
    td_log_set_level(TD_LOG_WARN);
    CHECK_STR(run->engine, "cpu");
    CHECK_CONTAINS(said, "neighbours have close numbers");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(idle_workers_and_an_idle_gpu_that_help_each_other_save_time)
{
    td_graph *graph = large_graph();
    const char *devices = "emu@unchecked";
    double none = seconds_of(graph, "pagerank", devices, 0.2,
                             "coop.invoke=always coop.piece=1024 coop.link=off coop.on_demand=off");
    double link = seconds_of(graph, "pagerank", devices, 0.2,
                             "coop.invoke=always coop.piece=1024 coop.link=on coop.on_demand=off");
    CHECK(link < none);
    td_graph_destroy(graph);
    graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    none = seconds_of(graph, "pagerank", devices, 0.95,
                      "coop.invoke=always coop.piece=1 coop.link=off coop.on_demand=off");
    double demand = seconds_of(graph, "pagerank", devices, 0.95,
                               "coop.invoke=always coop.piece=1 coop.link=off coop.on_demand=on");
    CHECK(demand < none);
    td_graph_destroy(graph);
}

TEST_MAIN
