#include "engine/estimate.h"

#include "base/size.h"
#include "cpu/cpu.h"
#include "store/ranks.h"

#include <math.h>

static const double GPU_LAUNCHES = 3e-4; /* processing on a GPU takes no less: launches, a copy that is waited for */

const char *td_workload_name(td_workload work)
{
    static const char *const names[TD_WORKLOADS] = {
#define TD_WORKLOAD_NAME(code, name) name,
        TD_WORKLOAD_LIST(TD_WORKLOAD_NAME)
#undef TD_WORKLOAD_NAME
    };
    return names[work];
}

/* Those of any kind of weights: traits do not depend on it. */
static const td_cpu_kernels *kernels_of(const td_program *program)
{
    const td_cpu_kernels *k = &program->cpu[TD_WEIGHT_NONE];
    for (int kind = TD_WEIGHT_U8; k->init == NULL && kind <= TD_WEIGHT_F64; kind++) k = &program->cpu[kind];
    return k;
}

td_workload td_workload_of(const td_program *program)
{
    const td_cpu_kernels *k = kernels_of(program);
    if (program->info->kind != TD_KIND_GAS) return k->samples ? TD_WORKLOAD_COMPONENTS : TD_WORKLOAD_FOREST;
    if (k->schedule == TD_SCHEDULE_PEEL) return TD_WORKLOAD_PEEL;
    if (k->schedule == TD_SCHEDULE_PRIORITY) return TD_WORKLOAD_DISTANCE;
    if (k->first_hit) return TD_WORKLOAD_SEARCH;
    return k->fused ? TD_WORKLOAD_SPREAD : TD_WORKLOAD_GATHER;
}

double td_case_edges(const td_case *self)
{
    bool both = kernels_of(self->program)->view == TD_VIEW_BOTH && !self->graph->symmetric;
    return (double)self->graph->edges * (both ? 2 : 1);
}

/* Iterations until a tolerance is met, over those that a damping of 0.85 alone would take: values of a graph with both
 * directions of every edge settle sooner, on random ones soonest (docs/lab/answer.md). */
static const double SETTLES_DIRECTED = 0.7, SETTLES_SYMMETRIC = 0.22;

/* Without a limit, and without an earlier run (`rounds`), the tolerance decides; a program without one ends by itself
 * or after its default. */
double td_case_passes(const td_case *self)
{
    const td_program_info *info = self->program->info;
    const td_run_options *options = self->options;
    double tolerance = options->has_tolerance ? options->tolerance : info->tolerance, most = info->iterations;
    if (td_workload_of(self->program) != TD_WORKLOAD_GATHER) return 1;
    if (options->has_iterations) most = options->iterations;
    if (options->has_iterations && !options->has_tolerance) return most;
    if (self->rounds > 0) return self->rounds < most || most == 0 ? self->rounds : most;
    double settles = self->graph->symmetric ? SETTLES_SYMMETRIC : SETTLES_DIRECTED;
    double guess = tolerance > 0 && tolerance < 1 ? settles * log(tolerance) / log(0.85) : 10;
    return most > 0 && most < guess ? most : guess;
}

double td_case_processing(const td_case *self, const td_work_rate rates[TD_WORKLOADS])
{
    td_workload work = td_workload_of(self->program);
    const td_work_rate *rate = &rates[work];
    double passes = td_case_passes(self), rounds = work == TD_WORKLOAD_GATHER ? passes : self->rounds;
    double seconds = passes * (self->graph->vertices * rate->vertex + td_case_edges(self) * rate->edge);
    seconds += rounds * rate->round;
    return rates == self->rates->gpu && seconds < GPU_LAUNCHES ? GPU_LAUNCHES : seconds;
}

/* A mapping copies and checks what is about vertices. */
double td_case_load(const td_case *self, bool maps)
{
    double offsets = self->graph->vertices * sizeof(uint64_t) * (self->graph->symmetric ? 1.0 : 2.0);
    double all = (double)self->file_bytes;
    if (self->loaded == TD_LOADED_MEMORY || (self->loaded == TD_LOADED_MAPPED && maps)) return 0;
    if (self->text) return all / self->rates->parse;
    if (maps && offsets < all) all = offsets;
    return all / self->rates->load;
}

double td_case_finish(const td_case *self)
{
    const td_rates *rates = self->rates;
    double vertex = rates->finish;
    if (self->program->info->vertex_values) vertex += rates->groups;
    if (td_workload_of(self->program) == TD_WORKLOAD_FOREST) vertex += rates->forest;
    return self->graph->vertices * vertex;
}

double td_case_slower(const td_case *self)
{
    return self->rates->cpu[TD_WORKLOAD_GATHER].edge / td_rates_default.cpu[TD_WORKLOAD_GATHER].edge;
}

void td_case_gpu(const td_case *self, td_plan_estimate *out)
{
    if (!self->gpu_open && out->load < self->rates->context) out->open = self->rates->context - out->load;
    out->prepare += self->rates->kernels;
    out->finish += self->rates->close;
}

td_status td_case_check_host(const td_case *self, const td_plan_estimate *estimate)
{
    char needs[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    uint64_t graph = self->loaded == TD_LOADED_MEMORY ? 0 : estimate->host_graph;
    uint64_t all = graph + estimate->host_program;
    if (all <= self->host_free) return TD_OK;
    return td_fail(TD_NO_MEMORY, "needs %s of memory, and %s are free", td_format_size(needs, all),
                   td_format_size(has, self->host_free));
}

td_status td_case_host(const td_case *self, td_plan_estimate *out)
{
    out->host_graph = self->graph_bytes;
    TD_CHECK(td_cpu_bytes(self->program, self->graph, self->options, &out->host_program));
    if (td_run_ranks(self->program, self->graph->weights))
        out->host_program += td_ranks_peak_bytes(self->graph, td_ranks_most(self->graph));
    out->host_program += td_run_input_bytes(self->program, self->graph, self->options);
    return TD_OK;
}

/* Nanoseconds. */
#define RATE(vertex, edge, round) {(vertex) * 1e-9, (edge) * 1e-9, (round) * 1e-9}

/* Machine B of the lab book (docs/lab/README.md): 16 cores and an H200. Wall clocks and phases are those of
 * docs/lab/answer.md, rates of processing those of docs/performance.md, in nanoseconds for 16 threads. */
const td_rates td_rates_default = {
    .threads = 16,
    .start = 0.015,
    .load = 13e9,
    .parse = 1.5e9,
    .settle = 0.54e-9,
    .finish = 1.1e-9,
    .groups = 1.5e-9,
    .forest = 17e-9,
    .cpu = {[TD_WORKLOAD_SEARCH] = RATE(0, 0.085, 18e3), [TD_WORKLOAD_DISTANCE] = RATE(0, 1.35, 18e3),
            [TD_WORKLOAD_COMPONENTS] = RATE(5.2, 0, 0), [TD_WORKLOAD_FOREST] = RATE(62, 0.45, 0),
            [TD_WORKLOAD_PEEL] = RATE(0, 1.6, 33e3), [TD_WORKLOAD_GATHER] = RATE(0, 0.26, 20e3),
            [TD_WORKLOAD_SPREAD] = RATE(0, 0.7, 18e3)},
    .context = 0.225,
    .kernels = 0.04,
    .close = 0.14,
    .upload = 30e9,
    .link = 55e9,
    .tables = {[TD_WORKLOAD_PEEL] = 2e-9, [TD_WORKLOAD_GATHER] = 1e-9},
    .gpu = {[TD_WORKLOAD_SEARCH] = RATE(0, 0.003, 3.3e3), [TD_WORKLOAD_DISTANCE] = RATE(0, 0.047, 5.5e3),
            [TD_WORKLOAD_COMPONENTS] = RATE(0.15, 0, 0), [TD_WORKLOAD_FOREST] = RATE(0, 0.117, 0),
            [TD_WORKLOAD_PEEL] = RATE(0, 0.04, 8e3), [TD_WORKLOAD_GATHER] = RATE(0, 0.0125, 20e3),
            [TD_WORKLOAD_SPREAD] = RATE(0, 0.045, 5e3)},
};
