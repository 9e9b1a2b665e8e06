/* The program's state in the graph's numbering: checkpoints, and the state from which the CPU continues if the GPU is
 * lost. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/log.h"
#include "run/checkpoint.h"

#include <string.h>

static td_status move_out(const td_coop_job *self, void *to, const void *from)
{
    return td_numbering_values_out(&self->layout->numbering, to, from, self->gpu.traits->value_bytes,
                                   self->gpu.options->pool);
}

/* Collects the vertices whose values must still be pushed: the current frontier, vertices activated meanwhile, deferred
 * vertices. */
static td_status find_active(td_coop_job *self, bool under_way, uint64_t *out)
{
    const td_cpu_job *cpu = &self->cpu;
    uint64_t *all, words = td_bitmap_words(self->layout->split.vertices);
    TD_CHECK(TD_NEW_ZEROED(&all, words, "active vertices"));
    for (uint64_t i = 0; i < cpu->frontier.queue_count && under_way; i++) td_bit_set(all, cpu->frontier.queue[i]);
    for (uint64_t w = 0; w < words; w++) {
        if (under_way || self->push.pending != NULL) all[w] |= cpu->frontier.next_active[w];
        if (self->push.pending != NULL) all[w] |= self->push.pending[w];
        else if (!under_way) all[w] |= cpu->frontier.active[w];
    }
    td_numbering_bits_out(&self->layout->numbering, out, all);
    td_free(all);
    return TD_OK;
}

/* Checkpoints. */

td_status td_coop_save(td_coop_job *self, const td_context *context, const void *values)
{
    td_state *state = td_checkpoint_due(self->gpu.run, context);
    if (state == NULL) return TD_OK;
    TD_CHECK(move_out(self, state->values, values));
    state->has_active = self->gpu.traits->fused;
    state->by_levels = self->cpu.setup.first_hit;
    if (state->has_active) TD_CHECK(find_active(self, false, state->active));
    return td_checkpoint_save(self->gpu.run, state);
}

/* Makes the host's state a checkpoint after the GPU was lost. Labels in the split's numbering would mean nothing to the
 * CPU: such runs start over. */
td_status td_coop_recover(td_coop_job *self)
{
    td_run *run = self->gpu.run;
    bool fused = self->gpu.traits->fused, renumbered = self->layout->split.order != NULL;
    bool anew = (run->program->info->vertex_values && renumbered) || (!fused && self->kept.safe < 0);
    td_state *state = NULL;
    td_status status = TD_OK;
    uint32_t iteration = 0;
    bool gone = anew && run->resumed != NULL; /* its initial state is on the lost GPU */
    if (gone) return td_fail(TD_DEVICE, "%s", td_last_message());
    if (!anew) {
        uint64_t n = self->layout->split.vertices;
        size_t bytes = self->gpu.traits->value_bytes;
        TD_CHECK(TD_NEW_ZEROED(&state, 1, "state of the run"));
        TD_TRY(td_new_bytes(&state->values, n, bytes, "vertex values"));
        TD_TRY(TD_NEW_ZEROED(&state->active, td_bitmap_words(n), "active vertices"));
        TD_TRY(move_out(self, state->values, fused ? self->cpu.values : self->kept.values[self->kept.safe]));
        state->has_active = fused;
        if (fused) TD_TRY(find_active(self, true, state->active));
        state->iteration = iteration = fused ? self->cpu.context.iteration : self->kept.of[self->kept.safe].iteration;
        state->global = fused ? 0 : self->kept.of[self->kept.safe].global;
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
