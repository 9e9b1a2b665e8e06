/* Rounds on one device: push, pull, near and far vertices, peeling (rounds.c), sweeps (sweep.c), and the arrays they
 * need (arrays.c). Everything goes through one stream; the host reads the counters (td_gpu_control) where it has a
 * decision to make. */
#ifndef TD_GPU_ROUNDS_H
#define TD_GPU_ROUNDS_H

#include "gpu/launch.h"
#include "gpu/lists.h"

/* The frontier is a bitmap, a queue, or both. */
typedef struct td_gpu_frontier {
    uint64_t vertices, edges;
    bool listed; /* queue[0] holds it, its length is in the counters */
    bool mapped; /* `active` holds it */
} td_gpu_frontier;

td_status td_gpu_start(td_gpu_job *job, td_gpu_frontier *now); /* first values, first frontier */
bool td_gpu_chooses_push(const td_gpu_job *job, const td_gpu_frontier *now);
uint64_t td_gpu_push_bound(const td_gpu_job *job); /* edges of a frontier up to which it pushes */
void td_gpu_subtract_settled(td_gpu_job *job, uint64_t vertices, uint64_t edges);
td_status td_gpu_make_mapped(td_gpu_job *job, td_gpu_frontier *now);
td_status td_gpu_push_rounds(td_gpu_job *job, td_gpu_frontier *now, uint64_t bound); /* rounds of pushes in one launch */
/* Rounds of near and far vertices in one launch, from the bitmaps `active` and `far_map`, until the frontier has more
 * edges than the bound or nobody is left; how many are far then. */
td_status td_gpu_near_rounds(td_gpu_job *job, td_gpu_frontier *now, uint64_t bound, uint64_t *far);
td_status td_gpu_init_remaining(td_gpu_job *job); /* peeling: all vertices are left at first */
td_status td_gpu_next_level(td_gpu_job *job, td_gpu_frontier *now, uint32_t *left);
td_far_args td_gpu_far_args(const td_gpu_job *job); /* priorities: the vertices put off */
/* Whether distances go by steps: without a limit on iterations, where the direction is Tandem's choice. */
static inline bool td_gpu_prioritises(const td_gpu_job *job)
{
    return job->traits->schedule == TD_SCHEDULE_PRIORITY && job->direction == TD_DIRECTION_AUTO && !job->has_limit;
}
/* Width of a step of distances; delta 0: from the weights. */
double td_gpu_delta(const td_graph *graph, double delta);

/* What a program does with every vertex between sweeps; components from a few edges of every vertex,
 * and the one that is then left out. */
td_status td_gpu_vertex_steps(td_gpu_job *job);
td_status td_gpu_sample(td_gpu_job *job, td_gpu_list list);
td_status td_gpu_collect_edges(td_gpu_job *job); /* of a forest, where the program has one */
td_status td_gpu_label_drawn(td_gpu_job *job); /* labels in place of the vertices in `drawn` */
td_status td_gpu_find_commonest(td_gpu_job *job);
td_status td_gpu_exclude_largest(td_gpu_job *job); /* the same after a checkpoint, without samples */

/* The arrays of a frontier, of sums, of sweeps: declares them; gives those that there are what they begin with. The
 * shapes of cooperative launches (arrays.c). */
td_status td_gpu_declare_arrays(td_gpu_job *job);
td_status td_gpu_fill_arrays(td_gpu_job *job);
td_status td_gpu_clear_map(td_gpu_job *job, uint32_t *map); /* a bitmap of vertices; NULL is fine */
td_status td_gpu_size_loops(td_gpu_job *job);

/* The schedules. */
td_status td_gpu_run_rounds(td_gpu_job *job);
td_status td_gpu_run_peeling(td_gpu_job *job);
td_status td_gpu_run_priorities(td_gpu_job *job);
td_status td_gpu_run_sweeps(td_gpu_job *job);

#endif
