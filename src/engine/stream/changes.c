/* Changes across the link: linear programs (PageRank) that run asynchronously tell what has changed of their values
 * instead of the values (src/kernels/gpu/changes.h has the equations). In every round those tell whose residual is
 * largest for the edges that it takes, as many as have a share of all that is left; so of the lists fewer and fewer
 * edges are useful, and they cross like a frontier's: beginnings are on the device, and every subgraph goes its way.
 * What is left is the change that a synchronous iteration would make, and ends the run when it is within the
 * tolerance. */
#include "engine/stream/stream.h"

#include "base/clock.h"

/* Of all that is left. Less takes more rounds, more moves more bytes (docs/lab.md). */
static const double TOLD = 0.3;

td_status td_streaming_make_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_streaming_residuals *changes = &self->changes;
    uint64_t edges = self->push->edges, pieces = edges / TD_GPU_WARP_PIECE + edges / gpu->high_degree + 2;
    if (gpu->traits->message_bytes != gpu->traits->value_bytes) /* messages make room for the result */
        return td_fail(TD_INTERNAL, "%s tells changes of another size than its values'", gpu->run->program->info->name);
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(gpu, &changes->residuals, gpu->graph->vertices, sizeof(double), "residuals"));
    TD_CHECK(td_gpu_new(gpu, &changes->levels, TD_GPU_LEVELS, sizeof(double), "levels of residuals"));
    changes->offsets_times = 1;
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

static td_changes_args changes_args(const td_streaming_job *self)
{
    const td_streaming_residuals *changes = &self->changes;
    return (td_changes_args){.state = self->gpu.state, .sums = self->gpu.arrays.sums, .residuals = changes->residuals,
                             .levels = changes->levels, .offsets_times = changes->offsets_times,
                             .least_level = changes->least_level};
}

/* Whoever has enough to tell becomes active. What those without edges had is everyone's. */
static td_status take(td_streaming_job *self, td_iteration *row)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_reset(gpu));
    td_changes_args args = changes_args(self);
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->take_changes, td_gpu_words(gpu) * 32, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    row->active_vertices = gpu->control->tally.activated;
    row->active_edges = gpu->control->tally.activated_edges;
    gpu->state.context.global = gpu->control->tally.share;
    return TD_OK;
}

static td_status tell(td_streaming_job *self, td_iteration *row)
{
    td_gpu_job *gpu = &self->gpu;
    self->row = row;
    TD_CHECK(td_streaming_count_useful(self, self->push, false));
    TD_CHECK(td_gpu_reset(gpu));
    if (self->push->prefix.offsets != NULL) TD_CHECK(td_streaming_push_prefix(self, false));
    if (self->edges_useful > 0) TD_CHECK(td_streaming_cross(self, self->push, TD_WORK_PUSH, false));
    TD_CHECK(td_gpu_read(gpu, 0));
    row->edges = gpu->control->tally.edges;
    row->bytes_direct = gpu->control->tally.host_bytes;
    return TD_OK;
}

/* What was told is in the residuals, which are balanced and weighed. */
static td_status settle(td_streaming_job *self, bool whole, double *change)
{
    td_gpu_job *gpu = &self->gpu;
    td_changes_args args = changes_args(self);
    const td_gpu_tally *sum = &gpu->control->tally;
    double levels[TD_GPU_LEVELS];
    args.whole_values = whole;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->settle_changes, gpu->graph->vertices, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    args.offsets_more = sum->offset > 0 ? -sum->residual / sum->offset : 0;
    self->changes.offsets_times += args.offsets_more;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_stream_fill(gpu->stream, args.levels, 0, sizeof levels));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->weigh_changes, gpu->graph->vertices, &args));
    TD_CHECK(td_stream_copy(gpu->stream, levels, args.levels, sizeof levels, TD_TO_HOST));
    TD_CHECK(td_gpu_read(gpu, 0));
    TD_CHECK(td_gpu_check_finite(gpu, sum));
    *change = sum->change / self->changes.offsets_times;
    self->changes.least_level = least_level(levels);
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
    TD_CHECK(settle(self, whole, &row.change));
    gpu->run->converged = row.change <= gpu->tolerance;
    return td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began));
}

/* The result, in place of messages, which the next round makes anew. */
static td_status find_values(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    gpu->state.next_values = gpu->state.messages;
    TD_CHECK(td_gpu_reset(gpu));
    td_changes_args args = changes_args(self);
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->end_changes, gpu->graph->vertices, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    gpu->state.context.global = gpu->control->tally.share;
    return TD_OK;
}

/* Between two rounds: a checkpoint, if one is due. Residuals are not part of it: whoever goes on makes them anew, by a
 * round of whole values. */
static td_status checkpoint(td_streaming_job *self)
{
    td_gpu_state *now = &self->gpu.state;
    td_state *state = td_checkpoint_due(self->gpu.run, &now->context);
    if (state == NULL) return TD_OK;
    TD_CHECK(find_values(self));
    state->global = now->context.global;
    td_gpu_swap(&now->values, &now->next_values);
    td_status status = td_gpu_save(&self->gpu, state, NULL, 0);
    td_gpu_swap(&now->values, &now->next_values);
    return status;
}

td_status td_streaming_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    bool whole = true;
    TD_CHECK(td_gpu_init(gpu));
    for (; gpu->state.context.iteration < gpu->limit && !gpu->run->converged; whole = false) {
        TD_CHECK(go_round(self, whole));
        TD_CHECK(checkpoint(self));
    }
    if (whole) return TD_OK; /* not a round was asked for: no residuals */
    TD_CHECK(find_values(self));
    gpu->state.values = gpu->state.next_values;
    return TD_OK;
}
