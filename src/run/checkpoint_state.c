/* The arrays of a state: whole pages, as in the file, and a checksum for every block, so that workers can fill an array
 * and compute its checksums in one pass. */
#include "run/checkpoint_file.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/hash.h"
#include "kernels/cpu/job.h"

#include <string.h>

void *td_state_data(const td_state *state, td_state_part part)
{
    switch (part) {
    case TD_STATE_VALUES: return state->values;
    case TD_STATE_ACTIVE: return state->active;
    default: return state->edges;
    }
}

static uint64_t blocks_of(uint64_t bytes) { return (bytes + TD_STATE_BLOCK - 1) / TD_STATE_BLOCK; }

td_status td_state_new_part(td_state *state, td_state_part part, uint64_t bytes)
{
    void *data;
    TD_CHECK(TD_NEW(&state->sums[part], blocks_of(bytes), "checksums of a checkpoint"));
    TD_CHECK(td_new_pages(&data, td_state_padded(bytes), "state of a checkpoint"));
    switch (part) {
    case TD_STATE_VALUES: state->values = data; break;
    case TD_STATE_ACTIVE: state->active = data; break;
    default: state->edges = data;
    }
    return TD_OK;
}

static td_status clear_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    memset((char *)context + begin, 0, end - begin);
    return TD_OK;
}

/* All workers touch the pages in parallel, so that the first copy need not wait for page faults. */
static td_status new_cleared(td_state *state, td_state_part part, uint64_t bytes, td_pool *pool)
{
    TD_CHECK(td_state_new_part(state, part, bytes));
    return td_pool_for(pool, td_state_padded(bytes), TD_STATE_BLOCK, clear_blocks, td_state_data(state, part));
}

td_status td_state_new(td_state *state, const td_run *run, td_pool *pool)
{
    const td_cpu_kernels *traits = &run->program->cpu[TD_WEIGHT_NONE];
    uint64_t n = run->graph->vertices;
    TD_CHECK(new_cleared(state, TD_STATE_VALUES, n * traits->value_bytes, pool));
    TD_CHECK(new_cleared(state, TD_STATE_ACTIVE, td_bitmap_words(n) * sizeof(uint64_t), pool));
    return new_cleared(state, TD_STATE_EDGES, traits->edge != NULL ? n * sizeof(uint64_t) : 0, pool);
}

void td_state_clear(td_state *state)
{
    td_free(state->values);
    td_free(state->active);
    td_free(state->edges);
    for (int i = 0; i < TD_STATE_PARTS; i++) td_free(state->sums[i]);
    memset(state->sums, 0, sizeof state->sums);
    state->values = NULL;
    state->active = state->edges = NULL;
}

/* Includes the padding of the last page. */
static void sum_block(td_state *state, td_state_part part, uint64_t block, uint64_t bytes)
{
    uint64_t at = block * TD_STATE_BLOCK, length = bytes - at < TD_STATE_BLOCK ? bytes - at : TD_STATE_BLOCK;
    char *data = (char *)td_state_data(state, part) + at;
    memset(data + length, 0, td_state_padded(length) - length);
    state->sums[part][block] = td_hash64(data, td_state_padded(length));
}

void td_state_sum_blocks(td_state *state, td_state_part part, uint64_t begin, uint64_t end, uint64_t bytes)
{
    if (state->is_summed[part]) return;
    for (uint64_t b = begin / TD_STATE_BLOCK; b < blocks_of(end); b++) sum_block(state, part, b, bytes);
}

uint64_t td_state_sum(const td_state *state, td_state_part part, uint64_t bytes)
{
    return td_hash64(state->sums[part], blocks_of(bytes) * sizeof(uint64_t));
}

typedef struct filling {
    td_state *state;
    td_state_part part;
    const char *from;
    uint64_t bytes;
} filling;

static td_status fill_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    filling *self = context;
    (void)worker;
    for (uint64_t b = begin; b < end; b++) {
        uint64_t at = b * TD_STATE_BLOCK, left = self->bytes - at;
        memcpy((char *)td_state_data(self->state, self->part) + at, self->from + at,
               left < TD_STATE_BLOCK ? left : TD_STATE_BLOCK);
        sum_block(self->state, self->part, b, self->bytes);
    }
    return TD_OK;
}

td_status td_state_fill(td_state *state, td_state_part part, const void *from, uint64_t bytes, td_pool *pool)
{
    filling self = {state, part, from, bytes};
    TD_CHECK(td_pool_for(pool, blocks_of(bytes), 1, fill_blocks, &self));
    state->is_summed[part] = true;
    return TD_OK;
}
