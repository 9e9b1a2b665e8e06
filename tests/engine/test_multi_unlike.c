/* GPUs of unlike speed and memory: fragments by both. */
#include "engine/multi_scene.h"

/* Three GPUs; the first has more multiprocessors or less memory. */
static const char *unlike(const char *file, const char *first, const char *others)
{
    char more[400];
    snprintf(more, sizeof more, "check off\noperation-rate 20M/s\nhost-link each 10GB/s 10GB/s 5us\ngpu 0\n%sgpu 1-2\n%s", first, others);
    return machine_of(file, 3, "link 0 1 100GB/s 1us\nlink 0 2 100GB/s 1us\nlink 1 2 100GB/s 1us\n", more);
}

typedef struct division {
    uint64_t graph[3], at_host;
} division;

static division divide(const char *program, const td_graph *graph, const char *devices, const char *settings_text)
{
    td_settings settings = settings_from(settings_text);
    td_run_options options = multi_options(program, devices);
    td_plan *plan = NULL;
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "multi", program_of(program), graph, &options));
    division found = {.at_host = td_plan_counter(plan, "edges_at_host")};
    for (int i = 0; i < 3; i++) found.graph[i] = plan->devices.of[i].row.graph;
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    return found;
}

static double seconds_of(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_run_options options = multi_options(program, devices);
    options.has_iterations = strcmp(program, "pagerank") == 0;
    options.iterations = 3;
    td_run *run = run_of(program, graph, options, settings);
    double seconds = run->device_seconds;
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    return seconds;
}

TEST(a_faster_gpu_has_more_edges_and_the_run_is_shorter)
{
    td_graph *graph = islands_graph(1, 2000, 20);
    const char *devices = unlike("fast.topology", "multiprocessors 4\n", "multiprocessors 1\n");
    division by_speed = divide("pagerank", graph, devices, ""), equal = divide("pagerank", graph, devices, "multi.shares=equal");
    CHECK(by_speed.graph[0] > 3 * by_speed.graph[1]);
    CHECK(equal.graph[0] < equal.graph[1] + equal.graph[1] / 4);
    CHECK_EQ(by_speed.at_host, 0);
    static const char *const programs[] = {"pagerank", "labels"};
    for (int p = 0; p < 2; p++) {
        const char *more = p == 0 ? "multi.stealing=off" : "multi.stealing=off multi.ownership=off multi.loop_edges=0";
        char settings[200];
        snprintf(settings, sizeof settings, "%s multi.shares=equal", more);
        double weighted = seconds_of(programs[p], graph, devices, more), same = seconds_of(programs[p], graph, devices, settings);
        printf("    %s: %.0f us by speed, %.0f us with equal fragments\n", programs[p], weighted * 1e6, same * 1e6);
        CHECK(weighted < same);
    }
    td_graph_destroy(graph);
}

TEST(a_gpu_with_less_memory_has_fewer_edges_and_none_stay_at_the_host)
{
    td_graph *graph = islands_graph(1, 3000, 120);
    const char *whole = unlike("whole.topology", "memory 64M\n", "memory 64M\n");
    division equal = divide("bfs", graph, whole, "");
    CHECK(equal.graph[0] < equal.graph[1] + equal.graph[1] / 4);
    const char *less = unlike("less.topology", "memory 1M\n", "memory 64M\n");
    division by_memory = divide("bfs", graph, less, "");
    CHECK(by_memory.graph[0] < equal.graph[0]);
    CHECK(by_memory.graph[1] > equal.graph[1]);
    CHECK_EQ(by_memory.at_host, 0);
    CHECK(divide("bfs", graph, less, "multi.shares=equal").at_host > 0);
    static const char *const programs[] = {"bfs", "pagerank"};
    for (int p = 0; p < 2; p++) (void)seconds_of(programs[p], graph, less, "");
    td_run_options options = multi_options("sssp", less);
    td_run *run = run_of("sssp", graph, options, "multi.partition=random multi.t1=0 multi.t2=0");
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
