/* Sweeps: every edge once, then every vertex. Components are sampled first (Afforest): after a few edges of every
 * vertex most of the graph is one component, whose edges are skipped. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "run/checkpoint_file.h"
#include "run/sweep.h"

#include <string.h>

enum { LABELS_DRAWN = 1024 };

static td_status vertex_steps(td_cpu_job *job, uint64_t *total)
{
    *total = 0;
    for (job->sweep.step = 0; job->sweep.step < job->kernels->steps; job->sweep.step++) {
        td_cpu_tally sum;
        TD_CHECK(td_cpu_step(job, job->kernels->between, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8,
                             job->graph->vertices, &sum));
        *total += sum.total;
    }
    return TD_OK;
}

/* The most frequent label: of all vertices, or among random ones where there are many. */
static uint32_t commonest_label(const td_cpu_job *job)
{
    uint32_t labels[LABELS_DRAWN];
    uint64_t vertices = job->graph->vertices, count = vertices < LABELS_DRAWN ? vertices : LABELS_DRAWN;
    for (uint64_t i = 0; i < count; i++)
        labels[i] = job->kernels->label(job, count == vertices ? (uint32_t)i : td_sweep_drawn(job->graph, i));
    return td_sweep_commonest(labels, count);
}

/* Writes a checkpoint if one is due. */
static td_status checkpoint(td_cpu_job *job)
{
    td_state *state = td_checkpoint_due(job->run, &job->context);
    return state != NULL ? td_cpu_save(job, state, NULL) : TD_OK;
}

static td_status sample(td_cpu_job *job)
{
    uint64_t began = td_clock_ns(), total;
    td_row row = {.direction = "sample", .active_vertices = job->graph->vertices};
    for (int i = 0; i < job->setup.samples; i++) {
        td_cpu_tally sum;
        job->sweep.step = i;
        TD_CHECK(td_cpu_step(job, job->kernels->sample, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8, job->graph->vertices,
                             &sum));
        row.edges += sum.edges;
        TD_CHECK(vertex_steps(job, &total));
    }
    job->sweep.left_out = commonest_label(job);
    job->sweep.skipping = true;
    row.active_edges = row.edges;
    TD_CHECK(td_cpu_end_iteration(job, &row, began));
    return checkpoint(job);
}

/* After a checkpoint: finds the largest component. The sampled edges are unknown, so sweeps visit all edges of the
 * others. */
static td_status exclude_largest(td_cpu_job *job)
{
    job->setup.samples = 0;
    job->sweep.left_out = commonest_label(job);
    job->sweep.skipping = true;
    return TD_OK;
}

static uint64_t edge_of(const void *context, uint32_t vertex)
{
    const td_cpu_job *job = context;
    return job->kernels->edge(job, vertex);
}

td_status td_cpu_collect_edges(td_cpu_job *job)
{
    TD_CHECK(td_sweep_collect(job->run, edge_of, job, job->pool));
    return td_cpu_step(job, job->kernels->reset, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8, job->graph->vertices, NULL);
}

td_status td_cpu_end_sweep(td_cpu_job *job, td_row *row, uint64_t began, bool last, bool *again)
{
    uint64_t total = 0;
    bool ends_round = td_state_ends_round(job->run, job->context.iteration + 1);
    if (ends_round) TD_CHECK(vertex_steps(job, &total)); /* within a round vertices have nothing to do */
    *again = job->kernels->again(job, total);
    if (ends_round && job->kernels->edge != NULL) TD_CHECK(td_cpu_collect_edges(job));
    TD_CHECK(td_cpu_end_iteration(job, row, began));
    job->run->converged = last && !*again;
    return checkpoint(job);
}

td_status td_cpu_sweep_lists(td_cpu_job *job, bool *again)
{
    uint64_t began = td_clock_ns();
    td_cpu_tally sum;
    job->high.count = 0;
    TD_CHECK(td_cpu_step(job, job->kernels->sweep, td_cpu_words(job), TD_WORDS_AT_A_TIME, job->graph->edges, &sum));
    TD_CHECK(td_cpu_high_degree_step(job, job->kernels->sweep_high_degree, &sum));
    td_row row = {.direction = "sweep", .active_vertices = job->graph->vertices, .active_edges = sum.edges,
                  .edges = sum.edges};
    return td_cpu_end_sweep(job, &row, began, true, again);
}

td_status td_cpu_sweep(td_cpu_job *job)
{
    td_cpu_tally sum;
    TD_CHECK(td_cpu_make_high_degree_list(job));
    TD_CHECK(td_cpu_declare_forest(job, &(td_cpu_memory){0}));
    TD_CHECK(td_cpu_init(job, &sum));
    if (job->kernels->samples && job->setup.samples > 0 && job->graph->vertices > 0)
        TD_CHECK(job->setup.resumed ? exclude_largest(job) : sample(job));
    bool again = true;
    if (td_cpu_choose_survivors(job, 0)) TD_CHECK(td_cpu_sweep_survivors(job, &again));
    while (again && !(job->setup.has_limit && job->context.iteration >= job->setup.limit))
        TD_CHECK(td_cpu_sweep_lists(job, &again));
    return TD_OK;
}
