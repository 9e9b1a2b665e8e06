/* The GPU of the hybrid engine: all vertices on it, and a few slots for pages. */
#ifndef TD_ENGINE_HYBRID_GPU_H
#define TD_ENGINE_HYBRID_GPU_H

#include "gpu/launch.h"
#include "gpu/shards.h"
#include "engine/hybrid/hybrid.h"

enum { TD_HYBRID_SLOTS = 3 }; /* Garaph's streams: one page is copied, one is processed, one's values are copied back */
enum { TD_HYBRID_LARGEST_SLOT = 4 << 20 }; /* edges */
enum { TD_HYBRID_EDGE_BYTES = 16 }; /* bytes per edge on the CPU, for virtual clocks */

enum { TD_STAGED_TARGETS, TD_STAGED_WEIGHTS, TD_STAGED_NAMES, TD_STAGES };

typedef struct td_hybrid_slot {
    struct td_hybrid_gpu *gpu;
    td_stream *stream;
    uint32_t *targets;    /* on the device: the page's edges in the first list, then those in the second */
    void *weights;
    uint16_t *names;      /* shards: the vertices of the edges; NULL: gather by rows */
    void *staged[TD_STAGES]; /* pinned buffers of a page: targets and weights of a page from disk, names */
    bool busy;
    uint32_t place;       /* position in the order of the page in the slot */
    uint64_t edges, asked;
    uint64_t second;      /* where the edges of the second list begin */
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
    uint64_t overlap_ns;  /* of this iteration: a page here and one on the CPU at the same time */
    uint64_t noted;       /* up to which it is counted */
    bool cpu_works;       /* the CPU has a page */
    int lists_of_vertex;  /* 2: values flow both ways along the edges of a directed graph */
    uint64_t *piece_of;   /* first piece, and first list, of every page and list: [2 * page + side] */
    uint64_t *list_of;
    uint32_t *heads, *lists, *before; /* td_gpu_segments of all pages */
    void *other_sums;     /* sums along the second list */
    bool by_shards;       /* hybrid.gather */
    uint32_t copies;      /* hybrid.replication; 0: customised */
    uint32_t shard_bytes; /* shared memory of a shard */
    td_gpu_shard *shards; /* on the device: of all pages */
    td_gpu_shard_list shard_list;
    uint64_t *shard_of;   /* first shard of every page */
    uint16_t *names[2];   /* graph in memory: the vertices of all edges, by list, relative to their shards' first */
    void *pinned[24];     /* pinned lists of a graph in memory, values, buffers of pages */
    int pinned_count;
    td_status status;
    td_failure failure;
} td_hybrid_gpu;

td_status td_hybrid_gpu_open(td_hybrid_job *self);
/* Whether the event loop's state up to `now` is overlap; call before the state changes. */
void td_hybrid_gpu_note(td_hybrid_gpu *gpu, uint64_t now);
/* The most edges of a slot that {gpu_memory} allows: all slots with what a run needs besides (Garaph's page is a stream's
 * part of the memory). UINT64_MAX: no limit; 0: not even the smallest slots fit, and *least is what is needed: with
 * hybrid.use=gpu slots for every 64 vertices' edges. */
td_status td_hybrid_gpu_most(const td_program *program, const td_graph *graph, const td_run_options *options,
                             uint64_t *most, uint64_t *least);
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

/* Of a page and one of its lists: its place in the tables of list starts; its edges; their 16-bit vertices, relative to
 * their shards' first. */
uint64_t td_hybrid_gpu_part(const td_hybrid_gpu *gpu, uint32_t page, int side);
uint64_t td_hybrid_gpu_edges(const td_hybrid_gpu *gpu, uint32_t page, int side);
void td_hybrid_gpu_name(const td_hybrid_gpu *gpu, uint32_t page, int side, uint16_t *names);

/* An iteration (gpu_pull.c): starts the copy of the host's values; launches pages once it has ended; adds the counters. */
td_status td_hybrid_gpu_begin(td_hybrid_gpu *gpu);
td_status td_hybrid_gpu_launch(td_hybrid_gpu *gpu, td_hybrid_slot *slot, uint32_t place);
td_status td_hybrid_gpu_end(td_hybrid_gpu *gpu, td_cpu_tally *sum);

#endif
