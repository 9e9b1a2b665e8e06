/* Fragments that do not fit their GPU: the rest of their edges is read from the host's memory. */
#include "engine/multi_scene.h"

#include "base/log.h"
#include "device/emulator/watch.h"
#include "gpu/ring.h"
#include "store/checks.h"

static td_run_options options_for(const td_program_info *info, const td_graph *graph, const char *devices)
{
    bool slow = strcmp(info->name, "circuit") == 0;
    return (td_run_options){.engine = "multi", .devices = devices, .has_source = info->needs_source,
                            .source = busiest(graph), .has_iterations = slow, .iterations = 3};
}

static void no_warning(void *context, td_log_level level, const char *line) { (void)context, (void)level, (void)line; }

static td_graph *some_graph(void) { return islands_graph(1, 900, 12); }

static uint64_t direct_bytes(const td_run *run)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < run->row_count; i++) bytes += run->full_rows[i].bytes_direct;
    return bytes;
}

TEST(all_programs_run_with_a_quarter_of_the_edges)
{
    td_graph *graph = some_graph();
    const char *linked = linked_gpus("linked.topology", 3, "check off\n");
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program_info *info = td_programs[p]->info;
        const char *settings[] = {"", "multi.t1=0 multi.t2=0", "multi.partition=random", "multi.high_degree=32"};
        for (int s = 0; s < 4; s++) {
            td_run_options options = options_for(info, graph, s == 1 ? linked : "emu:3@unchecked");
            bool gas = info->kind == TD_KIND_GAS, fused = td_programs[p]->cpu[0].fused;
            if ((s == 2 && !info->renumbers) || (s == 3 && gas && !fused)) continue;
            options.gpu_edges = 0.25;
            td_run *run = run_of(info->name, graph, options, settings[s]);
            CHECK(direct_bytes(run) > 0);
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
    }
    td_graph_destroy(graph);
}

/* The list of vertex 0 is at the host and ends with the only neighbour that the search comes from. */
TEST(a_pull_reads_lists_at_the_host_to_their_end)
{
    static const uint32_t lengths[] = {4096, 4097, 4098, 4100, 4101};
    for (int i = 0; i < 5; i++) {
        scene_edges edges = {0};
        uint32_t last = lengths[i];
        for (uint32_t v = 1; v <= last; v++) put_edge(&edges, v, 0);
        for (uint32_t v = 1; v <= last; v++) put_edge(&edges, 0, last + 1 + v % 3);
        td_graph *graph = made_graph(&edges, last + 4, false);
        td_run_options options = multi_options("bfs", "emu:2@unchecked");
        options.gpu_edges = 0.1;
        options.source = last;
        td_run *run = run_of("bfs", graph, options, "multi.direction=pull");
        CHECK(direct_bytes(run) > 0);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
        td_graph_destroy(graph);
    }
}

/* Reads of the host's memory by all kernels of all GPUs, since they were opened. */
static uint64_t host_bytes_of(const td_gpu_set *gpus)
{
    uint64_t bytes = 0;
    for (int i = 0; i < gpus->count; i++) {
        td_counter counters[TD_COUNTERS];
        int count = td_device_counters(gpus->gpu[i], counters);
        for (int c = 0; c < count; c++)
            if (strcmp(counters[c].name, "host_bytes") == 0) bytes += counters[c].value;
    }
    return bytes;
}

/* What the engine reports is what crosses the link, to the byte: edges read there times their bytes. */
TEST(bytes_over_the_host_link_are_those_of_the_edges_read_there)
{
    if (!td_watch_built()) SKIP("this build counts no accesses");
    td_graph *graph = some_graph();
    static const struct {
        const char *program, *settings;
    } runs[] = {{"bfs", "multi.direction=push"}, {"bfs", "multi.direction=pull"}, {"sssp", ""}, {"sssp", "multi.direction=pull"},
                {"wcc", ""}, {"mst", ""}, {"pagerank", ""}, {"kcore", ""}};
    for (int i = 0; i < 8; i++) {
        td_cache kept = {0};
        td_run_options options = options_for(program_of(runs[i].program)->info, graph, "emu:3");
        options.cache = &kept;
        options.gpu_edges = 0.5;
        td_run_destroy(run_of(runs[i].program, graph, options, runs[i].settings)); /* loads */
        uint64_t before = host_bytes_of(kept.gpus);
        td_run *run = run_of(runs[i].program, graph, options, runs[i].settings);
        uint64_t read = host_bytes_of(kept.gpus) - before;
        uint64_t counters = 0; /* which the GPUs write there when the host waits */
        for (int k = 0; k < run->devices.count; k++) counters += run->devices.of[k].waits * TD_MULTI_COUNTERS;
        uint64_t more = read - direct_bytes(run);
        if (direct_bytes(run) == 0 || more > counters || more % TD_MULTI_COUNTERS != 0)
            TEST_FAIL("%s %s: %" PRIu64 " bytes reported, %" PRIu64 " read", runs[i].program, runs[i].settings,
                      direct_bytes(run), read);
        td_run_destroy(run);
        td_cache_release(&kept);
    }
    td_graph_destroy(graph);
}

/* A pull along all lists reads every edge that is not on a GPU, once an iteration. */
TEST(an_iteration_over_all_edges_reads_all_that_the_plan_leaves_at_the_host)
{
    td_graph *graph = some_graph();
    td_settings none = {0};
    td_plan *plan = NULL;
    td_run *run = NULL;
    td_run_options options = options_for(program_of("pagerank")->info, graph, "emu:3@unchecked");
    options.settings = &none;
    options.gpu_edges = 0.25;
    options.has_iterations = true;
    options.iterations = 4;
    CHECK_OK(td_plan_make(&plan, "multi", program_of("pagerank"), graph, &options));
    CHECK_CONTAINS(plan->why, "read from host memory");
    uint64_t stated = 0;
    for (int i = 0; i < plan->devices.count; i++) stated += plan->devices.of[i].host_edge_bytes;
    CHECK(stated > graph->edges / 2 * sizeof(uint32_t));
    CHECK_EQ(td_plan_counter(plan, "edges_at_host") * sizeof(uint32_t), stated);
    CHECK_OK(td_run_program(&run, program_of("pagerank"), graph, &options));
    for (uint32_t i = 0; i < run->row_count; i++) CHECK_EQ(run->full_rows[i].bytes_direct, stated);
    for (int i = 0; i < plan->devices.count; i++) {
        const td_device_row *row = &plan->devices.of[i].row;
        CHECK_EQ(run->devices.of[i].row.peak, row->graph + row->program);
    }
    td_run_destroy(run);
    td_plan_destroy(plan);
    options.gpu_edges = 0;
    run = run_of("pagerank", graph, options, "");
    CHECK_EQ(direct_bytes(run), 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Three GPUs whose memory together is less than the graph. */
TEST(small_gpus_serve_a_graph_larger_than_all_of_them_together)
{
    td_graph *graph = islands_graph(1, 500, 200);
    uint64_t edges = graph->edges * (sizeof(uint32_t) + td_weight_bytes(graph->weights));
    static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "kcore", "mst"};
    for (int p = 0; p < 6; p++) {
        td_run_options options = options_for(program_of(programs[p])->info, graph, "emu:3@unchecked");
        td_run *run = NULL;
        options.gpu_memory = 1; /* refused, with the figure that would do */
        CHECK_STATUS(try_run(&run, programs[p], graph, options, ""), TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "vertices may not");
        CHECK_CONTAINS(td_last_message(), "gpu_memory");
        uint64_t least = td_last_refusal()->needed;
        options.gpu_memory = least - 1;
        CHECK_STATUS(try_run(&run, programs[p], graph, options, ""), TD_NO_MEMORY);
        options.gpu_memory = least;
        CHECK(3 * least < edges || strcmp(programs[p], "mst") == 0);
        run = run_of(programs[p], graph, options, "");
        CHECK(direct_bytes(run) > 0);
        for (int i = 0; i < run->devices.count; i++) CHECK(run->devices.of[i].row.peak <= least);
        check_as_cpu(run, (td_run_options){.has_source = options.has_source, .source = options.source}, "");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* The largest memory that the plan states for a GPU. */
static uint64_t planned(const char *program, const td_graph *graph, const char *devices, double gpu_edges, const char *text)
{
    td_settings settings = settings_from(text);
    td_run_options options = options_for(program_of(program)->info, graph, devices);
    td_plan *plan = NULL;
    uint64_t most = 0;
    options.settings = &settings;
    options.gpu_edges = gpu_edges;
    CHECK_OK(td_plan_make(&plan, "multi", program_of(program), graph, &options));
    for (int i = 0; i < plan->devices.count; i++) {
        const td_device_row *row = &plan->devices.of[i].row;
        if (row->graph + row->program > most) most = row->graph + row->program;
    }
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    return most;
}

/* GPU 1 has links to 0 and 2, which have none to each other, and no link says its rate: routes and steals need all rates.
 * The budget is what the plan states. */
TEST(links_are_measured_within_the_memory_that_the_plan_states)
{
    td_graph *graph = some_graph();
    const char *chain = machine_of("measured.topology", 3, "link 0 1 100GB/s 1us\nlink 1 2 100GB/s 1us\n"
                                   "host-link each 2GB/s 2GB/s 5us\nlink-rates hidden\n", "check off\n");
    static const char *const programs[] = {"sssp", "pagerank"};
    for (int p = 0; p < 2; p++) {
        td_run_options options = options_for(program_of(programs[p])->info, graph, chain);
        const char *settings = p == 0 ? "multi.t1=0 multi.t2=0 multi.ownership=off" : "multi.t1=0 multi.t2=0";
        options.gpu_memory = planned(programs[p], graph, chain, 0, settings);
        td_run *run = run_of(programs[p], graph, options, settings);
        uint64_t relayed = 0, stolen = 0;
        for (uint32_t i = 0; i < run->row_count; i++) {
            relayed += run->full_rows[i].bytes_relayed;
            stolen += run->full_rows[i].edges_stolen;
        }
        CHECK(relayed > 0);
        CHECK(stolen > 0);
        CHECK_EQ(direct_bytes(run), 0);
        check_as_cpu(run, (td_run_options){.has_source = options.has_source, .source = options.source}, "");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(rounds_without_the_host_keep_to_the_memory_that_the_plan_states)
{
    td_graph *graph = some_graph();
    const char *linked = linked_gpus("loops.topology", 3, "check off\nlink-rates hidden\n");
    static const char *const programs[] = {"bfs", "sssp"};
    for (int p = 0; p < 2; p++) {
        td_run_options options = options_for(program_of(programs[p])->info, graph, linked);
        options.gpu_memory = planned(programs[p], graph, linked, 0, "");
        td_run *run = run_of(programs[p], graph, options, "");
        CHECK_STR(run->full_rows[0].steal, "loop");
        CHECK_EQ(direct_bytes(run), 0);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* Copies by all GPUs of a run, loading included; arrays from `from` bytes on go through the ring. */
static uint64_t copies_of(const char *program, const td_graph *graph, td_run_options options, const char *settings,
                          uint64_t from)
{
    td_cache cache = {0};
    td_gpu_set *set = NULL;
    uint64_t copies = 0;
    options.cache = &cache;
    td_gpu_ring_limits(from, TD_CHECKS_BLOCK);
    td_run *run = run_of(program, graph, options, settings);
    td_gpu_ring_limits(0, 0);
    check_as_cpu(run, options, "");
    CHECK_OK(td_gpu_set_open(&options, "multi", &set));
    for (int i = 0; i < set->count; i++) copies += set->gpu[i]->counts.copies;
    td_run_destroy(run);
    td_cache_release(&cache);
    return copies;
}

/* Lists of 16,000 vertices take several parts of 64 KiB on every GPU. */
TEST(lists_and_offsets_cross_in_parts_through_the_ring)
{
    static const char *const programs[] = {"sssp", "pagerank", "mst"};
    td_graph *graph = islands_graph(1, 16000, 8);
    for (int p = 0; p < 3; p++)
        for (int s = 0; s < 3; s++) {
            static const char *const settings[] = {"", "multi.high_degree=32", "multi.partition=random"};
            const td_program_info *info = program_of(programs[p])->info;
            td_run_options options = options_for(info, graph, "emu:3@unchecked");
            bool gas = info->kind == TD_KIND_GAS, fused = program_of(programs[p])->cpu[0].fused;
            if ((s == 2 && !info->renumbers) || (s == 1 && gas && !fused)) continue;
            options.gpu_edges = s == 1 ? 0.5 : 0;
            uint64_t whole = copies_of(programs[p], graph, options, settings[s], UINT64_MAX);
            uint64_t parts = copies_of(programs[p], graph, options, settings[s], 1);
            printf("    %s %s: %" PRIu64 " copies, %" PRIu64 " in parts\n", programs[p], settings[s], whole, parts);
            CHECK(parts > whole + 5);
        }
    td_graph_destroy(graph);
}

/* Host memory of a run over what the plan states of it: loaded in parts through a ring of 4 MiB. */
static double taken_over_stated(const char *program, const td_graph *graph, td_run_options options, const char *text)
{
    td_settings settings = settings_from(text);
    td_cache cache = {0};
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.cache = &cache;
    options.settings = &settings;
    td_gpu_ring_limits(1, 1 << 20);
    CHECK_OK(td_plan_make(&plan, "multi", program_of(program), graph, &options));
    uint64_t held = td_memory().now - cache.set_bytes;
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    double taken = (double)(td_memory().peak - held), stated = (double)plan->program_bytes;
    td_gpu_ring_limits(0, 0);
    printf("    %s %s: %.0f of %.0f bytes\n", program, text, taken, stated);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_cache_release(&cache);
    td_settings_clear(&settings);
    return taken / stated;
}

TEST(plans_state_the_ring_that_loads_the_fragments)
{
    static const char *const programs[] = {"sssp", "pagerank", "mst"};
    td_graph *graph = islands_graph(1, 16000, 16);
    for (int p = 0; p < 3; p++)
        for (int random = 0; random < 2; random++)
            for (int half = 0; half < 2; half++) {
                const td_program_info *info = program_of(programs[p])->info;
                td_run_options options = options_for(info, graph, "emu:3@unchecked");
                if (random && !info->renumbers) continue;
                options.gpu_edges = half ? 0.5 : 0;
                double part = taken_over_stated(programs[p], graph, options, random ? "multi.partition=random" : "");
                CHECK(part > 0.7 && part <= 1); /* of emulated GPUs, stacks of all blocks that fit are stated */
            }
    td_graph_destroy(graph);
}

/* Queues of vertices are for GPUs that reach each other and have all their edges. */
TEST(queues_take_memory_only_where_they_are_used)
{
    td_graph *graph = some_graph();
    static const char *const programs[] = {"bfs", "sssp"}, none[] = "multi.loop_edges=0 multi.queue_edges=0";
    const char *linked = linked_gpus("queues.topology", 3, "check off\n"), *apart = "emu:3@unchecked";
    const char *mesh = cube_mesh("queues-mesh.topology", "check off\n");
    for (int p = 0; p < 2; p++) {
        const char *name = programs[p];
        uint64_t queues = 2 * graph->vertices * sizeof(uint32_t), bare = planned(name, graph, linked, 0, none);
        CHECK_EQ(planned(name, graph, linked, 0, "multi.loop_edges=0"), bare + queues);
        CHECK(planned(name, graph, linked, 0, "") >= bare + queues);
        CHECK_EQ(planned(name, graph, linked, 0, "multi.loop_edges=0 multi.t1=0"), bare);
        CHECK_EQ(planned(name, graph, linked, 0.5, ""), planned(name, graph, linked, 0.5, none));
        CHECK_EQ(planned(name, graph, apart, 0, ""), planned(name, graph, apart, 0, none));
        CHECK(planned(name, graph, mesh, 0, "") > planned(name, graph, mesh, 0, none)); /* four of them reach each other */
        CHECK_EQ(planned(name, graph, mesh, 0, "multi.ownership=off"), planned(name, graph, mesh, 0, none));
    }
    td_graph_destroy(graph);
}

/* Two GPUs have larger fragments than three: they keep as much of them as fits. */
TEST(a_lost_gpus_fragment_need_not_fit_the_others)
{
    td_graph *graph = some_graph();
    td_settings none = {0};
    td_run_options options = options_for(program_of("sssp")->info, graph, "emu:3@unchecked");
    td_plan *plan = NULL;
    options.settings = &none;
    CHECK_OK(td_plan_make(&plan, "multi", program_of("sssp"), graph, &options));
    uint64_t need = 0;
    for (int i = 0; i < plan->devices.count; i++) {
        const td_device_row *row = &plan->devices.of[i].row;
        if (row->graph + row->program > need) need = row->graph + row->program;
    }
    td_plan_destroy(plan);
    options.gpu_memory = need;
    td_run *run = run_of("sssp", graph, options, "");
    CHECK_EQ(direct_bytes(run), 0);
    td_run_destroy(run);
    td_log_set_sink(no_warning, NULL);
    td_device_lose_at("emu:1", 70);
    run = run_of("sssp", graph, options, "multi.recovery_every=1");
    td_device_lose_at("", 0);
    td_log_set_sink(NULL, NULL);
    CHECK_EQ(run->recovery.gpus_lost, 1);
    CHECK(direct_bytes(run) > 0);
    check_as_cpu(run, (td_run_options){.has_source = options.has_source, .source = options.source}, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
