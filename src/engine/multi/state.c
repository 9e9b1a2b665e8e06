/* The program's state over all GPUs: first values, checkpoints, results. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "base/bitmap.h"

#include <string.h>

static bool is_sweep(const td_multi_job *self) { return self->run->program->info->kind == TD_KIND_SWEEP; }

/* First values. */

static td_status restore(td_multi_job *self, const td_state *from)
{
    uint64_t n = self->graph->vertices, words = (n + 31) / 32 * sizeof(uint32_t);
    TD_EACH_GPU(self, gpu) {
        td_gpu_state *state = &gpu->job.state;
        td_stream *stream = gpu->job.stream;
        state->context.iteration = from->iteration;
        state->context.phase = from->phase;
        if (self->shared && gpu != self->gpu) continue;
        TD_CHECK(td_stream_copy(stream, state->values, from->values, n * self->traits->value_bytes, TD_TO_DEVICE));
        if (state->active != NULL && from->has_active)
            TD_CHECK(td_stream_copy(stream, state->active, from->active, words, TD_TO_DEVICE));
        else if (state->active != NULL) TD_CHECK(td_stream_fill(stream, state->active, 0xff, words));
    }
    td_gpu_job *first = td_multi_first(self);
    if (first->arrays.edges == NULL) return TD_OK;
    first->control->edge_count = (uint32_t)from->edge_count;
    return from->edge_count == 0 ? TD_OK
                                 : td_stream_copy(first->stream, first->arrays.edges, from->edges,
                                                  from->edge_count * sizeof *from->edges, TD_TO_DEVICE);
}

static td_status init_fragments(td_multi_job *self, bool resumed)
{
    TD_CHECK(td_multi_reset(self));
    TD_EACH_OWNED(self, gpu, fragment) {
        td_init_args args = {.state = td_multi_state(gpu, fragment), .first_vertex = fragment->first,
                             .end_vertex = fragment->end, .resumed = resumed};
        uint64_t count = fragment->end - fragment->first;
        if (count > 0) TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->init, count, &args));
    }
    return td_multi_wait(self);
}

/* What is not settled yet, for the choice of directions; the first frontier; the first sum of shares. */
static void note_first(td_multi_job *self, bool resumed)
{
    td_gpu_job *first = td_multi_first(self);
    uint64_t open = 0, open_edges = 0;
    double share = 0;
    self->now = (td_frontier){.mapped = true};
    TD_EACH_GPU(self, gpu) {
        const td_gpu_tally *tally = &gpu->job.control->tally;
        gpu->vertices = tally->activated;
        gpu->edges = tally->activated_edges;
        self->now.vertices += gpu->vertices;
        self->now.edges += gpu->edges;
        open += tally->total + tally->activated;
        open_edges += tally->edges + tally->activated_edges;
        share += tally->share;
    }
    bool part = resumed && first->state.first_hit;
    first->unsettled.edges = part ? open_edges : td_gpu_view_edges(first);
    first->unsettled.vertices = part ? open : self->graph->vertices;
    TD_EACH_GPU(self, gpu) gpu->job.state.context.global = share;
}

td_status td_multi_init(td_multi_job *self)
{
    td_state *from = self->run->resumed;
    td_gpu_job *first = td_multi_first(self);
    bool gas = !is_sweep(self);
    if (from != NULL) TD_CHECK(restore(self, from));
    if (from != NULL) TD_CHECK(td_multi_all_wait(self));
    TD_CHECK(init_fragments(self, from != NULL));
    note_first(self, from != NULL);
    if (from != NULL) TD_EACH_GPU(self, gpu) gpu->job.state.context.global = from->global;
    bool values = self->traits->fused || self->traits->sends_value; /* mirrors of others are never read */
    if (gas ? values : from == NULL) /* a resumed sweep has all values already */
        TD_CHECK(td_multi_share_ranges(self, offsetof(td_gpu_state, values), self->traits->value_bytes));
    if (gas && !self->traits->sends_value)
        TD_CHECK(td_multi_share_ranges(self, offsetof(td_gpu_state, messages), self->traits->message_bytes));
    if (gas && self->traits->fused) { /* the frontier's degrees */
        bool counted = self->shared && !td_multi_needs_tally(self); /* by the kernel that sets them; no mirrors to be marked */
        if (counted) {
            td_multi_take_tallies(self);
            self->tally_stale = true;
        } else {
            TD_CHECK(td_multi_reset(self));
            TD_CHECK(td_multi_measure(self, TD_MAP_ACTIVE));
            TD_CHECK(td_multi_wait(self));
        }
        td_multi_add_up(self);
    }
    if (from != NULL) td_state_clear(from);
    (void)first;
    return td_checkpoints_begin(self->run);
}

/* The owners' ranges of the values, in the run's numbering. Of sweeps the first GPU has all. */
static td_status copy_values(td_multi_job *self, char *to)
{
    size_t bytes = self->traits->value_bytes;
    td_gpu_job *first = td_multi_first(self);
    if (is_sweep(self)) {
        TD_CHECK(td_stream_copy(first->stream, to, first->state.values, self->graph->vertices * bytes, TD_TO_HOST));
        return td_stream_synchronize(first->stream);
    }
    TD_EACH_OWNED(self, gpu, fragment) {
        uint64_t first_byte = fragment->first * bytes, count = (uint64_t)(fragment->end - fragment->first) * bytes;
        if (count > 0)
            TD_CHECK(td_stream_copy(gpu->job.stream, to + first_byte, (char *)gpu->job.state.values + first_byte, count,
                                    TD_TO_HOST));
    }
    TD_EACH_GPU(self, gpu) TD_CHECK(td_stream_synchronize(gpu->job.stream));
    return TD_OK;
}

static td_status collect_values(td_multi_job *self, char *to)
{
    return td_multi_end_copies(self, copy_values(self, to));
}

/* Checkpoints. */

/* Adds a bitmap's words of owned fragments to the host's. */
static td_status add_words(td_multi_job *self, size_t place, uint32_t *room, uint64_t *to)
{
    TD_EACH_OWNED(self, gpu, fragment) {
        uint64_t first = fragment->first / 32, count = ((uint64_t)fragment->end + 31) / 32 - first;
        uint32_t *map;
        memcpy(&map, (const char *)&gpu->job + place, sizeof map);
        if (map == NULL || count == 0) continue;
        TD_CHECK(td_stream_copy(gpu->job.stream, room, map + first, count * sizeof *room, TD_TO_HOST));
        TD_CHECK(td_stream_synchronize(gpu->job.stream));
        for (uint64_t i = 0; i < count; i++) to[(first + i) / 2] |= (uint64_t)room[i] << ((first + i) % 2 * 32);
    }
    return TD_OK;
}

static td_status save_active(td_multi_job *self, td_state *state)
{
    td_status status = TD_OK;
    uint64_t *all = NULL, n = self->graph->vertices;
    uint32_t *room = NULL;
    state->has_active = true;
    TD_TRY(TD_NEW_ZEROED(&all, td_bitmap_words(n), "active vertices of a checkpoint"));
    TD_TRY(TD_NEW(&room, (n + 31) / 32, "active vertices of a checkpoint"));
    TD_TRY(add_words(self, offsetof(td_gpu_job, state.active), room, all));
    TD_TRY(add_words(self, offsetof(td_gpu_job, arrays.far_map), room, all));
    td_numbering_bits_out(&self->numbering, state->active, all);
done:
    (void)td_multi_end_copies(self, status);
    td_free(all);
    td_free(room);
    return status;
}

static td_status save_values(td_multi_job *self, td_state *state)
{
    td_status status = TD_OK;
    size_t bytes = self->traits->value_bytes;
    void *values = NULL;
    if (self->numbering.order == NULL) return collect_values(self, state->values);
    TD_TRY(td_new_bytes(&values, self->graph->vertices, bytes, "values of a checkpoint"));
    TD_TRY(collect_values(self, values));
    TD_TRY(td_numbering_values_out(&self->numbering, state->values, values, bytes, self->options->pool));
done:
    td_free(values);
    return status;
}

td_status td_multi_save(td_multi_job *self, td_state *state)
{
    td_gpu_job *first = td_multi_first(self);
    state->by_levels = first->state.first_hit;
    TD_CHECK(save_values(self, state));
    if (!is_sweep(self) && self->traits->fused) TD_CHECK(save_active(self, state));
    if (first->arrays.edges == NULL) return TD_OK;
    state->edge_count = first->control->edge_count;
    if (state->edge_count > 0)
        TD_CHECK(td_stream_copy(first->stream, state->edges, first->arrays.edges,
                                state->edge_count * sizeof *state->edges, TD_TO_HOST));
    return td_stream_synchronize(first->stream);
}

td_status td_multi_checkpoint(td_multi_job *self)
{
    td_state *state = td_checkpoint_due(self->run, &td_multi_first(self)->state.context);
    TD_CHECK(td_multi_keep(self));
    if (state == NULL) return TD_OK;
    TD_CHECK(td_multi_save(self, state));
    return td_checkpoint_save(self->run, state);
}

/* Results. */

td_status td_multi_copy_result(td_multi_job *self)
{
    td_status status = TD_OK;
    void *values = NULL;
    size_t bytes = self->traits->value_bytes;
    self->run->array_bytes = self->graph->vertices * bytes;
    if (is_sweep(self)) return td_gpu_copy_result(td_multi_first(self));
    TD_TRY(td_new_bytes(&values, self->graph->vertices, bytes, "vertex values"));
    TD_TRY(collect_values(self, values));
    TD_TRY(td_numbering_copy_result(&self->numbering, self->run, values, bytes, self->options->pool));
done:
    td_free(values);
    return status;
}
