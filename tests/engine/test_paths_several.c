/* The paths engine on several emulated GPUs, which watch every access: the table of programs on GPUs with and without
 * links, that see each other's writes late, and on slices of one; what its switches promise by exact counters, the
 * memory that plans state, and what goes wrong. */
#include "engine/multi_machines.h"
#include "engine/paths_counts.h"

#include "device/emulator/sanitizer.h"

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of rounds */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (getenv("TANDEM_TEST_ALL") != NULL) return graph->vertices > (circuit ? VERY_TINY : 300) ? 0 : 101;
    return kind != awkward || graph->vertices > VERY_TINY ? 0 : PATHS_SEVERAL_WAYS; /* one of them */
}

static void check(const char *program, const char *devices)
{
    table_place place = {.devices = devices};
    CHECK_OK(td_pool_create(&place.pool, 2));
    table_ways ways = {PATHS_SEVERAL_WAYS, paths_run_several_way, way_stride, table_leave, &place, place.pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(place.pool);
}

#define NARROW "multiprocessors 1\nresident-threads 512\n"
static const char *apart(int gpus) { return machine_of("apart.topology", gpus, "", NARROW); }
static const char *late(void) { return linked_gpus("late.topology", 3, NARROW "remote-delay 4\n"); }
static const char *slices(void) { return machine_of("slices.topology", 4, "slices all\n", NARROW); }

TEST(all_programs_on_gpus_without_links)
{
    check("bfs", apart(2));
    check("sssp", apart(4));
    check("labels", apart(2));
    check("kcore", apart(4));
    check("pagerank", apart(2));
    check("adsorption", apart(4));
    check("circuit", apart(2));
}

TEST(all_programs_on_gpus_that_see_writes_late)
{
    check("bfs", late());
    check("sssp", late());
    check("labels", late());
    check("kcore", late());
    check("pagerank", late());
    check("adsorption", late());
    check("circuit", late());
}

TEST(all_programs_on_slices_of_one_gpu)
{
    check("bfs", slices());
    check("sssp", slices());
    check("labels", slices());
    check("kcore", slices());
    check("pagerank", slices());
    check("adsorption", slices());
    check("circuit", slices());
}

/* Counters. */

#define SMALL "paths.partition_edges=32 "

static td_run *run_with(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_run_options options = on_gpu(program, graph);
    options.devices = devices;
    return run_of(program, graph, options, settings);
}

static uint64_t count_with(const char *program, const td_graph *graph, const char *devices, const char *settings,
                           const char *counter)
{
    td_run *run = run_with(program, graph, devices, settings);
    uint64_t value = counted(run, counter);
    td_run_destroy(run);
    return value;
}

/* An exchange behind every layer would take longer. */
TEST(programs_of_real_numbers_have_no_layers_by_default)
{
    td_graph *graph = web(300);
    td_run *run = run_with("adsorption", graph, apart(2), SMALL);
    td_run *with = run_with("adsorption", graph, apart(2), SMALL "paths.layers=on");
    CHECK_EQ(counted(run, "layers"), 1);
    CHECK(counted(with, "layers") > 1);
    CHECK(run->launches < with->launches);
    td_run_destroy(run);
    td_run_destroy(with);
    td_graph_destroy(graph);
}

/* The giant component is on all GPUs, each of which walks a part of it. */
TEST(a_giant_component_is_spread_over_the_gpus)
{
    td_graph *graph = web(300);
    td_run *run = run_with("adsorption", graph, apart(4), SMALL);
    CHECK_EQ(counted(run, "gpus"), 4);
    CHECK(counted(run, "groups_spread") > 0);
    CHECK(counted(run, "messages") > 0);
    CHECK_EQ(run->devices.count, 5); /* with the CPU */
    uint64_t edges = 0;
    for (int i = 1; i < 5; i++) {
        CHECK(run->devices.of[i].row.edges > 0);
        edges += run->devices.of[i].row.edges;
    }
    CHECK_EQ(edges, counted(run, "edges_sent"));
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(affinity_saves_messages)
{
    td_graph *graph = web(700);
    td_run *on = run_with("bfs", graph, apart(4), SMALL), *off = run_with("bfs", graph, apart(4), SMALL "paths.affinity=off");
    printf("     %" PRIu64 " bytes, %" PRIu64 " partitions near; without %" PRIu64 ", %" PRIu64 "\n",
           counted(on, "message_bytes"), counted(on, "affine_partitions"), counted(off, "message_bytes"),
           counted(off, "affine_partitions"));
    CHECK(counted(on, "message_bytes") < counted(off, "message_bytes"));
    CHECK(counted(on, "affine_partitions") > counted(off, "affine_partitions"));
    CHECK(counted(on, "busiest_link_bytes") <= counted(on, "message_bytes") / 4);
    td_run_destroy(on);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

/* Messages to one destination partition follow each other: a message in a hundred begins with another word of marks. */
TEST(messages_are_sorted_by_their_destinations)
{
    td_graph *graph = web(700);
    td_run *on = run_with("bfs", graph, apart(2), SMALL "paths.layers=off"),
           *off = run_with("bfs", graph, apart(2), SMALL "paths.layers=off paths.sort=off");
    printf("     %" PRIu64 " runs of %" PRIu64 " messages; unsorted %" PRIu64 " of %" PRIu64 "\n",
           counted(on, "message_runs"), counted(on, "messages"), counted(off, "message_runs"), counted(off, "messages"));
    CHECK_EQ(counted(on, "messages"), counted(off, "messages"));
    CHECK(counted(on, "message_runs") < counted(off, "message_runs"));
    td_run_destroy(on);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

/* Kernels read them over the link, so that none is written and read once more. */
TEST(messages_are_copied_only_where_asked)
{
    td_graph *graph = web(700);
    td_run *read = run_with("bfs", graph, linked_gpus("linked.topology", 2, NARROW), SMALL),
           *copied = run_with("bfs", graph, linked_gpus("linked.topology", 2, NARROW), SMALL "paths.exchange=copies");
    CHECK_EQ(counted(read, "messages"), counted(copied, "messages"));
    CHECK(read->device_seconds < copied->device_seconds);
    td_run_destroy(read);
    td_run_destroy(copied);
    td_graph_destroy(graph);
}

/* Rounds of a launch take fewer exchanges. */
/* GPUs that start early do not wait for each other behind every layer. */
TEST(gpus_that_go_ahead_exchange_less_often)
{
    td_graph *graph = web(700);
    td_run *on = run_with("bfs", graph, apart(2), SMALL), *off = run_with("bfs", graph, apart(2), SMALL "paths.early=off");
    printf("     %" PRIu64 " launches, %" PRIu64 " behind every layer\n", on->launches, off->launches);
    CHECK(on->launches < off->launches);
    td_run_destroy(on);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

TEST(several_rounds_before_an_exchange_take_fewer_of_them)
{
    td_graph *graph = named("grid 30x40");
    uint64_t many = count_with("bfs", graph, apart(2), SMALL "paths.rounds=64", "exchanges");
    uint64_t one = count_with("bfs", graph, apart(2), SMALL "paths.rounds=1", "exchanges");
    printf("     %" PRIu64 " exchanges, %" PRIu64 " after every round\n", many, one);
    CHECK(many < one);
    td_graph_destroy(graph);
}

/* A layer of "layered" has few partitions: warps that it leaves idle walk those behind it. On an acyclic graph nothing is
 * updated twice without it. */
TEST(early_start_takes_fewer_rounds_and_more_updates)
{
    static const struct { const char *devices, *walk; } places[] = {{"emu", ""}, {"emu", " paths.walk=lanes"},
                                                                    {"emu:2", " paths.walk=lanes"}};
    td_graph *graph = named("layered");
    for (int p = 0; p < 3; p++) {
        char on[100], off[100];
        snprintf(on, sizeof on, "paths.acyclic=on paths.partition_edges=8 paths.early=on%s", places[p].walk);
        snprintf(off, sizeof off, "paths.acyclic=on paths.partition_edges=8 paths.layers=on%s", places[p].walk);
        td_run *with = run_with("pagerank", graph, places[p].devices, on),
               *without = run_with("pagerank", graph, places[p].devices, off);
        printf("     %s: %" PRIu64 " rounds, %" PRIu64 " updates, %" PRIu64 " early; without %" PRIu64 ", %" PRIu64 "\n",
               places[p].devices, counted(with, "rounds"), counted(with, "updates"), counted(with, "partitions_early"),
               counted(without, "rounds"), counted(without, "updates"));
        CHECK(counted(with, "partitions_early") > 0);
        CHECK_EQ(counted(without, "partitions_early"), 0);
        CHECK(counted(with, "rounds") < counted(without, "rounds"));
        CHECK_EQ(counted(without, "updates"), graph->vertices);
        td_run_destroy(with);
        td_run_destroy(without);
    }
    td_graph_destroy(graph);
}

/* A search stays on its island, whose paths are on one slice: more partitions than that slice has warps. */
TEST(slices_of_a_gpu_walk_partitions_of_busy_ones)
{
    enum { ISLANDS = 4, EACH = 600, DEGREE = 8 };
    static uint32_t ends[ISLANDS * EACH * DEGREE][2];
    for (uint32_t i = 0; i < ISLANDS * EACH * DEGREE; i++) {
        ends[i][0] = i / DEGREE;
        ends[i][1] = i / DEGREE / EACH * EACH + (uint32_t)(td_random_at(9, i) % EACH);
    }
    td_graph *graph = test_graph_of(ISLANDS * EACH, ends, NULL, ISLANDS * EACH * DEGREE, false);
    const char *narrow = machine_of("thin.topology", 4, "slices all\n", "multiprocessors 1\nresident-threads 64\n");
    const char *steals = "paths.partition_edges=16 paths.rounds=1";
    td_run *on = run_with("bfs", graph, narrow, steals),
           *off = run_with("bfs", graph, narrow, "paths.partition_edges=16 paths.rounds=1 paths.steal=off");
    printf("     %" PRIu64 " partitions of %" PRIu64 " on other GPUs, in %" PRIu64 " walks\n",
           counted(on, "partitions_far"), counted(on, "partitions_walked"), counted(on, "joint_walks"));
    CHECK(counted(on, "partitions_far") > 0);
    CHECK_EQ(counted(off, "partitions_far"), 0);
    td_run_destroy(on);
    td_run_destroy(off);
    CHECK_EQ(count_with("bfs", graph, apart(4), steals, "joint_walks"), 0); /* no common memory */
    td_graph_destroy(graph);
}

/* Reports state settings as they are in effect. */
static bool in_effect(const char *program, const td_graph *graph, const char *devices, const char *text, const char *name)
{
    td_settings settings = settings_from(text);
    td_run_options options = on_gpu(program, graph);
    td_plan *plan = NULL;
    const td_setting *entry = td_engine_named("paths")->settings;
    options.settings = &settings;
    options.devices = devices;
    while (strcmp(entry->name, name) != 0) entry++;
    CHECK_OK(td_plan_make(&plan, "paths", program_of(program), graph, &options));
    double number = plan->engine->in_effect(plan, entry, entry->fallback);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    return number != 0;
}

TEST(layers_and_early_are_stated_as_they_are_in_effect)
{
    td_graph *graph = named("layered"), *both_ways = named("grid 30x40");
    CHECK(in_effect("bfs", graph, "emu", "paths.layers=on", "layers"));
    CHECK(!in_effect("bfs", graph, "emu", "paths.layers=on", "early"));
    CHECK(!in_effect("bfs", graph, "emu", "", "layers") && !in_effect("bfs", graph, "emu", "", "proxy"));
    CHECK(in_effect("bfs", graph, "emu", "paths.proxy=8", "proxy") && in_effect("bfs", graph, "emu", "paths.walk=lanes", "proxy"));
    CHECK(in_effect("bfs", graph, "emu", "paths.early=on", "early"));
    CHECK(in_effect("bfs", graph, apart(2), SMALL, "early") && in_effect("bfs", graph, apart(2), SMALL, "layers"));
    CHECK(!in_effect("bfs", graph, apart(2), SMALL "paths.early=off", "early"));
    CHECK(!in_effect("pagerank", graph, apart(2), SMALL, "layers"));
    CHECK(in_effect("pagerank", graph, apart(2), SMALL "paths.layers=on", "layers"));
    CHECK(!in_effect("bfs", both_ways, "emu", "", "layers"));
    CHECK(!in_effect("bfs", graph, "emu", "paths.variant=t", "layers"));
    td_graph_destroy(graph);
    td_graph_destroy(both_ways);
}

/* Memory. */

static void compare_memory(const td_graph *graph, const char *program, const char *devices, const char *text)
{
    td_settings settings = settings_from(text);
    td_run_options options = on_gpu(program, graph);
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.settings = &settings;
    options.devices = devices;
    CHECK_OK(td_plan_make(&plan, "paths", program_of(program), graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    for (int i = 1; i < plan->devices.count; i++) {
        const td_device_row *stated = &plan->devices.of[i].row, *taken = &run->devices.of[i].row;
        if (stated->graph + stated->program != taken->peak)
            TEST_FAIL("%s with '%s' takes %" PRIu64 " bytes on %s, stated are %" PRIu64, program, text, taken->peak,
                      plan->devices.of[i].name, stated->graph + stated->program);
    }
    CHECK(plan->devices.count > 2);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

TEST(the_memory_stated_for_every_gpu_is_taken_to_the_byte)
{
    static const char *const programs[] = {"pagerank", "sssp", "kcore", "labels"};
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U16, NULL);
    for (int p = 0; p < 4; p++) {
        compare_memory(graph, programs[p], apart(3), "paths.partition_edges=4");
        compare_memory(graph, programs[p], late(), "paths.partition_edges=4 paths.early=on");
    }
    compare_memory(graph, "pagerank", apart(2), "paths.partition_edges=4 paths.streams=2 paths.batch_edges=20");
    compare_memory(graph, "bfs", slices(), "paths.partition_edges=4");
    compare_memory(graph, "bfs", cube_mesh("cube.topology", NARROW), "paths.partition_edges=4"); /* with relays */
    td_graph_destroy(graph);
}

/* A second run of a session takes the shares of the first. */
TEST(a_session_makes_the_shares_once)
{
    td_graph *graph = web(300);
    td_cache kept = {0};
    td_run_options options = on_gpu("bfs", graph);
    options.cache = &kept;
    options.devices = apart(2);
    td_run_destroy(run_of("bfs", graph, options, SMALL));
    uint64_t bytes = kept.layouts[0].host_bytes;
    td_run_destroy(run_of("bfs", graph, options, SMALL));
    CHECK_EQ(kept.layouts[0].host_bytes, bytes);
    td_run_destroy(run_of("bfs", graph, options, SMALL "paths.affinity=off"));
    CHECK(kept.layouts[1].state == NULL);
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST(settings_of_several_gpus_are_refused_on_one)
{
    static const char *const settings[] = {"paths.affinity=off", "paths.sort=off", "paths.rounds=2",
                                           "paths.exchange=copies"};
    td_graph *graph = named("dag");
    td_run *run = NULL;
    for (int i = 0; i < 4; i++) {
        CHECK_STATUS(try_run(&run, "bfs", graph, on_gpu("bfs", graph), settings[i]), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "no effect");
    }
    CHECK_STATUS(try_run(&run, "bfs", graph, (td_run_options){.engine = "paths"}, "paths.early=on"), TD_USAGE);
    td_graph_destroy(graph);
}

/* Faults. */

TEST(a_gpu_lost_at_any_operation_is_an_error_and_leaves_nothing)
{
    lose_in_turn_on("pagerank", apart(2), "paths.partition_edges=8");
    lose_in_turn_on("bfs", slices(), "paths.partition_edges=4");
}

TEST(every_allocation_fails_once) { fail_allocations_on("kcore", apart(2), "paths.partition_edges=4"); }

TEST_MAIN
