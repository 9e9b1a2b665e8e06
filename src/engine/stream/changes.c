/* Changes across the link: linear programs (PageRank) that run asynchronously tell what has changed of their values
 * instead of the values (src/kernels/gpu/changes.h has the equations). In every round those tell whose residual is
 * largest for the edges that it takes, as many as have a share of all that is left; so of the lists fewer and fewer
 * edges are useful, and they cross like a frontier's: beginnings are on the device, and every subgraph goes its way.
 * What is left is the change that a synchronous iteration would make, and ends the run when it is within the
 * tolerance. */
#include "engine/stream/stream.h"

#include "base/clock.h"

/* Of all that is left. Less takes more rounds, more moves more bytes (docs/lab/stream.md). */
static const double TOLD = 0.3;

td_status td_streaming_make_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    uint64_t edges = self->push->edges, pieces = edges / TD_GPU_WARP_PIECE + edges / a->heavy + 2;
    if (gpu->traits->message_bytes != gpu->traits->value_bytes) /* messages make room for the result */
        return td_fail(TD_INTERNAL, "%s tells changes of another size than its values'", gpu->run->program->info->name);
    TD_CHECK(td_gpu_new(gpu, &a->pieces, pieces, sizeof(uint64_t), "pieces of heavy vertices"));
    TD_CHECK(td_gpu_new(gpu, &a->residuals, gpu->graph->vertices, sizeof(double), "residuals"));
    TD_CHECK(td_gpu_new(gpu, &a->levels, TD_GPU_LEVELS, sizeof(double), "levels of residuals"));
    a->offsets_times = 1;
    return TD_OK;
}

/* The lowest level that tells, from what there is on each. */
static uint32_t least_level(const double *levels)
{
    double all = 0, told = 0;
    uint32_t level = TD_GPU_LEVELS;
    for (uint32_t l = 0; l < TD_GPU_LEVELS; l++) all += levels[l];
    while (level > 0 && told < TOLD * all) told += levels[--level];
    return level;
}

/* Whoever has enough to tell becomes active. What those without edges had is everyone's. */
static td_status take(td_streaming_job *self, td_iteration *row)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->take_changes, td_gpu_words(gpu) * 32));
    TD_CHECK(td_gpu_read(gpu, 0));
    row->active_vertices = gpu->control->tally.activated;
    row->active_edges = gpu->control->tally.activated_edges;
    gpu->args.context.global = gpu->control->tally.share;
    return TD_OK;
}

static td_status tell(td_streaming_job *self, td_iteration *row)
{
    td_gpu_job *gpu = &self->gpu;
    self->row = row;
    TD_CHECK(td_streaming_count_useful(self, self->push));
    TD_CHECK(td_gpu_reset(gpu));
    if (self->push->prefix.offsets != NULL) TD_CHECK(td_streaming_launch_prefix(self, self->push, TD_WORK_PUSH));
    if (self->edges_useful > 0) TD_CHECK(td_streaming_cross(self, self->push, TD_WORK_PUSH));
    TD_CHECK(td_gpu_read(gpu, 0));
    row->edges = gpu->control->tally.edges;
    row->bytes_direct = gpu->control->tally.host_bytes;
    return TD_OK;
}

/* What was told is in the residuals, which are balanced and weighed. */
static td_status settle(td_streaming_job *self, double *change)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    const td_gpu_tally *sum = &gpu->control->tally;
    double levels[TD_GPU_LEVELS];
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->settle_changes, gpu->graph->vertices));
    TD_CHECK(td_gpu_read(gpu, 0));
    a->offsets_more = sum->offset > 0 ? -sum->residual / sum->offset : 0;
    a->offsets_times += a->offsets_more;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_stream_fill(gpu->stream, a->levels, 0, sizeof levels));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->weigh_changes, gpu->graph->vertices));
    TD_CHECK(td_stream_copy(gpu->stream, levels, a->levels, sizeof levels, TD_TO_HOST));
    TD_CHECK(td_gpu_read(gpu, 0));
    TD_CHECK(td_gpu_check_finite(gpu, sum));
    *change = sum->change / a->offsets_times;
    a->least_level = least_level(levels);
    return TD_OK;
}

/* A round; the first, and the first after a checkpoint, tells whole values. */
static td_status go_round(td_streaming_job *self, bool whole)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_iteration row = {.direction = "changes", .active_vertices = gpu->graph->vertices,
                        .active_edges = td_gpu_view_edges(gpu)};
    if (!whole) TD_CHECK(take(self, &row));
    TD_CHECK(tell(self, &row));
    gpu->args.whole_values = whole;
    TD_CHECK(settle(self, &row.change));
    gpu->run->converged = row.change <= gpu->tolerance;
    return td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began));
}

/* The result, in place of messages, which the next round makes anew. */
static td_status find_values(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    gpu->args.next_values = gpu->args.messages;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->end_changes, gpu->graph->vertices));
    TD_CHECK(td_gpu_read(gpu, 0));
    gpu->args.context.global = gpu->control->tally.share;
    return TD_OK;
}

/* Between two rounds: a checkpoint, if one is due. Residuals are not part of it: whoever goes on makes them anew, by a
 * round of whole values. */
static td_status checkpoint(td_streaming_job *self)
{
    td_gpu_args *a = &self->gpu.args;
    td_state *state = td_checkpoint_due(self->gpu.run, &a->context);
    if (state == NULL) return TD_OK;
    TD_CHECK(find_values(self));
    state->global = a->context.global;
    td_gpu_swap(&a->values, &a->next_values);
    td_status status = td_gpu_save(&self->gpu, state, NULL, 0);
    td_gpu_swap(&a->values, &a->next_values);
    return status;
}

td_status td_streaming_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    bool whole = true;
    TD_CHECK(td_gpu_init(gpu));
    for (; gpu->args.context.iteration < gpu->limit && !gpu->run->converged; whole = false) {
        TD_CHECK(go_round(self, whole));
        TD_CHECK(checkpoint(self));
    }
    if (whole) return TD_OK; /* not a round was asked for: no residuals */
    TD_CHECK(find_values(self));
    gpu->args.values = gpu->args.next_values;
    return TD_OK;
}
