/* What stays on the device from run to run of one graph (td_run_options.cache), and
 * that a run on the emulator is the same every time. */
#include "engine/ways.h"

#include "engine/resident/resident.h"
#include "run/result.h"

static td_run_options options_for(const td_program_info *info, const td_graph *graph, td_cache *kept)
{
    return (td_run_options){.engine = "resident", .devices = "emu", .cache = kept, .has_source = info->needs_source,
                            .source = busiest(graph), .parents = info->gives_parents,
                            .has_iterations = strcmp(info->name, "circuit") == 0, .iterations = 20};
}

static uint64_t digest_of(const char *program, const td_graph *graph, td_cache *kept, const char *settings)
{
    td_run_summary summary;
    td_run *run = run_of(program, graph, options_for(program_of(program)->info, graph, kept), settings);
    CHECK_OK(td_run_summarise(run, NULL, &summary));
    CHECK_STR(run->engine, "resident");
    CHECK_STR(run->device, "emu:0");
    td_run_destroy(run);
    return summary.digest;
}

static td_device *device_of(const td_cache *kept) { return ((td_gpu_graph *)kept->layouts[0].state)->device; }

/* Lists come when a program first needs them: edges, in-edges, weights, both as one. */
TEST(programs_one_after_another_find_the_same_as_alone)
{
    static const char *const programs[] = {"bfs",   "wcc",        "labels", "sssp", "mst",
                                           "kcore", "adsorption", "bfs",    "sssp", "labels"};
    static const char *const settings[] = {"", "resident.gather=shards"};
    td_graph *graph = test_graph(test_graph_named("multigraph"), TEST_U8, NULL);
    for (int s = 0; s < 2; s++) {
        td_cache kept = {0};
        for (int p = 0; p < 10; p++) {
            uint64_t alone = digest_of(programs[p], graph, NULL, settings[s]);
            uint64_t behind = digest_of(programs[p], graph, &kept, settings[s]);
            if (alone != behind)
                TEST_FAIL("%s with '%s' finds something else after other programs", programs[p], settings[s]);
        }
        td_cache_release(&kept);
    }
    td_graph_destroy(graph);
}

TEST(the_graph_is_copied_once_and_nothing_of_a_run_stays)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        const char *name = td_programs[p]->info->name;
        td_cache kept = {0};
        uint64_t first = digest_of(name, graph, &kept, "");
        uint64_t held = device_of(&kept)->now, sent = device_of(&kept)->counts.bytes_to_device;
        if (held == 0) TEST_FAIL("%s keeps nothing", name);
        CHECK_EQ(digest_of(name, graph, &kept, ""), first);
        CHECK_EQ(device_of(&kept)->now, held);
        sent = device_of(&kept)->counts.bytes_to_device - sent;
        uint64_t inputs = td_run_input_bytes(td_programs[p], graph, &(td_run_options){0}); /* every run sends its own */
        if (sent >= graph->edges * sizeof(uint32_t) + inputs) TEST_FAIL("%s sends %" PRIu64 " bytes again", name, sent);
        td_cache_release(&kept);
        CHECK(kept.layouts[0].state == NULL);
    }
    td_graph_destroy(graph);
}

TEST(weights_follow_when_a_program_asks_for_them)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U16, NULL);
    td_cache kept = {0};
    (void)digest_of("bfs", graph, &kept, "resident.direction=push"); /* parents are pulled: both lists */
    uint64_t unweighted = device_of(&kept)->now;
    (void)digest_of("sssp", graph, &kept, "");
    CHECK_EQ(device_of(&kept)->now, unweighted + 2 * graph->edges * sizeof(uint16_t));
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST(another_graph_device_or_budget_is_another_start)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    td_graph *other = test_graph(test_graph_named("dag"), TEST_UNWEIGHTED, NULL);
    td_cache kept = {0};
    td_run_options options = options_for(program_of("bfs")->info, graph, &kept);
    for (int i = 0; i < 4; i++) {
        const td_graph *on = i == 3 ? other : graph;
        if (i == 1) options.devices = "cpu,emu:2";
        if (i == 2) options.gpu_memory = 64 << 20;
        options.source = busiest(on);
        td_run *run = run_of("bfs", on, options, "");
        CHECK_STR(run->device, "emu:0");
        int place = on == other; /* beside that of the first */
        CHECK(((td_gpu_graph *)kept.layouts[place].state)->gpu.graph == on);
        CHECK_EQ(device_of(&kept)->budget, i >= 2 ? 64 << 20 : 0);
        CHECK_STR(kept.gpus->devices, i >= 1 ? "cpu,emu:2" : "emu");
        CHECK_EQ(kept.opens, i == 3 ? 3 : i + 1); /* another graph needs no other device */
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
    CHECK(kept.layouts[0].state == NULL && kept.layouts[1].state != NULL); /* each goes with its graph */
    td_cache_release(&kept);
    td_graph_destroy(other);
}

/* Under a tight budget what other programs left makes way; what the run uses stays. */
TEST(lists_of_other_programs_make_way)
{
    static const char *const programs[] = {"sssp", "bfs", "wcc", "labels", "pagerank", "labels", "sssp"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    uint64_t alone = 0;
    for (int p = 0; p < 7; p++) {
        td_gpu_bytes need;
        td_run_options options = options_for(program_of(programs[p])->info, graph, NULL);
        CHECK_OK(td_resident_count_bytes(program_of(programs[p]), graph, &options, &need));
        if (need.graph + need.program > alone) alone = need.graph + need.program;
    }
    td_cache kept = {0};
    for (int p = 0; p < 7; p++) {
        td_run_options options = options_for(program_of(programs[p])->info, graph, &kept);
        options.gpu_memory = alone;
        td_run *run = run_of(programs[p], graph, options, "");
        CHECK(run->device_peak <= alone);
        td_run_destroy(run);
    }
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST(a_run_takes_on_the_device_what_was_counted_before)
{
    static const char *const settings[] = {"", "resident.direction=pull", "resident.gather=shards",
                                           "resident.high_degree=32"};
    static const char *const graphs[] = {"rmat 10", "rmat 10, clean"};
    for (int g = 0; g < 2; g++) {
        td_graph *graph = test_graph(test_graph_named(graphs[g]), TEST_U8, NULL);
        for (int p = 0; td_programs[p] != NULL; p++)
            for (int s = 0; s < 4; s++) {
                const td_program *program = td_programs[p];
                td_gpu_bytes need;
                td_settings set = settings_from(settings[s]);
                td_run_options options = options_for(program->info, graph, NULL);
                options.settings = &set;
                if (options.has_iterations) options.iterations = 2;
                CHECK_OK(td_resident_count_bytes(program, graph, &options, &need));
                td_run *run = run_of(program->info->name, graph, options, settings[s]);
                uint64_t counted = need.graph + need.program;
                if (run->device_peak > counted || (double)counted > 1.1 * (double)run->device_peak)
                    TEST_FAIL("%s on %s with '%s' takes %" PRIu64 " bytes, not %" PRIu64, program->info->name,
                              graphs[g], settings[s], run->device_peak, counted);
                td_run_destroy(run);
                td_settings_clear(&set);
            }
        td_graph_destroy(graph);
    }
}

/* What must be equal of two runs of the same kind; times of the host's clock are not. */
static void check_same(const char *program, const td_run *a, const td_run *b)
{
    size_t size = a->kind == TD_VALUE_F64 ? sizeof(double) : sizeof(float);
    if (memcmp(a->values, b->values, a->graph->vertices * size) != 0) TEST_FAIL("%s: the values differ", program);
    if (a->device_seconds != b->device_seconds)
        TEST_FAIL("%s: virtual time is %.9f and %.9f", program, a->device_seconds, b->device_seconds);
    CHECK_EQ(a->row_count, b->row_count);
    CHECK_EQ(a->launches, b->launches);
    CHECK_EQ(a->device_peak, b->device_peak);
    CHECK_EQ(a->edges_processed, b->edges_processed);
    CHECK_EQ(a->bytes_to_device, b->bytes_to_device);
    CHECK_EQ(a->bytes_to_host, b->bytes_to_host);
    CHECK(a->counter_count > 0);
    for (int i = 0; i < a->counter_count; i++)
        if (a->counters[i].value != b->counters[i].value)
            TEST_FAIL("%s: %s are %" PRIu64 " and %" PRIu64, program, a->counters[i].name, a->counters[i].value,
                      b->counters[i].value);
    for (uint32_t i = 0; i < a->row_count; i++) {
        CHECK_STR(a->rows[i].direction, b->rows[i].direction);
        CHECK_EQ(a->rows[i].active_vertices, b->rows[i].active_vertices);
        CHECK_EQ(a->rows[i].active_edges, b->rows[i].active_edges);
        CHECK_EQ(a->rows[i].edges, b->rows[i].edges);
        CHECK(a->rows[i].change == b->rows[i].change);
    }
}

TEST(the_same_run_twice_has_the_same_rows_counters_and_virtual_time)
{
    static const char *const settings[] = {"", "resident.balance=iwb resident.gather=shards resident.rounds=2"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_F32, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int s = 0; s < 2; s++) {
            const char *name = td_programs[p]->info->name;
            td_run *runs[2];
            for (int i = 0; i < 2; i++)
                runs[i] = run_of(name, graph, options_for(td_programs[p]->info, graph, NULL), settings[s]);
            CHECK(runs[0]->device_seconds > 0);
            CHECK(runs[0]->launches > 0);
            check_same(name, runs[0], runs[1]);
            for (int i = 0; i < 2; i++) td_run_destroy(runs[i]);
        }
    td_graph_destroy(graph);
}

TEST_MAIN
