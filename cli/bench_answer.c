/* `tandem bench answer`: the time to the answer of every engine, and of the planner's choice.
 *
 * A cell is a graph, a program, a limit of memory and an engine; it is measured by child processes, `tandem run`, from
 * their start to their end, and its median is one line of the results, which are appended as they come. Engines that
 * refuse the run have a line too, so that a resumed measurement does not try again. The table compares auto with the
 * best engine of the same graph, program and limit. */
#include "bench.h"
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json_read.h"
#include "base/log.h"
#include "base/median.h"
#include "base/size.h"
#include "device/device.h"
#include "store/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 1024, NAME = 64, MOST_CELLS = 4096, MOST_TRIALS = 99, MOST_ARGUMENTS = 24, MOST_REPORT = 64 << 20 };

extern char **environ;

static const char *const default_graphs[] = {"k16", "u16", "grid256", "web15", NULL};
static const char *const default_programs = "bfs,sssp,wcc,pagerank,mst,kcore";

/* Limits of memory, and the engines that are compared under each. */
static const struct limit {
    const char *name, *gpu_edges;
    bool gpu;
    const char *engines[5];
} limits[] = {
    {"none", NULL, false, {"auto", "cpu", "hybrid"}},
    {"all", NULL, true, {"auto", "cpu", "resident"}},
    {"gpu25", "25%", true, {"auto", "cpu", "stream", "coop"}},
};
enum { LIMITS = sizeof limits / sizeof *limits };

typedef struct cell {
    char graph[NAME], program[NAME], limit[NAME], engine[NAME];
    char ran[NAME];            /* the engine that ran; "-": refused */
    double seconds, predicted; /* 0: unknown */
} cell;

typedef struct bench {
    const td_bench_settings *settings;
    td_json *json;
    td_pool *pool;
    char folder[PATH], tool[PATH], report[PATH];
    const char *results; /* NULL: none are kept */
    bool own_folder, gpu;
    uint64_t shard, shards, next;
    cell *cells;
    int count;
    char path[PATH + NAME]; /* of the graph's file */
    uint32_t source;
} bench;

/* Results. */

static cell *find(const bench *b, const char *graph, const char *program, const char *limit, const char *engine)
{
    for (int i = 0; i < b->count; i++) {
        cell *c = &b->cells[i];
        if (strcmp(c->graph, graph) == 0 && strcmp(c->program, program) == 0 && strcmp(c->limit, limit) == 0 &&
            strcmp(c->engine, engine) == 0)
            return c;
    }
    return NULL;
}

static td_status keep(bench *b, const cell *c)
{
    if (b->count == MOST_CELLS) return td_fail(TD_LIMIT, "bench answer: more than %d results", MOST_CELLS);
    b->cells[b->count++] = *c;
    return TD_OK;
}

static td_status append(const bench *b, const cell *c)
{
    if (b->results == NULL) return TD_OK;
    FILE *file = fopen(b->results, "ae");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "cannot append to %s", b->results);
    int written = fprintf(file, "%s\t%s\t%s\t%s\t%s\t%.6f\t%.6f\n", c->graph, c->program, c->limit, c->engine, c->ran,
                          c->seconds, c->predicted);
    if (fclose(file) != 0 || written < 0) return td_fail_errno(TD_IO, errno, "cannot append to %s", b->results);
    return TD_OK;
}

/* A line that was cut off when a measurement was killed is measured again. */
static td_status read_results(bench *b)
{
    char line[512], number[2][32];
    b->results = b->settings->resume;
    FILE *file = b->results != NULL ? fopen(b->results, "re") : NULL;
    td_status status = TD_OK;
    while (file != NULL && status == TD_OK && fgets(line, sizeof line, file) != NULL) {
        cell c = {.seconds = 0};
        int fields = sscanf(line, "%63s %63s %63s %63s %63s %31s %31s", c.graph, c.program, c.limit, c.engine, c.ran,
                            number[0], number[1]);
        bool whole = fields == 7 && strchr(line, '\n') != NULL && td_parse_double(number[0], &c.seconds) == TD_OK &&
                     td_parse_double(number[1], &c.predicted) == TD_OK && c.seconds >= 0 && c.predicted >= 0;
        if (whole && find(b, c.graph, c.program, c.limit, c.engine) == NULL) status = keep(b, &c);
    }
    if (file != NULL) fclose(file);
    return status;
}

/* Children. */

typedef struct arguments {
    const char *words[MOST_ARGUMENTS];
    int count;
} arguments;

static void add(arguments *to, const char *word) { to->words[to->count++] = word; }

static void add_option(arguments *to, const char *option, const char *value)
{
    if (value == NULL) return;
    add(to, option);
    add(to, value);
}

/* The environment with TANDEM_HISTORY=off, so that predictions are the model's and no run learns from another. */
static td_status make_environment(char ***out)
{
    uint64_t count = 0, kept = 0;
    while (environ[count] != NULL) count++;
    TD_CHECK(TD_NEW(out, count + 2, "environment"));
    for (uint64_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TANDEM_HISTORY=", 15) != 0) (*out)[kept++] = environ[i];
    (*out)[kept++] = (char *)(uintptr_t) "TANDEM_HISTORY=off";
    (*out)[kept] = NULL;
    return TD_OK;
}

/* Runs the tool, quietly; *code is its exit status. */
static td_status run_tool(const bench *b, arguments *line, double *seconds, int *code)
{
    char **environment = NULL;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int state = 0;
    add(line, NULL);
    TD_CHECK(make_environment(&environment));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    uint64_t began = td_clock_ns();
    int failed = posix_spawn(&child, b->tool, &actions, NULL, (char **)(uintptr_t)line->words, environment);
    while (failed == 0 && waitpid(child, &state, 0) < 0 && errno == EINTR) {}
    *seconds = td_seconds_since(began);
    posix_spawn_file_actions_destroy(&actions);
    td_free(environment);
    if (failed != 0) return td_fail_errno(TD_IO, failed, "cannot start %s", b->tool);
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    return td_cancel_check();
}

/* The named engine, or the planner's choice. */
static bool may_use_gpu(const char *name)
{
    const td_engine *engine = td_engine_named(name);
    return engine == NULL || (engine->uses_devices & TD_USES_GPU) != 0;
}

static arguments run_line(const bench *b, const cell *c, const struct limit *limit, char source[32], char threads[32])
{
    arguments line = {0};
    const char *gpu = b->settings->devices;
    add(&line, b->tool);
    add(&line, "run");
    add(&line, c->program);
    add(&line, b->path);
    add_option(&line, "--engine", c->engine);
    add_option(&line, "--json", b->report);
    add_option(&line, "--gpu-edges", may_use_gpu(c->engine) ? limit->gpu_edges : NULL);
    if (!limit->gpu) add_option(&line, "--devices", "cpu");
    else if (gpu != NULL && may_use_gpu(c->engine)) add_option(&line, "--devices", gpu);
    if (td_program_named(c->program)->info->needs_source) add_option(&line, "--source", source);
    if (strcmp(c->program, "pagerank") == 0) add_option(&line, "--iterations", "20");
    if (b->settings->common.threads > 0) add_option(&line, "--threads", threads);
    add(&line, "-q");
    snprintf(source, 32, "%u", b->source);
    snprintf(threads, 32, "%llu", (unsigned long long)b->settings->common.threads);
    return line;
}

static td_status read_text(const char *path, char **out, uint64_t *bytes)
{
    struct stat facts;
    FILE *file = fopen(path, "re");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "cannot read %s", path);
    td_status status = fstat(fileno(file), &facts) == 0 && facts.st_size < MOST_REPORT
                           ? TD_NEW(out, (uint64_t)facts.st_size + 1, "report")
                           : td_fail(TD_IO, "cannot read %s", path);
    if (status == TD_OK) {
        *bytes = fread(*out, 1, (size_t)facts.st_size, file);
        (*out)[*bytes] = '\0';
    }
    fclose(file);
    return status;
}

/* The engine that ran, and the prediction, from the run's report. */
static td_status read_report(const bench *b, cell *c)
{
    td_json_tree tree = {0};
    char *text = NULL;
    uint64_t bytes = 0;
    TD_CHECK(read_text(b->report, &text, &bytes));
    td_status status = td_json_read(&tree, text, bytes, b->report);
    if (status == TD_OK) {
        const td_json_value *engine = td_json_member(&tree, tree.values, "engine");
        const td_json_value *predicted = td_json_member(&tree, tree.values, "predicted");
        const td_json_value *seconds = predicted != NULL ? td_json_member(&tree, predicted, "seconds") : NULL;
        if (engine != NULL && engine->kind == TD_JSON_STRING) snprintf(c->ran, sizeof c->ran, "%s", engine->text);
        if (seconds != NULL && seconds->kind == TD_JSON_NUMBER) c->predicted = seconds->number;
    }
    td_json_tree_free(&tree);
    td_free(text);
    return status;
}

/* Cells. */

static td_status measure_cell(bench *b, const struct limit *limit, cell *c)
{
    char source[32], threads[32];
    double seconds[MOST_TRIALS];
    int trials = (int)b->settings->trials, code = 0;
    snprintf(c->ran, sizeof c->ran, "-");
    for (int trial = 0; trial < trials; trial++) {
        arguments line = run_line(b, c, limit, source, threads);
        td_progress_text("%s %s, %s, %s", c->graph, c->program, c->limit, c->engine);
        TD_CHECK(run_tool(b, &line, &seconds[trial], &code));
        if (code != 0) break; /* refused */
    }
    if (code == 0) {
        c->seconds = td_median(seconds, trials);
        TD_CHECK(read_report(b, c));
    }
    TD_CHECK(append(b, c));
    return keep(b, c);
}

static td_status measure_limit(bench *b, const char *graph, const char *program, const struct limit *limit)
{
    for (int e = 0; limit->engines[e] != NULL; e++) {
        cell c = {.seconds = 0};
        snprintf(c.graph, sizeof c.graph, "%s", graph);
        snprintf(c.program, sizeof c.program, "%s", program);
        snprintf(c.limit, sizeof c.limit, "%s", limit->name);
        snprintf(c.engine, sizeof c.engine, "%s", limit->engines[e]);
        if (find(b, graph, program, limit->name, c.engine) == NULL) TD_CHECK(measure_cell(b, limit, &c));
    }
    return TD_OK;
}

/* Calls `each` for every program and limit of a graph; shards count these. */
typedef td_status (*row_fn)(bench *b, const char *graph, const char *program, const struct limit *limit);
static td_status each_row(bench *b, const char *graph, row_fn each)
{
    const char *list = b->settings->programs != NULL ? b->settings->programs : default_programs;
    for (const char *at = list; *at != '\0'; at += strspn(at, ",")) {
        char program[NAME];
        size_t length = strcspn(at, ",");
        snprintf(program, sizeof program, "%.*s", (int)length, at);
        if (td_program_named(program) == NULL)
            return td_fail(TD_USAGE, "--programs %s: there is no program '%s'", list, program);
        at += length;
        for (int l = 0; l < LIMITS; l++)
            if (b->gpu || !limits[l].gpu) TD_CHECK(each(b, graph, program, &limits[l]));
    }
    return TD_OK;
}

static td_status measure_row(bench *b, const char *graph, const char *program, const struct limit *limit)
{
    return b->next++ % b->shards == b->shard ? measure_limit(b, graph, program, limit) : TD_OK;
}

/* The file of a graph: given, or made in the folder, where it is found again. Reading it fills the page cache. */
static td_status open_graph(bench *b, const char *name)
{
    td_graph *graph = NULL;
    char *made = b->path;
    snprintf(made, sizeof b->path, "%.*s/%.*s.tg", PATH - 1, b->folder, NAME - 8, name);
    size_t length = strlen(name);
    bool given = length > 3 && strcmp(name + length - 3, ".tg") == 0;
    if (given) snprintf(made, sizeof b->path, "%s", name);
    if (!given && access(made, R_OK) != 0) {
        TD_CHECK(td_bench_make_graph(&graph, name, b->pool));
        td_status status = td_packed_write(graph, made, b->pool);
        td_graph_destroy(graph);
        TD_CHECK(status);
    }
    TD_CHECK(td_packed_load(&graph, made, b->pool));
    uint64_t id = td_graph_id(graph, td_bench_busiest(graph));
    td_graph_destroy(graph);
    b->source = (uint32_t)id;
    return TD_OK;
}

/* The table. */

typedef struct sums {
    double log_ratio, worst, log_error;
    int rows, predicted, near; /* rows with auto and another engine; runs with a prediction; those within 1.3 times */
} sums;

static const cell *best_of(const bench *b, const char *graph, const char *program, const struct limit *limit)
{
    const cell *best = NULL;
    for (int e = 1; limit->engines[e] != NULL; e++) {
        const cell *c = find(b, graph, program, limit->name, limit->engines[e]);
        if (c != NULL && c->seconds > 0 && (best == NULL || c->seconds < best->seconds)) best = c;
    }
    return best;
}

static void report_row(const bench *b, const cell *chosen, const cell *best)
{
    if (b->json == NULL) return;
    td_json_row(b->json, NULL);
    td_json_string(b->json, "graph", chosen->graph);
    td_json_string(b->json, "program", chosen->program);
    td_json_string(b->json, "memory", chosen->limit);
    td_json_string(b->json, "auto", chosen->ran);
    td_json_real(b->json, "auto_seconds", chosen->seconds);
    td_json_string(b->json, "best", best->engine);
    td_json_real(b->json, "best_seconds", best->seconds);
    td_json_real(b->json, "ratio", chosen->seconds / best->seconds);
    td_json_real(b->json, "predicted", chosen->predicted);
    td_json_end_object(b->json);
}

static td_status print_row(bench *b, const char *graph, const char *program, const struct limit *limit)
{
    const cell *chosen = find(b, graph, program, limit->name, "auto"), *best = best_of(b, graph, program, limit);
    if (chosen == NULL || best == NULL || chosen->seconds <= 0) return TD_OK;
    report_row(b, chosen, best);
    if (!td_report_leaves_stdout(&b->settings->common)) return TD_OK;
    printf("%-9s %-9s %-6s %8.3f %-9s %8.3f %-9s %5.2fx %5.2fx\n", graph, program, limit->name, chosen->seconds,
           chosen->ran, best->seconds, best->engine, chosen->seconds / best->seconds,
           chosen->predicted > 0 ? chosen->predicted / chosen->seconds : 0);
    return TD_OK;
}

static td_status add_row(const bench *b, sums *to, const cell *chosen)
{
    for (int l = 0; l < LIMITS; l++) {
        if (strcmp(limits[l].name, chosen->limit) != 0) continue;
        const cell *best = best_of(b, chosen->graph, chosen->program, &limits[l]);
        if (best == NULL) continue;
        double ratio = chosen->seconds / best->seconds;
        to->rows++;
        to->log_ratio += log(ratio);
        if (ratio > to->worst) to->worst = ratio;
    }
    return TD_OK;
}

static td_status add_up(const bench *b, sums *to)
{
    for (int i = 0; i < b->count; i++) {
        const cell *c = &b->cells[i];
        if (c->seconds <= 0) continue;
        if (strcmp(c->engine, "auto") == 0) TD_CHECK(add_row(b, to, c));
        if (c->predicted <= 0) continue;
        double error = log(c->predicted / c->seconds);
        to->predicted++;
        to->log_error += error;
        to->near += fabs(error) <= log(1.3);
    }
    return TD_OK;
}

static td_status summarise(bench *b)
{
    sums total = {0};
    TD_CHECK(add_up(b, &total));
    double mean = total.rows > 0 ? exp(total.log_ratio / total.rows) : 0;
    double bias = total.predicted > 0 ? exp(total.log_error / total.predicted) : 0;
    if (td_report_leaves_stdout(&b->settings->common))
        printf("\nauto over the best: geometric mean %.3f, worst %.2f, of %d\n"
               "predicted over measured: geometric mean %.2f; within 1.3 times in %d of %d runs\n", mean, total.worst,
               total.rows, bias, total.near, total.predicted);
    if (b->json == NULL) return TD_OK;
    td_json_real(b->json, "geometric_mean", mean);
    td_json_real(b->json, "worst", total.worst);
    td_json_real(b->json, "predicted_over_measured", bias);
    td_json_u64(b->json, "predicted_within_1_3", (uint64_t)total.near);
    td_json_u64(b->json, "predicted", (uint64_t)total.predicted);
    return TD_OK;
}

/* The whole. */

static td_status parse_shard(bench *b)
{
    const char *text = b->settings->shard;
    unsigned long long shard = 1, shards = 1;
    int used = 0;
    if (text != NULL && (sscanf(text, "%llu/%llu%n", &shard, &shards, &used) != 2 || text[used] != '\0' || shard < 1 ||
                         shard > shards || shards > MOST_CELLS))
        return td_fail(TD_USAGE, "--shard %s: part I of N is written I/N, from 1/N to N/N", text);
    b->shard = shard - 1;
    b->shards = shards;
    return TD_OK;
}

static td_status set_up(bench *b)
{
    const td_bench_settings *s = b->settings;
    const char *base = getenv("TMPDIR");
    TD_CHECK(parse_shard(b));
    ssize_t length = readlink("/proc/self/exe", b->tool, sizeof b->tool - 1);
    if (length <= 0) return td_fail_errno(TD_IO, errno, "cannot find the tool's own file");
    b->tool[length] = '\0';
    b->own_folder = s->folder == NULL;
    if (s->folder != NULL) snprintf(b->folder, sizeof b->folder, "%s", s->folder);
    else
        snprintf(b->folder, sizeof b->folder, "%s/tandem-answer-XXXXXX",
                 base != NULL && base[0] != '\0' ? base : "/tmp");
    if (b->own_folder && mkdtemp(b->folder) == NULL) {
        b->own_folder = false;
        return td_fail_errno(TD_IO, errno, "cannot make %s (TMPDIR)", b->folder);
    }
    snprintf(b->report, sizeof b->report, "%.900s/answer-%ld.json", b->folder, (long)getpid());
    bool named = s->devices != NULL && strcmp(s->devices, "cpu") != 0;
    if (named) TD_CHECK(td_devices_check(s->devices));
    b->gpu = named || (s->devices == NULL && td_device_kind_present(TD_DEVICE_CUDA, NULL));
    TD_CHECK(TD_NEW(&b->cells, MOST_CELLS, "results"));
    return read_results(b);
}

static td_status each_graph(bench *b, bool measures)
{
    const td_bench_settings *s = b->settings;
    b->next = 0;
    for (int g = 0; s->graph_count > 0 ? g < s->graph_count : default_graphs[g] != NULL; g++) {
        const char *name = s->graph_count > 0 ? s->graphs[g] : default_graphs[g], *slash = strrchr(name, '/');
        td_status status = measures ? open_graph(b, name) : TD_OK;
        if (status == TD_OK) status = each_row(b, slash != NULL ? slash + 1 : name, measures ? measure_row : print_row);
        if (measures && b->own_folder && strcmp(b->path, name) != 0) (void)unlink(b->path);
        TD_CHECK(status);
    }
    return TD_OK;
}

static td_status measure_all(bench *b)
{
    TD_CHECK(set_up(b));
    TD_CHECK(td_pool_create(&b->pool, (int)b->settings->common.threads));
    TD_CHECK(each_graph(b, true));
    td_progress_end();
    if (td_report_leaves_stdout(&b->settings->common))
        printf("%-9s %-9s %-6s %8s %-9s %8s %-9s %6s %6s\n", "graph", "program", "memory", "auto, s", "", "best, s", "",
               "ratio", "pred.");
    if (b->json != NULL) td_json_array(b->json, "figures");
    TD_CHECK(each_graph(b, false));
    if (b->json != NULL) td_json_end_array(b->json);
    return summarise(b);
}

static td_status run_answer(const td_bench_settings *settings, td_report *report)
{
    bench b = {.settings = settings, .json = settings->common.json != NULL ? &report->json : NULL};
    td_status status = measure_all(&b);
    if (b.report[0] != '\0') (void)unlink(b.report);
    if (b.own_folder) (void)rmdir(b.folder);
    td_pool_destroy(b.pool);
    td_free(b.cells);
    return status;
}

const td_bench td_bench_answer = {"answer", "the time to the answer of every engine and of auto", true, run_answer};
