/* `tandem bench paths`: the work of the paths engine, against its variants, against itself without each of its techniques
 * and against asynchronous vertices of another engine (DiGraph, Figures 6, 7, 11, 12).
 *
 * What counts is work: updates, edges loaded and bytes loaded until the same tolerance, from the same start; time is
 * printed beside it. Every result is compared with the first one's. */
#include "engine/engine.h"
#include "bench.h"

#include "base/log.h"
#include "gpu/set.h"
#include "graph_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const usual_graphs[] = {"web18", NULL};
static const char *const programs[] = {"pagerank", "adsorption", "sssp", "bfs", "kcore", "labels"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

enum { ANYWHERE, ON_CORES, ON_A_GPU, ON_SEVERAL }; /* where a contender runs */

typedef struct contender {
    const char *name, *engine, *setting;
    int where;
} contender;

/* The baseline is the variant without paths. */
static const contender contenders[] = {
    {"full", "paths", NULL, ANYWHERE},
    {"w: no priority", "paths", "paths.variant=w", ANYWHERE},
    {"t: no paths", "paths", "paths.variant=t", ANYWHERE},
    {"layers=off", "paths", "paths.layers=off", ANYWHERE},
    {"balance=off", "paths", "paths.balance=off", ANYWHERE},
    {"share=1", "paths", "paths.share=1", ANYWHERE},
    {"merge=off", "paths", "paths.merge=off", ANYWHERE},
    {"merge=free", "paths", "paths.merge=free", ANYWHERE},
    {"acyclic=on", "paths", "paths.acyclic=on", ANYWHERE},
    {"partition=off", "paths", "paths.partition=off", ANYWHERE},
    {"proxy=32", "paths", "paths.proxy=32", ON_A_GPU},
    {"steal=off", "paths", "paths.steal=off", ON_A_GPU},
    {"pack=off", "paths", "paths.pack=off", ON_A_GPU},
    {"loop=off", "paths", "paths.loop=off", ON_A_GPU},
    {"layers=on", "paths", "paths.layers=on", ON_A_GPU},
    {"walk=lanes", "paths", "paths.walk=lanes", ON_A_GPU},
    {"dense=0.2", "paths", "paths.dense=0.2", ON_A_GPU},
    {"near=off", "paths", "paths.near=off", ANYWHERE},
    {"streams=4", "paths", "paths.streams=4", ON_A_GPU},
    {"early=on", "paths", "paths.early=on", ON_A_GPU},
    {"affinity=off", "paths", "paths.affinity=off", ON_SEVERAL},
    {"sort=off", "paths", "paths.sort=off", ON_SEVERAL},
    {"rounds=1", "paths", "paths.rounds=1", ON_SEVERAL},
    {"rounds=16", "paths", "paths.rounds=16", ON_SEVERAL},
    {"exchange=copies", "paths", "paths.exchange=copies", ON_SEVERAL},
    {"cpu --async", "cpu", NULL, ON_CORES},
    {"resident --async", "resident", NULL, ON_A_GPU},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders, PLAIN = 2, MOST_TRIALS = 99 };

typedef struct measured {
    uint64_t updates, edges, bytes;
    uint64_t launches, link_bytes; /* on a GPU */
    uint64_t messages, message_bytes, message_runs, partitions_far; /* on several */
    double seconds, change;
} measured;

typedef struct bench {
    td_bench_base base;
    td_graph *graph;
    uint32_t source;
    bool on_gpu, several;    /* --devices names one, or more */
    bool noted[PROGRAMS];    /* what plans have to say has been printed */
    td_cache kept;           /* the GPU, and the decomposition of the last run */
    measured of[CONTENDERS][PROGRAMS];
} bench;

static uint64_t counted(const td_run *run, const char *name)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, name) == 0) return run->work[i].value;
    return 0;
}

/* Runs a plan, which says what it has to say once for a program. */
static td_status run_plan(bench *b, const td_program *program, int p, const td_run_options *how, td_run **out)
{
    td_plan *plan = NULL;
    TD_CHECK(td_plan_create(&plan, td_engine_named(how->engine), program, b->graph, how));
    plan->note_printed = plan->view_printed = b->noted[p];
    b->noted[p] |= plan->note[0] != 0;
    td_status status = td_plan_execute(plan, out);
    td_plan_destroy(plan);
    return status;
}

static td_status run_once(bench *b, int p, const contender *one, td_run **out)
{
    td_status status = TD_OK;
    const td_program *program = td_program_named(programs[p]);
    td_settings settings = {0};
    td_run_options how = {.pool = b->base.pool, .settings = &settings, .has_source = program->info->needs_source,
                          .mode = td_program_has_async(program) ? TD_MODE_ASYNC : TD_MODE_DEFAULT, .engine = one->engine, .source = b->source,
                          .devices = b->on_gpu ? b->base.settings->devices : NULL, .cache = b->on_gpu ? &b->kept : NULL};
    if (one->setting != NULL) TD_TRY(td_settings_add(&settings, one->setting));
    status = run_plan(b, program, p, &how, out);
done:
    td_settings_clear(&settings);
    return status;
}

static void note(measured *m, const td_run *run, double seconds)
{
    m->updates = run->updates;
    m->edges = run->work_count > 0 ? counted(run, "edges_loaded") : run->edges_processed;
    m->bytes = counted(run, "bytes_loaded");
    m->launches = run->launches;
    m->link_bytes = run->bytes_to_device + run->bytes_to_host;
    m->messages = counted(run, "messages");
    m->message_bytes = counted(run, "message_bytes");
    m->message_runs = counted(run, "message_runs");
    m->partitions_far = counted(run, "partitions_far");
    m->change = run->final_change;
    m->seconds = seconds;
}

/* The median; td_median sorts, so that it gets a copy. */
static double middle(const double *seconds, int count)
{
    double copy[MOST_TRIALS];
    memcpy(copy, seconds, (size_t)count * sizeof *copy);
    return td_median(copy, count);
}

/* Largest changes are within the tolerance: values of two runs differ by a few times as much at any vertex, and by any
 * multiple of it together. */
static td_status compare_scores(const bench *b, const td_run *first, const td_run *run, const char *name)
{
    const float *one = first->values, *other = run->values;
    const double apart = 1e-5;
    for (uint32_t v = 0; v < b->graph->vertices; v++)
        if (!(fabs((double)one[v] - (double)other[v]) <= apart))
            return td_fail(TD_VERIFY, "%s on %s: '%s' has %.9g at vertex %u, the defaults %.9g",
                           first->program->info->name, b->base.name, name, (double)other[v], v, (double)one[v]);
    return TD_OK;
}

static td_status compare(const bench *b, const td_run *first, const td_run *run, const char *name)
{
    bool scores = strcmp(first->program->info->name, "adsorption") == 0;
    return scores ? compare_scores(b, first, run, name) : td_bench_compare(b->base.name, first, run, name);
}

static td_status run_contender(bench *b, int c, int p, td_run **first)
{
    td_status status = TD_OK;
    double seconds[MOST_TRIALS];
    td_run *run = NULL;
    int trials = (int)b->base.settings->trials;
    for (int i = 0; i < trials; i++) {
        td_progress_text("%s: %s, %s", b->base.name, programs[p], contenders[c].name);
        TD_TRY(run_once(b, p, &contenders[c], &run));
        seconds[i] = b->on_gpu ? run->device_seconds : run->seconds; /* an emulated GPU has a clock of its own */
        note(&b->of[c][p], run, middle(seconds, i + 1));
        if (*first != NULL) TD_TRY(compare(b, *first, run, contenders[c].name));
        if (*first != NULL) td_run_destroy(run);
        else *first = run;
        run = NULL;
    }
done:
    td_run_destroy(run);
    return status;
}

static bool takes(const bench *b, int p)
{
    return td_program_named(programs[p])->info->weights != TD_WEIGHTS_NEEDED || b->graph->weights != TD_WEIGHT_NONE;
}

static bool competes(const bench *b, int c)
{
    int where = contenders[c].where;
    if (where == ON_SEVERAL) return b->several;
    return where == ANYWHERE || (where == ON_A_GPU) == b->on_gpu;
}

/* Opens the GPUs, which the runs find open then. */
static td_status count_gpus(bench *b)
{
    td_run_options how = {.pool = b->base.pool, .devices = b->base.settings->devices, .cache = &b->kept};
    td_gpu_set *gpus;
    b->several = false;
    if (!b->on_gpu) return TD_OK;
    TD_CHECK(td_gpu_set_open(&how, "paths", &gpus));
    b->several = gpus->count > 1;
    return TD_OK;
}

static td_status measure(void *self)
{
    bench *b = self;
    td_status status = TD_OK;
    td_progress_text("%s: making the graph", b->base.name);
    TD_CHECK(td_bench_make_graph(&b->graph, b->base.name, b->base.pool));
    b->source = td_bench_busiest(b->graph);
    b->on_gpu = td_gpu_is_named(b->base.settings->devices);
    TD_CHECK(count_gpus(b));
    for (int p = 0; p < PROGRAMS && status == TD_OK; p++) {
        td_run *first = NULL;
        for (int c = 0; c < CONTENDERS && takes(b, p) && status == TD_OK; c++)
            if (competes(b, c)) status = run_contender(b, c, p, &first);
        td_run_destroy(first);
    }
    return status;
}

static void drop(void *self)
{
    bench *b = self;
    td_cache_release(&b->kept);
    td_graph_destroy(b->graph);
    b->graph = NULL;
    memset(b->of, 0, sizeof b->of);
    memset(b->noted, 0, sizeof b->noted);
}

static void print_heading(const void *self)
{
    (void)self;
    printf("%-18s%10s/t    %9s/t    %7s/t    %6s/t\n", "", "updates", "edges", "MB", "s");
}

static void print_ratio(double value, double baseline)
{
    double ratio = baseline > 0 && value > 0 ? value / baseline : 0;
    if (ratio > 0) printf(" %5.*f", ratio < 99.5 ? 2 : 0, ratio);
    else printf("     -");
}

static void print_row(const measured *m, const measured *t, const char *name)
{
    printf("  %-16s%10" PRIu64, name, m->updates);
    print_ratio((double)m->updates, (double)t->updates);
    printf("%11" PRIu64, m->edges);
    print_ratio((double)m->edges, (double)t->edges);
    printf("%9.1f", (double)m->bytes * 1e-6);
    print_ratio((double)m->bytes, (double)t->bytes);
    printf("%8.3f", m->seconds);
    print_ratio(m->seconds, t->seconds);
    printf("\n");
}

static void print_table(const void *self)
{
    const bench *b = self;
    for (int p = 0; p < PROGRAMS; p++) {
        if (b->of[PLAIN][p].seconds == 0) continue;
        printf("%s, %s\n", b->base.name, programs[p]);
        for (int c = 0; c < CONTENDERS; c++)
            if (competes(b, c)) print_row(&b->of[c][p], &b->of[PLAIN][p], contenders[c].name);
    }
}

static void put_figure(const void *self, int c, int p)
{
    const bench *b = self;
    const measured *m = &b->of[c][p];
    td_json *json = b->base.json;
    if (m->seconds == 0) return;
    td_json_row(json, NULL);
    td_json_string(json, "graph", b->base.name);
    td_json_string(json, "program", programs[p]);
    td_json_string(json, "contender", contenders[c].name);
    td_json_u64(json, "updates", m->updates);
    td_json_u64(json, "edges_loaded", m->edges);
    td_json_u64(json, "bytes_loaded", m->bytes);
    if (b->on_gpu) td_json_u64(json, "launches", m->launches);
    if (b->on_gpu) td_json_u64(json, "link_bytes", m->link_bytes);
    if (b->several) td_json_u64(json, "messages", m->messages);
    if (b->several) td_json_u64(json, "message_bytes", m->message_bytes);
    if (b->several) td_json_u64(json, "message_runs", m->message_runs);
    if (b->several) td_json_u64(json, "partitions_far", m->partitions_far);
    td_json_real(json, "seconds", m->seconds);
    td_json_real(json, "final_change", m->change);
    td_json_end_object(json);
}

static const td_bench_page page = {.bytes = sizeof(bench), .graphs = usual_graphs, .measure = measure, .drop = drop,
                                   .heading = print_heading, .table = print_table, .figure = put_figure,
                                   .variants = CONTENDERS, .programs = PROGRAMS};

static td_status run(const td_bench_settings *settings, td_report *report)
{
    if (settings->trials > MOST_TRIALS)
        return td_fail(TD_USAGE, "--trials %" PRIu64 ": at most %d are allowed", settings->trials, MOST_TRIALS);
    return td_bench_run(&page, settings, report);
}

const td_bench td_bench_paths = {"paths", "the work of the paths engine, its variants and techniques", true, run};
