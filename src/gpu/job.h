/* A run on one GPU: what the engines that use one share, whether the edges are all on the device (resident) or come
 * over the link (stream). The program's arrays on the device, launches, the counters and their copy at the host
 * (td_gpu_control), rows of iterations, and the results' way back. */
#ifndef TD_GPU_JOB_H
#define TD_GPU_JOB_H

#include "gpu/memory.h"
#include "run/checkpoint.h"
#include "run/convergence.h"
#include "kernels/cpu/job.h"
#include "gpu/set.h"
#include "run/run.h"
#include "kernels/gpu/table.h"

/* The run's arrays on the device, beside those of its state. A run has those that its program and schedule need. */
typedef struct td_gpu_arrays {
    uint32_t *queue[2];      /* frontiers */
    uint32_t *far[2], *far_map; /* priorities: vertices put off, and their bitmap */
    uint64_t *pieces;        /* of high-degree vertices */
    uint32_t *late;          /* first-hit pulls: vertices left to whole blocks */
    uint32_t *left, *next_left; /* peeling: vertices left */
    void *sums;              /* program_accum per vertex */
    uint32_t *parents;
    uint64_t *edges;         /* of a forest */
    uint32_t *drawn, *labels;
} td_gpu_arrays;

typedef struct td_gpu_job {
    td_run *run;
    const td_run_options *options;
    const td_graph *graph;
    struct td_gpu_graph *held; /* of the resident engine: what is on the device */
    td_device *device;
    td_stream *stream;
    const td_cpu_kernels *traits;
    const td_gpu_kernels *kernels;
    const td_kernel *loop;   /* of rounds, for the balance chosen */
    td_gpu_state state;
    td_gpu_arrays arrays;
    td_gpu_list push_list, pull_list; /* the adjacencies that launches process where nothing else is said */
    td_gpu_segments segments; /* of pull_list, for gather-sums */
    td_gpu_control *control; /* the host's copy, pinned where the device can */
    bool pinned;
    void *pinned_state;      /* a checkpoint's values, where the device can */
    struct td_gpu_adjacency *pull, *push;
    bool both;               /* the undirected view of a directed graph */
    td_direction direction;
    td_balance balance;
    uint32_t high_degree, mean_degree; /* high_degree: from which a vertex is cut into pieces */
    bool has_high_degree;    /* there may be vertices of that degree */
    bool lean;               /* small degrees: loops go by the number of vertices, not of edges */
    bool shards, prioritised, has_limit;
    uint64_t pull_pieces;
    bool adds_up;            /* pulls do: td_gpu_accumulates */
    bool next_dirty;         /* next_active holds bits of an iteration before the last */
    uint32_t limit, copies;
    double delta, one_over_delta;
    uint32_t bound;          /* priorities up to it are near */
    uint32_t samples;        /* edges of every list that a sample looks at */
    uint32_t sampled;        /* leading edges of every list that sweeps leave out, because samples have seen them */
    uint32_t left_out;       /* label of the component that sweeps skip, */
    bool skipping;           /* once it is known */
    uint64_t tiny, small;    /* edges of a frontier up to which a cluster, or few blocks, do the rounds */
    uint32_t rounds;         /* most in a launch */
    uint32_t blocks_cluster, blocks_few, blocks_many; /* of loops, whose blocks all run at once */
    uint64_t unsettled_vertices, unsettled_edges;
    uint64_t run_began, device_began;
    td_device_counts counts_before;
    td_gpu_memory memory;    /* what has been declared of arrays on the device */
    void **owned;            /* device memory of this run */
    int owned_count;
} td_gpu_job;

/* Opens and closes the bookkeeping of a run: the program's kernels for the device, the counters. */
td_status td_gpu_job_open(td_gpu_job *job, td_run *run, const td_run_options *options);
td_status td_gpu_job_start(td_gpu_job *job, td_device *device, td_stream *stream);
void td_gpu_job_close(td_gpu_job *job);

/* A job whose arrays are declared to be measured. It needs no device and holds nothing; `run` is filled in as far as
 * sizes depend on it and outlives the job. */
td_status td_gpu_job_measure(td_gpu_job *job, td_run *run, const td_program *program, const td_graph *graph,
                             const td_run_options *options);

/* Declares an array of this run (gpu/memory.h); its device memory is freed at the run's end. */
td_status td_gpu_new(td_gpu_job *job, void *out, uint64_t count, uint64_t bytes, const char *what);
td_status td_gpu_new_for(td_gpu_job *job, td_gpu_purpose purpose, void *out, uint64_t count, uint64_t bytes,
                         const char *what); /* one that is not the program's */

/* An array onto the device, into memory of its own. */
td_status td_gpu_send(td_stream *stream, void *out, const void *host, uint64_t count, uint64_t bytes, const char *what);

/* Declares counters, values, messages and inputs of the program; copies the inputs. */
td_status td_gpu_declare_values(td_gpu_job *job);
td_status td_gpu_send_inputs(td_gpu_job *job);

/* First values and active vertices, the program's or those of the checkpoint that the run goes on from; the counters of
 * it are read. */
td_status td_gpu_init(td_gpu_job *job);

/* Fills in a state that is due and has it written. Vertices in any of the bitmaps (NULL ones are left out) have still
 * to tell their value; without any everyone has. */
td_status td_gpu_save(td_gpu_job *job, td_state *state, const uint32_t *const *maps, int count);

/* Between two iterations of a program without a frontier: a checkpoint, if one is due. */
static inline td_status td_gpu_checkpoint(td_gpu_job *job)
{
    td_state *state = td_checkpoint_due(job->run, &job->state.context);
    return state != NULL ? td_gpu_save(job, state, NULL, 0) : TD_OK;
}

/* Sets the counters to zero. */
td_status td_gpu_reset(td_gpu_job *job);

/* Reads the counters, with the rows of so many rounds. Split-phase: the copy is queued behind what the stream has to do,
 * and the set's event loop calls the handler (value: rows) when the counters are in job->control, so that the other GPUs
 * of a set work meanwhile. A policy for one GPU, which has nothing else to do, waits instead: in td_gpu_read alone. */
td_status td_gpu_read_begin(td_gpu_job *job, uint32_t rows, td_handler handler, void *context);
td_status td_gpu_read(td_gpu_job *job, uint32_t rows);

/* Decides whether the iteration under way ends the run (convergence.h). */
static inline td_status td_gpu_judge(td_gpu_job *job, double change, double share)
{
    return td_run_judge(job->run, job->traits->measure, job->state.context.iteration, change, share);
}

/* Ends an iteration: adds its row, tells whoever watches, looks for a cancel. */
td_status td_gpu_end_iteration(td_gpu_job *job, td_row *row, uint64_t began, double seconds);

/* What the device does between the two is the run's. */
void td_gpu_start_counting(td_gpu_job *job);
void td_gpu_stop_counting(td_gpu_job *job);

/* Measuring: the results at the host, while the arrays on the device are still there. */
void td_gpu_note_results(td_gpu_job *job);

/* The results into the run's own arrays. */
td_status td_gpu_hand_over(td_gpu_job *job);

/* Whether the program looks at a vertex's in- and out-edges alike. */
bool td_gpu_view_is_both(const td_run *run, const td_cpu_kernels *traits);

/* Where the lists of a pull begin (td_gpu_segments). `place` is a vertex's offset. */
typedef struct td_gpu_heads {
    uint32_t *bits, *lists, *before;
    uint64_t words, count, pieces;
} td_gpu_heads;
td_status td_gpu_find_heads(td_gpu_heads *found, uint64_t (*place)(const void *of, uint64_t v), const void *of,
                            uint64_t n);
void td_gpu_free_heads(td_gpu_heads *heads);

/* The same on the device, of lists with so many edges. How many vertices have a list is found when the heads are, so
 * the device has room for all. */
typedef struct td_gpu_head_arrays {
    void *bits, *lists, *before;
} td_gpu_head_arrays;
td_status td_gpu_declare_heads(td_gpu_memory *memory, td_gpu_head_arrays *arrays, uint64_t edges, uint64_t vertices);
td_status td_gpu_send_heads(td_stream *stream, const td_gpu_head_arrays *arrays, const td_gpu_heads *found);
void td_gpu_free_head_arrays(td_device *device, td_gpu_head_arrays *arrays);
static inline uint64_t td_gpu_head_host_bytes(uint64_t edges, uint64_t vertices) /* of td_gpu_find_heads */
{
    return (edges / 32 + TD_GPU_TILE / 32 + vertices + (edges + TD_GPU_TILE - 1) / TD_GPU_TILE + 1) * sizeof(uint32_t);
}

void td_gpu_turn_values(td_gpu_job *job); /* after an iteration: the new ones become the current ones */
void td_gpu_swap(void *a, void *b); /* two pointers, whatever they point to */

static inline uint64_t td_gpu_words(const td_gpu_job *job) { return ((uint64_t)job->graph->vertices + 31) / 32; }
static inline uint64_t td_gpu_view_edges(const td_gpu_job *job) { return job->graph->edges * (job->both ? 2 : 1); }
static inline bool td_gpu_is_gas(const td_gpu_job *job) { return job->run->program->info->kind == TD_KIND_GAS; }
static inline size_t td_gpu_weight_bytes(const td_gpu_job *job) /* of an edge; 0: the program looks at none */
{
    bool used = job->run->program->info->weights != TD_WEIGHTS_UNUSED;
    return used ? td_weight_bytes(job->graph->weights) : 0;
}

#endif
