/* Changes across the link: asynchronous runs of linear programs (PageRank) push the changes of their values instead of
 * the values (equations in src/kernels/gpu/changes.h). In every round the vertices with the largest residual per edge
 * push, as many as hold a given share of the total residual. Fewer and fewer edges are useful, and they cross like
 * those of a frontier: resident prefix first, a transfer mode for every subgraph. The remaining residual is the change
 * that a synchronous iteration would make; the run ends when it is within the tolerance. */
#include "engine/stream/stream.h"

#include "base/clock.h"

#include <math.h>

/* Share of the total residual that a round pushes. A smaller share takes more rounds, a larger one moves more bytes
 * (docs/lab/stream.md). */
static const double PUSHED_SHARE = 0.3;

td_status td_streaming_declare_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_streaming_residuals *changes = &self->changes;
    uint64_t edges = self->push->edges, pieces = edges / TD_GPU_WARP_PIECE + edges / gpu->high_degree + 2;
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(gpu, &changes->residuals, gpu->graph->vertices, sizeof(double), "residuals"));
    return td_gpu_new(gpu, &changes->levels, TD_GPU_LEVEL_SUMS, sizeof(double), "levels of residuals");
}

td_status td_streaming_start_changes(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_streaming_residuals *changes = &self->changes;
    if (gpu->traits->message_bytes != gpu->traits->value_bytes) /* the messages' array receives the result */
        return td_fail(TD_INTERNAL, "%s: messages and values differ in size, so changes cannot be pushed",
                       gpu->run->program->info->name);
    changes->offsets_times = 1;
    changes->change_before = -1;
    return TD_OK;
}

/* A round that leaves a larger part of the change than STALLED has stalled. MOST_LOST: the part of the scale that a
 * round may lose. */
static const double STALLED = 0.9, MOST_LOST = 0.3;

enum { POSITIVE, NEGATIVE };

/* Lowers the lowest pushed level of a sign until the residuals from there on, and those of vertices without edges,
 * reach `enough`. */
static double lower_until(td_streaming_residuals *a, const double *sums, int sign, double pushed, double enough)
{
    const double *levels = sums + sign * TD_GPU_SIGN_SUMS;
    while (a->least_level[sign] > 0 && pushed < enough) pushed += levels[--a->least_level[sign]];
    return pushed;
}

/* Chooses the levels that push: those that hold a share of the total residual, the same for both signs. If that would
 * lower the scale noticeably, or if the last round stalled, negative changes must not outweigh positive ones
 * (changes.h): more positive levels are pushed, and only a part of every negative residual. After a stall the positive
 * ones are limited to the negative ones too; the scale then stays the same, and the gain of the round has a lower
 * bound. */
static void choose(td_streaming_residuals *a, const double *sums, double offsets, bool stalled)
{
    double pushed[2], all[2] = {0}, taken = 0, of_levels;
    uint32_t level = TD_GPU_LEVELS;
    for (int sign = 0; sign < 2; sign++)
        for (uint32_t l = 0; l < TD_GPU_SIGN_SUMS; l++) all[sign] += sums[sign * TD_GPU_SIGN_SUMS + l];
    for (int sign = 0; sign < 2; sign++) pushed[sign] = sums[sign * TD_GPU_SIGN_SUMS + TD_GPU_LEVELS];
    of_levels = all[POSITIVE] + all[NEGATIVE] - pushed[POSITIVE] - pushed[NEGATIVE];
    while (level > 0 && taken < PUSHED_SHARE * of_levels) {
        level--;
        for (int sign = 0; sign < 2; sign++) pushed[sign] += sums[sign * TD_GPU_SIGN_SUMS + level];
        taken += sums[level] + sums[TD_GPU_SIGN_SUMS + level];
    }
    a->least_level[POSITIVE] = a->least_level[NEGATIVE] = level;
    a->residual_part[POSITIVE] = a->residual_part[NEGATIVE] = 1;
    int less = pushed[POSITIVE] < pushed[NEGATIVE] ? POSITIVE : NEGATIVE, more = 1 - less;
    bool falls = pushed[NEGATIVE] - pushed[POSITIVE] > MOST_LOST * a->offsets_times * offsets;
    if (!stalled && !falls) return;
    pushed[less] = lower_until(a, sums, less, pushed[less], fmin(pushed[more], PUSHED_SHARE * all[less]));
    if (pushed[less] > 0 && pushed[less] < pushed[more]) a->residual_part[more] = pushed[less] / pushed[more];
}

static td_changes_args changes_args(const td_streaming_job *self)
{
    const td_streaming_residuals *changes = &self->changes;
    td_changes_args args = {.state = self->gpu.state, .sums = self->gpu.arrays.sums, .residuals = changes->residuals,
                            .levels = changes->levels, .offsets_times = changes->offsets_times};
    for (int sign = 0; sign < 2; sign++) {
        args.least_level[sign] = changes->least_level[sign];
        args.residual_part[sign] = changes->residual_part[sign];
    }
    return args;
}

/* Activates the vertices whose level is pushed. Residuals of vertices without edges are distributed over all
 * vertices. */
static td_status take(td_streaming_job *self, td_row *row)
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

static td_status push_changes(td_streaming_job *self, td_row *row)
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

/* Whether the next round balances both signs: after a stall, and for twice as many rounds after every further stall, so
 * that rounds with a guaranteed gain outnumber those without. */
static bool stalls(td_streaming_residuals *self, double change)
{
    bool balances = self->rounds_balanced > 0;
    bool stalled = self->change_before >= 0 && change > STALLED * self->change_before;
    self->change_before = change;
    if (balances) self->rounds_balanced--;
    if (balances || !stalled) return balances;
    self->rounds_balanced = self->rounds_to_balance;
    if (self->rounds_to_balance < 1 << 16) self->rounds_to_balance = 2 * self->rounds_to_balance + 1;
    return true;
}

/* The scale at which the residuals add up to 0. If rounding makes it useless, the scale stays as it is. */
static void balance(td_streaming_residuals *a, const td_gpu_tally *sum)
{
    double times = sum->lost / sum->offset;
    if (sum->offset > 0 && times >= 0x1p-20 && times <= 0x1p20) a->offsets_times = times;
}

/* Turns the pushed sums into residuals, balances and weighs them, and chooses the next levels. Without offsets (damping
 * 1) the system has no scale: all vertices push, which is the synchronous iteration and preserves the sum of the
 * values. */
static td_status settle(td_streaming_job *self, bool whole, double *change)
{
    td_gpu_job *gpu = &self->gpu;
    td_streaming_residuals *changes = &self->changes;
    td_changes_args args = changes_args(self);
    double sums[TD_GPU_LEVEL_SUMS];
    args.whole_values = whole;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->settle_changes, gpu->graph->vertices, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    balance(changes, &gpu->control->tally);
    args.offsets_times = changes->offsets_times;
    double offsets = gpu->control->tally.offset;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_stream_fill(gpu->stream, args.levels, 0, sizeof sums));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->weigh_changes, gpu->graph->vertices, &args));
    TD_CHECK(td_stream_copy(gpu->stream, sums, args.levels, sizeof sums, TD_TO_HOST));
    TD_CHECK(td_gpu_read(gpu, 0));
    *change = gpu->control->tally.change / changes->offsets_times;
    choose(changes, sums, offsets, stalls(changes, *change));
    if (offsets <= 0) changes->least_level[POSITIVE] = changes->least_level[NEGATIVE] = 0;
    return td_gpu_check_convergence(gpu, *change, 0);
}

/* One round. The first, and the first after a checkpoint, pushes whole values. */
static td_status go_round(td_streaming_job *self, bool whole)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_row row = {.direction = "changes", .active_vertices = gpu->graph->vertices,
                        .active_edges = td_gpu_view_edges(gpu)};
    if (!whole) TD_CHECK(take(self, &row));
    TD_CHECK(push_changes(self, &row));
    TD_CHECK(settle(self, whole, &row.change));
    return td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began));
}

/* Writes the result into the messages' array; the next round computes messages anew. */
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

/* Writes a checkpoint if one is due. It has no residuals: a resumed run computes them in a round of whole values. */
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
    if (whole) return TD_OK; /* no round was run, so there are no residuals */
    TD_CHECK(find_values(self));
    gpu->state.values = gpu->state.next_values;
    return TD_OK;
}
