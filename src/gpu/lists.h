/* A graph's adjacency lists on the device, loaded once and cached for the runs that follow (td_run_options.cache). */
#ifndef TD_GPU_LISTS_H
#define TD_GPU_LISTS_H

#include "gpu/job.h"
#include "gpu/shards.h"

/* One adjacency on the device. */
typedef struct td_gpu_adjacency {
    void *offsets, *targets, *weights;
    td_gpu_list view;
    bool there;
    uint64_t longest; /* length of the longest list; 0: unknown yet */
    td_gpu_head_arrays heads; /* list starts for pulls (td_gpu_segments); made when needed */
} td_gpu_adjacency;

/* The layout of the resident engine, cached between runs of one graph. */
typedef struct td_gpu_graph {
    td_gpu_layout gpu;
    td_device *device;
    td_stream *stream;
    td_gpu_adjacency out, in, both;
    td_gpu_adjacency tails;       /* edges to deferred sinks (td_graph_without_sinks) */
    void *shards, *shard_targets; /* shards of list `shard_of`, with the replication of shard_copies */
    uint32_t shard_count, shard_bytes, shard_copies;
    uint64_t shards_by_copies[TD_SHARD_POWERS];
    size_t shard_accum;
    const void *shard_of;
} td_gpu_graph;

extern const td_gpu_layout_kind td_gpu_graph_layout_kind;
void td_gpu_graph_release(void *layout);
void td_gpu_drop_others(td_gpu_job *job); /* frees arrays that earlier programs needed and this run does not */

/* Whether pulls gather-sum whole lists: first-hit programs do not, and delta-stepping pulls only to find parents. */
static inline bool td_gpu_accumulates(const td_cpu_kernels *kernels, bool pulls, bool prioritised, bool async)
{
    return pulls && !prioritised && !(kernels->first_hit && !async);
}

/* Chooses the adjacencies of job->layout that the run pushes and pulls along (push, pull, accumulates), by direction
 * and priorities. */
void td_gpu_choose_lists(td_gpu_job *job);

/* Declares and, unless arrays are measured, loads the missing arrays: adjacencies, and list starts or shards for
 * gather-sums. */
td_status td_gpu_load(td_gpu_job *job);
td_status td_gpu_load_gathers(td_gpu_job *job);
uint32_t td_gpu_lists_ended(const td_gpu_job *job, uint64_t piece); /* vertices whose lists end before the piece */
td_status td_gpu_longest(td_gpu_job *job, uint64_t *longest); /* length of the longest push list */

#endif
