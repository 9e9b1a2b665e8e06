/* `tandem bench cpu`: the gain of each technique of the cpu engine.
 *
 * A contender is the engine with one thing changed: a setting, huge pages, or the order
 * of the vertices. The contenders of a program run alternately, so that all run under the
 * same conditions, each twice in a row, so that none finds the cache as another one left
 * it. All must have the same result. */
#include "engine/engine.h"
#include "bench.h"
#include "text.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "cpu/cpu.h"
#include "graph_text.h"
#include "layout/reorder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TRIALS = 99, FIRST_COLUMN = 22 };

static const char *const usual_graphs[] = {"k18", "u18", "grid500", "stars", NULL};
static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "labels"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

typedef enum copy { AS_IT_IS, SMALL_PAGES, HOT, INDEGREE, COPIES } copy;

typedef struct contender {
    const char *name, *setting; /* "cpu.key=value", or NULL */
    copy graph;
} contender;

/* All others are compared with the first. */
static const contender contenders[] = {
    {"defaults", NULL, AS_IT_IS},
    {"direction=pull", "cpu.direction=pull", AS_IT_IS},
    {"direction=notify", "cpu.direction=notify", AS_IT_IS},
    {"direction=push", "cpu.direction=push", AS_IT_IS},
    {"stealing=none", "cpu.stealing=none", AS_IT_IS},
    {"stealing=donate", "cpu.stealing=donate", AS_IT_IS},
    {"stealing=vertex", "cpu.stealing=vertex", AS_IT_IS},
    {"stealing=edge", "cpu.stealing=edge", AS_IT_IS},
    {"huge_pages=off", "cpu.huge_pages=off", SMALL_PAGES},
    {"order hot", NULL, HOT},
    {"order indegree", NULL, INDEGREE},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

typedef struct bench {
    td_bench_base base;
    td_graph *graphs[COPIES];
    double reorder_seconds[COPIES];
    uint32_t source;
    double trials[CONTENDERS][MOST_TRIALS];
    double seconds[CONTENDERS][PROGRAMS]; /* medians; 0: not measured (takes) */
} bench;

/* Graphs. */

static td_status make_copy(bench *b, copy which)
{
    td_progress_text("%s: making the graph, %d of %d", b->base.name, which + 1, COPIES);
    td_huge_pages(which != SMALL_PAGES);
    td_status status = td_bench_make_graph(&b->graphs[which], b->base.name, b->base.pool);
    td_huge_pages(true);
    TD_CHECK(status);
    if (which != HOT && which != INDEGREE) return TD_OK;
    uint64_t start = td_clock_ns();
    TD_CHECK(td_graph_reorder(&b->graphs[which], which == HOT ? TD_ORDER_HOT : TD_ORDER_INDEGREE, 1, b->base.pool));
    b->reorder_seconds[which] = td_seconds_since(start);
    return TD_OK;
}

/* Runs. */

static td_status run_once(bench *b, const td_program *program, const contender *one, td_run **out)
{
    td_status status = TD_OK;
    td_settings settings = {0};
    td_graph *graph = b->graphs[one->graph];
    td_run_options options = {.pool = b->base.pool, .settings = &settings, .has_source = program->info->needs_source};
    if (one->setting != NULL) TD_TRY(td_settings_add(&settings, one->setting));
    if (options.has_source) TD_TRY(td_graph_find(graph, b->source, &options.source));
    td_huge_pages(one->graph != SMALL_PAGES);
    status = td_run_program(out, program, graph, &options);
done:
    td_huge_pages(true);
    td_settings_clear(&settings);
    return status;
}

static bool sets(const contender *one, const char *key)
{
    return one->setting != NULL && strncmp(one->setting, key, strlen(key)) == 0;
}

/* Whether a contender makes sense for a program: weights must be there if needed; the
 * priority schedule has no stealing; a sweep has no direction; some programs cannot push. */
static bool takes(const bench *b, const td_program *program, const contender *one)
{
    bool weighted = b->graphs[AS_IT_IS]->weights != TD_WEIGHT_NONE;
    if (program->info->weights == TD_WEIGHTS_NEEDED && !weighted) return false;
    if (sets(one, "cpu.stealing=")) return program->cpu[TD_WEIGHT_NONE].schedule != TD_SCHEDULE_PRIORITY;
    if (!sets(one, "cpu.direction=")) return true;
    if (program->info->kind != TD_KIND_GAS) return false;
    return strcmp(one->setting, "cpu.direction=push") != 0 || program->cpu[TD_WEIGHT_NONE].fused;
}

/* Rounds in the file of --resume: a line each, with the seconds of every contender, 0 where the program does not take
 * it. A line that was cut off when a measurement was killed does not count. */

static bool read_line(bench *b, char *numbers, uint64_t trial)
{
    char *save = NULL, *word = strtok_r(numbers, "\t\n", &save);
    for (int c = 0; c < CONTENDERS; c++, word = strtok_r(NULL, "\t\n", &save))
        if (word == NULL || td_parse_double(word, &b->trials[c][trial]) != TD_OK) return false;
    return word == NULL;
}

static bool read_round(bench *b, const char *program, uint64_t trial)
{
    char line[8192], key[8192];
    bool found = false;
    FILE *file = b->base.settings->resume != NULL ? fopen(b->base.settings->resume, "re") : NULL;
    int length = snprintf(key, sizeof key, "%s\t%s\t%" PRIu64 "\t", b->base.name, program, trial + 1);
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, key, (size_t)length) == 0 && strchr(line, '\n') != NULL && read_line(b, line + length, trial);
    if (file != NULL) fclose(file);
    return found;
}

static td_status append_round(const bench *b, const char *program, uint64_t trial)
{
    const char *path = b->base.settings->resume;
    if (path == NULL) return TD_OK;
    FILE *file = fopen(path, "a+e");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "cannot append to %s", path);
    bool cut = fseek(file, -1, SEEK_END) == 0 && fgetc(file) != '\n';
    fseek(file, 0, SEEK_END);
    bool written = fprintf(file, "%s%s\t%s\t%" PRIu64, cut ? "\n" : "", b->base.name, program, trial + 1) > 0;
    for (int c = 0; c < CONTENDERS; c++) written = written && fprintf(file, "\t%.9f", b->trials[c][trial]) > 0;
    written = written && fputc('\n', file) != EOF;
    if (fclose(file) != 0 || !written) return td_fail_errno(TD_IO, errno, "cannot append to %s", path);
    return TD_OK;
}

static td_status run_round(bench *b, const td_program *program, uint64_t trial)
{
    td_status status = TD_OK;
    td_run *first = NULL, *run = NULL;
    for (int c = 0; c < CONTENDERS; c++) {
        b->trials[c][trial] = 0;
        if (!takes(b, program, &contenders[c])) continue;
        td_progress_text("%s: %s, round %" PRIu64 ", %s", b->base.name, program->info->name, trial + 1,
                         contenders[c].name);
        TD_TRY(td_cancel_check());
        TD_TRY(run_once(b, program, &contenders[c], &run));
        td_run_destroy(run);
        run = NULL;
        TD_TRY(run_once(b, program, &contenders[c], c == 0 ? &first : &run));
        b->trials[c][trial] = c == 0 ? first->seconds : run->seconds;
        if (c > 0) TD_TRY(td_bench_compare(b->base.name, first, run, contenders[c].name));
        td_run_destroy(run);
        run = NULL;
    }
    status = append_round(b, program->info->name, trial);
done:
    td_run_destroy(run);
    td_run_destroy(first);
    return status;
}

static td_status run_program(bench *b, int p)
{
    const td_program *program = td_program_named(programs[p]);
    for (uint64_t trial = 0; trial < b->base.settings->trials; trial++)
        if (!read_round(b, programs[p], trial)) TD_CHECK(run_round(b, program, trial));
    for (int c = 0; c < CONTENDERS; c++)
        b->seconds[c][p] = takes(b, program, &contenders[c]) ? td_median(b->trials[c], (int)b->base.settings->trials)
                                                             : 0;
    return TD_OK;
}

/* The table. */

static double ratio_of(const bench *b, int c, int p)
{
    return b->seconds[0][p] > 0 ? b->seconds[c][p] / b->seconds[0][p] : 0;
}

/* Runs after which reordering pays off; 0: never. */
static double runs_to_pay(const bench *b, int c, int p)
{
    double saved = b->seconds[0][p] - b->seconds[c][p];
    return saved > 0 ? ceil(b->reorder_seconds[contenders[c].graph] / saved) : 0;
}

static void print_ratios(const bench *b, int c)
{
    printf("%-*s", FIRST_COLUMN, contenders[c].name);
    for (int p = 0; p < PROGRAMS; p++) {
        if (b->seconds[c][p] == 0) printf(" %10s", "-");
        else printf(" %10.2f", ratio_of(b, c, p));
    }
    printf("\n");
}

static void print_payoff(const bench *b, int c)
{
    char text[FIRST_COLUMN + 32];
    snprintf(text, sizeof text, "  %.3f s, paid after", b->reorder_seconds[contenders[c].graph]);
    printf("%-*s", FIRST_COLUMN, text);
    for (int p = 0; p < PROGRAMS; p++) {
        if (b->seconds[c][p] == 0) printf(" %10s", "-");
        else td_bench_print_payoff(runs_to_pay(b, c, p));
    }
    printf("\n");
}

static void print_heading(const void *self)
{
    const bench *b = self;
    printf("%d threads; times over those of the defaults, below 1 is faster; medians of %" PRIu64 "\n\n",
           td_pool_threads(b->base.pool), b->base.settings->trials);
}

static void print_table(const void *self)
{
    const bench *b = self;
    char text[TD_GRAPH_TEXT];
    td_print_path(b->base.name);
    printf(": %s\n", td_graph_text(text, b->graphs[AS_IT_IS]));
    printf("%-*s", FIRST_COLUMN, "");
    for (int p = 0; p < PROGRAMS; p++) printf(" %10s", programs[p]);
    printf("\n%-*s", FIRST_COLUMN, "defaults, ms");
    for (int p = 0; p < PROGRAMS; p++) {
        if (b->seconds[0][p] == 0) printf(" %10s", "-");
        else printf(" %10.3f", b->seconds[0][p] * 1e3);
    }
    printf("\n");
    for (int c = 1; c < CONTENDERS; c++) {
        print_ratios(b, c);
        if (b->reorder_seconds[contenders[c].graph] > 0) print_payoff(b, c);
    }
    printf("\n");
}

static void put_figure(const void *self, int c, int p)
{
    const bench *b = self;
    td_json *json = b->base.json;
    if (b->seconds[c][p] == 0) return;
    td_bench_begin_figure(&b->base, programs[p], contenders[c].name, b->seconds[c][p], ratio_of(b, c, p));
    if (b->reorder_seconds[contenders[c].graph] > 0) {
        td_json_real(json, "reorder_seconds", b->reorder_seconds[contenders[c].graph]);
        if (runs_to_pay(b, c, p) > 0) td_json_real(json, "paid_after_runs", runs_to_pay(b, c, p));
        else td_json_null(json, "paid_after_runs");
    }
    td_json_end_object(json);
}

static td_status measure(void *self)
{
    bench *b = self;
    for (int which = 0; which < COPIES; which++) TD_CHECK(make_copy(b, (copy)which));
    b->source = td_bench_busiest(b->graphs[AS_IT_IS]);
    for (int p = 0; p < PROGRAMS; p++) TD_CHECK(run_program(b, p));
    return TD_OK;
}

static void drop(void *self)
{
    bench *b = self;
    for (int which = 0; which < COPIES; which++) {
        td_graph_destroy(b->graphs[which]);
        b->graphs[which] = NULL;
    }
}

static const td_bench_page page = {.bytes = sizeof(bench), .graphs = usual_graphs, .measure = measure,
                                   .drop = drop, .heading = print_heading, .table = print_table,
                                   .figure = put_figure, .variants = CONTENDERS, .programs = PROGRAMS};

static td_status run(const td_bench_settings *settings, td_report *report)
{
    return td_bench_run(&page, settings, report);
}

const td_bench td_bench_cpu = {"cpu", "the gain of each technique of the cpu engine", true, run};
