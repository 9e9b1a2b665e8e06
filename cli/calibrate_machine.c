/* The machine part of `tandem calibrate`: what loading, every kind of work and finishing take here, on a Kronecker
 * graph and, for the cost of a round, on a grid; on the CPU, and on a GPU if there is one. */
#include "calibrate.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "planner/rates.h"
#include "run/result.h"
#include "store/gen.h"
#include "store/packed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIALS = 3, GATHER_ITERATIONS = 5, PATH = 1024 };

/* The program that stands for a kind of work. */
static const char *const typical[TD_WORKLOADS] = {
    [TD_WORKLOAD_SEARCH] = "bfs", [TD_WORKLOAD_DISTANCE] = "sssp", [TD_WORKLOAD_COMPONENTS] = "wcc",
    [TD_WORKLOAD_FOREST] = "mst", [TD_WORKLOAD_PEEL] = "kcore", [TD_WORKLOAD_GATHER] = "pagerank",
    [TD_WORKLOAD_SPREAD] = "labels",
};

typedef struct machine {
    td_pool *pool;
    td_cache cache;
    const char *engine, *devices;
    td_graph *graph, *grid;
    td_rates rates;
} machine;

/* The shortest of several runs. */
typedef struct figures {
    double prepare, processing, finish, summary;
    uint32_t iterations;
} figures;

static uint32_t with_edges(const td_graph *graph)
{
    uint32_t vertex = 0;
    while (vertex + 1 < graph->vertices && td_degree(&graph->out, vertex) == 0) vertex++;
    return vertex;
}

static td_status run_once(machine *m, const td_program *program, const td_graph *graph, bool first, figures *out)
{
    td_run *run = NULL;
    td_run_summary summary;
    bool gather = td_workload_of(program) == TD_WORKLOAD_GATHER;
    td_settings none = {0};
    td_run_options how = {.pool = m->pool, .settings = &none, .has_source = program->info->needs_source,
                          .source = with_edges(graph), .has_iterations = gather, .iterations = GATHER_ITERATIONS,
                          .engine = m->engine, .devices = m->devices, .cache = &m->cache};
    TD_CHECK(td_cancel_check());
    TD_CHECK(td_run_program(&run, program, graph, &how));
    uint64_t began = td_clock_ns();
    td_status status = td_run_summarise(run, m->pool, &summary);
    double summarised = td_seconds_since(began);
    if (first || run->prepare_seconds > out->prepare) out->prepare = run->prepare_seconds; /* the first makes layouts */
    if (first || run->seconds < out->processing) out->processing = run->seconds;
    if (first || run->finish_seconds < out->finish) out->finish = run->finish_seconds;
    if (first || summarised < out->summary) out->summary = summarised;
    out->iterations = run->iterations;
    td_run_destroy(run);
    return status;
}

static td_status run_program(machine *m, const char *name, const td_graph *graph, figures *out)
{
    td_progress_text("%s on %s", name, m->engine);
    for (int trial = 0; trial < TRIALS; trial++)
        TD_CHECK(run_once(m, td_program_named(name), graph, trial == 0, out));
    return TD_OK;
}

/* A round is what a level of the grid takes beyond its edges. */
static td_status measure_round(machine *m, td_workload work, td_work_rate *rate)
{
    figures grid;
    TD_CHECK(run_program(m, typical[work], m->grid, &grid));
    double rest = grid.processing - rate->edge * (double)m->grid->edges;
    rate->round = rest > 0 && grid.iterations > 0 ? rest / grid.iterations : 0;
    return TD_OK;
}

static double at_least_zero(double value) { return value > 0 ? value : 0; }

/* Work that is counted by vertices and by edges, from a graph of many edges to a vertex and one of few. */
static td_status divide_work(machine *m, td_workload work, double seconds, td_work_rate *rate)
{
    figures grid;
    TD_CHECK(run_program(m, typical[work], m->grid, &grid));
    double n = m->graph->vertices, e = (double)m->graph->edges;
    double few_n = m->grid->vertices, few_e = (double)m->grid->edges;
    double edge = at_least_zero((seconds * few_n - grid.processing * n) / (e * few_n - few_e * n));
    rate->edge = edge < seconds / e ? edge : seconds / e;
    rate->vertex = (seconds - rate->edge * e) / n;
    return TD_OK;
}

/* The defaults say whether a kind of work is counted by vertices or by edges, and whether rounds matter. */
static td_status measure_work(machine *m, td_workload work, const td_work_rate *like, td_work_rate *rate, figures *out)
{
    bool gather = work == TD_WORKLOAD_GATHER;
    TD_CHECK(run_program(m, typical[work], m->graph, out));
    double seconds = out->processing / (gather && out->iterations > 0 ? out->iterations : 1);
    *rate = (td_work_rate){.vertex = like->vertex > 0 ? seconds / m->graph->vertices : 0,
                           .edge = like->edge > 0 ? seconds / (double)m->graph->edges : 0, .round = like->round};
    if (like->vertex > 0 && like->edge > 0) TD_CHECK(divide_work(m, work, seconds, rate));
    return like->round > 0 && !gather ? measure_round(m, work, rate) : TD_OK;
}

static td_status measure_cpu(machine *m)
{
    td_rates *rates = &m->rates;
    figures of[TD_WORKLOADS];
    double n = m->graph->vertices;
    m->engine = "cpu";
    for (int work = 0; work < TD_WORKLOADS; work++)
        TD_CHECK(measure_work(m, (td_workload)work, &td_rates_default.cpu[work], &rates->cpu[work], &of[work]));
    const figures *search = &of[TD_WORKLOAD_SEARCH], *groups = &of[TD_WORKLOAD_COMPONENTS],
                  *forest = &of[TD_WORKLOAD_FOREST];
    rates->settle = search->prepare / n;
    rates->finish = (search->finish + search->summary) / n;
    rates->groups = at_least_zero((groups->finish + groups->summary) / n - rates->finish);
    rates->forest = at_least_zero((forest->finish + forest->summary) / n - rates->finish - rates->groups);
    rates->threads = td_pool_threads(m->pool);
    rates->cpu_measured = true;
    return TD_OK;
}

/* The upload's rate is that of the lists that a search brings to the GPU, beyond a search of the grid's. */
static td_status measure_gpu(machine *m)
{
    td_rates *rates = &m->rates;
    figures of[TD_WORKLOADS], grid;
    m->engine = "resident";
    TD_CHECK(run_program(m, typical[TD_WORKLOAD_SEARCH], m->grid, &grid));
    rates->context = m->cache.open_seconds;
    for (int work = 0; work < TD_WORKLOADS; work++)
        TD_CHECK(measure_work(m, (td_workload)work, &td_rates_default.gpu[work], &rates->gpu[work], &of[work]));
    double bytes = (double)m->graph->edges * sizeof(uint32_t) - (double)m->grid->edges * sizeof(uint32_t);
    double seconds = of[TD_WORKLOAD_SEARCH].prepare - grid.prepare;
    if (bytes > 0 && seconds > 0) rates->upload = bytes / seconds;
    rates->kernels = grid.prepare;
    rates->gpu_measured = true;
    return TD_OK;
}

/* Loading a file that is in the page cache. */
static td_status measure_load(machine *m)
{
    char path[PATH];
    const char *folder = getenv("TMPDIR");
    double best = 0;
    snprintf(path, sizeof path, "%s/tandem-calibrate-%ld.tg", folder != NULL && folder[0] != '\0' ? folder : "/tmp",
             (long)getpid());
    td_progress_text("loading");
    td_status status = td_packed_write(m->graph, path, m->pool);
    for (int trial = 0; trial < TRIALS && status == TD_OK; trial++) {
        td_graph *loaded = NULL;
        uint64_t began = td_clock_ns();
        status = td_packed_load(&loaded, path, m->pool);
        double seconds = td_seconds_since(began);
        if (status == TD_OK && (trial == 0 || seconds < best)) best = seconds;
        td_graph_destroy(loaded);
    }
    (void)unlink(path);
    TD_CHECK(status);
    if (best <= 0) return TD_OK;
    m->rates.load = (double)td_graph_bytes(m->graph) / best;
    m->rates.parse = td_rates_default.parse * m->rates.load / td_rates_default.load;
    return TD_OK;
}

static td_status make_graphs(machine *m, int scale)
{
    char name[32];
    td_gen_spec spec;
    td_build_options build;
    td_progress_text("making graphs");
    snprintf(name, sizeof name, "k%d", scale);
    if (!td_gen_named(name, &spec, &build)) return td_fail(TD_INTERNAL, "there is no graph %s", name);
    TD_CHECK(td_graph_generate(&m->graph, &spec, &build, m->pool));
    snprintf(name, sizeof name, "grid%d", 1 << (scale / 2));
    if (!td_gen_named(name, &spec, &build)) return td_fail(TD_INTERNAL, "there is no graph %s", name);
    return td_graph_generate(&m->grid, &spec, &build, m->pool);
}

/* Results. */

static void print_rate(void *context, const char *name, double *rate)
{
    (void)context;
    if (*rate > 0) printf("%-24s %.4g\n", name, *rate);
}

static void put_rate(void *context, const char *name, double *rate) { td_json_real(context, name, *rate); }

static void show(machine *m, const char *output, td_json *json, bool prints)
{
    if (prints) {
        printf("seconds, for one vertex, edge or round; of load, parse, upload and link bytes a second\n");
        td_rates_each(&m->rates, print_rate, NULL);
        printf("%s\nwrote %s\n", m->rates.gpu_measured ? "" : "of a GPU: defaults, not measured", output);
    }
    if (json == NULL) return;
    td_json_string(json, "file", output);
    td_json_bool(json, "gpu_measured", m->rates.gpu_measured);
    td_json_object(json, "rates");
    td_rates_each(&m->rates, put_rate, json);
    td_json_end_object(json);
}

td_status td_calibrate_machine(td_pool *pool, int scale, const char *devices, const char *output, td_json *json,
                               bool prints)
{
    td_status status = TD_OK;
    machine m = {.pool = pool, .rates = td_rates_default};
    TD_TRY(make_graphs(&m, scale));
    TD_TRY(measure_load(&m));
    TD_TRY(measure_cpu(&m));
    m.devices = devices;
    if (devices != NULL) TD_TRY(measure_gpu(&m));
    td_progress_end();
    TD_TRY(td_rates_write(&m.rates, output));
    show(&m, output, json, prints);
done:
    td_progress_end();
    td_cache_release(&m.cache);
    td_graph_destroy(m.graph);
    td_graph_destroy(m.grid);
    return status;
}
