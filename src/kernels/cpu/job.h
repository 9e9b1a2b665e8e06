/* What the CPU kernels of a program share with the code that runs them: the job, and the table of kernels of one program
 * for one kind of weight. */
#ifndef TD_KERNELS_CPU_JOB_H
#define TD_KERNELS_CPU_JOB_H

#include "base/barrier.h"
#include "base/bitmap.h"
#include "base/fetch.h"
#include "base/share.h"
#include "kernels/cpu/buckets.h"
#include "kernels/program.h"
#include "store/graph.h"

struct td_run;
struct td_run_options;

/* What a worker counts during one step; summed by the policy afterwards. */
typedef struct td_cpu_tally {
    _Alignas(64) uint64_t edges; /* processed */
    uint64_t activated, activated_edges;
    double change, share;
    uint64_t total;  /* of program_between */
    uint64_t lowest; /* peeling: the least value of those that stay */
} td_cpu_tally;

/* Where a pull piece begins: in this vertex's list, at this place. */
typedef struct td_cut {
    uint32_t vertex;
    uint64_t place;
} td_cut;

/* The frontier in blocks of consecutive vertices: its vertices, and their edges in the two parts of a graph that was
 * cut (layout/split.h). */
typedef struct td_cpu_block {
    uint64_t vertices, hot, rest;
} td_cpu_block;
enum { TD_BLOCK_WORDS = 4 };

/* What the workers do for the coop engine (kernels/cpu/coop.h). */
typedef struct td_cpu_coop {
    const td_adjacency *list;   /* summed up along edges begin .. end - 1 of it, in stretches of `piece` */
    uint64_t begin, end, piece;
    bool adds;                  /* to the sums that are there */
    void *sums, *partials;      /* program_accum: per vertex; [stretches][2] */
    uint32_t (*cut)[2];         /* vertices of the partial sums */
    const uint64_t *hot, *rest; /* offsets of the two parts */
    td_cpu_block *blocks;
    uint64_t *pending;          /* priorities: bitmap of those not yet told; NULL: all that are active are told */
    uint64_t bound;             /* priorities up to it are told */
    void *told;                 /* values of the vertices in the queue */
    const uint32_t *changed;    /* by the GPU: vertices and their values */
    const void *given;
} td_cpu_coop;

typedef enum td_direction { TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_NOTIFY, TD_DIRECTION_PUSH } td_direction;

typedef struct td_cpu_job {
    td_context context;
    const td_graph *graph;
    const struct td_cpu_kernels *kernels;
    const struct td_run_options *options;
    struct td_run *run;
    td_pool *pool;
    int workers;
    int counting;        /* workers that took part in the last step */

    /* Lists a vertex gathers from and lists it tells, one or two (undirected view of a directed graph). */
    td_adjacency pull[2], push[2];
    int lists;

    bool async, first_hit;
    bool resumed;        /* the first values are those of a checkpoint */
    bool by_pages;       /* the hybrid engine's: no queues, pieces are those of a page, a step begins at `first_unit` */
    uint64_t first_unit;
    uint64_t edges_there;/* a pull may look ahead up to this edge of pull[0] */
    bool partial;        /* this pull covers only some vertices: shares are added as differences */
    bool global_moved;   /* context.global changed in the last iteration, and so may everyone's value */
    bool bucketed;       /* the priority schedule, not rounds */
    uint64_t unsettled_vertices, unsettled_edges; /* never active so far; what a first-hit pull may look at */
    bool done_stale;     /* pushes have settled vertices since `done` was made */
    bool next_dirty;     /* next_active holds bits of an iteration before the last */
    bool track;          /* activations are recorded */
    bool defer_sinks;
    td_direction direction;
    uint64_t heavy;      /* degree from which a vertex is shared out by edges */
    uint64_t alone;      /* work (edges, about) below which a step is one worker's */
    double delta;        /* priority schedule */
    int samples;         /* sweeps: edges of every vertex looked at first */

    void *values;        /* program_value */
    void *next_values;   /* synchronous, values sent as they are: where pulls write */
    void *messages, *next_messages; /* what is gathered; `values` when the program sends its value */
    uint64_t *active, *next_active; /* bitmaps */
    uint32_t an_active;  /* any active vertex, for first-hit pulls */
    uint64_t *done;      /* first-hit programs: vertices that have their value */
    uint64_t *marked;    /* vertices that were notified */
    uint32_t *queue, *next_queue; /* active vertices, when there are few */
    _Atomic uint64_t next_count;
    uint64_t queue_count;
    uint32_t *heavy_list;
    _Atomic uint64_t heavy_count;
    uint64_t *heavy_start; /* positions of the heavy vertices' edges, one after another */
    uint32_t *left, *next_left; /* peeling: vertices that have not gone */
    uint64_t left_count;
    _Atomic uint64_t next_left_count;

    td_cut *cuts;        /* pieces + 1 */
    void *partials;      /* [pieces][2] program_accum: lists cut at a piece's begin and end */
    uint64_t pieces, piece_edges, piece_room;

    uint32_t *parents;
    uint64_t run_began;
    bool has_limit;
    uint32_t limit;      /* iterations */
    td_share_out share;
    td_cpu_tally *tallies;
    td_barrier barrier;
    int step;            /* of program_between */
    uint32_t left_out;   /* sweeps: the label that may be skipped */
    bool skipping;
    bool from_above;     /* of a symmetric graph an edge is seen from its higher end alone: all lists are gone over */
    struct td_buckets *buckets; /* one per worker */
    td_bucket heavy_entries;    /* those of heavy vertices, being shared out by edges */
    uint64_t *entry_start;      /* where each worker's entries begin in the current bucket, workers + 1 */
    _Atomic uint64_t entry_next;
    uint64_t bucket;
    td_iteration round;  /* the round under way, and what had been counted before it */
    uint64_t round_began, round_edges;
    bool stop;
    _Atomic int failed;  /* a td_status from inside a kernel */
    uint64_t view_edges; /* of all lists */
    bool bare;           /* the engine that opened it brings values and messages itself */
    bool by_rounds;      /* never by buckets */
    td_cpu_coop coop;
} td_cpu_job;

typedef void (*td_cpu_kernel)(td_cpu_job *job, int worker);

typedef struct td_cpu_kernels {
    size_t value_bytes, message_bytes, accum_bytes;
    int sum, view, schedule, measure, steps;
    bool fused, linear, first_hit, sends_value, samples, once, light_first;
    td_cpu_kernel init;       /* units: 64 vertices */
    td_cpu_kernel pull;       /* units: pieces */
    void (*merge)(td_cpu_job *job); /* lists cut at pieces; one thread */
    td_cpu_kernel pull_marked;/* units: 64 vertices, those in `marked` */
    td_cpu_kernel commit_marked; /* units: 64 vertices */
    td_cpu_kernel pull_hit;   /* units: 64 vertices, those not in `done` */
    td_cpu_kernel settle_words; /* units: 64 vertices */
    td_cpu_kernel push;       /* units: queue entries */
    td_cpu_kernel push_heavy; /* units: edges / 4096 of the heavy list */
    td_cpu_kernel push_words; /* units: 64 vertices of `active`, which is cleared; next_active alone has who is told */
    td_cpu_kernel notify;     /* units: 64 vertices of `active` */
    td_cpu_kernel bucket;     /* the whole run, on every worker at once */
    td_cpu_kernel fill_buckets; /* units: 64 vertices of `active` */
    td_cpu_kernel find_parents; /* units: 64 vertices */
    td_cpu_kernel peel;       /* units: entries of the vertices left */
    td_cpu_kernel peel_words; /* units: 64 vertices not in `done`; those that go are in `active` */
    td_cpu_kernel gather, clear_sums;         /* units: stretches of edges; vertices */
    void (*gather_cut)(td_cpu_job *job, uint64_t pieces); /* one thread */
    td_cpu_kernel take_back;                  /* units: vertices that the GPU changed */
    td_cpu_kernel count_blocks, list_blocks;  /* units: blocks */
    td_cpu_kernel sweep;      /* units: 64 vertices */
    td_cpu_kernel sweep_heavy;/* units: edges / 4096 of the heavy list */
    td_cpu_kernel sample;     /* units: 64 vertices */
    td_cpu_kernel between;    /* units: 64 vertices */
    td_cpu_kernel reset;      /* units: 64 vertices */
    uint32_t (*label)(const td_cpu_job *job, uint32_t vertex);
    uint64_t (*edge)(const td_cpu_job *job, uint32_t vertex); /* UINT64_MAX: none */
    bool (*again)(const td_cpu_job *job, uint64_t total);
} td_cpu_kernels;

enum { TD_WORDS_AT_A_TIME = 8, TD_QUEUE_AT_A_TIME = 64, TD_HEAVY_PIECE = 4096 };

/* Called by worker 0 between two rounds of the bucket kernel: records the round, looks for a reason to stop
 * (src/cpu/bucket.c). */
void td_cpu_bucket_round(td_cpu_job *job, uint64_t entries);

static inline uint64_t td_cpu_words(const td_cpu_job *job) { return td_bitmap_words(job->graph->vertices); }

static inline uint64_t td_cpu_view_edges(const td_cpu_job *job) { return job->view_edges; }

/* The first vertex whose list begins at this place or behind it. */
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

/* The list that a vertex tells, as one number. */
static inline uint64_t td_cpu_push_degree(const td_cpu_job *job, uint32_t v)
{
    uint64_t degree = td_degree(&job->push[0], v);
    return job->lists == 2 ? degree + td_degree(&job->push[1], v) : degree;
}

static inline uint64_t td_cpu_pull_degree(const td_cpu_job *job, uint32_t v)
{
    uint64_t degree = td_degree(&job->pull[0], v);
    return job->lists == 2 ? degree + td_degree(&job->pull[1], v) : degree;
}

/* The heavy vertices' lists put one after another, cut into pieces wherever a cut falls:
 * a piece may end one list and begin another. heavy_start[i] is where the ith begins. */
static inline uint64_t td_heavy_pieces(uint64_t edges) { return (edges + TD_HEAVY_PIECE - 1) / TD_HEAVY_PIECE; }

typedef struct td_heavy_part {
    uint64_t which;      /* of the heavy vertices */
    uint64_t begin, end; /* places of its list */
} td_heavy_part;

typedef struct td_heavy_walk {
    const uint64_t *start;
    uint64_t at, stop, which;
} td_heavy_walk;

static inline td_heavy_walk td_heavy_pieces_from(const uint64_t *start, uint64_t count, uint64_t first, uint64_t last)
{
    td_heavy_walk walk = {start, first * TD_HEAVY_PIECE, last * TD_HEAVY_PIECE, 0};
    if (walk.stop > start[count]) walk.stop = start[count];
    while (walk.which < count && start[walk.which + 1] <= walk.at) walk.which++;
    return walk;
}

static inline bool td_heavy_next(td_heavy_walk *walk, td_heavy_part *part)
{
    if (walk->at >= walk->stop) return false;
    uint64_t base = walk->start[walk->which], next = walk->start[walk->which + 1];
    uint64_t until = next < walk->stop ? next : walk->stop;
    *part = (td_heavy_part){walk->which++, walk->at - base, until - base};
    walk->at = until;
    return true;
}

/* A worker's buffer in front of a shared list of vertices. */
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
