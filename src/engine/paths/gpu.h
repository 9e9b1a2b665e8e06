/* The paths engine on a GPU (gpu.c). */
#ifndef TD_ENGINE_PATHS_GPU_H
#define TD_ENGINE_PATHS_GPU_H

#include "engine/paths/paths.h"
#include "gpu/launch.h"

typedef struct td_paths_gpu {
    td_gpu_job job;
    td_paths_args args;      /* arrays on the GPU */
    uint32_t *members;       /* index.members, on the GPU */
    uint32_t *words;         /* counters that every launch finds at 0 (gpu.c) */
    td_path_tally *tally;    /* the host's copy, pinned if possible */
    bool pinned;
} td_paths_gpu;

/* Plans: makes the decomposition and states the memory; `host`: bytes of the host besides. */
td_status td_paths_gpu_plan(td_paths_job *self, td_plan *plan, uint64_t host);

/* Takes the decomposition, allocates and fills the arrays. */
td_status td_paths_gpu_open(td_paths_job *self);
void td_paths_gpu_close(td_paths_job *self, bool failed);

/* One step, as td_paths_do; one round over the marked paths of a group, by their ranks or in the order of storage. */
td_status td_paths_gpu_do(td_paths_job *self, td_paths_step step, uint64_t units, td_path_tally *out);
td_status td_paths_gpu_walk(td_paths_job *self, const td_paths_group *group, bool ranks, td_path_tally *out);

uint64_t td_paths_gpu_warps(const td_paths_job *self); /* that run at once */

/* Copies the values into the cpu job. */
td_status td_paths_gpu_result(td_paths_job *self);

#endif
