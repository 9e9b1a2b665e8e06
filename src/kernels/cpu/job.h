/* The interface between a program's CPU kernels and the code that runs them: the job, and the table of kernels for one
 * kind of weight. */
#ifndef TD_KERNELS_CPU_JOB_H
#define TD_KERNELS_CPU_JOB_H

#include "base/barrier.h"
#include "base/bitmap.h"
#include "base/fetch.h"
#include "base/share.h"
#include "kernels/cpu/bits_job.h"
#include "kernels/cpu/buckets.h"
#include "kernels/cpu/survivors.h"
#include "kernels/frontier.h"
#include "kernels/program.h"
#include "store/graph.h"

struct td_run;
struct td_run_options;

/* The counters of one worker during a step; td_cpu_step adds them up afterwards. */
typedef struct td_cpu_tally {
    _Alignas(64) uint64_t edges; /* processed */
    uint64_t activated, activated_edges;
    double change, share;
    uint64_t total;  /* the sum of program_between; kernels without it count other vertices here */
    uint64_t lowest; /* peeling: the lowest value among the remaining vertices; priorities: the lowest priority */
} td_cpu_tally;

/* Where a pull piece begins: at this edge of this vertex's list. */
typedef struct td_cut {
    uint32_t vertex;
    uint64_t place;
} td_cut;

/* A block of consecutive vertices: how many are active, and their edges in the two parts of a split graph
 * (layout/split.h). */
typedef struct td_cpu_block {
    uint64_t vertices, hot, rest;
} td_cpu_block;
enum { TD_BLOCK_WORDS = 4 };

/* The fields of the coop engine's kernels (kernels/cpu/coop.h). */
typedef struct td_cpu_coop {
    const td_adjacency *list;   /* gather-sums run along its edges begin .. end - 1, in stretches of `piece` */
    uint64_t begin, end, piece;
    bool adds;                  /* sums are added to the stored ones */
    void *sums, *partials;      /* program_accum: per vertex; [stretches][2] */
    uint32_t (*cut)[2];         /* vertices of the partial sums */
    const uint64_t *hot, *rest; /* offsets of the two parts */
    td_cpu_block *blocks;
    uint64_t *pending;          /* priorities: bitmap of active vertices that do not push yet; NULL: all push */
    uint64_t bound;             /* vertices with a priority up to it push */
    void *queue_values;         /* values of the vertices in the queue */
    const uint32_t *changed;    /* by the GPU: vertices and their values */
    const void *given;
} td_cpu_coop;

/* The first target found in a mapped file that is no vertex. */
typedef struct td_cpu_wild {
    atomic_bool claimed, found;
    bool out;        /* of an out-list */
    uint64_t edge;
    uint32_t target;
} td_cpu_wild;

void td_cpu_find_wild(td_cpu_wild *wild, bool out, uint64_t edge, uint32_t target); /* any thread (src/cpu/mapped.c) */

typedef enum td_direction { TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_NOTIFY, TD_DIRECTION_PUSH } td_direction;

struct td_cpu_job;
typedef void (*td_cpu_kernel)(struct td_cpu_job *job, int worker);

/* Kernels for lists in a mapped file, in place of those of the same names. NULL: the program has none. */
typedef struct td_cpu_mapped_kernels {
    td_cpu_kernel pull_hit, push, push_high_degree, sweep, sweep_high_degree, sample;
} td_cpu_mapped_kernels;

/* Kernels of a run on a mapped file. */
typedef struct td_cpu_mapped {
    struct td_cpu_kernels *kernels; /* the run's own; NULL: the program's */
    td_cpu_wild wild;
} td_cpu_mapped;

/* The lists that a vertex pulls and pushes along: one each, or two (undirected view of a directed graph). */
typedef struct td_cpu_view {
    td_adjacency pull[2], push[2];
    int lists;
    /* sinks once: the out-lists without edges to sinks, which pushes use; or none (cpu/sinks.c) */
    td_adjacency kept;
    uint64_t edges_there; /* a pull may prefetch up to this edge of pull[0] */
    uint64_t edges;       /* of all lists */
} td_cpu_view;

/* What holds for the whole run. */
typedef struct td_cpu_setup {
    bool async, first_hit;
    bool strict;         /* td_run_strict */
    bool resumed;        /* the first values are those of a checkpoint */
    bool bucketed;       /* the priority schedule, not rounds */
    bool by_rounds;      /* the bucket kernel is not used */
    bool by_pages;       /* hybrid engine: no queues, pieces of one page, a step begins at part.first_unit */
    bool bare;           /* the engine provides values and messages itself */
    bool track;          /* activations are recorded */
    bool defer_sinks;
    bool stealing_given; /* the engine has set share.stealing itself */
    bool has_limit;
    uint32_t limit;      /* iterations */
    td_direction direction;
    uint64_t serial;     /* work (about edges) below which one worker does the whole step */
    double delta;        /* priority schedule */
    int samples;         /* sweeps: edges of every vertex visited first */
} td_cpu_setup;

/* The part of the vertices that a step covers. */
typedef struct td_cpu_part {
    uint64_t first_unit;
    bool partial;        /* this pull covers only some vertices: shares are added as differences */
} td_cpu_part;

typedef struct td_cpu_frontier {
    uint64_t *active, *next_active; /* bitmaps */
    uint32_t an_active;  /* any active vertex, for first-hit pulls */
    bool next_dirty;     /* next_active holds bits of an iteration before the last */
    uint64_t *done;      /* first-hit programs: vertices that have their value */
    bool done_stale;     /* pushes have changed vertices after `done` was built */
    uint64_t *marked;    /* vertices that were notified */
    uint32_t *queue, *next_queue; /* active vertices, when there are few */
    _Atomic uint64_t next_count;
    uint64_t queue_count;
} td_cpu_frontier;

/* High-degree vertices, whose edges the workers share. */
typedef struct td_cpu_high {
    uint64_t degree;     /* from which a vertex is one */
    uint32_t *list;
    _Atomic uint64_t count;
    uint64_t *start;     /* where the edges of each begin in their concatenation */
} td_cpu_high;

/* Peeling: vertices that remain. */
typedef struct td_cpu_peeling {
    uint32_t *left, *next_left;
    uint64_t left_count;
    _Atomic uint64_t next_left_count;
} td_cpu_peeling;

/* Pieces of equal work that pulls are cut into. */
typedef struct td_cpu_pieces {
    td_cut *cuts;        /* pieces + 1 */
    void *partials;      /* [pieces][2] program_accum: the sums of lists cut at a piece's begin and end */
    uint64_t pieces, piece_edges, piece_room;
} td_cpu_pieces;

typedef struct td_cpu_progress {
    uint64_t began;
    td_iteration round;  /* the current round, and its time and edges at the start */
    uint64_t round_began, round_edges;
    bool stop;
} td_cpu_progress;

typedef struct td_cpu_sweeping {
    int step;            /* of program_between */
    uint32_t left_out;   /* the label that may be skipped */
    bool skipping;
    bool collects_survivors;
    td_survivors survivors;
    bool from_above;     /* symmetric graphs: all lists are scanned, but an edge is visited from its higher end only */
} td_cpu_sweeping;

/* The buckets of the priority schedule. */
typedef struct td_cpu_priority {
    struct td_buckets *buckets;      /* one per worker */
    td_bucket high_degree_entries;   /* entries of high-degree vertices, whose edges the workers share */
    uint64_t *entry_start;           /* [workers + 1]: where each worker's entries begin in the current bucket */
    _Atomic uint64_t entry_next;
    uint64_t bucket;
} td_cpu_priority;

/* What the kernels of a step read and write, by concern. */
typedef struct td_cpu_job {
    td_context context;
    const td_graph *graph;
    const struct td_cpu_kernels *kernels;
    td_cpu_mapped mapped;
    const struct td_run_options *options;
    struct td_run *run;
    td_pool *pool;
    int workers;
    int counting;        /* workers that took part in the last step */
    bool global_moved;   /* context.global changed in the last iteration, so every vertex's value may change */
    _Atomic int failed;  /* a td_status from inside a kernel */

    void *values;        /* program_value */
    void *next_values;   /* where synchronous pulls write when the message is the value */
    void *messages, *next_messages; /* what neighbours read; `values` when the message is the value, or `snapshot` */
    void *snapshot;      /* the values before the iteration, if td_run_strict; or NULL */
    uint32_t *parents;

    td_cpu_setup setup;
    td_cpu_view view;
    td_cpu_part part;
    td_cpu_frontier frontier;
    td_unsettled unsettled;
    td_cpu_high high;
    td_cpu_pieces cut;
    td_share_out share;
    td_cpu_tally *tallies;
    td_barrier barrier;
    td_cpu_progress progress;

    td_cpu_peeling peel;
    td_cpu_priority priority;
    td_cpu_sweeping sweep;
    td_cpu_coop coop;
    struct td_cpu_paths *paths; /* kernels/cpu/path_job.h */
    td_cpu_bits *bits;   /* searches from many sources at once */
} td_cpu_job;

/* Searches from many sources at once, for words of one width. */
enum { TD_BITS_8, TD_BITS_16, TD_BITS_32, TD_BITS_64, TD_BITS_WIDTHS };
typedef struct td_cpu_bits_kernels {
    td_cpu_kernel pull, list;   /* units: 64 vertices */
    td_cpu_kernel push, clear;  /* units: queue entries */
    td_cpu_kernel push_high_degree; /* units: 4096 edges of the high-degree vertices */
    td_cpu_kernel settle;       /* units: entries of the next queue */
} td_cpu_bits_kernels;

typedef struct td_cpu_kernels {
    size_t value_bytes, message_bytes, accum_bytes;
    int sum, view, schedule, measure, steps;
    bool fused, linear, proportional, own_value, shares, first_hit, sends_value, samples, once, light_first;
    td_cpu_kernel init;       /* units: 64 vertices */
    td_cpu_kernel pull;       /* units: pieces */
    void (*merge)(td_cpu_job *job); /* lists cut at pieces; one thread */
    td_cpu_kernel pull_marked;/* units: 64 vertices, those in `marked` */
    td_cpu_kernel commit_marked; /* units: 64 vertices */
    td_cpu_kernel pull_hit;   /* units: 64 vertices, those not in `done` */
    td_cpu_kernel settle_words; /* units: 64 vertices */
    td_cpu_kernel push;       /* units: queue entries */
    td_cpu_kernel push_high_degree; /* units: 4096 edges of the high-degree vertices */
    td_cpu_kernel push_words; /* units: 64 vertices of `active`, which is cleared; fills next_active, no queue */
    td_cpu_kernel notify;     /* units: 64 vertices of `active` */
    td_cpu_kernel bucket;     /* the whole run, on all workers at once */
    td_cpu_kernel fill_buckets; /* units: 64 vertices of `active` */
    td_cpu_kernel find_parents; /* units: 64 vertices */
    td_cpu_kernel peel;       /* units: remaining vertices */
    td_cpu_kernel peel_words; /* units: 64 vertices not in `done`; `active` receives the removed ones */
    td_cpu_kernel gather, clear_sums;         /* units: stretches of edges; vertices */
    void (*gather_cut)(td_cpu_job *job, uint64_t pieces); /* one thread */
    td_cpu_kernel take_back;                  /* units: vertices that the GPU changed */
    td_cpu_kernel count_blocks, list_blocks;  /* units: blocks */
    td_cpu_kernel path_walks; /* units: partitions of `order` */
    td_cpu_kernel path_pushes; /* units: words of marked vertices */
    td_cpu_kernel path_starts, path_opens, path_scans, path_finishes, path_balances, path_totals,
        path_rescales; /* units: vertices of `list` */
    td_cpu_kernel path_clears; /* units: TD_PATH_MIRRORS mirrors */
    td_cpu_kernel sweep;      /* units: 64 vertices */
    td_cpu_kernel sweep_high_degree; /* units: 4096 edges of the high-degree vertices */
    td_cpu_kernel collect;    /* units: 64 vertices; survivors of the lists */
    td_cpu_kernel collect_high_degree; /* units: 4096 edges of the high-degree vertices */
    td_cpu_kernel survivors;  /* units: blocks of survivors */
    td_cpu_kernel sample;     /* units: 64 vertices */
    td_cpu_kernel between;    /* units: 64 vertices */
    td_cpu_kernel reset;      /* units: 64 vertices */
    uint32_t (*label)(const td_cpu_job *job, uint32_t vertex);
    uint64_t (*edge)(const td_cpu_job *job, uint32_t vertex); /* UINT64_MAX: none */
    bool (*again)(const td_cpu_job *job, uint64_t total);
    const td_cpu_bits_kernels *bits; /* [TD_BITS_WIDTHS]; NULL: one source at a time */
    td_cpu_mapped_kernels mapped;
} td_cpu_kernels;

enum { TD_WORDS_AT_A_TIME = 8, TD_QUEUE_AT_A_TIME = 64, TD_HIGH_DEGREE_PIECE = 4096 };

/* Called by worker 0 between two rounds of the bucket kernel: records the round and decides whether to stop
 * (src/cpu/bucket.c). */
void td_cpu_bucket_round(td_cpu_job *job, uint64_t entries);

static inline uint64_t td_cpu_words(const td_cpu_job *job) { return td_bitmap_words(job->graph->vertices); }

static inline uint64_t td_cpu_view_edges(const td_cpu_job *job) { return job->view.edges; }

/* The first vertex whose list begins at or after this edge. */
static inline uint64_t td_first_list(const uint64_t *offsets, uint64_t vertices, uint64_t place)
{
    uint64_t low = 0, high = vertices;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (offsets[middle] < place) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The number of edges that a vertex pushes along. */
static inline uint64_t td_cpu_push_degree(const td_cpu_job *job, uint32_t v)
{
    uint64_t degree = td_degree(&job->view.push[0], v);
    return job->view.lists == 2 ? degree + td_degree(&job->view.push[1], v) : degree;
}

static inline uint64_t td_cpu_pull_degree(const td_cpu_job *job, uint32_t v)
{
    uint64_t degree = td_degree(&job->view.pull[0], v);
    return job->view.lists == 2 ? degree + td_degree(&job->view.pull[1], v) : degree;
}

/* The concatenated lists of the high-degree vertices in pieces of equal length: a piece may
 * cover the end of one list and the begin of another. high_degree_start[i]: where list i begins. */
static inline uint64_t td_high_degree_pieces(uint64_t edges)
{
    return (edges + TD_HIGH_DEGREE_PIECE - 1) / TD_HIGH_DEGREE_PIECE;
}

typedef struct td_high_degree_part {
    uint64_t which;      /* index of the high-degree vertex */
    uint64_t begin, end; /* edges begin .. end - 1 of its list */
} td_high_degree_part;

typedef struct td_high_degree_walk {
    const uint64_t *start;
    uint64_t at, stop, which;
} td_high_degree_walk;

static inline td_high_degree_walk td_high_degree_pieces_from(const uint64_t *start, uint64_t count, uint64_t first,
                                                             uint64_t last)
{
    td_high_degree_walk walk = {start, first * TD_HIGH_DEGREE_PIECE, last * TD_HIGH_DEGREE_PIECE, 0};
    if (walk.stop > start[count]) walk.stop = start[count];
    while (walk.which < count && start[walk.which + 1] <= walk.at) walk.which++;
    return walk;
}

static inline bool td_high_degree_next(td_high_degree_walk *walk, td_high_degree_part *part)
{
    if (walk->at >= walk->stop) return false;
    uint64_t base = walk->start[walk->which], next = walk->start[walk->which + 1];
    uint64_t until = next < walk->stop ? next : walk->stop;
    *part = (td_high_degree_part){walk->which++, walk->at - base, until - base};
    walk->at = until;
    return true;
}

/* A worker's buffer for a shared list of vertices. */
enum { TD_OUTBOX = 1024 };
typedef struct td_outbox {
    uint32_t *list;
    _Atomic uint64_t *list_count;
    uint32_t count;
    uint32_t vertices[TD_OUTBOX];
} td_outbox;

static inline void td_outbox_open(td_outbox *box, uint32_t *list, _Atomic uint64_t *list_count)
{
    box->list = list;
    box->list_count = list_count;
    box->count = 0;
}

static inline void td_outbox_flush(td_outbox *box)
{
    if (box->count == 0) return;
    uint64_t at = atomic_fetch_add_explicit(box->list_count, box->count, memory_order_relaxed);
    __builtin_memcpy(box->list + at, box->vertices, box->count * sizeof *box->vertices);
    box->count = 0;
}

static inline void td_outbox_put(td_outbox *box, uint32_t v)
{
    if (box->count == TD_OUTBOX) td_outbox_flush(box);
    box->vertices[box->count++] = v;
}

#endif
