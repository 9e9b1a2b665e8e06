/* Runs that launch every kernel of every engine at least once, on graphs of a few hundred edges, for tools under which a
 * run is slow (compute-sanitizer): few runs, the ones that launch most kernels first. kernel_runs.def has the runs, and
 * kernels_launched.def the kernels that they launch; test_kernel_runs compares the two on the emulator, and every table
 * of programs (table.h) fails where it launches a kernel of an engine that is not in the list. */
#ifndef TD_TEST_KERNEL_RUNS_H
#define TD_TEST_KERNEL_RUNS_H

#include "engine/batches.h"
#include "engine/table.h"
#include "store/gen.h"

typedef struct kernel_run {
    const char *engine; /* as kernels_engine says */
    const char *program, *own; /* settings of the program: with them, the weights and the two numbers a row of the table */
    const char *graph;
    test_weights weights;
    td_mode mode;
    double iterations, tolerance, gpu_edges;
    const char *settings;
} kernel_run;

static const kernel_run kernel_runs[] = {
#define RUN(...) {__VA_ARGS__},
#include "engine/kernel_runs.def"
#undef RUN
};
enum { KERNEL_RUNS = sizeof kernel_runs / sizeof *kernel_runs };

/* Searches from several sources at once, by kernels of their own. */
typedef struct kernel_batch {
    const char *graph;
    int sources;
    const char *settings[4];
} kernel_batch;
static const kernel_batch kernel_batches[] = {
    {"star", 30, {"resident.batch=bits", "resident.direction=push", "resident.high_degree=32"}},
    {"star", 60, {"resident.batch=bits", "resident.direction=push", "resident.high_degree=32"}},
    {"lollipop", 30, {"resident.batch=bits"}}, /* pulls, and pushes again */
    {"lollipop", 60, {"resident.batch=bits"}},
};
enum { KERNEL_BATCHES = sizeof kernel_batches / sizeof *kernel_batches };

/* One open set of GPUs for all runs of an engine. */
typedef struct kernel_place {
    const char *devices;
    double seconds; /* no run begins later; 0: all are made */
    td_pool *pool;
    td_cache open;
    td_graph *graph; /* of the run before */
    const char *graph_name;
    test_weights weights;
    uint64_t began;
    int next, made, of;
} kernel_place;

static inline void kernel_place_open(kernel_place *place, const char *devices, double seconds)
{
    *place = (kernel_place){.devices = devices, .seconds = seconds, .began = td_clock_ns()};
    CHECK_OK(td_pool_create(&place->pool, 4));
    td_log_set_level(TD_LOG_WARN); /* it says how directed graphs are read */
}

static inline void kernel_place_close(kernel_place *place)
{
    td_cache_release(&place->open);
    td_graph_destroy(place->graph);
    td_pool_destroy(place->pool);
}

static inline bool kernel_time_left(const kernel_place *place)
{
    return place->seconds == 0 || td_seconds_since(place->began) < place->seconds;
}

/* A test graph, or one of `tandem gen NAME`, with weights if the kind has some. */
static inline td_graph *kernel_graph_of(const char *name, test_weights weights, td_pool *pool)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    if (!td_gen_named(name, &spec, &build)) return test_graph(test_graph_named(name), weights, pool);
    if (weights == TEST_UNWEIGHTED) build.attach_weights = false;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

static inline const td_graph *kernel_graph(kernel_place *place, const char *name, test_weights weights)
{
    if (place->graph != NULL && strcmp(place->graph_name, name) == 0 && place->weights == weights) return place->graph;
    td_graph_destroy(place->graph);
    place->graph = kernel_graph_of(name, weights, place->pool);
    place->graph_name = name;
    place->weights = weights;
    return place->graph;
}

static inline const row *row_of(const kernel_run *one)
{
    for (int r = 0; r < ROWS; r++)
        if (strcmp(rows[r].program, one->program) == 0 && strcmp(rows[r].settings, one->own) == 0 &&
            (rows[r].weights & KIND(one->weights)) && rows[r].engine == NULL && rows[r].iterations == one->iterations &&
            rows[r].tolerance == one->tolerance)
            return &rows[r];
    TEST_FAIL("no row of the table is %s %s with %s", one->program, one->own, test_weight_names[one->weights]);
}

/* The run, compared with the reference. */
static inline void make_kernel_run(kernel_place *place, const kernel_run *one)
{
    const row *of = row_of(one);
    const td_graph *graph = kernel_graph(place, one->graph, one->weights);
    subject about = {.row = of, .graph = graph, .graph_name = one->graph,
                     .weights_name = test_weight_names[one->weights]};
    td_run_options options = table_options(of, graph);
    char text[512];
    options.pool = place->pool;
    options.mode = one->mode;
    options.engine = strcmp(one->engine, "slices") == 0 ? "paths" : one->engine;
    options.devices = place->devices;
    options.gpu_edges = one->gpu_edges;
    options.cache = &place->open;
    td_cache_release_layouts(&place->open);
    snprintf(about.how, sizeof about.how, "%s, %s", place->devices, one->settings);
    snprintf(text, sizeof text, "%s %s", one->settings, one->own);
    td_run *run = run_of(one->program, graph, options, text);
    if (strcmp(run->engine, options.engine) != 0) SUBJECT_FAIL(&about, "it ran on the engine %s", run->engine);
    expected answer = of->expect(graph, run);
    check_result(&about, run, &answer);
    free_expected(&answer);
    td_run_destroy(run);
}

/* Levels of a batch, compared with those of single runs on the CPU. */
static inline void make_kernel_batch(kernel_place *place, const kernel_batch *one)
{
    td_session *session = session_of(0);
    td_batch_facts facts;
    batch_way way = {.program = "bfs", .engine = "resident", .devices = place->devices};
    for (int i = 0; i < 4; i++) way.settings[i] = one->settings[i];
    const td_graph *graph = kernel_graph(place, one->graph, TEST_UNWEIGHTED);
    check_batch(session, graph, &way, (uint64_t)one->sources, &facts, NULL);
    CHECK(facts.at_once > 1);
    td_session_destroy(session);
}

static inline void begin_kernel_runs(kernel_place *place, const char *engine)
{
    place->next = 0;
    for (int i = 0; i < KERNEL_RUNS; i++) place->of += strcmp(kernel_runs[i].engine, engine) == 0;
    if (strcmp(engine, "resident") == 0) place->of += KERNEL_BATCHES;
    if (place->of == 0) TEST_FAIL("%s has no runs", engine);
}

/* The engine's next run; false: all are made, or the time is over. */
static inline bool make_next_kernel_run(kernel_place *place, const char *engine)
{
    if (place->made == place->of || !kernel_time_left(place)) return false;
    while (place->next < KERNEL_RUNS && strcmp(kernel_runs[place->next].engine, engine) != 0) place->next++;
    if (place->next < KERNEL_RUNS) make_kernel_run(place, &kernel_runs[place->next]);
    else make_kernel_batch(place, &kernel_batches[place->next - KERNEL_RUNS]);
    place->next++;
    place->made++;
    return true;
}

#endif
