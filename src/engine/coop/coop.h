/* The coop engine: a hot subgraph on the GPU, the rest of the graph on the CPU, both busy until the iteration ends
 * (CGgraph, VLDB'24, and extensions).
 *
 * The graph is split along an order of its vertices (layout/split.h): the hot part is loaded onto the device once, the
 * rest stays in host memory. In every iteration the edges of either part form a deque. The GPU takes from the hot deque
 * and, when that is empty, from the rest, which it reads over the link; CPU workers take from the rest and, when that
 * is empty, hot edges that the GPU has not started (on-demand allocation). Each side takes from its own end, and one
 * thread hands out from both ends, so that every edge is processed exactly once (share.c).
 *
 * Programs that push (rounds.c): the host has the valid values; the GPU gets the frontier, and its changes are merged
 * at the end of the iteration. Accumulating programs (pull.c): the GPU has the valid values; the CPU sends its sums and
 * receives the messages. In both cases the host has consistent values from which the CPU can finish the run alone.
 * coop.c sets up a run, graph.c makes the cached layout, prepared.c reads it from the file beside the graph, plan.c
 * states memory. */
#ifndef TD_ENGINE_COOP_COOP_H
#define TD_ENGINE_COOP_COOP_H

#include "gpu/job.h"
#include "cpu/cpu.h"
#include "engine/engine.h"
#include "gpu/bytes.h"
#include "gpu/rounds.h"
#include "gpu/link_list.h"
#include "layout/split_file.h"
#include "run/numbering.h"

typedef enum td_coop_invoke { TD_INVOKE_PAPER, TD_INVOKE_MEASURED, TD_INVOKE_ALWAYS, TD_INVOKE_NEVER } td_coop_invoke;

enum { TD_COOP_WINDOWS = 3 };

/* Compressed windows of one part of the lists that are resident on the device. */
typedef struct td_coop_windows {
    uint32_t *words;           /* compressed targets; NULL: none */
    uint64_t *at, base;        /* first word of every window, counted from `base` in the host's array */
    uint32_t first, end;       /* first .. end - 1: the windows */
} td_coop_windows;

/* The layout that is cached between runs of one graph. */
typedef struct td_coop_graph {
    td_gpu_layout gpu;
    td_split_request request;
    td_split split;
    td_numbering numbering;    /* numbering of the split */
    td_graph shadow;           /* the graph in the split's numbering, with the fields that engines use; owns nothing */
    td_device *device;
    td_stream *stream, *hot_stream, *copies, *incoming; /* kernels; kernels over hot edges; copies to the host; windows
                                                         * to the device */
    td_gpu_list hot, rest; /* the lists that the GPU processes; the edges of the rest are in host memory, as kernels see
                            * it */
    const td_split_lists *cut; /* the same lists at the host */
    uint64_t longest;          /* length of the longest list */
    bool pinned[2], readable;
    void *out;                 /* out-offsets, for out-degrees */
    td_gpu_head_arrays heads[2]; /* accumulating programs: list starts of either part */
    bool compress;             /* setting coop.compress */
    td_link_list link;         /* accumulating programs: the rest in windows with compressed targets; compressed NULL:
                                * read uncompressed */
    td_coop_windows resident[2]; /* resident windows: of the whole hot part; of the end of the rest */
    void *window[TD_COOP_WINDOWS]; /* device memory for windows that cross */
    td_event *freed[TD_COOP_WINDOWS];
    uint32_t next_window;
    double copy_rate;          /* bytes per ns */
    bool prepared;             /* the split was read from the file beside the graph */
} td_coop_graph;

/* A range of work units; the GPU takes from one end and the CPU from the other. */
enum { TD_COOP_HOT, TD_COOP_REST, TD_COOP_DEQUES };
typedef struct td_coop_deque {
    uint64_t front, back;      /* units not taken yet: front .. back - 1 */
    const uint64_t *before;    /* edges before every unit; NULL: all units are equal */
    uint64_t unit, edges;      /* edges of a unit, if all are equal; edges in total */
    uint64_t window;           /* units per window: the GPU takes whole windows; 0: any number */
    double gpu_rate;           /* measured rate of the GPU on these edges, edges per ns; 0: unknown */
} td_coop_deque;

typedef struct td_coop_piece {
    int deque;
    uint64_t begin, end;       /* units of the deque */
    uint64_t edges, asked;     /* asked: time at which it was queued */
} td_coop_piece;
enum { TD_COOP_FLIGHTS = 2 };

typedef struct td_coop_range {
    uint64_t begin, end;       /* vertices begin .. end - 1 */
} td_coop_range;

/* The iteration that values belong to. */
typedef struct td_coop_moment {
    uint32_t iteration;        /* the next iteration */
    double global;
} td_coop_moment;

struct td_coop_job;

/* What settings, program and graph decide before the run. */
typedef struct td_coop_setup {
    td_order order;
    bool stored_order;         /* the graph's order is used, because neighbours have close numbers */
    td_split_extract extract;
    td_coop_invoke invoke;
    bool on_demand, link, compress, defer_sinks;
    bool prepared;             /* the split is to be read from the file beside the graph */
    double tau, theta;
    uint64_t piece;            /* minimum edges of a GPU piece */
    double compressed_guess;   /* if arrays are measured: estimated words per edge of compressed targets */
    uint64_t probe_bytes;      /* maximum size of the copy that measures the link; the program's arrays use that memory
                                * later */
} td_coop_setup;

/* Both deques, and the GPU's pieces in flight (share.c). */
typedef struct td_coop_share {
    td_coop_deque deque[TD_COOP_DEQUES];
    bool cpu_in_front;         /* the CPU takes from the front, the GPU from the back */
    td_status (*launch)(struct td_coop_job *self, const td_coop_piece *piece);
    td_status (*work)(struct td_coop_job *self, const td_coop_piece *piece);
    td_stream *lane[TD_COOP_DEQUES]; /* streams of the GPU's pieces; two streams if hot edges and the rest may
                                      * overlap */
    td_coop_piece flight[TD_COOP_DEQUES][TD_COOP_FLIGHTS];
    uint32_t flights[TD_COOP_DEQUES], first_flight[TD_COOP_DEQUES];
    uint64_t busy_until;       /* expected end of the GPU's queued pieces */
} td_coop_share;

/* Measured rates and times, and what follows from them. */
typedef struct td_coop_rates {
    double cpu_rate[TD_COOP_DEQUES]; /* of all workers, edges per ns; 0: unknown */
    double overhead;           /* time for sending the frontier and merging changes, ns */
    bool grown;                /* some frontier was large enough for the GPU */
    bool leaves;               /* no such frontier is expected: the CPU runs alone */
    uint64_t gpu_free[TD_COOP_DEQUES], cpu_busy, gpu_busy, cpu_began;
    uint64_t gpu_busy_in_all;  /* ns of all iterations */
} td_coop_rates;

/* The current iteration. */
typedef struct td_coop_now {
    bool gpu_takes;            /* the GPU takes part in it */
    bool cpu_waits;            /* the CPU waits for messages from the GPU before it starts */
    bool cpu_posted;
    td_row *row;
} td_coop_now;

/* Arrays of programs that push. */
typedef struct td_coop_push {
    td_cpu_block *blocks;      /* blocks of the frontier; `before`: edges before each */
    uint64_t *before[TD_COOP_DEQUES];
    uint64_t block_count;
    uint32_t *sent_vertices;   /* on the device: vertices of the frontier, or changed vertices */
    void *sent_values;         /* the values of sent_vertices */
    uint32_t *changed;         /* vertices that the GPU changed */
    void *queue_values, *given;
    uint64_t *pending;
} td_coop_push;

/* Sums and messages of accumulating programs. */
typedef struct td_coop_sums {
    /* on the device: sums along the rest (hot part: gpu.arrays.sums); sums sent by the host */
    void *rest, *sent;
    void *own;                 /* the host's */
    void *messages[2]; /* the host's messages of this iteration and the next; snapshots if messages are the values */
    int next_messages;
    td_coop_range settled[TD_COOP_DEQUES]; /* vertices applied already, from the GPU's pieces of either deque */
    uint64_t hot_end;          /* vertices from here on have no hot edges */
    uint64_t begin, end;       /* vertices whose sums the host has */
    bool add;                  /* the host's sums include hot edges, so further sums are added */
    uint64_t participants;     /* vertices computed in this iteration: 0 .. participants - 1; deferred sinks follow */
    uint64_t sources;          /* vertices 0 .. sources - 1 may have out-edges; only their messages are sent */
} td_coop_sums;

/* Accumulating programs: the host's snapshots of the values. */
typedef struct td_coop_snapshots {
    void *values[2];           /* of two iterations */
    td_coop_moment of[2];
    int safe;                  /* the latest complete snapshot; -1: none */
    uint32_t count;
    uint64_t at;               /* time of the last snapshot */
    uint32_t last, in_flight;
} td_coop_snapshots;

typedef struct td_coop_job {
    td_gpu_job gpu;
    td_cpu_job cpu;
    td_coop_graph *layout;
    td_run_options cpu_options;
    td_pool *own_pool;         /* a pool with one worker fewer than cores; NULL: the run's pool */
    td_coop_setup setup;
    td_coop_share share;
    td_coop_rates rates;
    td_coop_now now;
    td_coop_push push;
    td_coop_sums sums;
    td_coop_snapshots kept;
    td_status status;          /* first failure of a handler */
    td_failure failure;
    void *pins[8];
    int pin_count;
    td_renumbered renumbered;
} td_coop_job;

extern const td_setting td_coop_settings[];
bool td_coop_uses(const td_program *program, const char *setting);

/* Whether CPU and GPU can share iterations of the program; otherwise the CPU runs it alone. */
bool td_coop_cooperates(const td_program *program);

bool td_coop_compresses(const td_run_options *options);

/* plan.c */
typedef struct td_coop_bytes {
    uint64_t vertices; /* device memory besides hot edges */
    uint64_t hot;      /* device memory of edges */
    uint64_t program;  /* part of `vertices`: the program's arrays */
    uint64_t room;     /* device memory for hot edges */
    uint64_t edges;    /* bytes of all edges of the list that the GPU processes */
    uint64_t host;     /* peak host memory besides the graph, including an emulated GPU's memory */
    bool all;          /* the graph fits on the GPU: the resident engine runs the plan */
    bool prepared;     /* the split is read from the file beside the graph; `layout` is its name */
    char layout[TD_SIDECAR_NAME];
} td_coop_bytes;
td_status td_coop_estimate(const td_case *of, td_plan_estimate *out); /* estimate.c */
td_status td_coop_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                       td_device *device, bool divides, td_coop_bytes *out); /* divides: even if all of it fits */

td_status td_coop_declare_arrays(td_coop_job *self); /* device arrays of the run */

/* coop.c */
td_status td_coop_read_settings(td_coop_job *self);
td_status td_coop_declare_host(td_coop_job *self); /* host arrays of the run; call after lists and the CPU's job exist */

/* graph.c */
extern const td_gpu_layout_kind td_coop_layout_kind;
td_status td_coop_prepare(td_coop_job *self, uint64_t room);
void td_coop_release(void *layout);

/* prepared.c: the split that the program's runs ask for, whatever the GPU; whether it lies beside the graph; the name of
 * its layout and how it is made (engine.h). */
td_split_request td_coop_request(const td_coop_job *self);
bool td_coop_find_prepared(const td_coop_job *self, char name[TD_SIDECAR_NAME]);
td_status td_coop_split(td_coop_job *self, const td_split_request *request);
td_status td_coop_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                         char name[TD_SIDECAR_NAME]);
td_status td_coop_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                              td_prepared_file *out);

/* share.c: processes both deques until they are empty. */
td_status td_coop_drain(td_coop_job *self);
void td_coop_start_cpu(td_coop_job *self);
void td_coop_record_status(td_coop_job *self, td_status status);
uint64_t td_coop_edges(const td_coop_deque *deque, uint64_t begin, uint64_t end);

/* Updates the CPU's rate on a deque (TD_COOP_DEQUES: on both). TD_COOP_EDGE_BYTES: bytes per edge, for virtual
 * clocks. */
void td_coop_learn_cpu(td_coop_job *self, int which, uint64_t edges, uint64_t ns);
enum { TD_COOP_EDGE_BYTES = 16 };
enum { TD_COOP_HIGH_DEGREE = 256 }; /* minimum degree at which a list is divided among all warps (coop.balance=warp) */

/* Whether the GPU takes part in an iteration with so many active and hot edges. */
bool td_coop_invokes(const td_coop_job *self, uint64_t active, uint64_t hot);

/* The schedules. */
td_status td_coop_rounds(td_coop_job *self);
td_status td_coop_steps(td_coop_job *self); /* delta-stepping */
td_status td_coop_pulls(td_coop_job *self);
td_status td_coop_declare_sums(td_coop_job *self); /* host arrays of td_coop_pulls */
td_status td_coop_make_sums(td_coop_job *self);    /* all arrays of td_coop_pulls, with their first values */
td_status td_coop_settle(td_coop_job *self, int deque, uint64_t from);
td_status td_coop_follow(td_coop_job *self, td_stream *stream, td_stream *other);

/* tiles.c: pieces of accumulating programs. */
td_status td_coop_make_deques(td_coop_job *self);
void td_coop_fill_deques(td_coop_job *self);
td_status td_coop_launch_pull(td_coop_job *self, const td_coop_piece *piece);
td_status td_coop_work_pull(td_coop_job *self, const td_coop_piece *piece);
uint64_t td_coop_crossing_end(const td_coop_job *self);
td_status td_coop_clear_until(td_coop_job *self, uint64_t end); /* clears the host's sums up to this vertex */
td_status td_coop_gather(td_coop_job *self, const td_adjacency *list, uint64_t begin, uint64_t end, bool adds);

/* state.c: writes a checkpoint if one is due; puts a state from which the CPU can continue alone into run->resumed. */
td_status td_coop_save(td_coop_job *self, const td_context *context, const void *values);
td_status td_coop_recover(td_coop_job *self);

/* Allocates pinned host memory. */
td_status td_coop_new_pinned(td_coop_job *self, void *out, uint64_t count, uint64_t bytes, const char *what);

#endif
