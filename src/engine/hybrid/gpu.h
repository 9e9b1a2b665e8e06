/* The GPU of the hybrid engine: vertices on it, a few slots that pages are copied to. */
#ifndef TD_ENGINE_HYBRID_GPU_H
#define TD_ENGINE_HYBRID_GPU_H

#include "gpu/launch.h"
#include "engine/hybrid/hybrid.h"

enum { TD_HYBRID_SLOTS = 3 };       /* Garaph's streams: one page being copied, one worked on, one coming back */
enum { TD_HYBRID_LARGEST_SLOT = 4 << 20 }; /* edges */
enum { TD_HYBRID_EDGE_BYTES = 16 }; /* that an edge costs the processor, for virtual clocks */

typedef struct td_hybrid_slot {
    struct td_hybrid_gpu *gpu;
    td_stream *stream;
    uint32_t *targets;    /* on the device */
    void *weights;
    void *staged[2];      /* where a page from disk waits for its copy: memory that is pinned; or NULL */
    bool busy;
    uint32_t place;       /* of the order: the page in it */
    uint64_t edges, asked;
} td_hybrid_slot;

typedef struct td_hybrid_gpu {
    td_hybrid_job *hybrid;
    td_gpu_job job;
    td_gpu_set *set;      /* its loop is not the disk's */
    td_hybrid_slot slots[TD_HYBRID_SLOTS];
    uint64_t slot_edges;
    uint32_t flights;
    uint64_t free_at;     /* when the last page was done */
    uint64_t busy_ns;     /* with pages, so far */
    bool ready;           /* the values are there */
    uint64_t begun;       /* when they began to cross */
    double setup_ns;      /* how long that took */
    double link_rate;     /* edges a ns that can cross, as far as was seen when the run began */
    double end_ns;        /* and how long what was counted took to come back */
    uint64_t *piece_of;   /* of every page: its first piece; and its first list */
    uint64_t *list_of;
    uint32_t *heads, *lists, *before; /* td_gpu_segments, page by page */
    void *pinned[16];     /* a graph's lists in memory, the values, where pages wait */
    int pinned_count;
    td_status status;
    td_failure failure;
} td_hybrid_gpu;

td_status td_hybrid_gpu_open(td_hybrid_job *self);
uint64_t td_hybrid_gpu_slot(const td_hybrid_job *self);       /* edges of the largest page that it takes */
/* What a run takes on the device, measured by the functions that allocate it; the pages' pieces are a guess. */
td_status td_hybrid_gpu_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                                uint64_t slot_edges, td_gpu_memory *out);
/* An emulated one's own memory, which is the host's; 0 of any other. */
uint64_t td_hybrid_gpu_emulated_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                      uint64_t slot_edges);
/* What it takes of the host's memory, an emulated one's own included; from disk pages wait there for their copy. */
uint64_t td_hybrid_gpu_host_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  uint64_t slot_edges, bool on_disk);
void td_hybrid_gpu_unpin(td_hybrid_gpu *gpu);                 /* before the values are handed over; NULL is fine */
void td_hybrid_gpu_close(td_hybrid_job *self);
bool td_hybrid_gpu_takes(const td_hybrid_gpu *gpu, uint32_t page); /* whether a slot is large enough */

void td_hybrid_gpu_note(td_hybrid_gpu *gpu, td_status status); /* keeps the first that is not TD_OK, with its message */
/* When what is being handled was done, not when it is heard of. */
uint64_t td_hybrid_gpu_heard(const td_hybrid_gpu *gpu);

/* An iteration: the host's values begin to go over, pages fly once they are there, what was counted is added. */
td_status td_hybrid_gpu_begin(td_hybrid_gpu *gpu);
td_status td_hybrid_gpu_fly(td_hybrid_gpu *gpu, td_hybrid_slot *slot, uint32_t place);
td_status td_hybrid_gpu_end(td_hybrid_gpu *gpu, td_cpu_tally *sum);

#endif
