/* The GPU of the hybrid engine: all vertices on it, and a few slots for pages. */
#ifndef TD_ENGINE_HYBRID_GPU_H
#define TD_ENGINE_HYBRID_GPU_H

#include "gpu/launch.h"
#include "engine/hybrid/hybrid.h"

enum { TD_HYBRID_SLOTS = 3 }; /* Garaph's streams: one page is copied, one is processed, one's values are copied back */
enum { TD_HYBRID_LARGEST_SLOT = 4 << 20 }; /* edges */
enum { TD_HYBRID_EDGE_BYTES = 16 }; /* bytes per edge on the CPU, for virtual clocks */

typedef struct td_hybrid_slot {
    struct td_hybrid_gpu *gpu;
    td_stream *stream;
    uint32_t *targets;    /* on the device */
    void *weights;
    void *staged[2];      /* pinned buffer of a page from disk; NULL: the graph is in memory */
    bool busy;
    uint32_t place;       /* position in the order of the page in the slot */
    uint64_t edges, asked;
} td_hybrid_slot;

typedef struct td_hybrid_gpu {
    td_hybrid_job *hybrid;
    td_gpu_job job;
    td_gpu_set *set;      /* its event loop is not the disk's */
    td_hybrid_slot slots[TD_HYBRID_SLOTS];
    uint64_t slot_edges;
    uint32_t flights;
    uint64_t free_at;     /* end of the last page */
    uint64_t busy_ns;     /* time spent on pages so far */
    bool ready;           /* the values have been copied */
    uint64_t begun;       /* start of that copy */
    double setup_ns;      /* duration of that copy */
    double link_rate;     /* edges per ns over the link, measured when the run began */
    double end_ns;        /* time to copy the counters back */
    uint64_t *piece_of;   /* first piece, and first list, of every page */
    uint64_t *list_of;
    uint32_t *heads, *lists, *before; /* td_gpu_segments of all pages */
    void *pinned[16];     /* pinned lists of a graph in memory, values, buffers of pages */
    int pinned_count;
    td_status status;
    td_failure failure;
} td_hybrid_gpu;

td_status td_hybrid_gpu_open(td_hybrid_job *self);
uint64_t td_hybrid_gpu_slot(const td_hybrid_job *self);       /* edges of a slot */
/* Device memory of a run, measured by the functions that allocate it; the number of pieces is estimated. */
td_status td_hybrid_gpu_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                                uint64_t slot_edges, td_gpu_memory *out);
/* Host memory of an emulated GPU; 0 for a real one. */
uint64_t td_hybrid_gpu_emulated_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                      uint64_t slot_edges);
/* Host memory that the GPU needs, including an emulated GPU's and the buffers of pages from disk. */
uint64_t td_hybrid_gpu_host_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  uint64_t slot_edges, bool on_disk);
void td_hybrid_gpu_unpin(td_hybrid_gpu *gpu);                 /* call before the result is copied; NULL is allowed */
void td_hybrid_gpu_close(td_hybrid_job *self);
bool td_hybrid_gpu_takes(const td_hybrid_gpu *gpu, uint32_t page); /* whether the page fits in a slot */

void td_hybrid_gpu_record_status(td_hybrid_gpu *gpu, td_status status); /* keeps the first failure with its message */
/* When the completion that is being handled was posted, not when it is handled. */
uint64_t td_hybrid_gpu_done_at(const td_hybrid_gpu *gpu);

/* An iteration: starts the copy of the host's values; launches pages once it has ended; adds the counters. */
td_status td_hybrid_gpu_begin(td_hybrid_gpu *gpu);
td_status td_hybrid_gpu_launch(td_hybrid_gpu *gpu, td_hybrid_slot *slot, uint32_t place);
td_status td_hybrid_gpu_end(td_hybrid_gpu *gpu, td_cpu_tally *sum);

#endif
