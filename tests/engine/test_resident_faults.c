/* What can go wrong in a run of the resident engine, on an emulated GPU: a device
 * lost at any operation, allocations that fail one after another, memory that does
 * not suffice, a cancel in the middle, devices and settings that make no sense. Every
 * one ends in an error with words, nothing is left on host or device, and the next run
 * works. */
#include "engine/engine.h"
#include "engine/failures.h"

#include "base/cancel.h"
#include "engine/resident/resident.h"
#include "planner/plan.h"

static td_run_options options_for(const td_program_info *info, const td_graph *graph)
{
    bool slow = strcmp(info->name, "circuit") == 0;
    return (td_run_options){.engine = "resident", .devices = "emu", .has_source = info->needs_source,
                            .source = busiest(graph), .parents = info->gives_parents, .has_iterations = slow,
                            .iterations = 3};
}

static const char *const ways_to_fail[] = {"", "resident.gather=shards resident.rounds=1"};

TEST(a_device_lost_at_any_operation_is_an_error_and_leaves_nothing)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int s = 0; s < (td_programs[p]->info->kind == TD_KIND_GAS ? 2 : 1); s++) {
            td_cache kept = {0};
            td_run_options options = options_for(td_programs[p]->info, graph);
            options.cache = s == 0 ? &kept : NULL;
            check_every_operation(td_programs[p], graph, options, ways_to_fail[s], (failures){40, 7, 10});
        }
    td_graph_destroy(graph);
}

TEST(after_a_lost_device_the_next_run_starts_anew)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    check_runs_after_losses(graph, options_for(program_of("sssp")->info, graph), "resident.direction=pull", 4, 30);
    td_graph_destroy(graph);
}

TEST(any_failing_allocation_is_an_error_and_leaves_nothing_behind)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        check_every_allocation(td_programs[p], graph, options_for(td_programs[p]->info, graph), "", (failures){1, 1, 20});
    td_graph_destroy(graph);
}

/* Memory. */

TEST(a_graph_that_does_not_fit_is_refused_with_its_size_and_an_engine_that_runs_it)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program *program = td_programs[p];
        td_gpu_bytes need;
        td_run *run = NULL;
        td_run_options options = options_for(program->info, graph);
        CHECK_OK(td_resident_count_bytes(program, graph, &options, &need));
        static const double parts[] = {0.01, 0.5, 0.9};
        for (int i = 0; i < 3; i++) {
            options.gpu_memory = (uint64_t)(parts[i] * (double)(need.graph + need.program));
            CHECK_STATUS(td_run_program(&run, program, graph, &options), TD_NO_MEMORY);
            CHECK_CONTAINS(td_last_message(), "for the graph");
            CHECK_CONTAINS(td_last_message(), "KiB");
            CHECK_CONTAINS(td_last_message(), "gpu_memory");
            CHECK_CONTAINS(td_last_message(), "engine cpu");
        }
        options.gpu_memory = need.graph + need.program;
        CHECK_OK(td_run_program(&run, program, graph, &options));
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(a_share_of_the_edges_is_not_enough)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL);
    td_run *run = NULL;
    td_run_options options = options_for(program_of("pagerank")->info, graph);
    options.gpu_edges = 0.25;
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, ""), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "gpu_edges");
    CHECK_CONTAINS(td_last_message(), "engine stream");
    options.gpu_edges = (double)(graph->edges * sizeof(uint32_t) - 1);
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, ""), TD_NO_MEMORY);
    options.gpu_edges = (double)(graph->edges * sizeof(uint32_t));
    td_run_destroy(run_of("pagerank", graph, options, ""));
    options.gpu_edges = 1; /* all of them */
    td_run_destroy(run_of("pagerank", graph, options, ""));
    td_graph_destroy(graph);
}

/* Cancelling, between launches. */

static bool stop_at_second(void *context, const td_iteration *row)
{
    (void)row;
    return ++*(uint32_t *)context < 2;
}

static bool request_at_second(void *context, const td_iteration *row)
{
    (void)row;
    if (++*(uint32_t *)context == 2) td_cancel_request();
    return true;
}

TEST(a_callback_that_says_no_and_a_request_from_elsewhere_stop_the_run)
{
    static const td_iteration_fn ways[] = {stop_at_second, request_at_second};
    static const char *const words[] = {"cancelled", "interrupted"};
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int i = 0; i < 2; i++) {
            const td_program_info *info = td_programs[p]->info;
            if (strcmp(info->name, "nn") == 0) continue; /* one iteration on a symmetric graph */
            td_run *run = NULL;
            uint32_t calls = 0;
            td_run_options options = options_for(info, graph);
            options.each = ways[i];
            options.each_context = &calls;
            const char *settings = strcmp(info->name, "kcore") == 0 ? "resident.kcore=rounds" : ""; /* else one launch */
            td_status status = try_run(&run, info->name, graph, options, settings);
            td_cancel_clear();
            if (status != TD_CANCELLED) TEST_FAIL("%s gives %s", info->name, td_status_name(status));
            CHECK_CONTAINS(td_last_message(), words[i]);
            CHECK(run == NULL);
            CHECK_EQ(calls, 2);
            options.each = NULL;
            td_run_destroy(run_of(info->name, graph, options, ""));
        }
    td_graph_destroy(graph);
}

/* Requests. */

TEST(devices_that_the_engine_cannot_use_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_UNWEIGHTED, NULL);
    td_run *run = NULL;
    td_run_options options = options_for(program_of("bfs")->info, graph);
    options.devices = "cpu";
    CHECK_STATUS(try_run(&run, "bfs", graph, options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "devices cpu");
    options.devices = "emu:2@nowhere";
    CHECK(try_run(&run, "bfs", graph, options, "") != TD_OK);
    CHECK_CONTAINS(td_last_message(), "nowhere");
    if (!td_device_kind_present(TD_DEVICE_CUDA, NULL)) {
        options.devices = "cuda:0";
        CHECK_STATUS(try_run(&run, "bfs", graph, options, ""), TD_UNSUPPORTED);
        CHECK_CONTAINS(td_last_message(), "cuda:0");
        options.devices = NULL; /* the engine's choice is a GPU */
        CHECK_STATUS(try_run(&run, "bfs", graph, options, ""), TD_UNSUPPORTED);
        CHECK_CONTAINS(td_last_message(), "cuda:0");
    }
    CHECK(run == NULL);
    td_graph_destroy(graph);
}

TEST(settings_that_make_no_sense_are_refused)
{
    refuse_setting("resident", "bfs", "resident.ballance=warp", "resident.balance");
    refuse_setting("resident", "bfs", "resident.balance=block", "thread|cta|iwb|warp");
    refuse_setting("resident", "pagerank", "resident.replication=3", "auto|1|2|4|8|16|32");
    refuse_setting("resident", "pagerank", "resident.replication=4", "it is for resident.gather=shards");
    refuse_setting("resident", "bfs", "resident.rounds=0", "resident.rounds");
    refuse_setting("resident", "bfs", "resident.delta=4", "sssp");
    refuse_setting("resident", "wcc", "resident.direction=pull", "has no effect on wcc");
    refuse_setting("resident", "pagerank", "resident.balance=cta", "has no effect on pagerank");
    refuse_setting("resident", "bfs", "cpu.stealing=none", "cpu.stealing");
}

TEST(settings_that_contradict_the_request_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL);
    td_run *run = NULL;
    td_run_options options = options_for(program_of("sssp")->info, graph);
    CHECK_STATUS(try_run(&run, "sssp", graph, options, "resident.delta=5 resident.direction=push"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "resident.delta");
    options = options_for(program_of("heat")->info, graph);
    CHECK_STATUS(try_run(&run, "heat", graph, options, "resident.direction=push"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "auto and pull");
    CHECK(run == NULL);
    td_graph_destroy(graph);
}

TEST(a_distance_beyond_its_type_is_reported_not_wrapped)
{
    static const char *const settings[] = {"", "resident.direction=push", "resident.direction=pull",
                                           "resident.balance=iwb"};
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}}, far[] = {4000000000u, 4000000000u},
                          most[] = {4000000000u, 294967293u};
    td_graph *beyond = test_graph_of(3, ends, far, 2, false), *fits = test_graph_of(3, ends, most, 2, false);
    for (int s = 0; s < 4; s++) {
        td_run *run = NULL;
        td_run_options options = {.engine = "resident", .devices = "emu", .has_source = true};
        char single[128];
        snprintf(single, sizeof single, "%s sssp.precision=single", settings[s]);
        CHECK_STATUS(try_run(&run, "sssp", beyond, options, single), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "vertex 102");
        run = run_of("sssp", beyond, options, settings[s]); /* again, with 64 bits */
        CHECK_EQ(run->kind, TD_VALUE_U64);
        CHECK_EQ(((const uint64_t *)run->values)[2], UINT64_C(8000000000));
        td_run_destroy(run);
        run = run_of("sssp", fits, options, settings[s]);
        CHECK_EQ(((const uint32_t *)run->values)[2], 4294967293u);
        td_run_destroy(run);
    }
    td_graph_destroy(beyond);
    td_graph_destroy(fits);
}

TEST_MAIN
