/* A run: a program on a graph by an engine. Its options, result and counters, the same for every engine. */
#ifndef TD_RUN_RUN_H
#define TD_RUN_RUN_H

#include "base/account.h"
#include "base/pool.h"
#include "base/setting.h"
#include "device/device.h"
#include "kernels/program.h"
#include "store/graph.h"

#include <stddef.h>

/* Numbers of an iteration, such as one for every GPU. Owned by the run. */
typedef struct td_row_list {
    const double *values;
    uint32_t count; /* 0: none in this iteration */
} td_row_list;

/* A row of the report: an iteration as in the API, and the engine's columns (engine/engine.h). */
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
    /* Engines whose edges cross a link: subgraphs by transfer mode, bytes that crossed, useful bytes. */
    uint32_t subgraphs_resident, subgraphs_whole, subgraphs_extracted, subgraphs_direct;
    uint32_t rounds;          /* launches over subgraphs on the device */
    uint32_t evictions;
    uint32_t chunks_sent;     /* chunks of extracted lists */
    uint32_t levels;          /* of the priority queue of subgraphs on the device */
    uint64_t bytes_whole, bytes_extracted, bytes_direct, bytes_useful;
    uint64_t bytes_local, bytes_remote; /* edges that extraction read on its workers' memory node, and on others */
    double copy_seconds, compute_seconds, both_seconds; /* with copies in flight, with kernels in flight, with both */
    double queue_seconds;     /* of the host, choosing subgraphs to process and to evict */
    double bitmap_seconds;    /* of the device: counting useful edges, and copying the bitmap of active vertices back */
    /* The hybrid engine: pages by device, skipped pages, pages in memory and pages read. */
    uint32_t pages_cpu, pages_gpu, pages_skipped, page_hits, page_misses;
    uint64_t disk_reads, disk_bytes;
    double disk_wait_seconds; /* waiting for the disk without other work */
    /* Its dispatcher: alpha, the expected times of a pull by the CPU alone and with the GPU; the time in which both
     * processed pages. */
    double alpha, tpull_seconds, tgpu_seconds, overlap_seconds;
    /* Engines that divide an iteration: edges of the GPU on its part and over the link; edges of the CPU on its part
     * and on demand; bytes exchanged between them; idle time of each. */
    uint64_t edges_gpu, edges_link, edges_cpu, edges_on_demand, bytes_synchronised;
    double gpu_idle_seconds, cpu_idle_seconds;
    double cpu_waited_seconds; /* part of the CPU's idle time: before its first piece */
    /* Several GPUs: why edges were stolen or not, and how many; updates of other GPUs' vertices, and bytes sent; GPUs
     * that took part; the longest GPU's seconds, predicted and measured; idle time of the others as a share of it. In
     * iterations that are large enough to be divided: active edges of every fragment, and shares[i * n + j], the edges of
     * fragment i that GPU j processes. */
    const char *steal;
    td_row_list load, share;
    td_row_list busy; /* of such iterations: seconds of every GPU at work */
    uint64_t edges_stolen, messages, bytes_exchanged;
    uint64_t bytes_relayed; /* of them, through a third GPU */
    uint64_t edges_cached; /* of another GPU's lists that were processed along a copy */
    uint32_t gpus;
    uint32_t operations;      /* of the host on all GPUs: launches, copies, fills and waits */
    double predicted_seconds, longest_seconds, idle_share, decide_seconds;
    /* The iteration's seconds by the devices' clock, which these add up to: means of the GPUs' computing and packing,
     * the decision, and the rest, in which the mean GPU waits for messages and for others. */
    double computing_seconds, packing_seconds, deciding_seconds, waiting_seconds;
    double useful_over_moved; /* engines whose edges cross a link: useful bytes over bytes that crossed */
} td_row;
enum { TD_FIRST_ROWS = 64 }; /* for which a run has room at first */
#define TD_ROW_BYTES (sizeof(td_iteration) + sizeof(td_row)) /* what a run keeps of an iteration */
_Static_assert(offsetof(td_row, subgraphs_resident) == sizeof(td_iteration) &&
                   offsetof(td_row, seconds) == offsetof(td_iteration, seconds),
               "a row begins with the API's iteration");

/* A device's part in a run: the memory that the plan states, and what the run used and did there. */
enum { TD_MOST_GPUS = 16, TD_DEVICE_ROWS = TD_MOST_GPUS + 1 }; /* and the CPU */
typedef struct td_device_use {
    td_device_row row;     /* the API's row, without name and size */
    char name[48];         /* "cpu", "cuda:0" */
    uint64_t host_edge_bytes; /* edges of its part of the graph that it reads in host memory */
    uint64_t copies, fills, waits; /* operations of the host, beside launches */
} td_device_use;
typedef struct td_device_uses {
    td_device_use of[TD_DEVICE_ROWS]; /* the CPU first, if it computes */
    int count;
} td_device_uses;
/* The row of a device, added if there is none. */
td_device_use *td_device_use_of(td_device_uses *uses, const char *name);
/* Row `row` with its name, for the API. */
td_status td_device_uses_row(const td_device_uses *uses, int row, td_device_row *out);

/* An engine's layout of a graph, on the session's GPUs and at the host (gpu/set.h). */
typedef struct td_layout {
    struct td_cache *cache;
    void *state;          /* NULL: the place is free */
    void (*release)(void *state);
    const char *engine;   /* engine of the layout */
    td_graph_watch watch; /* releases the layout before its graph is destroyed */
    td_kept kept;         /* listed while no run uses the layout: it may be released when memory is short */
    bool in_use;
    uint64_t used;        /* the cache's count of uses when a run last used it */
    uint64_t host_bytes;  /* bytes of the account's memory, including an emulated GPU's */
    uint64_t device_bytes[TD_MOST_GPUS]; /* bytes on each GPU of the set */
} td_layout;

/* Cached between the runs of a session: its GPUs, opened once, and layouts of several graphs and engines, of which the
 * least recently used is released first. */
enum { TD_LAYOUTS = 8 };
typedef struct td_cache {
    struct td_gpu_set *gpus;
    void (*close)(struct td_gpu_set *gpus);
    uint64_t set_bytes;   /* bytes of the account's memory that the open GPUs need themselves: emulated ones do */
    td_layout layouts[TD_LAYOUTS];
    td_graph_user user;   /* all layouts: a run on the GPUs */
    uint64_t uses;        /* times that a layout was acquired */
    uint64_t gone_host, gone_device[TD_MOST_GPUS]; /* bytes of all layouts released so far */
    uint32_t opens; /* times that GPUs were opened */
    double open_seconds; /* time spent opening them */
    uint32_t plans; /* plans made; estimates of several engines for one plan count once */
} td_cache;
void td_cache_release(td_cache *cache);
void td_cache_release_layouts(td_cache *cache); /* the GPUs stay open */
void td_layout_release(td_layout *layout);
/* The least recently used layout that no run uses; NULL: none. */
td_layout *td_cache_oldest(td_cache *cache);
/* Bytes of the account's memory that its layouts and open GPUs take. */
uint64_t td_cache_bytes(const td_cache *cache);

/* An event on a lane, for traces: a copy, an extraction, a kernel. */
typedef enum td_lane { TD_LANE_COPIES, TD_LANE_KERNELS, TD_LANE_WORKERS, TD_LANES } td_lane;
typedef struct td_run_event {
    td_lane lane;
    const char *name;
    uint32_t subgraph;     /* or UINT32_MAX: several */
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
    const uint32_t *sources; /* of a batch, one run each: vertex numbers; or NULL */
    uint64_t source_count;
    bool parents;
    const td_settings *settings;
    const char *devices;  /* a list for td_devices_open; NULL: Tandem's choice */
    uint64_t gpu_memory;  /* limit on each GPU's memory; 0: none */
    double gpu_edges;     /* limit on device memory for edges: up to 1 a share of the edges' bytes, above 1 bytes; 0:
                           * none */
    const char *engine;   /* "cpu", "resident"; NULL: cpu */
    td_cache *cache;      /* the session's; never NULL during a run */
    bool traces;          /* events are recorded */
    const char *checkpoint; /* folder for the run's checkpoints, or NULL (checkpoint.h) */
    uint32_t every;       /* iterations between two checkpoints; 0: by time */
    const char *resume;   /* folder whose last checkpoint is resumed, or NULL */
    void (*begins)(void *context); /* called when all checks of the request have passed, or NULL */
    td_iteration_fn each; /* called after every iteration, or NULL */
    void *each_context;   /* context of both callbacks */
    uint64_t runs;        /* runs of the plan that are expected; 0: one */
    bool counts_neighbours; /* the engine makes kcore's input itself, where its lists are */
} td_run_options;

/* Statistics of a run's checkpoints. */
typedef struct td_checkpoint_stats {
    uint32_t written, failed;
    uint64_t bytes;
    double seconds;          /* time of writing, concurrent with the run */
    double processor;        /* CPU time of writing */
    double waited;           /* time that the run waited: for copying its state, and for the last write */
    double waited_last;      /* part of it: the last write */
    char *resumed_from;      /* or NULL */
    uint32_t resumed_iteration;
} td_checkpoint_stats;

/* Lost devices of a run that continued without them. */
typedef struct td_recovery_stats {
    bool on;                 /* the run would have */
    uint32_t copies;         /* copies of the state at the host */
    uint64_t bytes;
    double seconds;          /* by the devices' clock */
    uint32_t gpus_lost, iterations_repeated;
} td_recovery_stats;

/* Disk reads of a run. */
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
    double reader_seconds[4];     /* of all readers, by td_reader_work */
    uint64_t reused_bytes;        /* read into frames of evicted pages */
} td_run_disk;

/* An edge of a forest whose list is no longer in memory. */
typedef struct td_forest_edge {
    uint32_t source, target;
    double weight;
} td_forest_edge;

/* A worker of the CPU: times that it took work of another, times that it was given some, pieces of divided lists that
 * it processed, and the time that it waited for the others at the end of steps. */
typedef struct td_worker_row {
    uint64_t steals, gifts, pieces;
    double idle_seconds;
} td_worker_row;

enum { TD_RUN_COUNTERS = 64 };

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
    td_forest_edge *forest; /* the same edges with ends and weights, if the lists are in a file; or NULL */
    double total_weight;
    td_context context; /* parameters of the run; the run owns the inputs */
    double *inputs[TD_INPUTS];
    bool counts_neighbours; /* kcore: input 0 is made by the engine and is not here */
    bool async, strict; /* strict: td_run_strict */
    bool lent;          /* it belongs to a batch (api/batch.c), and td_result_destroy leaves it */
    bool converged;
    uint32_t iterations;
    uint64_t edges_processed;
    uint64_t updates;  /* applies that a vertex took part in; of programs that push values: those that changed it */
    td_counter work[TD_RUN_COUNTERS]; /* further counters of the engine, by name */
    int work_count;
    td_worker_row *workers; /* or NULL */
    int worker_count;
    double final_change;
    double tolerance;
    double prepare_seconds, seconds;
    double finish_seconds;  /* from the end of processing to the result: parents, forests, copies, names of groups */
    uint64_t processed_at;  /* when processing ended, by td_clock_ns */
    td_iteration *rows;
    td_row *full_rows;    /* the same rows with the engine's columns. An engine on GPUs alone without any gets them when the run
                           * has ended: half a kilobyte a row is no small part of a round of microseconds */
    bool has_columns;     /* full_rows are filled as the run goes */
    uint32_t row_count, row_room;
    struct td_row_numbers *numbers; /* of the rows' lists */
    td_run_event *events;
    uint32_t event_count, event_room;
    char device[48];      /* device of the run; empty: the cpu */
    double device_seconds;/* device time: virtual time on the emulator */
    uint64_t device_peak, launches;
    uint64_t bytes_to_device, bytes_to_host; /* bytes copied during the run */
    td_counter counters[TD_COUNTERS];        /* further counters of the device (the emulator's) */
    int counter_count;
    td_run_disk disk;
    uint32_t device_opens, plans; /* of the session so far */
    double open_seconds;          /* time to open GPUs for this run's plan */
    td_device_uses devices;
    uint64_t array_bytes; /* host memory of the run's arrays, without the graph */
    struct td_checkpoints *checkpoints; /* during the run: its checkpoints, or NULL */
    struct td_state *resumed;           /* during the run: the state that the engine resumes, or NULL */
    bool stop;                          /* the observer asked the run to stop at the next checkpoint */
    td_checkpoint_stats checkpoint_stats;
    td_recovery_stats recovery;
} td_run;

/* The graph as the program sees it: without weights if it uses none. Runs and plans use this one. */
const td_graph *td_graph_seen_by(const td_program *program, const td_graph *graph);
/* The same with the parameters of the request: kcore.degree=neighbours has a graph of its own. */
/* Whether the program's runs replace weights of this kind by ranks (store/ranks.h): it orders edges by keys that have 32
 * bits for a weight. The graph has to be in memory. */
bool td_run_ranks(const td_program *program, td_weight_kind weights);

td_status td_graph_for(const td_graph **out, const td_program *program, const td_graph *graph,
                       const td_run_options *options);

/* Checks that need no graph. */
td_status td_run_check_options(const td_program *program, const td_run_options *options);

/* Checks that need only these facts of the graph, before memory is requested. */
typedef struct td_graph_facts {
    const char *name; /* or NULL */
    uint32_t vertices;
    bool has_in;      /* has an in-adjacency */
    td_weight_kind weights;
    double weight_max;
} td_graph_facts;
td_graph_facts td_graph_facts_of(const td_graph *graph);
td_status td_run_check_facts(const td_program *program, const td_graph_facts *facts);

/* Whether the request asks for a number of iterations, not asynchronous ones, of a program that otherwise reads values as
 * soon as they are written (a minimum over all paths, whose end does not depend on the order): then every iteration must
 * read the values of the one before it, in every direction. */
bool td_run_strict(const td_program *program, const td_run_options *options);

/* Whether TD_MODE_ASYNC is possible and makes a difference. */
bool td_program_has_async(const td_program *program);

/* Whether td_run_create reads the weights to find one that the program refuses. */
bool td_run_looks_at_weights(const td_program_info *info, const td_graph *graph);

/* Checks the request against the program and the graph, and prepares parameters and inputs. On failure *out is
 * untouched. */
td_status td_run_create(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options);

/* Whether real distances may become infinite: the end of such a run looks for them among the lists' targets. */
bool td_run_may_exceed(const td_program_info *info, const td_graph *graph);

/* Refuses distances that have become too large for their type. */
td_status td_run_check_overflow(td_run *run, td_pool *pool);
void td_run_destroy(td_run *run);

/* The ith edge of a forest, its weight alone, and a prefetch for a loop over its edges: each is in a list of its own. `from`
 * is a vertex not behind the edge's source: 0 if none is known. */
void td_run_fetch_edge(const td_run *run, uint64_t i);
td_forest_edge td_run_forest_edge(const td_run *run, uint64_t i, uint32_t from);
double td_run_edge_weight(const td_run *run, uint64_t i);

/* For engines. */
void td_run_end_processing(td_run *run, uint64_t began); /* sets `seconds`; began: by td_clock_ns */
td_status td_run_add_row(td_run *run, const td_run_options *options, const td_row *row);
/* At the end of a run: full_rows are those of every engine from then on. */
td_status td_run_complete_rows(td_run *run);
void td_run_count(td_run *run, const char *name, uint64_t value); /* a counter of the engine */
td_status td_run_add_list(td_run *run, const double *values, uint32_t count, td_row_list *out); /* copies them */
td_status td_run_add_event(td_run *run, const td_run_options *options, const td_run_event *event);

/* Prepares the program's inputs (prepare.c). */
td_status td_run_prepare_inputs(td_run *run, const td_run_options *options, const char *const *texts);
uint64_t td_run_input_bytes(const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
