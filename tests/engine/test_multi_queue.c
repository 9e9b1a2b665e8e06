/* Small rounds that the host launches on emulated GPUs: their frontiers are in queues, which takes fewer operations of the
 * host than bitmaps, only of GPUs that have active vertices; results and edges are the same. */
#include "engine/multi_scene.h"

#define HOST "multi.loop_edges=0 "
#define BITMAPS HOST "multi.queue_edges=0 "

static td_graph *mesh_graph(uint32_t width, uint32_t height)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < width * height; v++) {
        if (v % width + 1 < width) put_edge(&edges, v, v + 1);
        if (v / width + 1 < height) put_edge(&edges, v, v + width);
    }
    return made_graph(&edges, width * height, true);
}

/* Vertex 0 has all others as its neighbours; half of them have a neighbour of their own. */
static td_graph *star_graph(uint32_t vertices)
{
    scene_edges edges = {0};
    for (uint32_t v = 1; v < vertices; v++) put_edge(&edges, 0, v);
    for (uint32_t v = 1; v + 1 < vertices; v += 4) put_edge(&edges, v, v + 1);
    return made_graph(&edges, vertices, true);
}

static uint64_t operations_of(const td_run *run)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < run->row_count; i++) all += run->full_rows[i].operations;
    return all;
}

static td_run *checked_run(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_run_options options = multi_options(program, devices);
    options.source = 40;
    td_run *run = run_of(program, graph, options, settings);
    check_as_cpu(run, options, "");
    if (strcmp(program, "sssp") == 0 || strstr(settings, "push") != NULL) check_all_edges(run); /* there are no pulls */
    return run;
}

static const char *slices(void)
{
    return machine_of("slices.topology", 4, "", "slices all\n");
}

TEST(results_are_the_cpus_with_few_gpus_and_with_all)
{
    static const char *const programs[] = {"bfs", "sssp", "labels"};
    static const char *const settings[] = {HOST, HOST "multi.ownership=off", HOST "multi.partition=random multi.ownership=off",
                                           HOST "multi.queue_edges=300 multi.direction=push",
                                           HOST "multi.queue_edges=60 multi.steal_edges=1"};
    td_graph *graphs[] = {mesh_graph(20, 20), star_graph(300), islands_graph(3, 100, 3)};
    const char *devices[] = {linked_gpus("linked.topology", 4, ""), slices(), cube_mesh("cube.topology", ""),
                             linked_gpus("late.topology", 3, "remote-delay 3\n")};
    for (int d = 0; d < 4; d++)
        for (int g = 0; g < 3; g++)
            for (int p = 0; p < 3; p++)
                for (int s = 0; s < 5; s++) {
                    if ((d + g + p + s) % 2 == 1) continue;
                    if (p == 1 && s == 3) continue; /* sssp has no direction */
                    if (p == 2 && s == 2) continue; /* labels keep the graph's numbers */
                    td_run_destroy(checked_run(programs[p], graphs[g], devices[d], settings[s]));
                }
    for (int g = 0; g < 3; g++) td_graph_destroy(graphs[g]);
}

/* GPUs so slow that steals are worth their price, between rounds from queues. */
TEST(rounds_with_steals_and_queued_ones_take_turns)
{
    const char *devices[] = {linked_gpus("slow.topology", 4, "operation-rate 20M/s\n"),
                             cube_mesh("slow-cube.topology", "operation-rate 20M/s\n")};
    td_graph *graphs[] = {hubs_graph(400), islands_graph(4, 300, 12), star_graph(500)};
    uint64_t stolen = 0;
    for (int d = 0; d < 2; d++)
        for (int g = 0; g < 3; g++)
            for (int p = 0; p < 2; p++) {
                td_run *run = checked_run(p == 0 ? "sssp" : "labels", graphs[g], devices[d],
                                          p == 0 ? HOST "multi.steal_edges=1 multi.queue_edges=2000"
                                                 : HOST "multi.steal_edges=1 multi.queue_edges=2000 multi.direction=push");
                stolen += stolen_in(run, p == 0 ? "near" : "push");
                td_run_destroy(run);
            }
    for (int g = 0; g < 3; g++) td_graph_destroy(graphs[g]);
    CHECK(stolen > 0);
}

TEST(queues_take_fewer_operations_than_bitmaps)
{
    static const char *const programs[] = {"bfs", "sssp", "labels"};
    td_graph *mesh = mesh_graph(40, 20);
    const char *devices[] = {linked_gpus("linked.topology", 4, ""), slices(), "emu:8@dgx1"};
    for (int d = 0; d < 3; d++)
        for (int p = 0; p < 3; p++)
            for (int ownership = 0; ownership < 2; ownership++) {
                const char *more = ownership ? "" : "multi.ownership=off ", *push = p == 1 ? "" : "multi.direction=push ";
                char settings[256];
                if (d == 2 && !ownership) continue; /* a DGX-1's eight GPUs do not all reach each other */
                snprintf(settings, sizeof settings, BITMAPS "%s%s", push, more);
                td_run *bitmaps = checked_run(programs[p], mesh, devices[d], settings);
                snprintf(settings, sizeof settings, HOST "%s%s", push, more);
                td_run *queues = checked_run(programs[p], mesh, devices[d], settings);
                double before = (double)operations_of(bitmaps) / bitmaps->row_count;
                double after = (double)operations_of(queues) / queues->row_count;
                printf("    %s on %s, %s: %.1f operations a round, %.1f with queues; %.0f and %.0f us\n", programs[p],
                       devices[d], ownership ? "few GPUs" : "all GPUs", before, after, bitmaps->device_seconds * 1e6,
                       queues->device_seconds * 1e6);
                CHECK(after < before * (d == 1 ? 0.6 : 0.5)); /* slices search and clear one bitmap */
                CHECK(queues->device_seconds < bitmaps->device_seconds);
                td_run_destroy(bitmaps);
                td_run_destroy(queues);
            }
    td_graph_destroy(mesh);
}

/* A launch, a copy and a wait. */
TEST(a_round_of_one_gpu_takes_three_operations)
{
    td_graph *mesh = mesh_graph(40, 20);
    td_run *run = checked_run("bfs", mesh, slices(), HOST "multi.direction=push");
    CHECK(run->row_count > 30);
    for (uint32_t i = 10; i < run->row_count; i++) {
        CHECK_EQ(run->full_rows[i].gpus, 1);
        CHECK_EQ(run->full_rows[i].operations, 3);
    }
    td_run_destroy(run);
    td_graph_destroy(mesh);
}

/* GPUs that own fragments without active vertices take no part, though ownership stays: a search that begins in one
 * corner of a long mesh reaches the last GPU's rows late. */
TEST(gpus_without_active_vertices_are_not_launched)
{
    td_graph *mesh = mesh_graph(10, 128);
    td_run *run = checked_run("bfs", mesh, slices(), HOST "multi.direction=push multi.ownership=off");
    for (uint32_t i = 2; i < 20; i++) {
        CHECK_EQ(run->full_rows[i].gpus, 4);
        CHECK_EQ(run->full_rows[i].operations, 3);
    }
    td_run_destroy(run);
    td_graph_destroy(mesh);
}

/* Few edges are expected of a vertex on a sparse graph; one of them has all others as neighbours. */
TEST(a_vertex_with_many_neighbours_fits_a_small_loop)
{
    td_graph *star = star_graph(500);
    static const char *const settings[] = {"multi.loop_edges=20", HOST "multi.queue_edges=20", "multi.loop_edges=20 multi.direction=push"};
    const char *devices[] = {linked_gpus("linked.topology", 4, ""), slices()};
    for (int d = 0; d < 2; d++)
        for (int s = 0; s < 3; s++) td_run_destroy(checked_run("bfs", star, devices[d], settings[s]));
    td_graph_destroy(star);
}

/* The parts of all iterations are together the run's virtual time. */
TEST(the_parts_of_iterations_add_up_to_the_run)
{
    static const struct {
        const char *program, *settings;
    } runs[] = {{"bfs", ""}, {"bfs", HOST}, {"sssp", HOST}, {"sssp", BITMAPS "multi.exchange=copies"},
                {"labels", HOST "multi.t1=0 multi.t2=0"}, {"pagerank", ""}, {"wcc", ""}, {"mst", ""}, {"kcore", ""}};
    const char *devices[] = {"emu:8@dgx1", linked_gpus("linked.topology", 3, "")};
    td_graph *graph = islands_graph(3, 200, 5);
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            char settings[256];
            td_run_options options = multi_options(runs[i].program, devices[d]);
            options.has_iterations = strcmp(runs[i].program, "pagerank") == 0;
            options.iterations = 4;
            snprintf(settings, sizeof settings, "multi.breakdown=on %s", runs[i].settings);
            td_run *run = run_of(runs[i].program, graph, options, settings);
            long long sum = 0, computing = 0;
            for (uint32_t r = 0; r < run->row_count; r++) {
                const td_row *row = &run->full_rows[r];
                CHECK(row->computing_seconds >= 0 && row->packing_seconds >= 0 && row->deciding_seconds >= 0 &&
                      row->waiting_seconds >= 0);
                computing += llround(row->computing_seconds * 1e9);
                sum += llround(row->computing_seconds * 1e9) + llround(row->packing_seconds * 1e9) +
                       llround(row->deciding_seconds * 1e9) + llround(row->waiting_seconds * 1e9);
            }
            if (sum != llround(run->device_seconds * 1e9) || computing == 0)
                TEST_FAIL("%s with '%s' on %s: parts of %lld ns, %lld of them computing, of %lld", runs[i].program,
                          settings, devices[d], sum, computing, llround(run->device_seconds * 1e9));
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

/* On a DGX-1 no GPU reaches all others, but four of them reach each other and the lists of the others: they run the small
 * rounds, without the host. */
TEST(a_group_that_reaches_each_other_runs_small_rounds_without_the_host)
{
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_U8, NULL);
    const char *mesh = cube_mesh("group.topology", "check off\n");
    static const char *const programs[] = {"bfs", "sssp", "labels"};
    for (int p = 0; p < 3; p++) {
        td_run_options options = multi_options(programs[p], mesh);
        const char *push = p == 1 ? "" : "multi.direction=push";
        td_run *group = run_of(programs[p], graph, options, push);
        td_run *host = run_of(programs[p], graph, options, p == 1 ? HOST : HOST "multi.direction=push");
        for (uint32_t i = 0; i < group->row_count; i++) {
            CHECK_STR(group->full_rows[i].steal, "loop");
            CHECK_EQ(group->full_rows[i].gpus, 4);
        }
        if (!(group->device_seconds < 0.7 * host->device_seconds))
            TEST_FAIL("%s: %.0f us, %.0f us with the host in every round", programs[p], group->device_seconds * 1e6,
                      host->device_seconds * 1e6);
        check_as_cpu(group, options, "");
        td_run_destroy(group);
        td_run_destroy(host);
    }
    td_run_options options = multi_options("bfs", mesh);
    td_run *off = run_of("bfs", graph, options, "multi.ownership=off multi.direction=push"); /* owners may not change */
    for (uint32_t i = 0; i < off->row_count; i++) CHECK_EQ(off->full_rows[i].gpus, 8);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

TEST_MAIN
