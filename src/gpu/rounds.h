/* Schedules on one device: rounds of push and pull, delta-stepping, peeling (rounds.c), sweeps (sweep.c), and their
 * arrays (arrays.c). All work is on one stream; the host reads the counters (td_gpu_control) when it must decide. */
#ifndef TD_GPU_ROUNDS_H
#define TD_GPU_ROUNDS_H

#include "gpu/launch.h"
#include "gpu/lists.h"

td_status td_gpu_start(td_gpu_job *job, td_frontier *now); /* initial values and frontier */
bool td_gpu_chooses_push(const td_gpu_job *job, const td_frontier *now);
uint64_t td_gpu_push_bound(const td_gpu_job *job); /* edges of a frontier below which a push is chosen */
td_status td_gpu_make_mapped(td_gpu_job *job, td_frontier *now);
td_status td_gpu_push_rounds(td_gpu_job *job, td_frontier *now, uint64_t bound); /* several rounds in one launch */
/* Rounds of delta-stepping in one launch, from the bitmaps `active` and `far_map`, until the frontier has more edges
 * than the bound or no vertex is left; *far: the deferred vertices then. */
td_status td_gpu_near_rounds(td_gpu_job *job, td_frontier *now, uint64_t bound, uint64_t *far);
td_status td_gpu_init_remaining(td_gpu_job *job); /* peeling: all vertices remain */
td_status td_gpu_next_level(td_gpu_job *job, td_frontier *now, uint32_t *left);
td_far_args td_gpu_far_args(const td_gpu_job *job); /* delta-stepping: the deferred vertices */
/* Whether the run uses delta-stepping: no limit on iterations, and no direction set. */
static inline bool td_gpu_prioritises(const td_gpu_job *job)
{
    return job->traits->schedule == TD_SCHEDULE_PRIORITY && job->direction == TD_DIRECTION_AUTO && !job->has_limit;
}
/* Width of a bucket; delta 0: from the weights. */
double td_gpu_delta(const td_graph *graph, double delta);

/* Applies the program's vertex steps between sweeps; samples a few edges of every vertex and finds the largest
 * component, which sweeps then skip. */
td_status td_gpu_vertex_steps(td_gpu_job *job);
td_status td_gpu_sample(td_gpu_job *job, td_gpu_list list);
td_status td_gpu_collect_edges(td_gpu_job *job); /* copies the edges of a forest, if the program has one */
td_status td_gpu_label_drawn(td_gpu_job *job); /* replaces the vertices in `drawn` by their labels */
td_status td_gpu_find_commonest(td_gpu_job *job);
td_status td_gpu_exclude_largest(td_gpu_job *job); /* finds the largest component after a checkpoint, without samples */

/* Core numbers (cores.c): defaults of the peeling in one launch (docs/lab/kernels.md); the way for this graph and
 * request, chosen where the setting is TD_CORES_AUTO; their arrays. */
enum { TD_CORE_WINDOW = 16, TD_CORE_BUFFER = 256 };
td_cores td_gpu_choose_cores(const td_graph *graph, const td_run_options *options, td_cores set);
td_status td_gpu_declare_cores(td_gpu_job *job);

/* Loops on the device: the size of a launch for a frontier, with the edges of later ones that suit it. */
typedef struct td_loop_shape {
    uint32_t blocks;
    bool cluster;
    uint64_t least, most;
} td_loop_shape;
td_loop_shape td_gpu_loop_shape(const td_gpu_job *job, const td_frontier *now);
td_status td_gpu_read_rounds(td_gpu_job *job, uint32_t most); /* reads the counters and the rows of a loop */
td_status td_gpu_make_listed(td_gpu_job *job, td_frontier *now); /* the frontier is in the first queue */
td_status td_gpu_save_frontier(td_gpu_job *job, td_frontier *now); /* writes a checkpoint if one is due */

/* Declares the arrays of the schedule; initialises them; computes the sizes of cooperative launches (arrays.c). */
uint64_t td_gpu_piece_count(const td_gpu_job *job); /* pieces that lists of high-degree vertices are cut into */
td_status td_gpu_declare_arrays(td_gpu_job *job);
td_status td_gpu_fill_arrays(td_gpu_job *job);
td_status td_gpu_clear_map(td_gpu_job *job, uint32_t *map); /* clears a bitmap of vertices; NULL is allowed */
td_status td_gpu_size_loops(td_gpu_job *job);

/* The schedules. */
td_status td_gpu_run_rounds(td_gpu_job *job);
td_status td_gpu_run_peeling(td_gpu_job *job);
td_status td_gpu_run_cores(td_gpu_job *job); /* core numbers in one launch (cores.c) */
td_status td_gpu_run_priorities(td_gpu_job *job);
td_status td_gpu_run_sweeps(td_gpu_job *job);

/* Copies the values to the messages if the run is strict (td_run_strict): before an iteration, which then reads the
 * values of the one before, and after the last. */
td_status td_gpu_keep_values(td_gpu_job *job);

#endif
