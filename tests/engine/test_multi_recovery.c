/* A GPU that is lost for good in mid-run, on emulated GPUs: its memory is filled with garbage at that moment, the run goes
 * on with the others from the host's last copy of the values, and its results are the cpu engine's. */
#include "engine/multi_scene.h"

#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

static char warned[2048];

static void keep_warning(void *context, td_log_level level, const char *text)
{
    (void)context;
    if (level == TD_LOG_WARN) snprintf(warned, sizeof warned, "%s", text);
}

static td_run_options options_for(const td_program_info *info, const td_graph *graph, const char *devices)
{
    bool slow = strcmp(info->name, "circuit") == 0;
    return (td_run_options){.engine = "multi", .devices = devices, .has_source = info->needs_source,
                            .source = busiest(graph), .has_iterations = slow, .iterations = 3};
}

/* Loses the device at its nth operation; *lost: it came to that. */
static td_run *run_without(const td_program *program, const td_graph *graph, td_run_options options, const char *settings,
                           const char *device, uint64_t nth)
{
    td_run *run = NULL;
    td_log_set_sink(keep_warning, NULL);
    td_device_lose_at(device, nth);
    td_status status = try_run(&run, program->info->name, graph, options, settings);
    td_device_lose_at("", 0);
    td_log_set_sink(NULL, NULL);
    if (status != TD_OK)
        TEST_FAIL("%s (%s), %s lost at operation %" PRIu64 ": %s", program->info->name, settings, device, nth,
                  td_last_message());
    return run;
}

/* Every operation of one of the devices is its last, in turn, until a run gets through without it. Returns the runs that
 * went on from a copy. */
static uint32_t check_every_operation(const td_program *program, const td_graph *graph, const char *devices,
                                      const char *settings, const char *device, uint64_t planned)
{
    td_run_options options = options_for(program->info, graph, devices);
    uint64_t held = td_memory().now, step = getenv("TANDEM_TEST_ALL") != NULL ? 1 : 53;
    uint32_t resumed = 0;
    for (uint64_t nth = planned + 1;; nth += nth < planned + 6 ? 1 : step) {
        td_run *run = run_without(program, graph, options, settings, device, nth);
        bool is_through = run->recovery.gpus_lost == 0;
        CHECK(is_through || run->recovery.gpus_lost == 1);
        CHECK(!is_through || run->recovery.iterations_repeated == 0);
        resumed += !is_through && run->recovery.copies > 0;
        uint64_t edges = 0;
        for (uint32_t i = 0; i < run->row_count; i++) { /* no iteration twice, and none left out */
            CHECK_EQ(run->rows[i].number, i);
            edges += run->rows[i].edges;
        }
        CHECK_EQ(edges, run->edges_processed);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        if (!is_through) continue;
        CHECK(nth > planned + 20);
        return resumed;
    }
}

TEST(a_run_survives_the_loss_of_a_gpu_at_any_operation)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U8, NULL);
    const char *linked = linked_gpus("linked.topology", 3, "check off\n");
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program *program = td_programs[p];
        bool few = strcmp(program->info->name, "nn") == 0; /* one iteration */
        uint32_t resumed = check_every_operation(program, graph, "emu:3@unchecked", "multi.recovery_every=1", "emu:1", 0);
        if (!few && resumed == 0) TEST_FAIL("%s: no run went on from a copy", program->info->name);
        if (p % 2 == 0)
            (void)check_every_operation(program, graph, "emu:2@unchecked", "multi.recovery_every=2", "emu:0", 0);
        /* planning asks for access to the other two */
        (void)check_every_operation(program, graph, linked, "multi.recovery_every=1 multi.t1=0 multi.t2=0", "emu:2", 2);
    }
    td_graph_destroy(graph);
}

TEST(a_run_without_a_copy_begins_again)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "kcore", "mst", "labels"};
    for (int p = 0; p < 7; p++) {
        td_run_options options = options_for(program_of(programs[p])->info, graph, "emu:3@unchecked");
        td_run *run = run_without(program_of(programs[p]), graph, options, "", "emu:1", 40);
        CHECK_EQ(run->recovery.gpus_lost, 1);
        CHECK_EQ(run->recovery.copies, 0);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
    }
    td_run_options options = options_for(program_of("labels")->info, graph, "emu:3@unchecked");
    td_run *run = run_without(program_of("labels"), graph, options, "multi.partition=random multi.recovery_every=1", "emu:1",
                              90);
    CHECK_EQ(run->recovery.gpus_lost, 1);
    CHECK_EQ(run->recovery.copies, 0); /* values that name vertices by numbers of the partition */
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(other_numberings_and_shared_values_survive_too)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    const char *slices = machine_of("slices.topology", 4, "slices all\n", "check off\n");
    static const char *const programs[] = {"bfs", "sssp", "pagerank", "kcore"};
    for (int p = 0; p < 4; p++) {
        const td_program *program = program_of(programs[p]);
        td_run_options options = options_for(program->info, graph, "emu:3@unchecked");
        for (uint64_t nth = 80; nth < 130; nth += 11) {
            td_run *run = run_without(program, graph, options, "multi.partition=random multi.recovery_every=1", "emu:0", nth);
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
        options.devices = slices;
        for (uint64_t nth = 20; nth < 80; nth += 13) { /* the first has the arrays of all */
            const char *lost = nth % 2 == 0 ? "emu:0/4#0" : "emu:0/4#2";
            td_run *run = run_without(program, graph, options, "multi.recovery_every=1", lost, nth);
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
    }
    td_graph_destroy(graph);
}

/* Two of three, one after the other. */
TEST(the_warning_names_what_happened_and_where_the_run_goes_on)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    td_run_options options = options_for(program_of("pagerank")->info, graph, "emu:3@unchecked");
    td_run *run = run_without(program_of("pagerank"), graph, options, "multi.recovery_every=2", "emu:1", 200);
    CHECK_CONTAINS(warned, "emu:1: device lost");
    CHECK_CONTAINS(warned, "2 of 3 GPUs");
    CHECK_CONTAINS(warned, "after iteration");
    CHECK(run->recovery.copies > 1);
    CHECK(run->recovery.iterations_repeated < 3);
    CHECK_EQ(run->full_rows[run->row_count - 1].gpus, 2);
    CHECK_EQ(run->full_rows[0].gpus, 3);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(the_loss_of_the_last_gpu_is_an_error_that_names_the_checkpoint)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    char folder[] = "/tmp/tandem-recovery-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    td_run_options options = options_for(program_of("pagerank")->info, graph, "emu:1@unchecked");
    td_run *run = NULL;
    options.checkpoint = folder;
    options.every = 1;
    td_device_lose_at("emu:0", 200);
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, ""), TD_DEVICE);
    td_device_lose_at("", 0);
    CHECK_CONTAINS(td_last_message(), "device lost for good");
    CHECK_CONTAINS(td_last_message(), "resume");
    CHECK_CONTAINS(td_last_message(), folder);
    options.checkpoint = NULL;
    options.resume = folder;
    options.devices = "emu:3@unchecked"; /* the resumed state is the first copy */
    run = run_without(program_of("pagerank"), graph, options, "", "emu:2", 120);
    CHECK_EQ(run->recovery.gpus_lost, 1);
    CHECK(run->checkpoint_stats.resumed_iteration > 0);
    CHECK_EQ(run->rows[0].number, run->checkpoint_stats.resumed_iteration);
    options.resume = NULL;
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_EQ(system(command), 0);
    td_graph_destroy(graph);
}

TEST(without_recovery_a_lost_gpu_ends_the_run)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    td_run_options options = options_for(program_of("bfs")->info, graph, "emu:3@unchecked");
    td_run *run = NULL;
    uint64_t held = td_memory().now;
    for (uint64_t nth = 10; nth < 60; nth += 10) {
        td_device_lose_at("emu:1", nth);
        CHECK_STATUS(try_run(&run, "bfs", graph, options, "multi.recovery=off"), TD_DEVICE);
        td_device_lose_at("", 0);
        CHECK_CONTAINS(td_last_message(), "device lost for good");
        CHECK(run == NULL);
        CHECK_EQ(td_memory().now, held);
    }
    td_graph_destroy(graph);
}

/* The next run in a session opens all GPUs again. */
TEST(a_run_behind_a_recovery_has_all_gpus)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    td_cache kept = {0};
    td_run_options options = options_for(program_of("sssp")->info, graph, "emu:3@unchecked");
    options.cache = &kept;
    td_run *first = run_without(program_of("sssp"), graph, options, "multi.recovery_every=1", "emu:1", 70);
    CHECK_EQ(first->recovery.gpus_lost, 1);
    td_run *second = run_of("sssp", graph, options, "multi.ownership=off multi.direction=push");
    CHECK_EQ(second->recovery.gpus_lost, 0);
    CHECK_EQ(second->full_rows[0].gpus, 3);
    CHECK_EQ(memcmp(first->values, second->values, graph->vertices * sizeof(uint32_t)), 0);
    td_run_destroy(first);
    td_run_destroy(second);
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

/* A CUDA context that is lost stays lost: later runs of the process leave the GPU out. */
TEST(later_runs_leave_out_a_gpu_that_the_process_has_lost)
{
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    td_run_options options = options_for(program_of("bfs")->info, graph, "emu:3@unchecked");
    td_run *run = NULL;
    td_device_lose_for_good("emu:1");
    *warned = '\0';
    run = run_without(program_of("bfs"), graph, options, "", "", 0);
    CHECK_EQ(run->full_rows[0].gpus, 2);
    CHECK_EQ(run->recovery.gpus_lost, 0);
    CHECK_CONTAINS(warned, "emu:1 was lost in an earlier run");
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    run = NULL;
    td_device_lose_for_good("emu:0");
    options.devices = "emu:1@unchecked";
    CHECK_STATUS(try_run(&run, "bfs", graph, options, ""), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "a new process gets it again");
    td_device_lose_for_good("");
    td_graph_destroy(graph);
}

/* The other members of the joint launch wait for the lost one until the host breaks the set, so the host must not wait for
 * them first: it would hang, and the alarm ends the test. */
TEST(a_member_lost_inside_a_joint_launch_does_not_hang_the_run)
{
    enum { SECONDS = 20 };
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_U8, NULL);
    const char *machines[] = {linked_gpus("joint.topology", 3, "check off\n"),
                              machine_of("joint-slices.topology", 3, "slices all\n", "check off\n")};
    const char *lost[2][3] = {{"emu:0", "emu:1", "emu:2"}, {"emu:0/3#0", "emu:0/3#1", "emu:0/3#2"}};
    uint64_t held = td_memory().now;
    alarm(SECONDS);
    for (int i = 0; i < 12; i++) {
        const td_program *program = program_of(i < 6 ? "bfs" : "sssp");
        td_run_options options = options_for(program->info, graph, machines[i / 3 % 2]);
        td_device_lose_in_joint(lost[i / 3 % 2][i % 3], 1);
        td_run *run = run_without(program, graph, options, "multi.direction=push", "", 0);
        CHECK_EQ(run->recovery.gpus_lost, 1);
        CHECK_EQ(run->full_rows[run->row_count - 1].gpus, 2);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
    }
    alarm(0);
    td_device_lose_in_joint("", 0);
    td_graph_destroy(graph);
}

TEST_MAIN
