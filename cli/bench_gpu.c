/* `tandem bench gpu`: the resident engine on one device, and the gain of each of its techniques.
 *
 * A contender is the engine with one thing changed: a setting, or the order of the
 * vertices. Times are device times with the graph loaded: measured on a GPU, virtual on
 * an emulated one. Searches start from several vertices, the same for all contenders. The
 * result of a contender is compared with that of the defaults, and the latter once with
 * that of the cpu engine. */
#include "engine/engine.h"
#include "bench.h"
#include "text.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/size.h"
#include "engine/resident/resident.h"
#include "device/cuda/rates.h"
#include "gpu_text.h"
#include "graph_text.h"
#include "layout/reorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TRIALS = 99, FIRST_COLUMN = 34, RANK_ITERATIONS = 10, MEASURED_RANGE = 64 << 20 };

static const char *const usual_graphs[] = {"k20", "u20", "grid1000", NULL};
static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

typedef enum copy { AS_IT_IS, HOT, COPIES } copy;

typedef struct contender {
    const char *name;
    const char *settings[2]; /* "resident.key=value", or NULL */
    copy graph;
} contender;

#define SHARDS(copies)                                                                                   \
    {"gather=shards, replication=" copies, {"resident.gather=shards", "resident.replication=" copies}, AS_IT_IS}

/* All others are compared with the first. */
static const contender contenders[] = {
    {"defaults", {NULL}, AS_IT_IS},
    {"direction=push", {"resident.direction=push"}, AS_IT_IS},
    {"direction=pull", {"resident.direction=pull"}, AS_IT_IS},
    {"balance=thread", {"resident.balance=thread"}, AS_IT_IS},
    {"balance=cta", {"resident.balance=cta"}, AS_IT_IS},
    {"balance=iwb", {"resident.balance=iwb"}, AS_IT_IS},
    {"balance=warp", {"resident.balance=warp"}, AS_IT_IS},
    {"gather=rows", {"resident.gather=rows"}, AS_IT_IS},
    SHARDS("auto"), SHARDS("1"), SHARDS("2"), SHARDS("4"), SHARDS("8"), SHARDS("16"), SHARDS("32"),
    {"rounds=1", {"resident.rounds=1"}, AS_IT_IS},
    {"order hot", {NULL}, HOT},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

typedef struct bench {
    td_bench_base base;
    const char *devices;
    char device[48], model[96]; /* the GPU */
    bool modelled;
    double read_rate; /* of its memory; 0: unknown */
    td_graph *graphs[COPIES];
    td_cache kept[COPIES];
    double reorder_seconds;
    double gather_rate; /* random reads over an array of the messages' size; 0: not measured */
    uint32_t sources[MOST_TRIALS];
    td_run *first[MOST_TRIALS]; /* the defaults' runs of the current program */
    double seconds[CONTENDERS][PROGRAMS]; /* medians; 0: not measured (takes) */
} bench;

/* The device. */

static td_status with_gpu(bench *b, td_status (*look)(bench *b, td_device *device))
{
    td_status status = TD_OK;
    td_loop *loop = NULL;
    td_device *first = NULL, *device;
    TD_TRY(td_loop_create(&loop));
    TD_TRY(td_devices_open(&first, b->devices, &(td_device_options){.loop = loop, .pool = b->base.pool}));
    for (device = first; device != NULL && device->kind == TD_DEVICE_CPU; device = device->next) {}
    if (device == NULL)
        TD_TRY(td_fail(TD_USAGE, "--devices %s: bench gpu needs a GPU (cuda:0), or an emulated one (emu)", b->devices));
    status = look(b, device);
done:
    td_devices_close(first);
    td_loop_destroy(loop);
    return status;
}

static td_status note_gpu(bench *b, td_device *device)
{
    snprintf(b->device, sizeof b->device, "%s", device->name);
    snprintf(b->model, sizeof b->model, "%s", device->properties.model);
    b->modelled = device->kind == TD_DEVICE_EMULATOR;
    return TD_OK;
}

/* Takes the rate of the GPU's memory from the survey, and reports it. */
static void take_survey(bench *b, const td_survey *survey)
{
    td_surveyed_device gpu = {.size = sizeof gpu};
    td_rate rate;
    int row = 0;
    while (td_survey_device(survey, row, &gpu) == TD_OK && strcmp(gpu.name, b->device) != 0) row++;
    for (int i = 0; td_survey_rate(survey, row, i, &rate); i++)
        if (strcmp(rate.name, "read_bytes_per_second") == 0) b->read_rate = rate.value;
    if (b->base.json == NULL) return;
    td_json_array(b->base.json, "gpus");
    td_gpu_json(b->base.json, survey, row, &gpu);
    td_json_end_array(b->base.json);
}

static td_status measure_memory(bench *b)
{
    td_status status = TD_OK;
    td_session *session = NULL;
    td_survey *survey = NULL;
    td_survey_options wanted = {.size = sizeof wanted, .devices = b->devices, .largest = MEASURED_RANGE};
    TD_TRY(td_common_session(&b->base.settings->common, &session));
    TD_TRY(td_session_survey(session, &wanted, &survey));
    take_survey(b, survey);
done:
    td_survey_destroy(survey);
    td_session_destroy(session);
    return status;
}

static const td_cpu_kernels *rank_kernels(void) { return &td_program_named("pagerank")->cpu[TD_WEIGHT_NONE]; }

static uint64_t message_bytes(const bench *b)
{
    return b->graphs[AS_IT_IS]->vertices * (uint64_t)rank_kernels()->message_bytes;
}

/* An emulated GPU has no caches to measure. */
static td_status measure_gathers(bench *b, td_device *device)
{
    b->gather_rate = 0;
    return b->modelled ? TD_OK : td_cuda_measure_gathers(device, message_bytes(b), &b->gather_rate);
}

/* Graphs. */

static td_status make_graphs(bench *b)
{
    for (int which = 0; which < COPIES; which++) {
        td_progress_text("%s: making the graph, %d of %d", b->base.name, which + 1, COPIES);
        TD_CHECK(td_bench_make_graph(&b->graphs[which], b->base.name, b->base.pool));
    }
    uint64_t began = td_clock_ns();
    TD_CHECK(td_graph_reorder(&b->graphs[HOT], TD_ORDER_HOT, 1, b->base.pool));
    b->reorder_seconds = td_seconds_since(began);
    return TD_OK;
}

/* Draws source vertices with edges at random; the vertex of highest degree comes first. */
static void choose_sources(bench *b)
{
    const td_graph *graph = b->graphs[AS_IT_IS];
    b->sources[0] = td_bench_busiest(graph);
    for (uint64_t i = 1, drawn = 0; i < b->base.settings->trials; i++) {
        b->sources[i] = b->sources[0];
        for (int tries = 0; tries < 1000; tries++) {
            uint32_t v = (uint32_t)td_random_below(td_random_at(27, drawn++), graph->vertices);
            if (td_degree(&graph->out, v) == 0) continue;
            b->sources[i] = v;
            break;
        }
    }
}

/* Runs. */

static bool is_ranks(const td_program *program) { return strcmp(program->info->name, "pagerank") == 0; }

static td_status run_once(bench *b, const td_program *program, const contender *one, const char *engine, uint64_t trial,
                          td_run **out)
{
    td_status status = TD_OK;
    td_settings settings = {0};
    td_graph *graph = b->graphs[one->graph];
    bool resident = td_engine_named(engine) == &td_resident_engine;
    td_run_options options = {.pool = b->base.pool, .settings = &settings, .has_source = program->info->needs_source,
                              .has_iterations = is_ranks(program), .iterations = RANK_ITERATIONS, .engine = engine,
                              .devices = b->devices, .cache = resident ? &b->kept[one->graph] : NULL};
    for (int i = 0; i < 2; i++)
        if (one->settings[i] != NULL) TD_TRY(td_settings_add(&settings, one->settings[i]));
    if (options.has_source) TD_TRY(td_graph_find(graph, b->sources[trial], &options.source));
    status = td_run_program(out, program, graph, &options);
done:
    td_settings_clear(&settings);
    return status;
}

static bool sets(const contender *one, const char *key)
{
    return one->settings[0] != NULL && strncmp(one->settings[0], key, strlen(key)) == 0;
}

/* Whether a contender makes sense for a program: weights must be there if needed; shards are for accumulating programs,
 * which always pull. */
static bool takes(const bench *b, const td_program *program, const contender *one)
{
    bool weighted = b->graphs[AS_IT_IS]->weights != TD_WEIGHT_NONE, fused = program->cpu[TD_WEIGHT_NONE].fused;
    if (program->info->weights == TD_WEIGHTS_NEEDED && !weighted) return false;
    if (one->settings[0] == NULL) return true;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(one->settings[0] + 9, "="), one->settings[0] + 9);
    if (!td_resident_uses(program, key)) return false;
    return sets(one, "resident.gather=") ? !fused : !sets(one, "resident.direction=push") || fused;
}

/* Runs one contender from all sources and compares each result with the defaults'. The very first run warms up. */
static td_status run_contender(bench *b, const td_program *program, int p, int c)
{
    td_status status = TD_OK;
    double trials[MOST_TRIALS];
    td_run *run = NULL;
    for (uint64_t trial = 0; trial < b->base.settings->trials; trial++) {
        td_progress_text("%s: %s, %s, %" PRIu64 " of %" PRIu64, b->base.name, program->info->name, contenders[c].name,
                         trial + 1, b->base.settings->trials);
        for (int again = trial == 0 ? 0 : 1; again < 2; again++) {
            TD_TRY(td_cancel_check());
            td_run_destroy(run);
            run = NULL;
            TD_TRY(run_once(b, program, &contenders[c], "resident", trial, &run));
        }
        trials[trial] = run->device_seconds / (is_ranks(program) ? run->iterations : 1);
        if (c > 0) TD_TRY(td_bench_compare(b->base.name, b->first[trial], run, contenders[c].name));
        if (c > 0) continue;
        b->first[trial] = run;
        run = NULL;
    }
    b->seconds[c][p] = td_median(trials, (int)b->base.settings->trials);
done:
    td_run_destroy(run);
    return status;
}

static td_status compare_with_cpu(bench *b, const td_program *program)
{
    td_run *run = NULL;
    td_progress_text("%s: %s, the cpu engine", b->base.name, program->info->name);
    TD_CHECK(run_once(b, program, &contenders[0], "cpu", 0, &run));
    td_status status = td_bench_compare(b->base.name, b->first[0], run, "the cpu engine");
    td_run_destroy(run);
    return status;
}

static td_status run_program(bench *b, int p)
{
    td_status status = TD_OK;
    const td_program *program = td_program_named(programs[p]);
    for (int c = 0; c < CONTENDERS; c++) {
        b->seconds[c][p] = 0;
        if (!takes(b, program, &contenders[c])) continue;
        TD_TRY(run_contender(b, program, p, c));
        if (c == 0) TD_TRY(compare_with_cpu(b, program));
    }
done:
    for (uint64_t trial = 0; trial < b->base.settings->trials; trial++) {
        td_run_destroy(b->first[trial]);
        b->first[trial] = NULL;
    }
    return status;
}

/* The table. */

/* The minimum of bytes that an iteration of PageRank moves: every edge and offset once; for every vertex the message
 * and the value, read and written once, and its degree. */
static double rank_bytes(const bench *b)
{
    const td_graph *graph = b->graphs[AS_IT_IS];
    const td_cpu_kernels *k = rank_kernels();
    return (double)graph->edges * sizeof(uint32_t) +
           (double)graph->vertices *
               (double)(sizeof(uint64_t) + 2 * (k->value_bytes + k->message_bytes) + sizeof(uint64_t));
}

static double edges_per_second(const bench *b, int c, int p)
{
    return b->seconds[c][p] > 0 ? (double)b->graphs[AS_IT_IS]->edges / b->seconds[c][p] : 0;
}

static void print_cells(const bench *b, int c, const char *label, double (*value)(const bench *, int, int))
{
    printf("%-*s", FIRST_COLUMN, label);
    for (int p = 0; p < PROGRAMS; p++) {
        if (b->seconds[c][p] == 0) printf(" %10s", "-");
        else printf(" %10.3f", value(b, c, p));
    }
    printf("\n");
}

static double milliseconds(const bench *b, int c, int p) { return b->seconds[c][p] * 1e3; }
static double billions(const bench *b, int c, int p) { return edges_per_second(b, c, p) * 1e-9; }
static double ratio_of(const bench *b, int c, int p)
{
    return b->seconds[0][p] > 0 ? b->seconds[c][p] / b->seconds[0][p] : 0;
}

static void print_heading(const void *self)
{
    const bench *b = self;
    printf("%s, %s: device times%s, medians of %" PRIu64 " sources or runs;\n"
           "variants: time over the defaults', below 1 is faster. pagerank: per iteration.\n\n",
           b->device, b->model, b->modelled ? " (virtual)" : "", b->base.settings->trials);
}

/* Compares the rate of gathers, one random read per edge, with the measured rate of random reads. */
static void print_gathers(const bench *b, double rate)
{
    char size[TD_NUMBER_BYTES], share[16] = "-", ceiling[32] = "-";
    if (b->gather_rate > 0) {
        snprintf(share, sizeof share, "%.0f%%", 100 * rate / b->gather_rate);
        snprintf(ceiling, sizeof ceiling, "%.1f G/s", b->gather_rate * 1e-9);
    }
    printf("pagerank gathers %.2f G/s, %s of %s (random reads over %s)\n", rate * 1e-9, share, ceiling,
           td_format_size(size, message_bytes(b)));
}

static void print_table(const void *self)
{
    const bench *b = self;
    char text[TD_GRAPH_TEXT];
    int ranks = PROGRAMS - 1;
    double bytes = rank_bytes(b), least = b->read_rate > 0 ? bytes / b->read_rate : 0;
    td_print_path(b->base.name);
    printf(": %s\n", td_graph_text(text, b->graphs[AS_IT_IS]));
    printf("%-*s", FIRST_COLUMN, "");
    for (int p = 0; p < PROGRAMS; p++) printf(" %10s", programs[p]);
    printf("\n");
    print_cells(b, 0, "defaults, ms", milliseconds);
    print_cells(b, 0, "billions of edges a second", billions);
    for (int c = 1; c < CONTENDERS; c++) print_cells(b, c, contenders[c].name, ratio_of);
    printf("pagerank must move %.1f MB: %.3f ms at %.0f GB/s, %.0f%% of its time\n", bytes * 1e-6, least * 1e3,
           b->read_rate * 1e-9, 100 * least / b->seconds[0][ranks]);
    print_gathers(b, edges_per_second(b, 0, ranks));
    printf("\n");
}

static void put_figure(const void *self, int c, int p)
{
    const bench *b = self;
    td_json *json = b->base.json;
    if (b->seconds[c][p] == 0) return;
    td_bench_begin_figure(&b->base, programs[p], contenders[c].name, b->seconds[c][p], ratio_of(b, c, p));
    td_json_real(json, "edges_per_second", edges_per_second(b, c, p));
    if (strcmp(programs[p], "pagerank") == 0) {
        td_json_real(json, "bytes_per_iteration", rank_bytes(b));
        td_json_real(json, "bytes_over_read_rate_seconds",
                     b->read_rate > 0 ? rank_bytes(b) / b->read_rate : 0);
        if (b->gather_rate > 0) td_json_real(json, "gathers_per_second_measured", b->gather_rate);
        else td_json_null(json, "gathers_per_second_measured");
    }
    if (contenders[c].graph == HOT) td_json_real(json, "reorder_seconds", b->reorder_seconds);
    td_json_end_object(json);
}

static td_status measure(void *self)
{
    bench *b = self;
    TD_CHECK(make_graphs(b));
    TD_CHECK(with_gpu(b, measure_gathers)); /* before the graph is loaded, which may leave no room */
    choose_sources(b);
    for (int p = 0; p < PROGRAMS; p++) TD_CHECK(run_program(b, p));
    return TD_OK;
}

static void drop(void *self)
{
    bench *b = self;
    for (int which = 0; which < COPIES; which++) {
        td_cache_release(&b->kept[which]);
        td_graph_destroy(b->graphs[which]);
        b->graphs[which] = NULL;
    }
}

static td_status begin(void *self)
{
    bench *b = self;
    b->devices = b->base.settings->devices != NULL ? b->base.settings->devices : "cuda:0";
    TD_CHECK(with_gpu(b, note_gpu));
    return measure_memory(b);
}

static const td_bench_page page = {.bytes = sizeof(bench), .graphs = usual_graphs, .begin = begin, .measure = measure,
                                   .drop = drop, .heading = print_heading, .table = print_table,
                                   .figure = put_figure, .variants = CONTENDERS, .programs = PROGRAMS};

static td_status run(const td_bench_settings *settings, td_report *report)
{
    return td_bench_run(&page, settings, report);
}

const td_bench td_bench_gpu = {"gpu", "the gain of each technique of the resident engine", true, run};
