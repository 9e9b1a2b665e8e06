/* The coop engine's parts: a hot subgraph on the GPU, the rest of the graph at the CPU, both busy to the end (CGgraph,
 * VLDB'24, and beyond it).
 *
 * The graph is cut in two along an order of its vertices (layout/split.h): the hot part is loaded onto the device once,
 * the rest stays at the host. An iteration is two pots of edges. The GPU takes from the hot one and, when that is
 * empty, from the rest, which it reads over the link; the CPU's workers take from the rest and, when that is empty,
 * from what still waits for the GPU (on-demand allocation). A pot has two ends, one for each, and one thread hands out
 * from both: no edge is done twice, none is lost (coop_share.c).
 *
 * Of programs that push (coop_rounds.c) the values at the host are the valid ones: the GPU is given the frontier, and
 * what it changes is merged at the end of the iteration. Of programs that add up (coop_pull.c) the GPU has the valid
 * values: the CPU hands over its sums and gets the messages. Either way the host has consistent values from which the
 * CPU can end the run alone. coop.c sets a run up, coop_graph.c holds what stays from run to run, coop_plan.c counts
 * bytes. */
#ifndef TD_ENGINE_COOP_COOP_H
#define TD_ENGINE_COOP_COOP_H

#include "gpu/job.h"
#include "cpu/cpu.h"
#include "engine/engine.h"
#include "gpu/bytes.h"
#include "gpu/rounds.h"
#include "gpu/link_list.h"
#include "layout/split.h"
#include "run/numbering.h"

typedef enum td_coop_invoke { TD_INVOKE_PAPER, TD_INVOKE_MEASURED, TD_INVOKE_ALWAYS, TD_INVOKE_NEVER } td_coop_invoke;

enum { TD_COOP_WINDOWS = 3 };

/* Windows of one part of the lists that stay on the device in fewer bits. */
typedef struct td_coop_narrow {
    uint32_t *words;           /* NULL: there are none */
    uint64_t *at, base;        /* where each begins, and the first at the host */
    uint32_t first, end;       /* windows */
} td_coop_narrow;

/* What stays from run to run of one graph. */
typedef struct td_coop_graph {
    td_gpu_cached gpu;
    td_split_wish wish;
    td_split split;
    td_numbering numbering;    /* that of the split */
    td_graph shadow;           /* the graph by its new numbers, as far as the engines look at it; owns nothing */
    td_device *device;
    td_stream *stream, *hot_stream, *copies, *incoming; /* what it computes; what goes to the host; edges that come */
    td_gpu_list hot, rest; /* of the list that the GPU goes along; the rest's edges at the host, as kernels see them */
    const td_split_lists *cut; /* the same at the host */
    uint64_t longest;          /* list */
    bool pinned[2], readable;
    void *out;                 /* offsets, for out-degrees */
    td_gpu_head_arrays heads[2]; /* of programs that add up */
    bool compress;             /* was asked for */
    td_link_list link;         /* of those: the rest in windows, which cross in fewer bits; narrow NULL: they are read
                                * as they are */
    td_coop_narrow kept[2];    /* and what stays of either part: the hot one whole, windows of the rest from its end */
    void *narrow[TD_COOP_WINDOWS]; /* on the device: windows that cross */
    td_event *freed[TD_COOP_WINDOWS];
    uint32_t next_window;
    double copy_rate;          /* bytes a ns */
} td_coop_graph;

/* A pot of work in units; the GPU takes from one end and the CPU from the other. */
enum { TD_POT_HOT, TD_POT_REST, TD_POTS };
typedef struct td_coop_pot {
    uint64_t front, back;      /* units that nobody has taken */
    const uint64_t *before;    /* edges before every unit */
    uint64_t unit, edges;      /* where that is NULL: edges of a unit, and of all */
    uint64_t window;           /* units that come to the GPU together, from a multiple of them on; 0: one by one */
    double gpu_rate;           /* edges a ns that the GPU does of it, measured; 0: not yet */
} td_coop_pot;

typedef struct td_coop_piece {
    int pot;
    uint64_t begin, end;       /* units */
    uint64_t edges, asked;     /* asked: when it was queued */
} td_coop_piece;
enum { TD_COOP_FLIGHTS = 2 };

typedef struct td_coop_range {
    uint64_t begin, end;       /* vertices */
} td_coop_range;

/* When values are from. */
typedef struct td_coop_moment {
    uint32_t iteration;        /* the next one */
    double global;
} td_coop_moment;

typedef struct td_coop_job {
    td_gpu_job gpu;
    td_cpu_job cpu;
    td_coop_graph *held;
    td_run_options cpu_options;
    td_pool *crew;             /* the CPU's own, one fewer than there are cores; NULL: the run's */
    td_order order;
    bool kept_order;           /* the graph's own, because it has neighbours near each other */
    td_split_extract extract;
    td_coop_invoke invoke;
    bool on_demand, link, compress, defer_sinks;
    double tau, theta;
    uint64_t piece;            /* least edges of a piece of the GPU's */
    double narrow_guess;       /* measuring: words of an edge in fewer bits, about */
    uint64_t probe_bytes;      /* most that copies are measured with: the program's arrays come there afterwards */
    td_coop_pot pot[TD_POTS];
    bool cpu_in_front;         /* which end of the pots is the CPU's */
    td_status (*launch)(struct td_coop_job *self, const td_coop_piece *piece);
    td_status (*work)(struct td_coop_job *self, const td_coop_piece *piece);
    td_stream *lane[TD_POTS]; /* where the GPU's pieces of a pot go: side by side, if none gets in the other's way */
    td_coop_piece flight[TD_POTS][TD_COOP_FLIGHTS];
    uint32_t flights[TD_POTS], first_flight[TD_POTS];
    uint64_t busy_until;       /* the GPU, as far as it is known */
    bool gpu_takes;            /* part in this iteration */
    bool cpu_waits;            /* for what it needs from the GPU before it can begin */
    bool cpu_posted;
    double cpu_rate[TD_POTS];  /* edges a ns, of all workers together; 0: not yet measured */
    double overhead;           /* ns that the frontier's way to the GPU and back takes, as measured */
    bool grown;                /* there has been a frontier that was worth it */
    bool leaves;               /* there is none to be expected: the run is the CPU's */
    uint64_t gpu_free[TD_POTS], cpu_busy, gpu_busy, cpu_began;
    uint64_t gpu_busy_in_all;  /* of all iterations, ns */
    td_row *row;
    td_status status;          /* of a handler */
    td_failure failure;
    /* Programs that push. */
    td_cpu_block *blocks;      /* of the frontier; then what is before each */
    uint64_t *before[TD_POTS];
    uint64_t block_count;
    uint32_t *sent_vertices;   /* on the device: the frontier or the changed vertices, */
    void *sent_values;         /* and their values */
    uint32_t *changed;         /* what the GPU gives back */
    void *told, *given;
    uint64_t *pending;
    /* Programs that add up. */
    void *rest_sums, *host_sums; /* on the device: along the rest (along the hot part: gpu.arrays.sums); the host's */
    void *sums, *snapshot[2];  /* the host's sums; values of two moments */
    td_coop_moment snapshot_of[2];
    int safe;                  /* the one that has arrived last; -1: none */
    uint32_t snapshots;
    uint64_t snapshot_at;      /* when the last was taken */
    uint32_t last_snapshot, snapshots_under_way;
    void *messages[2];         /* the host's, of this iteration and the next; the snapshots, where values are sent */
    int next_messages;
    td_coop_range settled[TD_POTS]; /* vertices that have got their values, by what the GPU did of either pot */
    uint64_t hot_end;          /* vertices from here on have no hot edges */
    uint64_t sums_begin, sums_end; /* vertices that the host has sums of */
    bool sums_add;             /* some are of hot edges: what comes is added */
    uint64_t taking;           /* vertices that take part: sinks may wait */
    uint64_t heard;            /* vertices that anyone hears: none of those behind has out-edges */
    void *pins[8];
    int pin_count;
    td_renumbered renumbered;
} td_coop_job;

extern const td_setting td_coop_settings[];
bool td_coop_uses(const td_program *program, const char *setting);

/* Whether the CPU and a GPU can work on the program together; otherwise the CPU does it alone. */
bool td_coop_cooperates(const td_program *program);

bool td_coop_compresses(const td_run_options *options);

/* coop_plan.c */
typedef struct td_coop_bytes {
    uint64_t vertices; /* on the device, besides the hot edges */
    uint64_t hot;      /* on the device, of edges */
    uint64_t program;  /* of `vertices`, the program's */
    uint64_t room;     /* for those */
    uint64_t edges;    /* of all edges of the list that the device goes along */
    uint64_t host;     /* held at the host besides the graph, at its peak, an emulated device's memory included */
    bool all;          /* it fits whole: it runs as the resident engine does */
} td_coop_bytes;
td_status td_coop_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                       td_device *device, td_coop_bytes *out);

td_status td_coop_declare_arrays(td_coop_job *self); /* of the run on the device, of either kind of program */

/* coop.c */
td_status td_coop_read_settings(td_coop_job *self);
td_status td_coop_declare_host(td_coop_job *self); /* the run's arrays at the host, once its lists and the CPU's job are */

/* coop_graph.c */
extern const td_gpu_keeper td_coop_keeper;
td_status td_coop_hold(td_coop_job *self, uint64_t room);
void td_coop_release(void *held);

/* coop_share.c: both pots to the end. */
td_status td_coop_share(td_coop_job *self);
void td_coop_let_cpu_begin(td_coop_job *self);
void td_coop_note(td_coop_job *self, td_status status);
uint64_t td_coop_edges(const td_coop_pot *pot, uint64_t begin, uint64_t end);

/* What the CPU did of a pot (TD_POTS: of both), for its rate; bytes that an edge costs it, for virtual clocks. */
void td_coop_learn_cpu(td_coop_job *self, int which, uint64_t edges, uint64_t ns);
enum { TD_COOP_EDGE_BYTES = 16 };
enum { TD_COOP_HEAVY = 256 }; /* degree from which a vertex is cut into pieces for all warps */

/* Whether the GPU is to take part in an iteration of so many active edges. */
bool td_coop_invokes(const td_coop_job *self, uint64_t active, uint64_t hot);

/* The schedules. */
td_status td_coop_rounds(td_coop_job *self);
td_status td_coop_steps(td_coop_job *self); /* of distances */
td_status td_coop_pulls(td_coop_job *self);
td_status td_coop_declare_sums(td_coop_job *self); /* its arrays at the host; and what they begin with */
td_status td_coop_make_sums(td_coop_job *self);
td_status td_coop_settle(td_coop_job *self, int pot, uint64_t from);
td_status td_coop_follow(td_coop_job *self, td_stream *stream, td_stream *other);

/* coop_tiles.c: pieces of programs that add up. */
td_status td_coop_make_pots(td_coop_job *self);
void td_coop_fill_pots(td_coop_job *self);
td_status td_coop_launch_pull(td_coop_job *self, const td_coop_piece *piece);
td_status td_coop_work_pull(td_coop_job *self, const td_coop_piece *piece);
uint64_t td_coop_crossing_end(const td_coop_job *self);
td_status td_coop_clear_until(td_coop_job *self, uint64_t end);                     /* the host's sums */
td_status td_coop_gather(td_coop_job *self, const td_adjacency *list, uint64_t begin, uint64_t end, bool adds);

/* state.c: a checkpoint if one is due; what the CPU can go on from alone, in run->resumed. */
td_status td_coop_save(td_coop_job *self, const td_context *context, const void *values);
td_status td_coop_recover(td_coop_job *self);

/* Host memory that copies can use at the link's full rate. */
td_status td_coop_new_pinned(td_coop_job *self, void *out, uint64_t count, uint64_t bytes, const char *what);

#endif
