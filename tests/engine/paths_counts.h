/* Runs of the paths engine on an emulated GPU, and their counters. */
#ifndef TD_TEST_PATHS_COUNTS_H
#define TD_TEST_PATHS_COUNTS_H

#include "engine/paths_ways.h"

#include "store/gen.h"

static inline uint64_t counted(const td_run *run, const char *name)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, name) == 0) return run->work[i].value;
    TEST_FAIL("there is no counter %s", name);
    return 0;
}

/* The part of the edges that is on the GPU; 0: no limit. */
static double part_on_gpu;

static inline td_run_options on_gpu(const char *program, const td_graph *graph)
{
    return (td_run_options){.engine = "paths", .devices = narrow_gpu(),
                            .has_source = program_of(program)->info->needs_source, .source = busiest(graph),
                            .gpu_edges = part_on_gpu};
}

static inline td_run *run_on(const char *program, const td_graph *graph, const char *settings)
{
    return run_of(program, graph, on_gpu(program, graph), settings);
}

static inline uint64_t count_on(const char *program, const td_graph *graph, const char *settings, const char *counter)
{
    td_run *run = run_on(program, graph, settings);
    uint64_t value = counted(run, counter);
    td_run_destroy(run);
    return value;
}

static inline td_graph *named(const char *name) { return test_graph(test_graph_named(name), TEST_UNWEIGHTED, NULL); }

static inline td_graph *web(uint32_t vertices)
{
    td_gen_spec spec = {.kind = "web", .vertices = vertices, .degree = 8, .seed = 1, .rewire = -1};
    td_build_options build = {0};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

/* The device is lost at its first, second, ... operation: an error, and nothing is left. */
static inline void lose_in_turn_on(const char *program, const char *devices, const char *text)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U8, NULL);
    td_settings settings = settings_from(text);
    td_run_options options = on_gpu(program, graph);
    td_status status = TD_DEVICE;
    uint64_t nth = 1;
    options.settings = &settings;
    options.devices = devices;
    uint64_t held = td_memory().now;
    for (; status != TD_OK; nth += nth < 40 ? 1 : nth / 5) {
        td_run *run = NULL;
        td_device_fail_at(nth);
        status = td_run_program(&run, program_of(program), graph, &options);
        td_device_fail_at(0);
        td_run_destroy(run);
        if (status != TD_OK && status != TD_DEVICE) TEST_FAIL("operation %" PRIu64 ": %s", nth, td_last_message());
        if (status != TD_OK) CHECK_CONTAINS(td_last_message(), "device lost");
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(nth > 30);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

static inline void lose_in_turn(const char *program, const char *text)
{
    lose_in_turn_on(program, narrow_gpu(), text);
}

/* Every allocation fails once: an error with a message, and nothing is left. */
static inline void fail_allocations_on(const char *program, const char *devices, const char *text)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U8, NULL);
    td_run_options options = on_gpu(program, graph);
    td_settings settings = settings_from(text);
    options.settings = &settings;
    options.devices = devices;
    uint64_t before = td_memory().now;
    td_status status = TD_NO_MEMORY;
    for (uint64_t nth = 1; status != TD_OK; nth++) {
        td_run *run = NULL;
        td_alloc_fail_at(nth);
        status = td_run_program(&run, program_of(program), graph, &options);
        td_alloc_fail_at(0);
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, before);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
        CHECK(status == TD_OK || td_last_message()[0] != 0);
    }
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

static inline void fail_allocations(const char *program, const char *text)
{
    fail_allocations_on(program, narrow_gpu(), text);
}

#endif
