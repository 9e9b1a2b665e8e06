/* Device memory of a run whose edges are all on one device. */
#ifndef TD_GPU_BYTES_H
#define TD_GPU_BYTES_H

#include "gpu/lists.h"

/* Choices that the sizes depend on besides program, graph and options. */
typedef struct td_gpu_choice {
    td_direction direction;
    bool shards;
    uint64_t high_degree; /* minimum degree at which a list is divided */
    td_device *device;    /* an emulated device's memory is host memory; NULL: host memory is not measured */
    td_cores cores;
} td_gpu_choice;
static const td_gpu_choice td_gpu_default_choice = {TD_DIRECTION_AUTO, false, TD_GPU_PIECE, NULL, TD_CORES_ROUNDS};

/* Bytes on the device: the graph's arrays, its edges alone, the program's arrays. */
typedef struct td_gpu_bytes {
    uint64_t graph, edges, program;
    uint64_t host; /* peak host memory, including an emulated device's memory */
    uint64_t copies; /* of lists that are in a mapped file before the run, and stay in host memory from then on */
    uint64_t list_edges, edge_bytes; /* edges of one list; bytes of one edge */
    bool both;                  /* out- and in-list of a vertex form one list */
} td_gpu_bytes;
td_status td_gpu_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, td_gpu_bytes *out);

/* Refuses a run that does not fit on the device or exceeds the request's limits on it. */
td_status td_gpu_check_fit(const td_program *program, const td_gpu_bytes *need, const td_run_options *options,
                           const td_device *device);
/* The same for an estimate, with so many bytes on a GPU that is not open; a short reason. */
td_status td_gpu_check_room(const td_gpu_bytes *need, const td_run_options *options, uint64_t room);
td_status td_gpu_check_vertices(const td_graph *graph, const char *engine);

/* Host memory of a run besides its arrays: the copy of every GPU's counters, the run and its first rows. */
uint64_t td_gpu_run_bytes(int gpus);

#endif
