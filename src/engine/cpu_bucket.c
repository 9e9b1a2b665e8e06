/* Priority scheduling: sets the buckets up, lets the kernel run on all workers
 * at once, and keeps the books between its rounds. */
#include "engine/buckets.h"
#include "engine/cpu.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>

/* Wide buckets on sparse graphs, where a bucket holds little and rounds are what
 * costs; narrow ones on dense graphs, where a visit too many is (docs/lab.md). */
static double choose_delta(const td_graph *graph)
{
    double heaviest = graph->weights == TD_WEIGHT_NONE ? 1 : graph->weight_max;
    double degree = fmax(1, graph->vertices == 0 ? 1 : (double)graph->edges / graph->vertices);
    double delta = heaviest * (5 / degree) * (5 / degree);
    return graph->weights == TD_WEIGHT_F32 ? fmax(delta, 1e-30) : fmax(floor(delta), 1);
}

static td_status close_round(td_cpu_job *job)
{
    if (job->round_began == 0) return TD_OK;
    uint64_t edges = td_cpu_sum(job).edges;
    job->round.edges = edges - job->round_edges;
    job->round.active_edges = job->round.edges;
    job->round_edges = edges;
    return td_cpu_end_iteration(job, &job->round, job->round_began);
}

void td_cpu_bucket_round(td_cpu_job *job, uint64_t entries)
{
    td_status status = close_round(job);
    if (status != TD_OK) {
        job->failed = (int)status;
        job->stop = true;
    }
    job->round = (td_iteration){.direction = "bucket", .active_vertices = entries};
    job->round_began = td_clock_ns();
}

static td_status run_all(void *context, int worker, int workers)
{
    (void)workers;
    td_cpu_job *job = context;
    job->kernels->bucket(job, worker);
    return TD_OK;
}

td_status td_cpu_bucket(td_cpu_job *job)
{
    td_cpu_tally sum;
    if (job->delta == 0) job->delta = choose_delta(job->graph);
    double farthest = job->graph->weight_max * job->graph->vertices;
    job->delta = 1 / fmax(job->delta, farthest * 0x1p-60); /* priorities fit 64 bits */
    td_barrier_init(&job->barrier, job->workers);
    TD_CHECK(TD_NEW_ZEROED(&job->buckets, (uint64_t)job->workers, "buckets"));
    TD_CHECK(TD_NEW_ZEROED(&job->entry_start, (uint64_t)job->workers + 1, "buckets"));
    for (int w = 0; w < job->workers; w++) job->buckets[w].lowest_beyond = UINT64_MAX;
    TD_CHECK(td_cpu_step(job, job->kernels->init, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8, job->graph->vertices, &sum));
    for (uint64_t w = 0; w < td_cpu_words(job); w++)
        for (uint64_t rest = job->active[w]; rest != 0; rest &= rest - 1) {
            uint64_t v = w * 64 + (uint64_t)__builtin_ctzll(rest);
            TD_CHECK(td_buckets_put(&job->buckets[0], 0, v << 32 | ((const uint32_t *)job->values)[v]));
        }
    for (int w = 0; w < job->workers; w++) job->tallies[w] = (td_cpu_tally){0};
    job->counting = job->workers;
    TD_CHECK(td_pool_run(job->pool, run_all, job));
    if (job->failed != TD_OK)
        return job->failed == TD_NO_MEMORY ? td_fail(TD_NO_MEMORY, "cannot allocate room for the buckets of distances")
                                           : (td_status)job->failed;
    TD_CHECK(close_round(job));
    job->run->converged = true;
    return TD_OK;
}
