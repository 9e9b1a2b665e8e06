/* The stream engine's parts: vertices on the GPU, edges at the host (Scaph, ATC'20, and beyond it).
 *
 * A list of edges that crosses the link (td_link_list) is cut into subgraphs of 2^shift edges. Wherever a subgraph is
 * at the time - in a slot of device memory, extracted into a chunk, or still at the host, whose memory kernels can read
 * - a launch is given the edges it goes over and the address they have there: kernels know nothing of it. In front of
 * that, the first edges of every list can stay on the device for good (the prefix).
 *
 * stream_settings.c has the settings, stream.c sets a run up, stream_graph.c holds the lists (their beginnings:
 * stream_beginnings.c), stream_slots.c the slots with their levels, stream_value.c says which way a subgraph goes,
 * stream_cross.c takes one iteration across the link, stream_extract.c picks useful edges out, and the schedules are in
 * stream_rounds.c, stream_pull.c, stream_changes.c and stream_sweep.c; what sweeps keep of single edges is in
 * stream_kept.c, and how weights get into the words of their targets in stream_words.c. */
#ifndef TD_ENGINE_STREAM_H
#define TD_ENGINE_STREAM_H

#include "base/task.h"
#include "engine/gpu_job.h"
#include "engine/resident.h"
#include "engine/stream_slots.h"
#include "layout/lists.h"
#include "layout/narrow.h"

typedef enum td_stream_variant {
    TD_STREAM_FULL, TD_STREAM_HVSP, TD_STREAM_LVSP, TD_STREAM_HBASE, TD_STREAM_LBASE,
} td_stream_variant;
typedef enum td_stream_low { TD_LOW_AUTO, TD_LOW_EXTRACT, TD_LOW_DIRECT, TD_LOW_WHOLE } td_stream_low;

/* Whether whole subgraphs cross in fewer bits. */
typedef enum td_stream_narrows { TD_NARROW_NO, TD_NARROW_YES, TD_NARROW_ASKED } td_stream_narrows;

/* How lists are held: what a run asks for, and what decides whether those of the run before will do. */
typedef struct td_stream_shape {
    td_list_order order;
    uint32_t weighted, both;      /* weights go along; both lists of every vertex as one */
    uint32_t pushes, pulls;       /* which lists there are */
    uint32_t pulls_beginnings;    /* the device keeps those of the lists pulled along, where there are two */
    uint32_t upper;               /* what a vertex's list begins with up to its own number is never meant */
    uint64_t slot_edges, slots;   /* of a subgraph; how many there is room for */
    uint64_t chunks;              /* for extracted lists, of a subgraph's bytes */
    uint64_t prefix_bytes;
    uint64_t narrows;             /* td_stream_narrows */
    uint64_t weight_bits;         /* of a target's word that its weight is in; 0: weights are apart */
    uint64_t kept_edges;          /* of sweeps: room for single edges on the device; 0: none are kept */
    uint64_t light_first;         /* and the host has the lightest of them, to begin with */
    double light;                 /* edges below this weight are light; 0: no difference is made */
} td_stream_shape;

enum { TD_STREAM_LENGTHS = 256 };

typedef struct td_link_list {
    const uint64_t *offsets;      /* at the host */
    const uint32_t *targets;
    const void *weights;
    uint64_t *own_offsets;        /* what was made for it; NULL: the graph's own */
    uint32_t *own_targets;
    void *own_weights;
    uint64_t edges;
    size_t weight_bytes;          /* apart from the targets */
    uint32_t weight_bits;         /* at the top of the targets' words; 0: there is none in them */
    uint32_t useful_bytes;        /* of an edge as the graph has it */
    bool pinned[2];               /* targets, weights */
    bool readable;                /* by kernels */
    td_gpu_list seen;             /* offsets on the device; edges at the host, as kernels see them */
    td_gpu_list prefix;           /* on the device: the beginnings of all lists; offsets 0: none */
    uint64_t prefix_edges;
    uint32_t prefix_most;         /* of a list */
    uint64_t *skip;               /* on the device: how much of the lists' beginnings the rest leaves out; 0: nothing */
    uint64_t *own_skip;           /* the same at the host, for extraction */
    uint64_t *light, *own_light;  /* how many edges of a list are light, on the device and at the host; NULL: no
                                   * difference is made */
    uint32_t shift, subgraphs;
    uint32_t *narrow;             /* targets of every subgraph in fewer bits (stream_narrow.c); NULL: as they are */
    uint64_t *narrow_at, narrow_most; /* where each begins, and one more; the longest; in words */
    bool narrow_pinned;
    uint32_t *first_vertex;       /* of every subgraph, and one more: whose list its first edge is in */
    uint64_t longest;
    uint64_t lengths[TD_STREAM_LENGTHS + 1]; /* how many lists are so long, the last: or longer */
} td_link_list;

/* What stays from run to run of one graph. */
typedef struct td_stream_graph {
    td_gpu_held gpu;
    td_stream_shape shape;
    td_device *device;
    td_stream *stream, *copies;
    td_link_list lists[2];        /* what is pushed along, what is pulled along; one where they are the same */
    td_slots slots;
    void *own_slots;              /* device memory of those that are for one subgraph each */
    void *heads, *headed, *heads_before; /* where the lists pulled along begin (td_gpu_args), once they are */
    const void *heads_of;
    uint32_t *window;             /* on the device: targets of the subgraph that is gone over, whole again */
    void *chunk[2], *staging[2];  /* extracted lists: on the device, at the host */
    bool chunk_pinned[2], told_unpinned;
    td_gpu_extract *table[2], *device_table[2]; /* what lies where in them */
    td_gpu_edge *kept, *aside;    /* device memory for single edges (stream_kept.c) */
    td_gpu_edge *light;           /* at the host: what is put there first */
    uint64_t light_count;
    bool light_pinned;
    double copy_rate, extract_rate; /* bytes a ns, measured when it was opened */
    uint64_t host_bytes;          /* that the lists and what belongs to them take at the host */
} td_stream_graph;

enum { TD_STREAM_EXTRACTS = 1024 }; /* most in a chunk */

/* Where a subgraph's useful edges go. */
typedef enum td_stream_way {
    TD_WAY_NONE, TD_WAY_RESIDENT, TD_WAY_WHOLE, TD_WAY_EXTRACT, TD_WAY_DIRECT, TD_WAYS,
} td_stream_way;

/* What a launch over a part of the lists does. */
typedef enum td_stream_work { TD_WORK_PUSH, TD_WORK_HIT, TD_WORK_SUM, TD_WORK_SWEEP, TD_WORK_PARENTS } td_stream_work;

typedef struct td_stream_job {
    td_gpu_job gpu;
    td_stream_graph *held;
    td_link_list *push, *pull;
    td_stream_variant variant;
    td_stream_low low;
    double alpha, beta;
    uint32_t levels, repeats;
    int rules;                    /* 0: by cost, 1: the paper's alpha and beta */
    uint64_t *useful, *useful_before; /* of every subgraph, in this iteration and the one before; the host's */
    uint64_t edges_useful, vertices_useful; /* of all subgraphs */
    uint8_t *way;                 /* td_stream_way of every subgraph */
    uint32_t *waiting;            /* subgraphs to be copied whole, those from `waiting_at` on */
    uint32_t waiting_count, waiting_at;
    uint32_t *residents;          /* slots with something of use; those from `residents_at` on are to be gone over */
    uint32_t residents_count, residents_at;
    td_link_list *crossing;       /* the list under way, and what is done with it */
    td_stream_work work;
    bool tells_changes;           /* of a linear program, asynchronous: stream_changes.c */
    double change_before;         /* of them: that a round left; negative: no round was */
    uint32_t rounds_held, rounds_to_hold; /* that hold changes of both signs to each other: left, and after a stall */
    bool order_free;              /* vertices may be told again within an iteration */
    uint32_t flights;             /* windows launched and not yet done */
    uint32_t copies_under_way;
    uint64_t clock;               /* when the two were last looked at */
    uint64_t direct_asked;        /* when the first launch over edges at the host was queued */
    uint64_t lane_free[TD_LANES]; /* when the last event of a lane ended */
    uint32_t *active;             /* the host's copy of the bitmap, for extraction */
    struct td_extracting *extracting; /* what is under way of it; NULL: nothing */
    uint32_t *rest, *heavy;       /* on the device: bitmaps of vertices whose rest is to be told, of light edges (or
                                   * all) and of heavy ones */
    uint64_t rest_count, heavy_count;
    uint64_t kept_count;          /* sweeps: edges kept on the device */
    bool *part_kept;              /* of every subgraph: its edges that matter are among them */
    uint32_t *part_found;         /* the device's word on that, for the subgraph that a launch began with */
    uint32_t *part_of;            /* of every subgraph: the one that its launch began with */
    bool beginnings_done;         /* sweeps: by the sample, for the next one */
    uint64_t small_edges;         /* of a frontier that loops on the device do */
    td_iteration *row;            /* the iteration under way */
    td_status status;             /* of a handler */
    char message[TD_MESSAGE_BYTES];
} td_stream_job;

td_status td_stream_read_settings(td_stream_job *self);
extern const td_setting td_stream_settings[];
td_status td_stream_run(td_run *run, const td_run_options *options);
bool td_stream_uses(const td_program *program, const char *setting);
bool td_stream_uses_in(const td_program *program, td_mode mode, const char *setting); /* in runs of that mode */

/* Whether runs of that mode tell changes instead of values. */
static inline bool td_stream_tells_changes(const td_program *program, td_mode mode)
{
    return mode == TD_MODE_ASYNC && program->cpu[TD_WEIGHT_NONE].linear;
}

/* stream_settings.c. A setting that changes nothing beside the others is refused, saying when it would. */
td_status td_stream_check_settings(const td_settings *settings);

/* Whether a setting changes anything beside the variant and the rules among the others. */
bool td_stream_applies(const td_settings *settings, const char *name);

/* stream_plan.c: what a run takes and how the cap on edges is spent; refused with the least that would do. */
typedef struct td_stream_bytes {
    uint64_t vertices;  /* on the device, besides edges: offsets and the program's arrays */
    uint64_t edges;     /* of all lists, at the host */
    uint64_t on_device; /* edges there, at most */
    uint64_t edge_bytes;/* of one of them */
    uint64_t host;      /* held at the host besides the graph */
    bool all;           /* they fit: it runs as the resident engine does */
} td_stream_bytes;
td_status td_stream_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t device_free, td_stream_bytes *out, td_stream_shape *shape);

/* stream_graph.c */
extern const td_gpu_keeper td_stream_keeper;
td_status td_stream_hold(td_stream_job *self, const td_stream_shape *shape);
void td_stream_release(void *held);
static inline uint64_t td_link_edge_bytes(const td_link_list *list) { return sizeof(uint32_t) + list->weight_bytes; }
static inline uint64_t td_link_begin(const td_link_list *list, uint32_t subgraph)
{
    return (uint64_t)subgraph << list->shift;
}

static inline uint64_t td_link_end(const td_link_list *list, uint32_t subgraph)
{
    uint64_t end = (uint64_t)(subgraph + 1) << list->shift;
    return end < list->edges ? end : list->edges;
}

/* Of vertices low .. high - 1 the one whose list holds the edge: the last that begins at or before it. */
static inline uint32_t td_link_vertex(const td_link_list *list, uint64_t edge, uint32_t low, uint32_t high)
{
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->offsets[middle] <= edge) low = middle;
        else high = middle;
    }
    return low;
}

/* stream_beginnings.c, of a list that is made: what stays on the device; of lists in the order of weights how many
 * edges are lighter than a limit; of sorted ones whose edges are meant once those that lead to a lower number. */
td_status td_stream_make_prefix(td_stream_job *self, td_link_list *list, uint64_t bytes);
td_status td_stream_find_light(td_stream_job *self, td_link_list *list, double limit);
td_status td_stream_skip_lower(td_stream_job *self, td_link_list *list);

/* stream_value.c: counts useful edges of the vertices in args.active, and chooses a way for every subgraph. */
td_status td_stream_count_useful(td_stream_job *self, td_link_list *list);
void td_stream_all_useful(td_stream_job *self, td_link_list *list);
void td_stream_choose_ways(td_stream_job *self, const td_link_list *list);

/* stream_cross.c: one iteration's work over all subgraphs that have a way. */
td_status td_stream_cross(td_stream_job *self, td_link_list *list, td_stream_work work);

/* An event of a lane ends now; it began when it was asked for, or when the one before ended. */
td_status td_stream_note_event(td_stream_job *self, td_lane lane, const char *name, uint32_t subgraph, uint64_t asked,
                               uint64_t bytes);

void td_stream_look_at_clock(td_stream_job *self); /* before what is under way changes: counts the time since */
void td_stream_note(td_stream_job *self, td_status status); /* the first failure of a handler ends the iteration */
td_status td_stream_go_on(td_stream_job *self); /* something is done: what is next */
td_status td_stream_start_copies(td_stream_job *self); /* of the subgraphs waiting, as many as there are slots for */

/* Launches the work over edges first..end, whose targets and weights have these addresses on the device (of edge 0). */
td_status td_stream_launch_part(td_stream_job *self, uint64_t first, uint64_t end, const uint32_t *targets,
                                const void *weights);

/* The work over the beginnings of all lists, which are on the device. */
td_status td_stream_launch_prefix(td_stream_job *self, td_link_list *list, td_stream_work work);

/* Bytes that a subgraph takes over the link as a whole. */
static inline uint64_t td_link_bytes(const td_link_list *list, uint32_t s)
{
    uint64_t edges = td_link_end(list, s) - td_link_begin(list, s);
    uint64_t targets = list->narrow != NULL ? list->narrow_at[s + 1] - list->narrow_at[s] : edges;
    return targets * sizeof(uint32_t) + edges * list->weight_bytes;
}

/* stream_words.c */
uint32_t td_stream_weight_bits(const td_graph *graph);
td_status td_stream_join_weights(td_link_list *list, const td_graph *graph, uint32_t bits, td_pool *pool);

/* stream_narrow.c */
td_status td_stream_narrow(td_link_list *list, td_device *device, td_pool *pool);
void td_stream_free_narrow(td_device *device, td_link_list *list);
td_status td_stream_widen(td_stream_job *self, const td_slot *slot);

/* stream_kept.c */
td_status td_stream_make_kept(td_stream_job *self, const td_stream_shape *shape);
void td_stream_free_kept(td_stream_graph *held);
td_status td_stream_start_kept(td_stream_job *self);
td_status td_stream_sweep_light(td_stream_job *self);
td_status td_stream_sweep_kept(td_stream_job *self);
void td_stream_leave_out_kept(td_stream_job *self);
td_status td_stream_note_kept(td_stream_job *self);
static inline uint64_t td_stream_aside(uint64_t kept) { return kept / 16 + 1; } /* of a stretch of them */

/* stream_extract.c */
td_status td_stream_fetch_active(td_stream_job *self);
td_status td_stream_start_extraction(td_stream_job *self);
bool td_stream_is_extracting(const td_stream_job *self);
void td_stream_end_extraction(td_stream_job *self); /* waits for the workers, where it was broken off */

/* The schedules. */
td_status td_stream_rounds(td_stream_job *self);
td_status td_stream_peel(td_stream_job *self);
td_status td_stream_priorities(td_stream_job *self);
td_status td_stream_pulls(td_stream_job *self);
td_status td_stream_make_changes(td_stream_job *self);
td_status td_stream_changes(td_stream_job *self);
td_status td_stream_sweep(td_stream_job *self);
/* Vertices' steps after a sweep, and its row. */
td_status td_stream_end_sweep(td_stream_job *self, td_iteration *row, uint64_t began, bool *again);
td_status td_stream_pull_hit(td_stream_job *self); /* the first-hit pull of one iteration */

#endif
