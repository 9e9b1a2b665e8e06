/* The state of the program by the graph's own numbers: checkpoints, and what the CPU goes on from when the GPU
 * is lost. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/log.h"
#include "run/checkpoint.h"

#include <string.h>

/* Values and bits from one numbering to the other. */

typedef struct moving {
    const td_split *split;
    bool back;
    char *to;
    const char *from;
    size_t bytes;
} moving;

static td_status move_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    const moving *self = context;
    size_t bytes = self->bytes;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t v = td_split_vertex(self->split, (uint32_t)i), at = self->back ? v : i, out = self->back ? i : v;
        memcpy(self->to + at * bytes, self->from + out * bytes, bytes);
    }
    return TD_OK;
}

static td_status move_values(const td_coop_job *job, bool back, void *to, const void *from)
{
    moving self = {&job->held->split, back, to, from, job->gpu.traits->value_bytes};
    return td_pool_for(job->gpu.options->pool, self.split->vertices, 1 << 16, move_some, &self);
}

static void move_bits(const td_split *split, bool back, uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < split->vertices; i++) {
        uint32_t v = td_split_vertex(split, i);
        if (td_bit_get(from, back ? i : v)) td_bit_set(to, back ? v : i);
    }
}

td_status td_coop_renumber_resumed(td_coop_job *self)
{
    td_state *state = self->gpu.run->resumed;
    const td_split *split = &self->held->split;
    size_t bytes = self->gpu.traits->value_bytes;
    void *values = NULL;
    uint64_t *active = NULL;
    if (state == NULL || split->order == NULL) return TD_OK;
    TD_CHECK(td_new_bytes(&values, split->vertices, bytes, "vertex values"));
    td_status status = TD_NEW_ZEROED(&active, td_bitmap_words(split->vertices), "active vertices");
    if (status == TD_OK) status = move_values(self, false, values, state->values);
    if (status == TD_OK) {
        if (state->has_active) move_bits(split, false, active, state->active);
        td_gpu_swap(&values, &state->values);
        if (state->has_active) td_gpu_swap(&active, &state->active);
    }
    td_free(values);
    td_free(active);
    return status;
}

/* Who has still to tell its value: those under way, those told of meanwhile, those put off. */
static td_status find_active(td_coop_job *self, bool under_way, uint64_t *out)
{
    const td_cpu_job *cpu = &self->cpu;
    const td_split *split = &self->held->split;
    uint64_t *all, words = td_bitmap_words(split->vertices);
    TD_CHECK(TD_NEW_ZEROED(&all, words, "active vertices"));
    for (uint64_t i = 0; i < cpu->queue_count && under_way; i++) td_bit_set(all, cpu->queue[i]);
    for (uint64_t w = 0; w < words; w++) {
        if (under_way || self->pending != NULL) all[w] |= cpu->next_active[w];
        if (self->pending != NULL) all[w] |= self->pending[w];
        else if (!under_way) all[w] |= cpu->active[w];
    }
    move_bits(split, true, out, all);
    td_free(all);
    return TD_OK;
}

/* Checkpoints. */

td_status td_coop_save(td_coop_job *self, const td_context *context, const void *values)
{
    td_state *state = td_checkpoint_due(self->gpu.run, context);
    if (state == NULL) return TD_OK;
    TD_CHECK(move_values(self, true, state->values, values));
    state->has_active = self->gpu.traits->fused;
    state->by_levels = self->cpu.first_hit;
    if (state->has_active) TD_CHECK(find_active(self, false, state->active));
    return td_checkpoint_save(self->gpu.run, state);
}

/* The GPU is lost: the state that the host has, as if it were a checkpoint. Labels that are numbers of the other kind
 * would mean nothing to the CPU: it begins anew. */
td_status td_coop_recover(td_coop_job *self)
{
    td_run *run = self->gpu.run;
    bool fused = self->gpu.traits->fused, renumbered = self->held->split.order != NULL;
    bool anew = (run->program->info->vertex_values && renumbered) || (!fused && self->safe < 0);
    td_state *state = NULL;
    td_status status = TD_OK;
    uint32_t iteration = 0;
    bool gone = anew && run->resumed != NULL; /* what it began with is on the GPU */
    if (gone) return td_fail(TD_DEVICE, "%s", td_last_message());
    if (!anew) {
        uint64_t n = self->held->split.vertices;
        size_t bytes = self->gpu.traits->value_bytes;
        TD_CHECK(TD_NEW_ZEROED(&state, 1, "state of the run"));
        TD_TRY(td_new_bytes(&state->values, n, bytes, "vertex values"));
        TD_TRY(TD_NEW_ZEROED(&state->active, td_bitmap_words(n), "active vertices"));
        TD_TRY(move_values(self, true, state->values, fused ? self->cpu.values : self->snapshot[self->safe]));
        state->has_active = fused;
        if (fused) TD_TRY(find_active(self, true, state->active));
        state->iteration = iteration = fused ? self->cpu.context.iteration : self->snapshot_of[self->safe].iteration;
        state->global = fused ? 0 : self->snapshot_of[self->safe].global;
        td_gpu_swap(&run->resumed, &state);
    }
    while (run->row_count > 0 && run->rows[run->row_count - 1].number >= iteration)
        run->edges_processed -= run->rows[--run->row_count].edges;
    run->iterations = iteration;
    run->converged = false;
done:
    if (state != NULL) td_state_clear(state);
    td_free(state);
    return status;
}
