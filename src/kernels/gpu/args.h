/* What the GPU kernels of a program are given, by value: a common block (td_gpu_state) and one small struct per family
 * of kernels, which the code that launches fills in. Plain data; all pointers are to device memory. */
#ifndef TD_KERNELS_GPU_ARGS_H
#define TD_KERNELS_GPU_ARGS_H

#include "kernels/program.h"

enum {
    TD_GPU_THREADS = 256,      /* of a block, unless stated otherwise */
    TD_GPU_CLUSTER_THREADS = 512, /* of a block of a cluster */
    TD_GPU_TILE = 1024,        /* edges in a piece of a pull */
    TD_GPU_PIECE = 4096,       /* edges in a piece of a high-degree vertex, for a block */
    TD_GPU_WARP_PIECE = 1024,  /* the same for a warp */
    TD_GPU_ALONE = 4,          /* edges a thread of a first-hit pull looks at by itself */
    TD_GPU_LATE = 4096,        /* edges a warp of a first-hit pull looks at before it leaves the rest to a block */
    TD_GPU_SLOTS = 4,          /* of a loop's counters: read, written, cleared, and read a round ago */
    TD_GPU_ROUNDS = 2048,      /* most rounds of one launch */
    TD_GPU_SHARE = 16,         /* a sample's first share is one of that many */
    TD_GPU_DRAWN = 1024,       /* labels drawn to find the commonest */
    TD_GPU_LEVELS = 128,       /* of changes still to be pushed, by their size */
    TD_GPU_SIGN_SUMS = TD_GPU_LEVELS + 1, /* of a sign: those of the levels, and of vertices without edges */
    TD_GPU_LEVEL_SUMS = 2 * TD_GPU_SIGN_SUMS, /* of positive changes, then of negative ones */
};

/* How a push shares out the edges of the frontier. */
typedef enum td_balance { TD_BALANCE_THREAD, TD_BALANCE_CTA, TD_BALANCE_IWB, TD_BALANCE_WARP } td_balance;

typedef struct td_gpu_list {
    const uint64_t *offsets;
    const uint32_t *targets;
    const void *weights;
} td_gpu_list;

/* A shard: consecutive vertices whose accumulators fit shared memory `copies` times (Garaph). */
typedef struct td_gpu_shard {
    uint32_t first, count, copies;
} td_gpu_shard;

/* Extracted lists that lie together: where their vertices, places, targets and weights are; parts of them before this
 * one are counted in groups of a warp. */
typedef struct td_gpu_extract {
    const uint32_t *vertices, *places, *targets;
    const void *weights;
    uint32_t parts, groups_before;
} td_gpu_extract;

/* An edge that a sweep may still have to see, kept on the device: ends that have its ends' labels, and the weight in
 * ordered bits above the number (context.edge_bits of it). */
typedef struct td_gpu_edge {
    uint32_t u, v;
    uint64_t key;
} td_gpu_edge;

/* What a kernel counts. */
typedef struct td_gpu_tally {
    uint64_t edges, activated, activated_edges, total;
    double change, share;
    uint64_t lowest; /* peeling: the least value of those that stay */
    uint64_t late;   /* first-hit pulls: vertices left to blocks */
    uint64_t host_bytes; /* read of the host's memory, in whole sectors */
    double lost, offset;     /* changes: sums of what values send nobody (1 - program_arrives), and of program_offset */
} td_gpu_tally;

/* The counters of a loop of rounds. A round reads slot i, adds to slot i + 1 and clears slot i + 2. */
typedef struct td_gpu_slot {
    uint64_t edges; /* of the vertices queued */
    uint32_t count, pieces;
} td_gpu_slot;

typedef struct td_gpu_row {
    uint64_t edges; /* of the frontier */
    uint32_t vertices, split; /* split: the round dealt out the far vertices and did no edges */
} td_gpu_row;

typedef struct td_gpu_control {
    td_gpu_tally tally;
    td_gpu_slot slot[TD_GPU_SLOTS];
    uint32_t rounds;              /* done by the last launch */
    uint32_t at;                  /* the slot to go on with */
    uint32_t far_count[2], far_at; /* priorities: vertices put off, and the list they are in */
    uint32_t far_lowest;          /* found by the split under way; all bits set otherwise */
    uint32_t bound;               /* priorities up to it are near */
    uint32_t left_count;          /* peeling: vertices that stay */
    uint32_t edge_count;          /* of the forest so far */
    uint32_t given;               /* vertices that changed, listed for the host */
    uint32_t barrier;             /* where the blocks of a loop meet */
    uint64_t kept_count, aside_count; /* sweeps: edges kept so far, edges put aside */
    uint64_t part_began;          /* kept before the part of the lists under way */
    uint64_t left_edges;          /* of the frontier that a lean loop left */
    td_gpu_row rows[TD_GPU_ROUNDS];
} td_gpu_control;

/* The common block: the state of a run on the device, which nearly every kernel of a program reads. */
typedef struct td_gpu_state {
    td_context context;
    uint32_t vertices;
    uint32_t weights;             /* td_weight_kind */
    const uint64_t *out_offsets;  /* of the out-lists, for out-degrees */
    const uint64_t *push_offsets; /* of the whole lists that a program pushes along; launches may process parts */
    void *values, *next_values, *messages, *next_messages;
    uint32_t *active, *next_active; /* bitmaps; active 0, in sweeps: all vertices */
    td_gpu_control *control;
    uint8_t weight_bits;          /* packed weights: bits of the weight at the top of every target word; 0: none */
    uint8_t symmetric, async, first_hit;
} td_gpu_state;

/* The part of the adjacency lists that a launch processes. */
typedef struct td_gpu_part {
    uint64_t first_edge, end_edge;
    const uint64_t *skip;         /* sums over vertices of the leading edges that the launch leaves out; 0: none */
    const uint64_t *light;        /* sums over vertices of the light edges, which come first; 0: all alike */
    uint32_t first_vertex, end_vertex;
    uint8_t heavy_edges;          /* the launch processes the edges behind the light ones, instead of those */
    uint8_t from_host;            /* the edges are read from the host's memory, and their bytes are counted */
    uint8_t weight_bytes;         /* of an edge, beside its target */
} td_gpu_part;

/* First values. */
typedef struct td_init_args {
    td_gpu_state state;
    uint8_t resumed;              /* values and active vertices are those of a checkpoint */
} td_init_args;

/* The frontier from a bitmap into a queue, and back. */
typedef struct td_queue_args {
    td_gpu_state state;
    uint32_t *queue;
    uint32_t count;               /* of the queue, for the way back */
} td_queue_args;

/* Useful edges of every subgraph of 2^shift edges. */
typedef struct td_useful_args {
    td_gpu_state state;
    const uint64_t *offsets;
    td_gpu_part part;
    uint64_t *useful;
    uint32_t shift;
} td_useful_args;

/* Compressed targets of a subgraph, and where they go. */
typedef struct td_decompress_args {
    const uint32_t *compressed;
    uint64_t edges;
    uint32_t *targets;
} td_decompress_args;

/* Where adjacency lists begin, for segmented sums along all of them. */
typedef struct td_gpu_segments {
    const uint32_t *heads;        /* a bit per edge, set where a list begins */
    const uint32_t *lists;        /* the vertices that have a list, in its order */
    const uint32_t *lists_before; /* lists that begin before a piece of TD_GPU_TILE edges */
    uint64_t edges;
} td_gpu_segments;

/* Gather-sums along pieces of the lists. */
typedef struct td_pull_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_segments segments;
    uint64_t first_piece, end_piece;
    void *sums;                   /* program_accum per vertex */
} td_pull_args;

/* The same along compressed targets. */
typedef struct td_pull_compressed_args {
    td_pull_args pull;
    const uint32_t *compressed;
    const uint64_t *starts;       /* of several subgraphs in a row: where each begins, counted from base; 0: one */
    uint64_t base;
    uint32_t shift;               /* a subgraph has 2^shift edges */
} td_pull_compressed_args;

/* Sums into values. */
typedef struct td_apply_args {
    td_gpu_state state;
    void *sums;
    uint32_t first_vertex, end_vertex;
} td_apply_args;

/* Gather-sums by shards. */
typedef struct td_shard_args {
    td_gpu_state state;
    td_gpu_list list;
    const td_gpu_shard *shards;
    const uint16_t *targets;      /* of every edge, its vertex counted from the shard's first */
    uint32_t count;
} td_shard_args;

/* First-hit pulls. */
typedef struct td_hit_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint32_t *late;               /* vertices left to whole blocks */
    uint8_t adding;               /* the launch adds to what an earlier one found */
} td_hit_args;

/* Pushes along edges, whichever kernel finds them. */
typedef struct td_push_args {
    td_gpu_state state;
    td_gpu_list list;
    uint64_t *pieces;             /* of high-degree vertices: vertex and number of the piece */
    uint32_t *far_map;            /* priorities: bitmap of the vertices put off */
    void *sums;                   /* of linear programs, which push changes */
    double one_over_delta;
    uint32_t high_degree;         /* from which a vertex is cut into pieces */
    uint8_t lean;                 /* small degrees: loops go by the number of vertices, not of edges */
    uint8_t again;                /* vertices are taken from next_active, while others are added to it */
} td_push_args;

/* Rounds of pushes inside one launch, by levels or priorities. */
typedef struct td_loop_args {
    td_push_args push;
    uint32_t *queue[2];           /* the frontiers; that of an even round first */
    uint32_t *far[2];             /* priorities: vertices put off */
    uint64_t leave_edges, stay_edges; /* the loop ends when the frontier has more, or fewer */
    uint32_t most_rounds;
    uint32_t balance;             /* td_balance */
    uint32_t mean_degree;
    uint8_t cluster;              /* the launch is one cluster of blocks */
    uint8_t has_high_degree;      /* the graph may have vertices of that degree */
} td_loop_args;

/* Pushes along a part of the lists. */
typedef struct td_push_part_args {
    td_push_args push;
    td_gpu_part part;
    uint32_t *rest, *heavy_rest;  /* bitmaps that collect the vertices whose light and heavy edges behind the resident
                                   * prefix are still to be processed; 0: none */
    uint32_t bound;               /* priorities up to it are near */
} td_push_part_args;

/* Pushes along extracted lists. */
typedef struct td_push_extracted_args {
    td_push_args push;
    const td_gpu_extract *extracts; /* count of them, and one more that tells where the last ends */
    uint32_t count;
    uint32_t bound;
} td_push_extracted_args;

/* Priorities between loops: the vertices put off. */
typedef struct td_far_args {
    td_gpu_state state;
    uint32_t *far, *far_map;
    double one_over_delta;
    uint32_t bound;
} td_far_args;

/* Peeling: the vertices left. */
typedef struct td_peel_args {
    td_gpu_state state;
    uint32_t *left, *next_left;
    uint32_t *queue;              /* vertices that go at this level */
    uint32_t count;               /* of those left */
} td_peel_args;

/* Parents after a run of a minimum. */
typedef struct td_parents_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint32_t *parents;
    uint8_t adding;               /* the launch adds to what an earlier one found */
} td_parents_args;

/* Changes pushed instead of values (changes.h). */
typedef struct td_changes_args {
    td_gpu_state state;
    void *sums;
    double *residuals;            /* what the value of a vertex lacks where offsets count once */
    double *levels;               /* TD_GPU_LEVEL_SUMS */
    uint32_t least_level[2];      /* that pushes, of positive and negative residuals */
    double residual_part[2];      /* of their residuals that they push */
    double offsets_times;         /* the scale: program_offset counts so many times */
    uint8_t whole_values;         /* values were pushed, not changes */
} td_changes_args;

/* Cooperation of values: the frontier comes from the host, the changed vertices go there. */
typedef struct td_exchange_args {
    td_gpu_state state;
    uint32_t *vertices;
    void *values;                 /* of those vertices */
    uint32_t count;
} td_exchange_args;

/* Cooperation of sums: those of the two parts of the lists and of the host. */
typedef struct td_merge_args {
    td_gpu_state state;
    void *sums, *rest_sums;
    const void *host_sums;        /* of host_count vertices from host_first on */
    uint32_t host_first, host_count;
    uint32_t first_vertex, end_vertex;
} td_merge_args;

/* Sweeps over edges. */
typedef struct td_sweep_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint64_t *pieces;             /* of high-degree vertices */
    td_gpu_edge *kept;            /* room for the edges that later sweeps have to see */
    uint64_t kept_room;
    uint32_t high_degree;
    uint32_t sampled;             /* leading edges of every list that samples have seen */
    uint32_t left_out;            /* label of the component that is skipped, */
    uint8_t skipping;             /* if one is */
    uint8_t keeps_vertices;       /* next_active collects the vertices that have edges for the next sweep */
    uint8_t keeps_edges;          /* the edges themselves are kept, as long as there is room */
} td_sweep_args;

/* A sample of edges: the one at `step` of every list of the share. */
typedef struct td_sample_args {
    td_gpu_state state;
    td_gpu_list list;
    uint32_t step, share;
} td_sample_args;

/* The vertices that a sweep visits. */
typedef struct td_choose_args {
    td_gpu_state state;
    uint32_t *chosen;             /* bitmap */
    uint32_t left_out;
    uint8_t skipping;
} td_choose_args;

/* Work on every vertex between sweeps. */
typedef struct td_between_args {
    td_gpu_state state;
    uint32_t step;                /* of program_between */
} td_between_args;

/* Labels of vertices: of all, or in place of TD_GPU_DRAWN vertices. */
typedef struct td_labels_args {
    td_gpu_state state;
    uint32_t *labels;
} td_labels_args;

/* The edges that a round adds to the forest. */
typedef struct td_collect_args {
    td_gpu_state state;
    uint64_t *edges;
} td_collect_args;

/* Sweeps over edges kept on the device. */
typedef struct td_kept_args {
    td_gpu_state state;
    td_gpu_edge *kept, *aside;    /* aside: those of the stretch that stay */
    uint64_t room, first, end;    /* first .. end - 1: the stretch that the launch processes */
    uint32_t *part_kept;          /* of every subgraph: whether all its edges that matter are kept */
    uint32_t part;                /* the first subgraph of the launch whose edges were kept */
} td_kept_args;

#endif
