/* The resident engine: a graph that fits the GPU's memory (resident_plan.c) is loaded
 * once and every iteration runs there. This file sets a run up and takes it down; the
 * policies are in resident_rounds.c and resident_sweep.c. */
#include "engine/resident.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/parents.h"

#include <math.h>
#include <string.h>

enum {
    SET_DIRECTION, SET_BALANCE, SET_GATHER, SET_REPLICATION, SET_HEAVY, SET_TINY, SET_SMALL, SET_ROUNDS, SET_DELTA,
    SET_SAMPLES, SETTINGS,
};

const td_setting td_resident_settings[] = {
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|push",
                       "how an iteration goes over the edges; auto chooses for each"},
    [SET_BALANCE] = {"balance", TD_SETTING_CHOICE, TD_BALANCE_WARP, 0, 0, "thread|cta|iwb|warp",
                     "how a push shares out edges: a thread per vertex, by degree (cta), with medium vertices handed "
                     "on (iwb), evenly over the lanes of a warp"},
    [SET_GATHER] = {"gather", TD_SETTING_CHOICE, 0, 0, 0, "rows|shards",
                    "how a pull adds up: equal pieces of the lists, or Garaph's shards in shared memory"},
    [SET_REPLICATION] = {"replication", TD_SETTING_CHOICE, 0, 0, 0, "auto|1|2|4|8|16|32",
                         "copies of an accumulator (gather=shards); auto: from the shard's edges and vertices"},
    [SET_HEAVY] = {"heavy", TD_SETTING_WHOLE, TD_GPU_PIECE, 32, 1 << 26, NULL, /* 32 of them add up in 32 bits */
                   "degree from which a vertex is cut into pieces for all blocks"},
    [SET_TINY] = {"tiny", TD_SETTING_WHOLE, 0, 0, 4e9, NULL,
                  "edges of a frontier up to which one cluster of blocks does the rounds (balance=warp; GPUs that have "
                  "clusters)"},
    [SET_SMALL] = {"small", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                   "edges of a frontier up to which few blocks do the rounds, because fewer wait for each other "
                   "faster"},
    [SET_ROUNDS] = {"rounds", TD_SETTING_WHOLE, TD_GPU_ROUNDS, 1, TD_GPU_ROUNDS, NULL,
                    "most rounds of one launch; 1: the host is asked after every one"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL, "width of a step of distances; 0: from the weights"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex looked at before the largest component is left out; 0: leave nothing "
                     "out"},
    [SETTINGS] = {0},
};

enum { LEAN_DEGREE = 8 }; /* mean degree up to which loops do not count edges ahead */

/* Setting up. */

static td_status read_settings(td_gpu_job *job)
{
    double set[SETTINGS];
    static const uint32_t copies[] = {0, 1, 2, 4, 8, 16, 32};
    TD_CHECK(td_settings_resolve(job->options->settings, "resident", td_resident_settings, set, NULL));
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    job->direction = directions[(int)set[SET_DIRECTION]];
    job->args.balance = (uint32_t)set[SET_BALANCE];
    job->shards = set[SET_GATHER] == 1;
    job->copies = copies[(int)set[SET_REPLICATION]];
    job->args.heavy = (uint32_t)set[SET_HEAVY];
    job->tiny = (uint64_t)set[SET_TINY];
    job->small = (uint64_t)set[SET_SMALL];
    job->rounds = (uint32_t)set[SET_ROUNDS];
    job->delta = set[SET_DELTA];
    job->args.samples = (uint32_t)set[SET_SAMPLES];
    bool gas = job->run->program->info->kind == TD_KIND_GAS;
    if (job->direction == TD_DIRECTION_PUSH && gas && !job->traits->fused)
        return td_fail(TD_USAGE,
                       "resident.direction=push: %s needs the whole sum of a vertex at once; allowed are auto and pull",
                       job->run->program->info->name);
    job->prioritised = job->traits->schedule == TD_SCHEDULE_PRIORITY && job->direction == TD_DIRECTION_AUTO &&
                       !job->has_limit;
    if (job->delta > 0 && !job->prioritised)
        return td_fail(TD_USAGE,
                       "resident.delta is the width of a step of sssp's distances, which an iteration limit and "
                       "resident.direction replace by rounds");
    return TD_OK;
}

/* Which lists the schedule goes along. */
static void choose_lists(const td_gpu_job *job, bool *push, bool *pull)
{
    const td_cpu_kernels *k = job->traits;
    bool gas = job->run->program->info->kind == TD_KIND_GAS;
    *push = !gas || k->fused;
    *pull = gas && (!k->fused || (job->direction != TD_DIRECTION_PUSH && !job->prioritised) || job->options->parents);
}

static uint64_t piece_count(const td_gpu_job *job)
{
    uint64_t edges = td_gpu_view_edges(job);
    return edges / TD_GPU_WARP_PIECE + edges / job->args.heavy + 2;
}

static td_status make_frontier(td_gpu_job *job)
{
    uint64_t n = job->graph->vertices, words = (n + 31) / 32;
    td_gpu_args *a = &job->args;
    TD_CHECK(td_gpu_new(job, &a->pieces, piece_count(job), sizeof(uint64_t), "pieces of heavy vertices"));
    for (int i = 0; i < 2; i++) TD_CHECK(td_gpu_new(job, &a->queue[i], n, sizeof(uint32_t), "queue of vertices"));
    TD_CHECK(td_gpu_new(job, &a->next_active, words, sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_stream_fill(job->stream, a->next_active, 0, words * sizeof(uint32_t)));
    if (job->traits->first_hit) TD_CHECK(td_gpu_new(job, &a->late, n, sizeof(uint32_t), "late vertices"));
    if (job->traits->schedule == TD_SCHEDULE_PEEL) {
        TD_CHECK(td_gpu_new(job, &a->left, n, sizeof(uint32_t), "vertices left"));
        TD_CHECK(td_gpu_new(job, &a->next_left, n, sizeof(uint32_t), "vertices left"));
    }
    if (!job->prioritised) return TD_OK;
    for (int i = 0; i < 2; i++) TD_CHECK(td_gpu_new(job, &a->far[i], n, sizeof(uint32_t), "vertices put off"));
    TD_CHECK(td_gpu_new(job, &a->far_map, words, sizeof(uint32_t), "vertices put off"));
    return td_stream_fill(job->stream, a->far_map, 0, words * sizeof(uint32_t));
}

static td_status make_sweep(td_gpu_job *job)
{
    td_gpu_args *a = &job->args;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_new(job, &a->pieces, piece_count(job), sizeof(uint64_t), "pieces of heavy vertices"));
    TD_CHECK(td_gpu_new(job, &a->drawn, TD_GPU_DRAWN, sizeof(uint32_t), "labels drawn"));
    if (job->traits->edge != NULL) TD_CHECK(td_gpu_new(job, &a->edges, n, sizeof(uint64_t), "edges of the forest"));
    if (job->traits->value_bytes != sizeof(uint32_t))
        TD_CHECK(td_gpu_new(job, &a->labels, n, sizeof(uint32_t), "labels"));
    return TD_OK;
}

td_status td_resident_make_arrays(td_gpu_job *job)
{
    const td_program_info *info = job->run->program->info;
    uint64_t n = job->graph->vertices;
    td_gpu_args *a = &job->args;
    TD_CHECK(td_gpu_make_values(job));
    if (info->kind == TD_KIND_SWEEP) return make_sweep(job);
    TD_CHECK(td_gpu_new(job, &a->active, (n + 31) / 32, sizeof(uint32_t), "active vertices"));
    if (job->traits->fused) TD_CHECK(make_frontier(job));
    if (!job->adds_up || job->shards) return TD_OK;
    TD_CHECK(td_gpu_new(job, &a->sums, n, job->traits->accum_bytes, "sums"));
    return td_gpu_launch(job, &job->kernels->clear_sums, n);
}

/* Blocks of the loops, all of which run at once. */
td_status td_resident_fit_loops(td_gpu_job *job)
{
    const td_gpu_kernels *k = job->kernels;
    bool plain = job->args.balance == TD_BALANCE_WARP;
    uint32_t most;
    if (!job->traits->fused) return TD_OK;
    if (job->prioritised) job->loop = plain ? &k->priorities : &k->priorities_otherwise;
    else job->loop = plain ? &k->levels : &k->levels_otherwise;
    TD_CHECK(td_device_fit(job->device, job->loop, TD_GPU_THREADS, 0, &most));
    uint32_t few = (uint32_t)job->device->properties.multiprocessors;
    job->blocks_many = most;
    job->blocks_few = few < most ? few : most;
    job->blocks_cluster = plain ? job->device->properties.cluster : 0;
    return most > 0 ? TD_OK : td_fail(TD_DEVICE, "%s: the kernel '%s' does not fit a processor", job->device->name,
                                         job->loop->name);
}

static td_status fill_args(td_gpu_job *job)
{
    td_gpu_args *a = &job->args;
    a->context = job->run->context;
    a->vertices = job->graph->vertices;
    a->weights = job->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : job->graph->weights;
    a->symmetric = job->graph->symmetric;
    uint64_t edges = td_gpu_view_edges(job);
    a->mean_degree = (uint32_t)(edges / job->graph->vertices + 1);
    a->lean = a->mean_degree <= LEAN_DEGREE && edges <= UINT32_MAX;
    uint64_t longest = 0;
    if (job->push != NULL) TD_CHECK(td_resident_longest(job, &longest));
    a->has_heavy = longest >= a->heavy;
    a->async = job->run->async;
    a->end_edge = UINT64_MAX;
    a->end_vertex = job->graph->vertices;
    a->sampled = a->samples;
    a->first_hit = job->traits->first_hit && !job->run->async;
    a->out = job->held->out.view.offsets;
    if (job->push != NULL) a->push = job->push->view;
    else a->push.offsets = a->out;
    a->told = a->push.offsets;
    if (job->pull == NULL) return TD_OK;
    a->pull = job->pull->view;
    if (!job->adds_up) return TD_OK;
    return job->shards ? td_resident_make_shards(job) : td_resident_find_heads(job);
}

static td_status set_up(td_gpu_job *job)
{
    bool push, pull;
    TD_CHECK(read_settings(job));
    TD_CHECK(td_gpu_hold(&td_resident_keeper, job->graph, job->options, &job->held));
    TD_CHECK(td_gpu_job_start(job, job->held->device, job->held->stream));
    choose_lists(job, &push, &pull);
    job->adds_up = td_resident_adds_up(job->traits, pull, job->prioritised, job->run->async);
    job->push = !push ? NULL : job->both ? &job->held->both : &job->held->out;
    job->pull = !pull ? NULL : job->both ? &job->held->both : job->graph->symmetric ? &job->held->out : &job->held->in;
    TD_CHECK(td_resident_check_fit(job));
    TD_CHECK(td_resident_load(job, push, pull));
    TD_CHECK(fill_args(job));
    TD_CHECK(td_resident_make_arrays(job));
    TD_CHECK(td_resident_fit_loops(job));
    return td_stream_finish(job->stream);
}

static void tear_down(td_gpu_job *job, bool failed)
{
    td_gpu_job_close(job);
    td_gpu_let_go(&td_resident_keeper, job->options, job->held, failed);
}

static td_status find_parents(td_gpu_job *job)
{
    uint64_t bytes = job->graph->vertices * sizeof(uint32_t);
    TD_CHECK(TD_NEW(&job->run->parents, job->graph->vertices, "parents"));
    TD_CHECK(td_gpu_new(job, &job->args.parents, job->graph->vertices, sizeof(uint32_t), "parents"));
    TD_CHECK(td_gpu_launch(job, &job->kernels->find_parents, (uint64_t)job->graph->vertices * 32));
    TD_CHECK(td_stream_copy(job->stream, job->run->parents, job->args.parents, bytes, TD_TO_HOST));
    TD_CHECK(td_stream_finish(job->stream));
    if (job->args.weights == TD_WEIGHT_NONE) return TD_OK;
    return td_run_solve_parents(job->run, &job->graph->out, job->run->values);
}

static td_status run_schedule(td_gpu_job *job)
{
    job->run->converged = job->run->resumed != NULL && job->run->resumed->converged;
    if (job->run->converged) return td_gpu_init(job); /* a checkpoint of a run that was through */
    if (job->run->program->info->kind == TD_KIND_SWEEP) return td_resident_sweep(job);
    if (job->prioritised) return td_resident_priorities(job);
    return job->traits->schedule == TD_SCHEDULE_PEEL ? td_resident_peel(job) : td_resident_rounds(job);
}

td_status td_resident_run(td_run *run, const td_run_options *options)
{
    td_status status = TD_OK;
    td_gpu_job job;
    uint64_t began = td_clock_ns();
    run->engine = "resident";
    TD_CHECK(td_gpu_job_open(&job, run, options));
    TD_TRY(set_up(&job));
    run->prepare_seconds += td_seconds_since(began);
    job.run_began = td_clock_ns();
    td_gpu_start_counting(&job);
    TD_TRY(run_schedule(&job));
    td_checkpoints_finish(run);
    TD_TRY(td_stream_finish(job.stream));
    run->seconds = td_seconds_since(job.run_began);
    td_gpu_stop_counting(&job);
    TD_TRY(td_gpu_hand_over(&job));
    if (options->parents) TD_TRY(find_parents(&job));
done:
    tear_down(&job, status != TD_OK);
    return status;
}
