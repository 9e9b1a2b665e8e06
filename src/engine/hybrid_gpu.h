/* The GPU of the hybrid engine: vertices on it, a few slots that pages are copied to. */
#ifndef TD_ENGINE_HYBRID_GPU_H
#define TD_ENGINE_HYBRID_GPU_H

#include "engine/gpu_job.h"
#include "engine/hybrid.h"

enum { TD_HYBRID_SLOTS = 3 }; /* Garaph's streams: one page being copied, one worked on, one coming back */

typedef struct td_hybrid_slot {
    struct td_hybrid_gpu *gpu;
    td_stream *stream;
    uint32_t *targets;    /* on the device */
    void *weights;
    bool busy;
    uint32_t place;       /* of the order: the page in it */
    uint64_t edges, asked;
} td_hybrid_slot;

typedef struct td_hybrid_gpu {
    td_hybrid_job *hybrid;
    td_gpu_job job;
    td_loop *loop;        /* not the disk's: what is left in it goes with the run */
    td_device *first;
    td_hybrid_slot slots[TD_HYBRID_SLOTS];
    uint64_t slot_edges;
    uint32_t flights;
    uint64_t free_at;     /* when the last page was done */
    uint64_t *piece_of;   /* of every page: its first piece; and its first list */
    uint64_t *list_of;
    uint32_t *heads, *lists, *before; /* td_gpu_args, page by page */
    void *pinned[2];      /* a graph's lists in memory */
    td_status status;
    char message[TD_MESSAGE_BYTES];
} td_hybrid_gpu;

td_status td_hybrid_gpu_open(td_hybrid_job *self);
void td_hybrid_gpu_close(td_hybrid_job *self);
bool td_hybrid_gpu_takes(const td_hybrid_gpu *gpu, uint32_t page); /* whether a slot is large enough */

/* An iteration: the host's values go over, pages fly, what was counted is added. */
td_status td_hybrid_gpu_begin(td_hybrid_gpu *gpu);
td_status td_hybrid_gpu_fly(td_hybrid_gpu *gpu, td_hybrid_slot *slot, uint32_t place);
td_status td_hybrid_gpu_end(td_hybrid_gpu *gpu, td_cpu_tally *sum);

#endif
