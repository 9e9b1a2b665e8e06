/* Emulated GPUs that have one memory, as slices of a GPU do: loops without the host take vertices from one queue, and pulls
 * need few operations of the host. */
#include "engine/multi_scene.h"

#define COMMON "multi.loop_queue=common "

static const char *slices(int count)
{
    char name[32];
    snprintf(name, sizeof name, "slices%d.topology", count);
    return machine_of(name, count, "slices all\n", "");
}

/* A path through `length` vertices, then a ball of `more` vertices with eight random neighbours each; vertex 0 is a
 * neighbour of one in three. */
static td_graph *tail_and_ball(uint32_t length, uint32_t more, bool star)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < length; v++) put_edge(&edges, v, v + 1);
    for (uint32_t i = 0; i < 8 * more; i++)
        put_edge(&edges, length + i % more, length + (uint32_t)(td_random_at(3, i) % more));
    for (uint32_t v = 3; v < length + more && star; v += 3) put_edge(&edges, 0, v);
    return made_graph(&edges, length + more, true);
}

static td_run *run_on_slices(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_run_options options = multi_options(program, devices);
    options.source = graph->vertices - 1;
    td_run *run = run_of(program, graph, options, settings);
    check_as_cpu(run, options, "");
    if (strcmp(program, "sssp") == 0 || strstr(settings, "push") != NULL) check_all_edges(run);
    return run;
}

static uint64_t stolen_of(const td_run *run)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < run->row_count; i++) all += run->full_rows[i].edges_stolen;
    return all;
}

/* Small frontiers, lists that several warps share, loops that are left and entered again. */
TEST(a_common_queue_gives_the_cpus_results)
{
    static const char *const programs[] = {"bfs", "sssp", "labels"};
    static const char *const settings[] = {COMMON, COMMON "multi.loop_edges=60 multi.loop_blocks=2",
                                           COMMON "multi.direction=push multi.loop_blocks=1"};
    td_graph *graphs[] = {tail_and_ball(70, 300, false), tail_and_ball(10, 700, true), islands_graph(3, 100, 3)};
    const char *devices[] = {slices(3), slices(4)};
    for (int g = 0; g < 3; g++)
        for (int p = 0; p < 3; p++)
            for (int s = 0; s < 3; s++) {
                bool push = p == 1 && s == 2; /* replaces buckets by rounds */
                td_run *run = run_on_slices(programs[p], graphs[g], devices[(g + p + s) % 2], settings[s]);
                if (stolen_of(run) == 0 && s != 1 && (s == 2 || p == 1) && !push)
                    TEST_FAIL("%s, graph %d, %s: no edge was stolen", programs[p], g, settings[s]);
                td_run_destroy(run);
            }
    for (int g = 0; g < 3; g++) td_graph_destroy(graphs[g]);
}

static uint64_t most_edges(const td_run *run)
{
    uint64_t most = 0;
    for (int i = 0; i < run->devices.count; i++)
        if (run->devices.of[i].row.edges > most) most = run->devices.of[i].row.edges;
    return most;
}

/* A search in one fragment: with queues of owners its GPU does all of it, with a common one no GPU does half. */
TEST(all_gpus_take_from_a_common_queue)
{
    static const char *const programs[] = {"bfs", "sssp"};
    td_graph *graph = islands_graph(4, 400, 4);
    const char *devices = slices(4);
    for (int p = 0; p < 2; p++) {
        td_run *owners = run_on_slices(programs[p], graph, devices,
                                       p == 0 ? "multi.loop_queue=owners multi.direction=push" : "multi.loop_queue=owners");
        td_run *common = run_on_slices(programs[p], graph, devices, p == 0 ? COMMON "multi.direction=push" : COMMON);
        CHECK_EQ(stolen_of(owners), 0);
        CHECK_EQ(most_edges(owners), owners->edges_processed);
        if (!(2 * most_edges(common) < common->edges_processed) || !(stolen_of(common) > common->edges_processed / 2))
            TEST_FAIL("%s: one GPU processed %" PRIu64 " of %" PRIu64 " edges, %" PRIu64 " were stolen", programs[p],
                      most_edges(common), common->edges_processed, stolen_of(common));
        uint64_t before = 0, after = 0;
        for (uint32_t i = 0; i < owners->row_count; i++) before += owners->full_rows[i].operations;
        for (uint32_t i = 0; i < common->row_count; i++) after += common->full_rows[i].operations;
        CHECK(after < before);
        if (p == 0) CHECK_EQ(common->edges_processed, owners->edges_processed);
        td_run_destroy(owners);
        td_run_destroy(common);
    }
    td_graph_destroy(graph);
}

/* By default, but for sssp on graphs that are not sparse, which defers many vertices. */
TEST(slices_choose_their_queue)
{
    td_graph *dense = islands_graph(2, 300, 9), *sparse = islands_graph(2, 300, 2);
    td_run *bfs = run_on_slices("bfs", dense, slices(2), "multi.direction=push"), *many = run_on_slices("sssp", dense, slices(2), "");
    td_run *few = run_on_slices("sssp", sparse, slices(2), "");
    CHECK(stolen_of(bfs) > 0);
    CHECK_EQ(stolen_of(many), 0);
    CHECK(stolen_of(few) > 0);
    td_run_destroy(bfs);
    td_run_destroy(many);
    td_run_destroy(few);
    td_graph_destroy(dense);
    td_graph_destroy(sparse);
}

/* A list that is longer than what a warp processes at once is divided. */
TEST(all_gpus_share_a_long_list)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < 2000; v++) put_edge(&edges, 2000, v);
    td_graph *graph = made_graph(&edges, 2001, true);
    td_run *run = run_on_slices("bfs", graph, slices(4), COMMON "multi.direction=push");
    CHECK_EQ(run->edges_processed, 4000);
    CHECK(2 * most_edges(run) < run->edges_processed);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Every vertex that is reached is active once: no bit of an earlier frontier is left where pulls do not clear bitmaps. */
TEST(pulls_of_slices_take_four_operations_of_the_host_for_each)
{
    enum { GPUS = 4 };
    static const char *const settings[] = {"multi.loop_edges=0 multi.queue_edges=0", "multi.loop_edges=0", "multi.loop_edges=200",
                                           COMMON "multi.loop_edges=200"};
    td_graph *graph = tail_and_ball(80, 900, false);
    for (int s = 0; s < 4; s++) {
        bool turned = false;
        uint64_t active = 0, reached = 0;
        td_run *run = run_on_slices("bfs", graph, slices(GPUS), settings[s]);
        for (uint32_t i = 0; i < run->row_count; i++) {
            const td_row *row = &run->full_rows[i];
            bool pull = strcmp(row->direction, "pull") == 0, before = i > 0 && strcmp(run->rows[i - 1].direction, "pull") == 0;
            active += row->active_vertices;
            if (pull && before) CHECK_EQ(row->operations, 4 * GPUS);
            if (!pull && before && s == 0) CHECK(row->operations < 23); /* the next frontier's bitmap is cleared once */
            turned = turned || (!pull && before);
        }
        for (uint32_t v = 0; v < graph->vertices; v++) reached += ((const uint32_t *)run->values)[v] != TD_UNREACHED;
        CHECK_EQ(active, reached);
        CHECK(turned);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* The only active neighbour is the last of a list that a warp leaves to a block. */
TEST(pulls_of_slices_scan_long_lists_to_their_end)
{
    enum { LENGTH = TD_GPU_ALONE + TD_GPU_LATE + 700 };
    scene_edges edges = {0};
    for (uint32_t v = 1; v <= LENGTH; v++) put_edge(&edges, 0, v);
    td_graph *graph = made_graph(&edges, LENGTH + 1, true);
    td_run_destroy(run_on_slices("bfs", graph, slices(2), "multi.direction=pull"));
    td_graph_destroy(graph);
}

#define SEARCH "multi.loop_pulls=on "

/* A source beside `dense` vertices that know each other; the last of them is the last neighbour of a hub with `leaves` leaves.
 * A pull finds it at the very end of the hub's list; a push along that list finds the leaves. */
static td_graph *hub_behind_a_clique(uint32_t leaves, uint32_t dense)
{
    scene_edges edges = {0};
    uint32_t first = leaves + 1, end = first + dense;
    for (uint32_t v = 1; v <= leaves; v++) put_edge(&edges, 0, v);
    for (uint32_t v = first; v < end; v++)
        for (uint32_t u = first; u < v; u++) put_edge(&edges, u, v);
    put_edge(&edges, 0, end - 1);
    for (uint32_t v = first; v < end; v++) put_edge(&edges, v, end); /* the source */
    return made_graph(&edges, end + 1, true);
}

typedef struct turns {
    bool pull, push, pull_then_push, push_then_pull;
    uint64_t active, operations;
} turns;

static turns turns_of(const td_run *run)
{
    turns of = {0};
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        bool pull = strcmp(row->direction, "pull") == 0, before = i > 0 && strcmp(run->rows[i - 1].direction, "pull") == 0;
        of.pull = of.pull || pull;
        of.push = of.push || !pull;
        of.pull_then_push = of.pull_then_push || (before && !pull);
        of.push_then_pull = of.push_then_pull || (i > 0 && !before && pull);
        of.active += row->active_vertices;
        of.operations += row->operations;
    }
    return of;
}

/* In both directions, from queues and bitmaps, with lists that all GPUs share; more rounds than one launch has; one round a
 * launch. The directions are those that the host chooses. */
TEST(searches_without_the_host_give_the_cpus_results)
{
    static const char *const settings[] = {SEARCH, SEARCH "multi.loop_blocks=1", SEARCH "multi.recovery_every=1",
                                           SEARCH "multi.partition=random"};
    td_graph *graphs[] = {tail_and_ball(80, 900, false), tail_and_ball(10, 700, true), islands_graph(3, 100, 9),
                          hub_behind_a_clique(TD_GPU_ALONE + TD_GPU_LATE + 300, 150)};
    turns all = {0};
    for (int g = 0; g < 4; g++)
        for (int s = 0; s < 4; s++) {
            td_run *run = run_on_slices("bfs", graphs[g], slices(2 + (g + s) % 3), settings[s]);
            uint64_t reached = 0;
            turns of = turns_of(run);
            for (uint32_t v = 0; v < graphs[g]->vertices; v++) reached += ((const uint32_t *)run->values)[v] != TD_UNREACHED;
            CHECK_EQ(of.active, reached);
            CHECK(stolen_of(run) > 0);
            all.pull_then_push = all.pull_then_push || of.pull_then_push;
            all.push_then_pull = all.push_then_pull || of.push_then_pull;
            for (uint32_t i = 0; i < run->row_count; i++) {
                CHECK_STR(run->full_rows[i].steal, "loop");
                CHECK_EQ(run->full_rows[i].busy.count, run->full_rows[i].gpus);
                CHECK(run->full_rows[i].longest_seconds > 0 && run->full_rows[i].idle_share >= 0 && run->full_rows[i].idle_share < 1);
            }
            td_run_destroy(run);
        }
    CHECK(all.pull_then_push && all.push_then_pull);
    for (int g = 0; g < 4; g++) td_graph_destroy(graphs[g]);
}

/* A list of a large frontier that is too long for one warp: without the hub's division one GPU would do nearly all. */
TEST(searches_without_the_host_divide_long_lists)
{
    enum { LEAVES = 2 * TD_GPU_LATE, BESIDE = 60, GPUS = 4 };
    scene_edges edges = {0};
    for (uint32_t v = 1; v <= LEAVES; v++) put_edge(&edges, 0, v);
    for (uint32_t v = 1; v <= BESIDE; v++) put_edge(&edges, LEAVES + v, LEAVES + BESIDE + 1);
    put_edge(&edges, 0, LEAVES + BESIDE + 1);
    td_graph *graph = made_graph(&edges, LEAVES + BESIDE + 2, true);
    td_run *run = run_on_slices("bfs", graph, slices(GPUS), SEARCH "multi.loop_blocks=1");
    CHECK_STR(run->rows[1].direction, "push");
    CHECK(run->rows[1].active_vertices > 8 * GPUS); /* more than warps, which do not share lists then */
    CHECK(2 * most_edges(run) < run->edges_processed);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Directed: pulls read other lists than pushes. Against rounds that the host launches: the same edges, fewer operations. */
TEST(searches_without_the_host_do_what_the_host_chooses)
{
    enum { GPUS = 4, OF_FIRST_VALUES = 5 };
    scene_edges edges = {0};
    for (uint32_t i = 0; i < 9000; i++)
        put_edge(&edges, (uint32_t)(td_random_at(5, 2 * i) % 900), (uint32_t)(td_random_at(5, 2 * i + 1) % 900));
    td_graph *directed = made_graph(&edges, 900, false), *ball = tail_and_ball(40, 900, false);
    td_graph *graphs[] = {directed, ball};
    for (int g = 0; g < 2; g++) {
        td_run *host = run_on_slices("bfs", graphs[g], slices(GPUS), "multi.loop_pulls=off"), *none = run_on_slices("bfs", graphs[g], slices(GPUS), SEARCH);
        turns of_host = turns_of(host), of_none = turns_of(none);
        CHECK(of_none.pull && of_none.push);
        CHECK_EQ(none->row_count, host->row_count);
        for (uint32_t i = 0; i < host->row_count && i < none->row_count; i++)
            CHECK_EQ(none->rows[i].active_vertices, host->rows[i].active_vertices);
        CHECK(of_host.operations < (g == 0 ? 41 : 49)); /* 59 and 67 with counters cleared and frontiers measured in vain */
        if (!(of_none.operations < of_host.operations))
            TEST_FAIL("graph %d: %" PRIu64 " operations without the host, %" PRIu64 " with it", g, of_none.operations,
                      of_host.operations);
        /* A launch and a wait for each, a fill, a copy; where there are more rows than are expected, they are read again. */
        CHECK(of_none.operations <= OF_FIRST_VALUES * GPUS + 2 * GPUS + 2 + (none->row_count > 16 ? GPUS + 1 : 0));
        td_run_destroy(host);
        td_run_destroy(none);
        td_graph_destroy(graphs[g]);
    }
}

static uint32_t pulls_in_loops(const td_run *run)
{
    uint32_t pulls = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        pulls += strcmp(row->direction, "pull") == 0 && row->steal != NULL && strcmp(row->steal, "loop") == 0;
    }
    return pulls;
}

/* By default; not if a setting is given that has an effect only where the host decides between iterations. Loops of the host's
 * rounds do not pull. */
TEST(searches_of_slices_run_without_the_host_unless_it_is_asked)
{
    static const char *const asks[] = {"cost=uniform", "t1=1000000", "t2=1000000", "t3=0", "steal_edges=1000000", "log=searches.log",
                                       "breakdown=on", "hub_degree=1000000", "loop_edges=1000000", "queue_edges=1000", "ownership=off",
                                       "stealing=off", "direction=pull", "loop_queue=owners"};
    static const char *const others[] = {"", "multi.partition=random multi.seed=3", "multi.loop_queue=common", "multi.loop_blocks=2",
                                         "multi.high_degree=64", "multi.recovery=off", "multi.routes=host", "multi.cost=uniform multi.loop_pulls=on"};
    td_graph *graph = tail_and_ball(40, 900, false);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        char setting[64];
        bool log = strncmp(asks[i], "log=", 4) == 0;
        snprintf(setting, sizeof setting, "multi.%s%s", log ? "log=" : asks[i], log ? test_path(asks[i] + 4) : "");
        td_run *run = run_on_slices("bfs", graph, slices(3), setting);
        if (pulls_in_loops(run) != 0) TEST_FAIL("%s: the host was not asked", setting);
        td_run_destroy(run);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        td_run *run = run_on_slices("bfs", graph, slices(3), others[i]);
        if (pulls_in_loops(run) == 0) TEST_FAIL("'%s': the host was asked", others[i]);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* After a launch with as many rounds as it may have, small frontiers go to loops that only push: one launch more, where
 * loop_pulls=on launches the search again and again. Short searches stay one, however often the host is asked. */
TEST(long_searches_of_slices_leave_small_frontiers_to_loops_that_push)
{
    td_graph *line = tail_and_ball(10 * TD_GPU_SEARCH_ROUNDS, 20, false), *ball = tail_and_ball(20, 700, true);
    td_run *chosen = run_on_slices("bfs", line, slices(2), ""), *search = run_on_slices("bfs", line, slices(2), SEARCH);
    CHECK(chosen->launches < search->launches);
    td_run_destroy(chosen);
    td_run_destroy(search);
    chosen = run_on_slices("bfs", ball, slices(2), "multi.recovery_every=1");
    search = run_on_slices("bfs", ball, slices(2), SEARCH "multi.recovery_every=1");
    CHECK(chosen->row_count < TD_GPU_SEARCH_ROUNDS);
    CHECK_EQ(chosen->launches, search->launches);
    CHECK_EQ(turns_of(chosen).operations, turns_of(search).operations);
    td_run_destroy(chosen);
    td_run_destroy(search);
    td_graph_destroy(line);
    td_graph_destroy(ball);
}

/* A frontier behind many small ones that is above multi.loop_edges is the search's again, which pulls. */
TEST(long_searches_of_slices_take_large_frontiers_back)
{
    enum { LENGTH = TD_GPU_SEARCH_ROUNDS + 20, BALL = 1600, EACH = 120 };
    scene_edges edges = {0};
    for (uint32_t v = 0; v < LENGTH; v++) put_edge(&edges, v, v + 1);
    for (uint32_t i = 0; i < EACH * BALL; i++)
        put_edge(&edges, LENGTH + i % BALL, LENGTH + (uint32_t)(td_random_at(3, i) % BALL));
    td_graph *graph = made_graph(&edges, LENGTH + BALL, true);
    td_run_options options = multi_options("bfs", slices(2));
    options.source = 0;
    td_run *run = run_of("bfs", graph, options, "");
    check_as_cpu(run, options, "");
    CHECK(run->row_count > LENGTH);
    CHECK(pulls_in_loops(run) > 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* A push that the host launches: for each GPU its counters cleared, a launch along its lists and one for pieces of long ones,
 * the next frontier measured, counters reported, a wait; and for all of them one bitmap cleared. */
TEST(pushes_of_slices_take_few_operations_of_the_host)
{
    enum { GPUS = 4, LEAVES = TD_GPU_PIECE + 100 };
    scene_edges edges = {0};
    for (uint32_t v = 1; v <= LEAVES; v++) put_edge(&edges, 0, v);
    td_graph *graph = made_graph(&edges, LEAVES + 1, true);
    td_run *run = run_on_slices("bfs", graph, slices(GPUS), "multi.direction=push multi.loop_edges=0 multi.queue_edges=0 "
                                "multi.partition=random multi.ownership=off");
    CHECK_EQ(run->row_count, 3);
    CHECK(run->full_rows[0].operations < 39); /* with the first values, which count the frontier, too */
    CHECK(run->full_rows[1].operations < 20);
    CHECK(run->full_rows[2].operations < 23);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(a_common_queue_needs_one_memory_and_stealing)
{
    td_run *run = NULL;
    td_graph *graph = islands_graph(2, 50, 3);
    CHECK_STATUS(try_run(&run, "bfs", graph, multi_options("bfs", linked_gpus("linked.topology", 2, "")), COMMON), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "multi.loop_queue=owners");
    CHECK_STATUS(try_run(&run, "bfs", graph, multi_options("bfs", slices(2)), COMMON "multi.values=mirrored"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "do not share values");
    refuse_setting("multi", "bfs", "multi.stealing=off multi.loop_queue=common", "multi.stealing=on");
    CHECK_STATUS(try_run(&run, "bfs", graph, multi_options("bfs", linked_gpus("linked.topology", 2, "")), SEARCH), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "multi.loop_pulls=off");
    refuse_setting("multi", "bfs", "multi.direction=push multi.loop_pulls=on", "multi.direction=auto");
    refuse_setting("multi", "bfs", "multi.loop_queue=owners multi.loop_pulls=on", "multi.loop_queue=owners");
    refuse_setting("multi", "sssp", "multi.loop_edges=0 multi.loop_queue=common", "multi.loop_edges above 0");
    refuse_setting("multi", "bfs", "multi.loop_edges=0 multi.loop_blocks=3", "multi.loop_edges above 0");
    td_graph_destroy(graph);
}

/* GPUs and limits decide as well whether there are rounds without the host. */
TEST(settings_of_loops_that_a_run_does_not_have_are_said_to_have_no_effect)
{
    td_graph *graph = islands_graph(1, 4000, 30);
    for (int limited = 0; limited < 2; limited++) {
        td_settings settings = settings_from("multi.loop_queue=owners");
        td_run_options options = multi_options("bfs", slices(2));
        td_plan *plan = NULL;
        options.settings = &settings;
        options.gpu_edges = limited ? 0.25 : 0;
        CHECK_OK(td_plan_make(&plan, "multi", program_of("bfs"), graph, &options));
        CHECK_EQ(strstr(plan->note, "multi.loop_queue") != NULL, limited);
        td_plan_destroy(plan);
        td_settings_clear(&settings);
    }
    td_graph_destroy(graph);
}

/* Also where one is left, which shares nothing. */
TEST(a_common_queue_survives_lost_slices)
{
    td_graph *graph = tail_and_ball(40, 200, true);
    for (uint64_t nth = 20; nth < 120; nth += 30)
        for (int p = 0; p < 3; p++) {
            const char *program = p == 1 ? "sssp" : "bfs";
            td_run_options options = multi_options(program, slices(2));
            td_device_lose_at("emu:0/2#1", nth);
            td_run *run = run_of(program, graph, options, p == 2 ? SEARCH "multi.recovery_every=1" : COMMON "multi.recovery_every=1");
            td_device_lose_at("", 0);
            CHECK(nth > 60 || run->recovery.gpus_lost == 1);
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

TEST_MAIN
