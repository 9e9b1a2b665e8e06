/* The partition beside the graph: runs of as many GPUs read it, with the same values, and do not ask METIS again; one of
 * another build, with other settings or with numbers that lead nowhere is not read. */
#include "engine/prepared_scene.h"

#include "engine/multi/multi.h"
#include "engine/multi/prepared.h"
#include "engine/multi_machines.h"
#include "layout/partition_file.h"
#include "layout/partition_metis.h"
#include "planner/layouts.h"

#include <pthread.h>

static const char *const two_gpus = "emu:2@unchecked";

/* METIS works in a child process, and nothing else in these tests starts one. */
static int children;
static void count_child(void) { children++; }
__attribute__((constructor)) static void watch_forks(void) { CHECK(pthread_atfork(count_child, NULL, NULL) == 0); }

static bool has_metis(void) { return td_metis_check() == TD_OK; }

static td_run_options two(const td_graph *graph, const char *program, const char *devices)
{
    td_run_options options = options_for(&td_multi_engine, graph, program_of(program));
    options.devices = devices;
    options.gpu_edges = 0;
    return options;
}

/* Makes the partition of a program for two GPUs; `made`: whether it was not there. */
static td_status prepare_two(const td_graph *graph, const char *program, td_partition_kind kind, td_prepared_file *out)
{
    td_run_options options = {0};
    const td_graph *seen = NULL;
    memset(out, 0, sizeof *out);
    CHECK_OK(td_graph_for(&seen, program_of(program), graph, &options));
    return td_multi_prepare(program_of(program), seen, &options, kind, 2, out);
}

static td_prepared_file prepared_two(const td_graph *graph, const char *program, td_partition_kind kind)
{
    static td_prepared_file file;
    CHECK_OK(prepare_two(graph, program, kind, &file));
    return file;
}

static void remove_layout(const td_graph *graph, const char *layout)
{
    int removed = 0;
    td_sidecar_id id = {graph->name, graph->build_id, layout};
    CHECK_OK(td_sidecar_remove(&id, &removed));
    CHECK_EQ(removed, 1);
}

static td_partition_wish out_wish(td_partition_kind kind)
{
    return (td_partition_wish){.kind = kind, .parts = 2, .seed = 1, .ranges_only = true, .out = true};
}

static char last_warning[TD_MESSAGE_BYTES];

static void keep_warning(void *context, td_log_level level, const char *message)
{
    (void)context;
    if (level == TD_LOG_WARN) snprintf(last_warning, sizeof last_warning, "%s", message);
}

/* A run whose warnings are kept. */
static td_run *watched_run(const td_graph *graph, const char *program, const char *settings)
{
    last_warning[0] = 0;
    td_log_set_sink(keep_warning, NULL);
    td_run *run = run_of(program, graph, two(graph, program, two_gpus), settings);
    td_log_set_sink(NULL, NULL);
    return run;
}

/* The run's memory is stated, whether the partition is read or made; the plan names the layout if it is read. */
static void check_plan(const td_graph *graph, const char *program, const char *settings_text, const char *layout)
{
    td_settings settings = settings_from(settings_text);
    td_run_options options = two(graph, program, two_gpus);
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "multi", program_of(program), graph, &options));
    CHECK_EQ(plan->prepared_count, layout != NULL);
    if (layout != NULL) CHECK_STR(plan->prepared[0], layout);
    uint64_t held = td_memory().now, before = td_memory_peak_begin();
    CHECK_OK(td_plan_execute(plan, &run));
    uint64_t taken = td_memory().peak - held;
    td_memory_peak_end(before);
    uint64_t guess = layout != NULL ? 0 : plan->program_bytes / 20; /* of fragments' sizes */
    if (taken > plan->program_bytes + guess)
        TEST_FAIL("%s takes %" PRIu64 " bytes of %" PRIu64, program, taken, plan->program_bytes);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

static void compare_runs(const td_graph *graph, const char *program, td_partition_kind kind, const char *lists)
{
    char on[96], off[128], layout[TD_SIDECAR_NAME];
    snprintf(on, sizeof on, "multi.partition=%s", td_partition_name(kind));
    snprintf(off, sizeof off, "%s multi.prepared=off", on);
    snprintf(layout, sizeof layout, "multi-%s-2-%s", td_partition_name(kind), lists);
    td_prepared_file file = prepared_two(graph, program, kind);
    CHECK_STR(file.layout, layout);
    CHECK(file.made && !prepared_two(graph, program, kind).made);
    td_run *with = run_of(program, graph, two(graph, program, two_gpus), on);
    td_run *without = run_of(program, graph, two(graph, program, two_gpus), off);
    CHECK_EQ(read_by(with), 1);
    CHECK_EQ(read_by(without), 0);
    if (td_value_is_whole(with->kind)) CHECK_EQ(digest_of(with), digest_of(without));
    else CHECK(is_same(with, without));
    td_run_destroy(with);
    td_run_destroy(without);
    check_plan(graph, program, on, layout);
    check_plan(graph, program, off, NULL);
    remove_layout(graph, layout);
}

TEST(runs_give_the_same_with_and_without_the_partition)
{
    write_file("one.tg", &one_way);
    write_file("both.tg", &both_ways);
    td_graph *one = load_file("one.tg"), *both = load_file("both.tg");
    for (td_partition_kind kind = TD_PARTITION_RANDOM; kind < TD_PARTITIONS; kind++) {
        if (kind == TD_PARTITION_METIS && !has_metis()) continue;
        compare_runs(one, "bfs", kind, "both");
        compare_runs(one, "sssp", kind, "out");
        compare_runs(one, "pagerank", kind, "in");
        compare_runs(one, "kcore", kind, "both");
        compare_runs(both, "bfs", kind, "out");
        compare_runs(both, "sssp", kind, "out");
    }
    td_graph_destroy(one);
    td_graph_destroy(both);
}

TEST(there_is_nothing_to_prepare_for_ranges_and_programs_that_keep_them)
{
    td_prepared_file *file = NULL;
    CHECK_OK(TD_NEW_ZEROED(&file, 1, "layout"));
    write_file("none.tg", &one_way);
    td_graph *graph = load_file("none.tg");
    CHECK_STATUS(prepare_two(graph, "bfs", TD_PARTITION_SEG, file), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "the partition seg is ranges");
    CHECK_STATUS(prepare_two(graph, "wcc", TD_PARTITION_RANDOM, file), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "the graph's own vertex numbers");
    check_plan(graph, "bfs", "", NULL);
    td_graph_destroy(graph);
    td_free(file);
}

/* METIS is not asked for fragments of fewer than 32 vertices each. */
TEST(there_is_nothing_to_prepare_where_metis_gives_ranges)
{
    static const shape small = {5, true, false, false};
    static td_prepared_file file;
    if (!has_metis()) SKIP("METIS cannot be loaded");
    write_file("small.tg", &small);
    td_graph *graph = load_file("small.tg");
    CHECK_STATUS(prepare_two(graph, "bfs", TD_PARTITION_METIS, &file), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "metis of 2 fragments are ranges");
    td_run_destroy(run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=metis"));
    td_graph_destroy(graph);
}

/* A fork is the sign: a run without the layout has one, with the layout none. */
TEST(metis_is_not_asked_again)
{
    if (!has_metis()) SKIP("METIS cannot be loaded");
    write_file("once.tg", &one_way);
    td_graph *graph = load_file("once.tg");
    children = 0;
    td_run_destroy(run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=metis"));
    CHECK_EQ(children, 1);
    CHECK(prepared_two(graph, "bfs", TD_PARTITION_METIS).made);
    CHECK_EQ(children, 2);
    for (int i = 0; i < 2; i++)
        td_run_destroy(run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=metis"));
    CHECK(!prepared_two(graph, "bfs", TD_PARTITION_METIS).made);
    CHECK_EQ(children, 2);
    td_run_destroy(run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=metis multi.prepared=off"));
    CHECK_EQ(children, 3);
    td_run_destroy(run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=metis multi.seed=2"));
    CHECK_EQ(children, 4); /* another seed: another partition */
    td_run_destroy(run_of("bfs", graph, two(graph, "bfs", "emu:3@unchecked"), "multi.partition=metis"));
    CHECK_EQ(children, 5); /* more parts */
    td_graph_destroy(graph);
}

/* The run's own partition is written, not another that METIS is asked for. */
static void check_make(const td_graph *graph, const char *devices, const char *shares)
{
    td_settings settings = settings_from("multi.partition=random multi.prepared=make");
    td_run_options options = two(graph, "bfs", devices);
    td_prepared_file *file = NULL;
    td_plan *plan = NULL;
    options.settings = &settings;
    CHECK_OK(TD_NEW_ZEROED(&file, 1, "layout"));
    for (int again = 0; again < 2; again++) {
        td_run *run = NULL;
        CHECK_OK(td_plan_make(&plan, "multi", program_of("bfs"), graph, &options));
        CHECK_EQ(plan->prepared_count, again);
        CHECK_OK(td_plan_execute(plan, &run));
        CHECK_EQ(read_by(run), (uint64_t)again);
        CHECK_STATUS(td_plan_check_layout(plan), TD_NOT_FOUND); /* what `auto` asks */
        CHECK_CONTAINS(td_last_message(), "makes no layout without being asked to");
        td_status status = td_plan_make_layout(plan, file);
        CHECK_EQ(status, again ? TD_NOT_FOUND : TD_OK);
        td_run_destroy(run);
        td_plan_destroy(plan);
    }
    td_sidecar *sidecar = NULL;
    td_sidecar_id id = {graph->name, graph->build_id, file->layout};
    CHECK_OK(td_sidecar_open(&sidecar, &id));
    CHECK_CONTAINS(td_sidecar_key(sidecar), shares);
    td_sidecar_close(sidecar);
    td_settings_clear(&settings);
    td_free(file);
}

TEST(a_run_makes_the_partition_of_its_own_gpus)
{
    write_file("make.tg", &one_way);
    td_graph *graph = load_file("make.tg");
    const char *unlike = machine_of("unlike.topo", 2, "link 0 1 100GB/s 1us\n",
                                    "check off\noperation-rate 20M/s\ngpu 0\nmultiprocessors 3\n");
    check_make(graph, two_gpus, "shares=equal");
    check_make(graph, unlike, ","); /* in place of the one for equal GPUs, which those read no more */
    td_run *run = run_of("bfs", graph, two(graph, "bfs", two_gpus), "multi.partition=random");
    CHECK_EQ(read_by(run), 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* What METIS gave the run is what is written. */
TEST(a_run_that_makes_its_partition_asks_metis_once)
{
    if (!has_metis()) SKIP("METIS cannot be loaded");
    td_settings settings = settings_from("multi.partition=metis multi.prepared=make");
    td_prepared_file *file = NULL;
    td_plan *plan = NULL;
    td_run *run = NULL;
    CHECK_OK(TD_NEW_ZEROED(&file, 1, "layout"));
    write_file("kept.tg", &one_way);
    td_graph *graph = load_file("kept.tg");
    td_run_options options = two(graph, "bfs", two_gpus);
    options.settings = &settings;
    children = 0;
    CHECK_OK(td_plan_make(&plan, "multi", program_of("bfs"), graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    CHECK_OK(td_plan_make_layout(plan, file));
    CHECK(file->made);
    CHECK_EQ(children, 1);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
    td_free(file);
}

TEST(the_partition_of_another_build_is_refused)
{
    write_file("build.tg", &one_way);
    td_graph *graph = load_file("build.tg");
    CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
    td_graph_destroy(graph);
    write_file("build.tg", &both_ways); /* as many vertices */
    graph = load_file("build.tg");
    td_partition partition = {0};
    td_partition_wish wish = out_wish(TD_PARTITION_RANDOM);
    CHECK_STATUS(td_partition_load(&partition, graph, &wish, NULL), TD_INVALID);
    td_run *with = watched_run(graph, "sssp", "multi.partition=random");
    CHECK_CONTAINS(last_warning, "another build");
    CHECK_CONTAINS(last_warning, "for this run");
    CHECK_EQ(read_by(with), 0);
    td_run_destroy(with);
    CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
    with = watched_run(graph, "sssp", "multi.partition=random");
    CHECK_STR(last_warning, "");
    CHECK_EQ(read_by(with), 1);
    td_run_destroy(with);
    td_graph_destroy(graph);
}

/* Forged files, with checksums that fit. */

typedef struct forgery {
    const char *what;   /* section */
    uint64_t word;      /* of it */
    uint32_t value;
    const char *words;  /* of the refusal; NULL: it is taken */
} forgery;

enum { VERSION = 0, BYTES = 1, VERTICES = 2, PARTS = 3, EDGES = 4, FIRST = 6, OUT = 24, IN = 56 }; /* words of `meta` */

static void forge(const td_graph *graph, const forgery *of)
{
    td_sidecar_id id = {graph->name, graph->build_id, "multi-random-2-out"};
    td_sidecar_part parts[2] = {{"meta", NULL, 0}, {"order", NULL, 0}};
    td_sidecar *file = NULL;
    char where[TD_SIDECAR_PATH], key[TD_SIDECAR_KEY];
    CHECK_OK(td_sidecar_open(&file, &id));
    snprintf(key, sizeof key, "%s", td_sidecar_key(file));
    for (int i = 0; i < 2; i++) {
        void *data = NULL;
        CHECK_OK(td_sidecar_size(file, parts[i].name, &parts[i].bytes));
        CHECK_OK(td_new_bytes(&data, parts[i].bytes, 1, "section"));
        CHECK_OK(td_sidecar_read(file, parts[i].name, data, parts[i].bytes, NULL));
        if (strcmp(parts[i].name, of->what) == 0) ((uint32_t *)data)[of->word] = of->value;
        parts[i].data = data;
    }
    td_sidecar_close(file);
    CHECK_OK(td_sidecar_write(&id, key, parts, 2, where, NULL));
    for (int i = 0; i < 2; i++) td_free((void *)(uintptr_t)parts[i].data);
}

TEST(forged_partitions_are_refused)
{
    write_file("forged.tg", &one_way);
    td_graph *graph = load_file("forged.tg");
    td_partition_wish wish = out_wish(TD_PARTITION_RANDOM);
    td_partition partition = {0};
    uint32_t n = graph->vertices;
    CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
    CHECK_OK(td_partition_load(&partition, graph, &wish, NULL));
    uint32_t other = partition.order[7], middle = partition.first[1];
    td_partition_free(&partition);
    const forgery forgeries[] = {
        {"order", 3, other, "has a vertex twice"},
        {"order", n - 1, n, "a vertex that is none"},
        {"order", 0, UINT32_MAX, "a vertex that is none"},
        {"meta", FIRST, 32, "do not cover the vertices"},
        {"meta", FIRST + 1, n + 32, "do not ascend"},
        {"meta", FIRST + 1, UINT32_MAX - 31, "do not ascend"},
        {"meta", FIRST + 1, middle + 1, "within a word of a bitmap"},
        {"meta", FIRST + 2, n - 32, "do not cover the vertices"},
        {"meta", FIRST + 2, n + 32, "do not cover the vertices"},
        {"meta", VERTICES, n - 1, "does not have the counts of its graph"},
        {"meta", PARTS, 1, "does not have the counts of its graph"},
        {"meta", PARTS, 100000, "does not have the counts of its graph"},
        {"meta", EDGES, 7, "does not have the counts of its graph"},
        {"meta", VERSION, 9, "has version 9 of partitions"},
        {"meta", BYTES, 8, "has version 2 of partitions"},
        {"meta", FIRST + 1, middle - 32, "do not have the edges that it states"},
        {"meta", FIRST + 1, 0, "do not have the edges that it states"},
        {"meta", OUT, 0, "have fewer edges than the graph"},
        {"meta", OUT + 1, 1, "have more edges than the graph"},
        {"meta", OUT + 2 * 15, 1, "have more edges than the graph"},
        {"meta", IN, 1, "have more edges than the graph"},
    };
    td_run *wanted = run_of("sssp", graph, two(graph, "sssp", two_gpus), "multi.partition=random multi.prepared=off");
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        const forgery *of = &forgeries[i];
        remove_layout(graph, "multi-random-2-out");
        CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
        forge(graph, of);
        td_status status = td_partition_load(&partition, graph, &wish, NULL);
        if ((status == TD_OK) != (of->words == NULL)) TEST_FAIL("%s %" PRIu64 ": %s", of->what, of->word, td_status_name(status));
        if (status != TD_OK) CHECK_CONTAINS(td_last_message(), of->words);
        else td_partition_free(&partition);
        td_run *run = watched_run(graph, "sssp", "multi.partition=random");
        CHECK_EQ(read_by(run), of->words == NULL);
        CHECK_EQ(digest_of(run), digest_of(wanted));
        if (of->words != NULL) CHECK_CONTAINS(last_warning, of->words);
        else CHECK_STR(last_warning, "");
        td_run_destroy(run);
    }
    td_run_destroy(wanted);
    td_graph_destroy(graph);
}

/* A file whose boundary between two fragments is elsewhere, and that states so. */
static void move_boundary(const td_graph *graph, const td_partition_wish *wish, uint32_t to)
{
    char where[TD_SIDECAR_PATH];
    td_partition partition = {0};
    CHECK_OK(td_partition_load(&partition, graph, wish, NULL));
    partition.first[1] = to;
    CHECK_OK(td_partition_save(&partition, graph, wish, where, NULL));
    td_partition_free(&partition);
}

/* No GPU takes more than the plan states for it, and none is stated to take twice as much: fragments of the same size are
 * not assumed. */
static void check_stated(const td_graph *graph, const char *program, td_run_options options)
{
    td_settings settings = settings_from("multi.partition=random");
    td_plan *plan = NULL;
    td_run *run = NULL;
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "multi", program_of(program), graph, &options));
    CHECK_OK(td_plan_execute(plan, &run));
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "emu:%d", i);
        const td_device_row *stated = &td_device_use_of(&plan->devices, name)->row;
        uint64_t taken = td_device_use_of(&run->devices, name)->row.peak, most = stated->graph + stated->program;
        if (taken > most || taken < most / 2)
            TEST_FAIL("%s: %s takes %" PRIu64 " bytes of %" PRIu64, program, name, taken, most);
    }
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

/* All vertices in one of the fragments, with edges at the host and without: the emulator watches every address. */
static void check_sizes(const td_graph *graph, const char *program, const td_partition_wish *wish)
{
    CHECK(prepared_two(graph, program, TD_PARTITION_RANDOM).made);
    td_run *wanted = run_of(program, graph, two(graph, program, "emu:2"), "multi.partition=random multi.prepared=off");
    for (int i = 0; i < 4; i++) {
        td_run_options options = two(graph, program, "emu:2");
        move_boundary(graph, wish, i % 2 == 0 ? 0 : graph->vertices);
        options.gpu_edges = i < 2 ? 0 : 0.3;
        td_run *run = run_of(program, graph, options, "multi.partition=random");
        CHECK_EQ(read_by(run), 1);
        CHECK(is_same(run, wanted));
        td_run_destroy(run);
        check_stated(graph, program, options);
    }
    td_run_destroy(wanted);
}

TEST(fragments_of_any_size_are_run)
{
    static const shape tiny = {9, true, false, false}, tiny_one_way = {9, false, false, false};
    td_partition_wish out = out_wish(TD_PARTITION_RANDOM), both = out, in = out;
    both.in = in.in = true;
    in.out = false;
    write_file("sizes.tg", &tiny);
    td_graph *graph = load_file("sizes.tg");
    check_sizes(graph, "sssp", &out);
    td_graph_destroy(graph);
    write_file("sizes.tg", &tiny_one_way);
    graph = load_file("sizes.tg");
    check_sizes(graph, "bfs", &both);
    check_sizes(graph, "pagerank", &in);
    td_graph_destroy(graph);
}

/* A GPU is lost in mid-run: those that are left need other fragments, which are read if they lie there too. */
TEST(a_lost_gpu_leaves_the_partition_of_the_others)
{
    write_file("lost.tg", &one_way);
    td_graph *graph = load_file("lost.tg");
    td_run_options options = two(graph, "pagerank", "emu:3@unchecked"), prepare = {0};
    td_prepared_file *file = NULL;
    CHECK_OK(TD_NEW_ZEROED(&file, 1, "layout"));
    td_run *wanted = run_of("pagerank", graph, options, "multi.partition=random multi.prepared=off");
    for (int parts = 3; parts >= 2; parts--) {
        CHECK_OK(td_multi_prepare(program_of("pagerank"), td_graph_without_weights(graph), &prepare, TD_PARTITION_RANDOM, parts,
                                  file));
        td_log_set_sink(keep_warning, NULL);
        td_device_lose_at("emu:1", 90);
        td_run *run = run_of("pagerank", graph, options, "multi.partition=random multi.recovery_every=1");
        td_device_lose_at("", 0);
        td_log_set_sink(NULL, NULL);
        CHECK_EQ(run->recovery.gpus_lost, 1);
        CHECK_EQ(read_by(run), parts == 2);
        td_run_summary one, two;
        CHECK_OK(td_run_summarise(run, NULL, &one));
        CHECK_OK(td_run_summarise(wanted, NULL, &two));
        CHECK_EQ(one.reached, two.reached);
        CHECK(fabs(one.sum - two.sum) <= 1e-6 * fabs(two.sum));
        td_run_destroy(run);
    }
    td_run_destroy(wanted);
    td_graph_destroy(graph);
    td_free(file);
}

/* The order of the file is the one that is used: any other is as good, and two vertices are exchanged in it. */
TEST(the_order_is_that_of_the_file)
{
    write_file("swap.tg", &one_way);
    td_graph *graph = load_file("swap.tg");
    td_partition_wish wish = out_wish(TD_PARTITION_RANDOM);
    td_partition drawn = {0}, made = {0};
    char where[TD_SIDECAR_PATH];
    CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
    CHECK_OK(td_partition_make(&made, graph, &wish, NULL));
    CHECK_OK(td_partition_load(&drawn, graph, &wish, NULL));
    CHECK(memcmp(made.order, drawn.order, graph->vertices * sizeof *made.order) == 0);
    CHECK(memcmp(made.place, drawn.place, graph->vertices * sizeof *made.place) == 0);
    CHECK(memcmp(made.first, drawn.first, sizeof made.first) == 0);
    uint32_t a = drawn.order[0], b = drawn.order[graph->vertices - 1];
    drawn.order[0] = b;
    drawn.order[graph->vertices - 1] = a;
    CHECK_OK(td_partition_save(&drawn, graph, &wish, where, NULL));
    td_partition_free(&drawn);
    CHECK_OK(td_partition_load(&drawn, graph, &wish, NULL));
    CHECK_EQ(drawn.order[0], b);
    CHECK_EQ(drawn.place[a], graph->vertices - 1);
    td_partition_free(&drawn);
    td_partition_free(&made);
    td_graph_destroy(graph);
}

/* Requests for memory that fail one by one: an error, and no leak. */
TEST(a_partition_that_fails_to_load_leaves_nothing)
{
    write_file("memory.tg", &one_way);
    td_graph *graph = load_file("memory.tg");
    td_partition_wish wish = out_wish(TD_PARTITION_RANDOM);
    CHECK(prepared_two(graph, "sssp", TD_PARTITION_RANDOM).made);
    uint64_t held = td_memory().now;
    bool done = false;
    for (uint64_t nth = 1; !done && nth < 100; nth++) {
        td_partition partition = {0};
        td_alloc_fail_at(nth);
        td_status status = td_partition_load(&partition, graph, &wish, NULL);
        td_alloc_fail_at(0);
        done = status == TD_OK;
        CHECK(done || (status == TD_NO_MEMORY && partition.order == NULL));
        td_partition_free(&partition);
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(done);
    td_graph_destroy(graph);
}

TEST_MAIN
