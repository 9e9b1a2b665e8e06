/* Compressed subgraphs on the device: sweeps expand a subgraph's targets into a window before they process it; sums are
 * made along the compressed targets. Slots hold subgraphs as they crossed, so that more of them stay. */
#include "engine/stream/stream.h"

/* A subgraph's targets into the window; sums are made along them as they crossed. */
td_status td_streaming_widen(td_streaming_job *self, const td_slot *slot)
{
    td_gpu_args *a = &self->gpu.args;
    a->narrow = slot->targets;
    a->narrow_at = NULL;
    a->subgraph_shift = self->crossing->shift;
    a->narrow_edges = td_link_end(self->crossing, slot->subgraph) - td_link_begin(self->crossing, slot->subgraph);
    a->window = self->held->window;
    if (self->work == TD_WORK_SUM) return TD_OK;
    return td_gpu_launch(&self->gpu, &self->gpu.kernels->widen,
                         (a->narrow_edges + TD_NARROW_GROUP - 1) / TD_NARROW_GROUP * 32);
}
