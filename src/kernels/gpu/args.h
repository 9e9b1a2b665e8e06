/* What the GPU kernels of a program are given: one struct for all of them, plain
 * data, filled in by the engine. All pointers are to device memory. */
#ifndef TD_KERNELS_GPU_ARGS_H
#define TD_KERNELS_GPU_ARGS_H

#include "kernels/program.h"

enum {
    TD_GPU_THREADS = 256,      /* of a block, unless stated otherwise */
    TD_GPU_CLUSTER_THREADS = 512, /* of a block of a cluster */
    TD_GPU_TILE = 1024,        /* edges in a piece of a pull */
    TD_GPU_PIECE = 4096,       /* edges in a piece of a heavy vertex, for a block */
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
    uint32_t given;               /* vertices that changed, to be told the host */
    uint32_t barrier;             /* where the blocks of a loop meet */
    uint64_t kept_count, aside_count; /* sweeps: edges kept so far, edges put aside */
    uint64_t part_began;          /* kept before the part of the lists under way */
    uint64_t left_edges;          /* of the frontier that a lean loop left */
    td_gpu_row rows[TD_GPU_ROUNDS];
} td_gpu_control;

typedef struct td_gpu_args {
    td_context context;
    uint32_t vertices;
    uint32_t weights;             /* td_weight_kind */
    td_gpu_list pull, push;       /* what a vertex gathers from, what it tells; undirected views are one list */
    const uint64_t *told;         /* offsets of the whole lists that vertices tell: a push may go over parts */
    const uint64_t *out;          /* offsets of the out-lists, for out-degrees */
    void *values, *next_values, *messages, *next_messages;
    uint32_t *active, *next_active; /* bitmaps */
    uint32_t *queue[2];           /* vertices; the one of an even round first */
    uint32_t *far[2], *far_map;   /* priorities: vertices put off, and their bitmap */
    uint64_t *pieces;             /* of heavy vertices: vertex and number of the piece */
    uint32_t *late;
    uint32_t *left, *next_left;   /* peeling */
    const uint32_t *heads;        /* a bit per edge pulled along, set where a list begins */
    const uint32_t *lists;        /* the vertices that have a list, in its order */
    const uint32_t *lists_before; /* lists that begin before a piece */
    uint64_t pull_edges;
    uint64_t first_piece, end_piece;   /* of this launch */
    uint32_t first_vertex, end_vertex; /* that it gives values to */
    void *sums;                   /* program_accum per vertex */
    const td_gpu_shard *shards;
    const uint16_t *shard_targets;/* of every edge, its vertex counted from the shard's first */
    uint32_t shard_count;
    uint32_t *parents;
    uint64_t *edges;              /* of a forest */
    uint32_t *drawn, *labels;
    /* Streams: the edges of a list that a launch goes over, where they are at the time. */
    uint64_t first_edge, end_edge;/* those outside are left to other launches */
    const uint64_t *skip;         /* sums over vertices of edges that lists begin with and are not meant; 0: none */
    const uint64_t *light;        /* the same of edges too light to leave a step of distances; 0: all alike */
    uint32_t *rest, *heavy_rest;  /* bitmaps: whose lists' rest, the light and the heavy one, is untold; 0: none */
    uint64_t *useful;             /* of every subgraph: edges of active vertices */
    uint32_t subgraph_shift;      /* a subgraph has 2^shift edges */
    const td_gpu_extract *extracts; /* extracted lists of a launch, so many, and one that tells where the last ends */
    uint32_t extract_count;
    const uint32_t *narrow;       /* a subgraph's targets in fewer bits, so many of them, and where they get whole */
    const uint64_t *narrow_at;    /* of several subgraphs in a row: where each begins, from narrow_base; 0: one */
    uint64_t narrow_base, narrow_edges;
    uint32_t *window;
    td_gpu_edge *kept, *aside;    /* sweeps: room for edges kept; for those of a stretch of them that stay */
    uint64_t kept_room, kept_first, kept_end; /* the stretch that a launch goes over */
    uint32_t *part_kept;          /* of every subgraph: whether all its edges that matter are kept */
    uint32_t part;                /* the subgraph that the launch begins with */
    uint32_t bound;               /* priorities up to it are near */
    uint32_t sampled;             /* edges that a skipping sweep leaves out at the begin of a list */
    uint8_t from_host;            /* the edges are read from the host's memory, and that is counted */
    uint8_t weight_bytes;         /* of an edge */
    uint8_t weight_bits;          /* at the top of every target's word, with its weight; 0: targets alone */
    uint8_t heavies;              /* the launch is about edges that are not light */
    uint8_t again;                /* vertices are taken from next_active, while others are added to it */
    uint8_t adding;               /* a first-hit pull adds to what an earlier launch found */
    uint8_t keeps_edges;          /* a sweep keeps edges, as long as there is room */
    uint8_t keeps;                /* a sweep notes in next_active the vertices that have edges for the next */
    /* Changes told instead of values (changes.h). */
    double *residuals;            /* what the value of a vertex lacks where offsets count once */
    double *levels;               /* TD_GPU_LEVEL_SUMS */
    uint32_t least_level[2];      /* that pushes, of positive and negative residuals */
    double residual_part[2];      /* of their residuals that they push */
    double offsets_times;         /* the scale: program_offset counts so many times */
    uint8_t whole_values;         /* values were told, not changes */
    /* Cooperation: what comes from the host, or goes there. */
    uint32_t *given_vertices;     /* with their values in `given`; of sums: those of the vertices from given_first on */
    void *given, *more_sums;      /* more_sums: of the second part of the lists */
    uint32_t given_first, given_count;
    td_gpu_control *control;
    double one_over_delta;
    uint64_t leave_edges, stay_edges; /* a loop ends when the frontier has more, or fewer */
    uint32_t most_rounds;
    uint32_t heavy;               /* degree from which a vertex is cut into pieces */
    uint32_t balance;             /* td_balance */
    uint32_t queue_count;
    uint32_t step;                /* of program_between; of samples */
    uint32_t samples, share;
    uint32_t left_out;            /* sweeps: the label that may be skipped */
    uint32_t mean_degree;
    uint8_t symmetric, async, skipping, first_hit, cluster;
    uint8_t has_heavy;            /* there may be vertices of that degree */
    uint8_t resumed;              /* values and active vertices are those of a checkpoint, to begin with */
    uint8_t lean;                 /* small degrees: loops go by the number of vertices, not of edges */
} td_gpu_args;

#endif
