/* What a run whose edges are all on one device takes there, before it takes it. */
#ifndef TD_GPU_BYTES_H
#define TD_GPU_BYTES_H

#include "gpu/lists.h"

/* What the sizes depend on besides program, graph and options. */
typedef struct td_gpu_choice {
    td_direction direction;
    bool shards;
    uint64_t heavy; /* degree from which a vertex is cut into pieces */
    td_device *device; /* whose memory is the host's, if it is emulated; NULL: the host's is not asked for */
} td_gpu_choice;
static const td_gpu_choice td_gpu_default_choice = {TD_DIRECTION_AUTO, false, TD_GPU_PIECE, NULL};

/* Bytes on the device: the graph's, those of its edges alone, and the program's. */
typedef struct td_gpu_bytes {
    uint64_t graph, edges, program;
    uint64_t host; /* of the host's memory at its peak, an emulated device's included */
    uint64_t list_edges, edge_bytes; /* of one list; of one edge */
    bool both;                  /* one list of both ways */
} td_gpu_bytes;
td_status td_gpu_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, td_gpu_bytes *out);

/* Refuses a run that does not fit the device, or that the request's caps on it do not allow. */
td_status td_gpu_check_fit(const td_program *program, const td_gpu_bytes *need, const td_run_options *options,
                           const td_device *device);
td_status td_gpu_check_vertices(const td_graph *graph, const char *engine);


#endif
