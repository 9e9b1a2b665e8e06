/* Pushes of accumulating programs: messages, or differences of messages, are added to the sums of the targets. */

#include "kernels/gpu/batch.h"

/* Pushes along the edges of a batch; all lanes of a warp call. */
TD_DEVICE void push_edges(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch)
{
    (void)r;
    program_accum *sums = (program_accum *)a->sums;
    uint32_t targets[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) targets[k] = batch->is[k] ? TD_READ_ONCE(&a->list.targets[batch->edge[k]]) : 0;
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        if (!batch->is[k]) continue;
        program_accum brought = contribution(&a->state, c, batch->message[k], a->list.weights, batch->edge[k]);
        TD_ADD(&sums[targets[k]], brought);
    }
}

#include "kernels/gpu/expand.h"
