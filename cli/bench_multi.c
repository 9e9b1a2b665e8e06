/* `tandem bench multi`: several GPUs, against one of them and against the whole GPU that slices are cut from, and the gain
 * of each technique of the multi engine (GUM, Figures 6 to 11).
 *
 * A contender has other devices, another engine, or other settings than the first one, which has the defaults on all
 * devices. Times are those of the run, virtual ones on emulated devices. Every result is compared with the first's, and
 * that once with the cpu engine's. */
#include "engine/engine.h"
#include "bench.h"
#include "text.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/multi/cost_find.h"
#include "graph_text.h"
#include "layout/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TRIALS = 99, MOST_CONTENDERS = 40, DEVICES = 512, FIRST_COLUMN = 34, RANK_ITERATIONS = 10 };

/* Iterations above this are those in which the paper's GPUs are idle for less than 4%. */
enum { LARGE_EDGES = 2000000 };

static const char *const usual_graphs[] = {"k23", "web21", "grid3000", NULL};
static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* What a run's time goes to. */
enum { COMPUTING, WAITING, PACKING, DECIDING, PARTS };
static const char *const part_words[PARTS] = {"computing, % of the run", "communication and starvation, %", "packing, %",
                                              "deciding on the GPUs, %"};
static const char *const part_names[PARTS] = {"computing_share", "waiting_share", "packing_share", "deciding_share"};

typedef struct contender {
    char name[48];
    const char *engine;
    char devices[DEVICES];
    const char *settings[2]; /* "multi.key=value", or NULL */
} contender;

/* Of the runs of a contender and program. */
typedef struct measured {
    double seconds;    /* median; 0: not measured */
    double idle;       /* share of the GPUs' time in large iterations, or in all that were timed */
    bool has_idle;
    double deciding;   /* microseconds of an iteration that was decided */
    double deciding_share; /* of the run; real devices */
    double stolen;     /* share of the edges */
    double parts[PARTS]; /* emulated devices: shares of the run */
    double operations; /* of the host, a round */
} measured;

typedef struct bench {
    td_bench_base base;
    const char *devices;
    bool emulated;
    int gpus;
    contender contenders[MOST_CONTENDERS];
    int count;
    td_graph *graph;
    td_cache kept;
    uint32_t sources[MOST_TRIALS];
    td_run *first[MOST_TRIALS];
    measured of[MOST_CONTENDERS][PROGRAMS];
} bench;

/* Contenders. */

static contender *add(bench *b, const char *name, const char *engine, const char *devices)
{
    contender *one = &b->contenders[b->count++];
    *one = (contender){.engine = engine};
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->devices, sizeof one->devices, "%s", devices);
    return one;
}

static void add_settings(bench *b, const char *name, const char *one, const char *two)
{
    contender *c = add(b, name, "multi", b->devices);
    c->settings[0] = one;
    c->settings[1] = two;
}

/* The first `count` of the GPUs. */
static void name_some(const bench *b, const td_gpu_set *set, int count, char *out)
{
    const char *topology = strchr(b->devices, '@');
    size_t used = 0;
    if (b->emulated) {
        snprintf(out, DEVICES, "emu:%d%s", count, topology != NULL ? topology : "");
        return;
    }
    for (int i = 0; i < count && used < DEVICES; i++)
        used += (size_t)snprintf(out + used, DEVICES - used, "%s%s", i > 0 ? "," : "", set->gpu[i]->name);
}

static void add_devices(bench *b, const td_gpu_set *set)
{
    char name[48], devices[DEVICES];
    const char *slash = strchr(set->gpu[0]->name, '/');
    name_some(b, set, 1, devices);
    if (slash != NULL && !b->emulated) {
        char whole[DEVICES];
        snprintf(whole, sizeof whole, "%.*s", (int)(slash - set->gpu[0]->name), set->gpu[0]->name);
        add(b, "resident, the whole GPU", "resident", whole);
    }
    add(b, "resident, one of the GPUs", "resident", devices);
    for (int m = 1; m < b->gpus; m++) {
        snprintf(name, sizeof name, "%d GPU%s", m, m > 1 ? "s" : "");
        name_some(b, set, m, devices);
        add(b, name, "multi", devices);
    }
}

static void add_partition(bench *b, td_partition_kind kind)
{
    static const struct {
        const char *on, *off, *setting;
    } words[TD_PARTITIONS] = {[TD_PARTITION_RANDOM] = {"partition=random", "random, stealing=off", "multi.partition=random"},
                              [TD_PARTITION_METIS] = {"partition=metis", "metis, stealing=off", "multi.partition=metis"}};
    add_settings(b, words[kind].on, words[kind].setting, NULL);
    add_settings(b, words[kind].off, words[kind].setting, "multi.stealing=off");
}

/* What is missing on this machine is left out: a cost model of the devices, METIS. */
static td_status list_contenders(bench *b)
{
    td_gpu_set *set;
    td_run_options how = {.pool = b->base.pool, .devices = b->devices, .cache = &b->kept};
    char path[TD_DATA_PATH];
    td_partition_kind kind;
    int parts;
    TD_CHECK(td_gpu_set_open(&how, "multi", &set));
    b->gpus = set->count;
    b->emulated = set->gpu[0]->kind == TD_DEVICE_EMULATOR;
    if (b->gpus < 2)
        return td_fail(TD_USAGE, "--devices %s: bench multi compares several GPUs, and there is one; slices of a GPU "
                       "(cuda:0/8) or emulated ones (emu:4) will do", b->devices);
    add(b, "defaults", "multi", b->devices);
    add_devices(b, set);
    add_settings(b, "stealing=off", "multi.stealing=off", NULL);
    add_settings(b, "ownership=off", "multi.ownership=off", NULL);
    add_settings(b, "stealing=off, ownership=off", "multi.stealing=off", "multi.ownership=off");
    add_settings(b, "loop_edges=0", "multi.loop_edges=0", NULL);
    add_settings(b, "loop_edges=0, ownership=off", "multi.loop_edges=0", "multi.ownership=off");
    add_settings(b, "loop_edges=0, queue_edges=0", "multi.loop_edges=0", "multi.queue_edges=0");
    add_settings(b, "cost=uniform", "multi.cost=uniform", NULL);
    if (td_cost_file_find(path, set) == TD_OK) add_settings(b, "cost=model", "multi.cost=model", NULL);
    add_settings(b, "exchange=copies", "multi.exchange=copies", NULL);
    add_partition(b, TD_PARTITION_RANDOM);
    if (td_partition_parse("metis:2", &kind, &parts) == TD_OK) add_partition(b, TD_PARTITION_METIS);
    return TD_OK;
}

/* Runs. */

static void choose_sources(bench *b)
{
    b->sources[0] = td_bench_busiest(b->graph);
    for (uint64_t i = 1, drawn = 0; i < b->base.settings->trials; i++) {
        b->sources[i] = b->sources[0];
        for (int tries = 0; tries < 1000; tries++) {
            uint32_t v = (uint32_t)td_random_below(td_random_at(27, drawn++), b->graph->vertices);
            if (td_degree(&b->graph->out, v) == 0) continue;
            b->sources[i] = v;
            break;
        }
    }
}

static bool is_ranks(const td_program *program) { return strcmp(program->info->name, "pagerank") == 0; }

static td_status run_once(bench *b, const td_program *program, const contender *one, uint64_t trial, td_run **out)
{
    td_status status = TD_OK;
    td_settings settings = {0};
    const td_engine *engine = td_engine_named(one->engine);
    bool on_cpu = !engine->needs_gpu;
    td_run_options how = {.pool = b->base.pool, .settings = &settings, .has_source = program->info->needs_source,
                          .has_iterations = is_ranks(program), .iterations = RANK_ITERATIONS, .engine = one->engine,
                          .source = b->sources[trial], .devices = on_cpu ? NULL : one->devices,
                          .cache = on_cpu ? NULL : &b->kept};
    for (int i = 0; i < 2; i++)
        if (one->settings[i] != NULL) TD_TRY(td_settings_add(&settings, one->settings[i]));
    if (b->emulated && engine == &td_multi_engine) TD_TRY(td_settings_add(&settings, "multi.breakdown=on"));
    status = td_run_program(out, program, b->graph, &how);
done:
    td_settings_clear(&settings);
    return status;
}

static bool uses(const td_program *program, const contender *one)
{
    char key[32];
    for (int i = 0; i < 2 && one->settings[i] != NULL; i++) {
        const char *name = strchr(one->settings[i], '.') + 1;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(name, "="), name);
        if (!td_multi_engine.uses(program, key)) return false;
        if (strcmp(key, "partition") == 0 && !program->info->renumbers) return false;
    }
    return true;
}

static bool takes(const bench *b, const td_program *program, const contender *one)
{
    if (program->info->weights == TD_WEIGHTS_NEEDED && b->graph->weights == TD_WEIGHT_NONE) return false;
    return td_engine_named(one->engine) != &td_multi_engine || uses(program, one);
}

/* Idle time of the GPUs in large iterations; where there are none, in all whose GPUs were timed. */
static void find_idle(const td_run *run, measured *out)
{
    for (int large = 1; large >= 0 && !out->has_idle; large--) {
        double idle = 0, all = 0;
        for (uint32_t i = 0; i < run->row_count; i++) {
            const td_row *row = &run->full_rows[i];
            if (row->longest_seconds == 0 || (large && row->edges < LARGE_EDGES)) continue;
            idle += row->idle_share * row->longest_seconds;
            all += row->longest_seconds;
        }
        out->has_idle = all > 0;
        if (all > 0) out->idle = idle / all;
    }
}

/* Virtual times are the same with it; reports of a real device would take time. */
static void note_parts(const td_run *run, measured *out)
{
    double sum[PARTS] = {0}, all = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        const double parts[PARTS] = {row->computing_seconds, row->waiting_seconds, row->packing_seconds,
                                     row->deciding_seconds};
        for (int k = 0; k < PARTS; k++) {
            sum[k] += parts[k];
            all += parts[k];
        }
        out->operations += (double)row->operations / run->row_count;
    }
    for (int k = 0; k < PARTS && all > 0; k++) out->parts[k] = sum[k] / all;
}

static void note(const bench *b, const td_run *run, measured *out)
{
    double deciding = 0, stolen = 0;
    uint64_t decided = 0;
    find_idle(run, out);
    note_parts(run, out);
    for (uint32_t i = 0; i < run->row_count; i++) {
        deciding += run->full_rows[i].decide_seconds;
        decided += run->full_rows[i].decide_seconds > 0;
        stolen += (double)run->full_rows[i].edges_stolen;
    }
    out->deciding = decided > 0 ? deciding / (double)decided * 1e6 : 0;
    if (!b->emulated && run->seconds > 0) out->deciding_share = deciding / run->seconds;
    if (run->edges_processed > 0) out->stolen = stolen / (double)run->edges_processed;
}

static double seconds_of(const bench *b, const td_run *run)
{
    double seconds = b->emulated ? run->device_seconds : run->seconds;
    return is_ranks(run->program) && run->iterations > 0 ? seconds / run->iterations : seconds;
}

/* The first run warms up: it loads the graph. */
static td_status run_contender(bench *b, const td_program *program, int c, int p)
{
    td_status status = TD_OK;
    double trials[MOST_TRIALS];
    td_run *run = NULL;
    const contender *one = &b->contenders[c];
    for (uint64_t trial = 0; trial < b->base.settings->trials; trial++) {
        td_progress_text("%s: %s, %s, %" PRIu64 " of %" PRIu64, b->base.name, program->info->name, one->name, trial + 1,
                         b->base.settings->trials);
        for (int again = trial == 0 && !b->emulated ? 0 : 1; again < 2; again++) { /* virtual times need no warm-up */
            TD_TRY(td_cancel_check());
            td_run_destroy(run);
            run = NULL;
            TD_TRY(run_once(b, program, one, trial, &run));
        }
        trials[trial] = seconds_of(b, run);
        if (trial == 0) note(b, run, &b->of[c][p]);
        if (c > 0) {
            TD_TRY(td_bench_compare(b->base.name, b->first[trial], run, one->name));
        } else {
            b->first[trial] = run;
            run = NULL;
        }
    }
    b->of[c][p].seconds = td_median(trials, (int)b->base.settings->trials);
done:
    td_run_destroy(run);
    return status;
}

static td_status compare_with_cpu(bench *b, const td_program *program)
{
    td_run *run = NULL;
    contender cpu = {.name = "the cpu engine", .engine = "cpu"};
    td_progress_text("%s: %s, the cpu engine", b->base.name, program->info->name);
    TD_CHECK(run_once(b, program, &cpu, 0, &run));
    td_status status = td_bench_compare(b->base.name, b->first[0], run, cpu.name);
    td_run_destroy(run);
    return status;
}

static td_status run_program(bench *b, int p)
{
    td_status status = TD_OK;
    const td_program *program = td_program_named(programs[p]);
    for (int c = 0; c < b->count; c++) {
        b->of[c][p] = (measured){0};
        if (!takes(b, program, &b->contenders[c])) continue;
        TD_TRY(run_contender(b, program, c, p));
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

static double ratio_of(const bench *b, int c, int p)
{
    return b->of[0][p].seconds > 0 ? b->of[c][p].seconds / b->of[0][p].seconds : 0;
}

typedef double (*cell_fn)(const bench *b, int c, int p); /* below 0: there is none */

static double cell_ms(const bench *b, int c, int p) { return b->of[c][p].seconds > 0 ? b->of[c][p].seconds * 1e3 : -1; }
static double cell_ratio(const bench *b, int c, int p) { return b->of[c][p].seconds > 0 ? ratio_of(b, c, p) : -1; }
static double cell_idle(const bench *b, int c, int p) { return b->of[c][p].has_idle ? 100 * b->of[c][p].idle : -1; }
static double cell_stolen(const bench *b, int c, int p) { return b->of[c][p].seconds > 0 ? 100 * b->of[c][p].stolen : -1; }
static double cell_deciding(const bench *b, int c, int p) { return b->of[c][p].seconds > 0 ? b->of[c][p].deciding : -1; }
static double cell_share(const bench *b, int c, int p)
{
    return b->of[c][p].seconds > 0 ? 100 * b->of[c][p].deciding_share : -1;
}

static double cell_operations(const bench *b, int c, int p)
{
    return b->of[c][p].seconds > 0 ? b->of[c][p].operations : -1;
}

static double part_of(const bench *b, int c, int p, int part)
{
    return b->of[c][p].seconds > 0 ? 100 * b->of[c][p].parts[part] : -1;
}
static double cell_computing(const bench *b, int c, int p) { return part_of(b, c, p, COMPUTING); }
static double cell_waiting(const bench *b, int c, int p) { return part_of(b, c, p, WAITING); }
static double cell_packing(const bench *b, int c, int p) { return part_of(b, c, p, PACKING); }
static double cell_on_gpus(const bench *b, int c, int p) { return part_of(b, c, p, DECIDING); }

static void print_cells(const bench *b, int c, const char *label, cell_fn cell)
{
    printf("%-*s", FIRST_COLUMN, label);
    for (int p = 0; p < PROGRAMS; p++) {
        double value = cell(b, c, p);
        if (value < 0) printf(" %10s", "-");
        else printf(" %10.3f", value);
    }
    printf("\n");
}

static int named(const bench *b, const char *name)
{
    int c = 0;
    while (c < b->count && strcmp(b->contenders[c].name, name) != 0) c++;
    return c;
}

static void print_heading(const void *self)
{
    const bench *b = self;
    printf("%s: times of runs%s, medians of %" PRIu64 " sources or runs;\n"
           "others: time over the defaults', above 1 is slower. pagerank: per iteration.\n\n",
           b->devices, b->emulated ? " (virtual)" : "", b->base.settings->trials);
}

static void print_table(const void *self)
{
    const bench *b = self;
    char text[TD_GRAPH_TEXT];
    td_print_path(b->base.name);
    printf(": %s\n%-*s", td_graph_text(text, b->graph), FIRST_COLUMN, "");
    for (int p = 0; p < PROGRAMS; p++) printf(" %10s", programs[p]);
    printf("\n");
    print_cells(b, 0, "defaults, ms", cell_ms);
    for (int c = 1; c < b->count; c++) print_cells(b, c, b->contenders[c].name, cell_ratio);
    print_cells(b, 0, "edges stolen, %", cell_stolen);
    print_cells(b, 0, "GPUs idle, % (large iterations)", cell_idle);
    print_cells(b, named(b, "stealing=off"), "  with stealing=off", cell_idle);
    print_cells(b, 0, "deciding, us of the host", cell_deciding);
    print_cells(b, 0, "operations of the host, a round", cell_operations);
    print_cells(b, named(b, "loop_edges=0"), "  with loop_edges=0", cell_operations);
    print_cells(b, named(b, "loop_edges=0, queue_edges=0"), "  and queue_edges=0", cell_operations);
    if (!b->emulated) print_cells(b, 0, "deciding, % of the run", cell_share);
    static const cell_fn cells[PARTS] = {cell_computing, cell_waiting, cell_packing, cell_on_gpus};
    for (int k = 0; k < PARTS && b->emulated; k++) print_cells(b, 0, part_words[k], cells[k]);
    printf("\n");
}

static void put_figure(const void *self, int c, int p)
{
    const bench *b = self;
    td_json *json = b->base.json;
    if (c >= b->count || b->of[c][p].seconds == 0) return;
    const measured *m = &b->of[c][p];
    td_json_row(json, NULL);
    td_json_string(json, "graph", b->base.name);
    td_json_string(json, "program", programs[p]);
    td_json_string(json, "variant", b->contenders[c].name);
    td_json_string(json, "engine", b->contenders[c].engine);
    td_json_string(json, "devices", b->contenders[c].devices);
    td_json_real(json, "seconds", m->seconds);
    td_json_real(json, "ratio", ratio_of(b, c, p));
    td_json_real(json, "stolen_share", m->stolen);
    if (m->has_idle) td_json_real(json, "idle_share", m->idle);
    else td_json_null(json, "idle_share");
    td_json_real(json, "decide_us", m->deciding);
    td_json_real(json, "operations", m->operations);
    for (int k = 0; k < PARTS && b->emulated; k++) td_json_real(json, part_names[k], m->parts[k]);
    if (b->emulated) td_json_null(json, "decide_share");
    else td_json_real(json, "decide_share", m->deciding_share);
    td_json_end_object(json);
}

static td_status measure(void *self)
{
    bench *b = self;
    td_progress_text("%s: making the graph", b->base.name);
    TD_CHECK(td_bench_make_graph(&b->graph, b->base.name, b->base.pool));
    choose_sources(b);
    for (int p = 0; p < PROGRAMS; p++) TD_CHECK(run_program(b, p));
    return TD_OK;
}

static void drop(void *self)
{
    bench *b = self;
    td_cache_release(&b->kept);
    td_graph_destroy(b->graph);
    b->graph = NULL;
}

static td_status begin(void *self)
{
    bench *b = self;
    b->devices = b->base.settings->devices != NULL ? b->base.settings->devices : "cuda:0/8";
    if (b->base.settings->trials > MOST_TRIALS)
        return td_fail(TD_USAGE, "--trials %" PRIu64 ": at most %d are allowed", b->base.settings->trials, MOST_TRIALS);
    td_status status = list_contenders(b);
    if (status != TD_OK) td_cache_release(&b->kept);
    return status;
}

static const td_bench_page page = {.bytes = sizeof(bench), .graphs = usual_graphs, .begin = begin, .measure = measure,
                                   .drop = drop, .heading = print_heading, .table = print_table,
                                   .figure = put_figure, .variants = MOST_CONTENDERS, .programs = PROGRAMS};

static td_status run(const td_bench_settings *settings, td_report *report)
{
    return td_bench_run(&page, settings, report);
}

const td_bench td_bench_multi = {"multi", "several GPUs, and the gain of each technique of the multi engine", true, run};
