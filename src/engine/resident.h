/* The resident engine's parts: the whole graph in the memory of one GPU.
 *
 * resident.c sets a run up and takes it down, resident_plan.c counts what it needs, resident_graph.c brings the graph onto the
 * device, the schedules are in resident_rounds.c and resident_sweep.c, the kernels in src/kernels/gpu. Everything goes
 * through one stream; the host looks at the counters (td_gpu_control) where it has a decision to make. */
#ifndef TD_ENGINE_RESIDENT_H
#define TD_ENGINE_RESIDENT_H

#include "device/device.h"
#include "engine/cpu.h"
#include "engine/run.h"
#include "kernels/gpu/table.h"

/* One adjacency on the device. */
typedef struct td_resident_list {
    void *offsets, *targets, *weights;
    td_gpu_list view;
    bool there;
    uint64_t longest; /* list; 0: not looked up yet */
    void *heads, *lists, *lists_before; /* where lists begin, for pulls along it (td_gpu_args); made when first needed */
} td_resident_list;

/* What stays on the device from run to run of one graph. */
typedef struct td_resident_graph {
    const td_graph *graph;
    char devices[128];
    uint64_t gpu_memory;
    td_loop *loop;
    td_device *device; /* the one used, of those opened */
    td_device *first;
    td_stream *stream;
    td_resident_list out, in, both;
    void *shards, *shard_targets; /* of the list and the replication they were made for */
    uint32_t shard_count, shard_bytes, shard_copies;
    size_t shard_accum;
    const void *shard_of;
} td_resident_graph;

typedef struct td_resident_job {
    td_run *run;
    const td_run_options *options;
    const td_graph *graph;
    td_resident_graph *held;
    td_device *device;
    td_stream *stream;
    const td_cpu_kernels *traits;
    const td_gpu_kernels *kernels;
    const td_kernel *loop;   /* of rounds, for the balance chosen */
    td_gpu_args args;
    td_gpu_control *control; /* the host's copy, pinned where the device can */
    bool pinned;
    td_resident_list *pull, *push;
    td_direction direction;
    bool shards, prioritised, has_limit;
    uint64_t pull_pieces;
    bool adds_up;            /* pulls do: td_resident_adds_up */
    bool next_dirty;         /* next_active holds bits of an iteration before the last */
    uint32_t limit, copies;
    double tolerance, delta;
    uint64_t tiny, small;    /* edges of a frontier up to which a cluster, or few blocks, do the rounds */
    uint32_t rounds;         /* most in a launch */
    uint32_t blocks_cluster, blocks_few, blocks_many; /* of loops, whose blocks all run at once */
    uint64_t unsettled_vertices, unsettled_edges;
    uint64_t run_began, device_began;
    td_device_counts counts_before;
    void **owned;            /* device memory of this run */
    int owned_count;
} td_resident_job;

extern const td_setting td_resident_settings[];
td_status td_resident_run(td_run *run, const td_run_options *options);

/* Bytes that a run takes on the device: the graph's, those of its edges alone, and the program's (resident_plan.c). */
/* Whether pulls add lists up: those of first-hit programs do not, and priorities pull for parents only. */
static inline bool td_resident_adds_up(const td_cpu_kernels *kernels, bool pulls, bool prioritised, bool async)
{
    return pulls && !prioritised && !(kernels->first_hit && !async);
}

typedef struct td_resident_bytes {
    uint64_t graph, edges, program;
    uint64_t host; /* held in the host's memory while loading, at its peak */
} td_resident_bytes;
td_status td_resident_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  td_resident_bytes *out);
td_status td_resident_check_fit(td_resident_job *job);

/* Whether a run of the program can feel the setting, one of td_resident_settings. */
bool td_resident_uses(const td_program *program, const char *setting);

/* resident_graph.c */
td_status td_resident_hold(td_resident_job *job);
void td_resident_release(void *held);
void td_resident_drop_others(td_resident_job *job); /* what other programs left on the device */
td_status td_resident_load(td_resident_job *job, bool push, bool pull);
td_status td_resident_find_heads(td_resident_job *job);
uint32_t td_resident_lists_ended(const td_resident_job *job, uint64_t piece); /* vertices whose lists end before it */
td_status td_resident_longest(td_resident_job *job, uint64_t *longest); /* list that is told along */
td_status td_resident_make_shards(td_resident_job *job);

/* Device memory of this run, freed at its end. */
td_status td_resident_new(td_resident_job *job, void *out, uint64_t count, uint64_t bytes, const char *what);

/* Launches over `threads` threads in all, or fewer where the loop inside goes on. */
td_status td_resident_launch(td_resident_job *job, const td_kernel *kernel, uint64_t threads);
td_status td_resident_launch_blocks(td_resident_job *job, const td_kernel *kernel, uint64_t blocks, uint32_t shared_bytes);

/* The counters to zero; what they are now, with the rows of that many rounds. Reading waits for the device. */
td_status td_resident_reset(td_resident_job *job);
td_status td_resident_read(td_resident_job *job, uint32_t rows);

/* Ends an iteration: adds its row, tells whoever watches, looks for a cancel. */
td_status td_resident_end_iteration(td_resident_job *job, td_iteration *row, uint64_t began, double seconds);

/* The schedules. */
td_status td_resident_rounds(td_resident_job *job);
td_status td_resident_peel(td_resident_job *job);
td_status td_resident_priorities(td_resident_job *job);
td_status td_resident_sweep(td_resident_job *job);

#endif
