/* Delta-stepping: sets up the buckets, runs the kernel on all workers, and does the accounting between its rounds. */
#include "kernels/cpu/buckets.h"
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>

/* Wide buckets on sparse graphs, where a bucket has little work and rounds dominate; narrow ones on dense graphs, where
 * superfluous relaxations dominate (docs/lab/cpu.md). */
double td_cpu_delta(const td_graph *graph)
{
    double heaviest = graph->weights == TD_WEIGHT_NONE ? 1 : graph->weight_max;
    double degree = fmax(1, graph->vertices == 0 ? 1 : (double)graph->edges / graph->vertices);
    double delta = heaviest * (5 / degree) * (5 / degree);
    return td_weight_real(graph->weights) ? fmax(delta, 1e-30) : fmax(floor(delta), 1);
}

static td_status no_room(const td_cpu_job *job)
{
    td_refusal refusal = td_memory_lack((uint64_t)job->graph->vertices * sizeof(uint64_t));
    return td_refuse(&refusal, "no memory left for the buckets of distances; raise {memory}");
}

static uint32_t tag_of(const td_cpu_job *job, uint32_t v)
{
    bool wide = job->kernels->value_bytes > sizeof(uint32_t);
    return wide ? td_bucket_tag(((const uint64_t *)job->values)[v], sizeof(uint64_t))
                : ((const uint32_t *)job->values)[v];
}

/* Marks the vertices of valid entries (value unchanged since) as active. */
static void mark_entries(const td_cpu_job *job, const td_bucket *bucket, uint64_t *active)
{
    for (uint64_t i = 0; i < bucket->count; i++) {
        uint32_t v = (uint32_t)(bucket->entries[i] >> 32);
        if (tag_of(job, v) == (uint32_t)bucket->entries[i]) td_bit_set(active, v);
    }
}

/* Writes a checkpoint if one is due, between two rounds, while all other workers wait. */
static td_status checkpoint(td_cpu_job *job)
{
    td_state *state = td_checkpoint_due(job->run, &job->context);
    if (state == NULL) return TD_OK;
    for (int w = 0; w < job->workers; w++) {
        const td_buckets *of = &job->priority.buckets[w];
        for (int i = 0; i < TD_BUCKET_WINDOW; i++) mark_entries(job, &of->window[i], state->active);
        mark_entries(job, &of->beyond, state->active);
        if (!job->run->converged) mark_entries(job, &of->current, state->active);
    }
    return td_cpu_save(job, state, state->active);
}

static td_status close_round(td_cpu_job *job)
{
    if (job->progress.round_began == 0) return TD_OK;
    uint64_t edges = td_cpu_sum(job).edges;
    job->progress.round.edges = edges - job->progress.round_edges;
    job->progress.round.active_edges = job->progress.round.edges;
    job->progress.round_edges = edges;
    td_row row = {.common = job->progress.round};
    TD_CHECK(td_cpu_end_iteration(job, &row, job->progress.round_began));
    return checkpoint(job);
}

void td_cpu_bucket_round(td_cpu_job *job, uint64_t entries)
{
    td_status status = close_round(job);
    if (status != TD_OK) {
        job->failed = (int)status;
        job->progress.stop = true;
    }
    job->progress.round = (td_iteration){.direction = "bucket", .active_vertices = entries};
    job->progress.round_began = td_clock_ns();
}

static td_status run_all(void *context, int worker, int workers)
{
    (void)workers;
    td_cpu_job *job = context;
    job->kernels->bucket(job, worker);
    return TD_OK;
}

/* Entries are allocated during the run. */
td_status td_cpu_declare_buckets(td_cpu_job *job, td_cpu_memory *memory)
{
    uint64_t workers = (uint64_t)job->workers;
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->priority.buckets, workers, sizeof *job->priority.buckets, "buckets"));
    return td_cpu_declare_zeroed(memory, &job->priority.entry_start, workers + 1, sizeof *job->priority.entry_start,
                                 "buckets");
}

td_status td_cpu_bucket(td_cpu_job *job)
{
    td_cpu_tally sum;
    if (job->graph->edges < job->setup.serial) job->workers = 1; /* no step has more edges */
    if (job->setup.delta == 0) job->setup.delta = td_cpu_delta(job->graph);
    double farthest = job->graph->weight_max * job->graph->vertices;
    job->setup.delta = 1 / fmax(job->setup.delta, farthest * 0x1p-60); /* bucket numbers must fit in 64 bits */
    td_barrier_init(&job->barrier, job->workers);
    TD_CHECK(td_cpu_declare_buckets(job, &(td_cpu_memory){0}));
    for (int w = 0; w < job->workers; w++) job->priority.buckets[w].lowest_beyond = UINT64_MAX;
    TD_CHECK(td_cpu_init(job, &sum));
    TD_CHECK(td_cpu_step(job, job->kernels->fill_buckets, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8,
                         job->graph->vertices, NULL));
    if (job->failed != TD_OK) return no_room(job);
    for (int w = 0; w < job->workers; w++) job->tallies[w] = (td_cpu_tally){0};
    job->counting = job->workers;
    TD_CHECK(td_pool_run(job->workers > 1 ? job->pool : NULL, run_all, job));
    if (job->failed != TD_OK)
        return job->failed == TD_NO_MEMORY ? no_room(job) : (td_status)job->failed;
    job->run->converged = true;
    TD_CHECK(close_round(job));
    return job->setup.defer_sinks ? td_cpu_finish_sinks(job) : TD_OK;
}
