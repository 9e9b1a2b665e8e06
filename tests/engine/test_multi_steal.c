/* Frontier stealing and ownership stealing on emulated GPUs: where edges are stolen, that every edge is processed once
 * all the same, and that virtual time gets shorter where one GPU would have all the work, or none of them enough. */
#include "engine/multi_scene.h"

#define STEAL "multi.t1=0 multi.t2=0 "

/* Frontier stealing. */

typedef struct thief {
    const char *program, *settings; /* of the program and the direction */
    const char *direction;          /* in the rows */
    uint32_t iterations;
    bool all_edges;                 /* every active edge is processed: not in first-hit pulls */
} thief;

static const thief thieves[] = {
    {"bfs", "multi.direction=push", "push", 0, true},
    {"bfs", "multi.direction=pull", "pull", 0, false},
    {"sssp", "", "near", 0, true},
    {"labels", "multi.direction=push", "push", 0, true},
    {"labels", "multi.direction=pull", "pull", 0, false},
    {"kcore", "multi.direction=push", "push", 0, true},
    {"pagerank", "", "pull", 3, true},
    {"heat", "", "pull", 3, true},
    {"nn", "", "pull", 2, true},
    {"adsorption", "", "pull", 2, true},
    {"circuit", "", "pull", 3, true},
    {"wcc", "multi.samples=0", "sweep", 0, true},
    {"mst", "", "sweep", 0, true},
};
enum { THIEVES = sizeof thieves / sizeof *thieves };

static td_run *run_thief(const thief *one, const td_graph *graph, const char *devices, const char *sharing)
{
    char settings[256];
    td_run_options options = multi_options(one->program, devices);
    options.has_iterations = one->iterations > 0;
    options.iterations = one->iterations;
    options.source = 40; /* no hub */
    snprintf(settings, sizeof settings, "%s %s", sharing, one->settings);
    td_run *run = run_of(one->program, graph, options, settings);
    check_as_cpu(run, options, "");
    if (one->all_edges) check_all_edges(run);
    return run;
}

TEST(every_program_steals_in_every_direction_where_gpus_are_linked)
{
    td_graph *graph = hubs_graph(1000);
    for (int i = 0; i < THIEVES; i++) {
        bool loops = strcmp(thieves[i].direction, "near") == 0 || /* in which nothing is stolen */
                     (strcmp(thieves[i].direction, "push") == 0 && strcmp(thieves[i].program, "kcore") != 0);
        td_run *run = run_thief(&thieves[i], graph, "emu:8@dgx1", loops ? STEAL " multi.loop_edges=0" : STEAL);
        if (stolen_in(run, thieves[i].direction) == 0)
            TEST_FAIL("%s %s: no edge was stolen", thieves[i].program, thieves[i].settings);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(nothing_is_stolen_where_stealing_is_off_or_there_is_no_link)
{
    static const struct {
        const char *devices, *sharing;
    } ways[] = {{"emu:8@dgx1", "multi.stealing=off"}, {"emu:3", STEAL}, {"emu:8@dgx1", "multi.exchange=copies"}};
    td_graph *graph = hubs_graph(500);
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < THIEVES; i++) {
            td_run *run = run_thief(&thieves[i], graph, ways[w].devices, ways[w].sharing);
            for (uint32_t r = 0; r < run->row_count; r++) CHECK_EQ(run->full_rows[r].edges_stolen, 0);
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

/* All edges of the frontier are one vertex's. */
static td_graph *star_graph(uint32_t leaves)
{
    scene_edges edges = {0};
    for (uint32_t v = 1; v <= leaves; v++) put_edge(&edges, 0, v);
    return made_graph(&edges, leaves + 1, true);
}

/* GPUs with a share of the hub's list, in the iteration in which it is the frontier or in the first sweep. */
static int workers_of_hub(const char *program, const td_graph *graph, const char *settings, uint64_t *largest)
{
    td_run_options options = multi_options(program, linked_gpus("linked.topology", 4, ""));
    options.source = 700;
    td_run *run = run_of(program, graph, options, settings);
    int workers = 0;
    check_as_cpu(run, options, "");
    check_all_edges(run);
    *largest = 0;
    for (uint32_t i = 0; i < run->row_count && workers == 0; i++) {
        const td_row *row = &run->full_rows[i];
        if (row->share.count == 0 || row->active_edges < 999) continue;
        int fragment = 0;
        for (int k = 1; k < 4; k++)
            if (row->load.values[k] > row->load.values[fragment]) fragment = k;
        for (int j = 0; j < 4; j++) {
            double share = row->share.values[fragment * 4 + j];
            workers += share > 0;
            if (share > (double)*largest) *largest = (uint64_t)share;
        }
    }
    td_run_destroy(run);
    return workers;
}

TEST(long_lists_are_divided_between_thieves_and_short_ones_are_not)
{
    td_graph *graph = star_graph(1000);
    static const char *const programs[] = {"bfs", "sssp", "mst"};
    static const char *const ways[] = {"multi.direction=push ", "", ""};
    for (int p = 0; p < 3; p++) {
        char settings[300];
        const char *more = p == 2 ? "" : "multi.ownership=off multi.loop_edges=0 ";
        uint64_t largest;
        snprintf(settings, sizeof settings, STEAL "multi.cost=uniform %s%smulti.high_degree=64", more, ways[p]);
        CHECK_EQ(workers_of_hub(programs[p], graph, settings, &largest), 4);
        CHECK(largest < 700); /* of 1,000: no GPU has the whole list */
        snprintf(settings, sizeof settings, STEAL "multi.cost=uniform %s%smulti.high_degree=2000", more, ways[p]);
        (void)workers_of_hub(programs[p], graph, settings, &largest);
        CHECK(largest >= 1000);
    }
    td_graph_destroy(graph);
}

/* GPUs that are slow compared to their links, so that another one's help is worth its price. */
static const char *slow_gpus(int gpus) { return linked_gpus("slow.topology", gpus, "operation-rate 20M/s\n"); }

static double seconds_of(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_run_options options = multi_options(program, devices);
    options.has_iterations = program_of(program)->cpu[0].measure != TD_MEASURE_NONE;
    options.iterations = 3;
    td_run *run = run_of(program, graph, options, settings);
    check_as_cpu(run, options, "");
    double seconds = run->device_seconds;
    td_run_destroy(run);
    return seconds;
}

/* What a steal costs. */

static uint64_t operations_of(const td_run *run)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < run->row_count; i++) all += run->full_rows[i].operations;
    return all;
}

static uint32_t stolen_rows(const td_run *run)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < run->row_count; i++) rows += run->full_rows[i].edges_stolen > 0;
    return rows;
}

/* Thresholds of so many edges consider a steal in every iteration and take none. */
TEST(a_steal_that_is_declined_costs_no_operation)
{
    static const char *const programs[] = {"sssp", "labels", "pagerank"};
    td_graph *graph = hubs_graph(600);
    for (int p = 0; p < 3; p++) {
        const char *more = p == 2 ? "" : p == 1 ? "multi.loop_edges=0 multi.queue_edges=0 multi.ownership=off multi.direction=push "
                                                : "multi.loop_edges=0 multi.queue_edges=0 multi.ownership=off ";
        static const char *const ways[] = {"multi.stealing=off", "multi.t1=0 multi.t2=1e12", "multi.t1=0 multi.t2=0"};
        uint64_t operations[3];
        for (int w = 0; w < 3; w++) {
            char settings[256];
            td_run_options options = multi_options(programs[p], "emu:8@dgx1");
            options.has_iterations = p == 2;
            options.iterations = 3;
            options.source = 40;
            snprintf(settings, sizeof settings, "%s%s", more, ways[w]);
            td_run *run = run_of(programs[p], graph, options, settings);
            operations[w] = operations_of(run);
            CHECK_EQ(stolen_rows(run) > 0, w == 2);
            td_run_destroy(run);
        }
        printf("    %s: %" PRIu64 " operations, %" PRIu64 " with steals that are declined, %" PRIu64 " with steals\n",
               programs[p], operations[0], operations[1], operations[2]);
        CHECK_EQ(operations[0], operations[1]);
        CHECK(operations[1] < operations[2]);
    }
    td_graph_destroy(graph);
}

/* Every launch takes half a millisecond here, and a thief's part is one more: predicted by the costs of edges alone, steals
 * would gain in every iteration. The first ones show that they do not. */
TEST(steals_end_when_they_cost_more_than_they_gain)
{
    td_graph *graph = hubs_graph(1024);
    td_run_options options = multi_options("pagerank", linked_gpus("late-launch.topology", 4, "operation-rate 20M/s\nlaunch 4ms\n"));
    options.has_iterations = true;
    options.iterations = 12;
    td_run *on = run_of("pagerank", graph, options, "multi.steal_edges=1");
    td_run *always = run_of("pagerank", graph, options, STEAL);
    td_run *off = run_of("pagerank", graph, options, "multi.stealing=off");
    printf("    %u of %u iterations with steals; %.1f ms, %.1f ms with all of them, %.1f ms with none\n", stolen_rows(on),
           on->row_count, on->device_seconds * 1e3, always->device_seconds * 1e3, off->device_seconds * 1e3);
    check_as_cpu(on, options, "");
    CHECK(stolen_rows(on) > 0);
    CHECK(stolen_rows(on) < stolen_rows(always) / 2);
    CHECK(on->device_seconds < always->device_seconds);
    td_run_destroy(on);
    td_run_destroy(always);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

TEST(an_iteration_of_one_fragment_is_shorter_with_stealing)
{
    td_graph *islands = islands_graph(4, 512, 16), *hubs = hubs_graph(1024);
    const struct {
        const char *program, *settings;
        const td_graph *graph;
    } works[] = {{"bfs", "multi.ownership=off multi.loop_edges=0 multi.queue_edges=0 multi.direction=push", islands},
                 {"sssp", "multi.ownership=off multi.loop_edges=0 multi.queue_edges=0", islands},
                 {"pagerank", "", hubs},
                 {"wcc", "multi.samples=0", hubs}};
    const char *devices = slow_gpus(4);
    for (int i = 0; i < 4; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "multi.stealing=off %s", works[i].settings);
        double off = seconds_of(works[i].program, works[i].graph, devices, settings);
        snprintf(settings, sizeof settings, STEAL "%s", works[i].settings);
        double on = seconds_of(works[i].program, works[i].graph, devices, settings);
        printf("    %s: %.0f us, with stealing %.0f us\n", works[i].program, off * 1e6, on * 1e6);
        CHECK(on < off);
    }
    td_graph_destroy(islands);
    td_graph_destroy(hubs);
}

/* Ownership stealing. */

/* A path, symmetric: every iteration has one or two active vertices. */
static td_graph *path_graph(uint32_t vertices)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v + 1 < vertices; v++) put_edge(&edges, v, v + 1);
    return made_graph(&edges, vertices, true);
}

static td_graph *mesh_graph(uint32_t side)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < side * side; v++) {
        if (v % side + 1 < side) put_edge(&edges, v, v + 1);
        if (v / side + 1 < side) put_edge(&edges, v, v + side);
    }
    return made_graph(&edges, side * side, true);
}

static uint32_t least_gpus(const td_run *run, uint32_t first)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = first; i < run->row_count; i++)
        if (run->full_rows[i].gpus < least) least = run->full_rows[i].gpus;
    return least;
}

static uint32_t most_gpus(const td_run *run, uint32_t first)
{
    uint32_t most = 0;
    for (uint32_t i = first; i < run->row_count; i++)
        if (run->full_rows[i].gpus > most) most = run->full_rows[i].gpus;
    return most;
}

/* Returns the virtual time that fewer GPUs save. */
static double check_ownership(const char *program, const td_graph *graph, const char *devices, uint32_t gpus)
{
    td_run_options options = multi_options(program, devices);
    const char *direction = strcmp(program, "sssp") == 0 ? "multi.loop_edges=0 " : "multi.loop_edges=0 multi.direction=push ";
    char settings[128];
    td_run *on = run_of(program, graph, options, direction);
    snprintf(settings, sizeof settings, "%s multi.ownership=off", direction);
    td_run *off = run_of(program, graph, options, settings);
    printf("    %s on %s: %.0f us with %u GPUs, %.0f us with down to %u\n", program, devices,
           off->device_seconds * 1e6, gpus, on->device_seconds * 1e6, least_gpus(on, 0));
    check_as_cpu(on, options, "");
    check_as_cpu(off, options, "");
    check_all_edges(on);
    CHECK_EQ(least_gpus(off, 0), gpus);
    CHECK(least_gpus(on, 0) < gpus);
    double saved = off->device_seconds - on->device_seconds;
    td_run_destroy(on);
    td_run_destroy(off);
    return saved;
}

TEST(fewer_gpus_take_part_in_tiny_iterations)
{
    td_graph *path = path_graph(260), *mesh = mesh_graph(24);
    const char *devices = linked_gpus("linked.topology", 4, "");
    (void)check_ownership("bfs", path, devices, 4);
    (void)check_ownership("sssp", path, devices, 4);
    (void)check_ownership("labels", path, devices, 4);
    (void)check_ownership("bfs", mesh, devices, 4);
    (void)check_ownership("bfs", path, "emu:8@dgx1", 8);
    CHECK(check_ownership("sssp", mesh, "emu:8@dgx1", 8) > 0);
    td_graph_destroy(path);
    td_graph_destroy(mesh);
}

/* Without links nobody could read another fragment's lists. */
TEST(all_gpus_take_part_where_there_is_no_link)
{
    td_graph *path = path_graph(200);
    td_run_options options = multi_options("bfs", "emu:3");
    td_run *run = run_of("bfs", path, options, "multi.direction=push");
    CHECK_EQ(least_gpus(run, 0), 3);
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(path);
}

/* A tail, then `ball` vertices with many neighbours each, on all GPUs. */
static td_graph *tail_and_ball(uint32_t tail, uint32_t ball, uint32_t degree)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < tail; v++) put_edge(&edges, v, v + 1);
    for (uint32_t v = tail; v < tail + ball; v++)
        for (uint32_t i = 0; i < degree; i++)
            put_edge(&edges, v, tail + (uint32_t)(td_random_at(3, v * degree + i) % ball));
    return made_graph(&edges, tail + ball, true);
}

TEST(ownership_comes_back_when_the_work_grows)
{
    enum { TAIL = 200 };
    td_graph *graph = tail_and_ball(TAIL, 1500, 12);
    const char *devices = slow_gpus(4);
    td_run_options options = multi_options("bfs", devices);
    td_run *run = run_of("bfs", graph, options, "multi.loop_edges=0 multi.direction=push " STEAL);
    uint32_t least = least_gpus(run, 0), after = most_gpus(run, TAIL);
    printf("    down to %u GPUs in the tail, %u behind it\n", least, after);
    check_as_cpu(run, options, "");
    check_all_edges(run);
    CHECK(least_gpus(run, TAIL / 2) < 4); /* the last of the tail may be one of those that try all GPUs again */
    CHECK_EQ(after, 4);
    td_run_destroy(run);
    run = run_of("bfs", graph, options, "multi.loop_edges=0 " STEAL); /* the ball is pulled: by all GPUs, each for its own fragment */
    uint32_t pulls = 0;
    CHECK(least_gpus(run, 0) < 4);
    for (uint32_t i = 0; i < run->row_count; i++) {
        if (strcmp(run->rows[i].direction, "pull") != 0) continue;
        CHECK_EQ(run->full_rows[i].gpus, 4);
        pulls++;
    }
    CHECK(pulls > 0);
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* The first run steals nothing and remembers what edges cost in every iteration; the second divides by that. */
TEST(exact_costs_are_those_of_the_first_run)
{
    static const char settings[] = "multi.cost=exact multi.t1=0 multi.t2=0 multi.loop_edges=0 multi.ownership=off multi.direction=push";
    td_cache kept = {0};
    td_graph *graph = islands_graph(4, 2000, 8);
    td_run_options options = multi_options("bfs", linked_gpus("exact.topology", 4, "check off\noperation-rate 20M/s\n"));
    options.cache = &kept;
    td_run *first = run_of("bfs", graph, options, settings), *second = run_of("bfs", graph, options, settings);
    check_as_cpu(second, (td_run_options){.has_source = true}, "");
    CHECK_EQ(stolen_in(first, "push"), 0);
    CHECK(stolen_in(second, "push") > second->edges_processed / 2);
    double alone = 0, shared = 0, expected = 0;
    for (uint32_t i = 0; i < first->row_count; i++) {
        alone += first->full_rows[i].longest_seconds;
        shared += second->full_rows[i].longest_seconds;
        expected += second->full_rows[i].predicted_seconds;
    }
    if (!(2 * shared < alone) || !(expected > 0.6 * shared && expected < 1.2 * shared))
        TEST_FAIL("longest GPUs: %.0f us alone, %.0f us divided, %.0f us expected", 1e6 * alone, 1e6 * shared, 1e6 * expected);
    td_run_destroy(first);
    td_run_destroy(second);
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST_MAIN
