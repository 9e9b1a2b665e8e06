/* The stream engine: vertices on the GPU, edges in host memory (Scaph, ATC'20, and extensions).
 *
 * The lists that cross the link (td_link_list) are divided into subgraphs of 2^shift edges. A subgraph's edges are in a
 * slot of device memory, in a chunk of extracted lists, or in pinned host memory that kernels read. A launch gets a
 * range of edges and the address that edge 0 would have, so that kernels need not know which of the three it is. The
 * first edges of every list can be resident on the device (the prefix).
 *
 * Files: settings.c settings; plan.c memory; stream.c set-up and run; graph.c lists, slots and chunks; prefix.c
 * resident prefix; slots.c slots and their levels; value.c transfer modes; cross.c one iteration across the link;
 * extract.c extraction; nodes.c memory nodes of the host; rounds.c, pull.c, differences.c, changes.c and sweep.c schedules; hook.c reprocessing of
 * forests; survivors.c edges that sweeps collect on the device; pack.c packed edge words; decompress.c compressed
 * targets; prepared.c lists that lie beside the graph. */
#ifndef TD_ENGINE_STREAM_STREAM_H
#define TD_ENGINE_STREAM_STREAM_H

#include "base/numa.h"
#include "base/task.h"
#include "engine/engine.h"
#include "gpu/bytes.h"
#include "gpu/link_list.h"
#include "gpu/rounds.h"
#include "engine/stream/slots.h"
#include "layout/lists_file.h"
#include "layout/compressed.h"

typedef enum td_streaming_variant {
    TD_STREAMING_FULL, TD_STREAMING_HVSP, TD_STREAMING_LVSP, TD_STREAMING_HBASE, TD_STREAMING_LBASE,
    TD_STREAMING_SCAPH,
} td_streaming_variant;
typedef enum td_streaming_low { TD_LOW_AUTO, TD_LOW_EXTRACT, TD_LOW_DIRECT, TD_LOW_WHOLE } td_streaming_low;

/* Whether whole subgraphs cross with compressed targets. */
typedef enum td_streaming_compression { TD_COMPRESS_NO, TD_COMPRESS_YES, TD_COMPRESS_ASKED } td_streaming_compression;

/* Where extraction finds the lists on a host with several memory nodes (nodes.c): wherever they are; interleaved by pages;
 * every subgraph on one node, its home. */
typedef enum td_streaming_placement {
    TD_PLACE_AUTO, TD_PLACE_OFF, TD_PLACE_INTERLEAVE, TD_PLACE_HOME,
} td_streaming_placement;

/* The lists, and the device memory for edges, that a run needs. The cached layout of the previous run is reused if its
 * shape is the same. */
typedef struct td_streaming_shape {
    td_list_order order;
    uint32_t weighted, both;      /* weights are transferred; out- and in-list of a vertex form one list */
    uint32_t pushes, pulls;       /* lists to push along; lists to pull along */
    uint32_t pulls_prefix;        /* if there are two lists: the resident prefix is of the pull list */
    uint32_t nodes;               /* td_streaming_placement of the push list */
    uint32_t mixes;               /* every iteration gathers along all edges or pushes differences (differences.c) */
    uint32_t upper;               /* only edges to higher vertex numbers count (symmetric graphs, mst) */
    uint64_t slot_edges, slots;   /* edges of a subgraph; slots on the device */
    uint64_t chunks;              /* chunks for extracted lists, each of a subgraph's bytes */
    uint64_t prefix_bytes;
    uint64_t compresses;          /* td_streaming_compression */
    uint64_t weight_bits;         /* weight bits in a packed edge word; 0: weights are an array of their own */
    uint64_t survivor_edges;      /* room for survivors of sweeps, in edges; 0: none */
    uint64_t light_first;         /* the lightest edges, collected at the host, are swept first */
    double light;                 /* edges below this weight are light; 0: no distinction */
    uint64_t prepared;            /* bit i: lists[i] are read from the file beside the graph (prepared.c) */
    uint64_t prepared_words;      /* words of the prepared compressed targets */
    double duplicate;             /* share of a memory node's subgraphs that the other nodes have a copy of */
} td_streaming_shape;

/* The push list on the memory nodes of the host. Subgraphs first[n] .. first[n + 1] - 1 have their home on node n; of each
 * node's subgraphs a share is duplicated on all others, evenly spaced. */
typedef struct td_streaming_nodes {
    int count;                    /* 0: lists are not placed */
    bool homes;                   /* otherwise pages are interleaved */
    bool holds[TD_NUMA_NODES];    /* the node has memory */
    double share;
    uint32_t first[TD_NUMA_NODES + 1];
    char *copies[TD_NUMA_NODES];  /* on every node: the duplicates of the others' subgraphs, targets and weights */
} td_streaming_nodes;

/* The layout that is cached between runs of one graph. */
typedef struct td_streaming_graph {
    td_gpu_layout gpu;
    td_streaming_shape shape;
    td_device *device;
    td_stream *stream, *copies;
    td_link_list lists[2];        /* push list, pull list; only lists[0] if they are the same */
    td_slots slots;
    void *own_slots;              /* device memory of the slots that are reserved for one subgraph each */
    td_gpu_head_arrays heads;     /* list starts of the pull list (td_gpu_segments) */
    const void *heads_of;
    uint32_t *window;             /* device memory into which a subgraph's compressed targets are expanded */
    void *chunk[2], *staging[2];  /* extracted lists: on the device, at the host */
    bool chunk_pinned[2], warned_unpinned;
    td_streaming_nodes nodes;
    td_gpu_extract *table[2], *device_table[2]; /* positions of the extracted lists in a chunk */
    td_gpu_edge *survivors, *scratch; /* survivors of sweeps, and the buffer for their compaction (survivors.c) */
    td_gpu_edge *light;           /* at the host: the light edges, which become the first survivors */
    uint64_t light_count;
    bool light_pinned;
    double copy_rate, extract_rate; /* bytes per ns, measured when the layout was made */
    double device_rate;           /* the same of the device's memory */
    uint32_t prepared_read;       /* lists that were read from files beside the graph */
} td_streaming_graph;

/* Whether push and pull use different lists. */
static inline bool td_streaming_has_two(const td_graph *graph, const td_streaming_shape *shape)
{
    return !shape->both && !graph->symmetric && shape->pulls && shape->pushes;
}

enum { TD_STREAMING_EXTRACTS = 1024 }; /* most in a chunk */

/* How a subgraph's useful edges reach the kernels. */
typedef enum td_transfer_mode {
    TD_TRANSFER_NONE, TD_TRANSFER_RESIDENT, TD_TRANSFER_WHOLE, TD_TRANSFER_EXTRACT, TD_TRANSFER_DIRECT,
    TD_TRANSFER_MODES,
} td_transfer_mode;

/* What a launch over a part of the lists does. */
typedef enum td_streaming_work { TD_WORK_PUSH, TD_WORK_HIT, TD_WORK_SUM, TD_WORK_SWEEP, TD_WORK_PARENTS } td_streaming_work;

/* A launch over edges first .. end - 1 of the lists, and the addresses of these edges. */
typedef struct td_streaming_range {
    uint64_t first, end;
    const uint32_t *targets;      /* address that edge 0 would have, as kernels see it */
    const void *weights;
    const uint32_t *compressed;   /* compressed targets of the subgraph, for pulls that decompress them; NULL: not
                                   * compressed */
    bool from_host;               /* the kernel reads the edges from host memory */
    bool again;                   /* vertices changed in this iteration are processed again */
} td_streaming_range;

/* Changes pushed instead of values (changes.c). Of the two signs, positive comes first. */
typedef struct td_streaming_residuals {
    double *residuals, *levels;   /* on the device: residuals, and their sums by level */
    double offsets_times;         /* the factor of the offsets */
    uint32_t least_level[2];      /* lowest level that is pushed */
    double residual_part[2];      /* share of a residual that is pushed */
    double change_before;         /* change after the last round; negative: no round yet */
    uint32_t rounds_balanced, rounds_to_balance; /* rounds that balance both signs: remaining, and after the next
                                                  * stall */
} td_streaming_residuals;

typedef struct td_streaming_job {
    td_gpu_job gpu;
    td_streaming_graph *layout;
    td_link_list *push, *pull;
    td_streaming_variant variant;
    td_streaming_low low;
    double alpha, beta;
    uint32_t levels, repeats;
    int rules;                    /* 0: by cost, 1: the paper's alpha and beta */
    uint64_t *useful, *useful_before; /* useful edges of every subgraph, in this iteration and the last; host memory */
    uint64_t *usable;             /* sweeps: the most useful edges that every subgraph has had */
    uint64_t *device_useful;      /* the device's counters */
    uint64_t edges_useful, vertices_useful; /* of all subgraphs */
    uint8_t *mode;                /* td_transfer_mode of every subgraph */
    uint32_t *waiting;            /* subgraphs that are copied whole; the first `waiting_at` have been started */
    uint32_t waiting_count, waiting_at;
    uint32_t *residents;          /* slots with useful edges; the first `residents_at` have been launched */
    uint32_t residents_count, residents_at;
    td_link_list *crossing;       /* the list that crosses in this iteration, and the kind of work */
    td_streaming_work work;
    bool heavy_edges;             /* the iteration pushes along heavy edges only */
    td_streaming_residuals changes;
    bool pushes_changes;          /* linear program, asynchronous (changes.c) */
    bool differences;             /* accumulating program with active vertices (differences.c) */
    double *pushed;               /* differences, on the device: the part of every message that the sums contain */
    void *to_push;                /* differences, on the device: the differences that active vertices push */
    double gather_ns;             /* duration of the last gather by the device's clock; 0: none yet */
    bool order_free;              /* vertices may be reprocessed within an iteration */
    uint32_t flights;             /* launches that have not completed */
    uint32_t copies_in_flight;
    uint64_t clock;               /* time of the last td_streaming_account_time */
    uint64_t direct_asked;        /* time at which the first direct launch was queued */
    uint64_t lane_free[TD_LANES]; /* end of the last event of every lane */
    uint32_t *active;             /* host copy of the active bitmap, for extraction */
    struct td_extracting *extracting; /* the extraction of this iteration; NULL: none */
    uint32_t *rest, *heavy;       /* on the device: bitmaps of vertices whose lists behind the prefix wait to be pushed:
                                   * light edges (or all edges), heavy edges */
    uint64_t rest_count, heavy_count;
    uint32_t *chosen;             /* sweeps, on the device: bitmap of the vertices that the first sweep visits */
    bool hooks;                   /* forests: components within a subgraph hook as soon as it was swept (hook_within) */
    td_gpu_spans spans;
    bool collects_vertices, collects_edges; /* sweeps collect the vertices, and the edges, that the next sweep must
                                             * visit */
    uint64_t survivor_count;      /* sweeps: edges in `survivors` */
    uint32_t *device_found;       /* part_found on the device */
    bool *part_covered;           /* for every subgraph: all its edges that still matter are survivors */
    uint32_t *part_found;         /* the same from the device, for the first subgraph of every launch */
    uint32_t *part_of;            /* for every subgraph: the first subgraph of its launch */
    bool prefix_done;             /* sweeps: the sample has processed the prefix for the next sweep */
    uint64_t small_edges;         /* edges of a frontier up to which rounds run in one launch */
    td_row *row;                  /* row of the current iteration */
    td_status status;             /* first failure of a handler */
    td_failure failure;
} td_streaming_job;

td_status td_streaming_read_settings(td_streaming_job *self);
extern const td_setting td_streaming_settings[];
extern const td_renamed_setting td_streaming_renamed[];
bool td_streaming_uses(const td_program *program, const char *setting);
bool td_streaming_uses_in(const td_program *program, td_mode mode, const char *setting); /* used in runs of that mode */

/* Whether runs in that mode push changes instead of values. */
static inline bool td_streaming_pushes_changes(const td_program *program, td_mode mode)
{
    return mode == TD_MODE_ASYNC && program->cpu[TD_WEIGHT_NONE].linear;
}

/* Whether an accumulating program has active vertices, which push differences of messages. */
bool td_streaming_peels_at_once(const td_program *program, const td_run_options *options); /* stream.kcore */
bool td_streaming_pushes_differences(const td_program *program, td_mode mode, const td_settings *settings);

/* Whether such a program chooses in every iteration between a gather and differences; both: of joined lists. */
bool td_streaming_asks_to_mix(const td_settings *settings); /* stream.activity=mixed */
bool td_streaming_mixes(const td_program *program, const td_graph *graph, const td_run_options *options, bool both);

/* Why a run cannot reprocess subgraphs within an iteration; NULL if it can. */
const char *td_streaming_why_once(const td_program *program, const td_run_options *options);

/* settings.c. Refuses a setting that has no effect beside the others, and says when it would. */
td_status td_streaming_check_settings(const td_settings *settings);
td_status td_streaming_check_request(const td_program *program, const td_run_options *options); /* also settings without
                                                                                                 * effect in the run's
                                                                                                 * mode */

/* Whether a setting has an effect, given the variant and the rules. */
bool td_streaming_applies(const td_settings *settings, const char *name);
const char *td_streaming_when(const char *name); /* of a setting that has a condition */
td_streaming_placement td_streaming_choose_nodes(const td_settings *settings); /* on this machine */

/* plan.c: states the memory of a run and divides the device memory for edges. A refusal states the minimum. */
typedef struct td_streaming_bytes {
    uint64_t vertices;  /* device memory besides edges: offsets and the program's arrays */
    uint64_t edges;     /* bytes of all lists in host memory */
    uint64_t on_device; /* maximum bytes of edges on the device */
    uint64_t edge_bytes; /* bytes of one edge */
    bool all;           /* all edges fit: the resident engine runs the plan */
} td_streaming_bytes;
td_status td_streaming_estimate(const td_case *of, td_plan_estimate *out); /* estimate.c */

td_status td_streaming_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t device_free, td_streaming_bytes *out, td_streaming_shape *shape);

/* stream.c: whether a file is mapped for runs of the program. */
td_maps td_streaming_maps(const td_program *program, const td_graph *graph, const td_run_options *options);

/* Measures the arrays of a run with this shape, by the functions that allocate them. An emulated device's
 * memory is host memory; NULL: host memory is not measured. */
td_status td_streaming_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                               const td_streaming_shape *shape, td_device *device, td_gpu_memory *out);

/* graph.c: makes lists, slots and chunks for the shape unless the cached layout has them; only declares them if arrays
 * are measured. */
extern const td_gpu_layout_kind td_streaming_layout_kind;
td_status td_streaming_prepare(td_streaming_job *self, const td_streaming_shape *shape);
void td_streaming_release(void *layout);

/* lists.c: the lists in host memory, from files beside the graph or made from its own, of which large ones are pinned
 * meanwhile; pins the others. */
td_status td_streaming_find_host_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                                      const td_streaming_shape *shape);
td_status td_streaming_make_host_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                                      const td_streaming_shape *shape);
void td_streaming_pin(td_streaming_graph *layout, td_link_list *list);
void td_streaming_unpin(td_streaming_graph *layout, td_link_list *list);

/* Fills the list's own arrays piece by piece (TD_LISTS_PIECE): pins them, and counts their light edges, meanwhile. */
td_status td_streaming_fill(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape,
                            td_pinning_fill piece, void *context);

/* Whether all lists are put in order as they are read from the graph's mapped file. */
bool td_streaming_orders_file(const td_graph *graph, const td_streaming_shape *shape);

/* prepared.c: the form of the lists (second: of the pull list) that a shape asks for; which of them lie beside the graph,
 * so that their bits are set in the shape; whether a run then reads none of the graph's own lists. */
td_lists_form td_streaming_form(const td_graph *graph, const td_streaming_shape *shape, bool second);
void td_streaming_find_prepared(const td_graph *graph, td_streaming_shape *shape);
bool td_streaming_spares_lists(const td_graph *graph, const td_streaming_shape *shape);

/* Reads a prepared list; *done is false after a warning if the file cannot be used, and the graph's lists are in memory
 * then. */
td_status td_streaming_read_prepared(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape,
                                     bool second, bool *done);

/* The name of the layout that runs of the program read, and how it is made (engine.h). */
td_status td_streaming_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                              char name[TD_SIDECAR_NAME]);
td_status td_streaming_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                                   td_prepared_file *out);

/* plan.c: the lists that a run on a GPU of any size would use. */
td_status td_streaming_wanted(const td_program *program, const td_graph *graph, const td_run_options *options,
                              td_streaming_shape *shape);

/* prefix.c. Finds the longest prefix (*most edges of every list) whose total (*edges) is within the room. */
typedef uint64_t (*td_streaming_degree)(const td_graph *graph, uint64_t v);
td_status td_streaming_fit_prefix(const td_graph *graph, td_streaming_degree degree, uint64_t room, uint32_t *most,
                                  uint64_t *edges, td_pool *pool);
td_streaming_degree td_streaming_degree_of(const td_graph *graph, const td_streaming_shape *shape, bool second);

/* Uploads the resident prefix; counts the edges of lists that are lighter than a limit (lists ordered by weight), or that
 * lead to lower vertex numbers (sorted lists). */
td_status td_streaming_make_prefix(td_streaming_job *self, td_link_list *list, uint64_t bytes, bool second);
typedef struct td_streaming_light {
    const td_graph *graph;
    td_link_list *list;
    double limit;
} td_streaming_light;
void td_streaming_count_light(const td_streaming_light *self, uint32_t first, uint32_t after); /* into own_light */
td_status td_streaming_send_light(td_streaming_job *self, td_link_list *list); /* sums, to the device */
td_status td_streaming_skip_lower(td_streaming_job *self, td_link_list *list);

/* value.c: counts the useful edges of the active vertices (heavy: among the heavy edges); chooses a transfer mode for
 * every subgraph. */
td_status td_streaming_count_useful(td_streaming_job *self, td_link_list *list, bool heavy);
void td_streaming_all_useful(td_streaming_job *self, td_link_list *list);
void td_streaming_choose_modes(td_streaming_job *self, const td_link_list *list);

/* Estimated ns for kernels to read the useful edges of so many vertices from host memory. */
double td_streaming_direct_ns(const td_streaming_job *self, const td_link_list *list, uint64_t useful,
                              uint64_t vertices);

/* cross.c: processes all subgraphs that have useful edges; heavy: along the heavy edges only. */
td_status td_streaming_cross(td_streaming_job *self, td_link_list *list, td_streaming_work work, bool heavy);

/* Adds an event of a lane that ends now to the trace. It began when it was queued, or when the lane's last event
 * ended. */
td_status td_streaming_note_event(td_streaming_job *self, td_lane lane, const char *name, uint32_t subgraph, uint64_t asked,
                               uint64_t bytes);

void td_streaming_account_time(td_streaming_job *self); /* adds the time since the last call to copy_seconds and
                                                         * compute_seconds; call before flights or copies_in_flight
                                                         * change */
void td_streaming_record_status(td_streaming_job *self, td_status status); /* keeps the first failure, which ends the
                                                                            * iteration */
td_status td_streaming_process_more(td_streaming_job *self); /* starts more work after a completion */
td_status td_streaming_start_copies(td_streaming_job *self); /* of waiting subgraphs, one per free slot */

/* Launches the current kind of work over a range of edges. */
td_status td_streaming_launch_part(td_streaming_job *self, const td_streaming_range *edges);

/* Launches over the resident prefix of all lists. A push that `defers` marks in `rest` and `heavy` the vertices whose
 * lists continue behind it; a sweep skips the first `sampled` edges of every list. */
td_status td_streaming_push_prefix(td_streaming_job *self, bool defers);
td_status td_streaming_hit_prefix(td_streaming_job *self);
td_status td_streaming_sweep_prefix(td_streaming_job *self, uint32_t sampled);

/* pack.c */
uint32_t td_streaming_weight_bits(const td_graph *graph);

/* decompress.c */
td_status td_streaming_decompress(td_streaming_job *self, const td_slot *slot);

/* survivors.c */
td_status td_streaming_close_part(td_streaming_job *self, uint32_t subgraph); /* call behind every launch that collects
                                                                               * edges */
td_status td_streaming_make_survivors(td_streaming_job *self, const td_streaming_shape *shape);
void td_streaming_free_survivors(td_streaming_graph *layout);
td_status td_streaming_start_survivors(td_streaming_job *self);
td_status td_streaming_sweep_light(td_streaming_job *self);
td_status td_streaming_sweep_survivors(td_streaming_job *self);
void td_streaming_skip_covered(td_streaming_job *self);
td_status td_streaming_read_survivors(td_streaming_job *self);
/* Size of the compaction buffer. */
static inline uint64_t td_streaming_scratch_edges(uint64_t survivors) { return survivors / 16 + 1; }

/* extract.c */
td_status td_streaming_fetch_active(td_streaming_job *self);
td_status td_streaming_start_extraction(td_streaming_job *self);
bool td_streaming_is_extracting(const td_streaming_job *self);
void td_streaming_end_extraction(td_streaming_job *self); /* waits for the workers if the extraction was aborted */

/* nodes.c. Places the push list, and declares and makes its duplicates. */
td_status td_streaming_place(td_streaming_job *self, const td_streaming_shape *shape);
void td_streaming_free_places(td_streaming_graph *layout);
/* The share of subgraphs, at most `wanted`, whose duplicates take at most that many bytes; *taken: their bytes. */
double td_streaming_fit_duplicates(const td_numa *numa, uint64_t list_edges, uint64_t slot_edges, uint64_t edge_bytes,
                                   double wanted, uint64_t most, uint64_t *taken);
/* The node that has a subgraph; where a worker of `node` reads it: addresses that edge 0 would have. False: remote. */
int td_streaming_home(const td_streaming_nodes *nodes, uint32_t subgraph);
bool td_streaming_nearest(const td_streaming_graph *layout, const td_link_list *list, uint32_t subgraph, int node,
                          const uint32_t **targets, const char **weights);

/* The schedules. */
td_status td_streaming_rounds(td_streaming_job *self);
td_status td_streaming_peel(td_streaming_job *self);
td_status td_streaming_peel_at_once(td_streaming_job *self); /* stream.kcore=peel */
td_status td_streaming_priorities(td_streaming_job *self);
td_status td_streaming_pulls(td_streaming_job *self);
td_status td_streaming_declare_changes(td_streaming_job *self);
td_status td_streaming_start_changes(td_streaming_job *self);
td_status td_streaming_changes(td_streaming_job *self);
td_status td_streaming_is_acyclic(const td_graph *graph, bool *acyclic);
td_status td_streaming_declare_differences(td_streaming_job *self);
td_status td_streaming_differences(td_streaming_job *self);
td_status td_streaming_mixed(td_streaming_job *self);
/* Vertices whose whole lists are in the part take the sums that have arrived; the next launch over it pushes again. */
td_status td_streaming_settle_within(td_streaming_job *self, const td_gpu_part *part);
td_status td_streaming_sweep(td_streaming_job *self);
/* hook.c: hooks components whose edges are all in one subgraph, before it is swept again within the round. */
td_status td_streaming_declare_spans(td_streaming_job *self);
td_status td_streaming_find_spans(td_streaming_job *self);
td_status td_streaming_span_components(td_streaming_job *self); /* at the start of a round */
td_status td_streaming_hook_within(td_streaming_job *self, const td_gpu_part *part, uint32_t subgraph);
/* Applies the vertex steps after a sweep and adds its row. */
td_status td_streaming_end_sweep(td_streaming_job *self, td_row *row, uint64_t began, bool *again);
td_status td_streaming_pull_hit(td_streaming_job *self); /* one iteration of a first-hit pull */

#endif
