/* Runs with prepared layouts give what runs without them give, read them where they are there, and do without where they
 * cannot be used: damaged, of another build, gone. The graph's own lists stay in the file. */
#include "engine/prepared_scene.h"

#include "base/log.h"
#include "base/mapping.h"
#include "engine/stream/stream.h"
#include "gpu/bytes.h"
#include "layout/compressed.h"
#include "layout/lists_file.h"
#include "store/checks.h"
#include "store/sidecar.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(every_program_gives_the_same_with_and_without_prepared_layouts)
{
    static const struct {
        const shape *of;
        int stream, coop; /* programs that read a layout */
    } graphs[] = {{&both_ways, 5, 7}, {&one_way, 7, 7}, {&wide_weights, 5, 7}};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (int i = 0; i < 3; i++) {
        int used[2] = {0};
        write_file("same.tg", graphs[i].of);
        td_graph *graph = load_file("same.tg");
        prepare_all(graph, pool);
        for (int e = 0; e < 2; e++)
            for (int p = 0; td_programs[p] != NULL; p++) {
                if (strcmp(td_programs[p]->info->name, "circuit") == 0) continue; /* needs a network */
                compare(engines[e], graph, td_programs[p], i, &used[e]);
            }
        if (used[0] != graphs[i].stream || used[1] != graphs[i].coop)
            TEST_FAIL("graph %d: %d programs read a layout on stream, %d on coop", i, used[0], used[1]);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

/* Whether a run makes its lists as it reads the graph's in the mapped file, which stay there. */
static bool orders_from_file(const td_program *program, const td_engine *engine)
{
    bool orders = strcmp(program->info->name, "sssp") == 0 || strcmp(program->info->name, "wcc") == 0;
    return orders && engine == &td_stream_engine;
}

/* Opens the file as a run on the engine does. */
static td_graph *open_for(td_session *session, const td_engine *engine, const char *program, const char *setting)
{
    td_graph *graph = NULL;
    const char *settings[] = {setting, NULL};
    td_request request = {.size = sizeof request, .engine = engine->name, .devices = "emu:1@unchecked", .gpu_edges = 0.25,
                          .has_source = program_of(program)->info->needs_source, .settings = setting != NULL ? settings : NULL};
    CHECK_OK(td_graph_open_for(session, test_path("spare.tg"), NULL, program, &request, &graph));
    return graph;
}

/* The plan states what the run takes, and that is no more than the graph's file and a quarter, beside the emulated GPU
 * and the counters, which have the same size for every graph; and the sort's buffers, where lists are `ordered`. */
static void check_memory(const td_engine *engine, const td_graph *graph, const char *program, bool ordered)
{
    td_plan *plan = NULL;
    td_run *run = NULL;
    struct stat facts;
    td_run_options options = options_for(engine, graph, program_of(program));
    CHECK(stat(test_path("spare.tg"), &facts) == 0);
    CHECK_OK(td_plan_make(&plan, engine->name, program_of(program), graph, &options));
    CHECK_EQ(plan->prepared_count, ordered ? 0 : 1);
    uint64_t stated = plan->graph_bytes + plan->program_bytes - plan->emulated_bytes - td_gpu_run_bytes(1);
    uint64_t held = td_memory().now;
    CHECK(plan->graph_bytes < td_graph_bytes(graph));
    uint64_t before = td_memory_peak_begin();
    CHECK_OK(td_plan_execute(plan, &run));
    uint64_t taken = td_memory().peak - held;
    td_memory_peak_end(before);
    if (taken > plan->program_bytes) TEST_FAIL("%s takes %" PRIu64 " bytes of %" PRIu64, program, taken, plan->program_bytes);
    if (engine == &td_stream_engine && !ordered) CHECK((double)stated <= 1.25 * (double)facts.st_size);
    td_run_destroy(run);
    td_plan_destroy(plan);
}

TEST(the_lists_of_a_prepared_graph_stay_in_its_file)
{
    static const struct {
        int engine;
        const char *program;
    } runs[] = {{0, "sssp"}, {0, "wcc"}, {0, "pagerank"}, {1, "bfs"}, {1, "sssp"}};
    td_session *session = NULL;
    CHECK_OK(td_session_create(2, &session));
    write_file("spare.tg", &both_ways);
    td_graph *graph = load_file("spare.tg");
    prepare_all(graph, NULL);
    td_graph_destroy(graph);
    for (int i = 0; i < 5; i++) {
        const td_engine *engine = engines[runs[i].engine];
        graph = open_for(session, engine, runs[i].program, NULL);
        CHECK(td_checks_pending(graph, graph->out.targets));
        check_memory(engine, graph, runs[i].program, false);
        CHECK(td_checks_pending(graph, graph->out.targets)); /* nothing read them */
        td_graph_destroy(graph);
    }
    graph = open_for(session, &td_stream_engine, "sssp", "stream.prepared=off");
    CHECK(td_checks_pending(graph, graph->out.targets)); /* ordered as they are read */
    td_graph_destroy(graph);
    int removed = 0;
    td_sidecar_id id = {test_path("spare.tg"), 0, "stream-out-light-packed"};
    CHECK_OK(td_sidecar_remove(&id, &removed));
    CHECK_EQ(removed, 1);
    graph = open_for(session, &td_stream_engine, "sssp", NULL);
    CHECK(td_checks_pending(graph, graph->out.targets)); /* ordered as they are read */
    check_memory(&td_stream_engine, graph, "sssp", true);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Beside lists in memory, prepared ones are a second copy, which must take no more than half of what is left; instead of
 * lists in the file they need no more than those would. */
TEST(prepared_lists_beside_the_graphs_own_must_fit_in_memory)
{
    static const shape larger = {14, true, false, false};
    const td_program *program = program_of("wcc");
    write_file("budget.tg", &larger);
    td_graph *graphs[2] = {load_file("budget.tg")};
    CHECK(prepare(graphs[0], &td_stream_engine, program, NULL));
    CHECK_OK(td_packed_map_unchecked(&graphs[1], test_path("budget.tg"), NULL));
    for (int mapped = 0; mapped < 2; mapped++) {
        td_run_options options = {.gpu_edges = 0.25};
        td_streaming_bytes bytes;
        td_streaming_shape shape;
        const td_graph *seen = td_graph_without_weights(graphs[mapped]);
        td_memory_set_budget(td_memory().now + seen->edges * sizeof(uint32_t));
        td_status status = td_streaming_plan(program, seen, &options, UINT64_C(1) << 40, &bytes, &shape);
        td_memory_set_budget(0);
        CHECK_OK(status);
        CHECK_EQ(shape.order, mapped ? TD_LISTS_HOT : TD_LISTS_STORED);
        CHECK_EQ(shape.prepared, mapped);
        td_graph_destroy(graphs[mapped]);
    }
}

static char last_warning[TD_MESSAGE_BYTES];

static void keep_warning(void *context, td_log_level level, const char *message)
{
    (void)context;
    if (level == TD_LOG_WARN) snprintf(last_warning, sizeof last_warning, "%s", message);
}

/* Damages every layout of the file in its last section, so that their headers stay whole. */
static void damage_layouts(const td_graph *graph)
{
    td_sidecar_entry *entries = NULL;
    int count = 0;
    CHECK_OK(td_sidecar_list(graph->name, graph->build_id, &entries, &count));
    CHECK(count > 5);
    for (int i = 0; i < count; i++) {
        FILE *file = fopen(entries[i].path, "r+b");
        CHECK(file != NULL && fseek(file, (long)entries[i].bytes * 2 / 3, SEEK_SET) == 0);
        CHECK_EQ(fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, file), 8);
        fclose(file);
    }
    td_free(entries);
}

/* The lists are made for the run then, also of a graph whose own are still in its file. */
TEST(layouts_that_turn_out_damaged_are_done_without)
{
    static const char *const programs[] = {"sssp", "wcc", "pagerank", "bfs"};
    write_file("damaged.tg", &both_ways);
    td_graph *graph = load_file("damaged.tg");
    prepare_all(graph, NULL);
    damage_layouts(graph);
    for (int p = 0; p < 4; p++) {
        const td_engine *engine = engines[p == 3];
        const td_program *program = program_of(programs[p]);
        const char *settings = p == 3 ? "coop.order=hot coop.invoke=always" : "";
        td_graph *mapped = NULL;
        td_run *wanted = run_with(&td_cpu_engine, graph, program, "");
        CHECK_OK(td_packed_map_unchecked(&mapped, test_path("damaged.tg"), NULL));
        last_warning[0] = 0;
        td_log_set_sink(keep_warning, NULL);
        td_run *run = run_with(engine, mapped, program, settings);
        td_log_set_sink(NULL, NULL);
        CHECK_CONTAINS(last_warning, "damaged");
        CHECK_CONTAINS(last_warning, "for this run");
        CHECK_EQ(read_by(run), 0);
        CHECK_EQ(digest_of(run), digest_of(wanted));
        CHECK_EQ(td_checks_pending(mapped, mapped->out.targets), orders_from_file(program, engine));
        td_run_destroy(run);
        td_run_destroy(wanted);
        td_graph_destroy(mapped);
    }
    td_graph_destroy(graph);
}

/* A graph that is in memory while its file, and what was prepared, become another's. */
TEST(a_file_replaced_while_its_graph_is_used_changes_nothing)
{
    const td_program *program = program_of("wcc");
    write_file("replaced.tg", &both_ways);
    td_graph *graph = load_file("replaced.tg"), *mapped = NULL;
    CHECK(prepare(graph, &td_stream_engine, program, NULL));
    CHECK_OK(td_packed_map_unchecked(&mapped, test_path("replaced.tg"), NULL));
    td_run *wanted = run_with(&td_stream_engine, mapped, program, "");
    CHECK_EQ(read_by(wanted), 1);
    write_file("replaced.tg", &real_weights);
    td_graph *other = load_file("replaced.tg");
    for (int i = 0; i < 2; i++) { /* the layout of the old file; then of the new one */
        td_run *run = run_with(&td_stream_engine, mapped, program, "");
        CHECK_EQ(read_by(run), i == 0);
        CHECK_EQ(digest_of(run), digest_of(wanted));
        td_run_destroy(run);
        run = run_with(&td_stream_engine, other, program, "");
        CHECK_EQ(read_by(run), i);
        CHECK(digest_of(run) != digest_of(wanted));
        td_run_destroy(run);
        if (i == 0) CHECK(prepare(other, &td_stream_engine, program, NULL));
    }
    td_run_destroy(wanted);
    td_graph_destroy(other);
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
    td_mapping_forget();
}

/* Writes compressed lists with 32 bits for every difference, which are larger than the targets. */
static void write_large_groups(const td_graph *graph)
{
    td_lists_form form = {.view = TD_LISTS_OUT, .compressed = true};
    uint64_t groups = td_lists_groups(graph->edges), edge = 0;
    uint32_t *words = NULL, last = 0;
    uint16_t *lengths = NULL;
    char where[TD_SIDECAR_PATH];
    CHECK_OK(TD_NEW_ZEROED(&words, groups * TD_COMPRESS_MOST, "words"));
    CHECK_OK(TD_NEW(&lengths, groups, "lengths"));
    for (uint64_t g = 0; g < groups; g++) {
        uint32_t *group = words + g * TD_COMPRESS_MOST;
        lengths[g] = TD_COMPRESS_MOST;
        group[0] = last;
        for (int i = 1; i < TD_COMPRESS_HEAD; i++) group[i] = (32u | 32u << 6) * 0x10001u;
        for (uint32_t i = 0; i < TD_COMPRESS_GROUP && edge < graph->edges; i++, edge++) {
            uint32_t delta = graph->out.targets[edge] - last;
            group[TD_COMPRESS_HEAD + i] = delta << 1 ^ (0u - (delta >> 31));
            last = graph->out.targets[edge];
        }
    }
    td_lists_content content = {.lengths = lengths, .words = words, .word_count = groups * TD_COMPRESS_MOST};
    CHECK_OK(td_lists_save(graph, &form, &content, where, NULL));
    td_free(words);
    td_free(lengths);
}

/* No room for two compressed subgraphs: the run goes back to the graph's own lists. */
TEST(compressed_lists_without_room_are_done_without)
{
    const td_program *program = program_of("pagerank");
    write_file("fit.tg", &both_ways);
    td_graph *graph = load_file("fit.tg"), *mapped = NULL;
    write_large_groups(td_graph_without_weights(graph));
    for (int roomy = 0; roomy < 2; roomy++) {
        CHECK_OK(td_packed_map_unchecked(&mapped, test_path("fit.tg"), NULL));
        td_run_options options = options_for(&td_stream_engine, mapped, program);
        options.gpu_edges = roomy ? 1 << 16 : 1 << 15; /* bytes */
        td_run *with = run_of("pagerank", mapped, options, "stream.subgraph=16K");
        td_run *without = run_of("pagerank", graph, options, "stream.subgraph=16K stream.prepared=off");
        CHECK_EQ(read_by(with), roomy);
        CHECK_EQ(td_checks_pending(mapped, mapped->out.targets), roomy);
        CHECK_EQ(digest_of(with), digest_of(without));
        td_run_destroy(with);
        td_run_destroy(without);
        td_graph_destroy(mapped);
    }
    td_graph_destroy(graph);
}

/* Layouts with words changed at random and checksums that fit, as another program might write them. */

enum { SECTIONS = 11 };

static void change_section(const char *name, void *data, uint64_t bytes, uint64_t draw)
{
    uint32_t *words = data;
    uint64_t count = bytes / sizeof(uint32_t), drawn = td_random_at(11, draw);
    if (count == 0 || (strcmp(name, "meta") == 0 && draw % 5 != 0)) return;
    uint32_t *at = &words[drawn % count];
    static const uint32_t wild[] = {0, 1, UINT32_MAX, 1u << 31, 255, 256, 1u << 11};
    *at = draw % 3 == 0 ? wild[(drawn >> 40) % 7] : draw % 3 == 1 ? *at ^ 1u << (drawn >> 50) % 32 : (uint32_t)(drawn >> 32);
}

/* Writes the layout again with one section changed; false: there is no such layout. */
static bool forge(const td_graph *graph, const char *layout, uint64_t draw)
{
    static const char *const names[SECTIONS] = {"meta", "targets", "weights", "lengths", "words", "order", "within", "out",
                                                "out weights", "in", "in weights"};
    td_sidecar_id id = {graph->name, graph->build_id, layout};
    td_sidecar_part parts[SECTIONS];
    td_sidecar *file = NULL;
    char where[TD_SIDECAR_PATH], key[TD_SIDECAR_KEY];
    int count = 0;
    if (td_sidecar_open(&file, &id) != TD_OK) return false;
    snprintf(key, sizeof key, "%s", td_sidecar_key(file));
    for (int i = 0; i < SECTIONS; i++) {
        void *data = NULL;
        uint64_t bytes = 0;
        if (td_sidecar_size(file, names[i], &bytes) != TD_OK) continue;
        CHECK_OK(td_new_bytes(&data, bytes, 1, "section"));
        CHECK_OK(td_sidecar_read(file, names[i], data, bytes, NULL));
        parts[count++] = (td_sidecar_part){names[i], data, bytes};
    }
    td_sidecar_close(file);
    const td_sidecar_part *part = &parts[draw % (uint64_t)count];
    change_section(part->name, (void *)(uintptr_t)part->data, part->bytes, draw);
    CHECK_OK(td_sidecar_write(&id, key, parts, count, where, NULL));
    for (int i = 0; i < count; i++) td_free((void *)(uintptr_t)parts[i].data);
    return true;
}

static void ignore_log(void *context, td_log_level level, const char *message)
{
    (void)context, (void)level, (void)message;
}

/* A run refuses what it reads, or ends with values: the emulator watches every address. Iterations are limited, because
 * other edges give other values. */
TEST(forged_layouts_lead_nowhere)
{
    static const struct {
        int engine;
        const char *program, *layout, *settings;
    } runs[] = {
        {0, "sssp", "stream-out-light-packed", ""},
        {0, "wcc", "stream-out-hot", ""},
        {0, "pagerank", "stream-out-small", "stream.subgraph=4K"},
        {0, "adsorption", "stream-out-small-weights", "stream.subgraph=4K"},
        {1, "bfs", "coop-hot", "coop.order=hot coop.invoke=always"},
        {1, "pagerank", "coop-hot", "coop.order=hot coop.invoke=always"},
        {1, "sssp", "coop-hot-weights", "coop.order=hot coop.invoke=always"},
    };
    static const shape tiny = {9, true, false, false};
    int taken = 0, refused = 0;
    write_file("wild.tg", &tiny);
    td_graph *graph = load_file("wild.tg");
    td_log_set_sink(ignore_log, NULL);
    for (int r = 0; r < 7; r++)
        for (uint64_t draw = 0; draw < 16; draw++) {
            const td_engine *engine = engines[runs[r].engine];
            const td_program *program = program_of(runs[r].program);
            td_run_options options = options_for(engine, graph, program);
            td_run *run = NULL;
            td_sidecar_id id = {graph->name, graph->build_id, runs[r].layout};
            int removed;
            CHECK_OK(td_sidecar_remove(&id, &removed));
            CHECK(prepare(graph, engine, program, NULL));
            CHECK(forge(graph, runs[r].layout, draw + 100 * (uint64_t)r));
            options.devices = "emu";
            options.gpu_edges = 0.4;
            CHECK_OK(try_run(&run, runs[r].program, graph, options, runs[r].settings));
            if (read_by(run) > 0) taken++;
            else refused++;
            td_run_destroy(run);
        }
    td_log_set_sink(NULL, NULL);
    CHECK(taken > 10 && refused > 20);
    td_graph_destroy(graph);
}

/* Requests for memory that fail one by one: an error, no leak, and the next run is whole. */
TEST(a_run_that_fails_while_it_reads_leaves_nothing)
{
    td_graph *graph;
    const char *const programs[] = {"sssp", "pagerank", "bfs"};
    write_file("memory.tg", &real_weights);
    graph = load_file("memory.tg");
    prepare_all(graph, NULL);
    for (int p = 0; p < 3; p++) {
        const td_engine *engine = engines[p == 2];
        td_run_options options = options_for(engine, graph, program_of(programs[p]));
        td_settings settings = settings_from(p == 2 ? "coop.order=hot coop.invoke=always" : "");
        td_run *run = NULL;
        options.settings = &settings;
        uint64_t held = td_memory().now;
        bool done = false;
        for (uint64_t nth = 1; !done && nth < 2000; nth += 1 + nth / 20) {
            td_alloc_fail_at(nth);
            td_status status = td_run_program(&run, program_of(programs[p]), graph, &options);
            td_alloc_fail_at(0);
            done = status == TD_OK;
            CHECK(done || status == TD_NO_MEMORY);
        }
        CHECK(done);
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        td_settings_clear(&settings);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
