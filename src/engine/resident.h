/* The resident engine's parts: the whole graph in the memory of one GPU.
 *
 * resident.c sets a run up and takes it down, resident_plan.c counts what it needs, resident_graph.c brings the graph
 * onto the device, the schedules are in resident_rounds.c and resident_sweep.c, the kernels in src/kernels/gpu.
 * Everything goes through one stream; the host looks at the counters (td_gpu_control) where it has a decision to make.
 */
#ifndef TD_ENGINE_RESIDENT_H
#define TD_ENGINE_RESIDENT_H

#include "engine/gpu_job.h"

/* One adjacency on the device. */
typedef struct td_resident_list {
    void *offsets, *targets, *weights;
    td_gpu_list view;
    bool there;
    uint64_t longest; /* list; 0: not looked up yet */
    void *heads, *lists, *lists_before; /* where lists begin, for pulls along it (td_gpu_args); made when needed */
} td_resident_list;

/* What stays on the device from run to run of one graph. */
typedef struct td_resident_graph {
    td_gpu_held gpu;
    td_device *device;
    td_stream *stream;
    td_resident_list out, in, both;
    void *shards, *shard_targets; /* of the list and the replication they were made for */
    uint32_t shard_count, shard_bytes, shard_copies;
    size_t shard_accum;
    const void *shard_of;
} td_resident_graph;

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
    uint64_t list_edges, edge_bytes; /* of one list; of one edge */
    uint64_t offsets, heads, sums, pieces; /* parts of the above: of one list; of pulls that add up; of the heavy */
    bool both;                  /* one list of both ways */
} td_resident_bytes;
td_status td_resident_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  td_resident_bytes *out);
td_status td_resident_check_fit(td_gpu_job *job);

/* The same before there is a device, of what the request allows of its memory. */
td_status td_resident_check_caps(const td_program *program, const td_graph *graph, const td_run_options *options);

/* Whether a run of the program can feel the setting, one of td_resident_settings. */
bool td_resident_uses(const td_program *program, const char *setting);

/* resident_graph.c */
extern const td_gpu_keeper td_resident_keeper;
void td_resident_release(void *held);
void td_resident_drop_others(td_gpu_job *job); /* what other programs left on the device */
td_status td_resident_load(td_gpu_job *job, bool push, bool pull);
td_status td_resident_find_heads(td_gpu_job *job);
uint32_t td_resident_lists_ended(const td_gpu_job *job, uint64_t piece); /* vertices whose lists end before it */
td_status td_resident_longest(td_gpu_job *job, uint64_t *longest); /* list that is told along */
td_status td_resident_make_shards(td_gpu_job *job);

/* resident_rounds.c. The frontier is a bitmap, a queue, or both. */
typedef struct td_gpu_frontier {
    uint64_t vertices, edges;
    bool listed; /* queue[0] holds it, its length is in the counters */
    bool mapped; /* `active` holds it */
} td_gpu_frontier;

td_status td_resident_start(td_gpu_job *job, td_gpu_frontier *now); /* first values, first frontier */
bool td_resident_chooses_push(const td_gpu_job *job, const td_gpu_frontier *now);
uint64_t td_resident_push_bound(const td_gpu_job *job); /* edges of a frontier up to which it pushes */
void td_resident_settle(td_gpu_job *job, uint64_t vertices, uint64_t edges);
td_status td_resident_make_mapped(td_gpu_job *job, td_gpu_frontier *now);
td_status td_resident_loop(td_gpu_job *job, td_gpu_frontier *now, uint64_t bound); /* rounds of pushes in one launch */
/* Rounds of near and far vertices in one launch, from the bitmaps `active` and `far_map`, until the frontier has more
 * edges than the bound or nobody is left; how many are far then. */
td_status td_resident_near(td_gpu_job *job, td_gpu_frontier *now, uint64_t bound, uint64_t *far);
td_status td_resident_next_level(td_gpu_job *job, td_gpu_frontier *now, uint32_t *left); /* peeling */
/* Width of a step of distances; delta 0: from the weights. */
double td_resident_step(const td_graph *graph, double delta);
td_status td_resident_check_vertices(const td_graph *graph, const char *engine);

/* resident_sweep.c: what a program does with every vertex between sweeps; components from a few edges of every vertex,
 * and the one that is then left out. */
td_status td_resident_vertex_steps(td_gpu_job *job);
td_status td_resident_sample(td_gpu_job *job);
td_status td_resident_find_commonest(td_gpu_job *job);
td_status td_resident_leave_out(td_gpu_job *job); /* the same after a checkpoint, without samples */

/* resident.c: the arrays of a frontier, of sums, of sweeps; launches of loops. */
td_status td_resident_make_arrays(td_gpu_job *job);
td_status td_resident_fit_loops(td_gpu_job *job);

/* The schedules. */
td_status td_resident_rounds(td_gpu_job *job);
td_status td_resident_peel(td_gpu_job *job);
td_status td_resident_priorities(td_gpu_job *job);
td_status td_resident_sweep(td_gpu_job *job);

#endif
