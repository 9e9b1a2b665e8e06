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
#ifndef TD_ENGINE_STREAM_STREAM_H
#define TD_ENGINE_STREAM_STREAM_H

#include "base/task.h"
#include "engine/engine.h"
#include "gpu/bytes.h"
#include "gpu/link_list.h"
#include "gpu/rounds.h"
#include "engine/stream/slots.h"
#include "layout/lists.h"
#include "layout/narrow.h"

typedef enum td_streaming_variant {
    TD_STREAMING_FULL, TD_STREAMING_HVSP, TD_STREAMING_LVSP, TD_STREAMING_HBASE, TD_STREAMING_LBASE,
} td_streaming_variant;
typedef enum td_streaming_low { TD_LOW_AUTO, TD_LOW_EXTRACT, TD_LOW_DIRECT, TD_LOW_WHOLE } td_streaming_low;

/* Whether whole subgraphs cross in fewer bits. */
typedef enum td_streaming_narrows { TD_NARROW_NO, TD_NARROW_YES, TD_NARROW_ASKED } td_streaming_narrows;

/* How lists are held: what a run asks for, and what decides whether those of the run before will do. */
typedef struct td_streaming_shape {
    td_list_order order;
    uint32_t weighted, both;      /* weights go along; both lists of every vertex as one */
    uint32_t pushes, pulls;       /* which lists there are */
    uint32_t pulls_beginnings;    /* the device keeps those of the lists pulled along, where there are two */
    uint32_t upper;               /* what a vertex's list begins with up to its own number is never meant */
    uint64_t slot_edges, slots;   /* of a subgraph; how many there is room for */
    uint64_t chunks;              /* for extracted lists, of a subgraph's bytes */
    uint64_t prefix_bytes;
    uint64_t narrows;             /* td_streaming_narrows */
    uint64_t weight_bits;         /* of a target's word that its weight is in; 0: weights are apart */
    uint64_t kept_edges;          /* of sweeps: room for single edges on the device; 0: none are kept */
    uint64_t light_first;         /* and the host has the lightest of them, to begin with */
    double light;                 /* edges below this weight are light; 0: no difference is made */
} td_streaming_shape;

/* What stays from run to run of one graph. */
typedef struct td_streaming_graph {
    td_gpu_cached gpu;
    td_streaming_shape shape;
    td_device *device;
    td_stream *stream, *copies;
    td_link_list lists[2];        /* what is pushed along, what is pulled along; one where they are the same */
    td_slots slots;
    void *own_slots;              /* device memory of those that are for one subgraph each */
    td_gpu_head_arrays heads;     /* where the lists pulled along begin (td_gpu_segments), once they are */
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
} td_streaming_graph;

/* Whether there is a list to push along and another to pull along. */
static inline bool td_streaming_has_two(const td_graph *graph, const td_streaming_shape *shape)
{
    return !shape->both && !graph->symmetric && shape->pulls && shape->pushes;
}

enum { TD_STREAMING_EXTRACTS = 1024 }; /* most in a chunk */

/* Where a subgraph's useful edges go. */
typedef enum td_streaming_way {
    TD_WAY_NONE, TD_WAY_RESIDENT, TD_WAY_WHOLE, TD_WAY_EXTRACT, TD_WAY_DIRECT, TD_WAYS,
} td_streaming_way;

/* What a launch over a part of the lists does. */
typedef enum td_streaming_work { TD_WORK_PUSH, TD_WORK_HIT, TD_WORK_SUM, TD_WORK_SWEEP, TD_WORK_PARENTS } td_streaming_work;

/* A launch over edges first .. end - 1 of the lists that cross: where they are at the time. */
typedef struct td_streaming_stretch {
    uint64_t first, end;
    const uint32_t *targets;      /* addresses on the device that edge 0 would have */
    const void *weights;
    const uint32_t *compressed;   /* the targets of the subgraph as they crossed, for sums along them; NULL: whole */
    bool from_host;               /* the edges are read from the host's memory */
    bool again;                   /* vertices changed in this iteration are processed again */
} td_streaming_stretch;

/* Changes pushed instead of values (changes.c). Of the two signs, positive comes first. */
typedef struct td_streaming_residuals {
    double *residuals, *levels;   /* on the device: residuals, and sums of them by level */
    double offsets_times;         /* the scale: how often offsets count */
    uint32_t least_level[2];      /* that is pushed */
    double residual_part[2];      /* of a residual that is pushed */
    double change_before;         /* that the last round left; negative: there was none */
    uint32_t rounds_held, rounds_to_hold; /* that hold changes of both signs to each other: left, and after a stall */
} td_streaming_residuals;

typedef struct td_streaming_job {
    td_gpu_job gpu;
    td_streaming_graph *held;
    td_link_list *push, *pull;
    td_streaming_variant variant;
    td_streaming_low low;
    double alpha, beta;
    uint32_t levels, repeats;
    int rules;                    /* 0: by cost, 1: the paper's alpha and beta */
    uint64_t *useful, *useful_before; /* of every subgraph, in this iteration and the one before; the host's */
    uint64_t *device_useful;      /* where the device counts them */
    uint64_t edges_useful, vertices_useful; /* of all subgraphs */
    uint8_t *way;                 /* td_streaming_way of every subgraph */
    uint32_t *waiting;            /* subgraphs to be copied whole, those from `waiting_at` on */
    uint32_t waiting_count, waiting_at;
    uint32_t *residents;          /* slots with something of use; those from `residents_at` on are to be gone over */
    uint32_t residents_count, residents_at;
    td_link_list *crossing;       /* the list under way, and what is done with it */
    td_streaming_work work;
    bool heavy_edges;             /* and whether along the heavy edges, where light ones are apart */
    td_streaming_residuals changes;
    bool tells_changes;           /* of a linear program, asynchronous: stream_changes.c */
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
    uint32_t *chosen;             /* sweeps, on the device: bitmap of the vertices that the first one visits */
    bool keeps_vertices, keeps_edges; /* sweeps collect the vertices, and the edges, that the next one has to see */
    uint64_t kept_count;          /* sweeps: edges kept on the device */
    uint32_t *device_found;       /* part_found on the device */
    bool *part_kept;              /* of every subgraph: its edges that matter are among them */
    uint32_t *part_found;         /* the device's word on that, for the subgraph that a launch began with */
    uint32_t *part_of;            /* of every subgraph: the one that its launch began with */
    bool beginnings_done;         /* sweeps: by the sample, for the next one */
    uint64_t small_edges;         /* of a frontier that loops on the device do */
    td_row *row;            /* the iteration under way */
    td_status status;             /* of a handler */
    td_failure failure;
} td_streaming_job;

td_status td_streaming_read_settings(td_streaming_job *self);
extern const td_setting td_streaming_settings[];
bool td_streaming_uses(const td_program *program, const char *setting);
bool td_streaming_uses_in(const td_program *program, td_mode mode, const char *setting); /* in runs of that mode */

/* Whether runs of that mode tell changes instead of values. */
static inline bool td_streaming_tells_changes(const td_program *program, td_mode mode)
{
    return mode == TD_MODE_ASYNC && program->cpu[TD_WEIGHT_NONE].linear;
}

/* stream_settings.c. A setting that changes nothing beside the others is refused, saying when it would. */
td_status td_streaming_check_settings(const td_settings *settings);
td_status td_streaming_check_request(const td_program *program, const td_run_options *options); /* and beside the mode */

/* Whether a setting changes anything beside the variant and the rules among the others. */
bool td_streaming_applies(const td_settings *settings, const char *name);

/* stream_plan.c: what a run takes and how the cap on edges is spent; refused with the least that would do. */
typedef struct td_streaming_bytes {
    uint64_t vertices;  /* on the device, besides edges: offsets and the program's arrays */
    uint64_t edges;     /* of all lists, at the host */
    uint64_t on_device; /* edges there, at most */
    uint64_t edge_bytes;/* of one of them */
    bool all;           /* they fit: it runs as the resident engine does */
} td_streaming_bytes;
td_status td_streaming_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t device_free, td_streaming_bytes *out, td_streaming_shape *shape);

/* stream.c: measures the arrays of a run with this shape, by the functions that allocate them. An emulated device's are
 * part of the host's memory; NULL: the host's is not asked for. */
td_status td_streaming_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                               const td_streaming_shape *shape, td_device *device, td_gpu_memory *out);

/* stream_graph.c: lists, slots, chunks and what else the shape asks for, unless the run before left them; declares them
 * alone where arrays are measured. */
extern const td_gpu_keeper td_streaming_keeper;
td_status td_streaming_hold(td_streaming_job *self, const td_streaming_shape *shape);
void td_streaming_release(void *held);
/* stream_beginnings.c. The most edges of equally long beginnings of all lists, of which there is room for so many; how
 * long these are. */
typedef uint64_t (*td_streaming_degree)(const td_graph *graph, uint64_t v);
td_status td_streaming_fit_prefix(const td_graph *graph, td_streaming_degree degree, uint64_t room, uint32_t *most,
                                  uint64_t *edges);
td_streaming_degree td_streaming_degree_of(const td_graph *graph, const td_streaming_shape *shape, bool second);

/* Of a list that is made: what stays on the device; of lists in the order of weights how many
 * edges are lighter than a limit; of sorted ones whose edges are meant once those that lead to a lower number. */
td_status td_streaming_make_prefix(td_streaming_job *self, td_link_list *list, uint64_t bytes, bool second);
td_status td_streaming_find_light(td_streaming_job *self, td_link_list *list, double limit);
td_status td_streaming_skip_lower(td_streaming_job *self, td_link_list *list);

/* stream_value.c: counts useful edges of the active vertices (heavy: among the heavy edges), and chooses a way for
 * every subgraph. */
td_status td_streaming_count_useful(td_streaming_job *self, td_link_list *list, bool heavy);
void td_streaming_all_useful(td_streaming_job *self, td_link_list *list);
void td_streaming_choose_ways(td_streaming_job *self, const td_link_list *list);

/* stream_cross.c: one iteration's work over all subgraphs that have a way; heavy: along the heavy edges, where light
 * ones are apart. */
td_status td_streaming_cross(td_streaming_job *self, td_link_list *list, td_streaming_work work, bool heavy);

/* An event of a lane ends now; it began when it was asked for, or when the one before ended. */
td_status td_streaming_note_event(td_streaming_job *self, td_lane lane, const char *name, uint32_t subgraph, uint64_t asked,
                               uint64_t bytes);

void td_streaming_look_at_clock(td_streaming_job *self); /* before what is under way changes: counts the time since */
void td_streaming_note(td_streaming_job *self, td_status status); /* the first failure of a handler ends the iteration */
td_status td_streaming_go_on(td_streaming_job *self); /* something is done: what is next */
td_status td_streaming_start_copies(td_streaming_job *self); /* of the subgraphs waiting, as many as there are slots for */

/* Launches the work under way over edges of the lists that cross. */
td_status td_streaming_launch_part(td_streaming_job *self, const td_streaming_stretch *edges);

/* Launches over the resident prefix of all lists. A push that `defers` notes in `rest` and `heavy` the vertices whose
 * lists go on behind it; a sweep leaves the first `sampled` edges of every list out. */
td_status td_streaming_push_prefix(td_streaming_job *self, bool defers);
td_status td_streaming_hit_prefix(td_streaming_job *self);
td_status td_streaming_sweep_prefix(td_streaming_job *self, uint32_t sampled);

/* stream_words.c */
uint32_t td_streaming_weight_bits(const td_graph *graph);
td_status td_streaming_join_weights(td_link_list *list, const td_graph *graph, uint32_t bits, td_host_memory *memory,
                                    td_pool *pool);

/* stream_decompress.c */
td_status td_streaming_decompress(td_streaming_job *self, const td_slot *slot);

/* stream_kept.c */
td_status td_streaming_close_part(td_streaming_job *self, uint32_t subgraph); /* behind a launch that keeps edges */
td_status td_streaming_make_kept(td_streaming_job *self, const td_streaming_shape *shape);
void td_streaming_free_kept(td_streaming_graph *held);
td_status td_streaming_start_kept(td_streaming_job *self);
td_status td_streaming_sweep_light(td_streaming_job *self);
td_status td_streaming_sweep_kept(td_streaming_job *self);
void td_streaming_leave_out_kept(td_streaming_job *self);
td_status td_streaming_note_kept(td_streaming_job *self);
static inline uint64_t td_streaming_aside(uint64_t kept) { return kept / 16 + 1; } /* of a stretch of them */

/* stream_extract.c */
td_status td_streaming_fetch_active(td_streaming_job *self);
td_status td_streaming_start_extraction(td_streaming_job *self);
bool td_streaming_is_extracting(const td_streaming_job *self);
void td_streaming_end_extraction(td_streaming_job *self); /* waits for the workers, where it was broken off */

/* The schedules. */
td_status td_streaming_rounds(td_streaming_job *self);
td_status td_streaming_peel(td_streaming_job *self);
td_status td_streaming_priorities(td_streaming_job *self);
td_status td_streaming_pulls(td_streaming_job *self);
td_status td_streaming_declare_changes(td_streaming_job *self);
td_status td_streaming_start_changes(td_streaming_job *self);
td_status td_streaming_changes(td_streaming_job *self);
td_status td_streaming_sweep(td_streaming_job *self);
/* Vertices' steps after a sweep, and its row. */
td_status td_streaming_end_sweep(td_streaming_job *self, td_row *row, uint64_t began, bool *again);
td_status td_streaming_pull_hit(td_streaming_job *self); /* the first-hit pull of one iteration */

#endif
