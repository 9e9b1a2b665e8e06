/* A run on one GPU, for all engines that use one, whether all edges are on the device (resident) or cross the link
 * (stream): device arrays, launches, counters and their host copy (td_gpu_control), rows of iterations, copying the
 * result. */
#ifndef TD_GPU_JOB_H
#define TD_GPU_JOB_H

#include "gpu/memory.h"
#include "run/checkpoint.h"
#include "run/convergence.h"
#include "run/group.h"
#include "kernels/cpu/job.h"
#include "gpu/set.h"
#include "run/run.h"
#include "kernels/gpu/table.h"

/* How core numbers are computed (gpu/cores.c). */
typedef enum td_cores {
    TD_CORES_ROUNDS,    /* a launch for every level, then rounds like those of any frontier */
    TD_CORES_PEEL,      /* all levels in one launch */
    TD_CORES_HISTOGRAM, /* bounds that fall, in one launch */
    TD_CORES_AUTO,      /* of a setting: chosen by the graph */
} td_cores;

/* The run's device arrays besides its state; program and schedule decide which exist. */
typedef struct td_gpu_arrays {
    uint32_t *queue[2];      /* the frontier, and the next one */
    uint32_t *far[2], *far_map; /* delta-stepping: deferred (far) vertices, and their bitmap */
    uint64_t *pieces;        /* pieces of high-degree vertices */
    uint32_t *late;          /* first-hit pulls: vertices that whole blocks process */
    uint32_t *left, *next_left; /* peeling: remaining vertices */
    uint32_t *near;          /* the same: those whose level comes soon */
    uint32_t *bins, *support, *before; /* bounds: neighbours by bound, those not below the vertex's, old bounds */
    uint64_t *places;        /* where the bins of a vertex begin; NULL: where its list does */
    void *sums;              /* program_accum per vertex */
    uint32_t *parents;
    uint64_t *edges;         /* edges of a forest */
    uint32_t *drawn, *labels;
} td_gpu_arrays;

/* What a search from many sources found, on the device (run/group.h). */
typedef struct td_gpu_found {
    void *seen, *planes[TD_LEVEL_PLANES];
} td_gpu_found;

typedef struct td_gpu_job {
    td_run *run;
    const td_run_options *options;
    const td_graph *graph;
    struct td_gpu_graph *layout; /* layout of the resident engine */
    td_device *device;
    td_stream *stream;
    const td_cpu_kernels *traits;
    const td_gpu_kernels *kernels;
    const td_kernel *loop;   /* kernel that runs rounds, for the chosen load balance */
    td_gpu_state state;
    td_gpu_arrays arrays;
    td_gpu_found found;
    td_gpu_list push_list, pull_list; /* adjacencies of launches that name no other */
    td_gpu_segments segments; /* list starts of pull_list, for gather-sums */
    td_gpu_control *control; /* host copy of the counters, pinned if possible */
    td_gpu_control *control_seen; /* its address for kernels; NULL: they cannot write to it */
    bool pinned;
    void *pinned_state;      /* pinned buffer for a checkpoint's values, if possible */
    struct td_gpu_adjacency *pull, *push;
    bool both;               /* the undirected view of a directed graph */
    td_direction direction;
    td_balance balance;
    td_cores cores;
    uint32_t core_window;    /* levels served by one scan of all remaining vertices */
    uint32_t core_buffer;    /* vertices that a block removes in a round besides those of the queue */
    uint64_t scanned;        /* vertices read to find those of a level */
    td_gpu_list core_prefix; /* stream: the resident prefix of the lists, the rest is at the host; offsets NULL: none */
    bool even;               /* launches that do not fill the GPU have smaller blocks, as many on every multiprocessor */
    uint32_t high_degree, mean_degree; /* high_degree: minimum degree at which a list is divided */
    bool pieces_clear;       /* the counter of pieces is 0: the next launch need not clear it */
    bool has_high_degree;    /* some vertex may have that degree */
    bool in_place;           /* values are replaced in place: no second array */
    bool strict;             /* td_run_strict: messages are the values before the iteration */
    bool lean;               /* small degrees: loops decide by vertices, not edges */
    bool shards, prioritised, has_limit;
    uint64_t pull_pieces;
    bool accumulates;        /* pulls gather-sum whole lists (td_gpu_accumulates) */
    bool next_dirty;         /* next_active has bits of an earlier iteration */
    uint32_t limit, copies;
    double delta, one_over_delta;
    uint32_t bound;          /* vertices with a priority up to this are near */
    uint32_t samples;        /* edges of every list that are sampled */
    uint32_t sampled;        /* leading edges of every list that sweeps skip, because they were sampled */
    uint32_t left_out;       /* label of the component that sweeps skip */
    bool skipping;           /* left_out is valid */
    uint64_t tiny, small;    /* edges of a frontier up to which one cluster, or few blocks, execute the rounds */
    uint32_t rounds;         /* maximum rounds per launch */
    uint32_t blocks_cluster, blocks_few, blocks_many; /* blocks of cooperative launches */
    td_unsettled unsettled;
    uint64_t run_began, device_began;
    td_device_counts counts_before;
    td_gpu_memory memory;    /* declared device arrays */
    void **owned;            /* device memory of this run */
    int owned_count;
    struct td_gpu_ring *ring; /* for large copies (gpu/ring.h); NULL: not made yet */
    bool ring_noted;
    uint64_t file_copies; /* while arrays are measured: bytes of lists that are copied out of a mapped file, for good */
} td_gpu_job;

/* Opens and closes a job: the program's kernels for the device, the counters. */
td_status td_gpu_job_open(td_gpu_job *job, td_run *run, const td_run_options *options);
td_status td_gpu_job_start(td_gpu_job *job, td_device *device, td_stream *stream);
void td_gpu_job_close(td_gpu_job *job);

/* A job that only measures arrays. It needs no device and allocates nothing; `run` is filled in as far as sizes depend
 * on it and must outlive the job. */
td_status td_gpu_job_measure(td_gpu_job *job, td_run *run, const td_program *program, const td_graph *graph,
                             const td_run_options *options);

/* Declares an array of this run (gpu/memory.h); its device memory is freed at the run's end. */
td_status td_gpu_new(td_gpu_job *job, void *out, uint64_t count, uint64_t bytes, const char *what);
td_status td_gpu_new_for(td_gpu_job *job, td_gpu_purpose purpose, void *out, uint64_t count, uint64_t bytes,
                         const char *what); /* one that is not the program's */

/* Allocates device memory and copies an array into it. */
td_status td_gpu_send(td_stream *stream, void *out, const void *host, uint64_t count, uint64_t bytes, const char *what);

/* Declares counters, values, messages and inputs of the program; copies the inputs. */
td_status td_gpu_declare_values(td_gpu_job *job);
td_status td_gpu_send_inputs(td_gpu_job *job);

/* Initialises values and active vertices, from the program or from the checkpoint to resume; reads the counters. */
td_status td_gpu_init(td_gpu_job *job);

/* Fills in a state that is due and has it written. Vertices in any of the bitmaps (NULL: skipped) are active; without
 * bitmaps all are. */
td_status td_gpu_save(td_gpu_job *job, td_state *state, const uint32_t *const *maps, int count);

/* Writes a checkpoint if one is due, between two iterations of a program without a frontier. */
static inline td_status td_gpu_checkpoint(td_gpu_job *job)
{
    td_state *state = td_checkpoint_due(job->run, &job->state.context);
    return state != NULL ? td_gpu_save(job, state, NULL, 0) : TD_OK;
}

/* Sets the counters to zero; td_gpu_zero_counters those of the host alone. */
td_status td_gpu_reset(td_gpu_job *job);
void td_gpu_zero_counters(td_gpu_job *job);

/* Reads the counters, with the rows of so many rounds. Split-phase: the copy is queued on the stream, and the set's
 * event loop calls the handler (value: rows) when the counters are in job->control, so that other GPUs of a set work
 * meanwhile. td_gpu_read waits instead, for an engine that uses one GPU. */
td_status td_gpu_queue_read(td_gpu_job *job, uint32_t rows); /* the copy alone; the stream is to be synchronized */
td_status td_gpu_read_begin(td_gpu_job *job, uint32_t rows, td_handler handler, void *context);
td_status td_gpu_read(td_gpu_job *job, uint32_t rows);

/* Decides whether the current iteration ends the run (convergence.h). */
static inline td_status td_gpu_check_convergence(td_gpu_job *job, double change, double share)
{
    return td_run_check_convergence(job->run, job->traits->measure, job->state.context.iteration, change, share);
}

/* Ends an iteration: adds its row, calls the observer, checks for cancellation. */
td_status td_gpu_end_iteration(td_gpu_job *job, td_row *row, uint64_t began, double seconds);

/* Device counters between the two calls belong to the run. */
void td_gpu_start_counting(td_gpu_job *job);
void td_gpu_stop_counting(td_gpu_job *job);
/* Only the row of the job's device: engines with several GPUs call these for each. */
void td_gpu_start_row(td_gpu_job *job);
td_device_use *td_gpu_fill_row(td_gpu_job *job);

/* Measures the host's copy of the result, which exists while the device's arrays still do; its bytes alone. */
void td_gpu_note_results(td_gpu_job *job);
uint64_t td_gpu_result_bytes(const td_gpu_job *job);

/* Copies the result into the run's arrays. */
td_status td_gpu_copy_result(td_gpu_job *job);

/* Whether the program treats in- and out-edges alike. */
bool td_gpu_view_is_both(const td_run *run, const td_cpu_kernels *traits);

/* List starts of a pull (td_gpu_segments). `place` returns a vertex's offset. */
typedef struct td_gpu_heads {
    uint32_t *bits, *lists, *before;
    uint64_t words, count, pieces;
} td_gpu_heads;
td_status td_gpu_find_heads(td_gpu_heads *found, uint64_t (*place)(const void *of, uint64_t v), const void *of,
                            uint64_t n, td_pool *pool);
void td_gpu_free_heads(td_gpu_heads *heads);

/* The same on the device, for lists with so many edges. The number of non-empty lists is unknown when the arrays are
 * declared, so they have room for all vertices. */
typedef struct td_gpu_head_arrays {
    void *bits, *lists, *before;
} td_gpu_head_arrays;
td_status td_gpu_declare_heads(td_gpu_memory *memory, td_gpu_head_arrays *arrays, uint64_t edges, uint64_t vertices);
td_status td_gpu_send_heads(td_stream *stream, const td_gpu_head_arrays *arrays, const td_gpu_heads *found);
void td_gpu_free_head_arrays(td_device *device, td_gpu_head_arrays *arrays);
static inline uint64_t td_gpu_head_host_bytes(uint64_t edges, uint64_t vertices) /* host memory of td_gpu_find_heads */
{
    return (edges / 32 + TD_GPU_TILE / 32 + vertices + (edges + TD_GPU_TILE - 1) / TD_GPU_TILE + 1) * sizeof(uint32_t);
}

void td_gpu_turn_values(td_gpu_job *job); /* after an iteration: new values become the current ones */
void td_gpu_swap(void *a, void *b); /* swaps two pointers of any type */

static inline uint64_t td_gpu_words(const td_gpu_job *job) { return ((uint64_t)job->graph->vertices + 31) / 32; }
static inline uint64_t td_gpu_view_edges(const td_gpu_job *job) { return job->graph->edges * (job->both ? 2 : 1); }
static inline bool td_gpu_is_gas(const td_gpu_job *job) { return job->run->program->info->kind == TD_KIND_GAS; }
static inline size_t td_gpu_weight_bytes(const td_gpu_job *job) /* bytes of a weight; 0: the program uses none */
{
    bool used = job->run->program->info->weights != TD_WEIGHTS_UNUSED;
    return used ? td_weight_bytes(job->graph->weights) : 0;
}

#endif
