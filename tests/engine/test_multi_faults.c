/* What can go wrong in a run of the multi engine, on emulated GPUs: a device lost at any operation, allocations that
 * fail, memory that does not suffice, too many and too few devices, graphs with less than a vertex for each, settings
 * that make no sense. Every failure ends in an error with words, nothing is left on host or device, and the next run
 * works. */
#include "engine/failures.h"
#include "engine/multi_scene.h"

#include "base/cancel.h"
#include "gpu/ring.h"
#include "planner/plan.h"
#include "store/checks.h"

static td_run_options options_for(const td_program_info *info, const td_graph *graph, const char *devices)
{
    bool slow = strcmp(info->name, "circuit") == 0;
    return (td_run_options){.engine = "multi", .devices = devices, .has_source = info->needs_source,
                            .source = busiest(graph), .parents = info->gives_parents, .has_iterations = slow,
                            .iterations = 3};
}

/* Two fragments of the same size, a few iterations of every program. */
static td_graph *small_graph(void) { return test_graph(test_graph_named("two components"), TEST_U8, NULL); }

/* Every operation or allocation with TANDEM_TEST_ALL=1. */
static uint64_t sparse(uint64_t step) { return getenv("TANDEM_TEST_ALL") != NULL ? 1 : step; }

static void check_losses(const td_program *program, const td_graph *graph, const char *devices, const char *settings,
                         td_cache *kept)
{
    td_run_options options = options_for(program->info, graph, devices);
    options.cache = kept;
    check_every_operation(program, graph, options, settings, (failures){12, sparse(17), 20});
}

TEST(a_device_lost_at_any_operation_is_an_error_and_leaves_nothing)
{
    td_graph *graph = small_graph();
    const char *linked = linked_gpus("linked.topology", 2, "check off\n");
    for (int p = 0; td_programs[p] != NULL; p++) {
        td_cache kept = {0};
        check_losses(td_programs[p], graph, linked, "multi.t1=0 multi.t2=0", &kept);
        check_losses(td_programs[p], graph, "emu:3@unchecked", "", NULL);
    }
    td_graph_destroy(graph);
}

TEST(after_a_lost_device_the_next_run_starts_anew)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    td_run_options options = options_for(program_of("sssp")->info, graph, "emu:3@unchecked");
    check_runs_after_losses(graph, options, "multi.direction=pull", 8, 90);
    td_graph_destroy(graph);
}

static void check_allocations(const td_program *program, const td_graph *graph, const char *settings)
{
    td_run_options options = options_for(program->info, graph, "emu:3@unchecked");
    check_every_allocation(program, graph, options, settings, (failures){10, sparse(7), 20});
}

TEST(any_failing_allocation_is_an_error_and_leaves_nothing_behind)
{
    td_graph *graph = small_graph();
    for (int p = 0; td_programs[p] != NULL; p++) check_allocations(td_programs[p], graph, "");
    td_graph_destroy(graph);
}

/* Fragments that go through the ring: it is made for each, and may be open when the run fails. */
TEST(failures_while_fragments_cross_the_ring_leave_nothing)
{
    static const char *const programs[] = {"sssp", "pagerank", "mst"};
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    td_gpu_ring_limits(1, TD_CHECKS_BLOCK);
    for (int p = 0; p < 3; p++) {
        const char *settings = program_of(programs[p])->info->renumbers ? "multi.partition=random" : "";
        check_losses(program_of(programs[p]), graph, "emu:3@unchecked", settings, NULL);
        check_allocations(program_of(programs[p]), graph, settings);
    }
    td_gpu_ring_limits(0, 0);
    td_graph_destroy(graph);
}

TEST(a_budget_that_does_not_suffice_is_refused_with_the_figure)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        td_run_options options = options_for(td_programs[p]->info, graph, "emu:3@unchecked");
        td_settings none = {0};
        td_run *run = NULL;
        options.settings = &none;
        options.gpu_memory = 1024;
        CHECK_STATUS(td_run_program(&run, td_programs[p], graph, &options), TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "for its own arrays"); /* the plan's figures, not those of an allocation */
        CHECK_CONTAINS(td_last_message(), "KiB");
        CHECK_CONTAINS(td_last_message(), "gpu_memory");
        CHECK(run == NULL);
        options.gpu_memory = td_last_refusal()->needed - 1;
        CHECK_STATUS(td_run_program(&run, td_programs[p], graph, &options), TD_NO_MEMORY);
        options.gpu_memory++;
        CHECK_OK(td_run_program(&run, td_programs[p], graph, &options));
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* Devices. */

static void check_runs(const td_graph *graph, const char *devices)
{
    for (int p = 0; td_programs[p] != NULL; p++) {
        const char *program = td_programs[p]->info->name;
        td_run_options options = options_for(td_programs[p]->info, graph, devices);
        options.parents = false;
        options.has_iterations = options.has_iterations || td_programs[p]->cpu[0].measure != TD_MEASURE_NONE;
        if (td_programs[p]->info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE) continue;
        td_run *run = run_of(program, graph, options, "");
        CHECK_STR(run->engine, "multi");
        check_as_cpu(run, options, "");
        td_run_destroy(run);
    }
}

TEST(one_device_runs_and_the_plan_says_what_would_do)
{
    td_graph *graph = small_graph();
    td_settings none = {0};
    td_run_options options = options_for(program_of("bfs")->info, graph, "emu:1");
    td_plan *plan = NULL;
    options.settings = &none;
    CHECK_OK(td_plan_make(&plan, "multi", program_of("bfs"), graph, &options));
    CHECK_CONTAINS(plan->why, "resident engine");
    td_plan_destroy(plan);
    check_runs(graph, "emu:1");
    td_graph_destroy(graph);
}

TEST(devices_that_the_engine_cannot_use_are_refused)
{
    static const struct {
        const char *devices, *words;
    } wrong[] = {{"emu:17", "more than 16"}, {"emu:2,emu:2", "overlap"}, {"cpu", "needs a GPU"},
                 {"emu:9@dgx1", "dgx1"}, {"emu:0", "1 to"}};
    td_graph *graph = small_graph();
    for (int i = 0; i < 5; i++) {
        td_run *run = NULL;
        td_run_options options = options_for(program_of("bfs")->info, graph, wrong[i].devices);
        CHECK(try_run(&run, "bfs", graph, options, "") != TD_OK);
        CHECK_CONTAINS(td_last_message(), wrong[i].words);
        CHECK(run == NULL);
    }
    check_runs(graph, "emu:16@unchecked"); /* most fragments are empty: 80 vertices */
    td_graph_destroy(graph);
}

TEST(the_cpu_beside_gpus_is_no_gpu)
{
    td_graph *graph = small_graph();
    td_run_options options = options_for(program_of("bfs")->info, graph, "cpu,emu:2");
    td_run *run = run_of("bfs", graph, options, "multi.direction=push multi.ownership=off");
    for (uint32_t i = 0; i < run->row_count; i++) CHECK_EQ(run->full_rows[i].gpus, 2);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Graphs. */

TEST(graphs_with_less_than_a_vertex_or_an_edge_for_each_gpu)
{
    static const char *const names[] = {"single vertex", "single loop", "isolated", "one edge", "directed path",
                                        "mostly isolated"};
    const char *linked = linked_gpus("linked.topology", 8, "check off\n");
    for (int i = 0; i < 6; i++) {
        td_graph *graph = test_graph(test_graph_named(names[i]), TEST_U8, NULL);
        check_runs(graph, linked);
        check_runs(graph, "emu:3@unchecked");
        td_graph_destroy(graph);
    }
}

TEST(a_graph_without_vertices_gives_no_values)
{
    td_graph *graph = test_graph(test_graph_named("empty"), TEST_UNWEIGHTED, NULL);
    static const char *const programs[] = {"wcc", "labels", "kcore", "pagerank", "heat"};
    for (int i = 0; i < 5; i++) {
        td_run *run = NULL, *cpu = NULL;
        td_run_options options = {.engine = "multi", .devices = "emu:3"}, host = {.engine = "cpu"};
        td_status status = try_run(&run, programs[i], graph, options, "");
        td_status expected = try_run(&cpu, programs[i], graph, host, "");
        if (status != expected)
            TEST_FAIL("%s: %s, on the cpu %s: %s", programs[i], td_status_name(status), td_status_name(expected),
                      td_last_message());
        td_run_destroy(run);
        td_run_destroy(cpu);
    }
    td_graph_destroy(graph);
}

/* Settings. */

TEST(settings_that_make_no_sense_are_refused)
{
    refuse_setting("multi", "bfs", "multi.stealling=on", "multi.stealing");
    refuse_setting("multi", "bfs", "multi.partition=best", "seg|random|metis");
    refuse_setting("multi", "bfs", "multi.t1=-2", "multi.t1");
    refuse_setting("multi", "bfs", "multi.delta=4", "sssp");
    refuse_setting("multi", "wcc", "multi.direction=pull", "has no effect on wcc");
    refuse_setting("multi", "pagerank", "multi.ownership=off", "has no effect on pagerank");
    refuse_setting("multi", "kcore", "multi.t3=1", "has no effect on kcore");
    refuse_setting("multi", "heat", "multi.high_degree=64", "has no effect on heat");
    refuse_setting("multi", "bfs", "multi.samples=3", "wcc");
    refuse_setting("multi", "bfs", "resident.rounds=1", "resident.rounds");
}

TEST(settings_without_effect_beside_others_are_refused)
{
    refuse_setting("multi", "bfs", "multi.seed=3", "it is for multi.partition=random and multi.partition=metis");
    refuse_setting("multi", "bfs", "multi.partition=seg multi.seed=3", "multi.seed=3 has no effect");
    refuse_setting("multi", "bfs", "multi.stealing=off multi.t1=0", "it is for multi.stealing=on");
    refuse_setting("multi", "bfs", "multi.t2=0 multi.stealing=off", "multi.t2=0 has no effect");
    refuse_setting("multi", "bfs", "multi.stealing=off multi.cost=uniform", "it is for multi.stealing=on");
    refuse_setting("multi", "bfs", "multi.exchange=copies multi.t1=0", "multi.exchange=auto");
    refuse_setting("multi", "bfs", "multi.exchange=copies multi.loop_edges=0", "multi.exchange=auto");
    refuse_setting("multi", "bfs", "multi.ownership=off multi.t3=1", "it is for multi.ownership=on");
    refuse_setting("multi", "bfs", "multi.family=web", "it is for multi.log");
    refuse_setting("multi", "bfs", "multi.t1=0 multi.queue_edges=9", "multi.queue_edges=9 has no effect");
    refuse_setting("multi", "bfs", "multi.log=/tmp/none multi.queue_edges=9", "without multi.t1 and multi.log");
}

TEST(settings_that_contradict_the_request_are_refused)
{
    static const struct {
        const char *program, *settings, *words;
        bool limited;
    } wrong[] = {
        {"wcc", "multi.partition=random", "allowed is seg", false},
        {"mst", "multi.partition=random", "allowed is seg", false},
        {"labels", "multi.partition=random", "under an iteration limit", true},
        {"heat", "multi.direction=push", "auto and pull", false},
        {"sssp", "multi.delta=5 multi.direction=push", "multi.delta", false},
        {"sssp", "multi.delta=5", "multi.delta", true},
    };
    td_graph *graph = small_graph();
    for (int i = 0; i < 6; i++) {
        td_run *run = NULL;
        td_run_options options = options_for(program_of(wrong[i].program)->info, graph, "emu:2");
        options.has_iterations = wrong[i].limited;
        options.parents = false;
        CHECK_STATUS(try_run(&run, wrong[i].program, graph, options, wrong[i].settings), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), wrong[i].words);
        CHECK(run == NULL);
    }
    td_graph_destroy(graph);
}

TEST(a_distance_beyond_its_type_is_reported_not_wrapped)
{
    static const char *const settings[] = {"", "multi.direction=push", "multi.direction=pull", "multi.exchange=copies"};
    static const uint32_t ends[][2] = {{0, 40}, {40, 80}}, far[] = {4000000000u, 4000000000u},
                          most[] = {4000000000u, 294967293u};
    td_graph *beyond = test_graph_of(81, ends, far, 2, false), *fits = test_graph_of(81, ends, most, 2, false);
    for (int s = 0; s < 4; s++) {
        td_run *run = NULL;
        td_run_options options = {.engine = "multi", .devices = "emu:3", .has_source = true};
        char single[128];
        snprintf(single, sizeof single, "%s sssp.precision=single", settings[s]);
        CHECK_STATUS(try_run(&run, "sssp", beyond, options, single), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "vertex 180");
        run = run_of("sssp", beyond, options, settings[s]); /* again, with 64 bits */
        CHECK_EQ(run->kind, TD_VALUE_U64);
        CHECK_EQ(((const uint64_t *)run->values)[80], UINT64_C(8000000000));
        td_run_destroy(run);
        run = run_of("sssp", fits, options, settings[s]);
        CHECK_EQ(((const uint32_t *)run->values)[80], 4294967293u);
        td_run_destroy(run);
    }
    td_graph_destroy(beyond);
    td_graph_destroy(fits);
}

/* Cancelling. */

static bool stop_at_second(void *context, const td_iteration *row)
{
    (void)row;
    return ++*(uint32_t *)context < 2;
}

TEST(a_callback_that_says_no_stops_the_run)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    uint64_t held = td_memory().now;
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program_info *info = td_programs[p]->info;
        if (strcmp(info->name, "nn") == 0) continue; /* one iteration on a symmetric graph */
        td_run *run = NULL;
        uint32_t calls = 0;
        td_run_options options = options_for(info, graph, "emu:3@unchecked");
        options.each = stop_at_second;
        options.each_context = &calls;
        td_status status = try_run(&run, info->name, graph, options, "");
        if (status != TD_CANCELLED) TEST_FAIL("%s gives %s", info->name, td_status_name(status));
        CHECK_EQ(calls, 2);
        CHECK(run == NULL);
        CHECK_EQ(td_memory().now, held);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
