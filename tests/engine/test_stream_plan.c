/* What a run of the stream engine is said to take on the device is what it takes, and
 * beginnings are kept of the lists that are used. */
#include "engine/ways.h"

#include "engine/stream/stream.h"

static td_run_options options_for(const td_program_info *info, const td_graph *graph, double cap)
{
    return (td_run_options){.engine = "stream", .devices = "emu:1@unchecked", .gpu_edges = cap,
                            .has_source = info->needs_source,
                            .source = busiest(graph), .has_iterations = info->tolerance > 0, .iterations = 2};
}

static void compare(const td_graph *graph, double cap, td_mode mode)
{
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program_info *info = td_programs[p]->info;
        td_run_options options = options_for(info, graph, cap);
        if (mode == TD_MODE_ASYNC && !td_streaming_pushes_changes(td_programs[p], mode)) continue;
        options.mode = mode;
        CHECK_OK(td_streaming_plan(td_programs[p], graph, &options, UINT64_C(1) << 34, &bytes, &shape));
        CHECK(!bytes.all);
        uint64_t said = bytes.vertices + bytes.on_device;
        const double most = 1.35; /* slots and beginnings come whole, and leave room that is too small for another */
        td_run *run = run_of(info->name, graph, options, "");
        if (run->device_peak > said || (double)said > most * (double)run->device_peak)
            TEST_FAIL("%s at %.0f%%: takes %" PRIu64 " bytes, said were %" PRIu64, info->name, 100 * cap,
                      run->device_peak, said);
        td_run_destroy(run);
    }
}

TEST(the_device_memory_said_is_what_runs_take)
{
    static const char *const names[] = {"rmat 14", "rmat 14, clean"};
    static const double caps[] = {0.25, 0.6};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = test_graph(test_graph_named(names[i]), TEST_U8, NULL);
        for (int c = 0; c < 2; c++) compare(graph, caps[c], TD_MODE_SYNC), compare(graph, caps[c], TD_MODE_ASYNC);
        td_graph_destroy(graph);
    }
}

/* A directed graph has two lists; which of them a program goes along depends on more than the program. */
TEST(lists_are_those_that_the_run_goes_along)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_U8, NULL);
    const td_program *bfs = program_of("bfs");
    td_run_options options = options_for(bfs->info, graph, 0.25);
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    CHECK(!graph->symmetric);
    CHECK_OK(td_streaming_plan(bfs, graph, &options, UINT64_C(1) << 34, &bytes, &shape));
    CHECK(shape.pushes && shape.pulls && shape.pulls_prefix);
    options.mode = TD_MODE_ASYNC;
    CHECK_OK(td_streaming_plan(bfs, graph, &options, UINT64_C(1) << 34, &bytes, &shape));
    CHECK(shape.pushes && !shape.pulls && !shape.pulls_prefix);
    CHECK_EQ(bytes.edges, graph->edges * sizeof(uint32_t));
    options.parents = true;
    CHECK_OK(td_streaming_plan(bfs, graph, &options, UINT64_C(1) << 34, &bytes, &shape));
    CHECK(shape.pulls && !shape.pulls_prefix);
    td_graph_destroy(graph);
}

/* As a plan sees a graph: by its counts. */
static td_streaming_shape shape_of(const char *name, const char *text)
{
    td_graph graph = {.vertices = 4 << 20, .edges = 100 << 20, .symmetric = true, .weights = TD_WEIGHT_U8,
                      .weight_min = 1, .weight_max = 100};
    const td_program *program = program_of(name);
    td_run_options options = {.engine = "stream", .gpu_edges = 0.5, .has_source = program->info->needs_source};
    td_settings settings = {0};
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    if (text[0] != '\0') CHECK_OK(td_settings_add(&settings, text));
    options.settings = &settings;
    CHECK_OK(td_streaming_plan(program, &graph, &options, UINT64_C(1) << 34, &bytes, &shape));
    td_settings_clear(&settings);
    return shape;
}

TEST(slots_are_small_beside_beginnings_unless_a_size_is_asked_for)
{
    CHECK_EQ(shape_of("bfs", "").slot_edges * sizeof(uint32_t), 8 << 20);
    CHECK_EQ(shape_of("sssp", "").slot_edges * sizeof(uint32_t), 8 << 20);
    CHECK_EQ(shape_of("bfs", "stream.prefix=0").slot_edges * sizeof(uint32_t), 16 << 20);
    CHECK_EQ(shape_of("bfs", "stream.subgraph=16M").slot_edges * sizeof(uint32_t), 16 << 20);
    CHECK_EQ(shape_of("kcore", "stream.kcore=levels").slot_edges * sizeof(uint32_t), 16 << 20); /* has none */
}

TEST(lists_are_put_in_order_for_those_whom_it_pays)
{
    CHECK_EQ(shape_of("bfs", "").order, TD_LISTS_STORED);
    CHECK_EQ(shape_of("wcc", "").order, TD_LISTS_HOT);
    CHECK_EQ(shape_of("sssp", "").order, TD_LISTS_LIGHT);
    CHECK_EQ(shape_of("sssp", "").weight_bits, 10);
    CHECK_EQ(shape_of("sssp", "stream.pack=off").weight_bits, 0);
    CHECK_EQ(shape_of("sssp", "stream.list_order=stored").weight_bits, 0);
}

TEST_MAIN
