/* A run: a program on a graph by an engine. What goes in, what comes out, and
 * what is counted on the way; the same for every engine. */
#ifndef TD_RUN_RUN_H
#define TD_RUN_RUN_H

#include "base/account.h"
#include "base/pool.h"
#include "base/setting.h"
#include "device/device.h"
#include "kernels/program.h"
#include "store/graph.h"

#include <stddef.h>

/* A row of the report: an iteration as the API gives it, and what engines count besides (engine/engine.h: columns). */
typedef struct td_row {
    union {
        td_iteration common;
        struct { /* the same members, by their names */
            uint32_t number;
            const char *direction;
            uint64_t active_vertices, active_edges, edges;
            double change, start, seconds;
        };
    };
    /* Of engines whose edges cross a link: subgraphs by transfer mode, bytes that crossed, useful bytes. */
    uint32_t subgraphs_resident, subgraphs_whole, subgraphs_extracted, subgraphs_direct;
    uint32_t rounds;          /* launches over subgraphs on the device */
    uint32_t evictions;
    uint64_t bytes_whole, bytes_extracted, bytes_direct, bytes_useful;
    double copy_seconds, compute_seconds, both_seconds; /* copies under way, kernels under way, both at once */
    /* Of the hybrid engine: pages by who worked on them, pages not looked at, pages that were in memory or had to be
     * read. */
    uint32_t pages_cpu, pages_gpu, pages_skipped, page_hits, page_misses;
    uint64_t disk_reads, disk_bytes;
    double disk_wait_seconds; /* with nothing else to do */
    /* Of engines that share an iteration out: edges done by the GPU on its part, by the GPU over the link, by the CPU
     * on its part, by the CPU on what waited for the GPU; what was sent so that both know the same; how long each had
     * nothing to do. */
    uint64_t edges_gpu, edges_link, edges_cpu, edges_on_demand, bytes_synchronised;
    double gpu_idle_seconds, cpu_idle_seconds;
    double cpu_waited_seconds; /* of the latter: before it had what it needs to begin */
    double useful_over_moved; /* of engines whose edges cross a link: useful bytes over bytes that crossed */
} td_row;
_Static_assert(offsetof(td_row, subgraphs_resident) == sizeof(td_iteration) &&
                   offsetof(td_row, seconds) == offsetof(td_iteration, seconds),
               "a row begins with the API's iteration");

/* A device's part in a run: what the plan states of its memory, and what the run took and did there. */
enum { TD_MOST_GPUS = 16, TD_DEVICE_ROWS = TD_MOST_GPUS + 1 }; /* and the CPU */
typedef struct td_device_use {
    td_device_row row;     /* as the API gives it, but for the name and the size */
    char name[48];         /* "cpu", "cuda:0" */
    uint64_t launches;
} td_device_use;
typedef struct td_device_uses {
    td_device_use of[TD_DEVICE_ROWS]; /* the CPU first, if it computes */
    int count;
} td_device_uses;
/* The row of a device, added if there is none. */
td_device_use *td_device_use_of(td_device_uses *uses, const char *name);
/* Row `row` for a caller of the API, whose struct says how large it is. */
td_status td_device_uses_row(const td_device_uses *uses, int row, td_device_row *out);

/* What an engine has prepared of a graph, on the session's GPUs and at the host (gpu/set.h). */
typedef struct td_layout {
    struct td_cache *cache;
    void *state;          /* NULL: the place is free */
    void (*release)(void *state);
    const char *engine;   /* that prepared it */
    td_graph_watch watch; /* of that graph: the layout is released before it goes */
    td_kept kept;         /* listed while no run uses the layout: it may go when memory is short */
    bool in_use;
    uint64_t used;        /* when a run used it last, by the cache's count */
    uint64_t host_bytes;  /* of the account's memory, an emulated GPU's included */
    uint64_t device_bytes[TD_MOST_GPUS]; /* on each GPU of the set */
} td_layout;

/* What a session keeps between runs: its GPUs, opened once, and layouts of several graphs and engines, of which the
 * one used longest ago is released first. */
enum { TD_LAYOUTS = 8 };
typedef struct td_cache {
    struct td_gpu_set *gpus;
    void (*close)(struct td_gpu_set *gpus);
    uint64_t set_bytes;   /* of the account's memory that the open GPUs take themselves: emulated ones do */
    td_layout layouts[TD_LAYOUTS];
    td_graph_user user;   /* of them all: a run on the GPUs */
    uint64_t uses;        /* of layouts, so far */
    uint64_t gone_host, gone_device[TD_MOST_GPUS]; /* bytes of layouts released so far */
    uint32_t opens; /* of GPUs, so far */
    double open_seconds; /* that they took, so far */
    uint32_t plans; /* made so far, estimates of several engines for one plan not counted */
} td_cache;
void td_cache_release(td_cache *cache);
void td_cache_release_layouts(td_cache *cache); /* the GPUs stay open */
void td_layout_release(td_layout *layout);
/* The layout used longest ago that no run uses; NULL: there is none. */
td_layout *td_cache_oldest(td_cache *cache);
/* Bytes of the account's memory that its layouts and open GPUs take. */
uint64_t td_cache_bytes(const td_cache *cache);

/* What happened on a lane besides iterations, for traces: copies, extraction, kernels. */
typedef enum td_lane { TD_LANE_COPIES, TD_LANE_KERNELS, TD_LANE_WORKERS, TD_LANES } td_lane;
typedef struct td_run_event {
    td_lane lane;
    const char *name;
    uint32_t subgraph;     /* or UINT32_MAX: many */
    double start, seconds; /* by the device's clock, since the run began */
    uint64_t bytes;
} td_run_event;

typedef struct td_run_options {
    td_pool *pool;
    td_mode mode;
    bool has_iterations, has_tolerance, has_source;
    uint32_t iterations;
    double tolerance;
    uint32_t source; /* a vertex number */
    bool parents;
    const td_settings *settings;
    const char *devices;  /* a list for td_devices_open; NULL: Tandem's choice */
    uint64_t gpu_memory;  /* the most each GPU's memory is used, 0: all of it */
    double gpu_edges;     /* most of it for edges: up to 1 a share of the edge bytes, above 1 bytes; 0: no cap */
    const char *engine;   /* "cpu", "resident"; NULL: cpu */
    td_cache *cache;      /* of the session; never NULL once a run has begun */
    bool traces;          /* events are kept */
    const char *checkpoint; /* the folder that the run's state is written to, or NULL (checkpoint.h) */
    uint32_t every;       /* iterations between two of them; 0: by time */
    const char *resume;   /* the folder whose last one it goes on from, or NULL */
    void (*begins)(void *context); /* called when all that a request can be refused for has been looked at, or NULL */
    td_iteration_fn each; /* called after every iteration, or NULL */
    void *each_context;   /* of both */
} td_run_options;

/* What became of a run's checkpoints. */
typedef struct td_checkpoint_stats {
    uint32_t written, failed;
    uint64_t bytes;
    double seconds;          /* of writing, beside the run */
    double processor;        /* of it on a processor, which the run had to share */
    double waited;           /* of the run: copying its state, and the last write */
    double waited_last;      /* for the last write alone */
    char *resumed_from;      /* or NULL */
    uint32_t resumed_iteration;
} td_checkpoint_stats;

/* What a run read from disk while it went on. */
enum { TD_RUN_DIRECTORIES = 16 };
typedef struct td_run_disk {
    bool used;
    char method[64];
    double ratio;                 /* sequential over random read speed */
    uint64_t pages, hits, misses, parts, evictions, reads, bytes;
    double wait_seconds;
    int directories;
    uint64_t directory_bytes[TD_RUN_DIRECTORIES];
    int reader_threads;
    double reader_seconds[4];     /* of all of them, by td_reader_work */
    uint64_t reused_bytes;        /* read into memory of edges that had gone */
} td_run_disk;

/* An edge of a forest whose list is not in memory any more. */
typedef struct td_forest_edge {
    uint32_t target;
    double weight;
} td_forest_edge;

/* td_result is its name in the API. */
typedef struct td_run {
    const td_program *program;
    const td_graph *graph;
    const char *engine;
    td_value_kind kind;
    void *values;      /* kind x vertices */
    uint32_t *parents; /* or NULL */
    uint64_t *edges;   /* mst: positions in the out-adjacency, ascending */
    uint64_t edge_count;
    td_forest_edge *forest; /* the same edges as they are, where the graph's lists stayed on disk; or NULL */
    double total_weight;
    td_context context; /* the parameters it ran with; inputs are the run's own */
    double *inputs[TD_INPUTS];
    bool async;
    bool converged;
    uint32_t iterations;
    uint64_t edges_processed;
    double final_change;
    double tolerance;
    double prepare_seconds, seconds;
    td_row *rows;
    uint32_t row_count, row_room;
    td_run_event *events;
    uint32_t event_count, event_room;
    char device[48];      /* that it ran on; empty: the cpu */
    double device_seconds;/* by the device's own clock: virtual time on the emulator */
    uint64_t device_peak, launches;
    uint64_t bytes_to_device, bytes_to_host; /* copied while it ran */
    td_counter counters[TD_COUNTERS];        /* that the device has besides: the emulator's */
    int counter_count;
    td_run_disk disk;
    uint32_t device_opens, plans; /* by the session, so far */
    double open_seconds;          /* of opening GPUs for this run's plan */
    td_device_uses devices;
    uint64_t array_bytes; /* held for the program during the run, besides the graph */
    struct td_checkpoints *checkpoints; /* while it runs: those it writes, or NULL */
    struct td_state *resumed;           /* and the state that the engine is to begin with, or NULL */
    bool stop;                          /* whoever watches wants it to end where it can go on */
    td_checkpoint_stats checkpoint_stats;
} td_run;

/* The graph as the program sees it: without weights where it does not look at them. Runs and plans use this one. */
const td_graph *td_graph_seen_by(const td_program *program, const td_graph *graph);

/* What can be refused before there is a graph. */
td_status td_run_check_options(const td_program *program, const td_run_options *options);

/* And what can be refused once this is known of it, before anything is asked of the memory. */
typedef struct td_graph_facts {
    const char *name; /* or NULL */
    uint32_t vertices;
    bool has_in;      /* its in-adjacency */
    td_weight_kind weights;
    double weight_max;
} td_graph_facts;
td_graph_facts td_graph_facts_of(const td_graph *graph);
td_status td_run_check_facts(const td_program *program, const td_graph_facts *facts);

/* Checks the request against the program and the graph, and prepares parameters and inputs. On failure *out is
 * untouched. */
td_status td_run_create(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options);

/* Refuses distances that have become too large for their type. */
td_status td_run_check_overflow(td_run *run, td_pool *pool);
void td_run_destroy(td_run *run);

/* The ith edge of a forest. */
td_forest_edge td_run_forest_edge(const td_run *run, uint64_t i);

/* For engines. */
td_status td_run_add_row(td_run *run, const td_run_options *options, const td_row *row);
td_status td_run_add_event(td_run *run, const td_run_options *options, const td_run_event *event);

/* The program's own inputs (src/programs/prepare.c). */
td_status td_run_prepare_inputs(td_run *run, const td_run_options *options, const char *const *texts);
uint64_t td_run_input_bytes(const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
