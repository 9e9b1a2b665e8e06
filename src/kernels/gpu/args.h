/* The arguments of a program's GPU kernels, passed by value: a common block (td_gpu_state) and one small struct per
 * family of kernels, filled in by the code that launches. Plain data; all pointers are to device memory. */
#ifndef TD_KERNELS_GPU_ARGS_H
#define TD_KERNELS_GPU_ARGS_H

#include "device/set.h"
#include "kernels/frontier.h"
#include "kernels/path_decide.h"

enum {
    TD_GPU_THREADS = 256,      /* of a block, unless stated otherwise */
    TD_GPU_CLUSTER_THREADS = 512, /* of a block of a cluster */
    TD_GPU_TILE = 1024,        /* edges in a piece of a pull */
    TD_GPU_PIECE = 4096,       /* edges in a piece of a high-degree vertex, for a block */
    TD_GPU_WARP_PIECE = 1024,  /* the same for a warp */
    TD_GPU_ALONE = 4,          /* edges that one thread of a first-hit pull scans */
    TD_GPU_LATE = 4096,        /* edges that a warp of a first-hit pull scans before it leaves the rest to a block */
    TD_GPU_SLOTS = 4,          /* counters of a loop: being read, being written, being cleared, read a round ago */
    TD_GPU_ROUNDS = 2048,      /* maximum of rounds per launch */
    TD_GPU_SEARCH_ROUNDS = 64, /* the same of a launch that searches */
    TD_GPU_SHARE = 16,         /* one of that many vertices is in a sample's first share */
    TD_GPU_DRAWN = 1024,       /* labels drawn at random to find the most common */
    TD_GPU_LEVELS = 128,       /* levels of pending changes, by size */
    TD_GPU_SIGN_SUMS = TD_GPU_LEVELS + 1, /* sums per sign: one per level, and one for vertices without edges */
    TD_GPU_LEVEL_SUMS = 2 * TD_GPU_SIGN_SUMS, /* positive changes, then negative ones */
    TD_GPU_FRAGMENTS = 16,     /* maximum of fragments of a graph */
    TD_GPU_CHUNKS = 1024,      /* chunks of a fragment's vertices whose active edges are counted */
    TD_GPU_MARKS = 1024,       /* words of a bitmap of edges that a warp lists */
    TD_GPU_DEGREES = 33,       /* classes of degrees: 0, then one per power of two */
};

/* How a push distributes the edges of the frontier over threads. */
typedef enum td_balance { TD_BALANCE_THREAD, TD_BALANCE_CTA, TD_BALANCE_IWB, TD_BALANCE_WARP } td_balance;

typedef struct td_gpu_list {
    const uint64_t *offsets;
    const uint32_t *targets;
    const void *weights;
} td_gpu_list;

/* A shard: consecutive vertices whose accumulators fit shared memory `copies` times (Garaph), and where its edges are in
 * one or two lists (of a graph whose values flow both ways). */
typedef struct td_gpu_shard {
    uint64_t begin[2], end[2];
    uint32_t first, count, copies;
} td_gpu_shard;

/* Extracted lists that are contiguous: their vertices, offsets, targets and weights. For sweeps the number of every
 * part's first edge follows the offsets, at the next multiple of 16 bytes. groups_before: groups of 32 parts
 * in the extracts before this one. */
typedef struct td_gpu_extract {
    const uint32_t *vertices, *places, *targets;
    const void *weights;
    uint32_t parts, groups_before;
} td_gpu_extract;

/* An edge kept on the device for later sweeps. u and v: vertices with the labels of its ends; key: the weight's ordered
 * bits above the edge number, which has context.edge_bits bits. */
typedef struct td_gpu_edge {
    uint32_t u, v;
    uint64_t key;
} td_gpu_edge;

/* The counters of a kernel. */
typedef struct td_gpu_tally {
    uint64_t edges, activated, activated_edges, total;
    double change, share;
    uint64_t lowest; /* peeling: the lowest value among the remaining vertices */
    uint64_t late;   /* first-hit pulls: vertices left to blocks */
    uint64_t host_bytes; /* read of the host's memory, in whole sectors */
    uint64_t host_edges; /* that these bytes were read for */
    uint64_t cached_edges; /* several GPUs: of copied lists (td_gpu_part.cached) */
    double lost, offset;     /* changes: the sums of (1 - program_arrives) times the value, and of program_offset */
} td_gpu_tally;

/* The counters of a loop of rounds. A round reads slot i, adds to slot i + 1 and clears slot i + 2. */
typedef struct td_gpu_slot {
    uint64_t edges; /* of the vertices queued */
    uint32_t count, pieces;
    uint32_t nearest, left; /* cores: complement of the lowest value above the level, 0: none; vertices that remain */
    uint32_t unused[2];     /* a slot is one sector of the L2 cache */
} td_gpu_slot;

/* Where one-launch peeling (cores.h) goes on: the levels below next_level are done, but for the queued vertices. */
typedef struct td_gpu_peeling {
    uint32_t next_level, window_end; /* vertices with values below window_end are in the list `near` */
    uint32_t left_count, left_at; /* vertices in the list left[left_at] */
    uint32_t near_count[3], near_at; /* in `near`: being read, being written, being cleared */
    uint32_t near_spare;          /* `near` is in the array of left that is not in use */
    uint32_t done;
    uint64_t scanned;             /* entries of both lists read so far */
} td_gpu_peeling;

typedef struct td_gpu_row {
    uint64_t edges; /* of the frontier */
    uint64_t other_edges; /* of these, along lists elsewhere: at the host (cores), of a fragment that another GPU owns */
    uint32_t vertices, split; /* split: the round only divided the far vertices and processed no edges */
} td_gpu_row;

/* Blocks that wait read the word of the barrier all the time, while the others still add to the slots and to the far
 * counts: each of the three has a line of the L2 cache to itself. */
enum { TD_GPU_LINE = 128 };

typedef struct td_gpu_control {
    td_gpu_tally tally;
    uint8_t tally_line[TD_GPU_LINE - sizeof(td_gpu_tally)];
    td_gpu_slot slot[TD_GPU_SLOTS]; /* a line */
    uint32_t barrier;             /* the word of the grid barrier */
    uint32_t barrier_line[TD_GPU_LINE / sizeof(uint32_t) - 1];
    uint32_t far_count[2], far_at; /* priorities: deferred vertices, and the list they are in */
    uint32_t far_lowest;          /* the lowest far priority found by the current split; all bits set otherwise */
    uint32_t bound;               /* priorities up to it are near */
    uint32_t rounds;              /* rounds of the last launch */
    uint32_t at;                  /* the slot to continue with */
    uint32_t left_count;          /* peeling: vertices that remain */
    uint32_t edge_count;          /* edges of the forest so far */
    uint32_t given;               /* changed vertices listed for the host */
    uint64_t tasks_moved;         /* inter-warp balancing: tasks moved to shared memory, in the whole run */
    uint64_t survivor_count, scratch_count; /* sweeps: edges kept so far, edges put aside */
    uint64_t part_began;          /* survivor_count before the current part of the lists */
    uint64_t active_vertices[TD_GPU_FRAGMENTS], active_edges[TD_GPU_FRAGMENTS]; /* several GPUs: the frontiers of the
                                   * fragments that this one owns */
    uint32_t lengths[TD_GPU_FRAGMENTS]; /* entries of the outbox for each fragment */
    td_gpu_peeling peeling;
    uint64_t left_edges;          /* edges of the frontier that a lean loop ended with */
    td_gpu_row rows[TD_GPU_ROUNDS];
} td_gpu_control;

/* The common block: the state of a run on the device, which nearly every kernel of a program reads. */
typedef struct td_gpu_state {
    td_context context;
    uint32_t vertices;
    uint32_t weights;             /* td_weight_kind */
    const uint64_t *out_offsets;  /* offsets of the out-lists, for out-degrees */
    const uint64_t *push_offsets; /* offsets of the whole lists that the run pushes along; a launch may process parts */
    void *values, *next_values, *messages, *next_messages;
    uint32_t *active, *next_active; /* bitmaps; active 0, in sweeps: all vertices */
    td_gpu_control *control;
    uint8_t weight_bits;          /* packed edge words: bits of the weight at the top of the word; 0: not packed */
    uint8_t symmetric, async, first_hit;
} td_gpu_state;

/* The part of the adjacency lists that a launch processes. */
typedef struct td_gpu_part {
    uint64_t first_edge, end_edge;
    const uint64_t *skip;         /* prefix sums over vertices of the leading edges that the launch skips; 0: none */
    const uint64_t *light;        /* prefix sums over vertices of the light edges, which come first; 0: not divided */
    uint32_t first_vertex, end_vertex;
    uint8_t heavy_edges;          /* the launch processes the heavy edges instead of the light ones */
    uint8_t from_host;            /* the edges are read from host memory, and their bytes are counted */
    uint8_t weight_bytes;         /* of an edge, beside its target */
    uint8_t cached;               /* several GPUs: the lists are copies of another GPU's, and their edges are counted */
} td_gpu_part;

/* The fragments of a graph that several GPUs share: fragment k has the vertices first[k] .. first[k + 1] - 1, which fill
 * whole words of bitmaps. */
typedef struct td_gpu_fragments {
    uint32_t count;
    uint32_t first[TD_GPU_FRAGMENTS + 1];
    uint32_t owned;               /* bit k: this GPU owns fragment k */
} td_gpu_fragments;

/* First values of the vertices first_vertex .. end_vertex - 1; both are multiples of 32, or the last vertex's end. */
typedef struct td_init_args {
    td_gpu_state state;
    uint32_t first_vertex, end_vertex;
    uint8_t resumed;              /* values and active vertices come from a checkpoint */
} td_init_args;

/* The frontier from a bitmap into a queue, and back. */
typedef struct td_queue_args {
    td_gpu_state state;
    uint32_t *queue;
    uint32_t count;               /* entries of the queue (map_queue) */
    uint32_t first_vertex, end_vertex; /* of the bitmap (list_words) */
} td_queue_args;

/* Useful edges of every subgraph of 2^shift edges. */
typedef struct td_useful_args {
    td_gpu_state state;
    const uint64_t *offsets;
    td_gpu_part part;
    uint64_t *useful;
    uint32_t shift;
} td_useful_args;

/* Compressed targets of a subgraph, and where to expand them. */
typedef struct td_decompress_args {
    const uint32_t *compressed;
    uint64_t edges;
    uint32_t *targets;
} td_decompress_args;

/* Counts every vertex's neighbours other than itself, in sorted lists. */
typedef struct td_neighbours_args {
    td_gpu_list list;
    const uint64_t *second;       /* joined lists: offsets of the out-lists, which come second; 0: one list */
    double *counts;
    uint32_t vertices;
} td_neighbours_args;

/* Where adjacency lists begin, for segmented sums along all of them. */
typedef struct td_gpu_segments {
    const uint32_t *heads;        /* a bit per edge, set where a list begins */
    const uint32_t *lists;        /* the vertices with a non-empty list, in the order of the lists */
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
    const uint64_t *starts;       /* several consecutive subgraphs: where each begins, plus base; 0: one subgraph */
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
    td_gpu_list list[2];          /* the second is not used where shards have no edges in it */
    const uint16_t *targets[2];   /* for every edge, its vertex relative to the shard's first */
    const td_gpu_shard *shards;
    uint32_t count;
} td_shard_args;

/* First-hit pulls. */
typedef struct td_hit_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint32_t *late;               /* vertices left to whole blocks */
    uint8_t adding;               /* an earlier launch has processed other parts of the lists */
} td_hit_args;

/* The common arguments of all push kernels. */
typedef struct td_push_args {
    td_gpu_state state;
    td_gpu_list list;
    uint64_t *pieces;             /* pieces of high-degree vertices: vertex and number of the piece */
    uint32_t *far_map;            /* priorities: bitmap of the deferred vertices */
    void *sums;                   /* linear programs: the sums that pushed changes are added to; several GPUs, programs
                                   * other than TD_SUM_MIN: the sums for vertices of other GPUs */
    const td_gpu_fragments *fragments; /* several GPUs: the vertices that this one owns; 0: all. Edges of the next
                                        * frontier are then counted by `measure`, not here */
    double one_over_delta;
    uint32_t high_degree;         /* degree from which a list is cut into pieces */
    uint8_t lean;                 /* small degrees: loops decide by the number of vertices, not of edges */
    uint8_t again;                /* vertices are taken from next_active while others are added to it */
} td_push_args;

/* Rounds of pushes inside one launch, by levels or priorities. */
typedef struct td_loop_args {
    td_push_args push;
    uint32_t *queue[2];           /* the frontiers of even and of odd rounds */
    uint32_t *far[2];             /* priorities: deferred vertices */
    uint64_t leave_edges, stay_edges; /* the loop ends when the frontier has more edges than the first, or fewer than
                                       * the second */
    uint32_t most_rounds;
    uint32_t balance;             /* td_balance */
    uint32_t mean_degree;
    uint8_t cluster;              /* the launch is one cluster of blocks */
    uint8_t has_high_degree;      /* the graph may have high-degree vertices */
} td_loop_args;

/* Pushes along a part of the lists. */
typedef struct td_push_part_args {
    td_push_args push;
    td_gpu_part part;
    uint32_t *rest, *heavy_rest;  /* bitmaps that collect the vertices whose light and heavy edges after the resident
                                   * prefix are still to be processed; 0: none */
    uint32_t bound;               /* priorities up to it are near */
} td_push_part_args;

/* Coop engine: pushes of consecutive entries of the frontier, along a part of their lists. */
typedef struct td_push_queue_args {
    td_push_part_args part;
    const uint32_t *queue;
    uint32_t count;
    uint32_t balance;             /* td_balance, other than TD_BALANCE_WARP */
} td_push_queue_args;

/* Pushes along extracted lists. */
typedef struct td_push_extracted_args {
    td_push_args push;
    const td_gpu_extract *extracts; /* [count + 1]; the additional one has the end of the last */
    uint32_t count;
    uint32_t bound;
} td_push_extracted_args;

/* Priorities between loops: the deferred vertices. */
typedef struct td_far_args {
    td_gpu_state state;
    uint32_t *far, *far_map;
    double one_over_delta;
    uint32_t bound;
    uint32_t next_bound;          /* far_split: the bound of the next step; 0: control->far_lowest */
    uint32_t first_vertex, end_vertex;
} td_far_args;

/* Peeling: the remaining vertices. */
typedef struct td_peel_args {
    td_gpu_state state;
    uint32_t *left, *next_left;
    uint32_t *queue;              /* vertices removed at this level */
    uint32_t count;               /* remaining vertices */
    uint32_t first_vertex;        /* the first of them, before the first level */
} td_peel_args;

/* Core numbers in one launch (cores.h). */
typedef struct td_cores_args {
    td_loop_args loop;
    td_gpu_list prefix;           /* stream: the first edges of every list, on the device; the others are at the host */
    uint32_t *left[2], *near;     /* peel: remaining vertices; those whose level comes soon */
    uint32_t window;              /* levels that `near` serves */
    uint32_t buffer;              /* vertices that a block removes in a round besides those of the queue */
    uint32_t *bins, *support, *before; /* histogram: neighbours by bound, those not below the vertex's, old bounds */
    const uint64_t *places;       /* where the bins of a vertex begin */
    uint8_t builds;               /* histogram: the first round counts all neighbours */
} td_cores_args;

/* Parents, after the run of a TD_SUM_MIN program. */
typedef struct td_parents_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint32_t *parents;
    uint8_t adding;               /* an earlier launch has processed other parts of the lists */
} td_parents_args;

/* Differences of messages pushed to sums that persist (differences.h). */
typedef struct td_differences_args {
    td_gpu_state state;           /* messages: the differences to push */
    void *sums;                   /* program_accum per vertex */
    double *pushed;               /* the part of every message that the sums contain */
    uint32_t *map;                /* bitmap that receives the vertices with a difference to push */
    td_gpu_part part;             /* the vertices; `within`: only those whose whole list is in it */
    uint8_t within;
    uint8_t first;                /* values are not computed from sums: there are no sums yet */
} td_differences_args;

/* Changes pushed instead of values (changes.h). */
typedef struct td_changes_args {
    td_gpu_state state;
    void *sums;
    double *residuals;            /* residuals at scale 1 */
    double *levels;               /* TD_GPU_LEVEL_SUMS */
    uint32_t least_level[2];      /* the lowest level that pushes, for positive and negative residuals */
    double residual_part[2];      /* the share of the residual that is pushed, for the same */
    double offsets_times;         /* the scale t, the factor of program_offset */
    uint8_t whole_values;         /* values were pushed, not changes */
} td_changes_args;

/* Coop engine, programs that exchange values: the host sends the frontier and receives the changed vertices. */
typedef struct td_exchange_args {
    td_gpu_state state;
    uint32_t *vertices;
    void *values;                 /* values of these vertices */
    uint32_t count;
} td_exchange_args;

/* Coop engine, accumulating programs: the sums along the two parts of the lists and those of the host. */
typedef struct td_merge_args {
    td_gpu_state state;
    void *sums, *rest_sums;
    const void *host_sums;        /* sums of host_count vertices from host_first on */
    uint32_t host_first, host_count;
    uint32_t first_vertex, end_vertex;
} td_merge_args;

/* Several GPUs (fragments.h): one outbox per fragment, whose entries begin at the fragment's first vertex. */
typedef struct td_pack_args {
    td_gpu_state state;
    const td_gpu_fragments *fragments;
    uint32_t *far_map;            /* priorities: deferred vertices, or 0 */
    void *sums;                   /* programs other than TD_SUM_MIN: the sums for vertices of other GPUs */
    uint32_t *vertices;
    void *values;                 /* of these vertices; sums for programs other than TD_SUM_MIN */
} td_pack_args;

/* What another GPU sent. */
typedef struct td_gpu_box {
    const uint32_t *vertices;
    const void *values;
    const uint32_t *length;       /* in the control of the GPU that sent it, or a copy */
} td_gpu_box;

/* What a GPU in between carries from outboxes to the inboxes of GPUs that have no link to the senders. */
typedef struct td_carry_args {
    uint32_t count, value_words;  /* boxes; of a value */
    struct {
        td_gpu_box from;
        uint32_t *vertices, *values, *length;
    } item[TD_GPU_FRAGMENTS];
} td_carry_args;

typedef struct td_take_args {
    td_gpu_state state;
    uint32_t *far_map;
    double one_over_delta;
    uint32_t bound;
    uint32_t count;               /* boxes */
    td_gpu_box box[TD_GPU_FRAGMENTS];
} td_take_args;

/* What the host must know of a fragment's frontier to divide it and to tell its cost. Degrees are those along the push
 * and those against it, as far as the GPU has the latter. */
typedef struct td_gpu_frontier_tally {
    uint64_t chunk[TD_GPU_CHUNKS]; /* active edges of every chunk of the fragment's vertices */
    uint64_t vertices[TD_GPU_DEGREES], edges[TD_GPU_DEGREES]; /* by class of both degrees' sum */
    uint64_t other_edges;         /* against the push */
    uint32_t not_least, most, other_not_least, other_most; /* degrees; of the least ones all bits are inverted */
    uint64_t value;               /* first-hit programs: the value of an active vertex */
} td_gpu_frontier_tally;

typedef struct td_measure_args {
    td_gpu_state state;
    const uint32_t *map;          /* the frontier; 0: first-hit programs' vertices without a value */
    uint32_t *changed;            /* bitmap that collects the vertices of all frontiers, or 0 */
    td_gpu_frontier_tally *tally; /* by fragment; 0: only numbers of vertices and edges */
    uint32_t first_vertex, end_vertex; /* of the fragments `fragment` to `last_fragment` */
    uint32_t fragment, last_fragment;
    uint32_t first[TD_GPU_FRAGMENTS + 1], chunk_words[TD_GPU_FRAGMENTS];
    const uint64_t *offsets[TD_GPU_FRAGMENTS]; /* of the lists along the push */
    const uint64_t *other_offsets[TD_GPU_FRAGMENTS]; /* against it, or 0 */
    uint8_t value;                /* first-hit programs: also a value of an active vertex */
    uint8_t classes;              /* also the classes and limits of degrees, which takes longer */
} td_measure_args;

/* Where to cut a fragment's frontier: for every wanted number of active edges the first vertex that has at least as many
 * before it. */
typedef struct td_frontier_cuts {
    uint32_t vertex[TD_GPU_FRAGMENTS];
    uint64_t before[TD_GPU_FRAGMENTS]; /* active edges before it */
    uint64_t edge[TD_GPU_FRAGMENTS]; /* the cut is inside the list of the vertex before it, at this edge; UINT64_MAX: it is
                                      * not */
} td_frontier_cuts;

typedef struct td_cut_args {
    td_gpu_state state;
    const uint32_t *map;          /* as in td_measure_args */
    const uint64_t *offsets;
    const td_gpu_frontier_tally *tally;
    td_frontier_cuts *cuts;
    uint64_t wanted[TD_GPU_FRAGMENTS];
    uint32_t count, first_vertex, end_vertex, chunk_words;
    uint32_t split_degree;        /* lists from this length on may be cut themselves */
} td_cut_args;

/* Values or messages of owned vertices, for the mirrors of other GPUs. */
typedef struct td_mirror_args {
    td_gpu_state state;
    const uint32_t *changed;      /* the vertices to list; 0: those whose message differs from the one before */
    const uint32_t *boundary;     /* vertices that other fragments refer to */
    uint32_t *vertices;
    void *messages;
    uint32_t *length;
    uint32_t first_vertex, end_vertex;
    uint8_t twice;                /* receivers: also into next_messages */
} td_mirror_args;

/* First-hit programs: the mirrors of active vertices, all of which have one value. */
typedef struct td_adopt_args {
    td_gpu_state state;
    const td_gpu_fragments *fragments;
    uint64_t value;               /* the bits of a program_value */
} td_adopt_args;

/* The vertices that a fragment's lists refer to. */
typedef struct td_targets_args {
    const uint32_t *targets;
    uint64_t edges;
    uint32_t *map;
} td_targets_args;

/* Counters, into the host's memory. */
typedef struct td_report_args {
    const uint32_t *from;
    uint32_t *to;
    uint32_t words;
} td_report_args;

/* Sweeps: what another GPU's sweep found, for all vertices. */
typedef struct td_join_args {
    td_gpu_state state;
    const void *labels;           /* the other's values */
} td_join_args;

/* Forests: the best edges of components, sent (pack_best) and received (take_best). */
typedef struct td_best_args {
    td_gpu_state state;
    uint32_t *vertices;
    uint64_t *keys;               /* both halves */
    uint32_t *length;
} td_best_args;

/* A member of a joint launch, as all members see it. */
typedef struct td_joint_peer {
    void *values;
    uint32_t *queue[2];           /* the frontiers of even and of odd rounds */
    uint32_t *map[2];             /* their bitmaps */
    uint32_t *far[2], *far_map;   /* priorities: deferred vertices */
    td_gpu_control *control;
    uint32_t before;              /* rounds apart: entries that its counter had before this one */
} td_joint_peer;

/* Rounds of pushes on several GPUs at once. */
typedef struct td_joint_args {
    td_gpu_state state;           /* this member's own */
    td_set_member set;
    td_gpu_fragments fragments;
    uint8_t owner[TD_GPU_FRAGMENTS]; /* the member that owns a fragment */
    td_gpu_list list[TD_GPU_FRAGMENTS]; /* of the fragments, on whichever GPU */
    td_joint_peer peer[TD_GPU_FRAGMENTS];
    uint32_t *changed;            /* bitmap that collects this member's vertices that were active, or 0 */
    double one_over_delta;
    uint64_t leave_edges;         /* the loop ends when the frontier has more */
    uint32_t most_rounds;
    uint32_t mean_degree;
    uint32_t count, bound;        /* rounds apart: vertices of this member's frontier; priorities up to it are near */
    uint8_t lean;                 /* small degrees: edges of the next frontier are estimated */
    uint8_t apart;                /* the host launches every round */
    uint8_t long_lists;           /* common queue: some list is worth several warps */
    uint32_t first_block;         /* common queue: blocks of the members before this one */
} td_joint_args;

/* A round of a search in one launch. The host clears it. */
typedef struct td_gpu_search_row {
    td_gpu_slot next;             /* edges of the next frontier; its length if it was queued; lists left to all members */
    uint64_t vertices, activated; /* of the next frontier; that a pull found */
    uint64_t began;               /* nanoseconds (TD_CLOCK) */
    uint32_t pulled, listed;      /* whether it pulled; entries of a queue that was made of a bitmap */
    uint64_t edges[TD_GPU_FRAGMENTS], other_edges[TD_GPU_FRAGMENTS]; /* of every member, and of them along lists of
                                   * fragments that another one owns */
    uint64_t ended[TD_GPU_FRAGMENTS]; /* nanoseconds: when every member had done its share */
} td_gpu_search_row;

typedef struct td_gpu_search {
    uint64_t ended;
    uint32_t rounds;
    uint32_t map;                 /* the bitmap that has the frontier; 0: the one it was in before */
    td_gpu_search_row row[TD_GPU_SEARCH_ROUNDS];
} td_gpu_search;

/* Rounds of a search in both directions, on GPUs that have one memory. */
typedef struct td_search_args {
    td_joint_args joint;
    td_gpu_list pull[TD_GPU_FRAGMENTS];
    td_gpu_search *search;
    uint32_t *late;               /* vertices whose lists all members share */
    uint64_t vertices, edges;     /* of the frontier, which is in the first member's first bitmap */
    td_unsettled unsettled;
    uint8_t late_lists;           /* there may be such lists */
} td_search_args;

/* Paths (paths.h). */
typedef struct td_paths_args {
    td_gpu_state state;
    td_path_state paths;
    td_path_tally *tally;         /* what the launch does is added to it */
    uint64_t units;               /* vertices, positions in `list`, mirrors, or words of marks */
    const uint32_t *list;         /* steps over vertices: these; 0: all */
    td_path_span span;            /* partitions to walk */
    td_gpu_list list_of[2];       /* the variant without paths: adjacencies that vertices push along */
    uint32_t lists;
    uint8_t stores;               /* path_rescales: values are replaced */
} td_paths_args;

/* Several GPUs with one memory: what a thief needs of another's walk. */
typedef struct td_path_peer {
    td_path_state paths;
    td_path_span span;
} td_path_peer;

typedef struct td_path_steal_args {
    td_paths_args of;
    const td_path_peer *peers;    /* of all GPUs */
    uint32_t count, number;
} td_path_steal_args;

/* Several GPUs that share the paths (path_post.h). Messages of one kind: deposits for masters on other GPUs, or masters'
 * messages for other GPUs. `list` has the vertices that any message may be about, by the GPU that it goes to; a GPU's
 * vertices begin at a multiple of TD_GPU_THREADS, the rest up to it is TD_PATH_NO_VERTEX. */
#define TD_PATH_NO_VERTEX 0xffffffffu
typedef struct td_path_pack_args {
    td_gpu_state state;
    td_path_state paths;
    const uint32_t *list, *map;   /* map: a bit for every vertex with a message to send */
    uint32_t first[TD_GPU_FRAGMENTS + 1]; /* of a GPU's vertices, in units of TD_GPU_THREADS */
    uint64_t room[TD_GPU_FRAGMENTS]; /* where the messages to a GPU begin */
    uint32_t count;               /* GPUs */
    uint32_t *vertices, *lengths; /* outboxes, and how many messages they have */
    void *values;
} td_path_pack_args;

typedef struct td_path_take_args {
    td_gpu_state state;
    td_path_state paths;
    td_path_tally *tally;
    struct {
        const uint32_t *vertices;
        const void *values;
        uint32_t length;
    } box[TD_GPU_FRAGMENTS];
    uint32_t count;
} td_path_take_args;

/* Searches from many sources at once (bits.h): the counters of an iteration, */
typedef struct td_gpu_bits_tally {
    uint64_t edges;          /* scanned */
    uint64_t activated, activated_edges; /* vertices of the next frontier, and the edges that they push along */
    uint64_t complete, complete_edges; /* vertices that all sources reach now, and the edges that they pulled along */
    uint64_t found;          /* sources that reached a vertex */
    uint32_t count, pieces;  /* entries of the next queue; pieces of high-degree vertices */
} td_gpu_bits_tally;

/* and the arrays. Words have a bit for every source. */
typedef struct td_bits_args {
    td_gpu_list list;             /* that the launch pushes or pulls along */
    const uint64_t *push_offsets, *pull_offsets; /* of whole lists, for degrees; pull_offsets 0: no pulls */
    void *seen, *frontier, *next; /* a word per vertex: sources that reach it; in the last iteration, in this one */
    void *planes[32];             /* of levels (run/group.h) */
    uint32_t *queue, *next_queue; /* the frontier's vertices, and the next one's */
    uint64_t *starts;             /* before the first iteration: words of the queue's vertices */
    uint64_t *pieces;             /* of high-degree vertices: vertex and number of the piece */
    td_gpu_bits_tally *tally;
    uint64_t all, live;           /* all sources; those that have reached a vertex in the last iteration */
    uint32_t vertices, count;     /* count: entries of the queue */
    uint32_t level;               /* of the vertices that this iteration finds */
    uint32_t high_degree;
} td_bits_args;

/* Rounds inside a launch (path_rounds.h). */
typedef struct td_path_rounds_args {
    td_paths_args of;             /* list: the members of all ranges; 0: the range has all vertices */
    td_path_loop *loop;
    const td_path_range *ranges;  /* first_range .. end_range - 1; 0: `range` alone */
    td_path_range range;
    uint32_t first_range, end_range, most_rounds;
    uint32_t until;               /* td_path_until */
    uint8_t within;               /* the first range has been walked before */
    uint8_t steal;
    double dense;                 /* TD_PATH_DECISION: a round whose vertices have more than this part of the edges walks all */
    td_path_rule rule;            /* likewise */
} td_path_rounds_args;

#include "kernels/gpu/args_sweep.h"

#endif
