/* Lists on the stream engine that are put in order as they are read from the mapped file: the same results, every byte of
 * the file read once, no other copy in memory, and no number of a forged or changed file used as an index. */
#include "engine/prepared_scene.h"

#include "base/loop.h"
#include "base/mapping.h"
#include "engine/stream/stream.h"
#include "store/checks.h"

#include <fcntl.h>
#include <unistd.h>

static const char *const programs[] = {"sssp", "wcc"};
static const shape shapes[] = {{13, true, false, false}, {13, false, false, false}, {11, true, true, false},
                               {11, true, true, true}};
enum { PROGRAMS_HERE = 2, SHAPES = sizeof shapes / sizeof *shapes };

static td_graph *map_file(const char *name, td_pool *pool)
{
    td_graph *graph = NULL;
    CHECK_OK(td_packed_map_unchecked(&graph, test_path(name), pool));
    return graph;
}

static uint64_t padded(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

/* Bytes of the lists that the program's run reads: of one direction. */
static uint64_t list_bytes(const td_graph *graph, const td_program *program)
{
    bool weighted = program->info->weights != TD_WEIGHTS_UNUSED;
    return padded(graph->edges * sizeof(uint32_t)) + (weighted ? padded(graph->edges * td_weight_bytes(graph->weights)) : 0);
}

/* Of all its lists, which are not in memory: weights neither, where the program ignores them. */
static uint64_t spared_bytes(const td_graph *graph)
{
    return graph->edges * (sizeof(uint32_t) + td_weight_bytes(graph->weights)) * (graph->symmetric ? 1 : 2);
}

/* wcc of a directed graph joins both directions, in memory. */
static bool orders_here(const td_program *program, const td_graph *graph)
{
    return graph->symmetric || strcmp(program->info->name, "sssp") == 0;
}

typedef struct cost {
    uint64_t digest, graph, taken, iterations; /* graph: bytes that the plan states of it */
} cost;

static cost cost_of(const td_graph *graph, const td_program *program, td_pool *pool)
{
    cost found;
    td_plan *plan = NULL;
    td_run *run = NULL;
    td_settings settings = settings_from("stream.prepared=off");
    td_run_options options = options_for(&td_stream_engine, graph, program);
    options.settings = &settings;
    options.pool = pool;
    uint64_t held = td_memory().now, before = td_memory_peak_begin();
    CHECK_OK(td_plan_make(&plan, "stream", program, graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    CHECK(stays(run, &td_stream_engine));
    found.taken = td_memory().peak - held;
    td_memory_peak_end(before);
    found.graph = plan->graph_bytes;
    uint64_t copied = td_checks_pending(graph, graph->out.targets) || graph->checks == NULL ? 0 : plan->graph_bytes;
    if (found.taken > plan->program_bytes + copied)
        TEST_FAIL("%s takes %" PRIu64 " bytes of %" PRIu64, program->info->name, found.taken, plan->program_bytes);
    found.digest = digest_of(run);
    found.iterations = run->iterations;
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    return found;
}

TEST(results_are_those_of_lists_in_memory_and_every_list_is_read_once)
{
    pools pools = make_pools();
    for (int s = 0; s < SHAPES; s++) {
        write_file("mapped.tg", &shapes[s]);
        for (int p = 0; p < PROGRAMS_HERE; p++) {
            const td_program *program = program_of(programs[p]);
            td_graph *loaded = load_file("mapped.tg"), *mapped = map_file("mapped.tg", NULL);
            td_pool *pool = pools.of[(s + p) % WAY_THREADS];
            uint64_t opened = td_checks_done(mapped);
            cost without = cost_of(loaded, program, pool), with = cost_of(mapped, program, pool);
            CHECK_EQ(with.digest, without.digest);
            CHECK_EQ(with.iterations, without.iterations);
            CHECK_EQ(td_checks_pending(mapped, mapped->out.targets), orders_here(program, mapped));
            if (orders_here(program, mapped)) {
                CHECK_EQ(td_checks_done(mapped) - opened, list_bytes(mapped, program));
                CHECK_EQ(without.graph - with.graph, spared_bytes(mapped));
            }
            td_graph_destroy(mapped);
            td_graph_destroy(loaded);
        }
    }
    destroy_pools(&pools);
}

/* Pins of 65536 edges: subgraphs, kernels and extraction find their edges whatever the steps. */
TEST(the_steps_in_which_lists_are_pinned_change_nothing)
{
    write_file("steps.tg", &shapes[0]);
    td_graph *graph = map_file("steps.tg", NULL);
    CHECK(graph->edges > 3 * TD_LISTS_PIECE);
    for (int p = 0; p < PROGRAMS_HERE; p++) {
        const td_program *program = program_of(programs[p]);
        td_run *whole = run_with(&td_stream_engine, graph, program, "");
        td_pinning_limit(TD_LISTS_PIECE);
        td_run *steps = run_with(&td_stream_engine, graph, program, "");
        td_pinning_limit(0);
        CHECK_EQ(digest_of(steps), digest_of(whole));
        td_run_destroy(steps);
        td_run_destroy(whole);
    }
    td_graph_destroy(graph);
}

static td_status try_stream(const td_graph *graph, const char *program)
{
    td_run *run = NULL;
    td_status status = try_run(&run, program, graph, options_for(&td_stream_engine, graph, program_of(program)), "");
    td_run_destroy(run);
    return status;
}

/* With checksums that fit, and with others. */
TEST(targets_that_are_no_vertices_are_errors)
{
    const shape *of = &shapes[0];
    write_file("forged.tg", of);
    td_graph *graph = load_file("forged.tg");
    for (int sealed = 0; sealed < 2; sealed++)
        for (uint64_t e = 5; e < graph->edges; e += graph->edges / 3) {
            uint32_t before = graph->out.targets[e], wild = graph->vertices;
            uint64_t at = td_packed_plan(graph).sections[TD_SECTION_OUT_TARGETS].offset + e * sizeof wild;
            graph->out.targets[e] = sealed ? wild : before;
            CHECK_OK(td_packed_write(graph, test_path("forged.tg"), NULL));
            graph->out.targets[e] = before;
            int file = open(test_path("forged.tg"), O_WRONLY);
            CHECK(file >= 0 && pwrite(file, &wild, sizeof wild, (off_t)at) == sizeof wild);
            close(file);
            for (int p = 0; p < PROGRAMS_HERE; p++) {
                td_graph *mapped = map_file("forged.tg", NULL);
                CHECK_STATUS(try_stream(mapped, programs[p]), TD_CORRUPT);
                CHECK_CONTAINS(td_last_message(), "forged.tg");
                td_graph_destroy(mapped);
            }
        }
    td_graph_destroy(graph);
}

TEST(a_file_that_became_shorter_or_was_written_to_is_an_error)
{
    for (int cuts = 0; cuts < 2; cuts++)
        for (int p = 0; p < PROGRAMS_HERE; p++) {
            write_file("changed.tg", &shapes[2]);
            td_graph *mapped = map_file("changed.tg", NULL);
            int file = open(test_path("changed.tg"), O_WRONLY);
            CHECK(file >= 0);
            if (cuts) CHECK(ftruncate(file, 8192) == 0);
            else CHECK(pwrite(file, "changed", 7, 1 << 16) == 7);
            close(file);
            CHECK_STATUS(try_stream(mapped, programs[p]), TD_IO);
            CHECK_CONTAINS(td_last_message(), cuts ? "changed.tg became shorter" : "changed.tg was written to");
            td_graph_destroy(mapped);
            td_mapping_forget();
        }
}

/* Lists are pinned when they are made; the counts behind buckets: of lists within a piece of the edges, and of those that go on into others. */
static void check_light(const td_graph *graph, const td_graph *seen, bool packs, td_device *device, td_pool *pool)
{
    static td_streaming_graph layout; /* too large for the stack */
    const td_program *program = program_of("sssp");
    const double limit = 30;
    td_settings settings = settings_from(packs ? "" : "stream.pack=off");
    td_run_options options = options_for(&td_stream_engine, seen, program);
    options.settings = &settings;
    options.pool = pool;
    td_streaming_job job = {.layout = &layout, .gpu = {.graph = seen, .options = &options}};
    td_link_list *list = &layout.lists[0];
    td_streaming_shape shape;
    CHECK_OK(td_streaming_wanted(program, seen, &options, &shape));
    CHECK_EQ(shape.weight_bits > 0, packs);
    shape.light = limit;
    shape.prefix_bytes = 1;
    layout = (td_streaming_graph){.device = device};
    list->edges = seen->edges;
    CHECK_OK(td_streaming_find_host_list(&job, list, &seen->out, &shape));
    for (int i = 0; i < (packs ? 1 : 2); i++) /* in steps */
        CHECK(td_pinning_done(&list->pins[i]) && list->pins[i].step < list->pins[i].bytes);
    uint64_t across = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint64_t wanted = 0, begin = graph->out.offsets[v], end = graph->out.offsets[v + 1];
        for (uint64_t e = begin; e < end; e++) wanted += td_weight_at(graph, &graph->out, e) < limit;
        CHECK_EQ(list->own_light[v + 1], wanted);
        across += wanted > 0 && begin / TD_LISTS_PIECE != (end - 1) / TD_LISTS_PIECE;
    }
    CHECK(across > 0);
    td_streaming_unpin(&layout, list);
    td_free(list->own_light);
    td_free(list->own_targets);
    td_free(list->own_weights);
    td_settings_clear(&settings);
}

TEST(lists_are_pinned_and_light_edges_counted_while_they_are_made)
{
    td_pool *pool = NULL;
    td_loop *loop = NULL;
    td_device *device = NULL;
    CHECK_OK(td_loop_create(&loop));
    CHECK_OK(td_devices_open(&device, "emu:1@unchecked", &(td_device_options){.loop = loop}));
    td_pinning_limit(TD_LISTS_PIECE);
    CHECK_OK(td_pool_create(&pool, 2));
    write_file("light.tg", &shapes[0]);
    td_graph *graph = load_file("light.tg"), *mapped = map_file("light.tg", pool);
    for (int packs = 0; packs < 2; packs++) {
        check_light(graph, graph, packs, device, pool);
        check_light(graph, mapped, packs, device, NULL);
    }
    td_pinning_limit(0);
    td_devices_close(device);
    td_loop_destroy(loop);
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* Opens the file as `tandem run` does. */
static bool maps(td_session *session, const char *program, const char *setting)
{
    td_graph *graph = NULL;
    const char *settings[] = {setting, NULL};
    td_request request = {.size = sizeof request, .engine = "stream", .devices = "emu:1@unchecked", .gpu_edges = 0.25,
                          .has_source = program_of(program)->info->needs_source, .settings = setting != NULL ? settings : NULL};
    CHECK_OK(td_graph_open_for(session, test_path("opened.tg"), NULL, program, &request, &graph));
    bool mapped = td_checks_pending(graph, graph->out.targets);
    td_graph_destroy(graph);
    return mapped;
}

TEST(a_file_whose_lists_are_put_in_order_is_not_loaded)
{
    td_session *session = NULL;
    CHECK_OK(td_session_create(2, &session));
    write_file("opened.tg", &shapes[0]);
    CHECK(maps(session, "sssp", NULL));
    CHECK(maps(session, "wcc", NULL));
    CHECK(!maps(session, "sssp", "stream.list_order=stored"));
    CHECK(!maps(session, "mst", NULL));
    CHECK(!maps(session, "pagerank", NULL));
    td_memory_set_limit(UINT64_C(1) << 30); /* the process's, which mapped pages count for */
    CHECK(!maps(session, "sssp", NULL));
    td_memory_set_limit(0);
    td_session_destroy(session);
}

TEST_MAIN
