/* The time to the answer, estimated before a run, and what it is estimated from.
 *
 * An estimate has the phases that a run reports: start, load, open, plan, prepare, processing, finish. An engine fills
 * them in (td_engine.estimate) from the case: the program, the counts of the graph, what is loaded, open and prepared
 * already, a guess of the rounds, and the rates of the machine. Processing is
 *
 *     passes x (vertices x rate.vertex + edges x rate.edge) + rounds x rate.round
 *
 * with the rates of the program's kind of work; passes are iterations for programs that accumulate, otherwise 1.
 * planner/rates.c has the rates of a machine, planner/choose.c makes the case and compares. */
#ifndef TD_ENGINE_ESTIMATE_H
#define TD_ENGINE_ESTIMATE_H

#include "run/run.h"

/* Kinds of work, by the traits of a program. name, of which program it is typical */
#define TD_WORKLOAD_LIST(X)                                                         \
    X(SEARCH, "search")         /* a vertex has its value at the first hit: bfs */ \
    X(DISTANCE, "distance")     /* lowest priority first: sssp */                  \
    X(COMPONENTS, "components") /* sweeps that sample: wcc */                      \
    X(FOREST, "forest")         /* sweeps that collect edges: mst */               \
    X(PEEL, "peel")             /* level by level: kcore */                        \
    X(GATHER, "gather")         /* sums over all edges, iteration by iteration: pagerank */ \
    X(SPREAD, "spread")         /* minima that spread in rounds: labels */

typedef enum td_workload {
#define TD_WORKLOAD_CODE(code, name) TD_WORKLOAD_##code,
    TD_WORKLOAD_LIST(TD_WORKLOAD_CODE)
#undef TD_WORKLOAD_CODE
    TD_WORKLOADS
} td_workload;

const char *td_workload_name(td_workload work);
td_workload td_workload_of(const td_program *program);

/* Seconds for a vertex, for an edge, for a round. */
typedef struct td_work_rate {
    double vertex, edge, round;
} td_work_rate;

/* The rates of a machine: seconds, or bytes per second. */
typedef struct td_rates {
    int threads;       /* of the CPU's rates */
    double start;      /* start and end of the process */
    double load;       /* bytes of a .tg from the page cache into memory, checked, by all threads */
    double parse;      /* bytes of text to a graph */
    double settle;     /* prepare on the CPU, for a vertex: values, bitmaps, inputs */
    double finish;     /* after processing, for a vertex: summary and digest */
    double groups;     /* the same for programs whose values name groups, besides */
    double forest;     /* the same for a forest, besides */
    td_work_rate cpu[TD_WORKLOADS];
    double context;    /* a GPU's context; runs beside the loading */
    double kernels;    /* loading kernels, first allocations */
    double close;      /* results back, context destroyed */
    double upload;     /* bytes from host memory or a mapped file to the GPU */
    double link;       /* bytes of edges that cross the link while kernels run */
    double tables[TD_WORKLOADS]; /* seconds for a vertex: tables that a GPU needs beside the lists */
    td_work_rate gpu[TD_WORKLOADS];
    bool cpu_measured, gpu_measured; /* by 'tandem calibrate'; otherwise defaults */
} td_rates;

extern const td_rates td_rates_default; /* 16 cores and an H200 */

/* Where the graph is when the estimate is made. */
typedef enum td_loaded {
    TD_LOADED_NOT,    /* in its file: the load is ahead */
    TD_LOADED_MAPPED, /* offsets are read, lists are in the mapped file */
    TD_LOADED_MEMORY,
} td_loaded;

typedef struct td_case {
    const td_program *program;
    const td_graph *graph;         /* as the program sees it; lists may be missing, counts are there */
    const td_run_options *options;
    const td_rates *rates;
    td_loaded loaded;
    uint64_t file_bytes;           /* bytes that loading reads; 0: unknown */
    bool text;                     /* of a text file */
    uint64_t graph_bytes;          /* of the graph in memory */
    uint64_t host_free;            /* bytes that the run may take, with the graph if that is to be loaded */
    bool gpu;                      /* there is a GPU that may be used */
    bool gpu_open;
    uint64_t gpu_room;             /* bytes of its memory */
    double rounds;                 /* guess, or of an earlier run */
    uint64_t runs;                 /* runs that loading and preparing serve */
    bool (*cached)(const struct td_case *self, const char *engine); /* the engine's layout of the graph is on the GPU */
} td_case;

/* Helpers for engines. Edges are those that the program processes: twice the graph's for the undirected view of a
 * directed graph. */
double td_case_edges(const td_case *self);
double td_case_passes(const td_case *self);
double td_case_processing(const td_case *self, const td_work_rate rates[TD_WORKLOADS]);
double td_case_load(const td_case *self, bool maps);     /* maps: lists stay in the mapped file */
double td_case_finish(const td_case *self);
double td_case_slower(const td_case *self); /* time of work on all cores over that of the default machine */
void td_case_gpu(const td_case *self, td_plan_estimate *out); /* open, and the fixed parts of prepare and finish */

/* Fails with TD_NO_MEMORY if the host memory stated does not suffice. */
td_status td_case_check_host(const td_case *self, const td_plan_estimate *estimate);

/* Host memory of the cpu engine: where an engine runs part of the work on the cores. */
td_status td_case_host(const td_case *self, td_plan_estimate *out);

/* Estimates of all engines, of which the planner chooses one (planner/choose.h). */
enum { TD_MOST_ESTIMATES = 8, TD_MOST_ADVICE = 2, TD_ESTIMATE_TEXT = 168 };

struct td_estimates {
    td_plan_estimate rows[TD_MOST_ESTIMATES]; /* in the order of td_engines */
    char refusals[TD_MOST_ESTIMATES][TD_ESTIMATE_TEXT];
    int count;
    int chosen; /* -1: none */
    char why[TD_ESTIMATE_TEXT], basis[TD_ESTIMATE_TEXT];
    char advice[TD_MOST_ADVICE][TD_ESTIMATE_TEXT];
    int advice_count;
};

#endif
