/* `tandem bench reorder`: the effect of each order of the vertices on each engine, and the
 * number of runs after which reordering pays off.
 *
 * Runs with an order and with the input's alternate, each twice in a row, so that neither finds
 * the cache as the other left it; both must have the same result. GPU engines are measured if a
 * GPU is named or present, in device time with the graph loaded. */
#include "engine/engine.h"
#include "bench.h"
#include "text.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "graph_text.h"
#include "layout/reorder.h"
#include "planner/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TRIALS = 99, MOST_ENGINES = 16, FIRST_COLUMN = 26, RANK_ITERATIONS = 10 };

static const char *const usual_graphs[] = {"k18", "u18", "grid500", NULL};
static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank"};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static const double COOP_EDGES = 0.25; /* share of the edges on the GPU, for coop */

typedef enum side { INPUT, ORDERED, SIDES } side;

typedef struct bench {
    td_bench_base base;
    const char *gpu; /* NULL: only engines on the cpu */
    td_graph *graphs[SIDES];
    td_cache kept[SIDES];
    uint32_t source;
    double reorder_seconds[TD_ORDERS], gap_bits[TD_ORDERS];
    double seconds[MOST_ENGINES][TD_ORDERS][PROGRAMS][SIDES]; /* medians; 0: not measured */
} bench;

/* Which engines. */

static int number_of(const td_engine *engine)
{
    int number = 0;
    while (td_engines[number] != engine) number++;
    return number;
}

static bool on_cpu(const td_engine *engine) { return engine == &td_cpu_engine; }
static bool is_coop(const td_engine *engine) { return engine == &td_coop_engine; }

/* For a graph in memory the other engines run like one of these, which have all edges on one side, or a part on each. */
static bool takes_part(const bench *b, const td_engine *engine)
{
    return on_cpu(engine) || (b->gpu != NULL && (engine == &td_resident_engine || is_coop(engine)));
}

static td_status choose_gpu(void *self)
{
    bench *b = self;
    const char *devices = b->base.settings->devices;
    if (devices != NULL) TD_CHECK(td_devices_check(devices));
    if (devices != NULL && strcmp(devices, "cpu") != 0) b->gpu = devices;
    if (devices == NULL && td_device_kind_present(TD_DEVICE_CUDA, NULL)) b->gpu = "cuda:0";
    return TD_OK;
}

/* Runs. */

static bool is_ranks(const td_program *program) { return strcmp(program->info->name, "pagerank") == 0; }

static td_status run_once(bench *b, const td_engine *engine, const td_program *program, side which, td_run **out)
{
    const td_graph *graph = b->graphs[which];
    td_settings settings = {0};
    td_run_options options = {.pool = b->base.pool, .settings = &settings, .has_source = program->info->needs_source,
                              .has_iterations = is_ranks(program), .iterations = RANK_ITERATIONS,
                              .engine = engine->name, .devices = on_cpu(engine) ? NULL : b->gpu,
                              .cache = on_cpu(engine) ? NULL : &b->kept[which]};
    TD_CHECK(td_cancel_check());
    if (options.has_source) TD_CHECK(td_graph_find(graph, b->source, &options.source));
    if (is_coop(engine)) {
        options.gpu_edges = COOP_EDGES;
        TD_CHECK(td_settings_add(&settings, "coop.order=none"));
        TD_CHECK(td_settings_add(&settings, "coop.invoke=always"));
    }
    td_status status = td_run_program(out, program, graph, &options);
    td_settings_clear(&settings);
    return status;
}

static td_status run_twice(bench *b, const td_engine *engine, const td_program *program, side which, td_run **out,
                           double *seconds)
{
    td_run *run = NULL;
    TD_CHECK(run_once(b, engine, program, which, &run));
    td_run_destroy(run);
    TD_CHECK(run_once(b, engine, program, which, out));
    *seconds = on_cpu(engine) ? (*out)->seconds : (*out)->device_seconds;
    return TD_OK;
}

/* Programs that coop leaves to the CPU were measured there. */
static bool runs_on(const td_engine *engine, const td_program *program)
{
    return !is_coop(engine) || engine->uses(program, "order");
}

static td_status run_program(bench *b, const td_engine *engine, td_order order, int p)
{
    td_status status = TD_OK;
    td_run *first = NULL, *run = NULL;
    const td_program *program = td_program_named(programs[p]);
    double trials[SIDES][MOST_TRIALS], *medians = b->seconds[number_of(engine)][order][p];
    uint64_t count = b->base.settings->trials;
    medians[INPUT] = medians[ORDERED] = 0;
    if (!runs_on(engine, program)) return TD_OK;
    if (program->info->weights == TD_WEIGHTS_NEEDED && b->graphs[INPUT]->weights == TD_WEIGHT_NONE) return TD_OK;
    for (uint64_t trial = 0; trial < count; trial++) {
        td_progress_text("%s: %s, %s, %s, round %" PRIu64, b->base.name, engine->name, td_order_name(order),
                         programs[p], trial + 1);
        TD_TRY(run_twice(b, engine, program, INPUT, &first, &trials[INPUT][trial]));
        TD_TRY(run_twice(b, engine, program, ORDERED, &run, &trials[ORDERED][trial]));
        TD_TRY(td_bench_compare(b->base.name, first, run, td_order_name(order)));
        td_run_destroy(first);
        td_run_destroy(run);
        first = run = NULL;
    }
    for (int which = 0; which < SIDES; which++) medians[which] = td_median(trials[which], (int)count);
done:
    td_run_destroy(first);
    td_run_destroy(run);
    return status;
}

static td_status run_engine(bench *b, const td_engine *engine, td_order order)
{
    td_status status = TD_OK;
    for (int p = 0; p < PROGRAMS && status == TD_OK; p++) status = run_program(b, engine, order, p);
    for (int which = 0; which < SIDES; which++) td_cache_release(&b->kept[which]);
    return status;
}

static td_status make_ordered(bench *b, td_order order)
{
    td_progress_text("%s: ordering the graph by %s", b->base.name, td_order_name(order));
    td_graph_destroy(b->graphs[ORDERED]);
    b->graphs[ORDERED] = NULL;
    TD_CHECK(td_bench_make_graph(&b->graphs[ORDERED], b->base.name, b->base.pool));
    uint64_t start = td_clock_ns();
    TD_CHECK(td_graph_reorder(&b->graphs[ORDERED], order, 1, b->base.pool));
    b->reorder_seconds[order] = td_seconds_since(start);
    b->gap_bits[order] = td_gap_bits(b->graphs[ORDERED]);
    return TD_OK;
}

/* The table. */

static double ratio_of(const double medians[SIDES])
{
    return medians[INPUT] > 0 ? medians[ORDERED] / medians[INPUT] : 0;
}

/* Runs after which reordering pays off; 0: never. */
static double runs_to_pay(const bench *b, td_order order, const double medians[SIDES])
{
    double saved = medians[INPUT] - medians[ORDERED];
    return saved > 0 ? ceil(b->reorder_seconds[order] / saved) : 0;
}

static void print_heading(const void *self)
{
    const bench *b = self;
    printf("%d threads%s%s; times over those of the input's order, below 1 is faster;\n"
           "medians of %" PRIu64 "; pagerank: %d iterations; coop: a quarter of the edges on the GPU\n\n",
           td_pool_threads(b->base.pool),
           b->gpu != NULL ? " and " : "", b->gpu != NULL ? b->gpu : "", b->base.settings->trials, RANK_ITERATIONS);
}

static void print_input(const bench *b, const td_engine *engine)
{
    char text[64];
    snprintf(text, sizeof text, "%s, ms", engine->name);
    printf("%-*s", FIRST_COLUMN, text);
    for (int p = 0; p < PROGRAMS; p++) {
        double seconds = b->seconds[number_of(engine)][TD_ORDER_HOT][p][INPUT];
        if (seconds == 0) printf(" %10s", "-");
        else printf(" %10.3f", seconds * 1e3);
    }
    printf("\n");
}

static void print_order(const bench *b, const td_engine *engine, td_order order)
{
    char text[64];
    snprintf(text, sizeof text, "  %s", td_order_name(order));
    printf("%-*s", FIRST_COLUMN, text);
    for (int p = 0; p < PROGRAMS; p++) {
        const double *medians = b->seconds[number_of(engine)][order][p];
        if (medians[INPUT] == 0) printf(" %10s", "-");
        else printf(" %10.2f", ratio_of(medians));
    }
    snprintf(text, sizeof text, "    %.3f s, paid after", b->reorder_seconds[order]);
    printf("\n%-*s", FIRST_COLUMN, text);
    for (int p = 0; p < PROGRAMS; p++) {
        const double *medians = b->seconds[number_of(engine)][order][p];
        if (medians[INPUT] == 0) printf(" %10s", "-");
        else td_bench_print_payoff(runs_to_pay(b, order, medians));
    }
    printf("\n");
}

/* How near the ends of edges are, which no engine decides. */
static void print_gaps(const bench *b)
{
    printf("bits of a gap, the mean of log2(1 + the difference of an edge's ends):\n ");
    for (int order = 0; order < TD_ORDERS; order++)
        printf("%s%s %.2f", order == 0 ? " " : order == 4 ? ",\n  " : ", ", td_order_name((td_order)order),
               b->gap_bits[order]);
    printf("\n");
}

static void print_table(const void *self)
{
    const bench *b = self;
    char text[TD_GRAPH_TEXT];
    td_print_path(b->base.name);
    printf(": %s\n%-*s", td_graph_text(text, b->graphs[INPUT]), FIRST_COLUMN, "");
    for (int p = 0; p < PROGRAMS; p++) printf(" %10s", programs[p]);
    printf("\n");
    for (int e = 0; td_engines[e] != NULL; e++) {
        if (!takes_part(b, td_engines[e])) continue;
        print_input(b, td_engines[e]);
        for (int order = TD_ORDER_NONE + 1; order < TD_ORDERS; order++) print_order(b, td_engines[e], (td_order)order);
    }
    print_gaps(b);
    printf("\n");
}

/* A variant is an engine and an order. */
static void put_figure(const void *self, int variant, int p)
{
    const bench *b = self;
    int engine = variant / TD_ORDERS;
    td_order order = (td_order)(variant % TD_ORDERS);
    const double *medians = b->seconds[engine][order][p];
    if (medians[INPUT] == 0) return;
    td_json_row(b->base.json, NULL);
    td_json_string(b->base.json, "graph", b->base.name);
    td_json_string(b->base.json, "engine", td_engines[engine]->name);
    td_json_string(b->base.json, "program", programs[p]);
    td_json_string(b->base.json, "order", td_order_name(order));
    td_json_real(b->base.json, "seconds", medians[ORDERED]);
    td_json_real(b->base.json, "input_order_seconds", medians[INPUT]);
    td_json_real(b->base.json, "ratio", ratio_of(medians));
    td_json_real(b->base.json, "reorder_seconds", b->reorder_seconds[order]);
    td_json_real(b->base.json, "gap_bits", b->gap_bits[order]);
    td_json_real(b->base.json, "input_order_gap_bits", b->gap_bits[TD_ORDER_NONE]);
    if (runs_to_pay(b, order, medians) > 0)
        td_json_real(b->base.json, "paid_after_runs", runs_to_pay(b, order, medians));
    else td_json_null(b->base.json, "paid_after_runs");
    td_json_end_object(b->base.json);
}

static td_status measure(void *self)
{
    bench *b = self;
    memset(b->seconds, 0, sizeof b->seconds);
    td_progress_text("%s: making the graph", b->base.name);
    TD_CHECK(td_bench_make_graph(&b->graphs[INPUT], b->base.name, b->base.pool));
    b->source = td_bench_busiest(b->graphs[INPUT]);
    b->gap_bits[TD_ORDER_NONE] = td_gap_bits(b->graphs[INPUT]);
    for (int order = TD_ORDER_NONE + 1; order < TD_ORDERS; order++) {
        TD_CHECK(make_ordered(b, (td_order)order));
        for (int e = 0; td_engines[e] != NULL; e++)
            if (takes_part(b, td_engines[e])) TD_CHECK(run_engine(b, td_engines[e], (td_order)order));
    }
    return TD_OK;
}

static void drop(void *self)
{
    bench *b = self;
    for (int which = 0; which < SIDES; which++) {
        td_graph_destroy(b->graphs[which]);
        b->graphs[which] = NULL;
    }
}

static const td_bench_page page = {.bytes = sizeof(bench), .graphs = usual_graphs, .begin = choose_gpu,
                                   .measure = measure, .drop = drop, .heading = print_heading, .table = print_table,
                                   .figure = put_figure, .variants = MOST_ENGINES * TD_ORDERS, .programs = PROGRAMS};

static td_status run(const td_bench_settings *settings, td_report *report)
{
    return td_bench_run(&page, settings, report);
}

const td_bench td_bench_reorder = {"reorder", "the effect of each order of the vertices on each engine", true, run};
