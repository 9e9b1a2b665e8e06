/* `tandem bench convert`: the cost of reading and building a graph. The benchmark makes
 * its text file and packed files in a temporary folder and removes them. */
#include "bench.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "output.h"
#include "store/build_bytes.h"
#include "store/formats/format.h"
#include "store/gen.h"
#include "store/packed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEGREE = 16, SMALLER = 4, MOST_TRIALS = 99, PATH = 512 };

typedef struct bench {
    const td_bench_settings *settings;
    td_report *report;
    td_pool *pool;
    int threads;
    char folder[PATH - 32], text[PATH], small[PATH], large[PATH];
} bench;

static void show(bench *b, td_figure figure)
{
    td_progress_end();
    if (td_report_leaves_stdout(&b->settings->common)) td_figure_print(&figure);
    if (b->report->json.file != NULL) td_figure_json(&b->report->json, &figure);
}

static td_status make_folder(bench *b)
{
    const char *base = b->settings->folder != NULL ? b->settings->folder : getenv("TMPDIR");
    if (base == NULL) base = "/tmp";
    snprintf(b->folder, sizeof b->folder, "%s/tandem-bench-XXXXXX", base);
    if (mkdtemp(b->folder) == NULL) {
        int error = errno;
        b->folder[0] = '\0';
        return td_fail_errno(TD_IO, error, "cannot make a folder in %s (--folder DIR changes the place)", base);
    }
    snprintf(b->text, sizeof b->text, "%s/edges.txt", b->folder);
    snprintf(b->small, sizeof b->small, "%s/small.tg", b->folder);
    snprintf(b->large, sizeof b->large, "%s/large.tg", b->folder);
    return TD_OK;
}

static void remove_folder(const bench *b)
{
    if (b->folder[0] == '\0') return;
    unlink(b->text);
    unlink(b->small);
    unlink(b->large);
    rmdir(b->folder);
}

static td_gen_spec spec_of(uint64_t scale)
{
    return (td_gen_spec){.kind = "rmat", .seed = 1, .scale = scale, .degree = DEGREE, .rewire = -1};
}

static td_status make_files(bench *b)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    td_gen_spec spec = spec_of(b->settings->scale - SMALLER);
    TD_TRY(td_graph_generate(&graph, &spec, NULL, b->pool));
    TD_TRY(td_graph_write(graph, b->text, NULL, b->pool));
    TD_TRY(td_graph_write(graph, b->small, NULL, b->pool));
done:
    td_graph_destroy(graph);
    return status;
}

/* A checksum of a list's edges, to compare readers. */
static uint64_t sum_of(const td_edge_list *edges)
{
    uint64_t sum = 0;
    for (uint64_t c = 0; c < edges->chunk_count; c++) {
        const td_edge_chunk *chunk = edges->chunks[c];
        for (uint64_t i = 0; chunk != NULL && i < chunk->count; i++)
            sum += chunk->wide != NULL ? chunk->wide[2 * i] * 3 + chunk->wide[2 * i + 1]
                                       : chunk->ends[2 * i] * UINT64_C(3) + chunk->ends[2 * i + 1];
    }
    return sum;
}

static td_status time_read(const char *path, td_pool *pool, double *seconds, uint64_t *edge_count, uint64_t *sum)
{
    td_status status = TD_OK;
    td_edge_list *edges = NULL;
    const td_format *format = NULL;
    TD_TRY(td_edges_create(&edges, path));
    TD_TRY(td_format_detect(path, &format));
    if (format->read == NULL) TD_TRY(td_fail(TD_UNSUPPORTED, "%s is no list of edges", path));
    uint64_t start = td_clock_ns();
    TD_TRY(format->read(path, edges, pool));
    *seconds = td_seconds_since(start);
    *edge_count = td_edges_count(edges);
    *sum = sum_of(edges);
done:
    td_edges_destroy(edges);
    return status;
}

/* The baseline: a loop around scanf. */
static td_status time_scanf(const char *path, double *seconds, uint64_t *sum)
{
    uint64_t source, target, total = 0, edges = 0, start = td_clock_ns();
    FILE *file = fopen(path, "r");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "%s", path);
    int byte;
    while ((byte = getc(file)) == '#' || byte == '%')
        while ((byte = getc(file)) != '\n' && byte != EOF) {}
    ungetc(byte, file);
    while (fscanf(file, "%" SCNu64 " %" SCNu64, &source, &target) == 2) {
        total += source * 3 + target;
        if ((++edges & 0xfffff) == 0 && td_cancel_requested()) break;
    }
    fclose(file);
    *seconds = td_seconds_since(start);
    *sum = total;
    return td_cancel_check();
}

static td_status bench_parse(bench *b)
{
    double times[MOST_TRIALS], scanf_seconds = 0;
    uint64_t edges = 0, sum = 0, scanf_sum = 0, bytes = td_file_bytes(b->text);
    for (uint64_t i = 0; i < b->settings->trials; i++) {
        td_progress("parsing text, trial", i + 1, b->settings->trials);
        TD_CHECK(time_read(b->text, b->pool, &times[i], &edges, &sum));
    }
    td_progress_text("parsing text with scanf");
    TD_CHECK(time_scanf(b->text, &scanf_seconds, &scanf_sum));
    if (sum != scanf_sum) return td_fail(TD_VERIFY, "the reader and scanf found different edges in %s", b->text);
    double mb = (double)bytes * 1e-6, per_core = mb / td_median(times, (int)b->settings->trials) / b->threads;
    show(b, (td_figure){.name = "parse text, per core", .unit = "MB/s", .measured = per_core,
                        .target = ">= 150 MB/s", .reached = per_core >= 150});
    double scanf_rate = mb / scanf_seconds, ratio = per_core * b->threads / scanf_rate;
    show(b, (td_figure){.name = "parse text", .unit = "MB/s", .against = "scanf", .measured = per_core * b->threads,
                        .baseline = scanf_rate, .ratio = ratio, .target = ">= 5x", .reached = ratio >= 5});
    return TD_OK;
}

/* Measures the peak memory of a conversion from text to a packed file. */
static td_status bench_peak(bench *b)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    uint64_t before = td_memory().now;
    td_memory_reset_peak();
    TD_TRY(td_graph_read(&graph, b->text, NULL, NULL, b->pool));
    TD_TRY(td_graph_write(graph, b->large, NULL, b->pool));
    double peak = (double)(td_memory().peak - before) * 1e-6, edges = (double)graph->edges * 8e-6;
    show(b, (td_figure){.name = "convert: peak memory", .unit = "MB", .against = "edges", .measured = peak,
                        .baseline = edges, .ratio = peak / edges, .target = "<= 2.5x", .reached = peak / edges <= 2.5});
done:
    td_graph_destroy(graph);
    return status;
}

typedef struct copying {
    uint32_t *from, *to;
    uint64_t ends;
} copying;

static td_status touch_share(void *context, int worker, int workers)
{
    copying *c = context;
    uint64_t begin = td_share(c->ends, worker, workers), end = td_share(c->ends, worker + 1, workers);
    memset(c->from + begin, 1, (end - begin) * sizeof *c->from);
    return TD_OK;
}

static td_status copy_share(void *context, int worker, int workers)
{
    copying *c = context;
    uint64_t begin = td_share(c->ends, worker, workers), end = td_share(c->ends, worker + 1, workers);
    memcpy(c->to + begin, c->from + begin, (end - begin) * sizeof *c->from);
    return TD_OK;
}

/* Times a plain copy of as many edges by the same workers: into newly allocated
 * memory, like a build's, and once more into the same memory. */
static td_status time_copy(bench *b, uint64_t edges, double *fresh, double *again)
{
    td_status status = TD_OK;
    copying c = {.ends = 2 * edges};
    TD_TRY(TD_NEW(&c.from, c.ends, "edges to copy"));
    TD_TRY(TD_NEW(&c.to, c.ends, "edges to copy"));
    TD_TRY(td_pool_run(b->pool, touch_share, &c));
    uint64_t start = td_clock_ns();
    TD_TRY(td_pool_run(b->pool, copy_share, &c));
    *fresh = td_seconds_since(start);
    start = td_clock_ns();
    TD_TRY(td_pool_run(b->pool, copy_share, &c));
    *again = td_seconds_since(start);
done:
    td_free(c.from);
    td_free(c.to);
    return status;
}

/* Generates the edges and times the build of both directions; replaces *graph. */
static td_status time_build(bench *b, td_graph **graph, uint64_t *edge_count, double *seconds)
{
    td_status status = TD_OK;
    td_edge_list *edges = NULL;
    td_gen_spec spec = spec_of(b->settings->scale);
    td_graph_destroy(*graph);
    *graph = NULL;
    TD_TRY(td_edges_create(&edges, NULL));
    TD_TRY(td_generator_named("rmat")->fill(&spec, edges, b->pool));
    *edge_count = td_edges_count(edges);
    uint64_t start = td_clock_ns();
    TD_TRY(td_graph_build(graph, edges, NULL, b->pool));
    *seconds = td_seconds_since(start);
done:
    td_edges_destroy(edges);
    return status;
}

static void show_build(bench *b, double seconds, const char *against, double copy, const char *target)
{
    char name[64];
    double ratio = seconds / copy;
    snprintf(name, sizeof name, "build 2^%" PRIu64 " x %d", b->settings->scale, DEGREE);
    show(b, (td_figure){.name = name, .unit = "s", .against = against, .measured = seconds, .baseline = copy,
                        .ratio = ratio, .target = target, .reached = ratio <= 15});
}

/* Alternates builds and plain copies, so that both run under the same conditions. */
static td_status bench_build(bench *b)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    double builds[MOST_TRIALS], fresh[MOST_TRIALS], again[MOST_TRIALS];
    int trials = (int)b->settings->trials;
    uint64_t edges = 0;
    for (int i = 0; i < trials; i++) {
        TD_TRY(time_build(b, &graph, &edges, &builds[i]));
        TD_TRY(time_copy(b, edges, &fresh[i], &again[i]));
    }
    TD_TRY(td_graph_write(graph, b->large, NULL, b->pool));
    double seconds = td_median(builds, trials);
    show_build(b, seconds, "memcpy", td_median(again, trials), "<= 15x");
    show_build(b, seconds, "to new memory", td_median(fresh, trials), NULL);
done:
    td_graph_destroy(graph);
    return status;
}

static td_status time_open(bench *b, const char *path, double *seconds)
{
    double times[MOST_TRIALS];
    for (uint64_t i = 0; i < b->settings->trials; i++) {
        td_graph *graph = NULL;
        uint64_t start = td_clock_ns();
        TD_CHECK(td_packed_map(&graph, path));
        times[i] = td_seconds_since(start);
        td_graph_destroy(graph);
    }
    *seconds = td_median(times, (int)b->settings->trials);
    return TD_OK;
}

static td_status bench_open(bench *b)
{
    double small, large;
    TD_CHECK(time_open(b, b->small, &small));
    TD_CHECK(time_open(b, b->large, &large));
    show(b, (td_figure){.name = "open .tg", .unit = "ms", .against = "16x smaller", .measured = large * 1e3,
                        .baseline = small * 1e3, .ratio = large / small, .target = "milliseconds",
                        .reached = large < 0.01});
    return TD_OK;
}

static td_status bench_bv(bench *b)
{
    double times[MOST_TRIALS];
    uint64_t arcs = 0, sum;
    if (b->settings->bv == NULL) return TD_OK;
    for (uint64_t i = 0; i < b->settings->trials; i++) {
        td_progress("decoding BVGraph, trial", i + 1, b->settings->trials);
        TD_CHECK(time_read(b->settings->bv, b->pool, &times[i], &arcs, &sum));
    }
    double rate = (double)arcs * 1e-6 / td_median(times, (int)b->settings->trials) / b->threads;
    show(b, (td_figure){.name = "decode BVGraph, per core", .unit = "M arcs/s", .measured = rate,
                        .target = ">= 20 M/s", .reached = rate >= 20});
    return TD_OK;
}

static void print_heading(const bench *b)
{
    if (!td_report_leaves_stdout(&b->settings->common)) return;
    printf("%d threads; text of 2^%" PRIu64 " x %d edges, %.0f MB; medians of %" PRIu64 "\n\n", b->threads,
           b->settings->scale - SMALLER, DEGREE, (double)td_file_bytes(b->text) * 1e-6, b->settings->trials);
    printf("%-33s %13s %13s %8s  aim\n", "figure", "measured", "against", "ratio");
}

static td_status measure(bench *b)
{
    TD_CHECK(make_folder(b));
    TD_CHECK(make_files(b));
    print_heading(b);
    TD_CHECK(bench_parse(b));
    TD_CHECK(bench_peak(b));
    TD_CHECK(bench_build(b));
    TD_CHECK(bench_open(b));
    return bench_bv(b);
}

static td_status run(const td_bench_settings *settings, td_report *report)
{
    bench b = {.settings = settings, .report = report};
    TD_CHECK(td_pool_create(&b.pool, (int)settings->common.threads));
    b.threads = td_pool_threads(b.pool);
    bool json = report->json.file != NULL;
    if (json) {
        td_json_u64(&report->json, "scale", settings->scale);
        td_json_array(&report->json, "figures");
    }
    td_status status = measure(&b);
    if (json) td_json_end_array(&report->json);
    remove_folder(&b);
    td_pool_destroy(b.pool);
    return status;
}

const td_bench td_bench_convert = {"convert", "getting graphs in: parsing, building, opening", false, run};
