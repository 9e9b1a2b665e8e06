/* Ownership stealing: fragments change their owners. The lists stay where they are; the new owner reads them there. The
 * values of the fragment's vertices, its active and its deferred vertices go to the new owner, and later updates, too. */
#include "engine/multi/multi.h"

#include <string.h>

/* A range of an array, from one GPU to another. */
static td_status move_range(td_multi_gpu *from, td_multi_gpu *to, void *source, void *target, uint64_t first,
                            uint64_t count, size_t bytes)
{
    if (source == NULL || count == 0) return TD_OK;
    return td_stream_copy_peer(to->job.stream, to->job.device, (char *)target + first * bytes, from->job.device,
                               (char *)source + first * bytes, count * bytes);
}

static td_status move_fragment(td_multi_job *self, int k, td_multi_gpu *from, td_multi_gpu *to)
{
    const td_multi_fragment *fragment = &self->layout->fragment[k];
    td_gpu_state *a = &from->job.state, *b = &to->job.state;
    uint64_t first = fragment->first, count = fragment->end - fragment->first;
    uint64_t word = first / 32, words = ((uint64_t)fragment->end + 31) / 32 - word;
    TD_CHECK(move_range(from, to, a->values, b->values, first, count, self->traits->value_bytes));
    TD_CHECK(move_range(from, to, a->active, b->active, word, words, sizeof(uint32_t)));
    TD_CHECK(move_range(from, to, from->changed, to->changed, word, words, sizeof(uint32_t)));
    return move_range(from, to, from->job.arrays.far_map, to->job.arrays.far_map, word, words, sizeof(uint32_t));
}

/* What the GPU leaves behind must not count as its own later. */
static td_status leave_fragment(td_multi_job *self, int k, td_multi_gpu *from)
{
    const td_multi_fragment *fragment = &self->layout->fragment[k];
    uint64_t word = fragment->first / 32, bytes = (((uint64_t)fragment->end + 31) / 32 - word) * sizeof(uint32_t);
    uint32_t *maps[] = {from->job.state.active, from->changed, from->job.arrays.far_map};
    for (int i = 0; i < 3 && bytes > 0; i++)
        if (maps[i] != NULL) TD_CHECK(td_stream_fill(from->job.stream, maps[i] + word, 0, bytes));
    return TD_OK;
}

static td_status set_owned(td_multi_job *self, int gpu, uint32_t owned)
{
    td_gpu_mailbox *box = &self->exchange.box[gpu];
    bool leaves = box->fragments.owned != 0 && owned == 0;
    if (box->fragments.owned == owned) return TD_OK;
    if (leaves) { /* its counters and outboxes are those of an earlier iteration from now on */
        memset(box->job->control->lengths, 0, sizeof box->job->control->lengths);
        box->job->control->tally = (td_gpu_tally){0};
        td_gpu_exchange_forget(box);
    }
    self->gpu[gpu].processed = 0;
    if (self->shared) { /* kernels own everything */
        box->fragments.owned = owned;
        return TD_OK;
    }
    return td_gpu_exchange_own(box, owned);
}

td_status td_multi_move(td_multi_job *self, const int *owner)
{
    uint32_t owned[TD_FRAGMENTS] = {0};
    bool moves = false;
    int from[TD_FRAGMENTS];
    for (int k = 0; k < self->count; k++) {
        from[k] = td_multi_index(self, td_multi_owner(self, k));
        owned[owner[k]] |= 1u << k;
        moves = moves || from[k] != owner[k];
    }
    if (!moves) return TD_OK;
    TD_CHECK(td_multi_leave_queue(self));
    TD_CHECK(td_multi_all_wait(self));
    if (self->shared) {
        for (int i = 0; i < self->count; i++) TD_CHECK(set_owned(self, i, owned[i]));
        return TD_OK;
    }
    for (int k = 0; k < self->count; k++)
        if (from[k] != owner[k]) TD_CHECK(move_fragment(self, k, &self->gpu[from[k]], &self->gpu[owner[k]]));
    TD_CHECK(td_multi_all_wait(self));
    for (int k = 0; k < self->count; k++)
        if (from[k] != owner[k]) TD_CHECK(leave_fragment(self, k, &self->gpu[from[k]]));
    for (int i = 0; i < self->count; i++) TD_CHECK(set_owned(self, i, owned[i]));
    /* New members' bitmaps of the next frontier, and the frontier's own words of others, may be of any iteration. */
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_gpu_clear_map(&gpu->job, gpu->job.state.next_active));
    return td_multi_all_wait(self);
}

td_status td_multi_own_again(td_multi_job *self)
{
    int owner[TD_FRAGMENTS];
    for (int k = 0; k < self->count; k++) owner[k] = k;
    self->balance.state = (td_decide_state){.group = self->count};
    return td_multi_move(self, owner);
}
