/* Compressed subgraphs on the device. Slots hold compressed targets, so that more subgraphs are resident. Sweeps and
 * pushes expand them into a window first; pulls decompress while they gather. */
#include "engine/stream/stream.h"

/* Expands the targets of the subgraph in the slot into the window. */
td_status td_streaming_decompress(td_streaming_job *self, const td_slot *slot)
{
    const td_link_list *list = self->crossing;
    td_decompress_args args = {.compressed = slot->targets, .targets = self->layout->window,
                           .edges = td_link_end(list, slot->subgraph) - td_link_begin(list, slot->subgraph)};
    return td_gpu_launch(&self->gpu, self->gpu.stream, &self->gpu.kernels->decompress,
                         (args.edges + TD_COMPRESS_GROUP - 1) / TD_COMPRESS_GROUP * 32, &args);
}
