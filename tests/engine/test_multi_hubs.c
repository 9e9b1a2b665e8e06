/* The hub cache: thieves read the lists of vertices with many in-edges in their own memory, and links carry the others
 * alone. */
#include "engine/multi_scene.h"

#define STEAL "multi.t1=0 multi.t2=0 multi.cost=uniform multi.ownership=off multi.loop_edges=0 multi.direction=push "

/* Bytes that kernels read in other GPUs' memory. */
static uint64_t remote_bytes(const td_gpu_set *gpus)
{
    uint64_t bytes = 0;
    for (int i = 0; i < gpus->count; i++)
        for (int j = 0; j < gpus->count; j++)
            if (i != j) bytes += td_device_link_counts(gpus->gpu[i], gpus->gpu[j]).read_bytes;
    return bytes;
}

typedef struct traffic {
    uint64_t stolen, cached, bytes;
} traffic;

static traffic run_with(const char *program, const td_graph *graph, const char *devices, double hub_degree)
{
    char settings[300];
    td_cache kept = {0};
    td_run_options options = multi_options(program, devices);
    options.cache = &kept;
    options.source = 40;
    snprintf(settings, sizeof settings, STEAL "multi.hub_degree=%g", hub_degree);
    td_run_destroy(run_of(program, graph, options, settings)); /* loads */
    uint64_t before = remote_bytes(kept.gpus);
    td_run *run = run_of(program, graph, options, settings);
    traffic found = {.bytes = remote_bytes(kept.gpus) - before};
    for (uint32_t i = 0; i < run->row_count; i++) {
        found.stolen += run->full_rows[i].edges_stolen;
        found.cached += run->full_rows[i].edges_cached;
    }
    options.cache = NULL;
    check_as_cpu(run, options, "");
    check_all_edges(run);
    td_run_destroy(run);
    td_cache_release(&kept);
    return found;
}

/* With all lists cached, what crosses the links is everything but edges: active vertices, their values, offsets. In all
 * other runs it is that, and the stolen edges that are not cached times their bytes. */
TEST(links_carry_the_stolen_edges_that_are_not_cached_to_the_byte)
{
    td_graph *graph = hubs_graph(700);
    const char *devices = linked_gpus("linked.topology", 3, "");
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore"};
    for (int p = 0; p < 4; p++) {
        uint64_t edge = sizeof(uint32_t);
        if (strcmp(programs[p], "sssp") == 0) edge += td_weight_bytes(graph->weights);
        traffic all = run_with(programs[p], graph, devices, 0), none = run_with(programs[p], graph, devices, 1e12);
        traffic some = run_with(programs[p], graph, devices, 100);
        CHECK(none.stolen > 0 && none.cached == 0);
        CHECK_EQ(all.stolen, none.stolen);
        CHECK_EQ(some.stolen, none.stolen);
        CHECK_EQ(all.cached, all.stolen);
        CHECK(some.cached > 0 && some.cached < some.stolen);
        CHECK_EQ(none.bytes - all.bytes, none.stolen * edge);
        CHECK_EQ(some.bytes - all.bytes, (some.stolen - some.cached) * edge);
        CHECK(some.bytes < none.bytes);
    }
    td_graph_destroy(graph);
}

static uint64_t hub_edges(const td_graph *graph, uint64_t gpu_memory, const char *settings_text, uint64_t *largest)
{
    td_settings settings = settings_from(settings_text);
    td_run_options options = multi_options("bfs", "emu:3@unchecked");
    td_plan *plan = NULL;
    options.settings = &settings;
    options.gpu_memory = gpu_memory;
    CHECK_OK(td_plan_make(&plan, "multi", program_of("bfs"), graph, &options));
    uint64_t edges = td_plan_counter(plan, "hub_edges");
    *largest = 0;
    for (int i = 0; i < plan->devices.count; i++) {
        const td_device_row *row = &plan->devices.of[i].row;
        if (row->graph + row->program > *largest) *largest = row->graph + row->program;
    }
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    return edges;
}

TEST(as_many_lists_are_cached_as_memory_allows)
{
    td_graph *graph = hubs_graph(3000);
    uint64_t without, with, limited, hubs = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > 20) hubs += td_degree(&graph->out, v);
    CHECK_EQ(hub_edges(graph, 0, "", &without), 0);
    CHECK_EQ(hub_edges(graph, 0, "multi.hub_degree=20", &with), hubs);
    CHECK_EQ(with - without, (graph->vertices + 1) * sizeof(uint64_t) + hubs * sizeof(uint32_t));
    CHECK_EQ(hub_edges(graph, with, "multi.hub_degree=20", &limited), hubs);
    CHECK_EQ(hub_edges(graph, with - 1, "multi.hub_degree=20", &limited), 0); /* all hubs have the same degree */
    CHECK(limited <= with - 1);
    uint64_t all, most;
    CHECK_EQ(hub_edges(graph, 0, "multi.hub_degree=0", &all), graph->edges);
    CHECK_EQ(hub_edges(graph, all - 1, "multi.hub_degree=0", &most), hubs); /* fewer, those with more in-edges */
    CHECK(most < all);
    td_graph_destroy(graph);
}

TEST(cached_lists_work_with_other_numberings_and_changing_owners)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL);
    const char *devices = linked_gpus("linked.topology", 3, "check off\n");
    static const char *const programs[] = {"bfs", "sssp", "kcore", "labels"};
    static const char *const settings[] = {"multi.t1=0 multi.t2=0 multi.hub_degree=3 multi.partition=random",
                                           "multi.t1=0 multi.t2=0 multi.t3=1000 multi.hub_degree=3",
                                           "multi.t1=0 multi.t2=0 multi.hub_degree=3 multi.high_degree=32"};
    for (int p = 0; p < 4; p++)
        for (int s = 0; s < 3; s++) {
            if (s == 1 && strcmp(programs[p], "kcore") == 0) continue;
            td_run_options options = multi_options(programs[p], devices);
            options.source = busiest(graph);
            td_run *run = run_of(programs[p], graph, options, settings[s]);
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

TEST_MAIN
