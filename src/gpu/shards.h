/* Garaph's shards: consecutive vertices whose accumulators, R copies of each, fit in a block's shared memory. */
#ifndef TD_GPU_SHARDS_H
#define TD_GPU_SHARDS_H

#include "gpu/job.h"

/* Where shards are cut: vertices, their edges in one or two lists (`place` returns a vertex's offset; the second may be
 * NULL), accumulators that fit in shared memory, copies of each (0: customised). */
typedef struct td_gpu_shard_cut {
    uint64_t (*place[2])(const void *of, uint64_t v);
    const void *of[2];
    uint32_t first, end;
    uint64_t room;
    uint32_t copies;
} td_gpu_shard_cut;

typedef struct td_gpu_shard_list {
    td_gpu_shard *shards;
    uint64_t count, size;
} td_gpu_shard_list;

/* Garaph's copies of a shard with E edges and V vertices: R = 2^min(ceil(log2(E/V) - 0.5), 5). */
uint32_t td_gpu_shard_copies(uint64_t edges, uint64_t vertices);

/* Appends the shards of a cut. */
td_status td_gpu_cut_shards(td_gpu_shard_list *list, const td_gpu_shard_cut *cut);

/* names[e]: the vertex of edge e, relative to the shard's first, for the shard's edges in a list. */
void td_gpu_name_edges(const td_gpu_shard_cut *cut, const td_gpu_shard *shard, int side, uint16_t *names);

/* Shared memory of a shard's accumulators on a device. */
uint32_t td_gpu_shard_bytes(const td_device *device);

/* Most shards of so many vertices: a shard with fewer vertices than TD_LEAST_SHARD does not fit in shared memory. */
enum { TD_LEAST_SHARD = 64, TD_SHARD_POWERS = 6 };

/* Shards by the power of two of their copies; the run's counters of them. */
void td_gpu_count_shards(uint64_t counts[TD_SHARD_POWERS], const td_gpu_shard *shards, uint64_t count);
void td_gpu_report_shards(td_run *run, const uint64_t counts[TD_SHARD_POWERS]);

#endif
