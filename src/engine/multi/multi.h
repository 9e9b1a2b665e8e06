/* The multi engine: several GPUs share a graph (GUM, ICDE'23).
 *
 * The graph is cut into one fragment per GPU (layout/partition.h). A GPU has the adjacency lists of its fragment's
 * vertices and one value for every vertex: its own vertices', and mirrors of all others. So that any GPU can process any
 * vertex's list, mirrors are not limited to the targets of a GPU's own edges. GPUs that have the same memory (slices of
 * one) share one array instead: mirrors there would only be copies that compete for its cache. An iteration is
 *
 *     measure the active edges of every fragment
 *     decide which GPUs take part and which shares of which fragments they process (decide.h)
 *     process: push along the lists of active vertices, or pull along those of all
 *     exchange: updates of mirrors go to their owners (pushes), or values of owners to mirrors (pulls)
 *
 * and the host waits once for the counters of all GPUs, which work at the same time. */
#ifndef TD_ENGINE_MULTI_H
#define TD_ENGINE_MULTI_H

#include "engine/engine.h"
#include "engine/multi/cost.h"
#include "engine/multi/decide.h"
#include "engine/multi/sync.h"
#include "gpu/exchange.h"
#include "gpu/route.h"
#include "gpu/rounds.h"
#include "layout/partition_file.h"
#include "run/numbering.h"

_Static_assert((int)TD_GPU_FRAGMENTS == (int)TD_FRAGMENTS && (int)TD_GPU_FRAGMENTS == (int)TD_GPUS &&
                   (int)TD_GPU_FRAGMENTS == (int)TD_MULTI_GPUS,
               "one per GPU");

/* What an edge of a fragment costs on a GPU. */
typedef enum td_multi_cost {
    TD_COST_MEASURED, /* from the iterations before, and the links */
    TD_COST_UNIFORM,  /* the same everywhere */
    TD_COST_MODEL,    /* predicted from the frontier's metrics, and the links */
    TD_COST_EXACT,    /* as the same iteration of the first run took, in which nothing was stolen, and the links */
} td_multi_cost;

/* Values of vertices: one array for all GPUs that have the same memory, or an array per GPU with mirrors. */
typedef enum td_multi_values { TD_VALUES_AUTO, TD_VALUES_SHARED, TD_VALUES_MIRRORED } td_multi_values;

/* Where rounds without the host have their frontier: a queue per owner, or one of which all GPUs take shares. */
typedef enum td_multi_queues_of { TD_QUEUE_AUTO, TD_QUEUE_OWNERS, TD_QUEUE_COMMON } td_multi_queues_of;

/* Whether searches run without the host as a whole, pulls included; auto: until a launch of many rounds ends in a small one. */
typedef enum td_multi_pulls_of { TD_PULLS_AUTO, TD_PULLS_OFF, TD_PULLS_ON } td_multi_pulls_of;

typedef struct td_multi_settings {
    td_multi_values values;
    td_partition_kind partition;
    uint64_t seed;
    int prepared;            /* TD_PREPARED_AUTO ...: whether a partition beside the graph is read */
    td_direction direction;
    bool copies;             /* GPUs do not follow each other's pointers */
    bool steals, moves_owners;
    td_multi_cost cost;
    double t1, t2, t3;       /* the paper's thresholds; TD_ADAPTIVE */
    uint64_t steal_edges;    /* smaller iterations are neither timed nor divided, unless t1 is given */
    uint64_t high_degree;
    uint64_t loop_edges;     /* frontiers up to it run in loops without the host; 0: none does */
    td_multi_queues_of loop_queue; /* of these loops, on GPUs that have the same memory */
    uint32_t loop_blocks;    /* of each GPU in these loops; 0: by the work */
    td_multi_pulls_of loop_pulls; /* whether whole searches run in these loops, with pulls */
    uint64_t queue_edges;    /* frontiers up to it are queued where the host launches every round; 0: none is */
    double delta;
    uint32_t samples;
    bool breakdown;          /* iterations are timed in their parts */
    const char *model, *log, *family; /* or NULL */
    bool relays;             /* GPUs without a link may copy through a third */
    bool equal_shares;       /* fragments have equal edges, however the GPUs differ */
    uint64_t hub_degree;     /* UINT64_MAX: lists of hubs are not cached */
    bool recovers;           /* without a lost GPU (recover.c) */
    uint32_t recovery_every; /* iterations between copies of the state; 0: by what they cost */
} td_multi_settings;
td_status td_multi_read_settings(const td_settings *settings, td_multi_settings *out);

/* Whether the GPUs share one array of values. */
td_status td_multi_choose_values(const td_multi_settings *set, const td_gpu_set *gpus, bool *shared);

/* One adjacency of a fragment, on the fragment's GPU. */
typedef struct td_multi_lists {
    void *offsets, *targets, *weights;
    td_gpu_list view;        /* indexed by vertex, and by edge: of sweeps the graph's edges, otherwise the fragment's */
    uint64_t edges, longest;
    uint64_t resident;       /* of the edges, the first ones, which the GPU has; the rest is at the host (spill.c) */
    uint64_t base;           /* the number of the first edge in the views */
    uint32_t split;          /* the vertices before it have all their edges on the GPU */
    td_gpu_list rest;        /* like view, but the edges from base + resident on, at the host */
    void *own_targets, *own_weights; /* the host's copy of the rest; NULL: it is in the graph's arrays */
    void *pinned[2];
    td_gpu_head_arrays heads; /* gather-sums */
    td_gpu_segments segments;
    uint64_t pieces;
} td_multi_lists;

/* The lists of hubs of all fragments, which every GPU has (hubs.c). */
typedef struct td_multi_hubs {
    void *offsets, *targets, *weights;
    td_gpu_list view;        /* lists of other vertices are empty; offsets NULL: there is no cache */
} td_multi_hubs;

typedef struct td_multi_fragment {
    td_device *device;
    td_stream *stream;
    uint32_t first, end;
    td_multi_lists push, pull;
    td_multi_hubs hubs;      /* of its GPU */
    void *out;
    const uint64_t *out_offsets; /* indexed by vertex */
    uint32_t *boundary;      /* bitmap: the vertices that other fragments refer to, as far as this one owns them */
} td_multi_fragment;

/* At most so many edges of every fragment's lists are on its GPU. */
typedef struct td_multi_division {
    bool weighted;           /* fragments have edges by weights: the GPUs differ */
    double weights[TD_FRAGMENTS];
    bool spills;             /* some fragment has more */
    uint64_t push[TD_FRAGMENTS], pull[TD_FRAGMENTS];
    uint64_t hub_degree, hub_edges; /* the lists of vertices with more in-edges are on every GPU; UINT64_MAX: none */
} td_multi_division;

/* What is divided: frontiers of pushes, vertices without a value, gather-sums, sweeps. */
typedef enum td_multi_work { TD_WORK_PUSH, TD_WORK_OPEN, TD_WORK_GATHER, TD_WORK_SWEEP, TD_WORKS } td_multi_work;

enum { TD_EXACT_ITERATIONS = 64 }; /* that cost=exact remembers */

/* What iterations have taught about a program on a graph; cached with the layout for the next run. */
typedef struct td_multi_learned {
    const td_program *program;
    bool knows[TD_WORKS];    /* the seconds of edges are measured */
    double edge_seconds[TD_WORKS][TD_FRAGMENTS]; /* of a fragment's edge where it is */
    double model_factor[TD_WORKS][TD_FRAGMENTS]; /* a fragment's edges on its own GPU, over what the cost model says */
    double steal_seconds;    /* by which an iteration with steals takes longer beside its work: searches, launches */
    double steal_factor;     /* what its longest GPU takes, over what the costs of edges say: GPUs compete */
    td_sync_cost sync;       /* of rounds that the host launches */
    bool has_exact;
    double exact_seconds[TD_EXACT_ITERATIONS][TD_FRAGMENTS]; /* of an edge in every iteration of the first run; 0: unknown */
} td_multi_learned;

/* The layout that is cached between the runs of a graph. */
typedef struct td_multi_graph {
    td_gpu_layout gpu;
    td_multi_division division;
    int count;
    td_partition partition;
    bool is_cut, prepared;   /* prepared: the partition was read from the file beside the graph */
    td_partition_kind kind;
    uint64_t seed;
    bool counts_out, counts_in; /* of the wish that it was cut by */
    bool both, sweep, same, has_push, has_pull, has_heads, has_weights;
    td_multi_fragment fragment[TD_FRAGMENTS];
    td_frontier_summary whole[TD_FRAGMENTS]; /* of all vertices of a fragment */
    bool has_whole;
    double rate[TD_FRAGMENTS][TD_FRAGMENTS]; /* of td_gpu_exchange */
    bool has_rates;
    td_multi_learned learned; /* by the last run */
} td_multi_graph;

enum { TD_MULTI_COUNTERS = offsetof(td_gpu_control, rows) }; /* bytes, without the rows of rounds */
_Static_assert(TD_MULTI_COUNTERS % sizeof(uint32_t) == 0, "copied in words");

/* One GPU in a run. */
typedef struct td_multi_gpu {
    td_gpu_job job;
    td_multi_fragment *fragment; /* its own; it may own others, or none */
    char *zeros, zeros_seen[TD_MULTI_COUNTERS]; /* counters at an iteration's begin, on the GPU; what they are there */
    bool has_zeros;
    uint32_t *changed;       /* bitmap: owned vertices that changed since mirrors were last updated */
    uint32_t *mirror_vertices; /* what mirrors are updated with */
    void *mirror_messages;
    td_gpu_search *search;   /* of the first GPU, where searches run without the host */
    td_gpu_frontier_tally *tally; /* [TD_FRAGMENTS]: of the frontiers of the fragments that it owns */
    td_frontier_cuts *cuts;  /* [TD_FRAGMENTS]: where they are cut */
    void *labels;            /* sweeps: what another GPU found */
    td_event *done;
    td_stream *reader;       /* counters that are read while other work goes on; NULL: none were */
    uint64_t vertices, edges; /* of its fragment's frontier, whichever GPU owns it */
    uint64_t settled_edges;  /* of its fragment's vertices that were active so far */
    uint32_t left;           /* peeling */
    bool loops, queues, searches; /* td_multi_job */
    bool has_late;           /* a part of this pull may have left vertices to blocks */
    uint64_t processed;      /* edges of this iteration */
    uint64_t all_processed;  /* edges of this run */
    uint64_t started_at, processed_at, packed_at; /* by the devices' clock: when it was through with the work before
                                        * (while logging, or with a breakdown), with these, and with its messages; 0: it was not timed */
} td_multi_gpu;

/* A part of a fragment's work and the GPU that does it. */
typedef struct td_multi_part {
    int gpu, fragment;
    uint32_t first, end;     /* vertices, or pieces of gather-sums */
    uint64_t edges;
    uint64_t first_edge, end_edge; /* of the lists' views, where a long list is divided; 0: no end */
} td_multi_part;

/* What of a frontier's tally the cost model needs, on the host. */
typedef struct td_multi_degrees {
    uint64_t vertices[TD_GPU_DEGREES], edges[TD_GPU_DEGREES], other_edges;
    uint32_t not_least, most, other_not_least, other_most;
} td_multi_degrees;

/* The cost model of a run and what its GPUs take in fact (model.c, log.c). */
typedef struct td_multi_model {
    td_cost_models *models;  /* NULL: costs are not predicted */
    td_multi_degrees *degrees; /* [TD_FRAGMENTS], of the frontiers; pinned for the first GPU; NULL: neither predicts nor
                                * logs */
    bool is_pinned;
    td_frontier_metrics metrics[TD_FRAGMENTS];
    bool has_metrics;        /* of this iteration */
    td_cost_sample *log;     /* of this run; NULL: none */
    uint64_t logged, log_room;
} td_multi_model;

/* How the work of an iteration is divided (steal.c). */
typedef struct td_multi_balance {
    double link_seconds[TD_FRAGMENTS][TD_FRAGMENTS]; /* [i][j]: of an edge of fragment i read by GPU j; INFINITY: it
                                                      * cannot */
    td_multi_learned learned;
    double predicted_seconds[TD_FRAGMENTS]; /* of a fragment's edge, by the cost model */
    double speed[TD_FRAGMENTS]; /* of the GPUs, relative to each other (td_multi_speed) */
    td_reduction_tree tree;
    int loop_group;          /* GPUs that can run rounds without the host; 0: none */
    int least_group;         /* of a smaller group an owner could not read the lists of its fragments */
    td_decide_state state;
    td_decision decision;
    uint64_t load[TD_FRAGMENTS], share[TD_FRAGMENTS * TD_FRAGMENTS]; /* edges */
    td_multi_part part[TD_FRAGMENTS * TD_FRAGMENTS];
    int parts;
    td_multi_work work;
    uint64_t divided;        /* by the devices' clock: when the division began */
    uint64_t began;          /* and when it was made */
    bool is_timed;           /* GPUs say when they are through with their parts */
    bool is_predicted;       /* costs are the cost model's */
    bool tallies;            /* measuring also sums edges by chunks, which only steals need */
    double last_seconds;     /* of the iteration before */
    double decide_seconds;   /* of this run */
    uint64_t stolen;         /* edges of this run */
} td_multi_balance;

/* The GPUs that run rounds without the host (loop.c). */
typedef struct td_multi_loop {
    td_set *set;
    uint32_t members;        /* a bit per GPU */
    int count, member[TD_FRAGMENTS];
    uint32_t mean_degree;
} td_multi_loop;

/* What a run needs to continue without a lost GPU (recover.c). It outlives the job, which ends with the GPU. */
typedef struct td_multi_recovery {
    bool on;
    uint64_t run_began;
    struct td_multi_job *ended[TD_FRAGMENTS]; /* jobs that lost a GPU: completions that they asked for may still arrive */
    int ended_count;
    td_state state[2];       /* copies of the program's state, by turns */
    int good;                /* the complete one; -1: none */
    bool has_states;         /* arrays are allocated */
    uint32_t taken;          /* iteration of the last copy */
    uint64_t taken_at;       /* by the devices' clock: when the work after it began */
    double seconds;          /* of a copy */
} td_multi_recovery;

/* What a GPU's counters were when the host last read them. */
typedef struct td_multi_counted {
    uint64_t processed, vertices[TD_FRAGMENTS], edges[TD_FRAGMENTS];
} td_multi_counted;

/* Frontiers of small rounds that the host launches, in queues (queue.c). */
typedef struct td_multi_queue {
    bool listed;             /* the owners' queues hold the frontier */
    uint32_t length[TD_FRAGMENTS]; /* of every GPU's queue */
    uint32_t before[TD_FRAGMENTS]; /* entries that were appended to it in all rounds so far, modulo 2^32 */
    td_multi_counted seen[TD_FRAGMENTS];
} td_multi_queue;

/* What an iteration's time went to, by the devices' clock, in nanoseconds (breakdown.c). */
typedef struct td_multi_times {
    uint64_t ended;          /* the iteration before */
    uint64_t computing, packing, deciding;
} td_multi_times;

typedef struct td_multi_job {
    td_multi_recovery *recovery;
    td_run *run;
    const td_run_options *options;
    const td_graph *graph;
    const td_cpu_kernels *traits;
    td_multi_settings set;
    td_multi_graph *layout;
    td_multi_division division;
    td_numbering numbering;
    td_renumbered renumbered;
    int count;
    td_multi_gpu gpu[TD_FRAGMENTS];
    td_gpu_exchange exchange;
    td_loop *loop;
    int waiting;             /* completions under way */
    td_multi_balance balance;
    td_multi_loop rounds;
    td_multi_queue queue;
    bool loops;              /* rounds may run without the host */
    bool queues;             /* small rounds that the host launches may take their frontier from queues */
    bool searches;           /* rounds of a search run without the host, pulls included */
    bool search_is_long;     /* as many rounds as a launch may have: small ones are left to loops that have no pulls */
    td_gpu_search *search;   /* its counters at the host; NULL: they do not */
    bool search_pinned;
    bool shared;             /* all GPUs have the same memory and the same arrays of vertices: nothing is exchanged */
    td_multi_model model;
    td_status failed;        /* of a completion */
    td_frontier now;     /* of all GPUs together */
    bool next_dirty;         /* the bitmap of the next frontier is not clear (td_multi_clean_next) */
    bool tally_stale;        /* the frontier was not measured since it was made */
    bool needs_classes;      /* degrees of frontiers are counted by class, for the cost model */
    bool mirrors_stale;      /* pushes have changed values since mirrors were last updated */
    uint32_t unlisted, until_list; /* iterations that sent whole ranges unlisted since the last list; how many are to */
    bool both_buffers;       /* mirrors in both buffers of messages are those of the last iteration */
    td_multi_times times;
    uint64_t operations;     /* of the host on all GPUs, until the last iteration's end */
    td_row row;
} td_multi_job;

#define TD_EACH_GPU(self, g) for (td_multi_gpu *g = (self)->gpu; g < (self)->gpu + (self)->count; g++)
/* GPUs that own a fragment. The others are memory until they do again. */
static inline td_multi_gpu *td_multi_next_member(td_multi_job *self, td_multi_gpu *from)
{
    while (from < self->gpu + self->count && self->exchange.box[from - self->gpu].fragments.owned == 0) from++;
    return from;
}
#define TD_EACH_MEMBER(self, g)                                                                     \
    for (td_multi_gpu *g = td_multi_next_member(self, (self)->gpu); g < (self)->gpu + (self)->count; \
         g = td_multi_next_member(self, g + 1))

/* The fragments that a GPU owns, one after another; NULL: none follows. */
static inline td_multi_fragment *td_multi_next_owned(td_multi_job *self, const td_multi_gpu *gpu,
                                                     const td_multi_fragment *after)
{
    uint32_t owned = self->exchange.box[gpu - self->gpu].fragments.owned;
    for (int k = after == NULL ? 0 : (int)(after - self->layout->fragment) + 1; k < self->count; k++)
        if (owned >> k & 1u) return &self->layout->fragment[k];
    return NULL;
}
#define TD_EACH_OWNED(self, g, f)                                                                     \
    TD_EACH_GPU(self, g)                                                                              \
        for (td_multi_fragment *f = td_multi_next_owned(self, g, NULL); f != NULL;                    \
             f = td_multi_next_owned(self, g, f))

static inline td_multi_gpu *td_multi_owner(td_multi_job *self, int fragment)
{
    int i = 0;
    while (!(self->exchange.box[i].fragments.owned >> fragment & 1u)) i++;
    return &self->gpu[i];
}

static inline int td_multi_index(const td_multi_job *self, const td_multi_gpu *gpu) { return (int)(gpu - self->gpu); }
/* Words of a chunk of the fragment's vertices. */
static inline uint32_t td_multi_chunk_words(const td_multi_fragment *fragment)
{
    uint64_t words = ((uint64_t)fragment->end - fragment->first + 31) / 32;
    return words == 0 ? 1 : (uint32_t)((words + TD_GPU_CHUNKS - 1) / TD_GPU_CHUNKS);
}
static inline td_gpu_job *td_multi_first(td_multi_job *self) { return &self->gpu[0].job; }

/* fragments.c: the layout. */
extern const td_gpu_layout_kind td_multi_layout_kind;
typedef struct td_multi_need {
    bool push, pull, heads, both, sweep;
    bool same;               /* pushes and pulls go along the same lists */
    uint64_t weight_bytes;
} td_multi_need;
td_multi_need td_multi_needs(const td_multi_job *self);
td_status td_multi_load(td_multi_job *self);
/* prepared.c: whether the partition that the run asks for lies beside the graph, its name and its fragments' sizes; the
 * partition from there, or made; what runs of the plan would read, made for the runs to come. */
typedef struct td_multi_found {
    char name[TD_SIDECAR_NAME];
    uint32_t first[TD_FRAGMENTS + 1];
    td_fragment_entries entries;
} td_multi_found;
bool td_multi_find_prepared(const td_multi_job *self, const td_multi_need *need, td_multi_found *out);
td_status td_multi_cut(const td_multi_job *self, const td_partition_wish *wish, td_partition *out, bool *prepared);
td_status td_multi_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                               td_prepared_file *out);

/* How the lists that a run needs are cut. */
td_partition_wish td_multi_wish(const td_graph *graph, const td_multi_need *need, td_partition_kind kind, uint64_t seed,
                                int parts, const td_multi_division *division);
typedef struct td_multi_amounts {
    uint64_t vertices, words; /* of the fragment; of a bitmap of all vertices */
    uint64_t push, pull, push_resident, pull_resident; /* edges */
} td_multi_amounts;
td_status td_multi_declare_fragment(td_gpu_memory *memory, const td_multi_need *need, const td_multi_amounts *of,
                                    td_multi_fragment *fragment);
enum { TD_MULTI_SPARE_EDGES = 32 }; /* of every list, so that four edges from a multiple of four on can be read at once */

/* hubs.c: lists that every GPU has. Chooses as many as fit `room` bytes on every GPU. */
td_status td_multi_choose_hubs(const td_graph *graph, const td_multi_need *need, uint64_t degree, uint64_t room,
                               td_multi_division *out);
td_status td_multi_declare_hubs(td_gpu_memory *memory, const td_multi_need *need, uint64_t vertices,
                                const td_multi_division *division, td_multi_hubs *hubs);
td_status td_multi_load_hubs(td_multi_job *self, const td_multi_need *need, const td_adjacency *push);
void td_multi_free_hubs(td_device *device, td_multi_hubs *hubs);

/* spill.c: edges that stay at the host. */
bool td_multi_copies_rest(const td_multi_need *need, bool renumbered); /* it is not in the graph's arrays */
/* Gives the lists their rest: in the graph's arrays, or a copy of `targets` and `weights`, the fragment's edges. */
td_status td_multi_keep_rest(td_multi_job *self, td_multi_lists *lists, const td_adjacency *from, const uint32_t *targets,
                             const void *weights, size_t weight_bytes, bool copies);
void td_multi_free_rest(const td_gpu_set *gpus, td_multi_lists *lists);
/* The section of vertices' lists that is on the GPU, or at the host: for a launch; false: there is none. */
bool td_multi_section(const td_multi_lists *lists, const td_multi_part *which, bool at_host, td_gpu_part *part,
                      td_gpu_list *view);
/* Bytes that the GPU's kernels read at the host in this iteration, by its counters. */
uint64_t td_multi_host_bytes(const td_multi_gpu *gpu, size_t edge_bytes);
size_t td_multi_edge_bytes(const td_multi_job *self);

/* multi.c: for the plan. Arrays of all GPUs besides fragments; `edges`: of the largest fragment. */
void td_multi_describe_job(td_multi_gpu *gpu, const td_multi_settings *set);
td_status td_multi_measure_arrays(td_multi_job *self, const td_multi_need *need, uint64_t edges);

/* plan.c */
static inline double td_multi_speed(const td_device *device)
{
    return device->properties.multiprocessors > 0 ? device->properties.multiprocessors : 1;
}
td_status td_multi_plan(td_plan *plan);
td_status td_multi_check(const td_program *program, const td_run_options *options, const td_multi_settings *set);
/* How many edges fit the GPUs beside everything else; TD_NO_MEMORY with the figure if not even the rest does. */
td_status td_multi_divide_memory(const td_plan *plan, const td_gpu_set *gpus, td_multi_division *out);

/* wait.c: counters of all GPUs. */
td_gpu_state td_multi_state(const td_multi_gpu *gpu, const td_multi_fragment *fragment); /* for launches along its lists */
td_status td_multi_reset(td_multi_job *self);
td_status td_multi_reset_one(td_multi_job *self, td_multi_gpu *gpu);
td_status td_multi_wait_rows(td_multi_job *self, uint32_t rows); /* with the rows of so many rounds */
td_status td_multi_queue_counters(td_multi_gpu *gpu, td_stream *stream); /* into the job's control */
td_status td_multi_read_aside(td_multi_job *self); /* queues reading the counters, beside what the streams are given next */
td_status td_multi_wait_aside(td_multi_job *self); /* until they are read */
td_status td_multi_synchronize(td_multi_job *self); /* with the streams of all owners */
/* Behind a failure, before memory goes that copies to the host may still write to: until the streams are empty. */
td_status td_multi_end_copies(td_multi_job *self, td_status status);
td_status td_multi_reports(td_multi_job *self); /* waits for completions that are under way */
td_status td_multi_wait(td_multi_job *self); /* until the counters of all GPUs are in their jobs' control */
td_status td_multi_follow(td_multi_job *self, td_multi_gpu *gpu); /* all streams: what this GPU's has been given so far */
td_status td_multi_all_wait(td_multi_job *self); /* every stream for all that the others have been given so far */
typedef enum td_multi_map { TD_MAP_ACTIVE, TD_MAP_NEXT, TD_MAP_OPEN } td_multi_map;
td_status td_multi_measure(td_multi_job *self, td_multi_map map); /* queues it */
/* The frontiers of all fragments by one GPU, which shares their bitmaps; into the counters of their owners. */
td_status td_multi_measure_alone(td_multi_job *self, td_multi_gpu *gpu);
bool td_multi_needs_tally(const td_multi_job *self); /* measuring says more than the number of vertices and edges */
td_status td_multi_clear(td_multi_job *self, td_multi_gpu *gpu, uint32_t *map); /* a bitmap, as far as it is this GPU's */
void td_multi_add_up(td_multi_job *self); /* the frontier of all GPUs, from their counters */
td_status td_multi_end_iteration(td_multi_job *self, uint64_t began);
uint64_t td_multi_new_operations(td_multi_job *self); /* of the host on all GPUs, since the last call */

/* Whether all GPUs, or some of those that ownership stealing leaves, can reach each other. */
bool td_multi_may_reach(const td_multi_job *self);
int td_multi_loop_group(const td_multi_job *self); /* the size of the largest group that can loop; 0: none can */

/* loop.c: rounds without the host, until the frontier has more than loop_edges edges or is empty; *far: vertices are
 * deferred. */
bool td_multi_loops(const td_multi_job *self);
td_status td_multi_loop_rounds(td_multi_job *self, bool *far);
td_status td_multi_open_loop(td_multi_job *self); /* what members need to meet, where all GPUs are members */
void td_multi_break_loop(td_multi_job *self);
void td_multi_close_loop(td_multi_job *self);

td_status td_multi_own_all(td_multi_job *self); /* the loop's group owns all fragments, and its set is open */
uint32_t td_multi_rounds_left(const td_multi_job *self); /* until the limit, a checkpoint, a copy for recovery */
void td_multi_fill_joint(td_multi_job *self, int member, uint32_t most_rounds, td_joint_args *args);
bool td_multi_has_lists_above(const td_multi_job *self, uint64_t edges, bool pull); /* some fragment */

/* search.c: searches without the host, pulls included, on GPUs that have one memory. */
bool td_multi_may_search(const td_multi_job *self);
td_status td_multi_open_search(td_multi_job *self);
void td_multi_close_search(td_multi_job *self);
td_status td_multi_search(td_multi_job *self); /* until it ends, or something else is due */

/* What all members see of each other in rounds that update each other's memory. */
void td_multi_list_members(td_multi_job *self); /* into rounds */
void td_multi_fill_peers(td_multi_job *self, td_joint_args *args);

/* queue.c: small rounds that the host launches. */
bool td_multi_queues(const td_multi_job *self);
bool td_multi_is_queued(td_multi_job *self); /* this round, if it pushes; nothing is stolen then */
td_status td_multi_push_queued(td_multi_job *self, uint64_t began);
td_status td_multi_leave_queue(td_multi_job *self); /* to the bitmaps, which are measured */

/* rounds.c: after an iteration, the next frontier's bitmaps become the frontier's. */
void td_multi_next_frontier(td_multi_job *self);
/* The frontiers' vertices and edges as kernels have counted them that set the bits, where every GPU owns its fragment. */
void td_multi_take_tallies(td_multi_job *self);
td_status td_multi_clean_next(td_multi_job *self); /* before something marks vertices of the next frontier */

/* own.c: gives fragments to other owners, with their values and active vertices. */
td_status td_multi_move(td_multi_job *self, const int *owner);
td_status td_multi_own_again(td_multi_job *self); /* every GPU its own fragment */

/* steal.c: divides the iteration's work among the GPUs, into balance.part; reads what each of them did from its counters. */
td_status td_multi_open_balance(td_multi_job *self);
void td_multi_keep_learned(td_multi_job *self); /* for the next run */
td_status td_multi_divide(td_multi_job *self, td_multi_work work);
td_status td_multi_note_processed(td_multi_job *self, td_multi_gpu *gpu); /* queued behind its parts */
td_status td_multi_settle(td_multi_job *self);
uint64_t td_multi_assigned(const td_multi_job *self, int gpu); /* edges of its parts */
static inline bool td_multi_is_stolen(const td_multi_job *self) { return self->balance.decision.steal == TD_STEAL_STOLEN; }

/* breakdown.c: what the time of iterations goes to. */
uint64_t td_multi_clock(const td_multi_job *self); /* the latest of the GPUs' clocks */
td_status td_multi_note_packed(td_multi_job *self, td_multi_gpu *gpu); /* queued behind its packing */
void td_multi_add_parts(td_multi_job *self); /* of this iteration, when the GPUs have reported */
void td_multi_end_parts(td_multi_job *self, td_row *row, bool computing); /* computing: all that is not known otherwise */
void td_multi_close_parts(td_multi_job *self); /* behind the last iteration */

/* model.c: costs by the cost model. */
td_status td_multi_model_check(const td_multi_settings *set, td_gpu_set *gpus); /* whether there is a model */
td_status td_multi_model_open(td_multi_job *self);
void td_multi_model_close(td_multi_job *self);
td_status td_multi_find_metrics(td_multi_job *self, td_multi_work work); /* of all fragments' work in this iteration */
void td_multi_predict(td_multi_job *self, td_multi_work work); /* into balance.predicted_seconds */
int td_multi_cost_work(td_multi_work work); /* a td_cost_work; -1: none */

/* log.c: iterations that fragments' own GPUs processed alone, as samples for a cost model. */
static inline bool td_multi_logs(const td_multi_job *self) { return self->set.log != NULL; }
td_status td_multi_note_started(td_multi_job *self, td_multi_gpu *gpu); /* queued before its parts */
td_status td_multi_log(td_multi_job *self);
td_status td_multi_log_write(td_multi_job *self);

/* mirrors.c: values of owners, to the mirrors. */
bool td_multi_shares_whole(const td_multi_job *self); /* the next td_multi_share_messages sends whole ranges */
td_status td_multi_share_ranges(td_multi_job *self, size_t place, size_t bytes); /* of a pointer in td_gpu_state */
td_status td_multi_share_active(td_multi_job *self);
td_status td_multi_update_mirrors(td_multi_job *self);
td_status td_multi_share_messages(td_multi_job *self);

/* Gather-sums along a part of a fragment's lists; sums into values (rounds.c). */
td_status td_multi_gather_part(td_multi_job *self, const td_multi_part *part);
td_status td_multi_apply(td_multi_job *self);

/* The schedules. */
td_status td_multi_rounds(td_multi_job *self);
td_status td_multi_peel(td_multi_job *self);
td_status td_multi_priorities(td_multi_job *self);
td_status td_multi_gather(td_multi_job *self);
td_status td_multi_sweeps(td_multi_job *self);

/* recover.c: a run that continues without a lost GPU. */
td_status td_multi_recovery_open(td_multi_recovery *self, td_run *run, const td_run_options *options, bool on);
void td_multi_recovery_close(td_multi_recovery *self);
td_status td_multi_keep(td_multi_job *self); /* copies the state to the host if it is due */
uint32_t td_multi_keep_rounds(const td_multi_job *self); /* iterations until then */
/* Whether the run can begin again without the GPUs that it lost: takes them out of the set and makes the last copy the
 * state that the run resumes. */
bool td_multi_is_survived(td_multi_job *self, td_status status);
td_status td_multi_begin_again(td_multi_job *ended);
uint64_t td_multi_recovery_bytes(const td_multi_job *self); /* at the host */

/* state.c: first values, checkpoints, results. */
td_status td_multi_save(td_multi_job *self, td_state *state); /* the arrays of the program's state */
td_status td_multi_init(td_multi_job *self);
td_status td_multi_checkpoint(td_multi_job *self);
td_status td_multi_copy_result(td_multi_job *self);

#endif
