/* Device memory of a run whose edges are all on one device. */
#ifndef TD_GPU_BYTES_H
#define TD_GPU_BYTES_H

#include "gpu/lists.h"

/* Choices that the sizes depend on besides program, graph and options. */
typedef struct td_gpu_choice {
    td_direction direction;
    bool shards;
<<<<<<< e5d1157dfb9668bce73f3bff43cb6b70577d0c9f
    uint64_t high_degree; /* minimum degree at which a list is divided */
=======
    uint64_t high_degree; /* degree from which a vertex is cut into pieces */
    td_device *device; /* whose memory is the host's, if it is emulated; NULL: the host's is not asked for */
>>>>>>> d1d0986c19a13dee4d4054e3c329e7e7be53dbbc
} td_gpu_choice;
static const td_gpu_choice td_gpu_default_choice = {TD_DIRECTION_AUTO, false, TD_GPU_PIECE, NULL};

/* Bytes on the device: the graph's arrays, its edges alone, the program's arrays. */
typedef struct td_gpu_bytes {
    uint64_t graph, edges, program;
<<<<<<< e5d1157dfb9668bce73f3bff43cb6b70577d0c9f
    uint64_t host; /* peak host memory of loading */
    uint64_t list_edges, edge_bytes; /* edges of one list; bytes of one edge */
    bool both;                  /* out- and in-list of a vertex form one list */
=======
    uint64_t host; /* of the host's memory at its peak, an emulated device's included */
    uint64_t list_edges, edge_bytes; /* of one list; of one edge */
    bool both;                  /* one list of both ways */
>>>>>>> d1d0986c19a13dee4d4054e3c329e7e7be53dbbc
} td_gpu_bytes;
td_status td_gpu_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, td_gpu_bytes *out);

/* Refuses a run that does not fit on the device or exceeds the request's limits on it. */
td_status td_gpu_check_fit(const td_program *program, const td_gpu_bytes *need, const td_run_options *options,
                           const td_device *device);
td_status td_gpu_check_vertices(const td_graph *graph, const char *engine);


#endif
