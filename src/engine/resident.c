/* The resident engine: a graph that fits the GPU's memory (resident_plan.c) is loaded
 * once and every iteration runs there. This file sets a run up and takes it down; the
 * policies are in resident_rounds.c and resident_sweep.c. */
#include "engine/resident.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "engine/parents.h"
#include "engine/sweep.h"
#include "programs/gpu.h"

#include <math.h>
#include <string.h>

enum {
    SET_DIRECTION, SET_BALANCE, SET_GATHER, SET_REPLICATION, SET_HEAVY, SET_TINY, SET_SMALL, SET_ROUNDS, SET_DELTA, SET_SAMPLES, SETTINGS,
};

const td_setting td_resident_settings[] = {
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|push",
                       "how an iteration goes over the edges; auto chooses for each"},
    [SET_BALANCE] = {"balance", TD_SETTING_CHOICE, TD_BALANCE_WARP, 0, 0, "thread|cta|iwb|warp",
                     "how a push shares out edges: a thread per vertex, by degree (cta), with medium vertices handed on "
                     "(iwb), evenly over the lanes of a warp"},
    [SET_GATHER] = {"gather", TD_SETTING_CHOICE, 0, 0, 0, "rows|shards",
                    "how a pull adds up: equal pieces of the lists, or Garaph's shards in shared memory"},
    [SET_REPLICATION] = {"replication", TD_SETTING_CHOICE, 0, 0, 0, "auto|1|2|4|8|16|32",
                         "copies of an accumulator (gather=shards); auto: from the shard's edges and vertices"},
    [SET_HEAVY] = {"heavy", TD_SETTING_WHOLE, TD_GPU_PIECE, 32, 1 << 26, NULL, /* 32 of them add up in 32 bits */
                   "degree from which a vertex is cut into pieces for all blocks"},
    [SET_TINY] = {"tiny", TD_SETTING_WHOLE, 0, 0, 4e9, NULL,
                  "edges of a frontier up to which one cluster of blocks does the rounds (balance=warp; GPUs that have clusters)"},
    [SET_SMALL] = {"small", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                   "edges of a frontier up to which few blocks do the rounds, because fewer wait for each other faster"},
    [SET_ROUNDS] = {"rounds", TD_SETTING_WHOLE, TD_GPU_ROUNDS, 1, TD_GPU_ROUNDS, NULL,
                    "most rounds of one launch; 1: the host is asked after every one"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL, "width of a step of distances; 0: from the weights"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex looked at before the largest component is left out; 0: leave nothing out"},
    [SETTINGS] = {0},
};

enum { LEAN_DEGREE = 8 }; /* mean degree up to which loops do not count edges ahead */
enum { MOST_OWNED = 32, THREADS_PER_PROCESSOR = 2048 };

td_status td_resident_new(td_resident_job *job, void *out, uint64_t count, uint64_t bytes, const char *what)
{
    if (job->owned_count == MOST_OWNED) return td_fail(TD_INTERNAL, "more arrays than the resident engine has room for");
    TD_CHECK(td_device_new(job->device, out, count, bytes, what));
    memcpy(&job->owned[job->owned_count++], out, sizeof(void *));
    return TD_OK;
}

td_status td_resident_launch_blocks(td_resident_job *job, const td_kernel *kernel, uint64_t blocks, uint32_t shared_bytes)
{
    uint64_t most = (uint64_t)job->device->properties.multiprocessors * (THREADS_PER_PROCESSOR / TD_GPU_THREADS);
    if (blocks > most) blocks = most;
    td_launch shape = {.blocks = blocks == 0 ? 1 : (uint32_t)blocks, .threads = TD_GPU_THREADS, .shared_bytes = shared_bytes};
    return td_stream_launch(job->stream, kernel, shape, &job->args, sizeof job->args);
}

td_status td_resident_launch(td_resident_job *job, const td_kernel *kernel, uint64_t threads)
{
    return td_resident_launch_blocks(job, kernel, (threads + TD_GPU_THREADS - 1) / TD_GPU_THREADS, 0);
}

td_status td_resident_reset(td_resident_job *job)
{
    uint64_t head = offsetof(td_gpu_control, rows);
    uint32_t kept = job->control->edge_count, barrier = job->control->barrier;
    memset(job->control, 0, head);
    job->control->tally.lowest = UINT64_MAX;
    job->control->far_lowest = UINT32_MAX;
    job->control->edge_count = kept;
    job->control->barrier = barrier;
    return td_stream_copy(job->stream, job->args.control, job->control, head, TD_TO_DEVICE);
}

td_status td_resident_read(td_resident_job *job, uint32_t rows)
{
    uint64_t bytes = offsetof(td_gpu_control, rows) + rows * sizeof(td_gpu_row);
    TD_CHECK(td_stream_copy(job->stream, job->control, job->args.control, bytes, TD_TO_HOST));
    return td_stream_finish(job->stream);
}

td_status td_resident_end_iteration(td_resident_job *job, td_iteration *row, uint64_t began, double seconds)
{
    row->number = job->args.context.iteration++;
    row->start = (double)(began - job->run_began) * 1e-9;
    row->seconds = seconds;
    job->run->iterations = job->args.context.iteration;
    job->run->edges_processed += row->edges;
    job->run->final_change = row->change;
    TD_CHECK(td_run_add_row(job->run, job->options, row));
    return td_cancel_check();
}

/* Setting up. */

static bool view_is_both(const td_run *run, const td_cpu_kernels *traits)
{
    int forward = run->program->info->forward_choice;
    return traits->view == TD_VIEW_BOTH && !traits->once && !(forward > 0 && run->context.parameter[forward - 1] == 1);
}

static td_status read_settings(td_resident_job *job)
{
    double set[SETTINGS];
    static const uint32_t copies[] = {0, 1, 2, 4, 8, 16, 32};
    TD_CHECK(td_settings_resolve(job->options->settings, "resident", td_resident_settings, set, NULL));
    job->direction = set[SET_DIRECTION] == 0 ? TD_DIRECTION_AUTO : set[SET_DIRECTION] == 1 ? TD_DIRECTION_PULL : TD_DIRECTION_PUSH;
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
        return td_fail(TD_USAGE, "resident.direction=push: %s needs the whole sum of a vertex at once; allowed are auto and pull",
                       job->run->program->info->name);
    job->prioritised = job->traits->schedule == TD_SCHEDULE_PRIORITY && job->direction == TD_DIRECTION_AUTO && !job->has_limit;
    if (job->delta > 0 && !job->prioritised)
        return td_fail(TD_USAGE, "resident.delta is the width of a step of sssp's distances, which an iteration limit and "
                                 "resident.direction replace by rounds");
    return TD_OK;
}

/* Which lists the schedule goes along. */
static void choose_lists(const td_resident_job *job, bool *push, bool *pull)
{
    const td_cpu_kernels *k = job->traits;
    bool gas = job->run->program->info->kind == TD_KIND_GAS;
    *push = !gas || k->fused;
    *pull = gas && (!k->fused || (job->direction != TD_DIRECTION_PUSH && !job->prioritised) || job->options->parents);
}

static td_status make_values(td_resident_job *job)
{
    const td_cpu_kernels *k = job->traits;
    uint64_t n = job->graph->vertices;
    td_gpu_args *a = &job->args;
    TD_CHECK(td_resident_new(job, &a->values, n, k->value_bytes, "vertex values"));
    a->next_values = a->messages = a->next_messages = a->values;
    if (job->run->program->info->kind != TD_KIND_GAS) return TD_OK;
    bool twice = !k->fused && !job->run->async;
    if (k->sends_value) {
        if (twice) TD_CHECK(td_resident_new(job, &a->next_values, n, k->value_bytes, "new vertex values"));
        a->next_messages = a->next_values;
        return TD_OK;
    }
    TD_CHECK(td_resident_new(job, &a->messages, n, k->message_bytes, "messages"));
    a->next_messages = a->messages;
    if (twice) TD_CHECK(td_resident_new(job, &a->next_messages, n, k->message_bytes, "new messages"));
    return TD_OK;
}

static uint64_t piece_count(const td_resident_job *job)
{
    uint64_t edges = job->graph->edges * (job->push == &job->held->both ? 2 : 1);
    return edges / TD_GPU_PIECE + edges / job->args.heavy + 2;
}

static td_status make_frontier(td_resident_job *job)
{
    uint64_t n = job->graph->vertices, words = (n + 31) / 32;
    td_gpu_args *a = &job->args;
    TD_CHECK(td_resident_new(job, &a->pieces, piece_count(job), sizeof(uint64_t), "pieces of heavy vertices"));
    for (int i = 0; i < 2; i++) TD_CHECK(td_resident_new(job, &a->queue[i], n, sizeof(uint32_t), "queue of vertices"));
    TD_CHECK(td_resident_new(job, &a->next_active, words, sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_stream_fill(job->stream, a->next_active, 0, words * sizeof(uint32_t)));
    if (job->traits->first_hit) TD_CHECK(td_resident_new(job, &a->late, n, sizeof(uint32_t), "late vertices"));
    if (job->traits->schedule == TD_SCHEDULE_PEEL) {
        TD_CHECK(td_resident_new(job, &a->left, n, sizeof(uint32_t), "vertices left"));
        TD_CHECK(td_resident_new(job, &a->next_left, n, sizeof(uint32_t), "vertices left"));
    }
    if (!job->prioritised) return TD_OK;
    for (int i = 0; i < 2; i++) TD_CHECK(td_resident_new(job, &a->far[i], n, sizeof(uint32_t), "vertices put off"));
    TD_CHECK(td_resident_new(job, &a->far_map, words, sizeof(uint32_t), "vertices put off"));
    return td_stream_fill(job->stream, a->far_map, 0, words * sizeof(uint32_t));
}

static td_status make_sweep(td_resident_job *job)
{
    td_gpu_args *a = &job->args;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_resident_new(job, &a->pieces, piece_count(job), sizeof(uint64_t), "pieces of heavy vertices"));
    TD_CHECK(td_resident_new(job, &a->drawn, TD_GPU_DRAWN, sizeof(uint32_t), "labels drawn"));
    if (job->traits->edge != NULL) TD_CHECK(td_resident_new(job, &a->edges, n, sizeof(uint64_t), "edges of the forest"));
    if (job->traits->value_bytes != sizeof(uint32_t))
        TD_CHECK(td_resident_new(job, &a->labels, n, sizeof(uint32_t), "labels"));
    return TD_OK;
}

static td_status make_arrays(td_resident_job *job)
{
    const td_program_info *info = job->run->program->info;
    uint64_t n = job->graph->vertices;
    td_gpu_args *a = &job->args;
    TD_CHECK(td_resident_new(job, &a->control, 1, sizeof(td_gpu_control), "counters"));
    TD_CHECK(make_values(job));
    for (int i = 0; i < TD_INPUTS; i++) {
        void *input = NULL;
        if (job->run->inputs[i] == NULL) continue;
        TD_CHECK(td_resident_new(job, &input, n, sizeof(double), "inputs"));
        TD_CHECK(td_stream_copy(job->stream, input, job->run->inputs[i], n * sizeof(double), TD_TO_DEVICE));
        a->context.input[i] = input;
    }
    if (info->kind == TD_KIND_SWEEP) return make_sweep(job);
    TD_CHECK(td_resident_new(job, &a->active, (n + 31) / 32, sizeof(uint32_t), "active vertices"));
    if (job->traits->fused) TD_CHECK(make_frontier(job));
    if (!job->adds_up || job->shards) return TD_OK;
    TD_CHECK(td_resident_new(job, &a->sums, n, job->traits->accum_bytes, "sums"));
    return td_resident_launch(job, &job->kernels->clear_sums, n);
}

/* Blocks of the loops, all of which run at once. */
static td_status fit_loops(td_resident_job *job)
{
    const td_gpu_kernels *k = job->kernels;
    bool plain = job->args.balance == TD_BALANCE_WARP;
    uint32_t most;
    if (!job->traits->fused) return TD_OK;
    job->loop = job->prioritised ? (plain ? &k->priorities : &k->priorities_otherwise) : plain ? &k->levels : &k->levels_otherwise;
    TD_CHECK(td_device_fit(job->device, job->loop, TD_GPU_THREADS, 0, &most));
    uint32_t few = (uint32_t)job->device->properties.multiprocessors;
    job->blocks_many = most;
    job->blocks_few = few < most ? few : most;
    job->blocks_cluster = plain ? job->device->properties.cluster : 0;
    return most > 0 ? TD_OK : td_fail(TD_DEVICE, "%s: the kernel '%s' does not fit a processor", job->device->name,
                                         job->loop->name);
}

static td_status fill_args(td_resident_job *job)
{
    td_gpu_args *a = &job->args;
    a->context = job->run->context;
    a->vertices = job->graph->vertices;
    a->weights = job->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : job->graph->weights;
    a->symmetric = job->graph->symmetric;
    uint64_t edges = job->graph->edges * (job->push == &job->held->both ? 2 : 1);
    a->mean_degree = (uint32_t)(edges / job->graph->vertices + 1);
    a->lean = a->mean_degree <= LEAN_DEGREE && edges <= UINT32_MAX;
    uint64_t longest = 0;
    if (job->push != NULL) TD_CHECK(td_resident_longest(job, &longest));
    a->has_heavy = longest >= a->heavy;
    a->async = job->run->async;
    a->first_hit = job->traits->first_hit && !job->run->async;
    a->out = job->held->out.view.offsets;
    if (job->push != NULL) a->push = job->push->view;
    else a->push.offsets = a->out;
    if (job->pull == NULL) return TD_OK;
    a->pull = job->pull->view;
    if (!job->adds_up) return TD_OK;
    return job->shards ? td_resident_make_shards(job) : td_resident_find_heads(job);
}

static td_status make_control(td_resident_job *job)
{
    void *seen;
    TD_CHECK(TD_NEW_ZEROED(&job->control, 1, "counters"));
    job->pinned = td_device_pin(job->device, job->control, sizeof *job->control, &seen) == TD_OK;
    return TD_OK;
}

static td_status set_up(td_resident_job *job)
{
    bool push, pull;
    TD_CHECK(read_settings(job));
    TD_CHECK(TD_NEW_ZEROED(&job->owned, MOST_OWNED, "list of device arrays"));
    TD_CHECK(td_resident_hold(job));
    job->device->peak = job->device->now; /* of this run */
    job->kernels = td_gpu_kernels_of(job->run->program, job->device->kind);
    if (job->kernels == NULL)
        return td_fail(TD_UNSUPPORTED, "there are no kernels of '%s' for %s", job->run->program->info->name, job->device->name);
    choose_lists(job, &push, &pull);
    job->adds_up = td_resident_adds_up(job->traits, pull, job->prioritised, job->run->async);
    bool both = view_is_both(job->run, job->traits) && !job->graph->symmetric;
    job->push = !push ? NULL : both ? &job->held->both : &job->held->out;
    job->pull = !pull ? NULL : both ? &job->held->both : job->graph->symmetric ? &job->held->out : &job->held->in;
    TD_CHECK(td_resident_check_fit(job));
    TD_CHECK(td_resident_load(job, push, pull));
    TD_CHECK(fill_args(job));
    TD_CHECK(make_control(job));
    TD_CHECK(make_arrays(job));
    TD_CHECK(fit_loops(job));
    return td_stream_finish(job->stream);
}

/* What a failed run left on the device may be half of it, and the device may be lost: the next one starts anew. */
static void tear_down(td_resident_job *job, bool failed)
{
    td_kept *kept = job->options->kept;
    if (job->stream != NULL) (void)td_stream_finish(job->stream);
    for (int i = 0; i < job->owned_count; i++) td_device_free(job->device, job->owned[i]);
    td_free(job->owned);
    if (job->pinned) td_device_unpin(job->device, job->control);
    td_free(job->control);
    bool keeps = kept != NULL && kept->state == job->held;
    if (!keeps) td_resident_release(job->held);
    else if (failed && job->held != NULL) td_kept_release(kept);
}

/* Handing over. */

static td_status find_parents(td_resident_job *job)
{
    uint64_t bytes = job->graph->vertices * sizeof(uint32_t);
    TD_CHECK(TD_NEW(&job->run->parents, job->graph->vertices, "parents"));
    TD_CHECK(td_resident_new(job, &job->args.parents, job->graph->vertices, sizeof(uint32_t), "parents"));
    TD_CHECK(td_resident_launch(job, &job->kernels->find_parents, (uint64_t)job->graph->vertices * 32));
    TD_CHECK(td_stream_copy(job->stream, job->run->parents, job->args.parents, bytes, TD_TO_HOST));
    TD_CHECK(td_stream_finish(job->stream));
    if (job->args.weights == TD_WEIGHT_NONE) return TD_OK;
    return td_run_solve_parents(job->run, &job->graph->out, job->run->values);
}

static td_status hand_over(td_resident_job *job)
{
    const void *values = job->args.values;
    size_t bytes = job->traits->value_bytes;
    if (job->args.labels != NULL) {
        TD_CHECK(td_resident_launch(job, &job->kernels->label_all, job->graph->vertices));
        values = job->args.labels;
        bytes = sizeof(uint32_t);
    }
    TD_CHECK(td_new_bytes(&job->run->values, job->graph->vertices, bytes, "vertex values"));
    TD_CHECK(td_stream_copy(job->stream, job->run->values, values, job->graph->vertices * bytes, TD_TO_HOST));
    return td_stream_finish(job->stream);
}

static td_status hand_over_edges(td_resident_job *job)
{
    td_run *run = job->run;
    if (job->args.edges == NULL) return TD_OK;
    run->edge_count = job->control->edge_count;
    TD_CHECK(TD_NEW(&run->edges, run->edge_count + 1, "edges of the forest"));
    TD_CHECK(td_stream_copy(job->stream, run->edges, job->args.edges, run->edge_count * sizeof *run->edges, TD_TO_HOST));
    TD_CHECK(td_stream_finish(job->stream));
    td_sweep_sort_edges(run);
    for (uint64_t i = 0; i < run->edge_count; i++) run->total_weight += td_weight_at(run->graph, &run->graph->out, run->edges[i]);
    return TD_OK;
}

static td_status run_schedule(td_resident_job *job)
{
    if (job->run->program->info->kind == TD_KIND_SWEEP) return td_resident_sweep(job);
    if (job->prioritised) return td_resident_priorities(job);
    return job->traits->schedule == TD_SCHEDULE_PEEL ? td_resident_peel(job) : td_resident_rounds(job);
}

/* What the device did between the two is the run's. */
static void start_counting(td_resident_job *job)
{
    job->device_began = td_device_clock(job->device);
    job->counts_before = job->device->counts;
    job->run->counter_count = td_device_counters(job->device, job->run->counters);
}

static void stop_counting(td_resident_job *job)
{
    td_run *run = job->run;
    td_counter after[TD_COUNTERS];
    const td_device_counts *counts = &job->device->counts, *before = &job->counts_before;
    run->device_seconds = (double)(td_device_clock(job->device) - job->device_began) * 1e-9;
    run->launches = counts->launches - before->launches;
    run->bytes_to_device = counts->bytes_to_device - before->bytes_to_device;
    run->bytes_to_host = counts->bytes_to_host - before->bytes_to_host;
    (void)td_device_counters(job->device, after);
    for (int i = 0; i < run->counter_count; i++) run->counters[i].value = after[i].value - run->counters[i].value;
    memcpy(run->device, job->device->name, sizeof run->device);
}

td_status td_resident_run(td_run *run, const td_run_options *options)
{
    td_status status = TD_OK;
    td_weight_kind kind = run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : run->graph->weights;
    uint64_t began = td_clock_ns();
    td_resident_job job = {.run = run, .options = options, .graph = run->graph, .traits = &run->program->cpu[kind],
                           .tolerance = run->tolerance, .has_limit = options->has_iterations};
    job.limit = options->has_iterations ? options->iterations
                : run->program->info->iterations > 0 ? run->program->info->iterations : UINT32_MAX;
    run->engine = "resident";
    TD_TRY(set_up(&job));
    run->prepare_seconds += td_seconds_since(began);
    job.run_began = td_clock_ns();
    start_counting(&job);
    TD_TRY(run_schedule(&job));
    TD_TRY(td_stream_finish(job.stream));
    run->seconds = td_seconds_since(job.run_began);
    stop_counting(&job);
    TD_TRY(hand_over(&job));
    TD_TRY(hand_over_edges(&job));
    if (options->parents) TD_TRY(find_parents(&job));
    run->device_peak = job.device->peak;
    run->array_bytes = run->graph->vertices * job.traits->value_bytes; /* the host's: the result */
done:
    tear_down(&job, status != TD_OK);
    return status;
}
