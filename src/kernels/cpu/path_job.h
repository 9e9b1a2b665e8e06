/* The fields of a job that walks paths, for the kernels of the CPU (paths.h). */
#ifndef TD_KERNELS_CPU_PATH_JOB_H
#define TD_KERNELS_CPU_PATH_JOB_H

#include "kernels/path_state.h"

_Static_assert(sizeof(td_path_tally) % 128 == 0, "a worker's counters are apart from another's");

enum { TD_PATH_MIRRORS = 4096 }; /* mirrors in a unit of path_clears */
typedef struct td_cpu_paths {
    td_path_state state;
    const uint32_t *order;      /* path_walks: the partitions to walk */
    const uint32_t *list;       /* steps over vertices: these; NULL: all */
    uint64_t mirrors;
    bool stores;                /* path_rescales: values are replaced */
    td_path_tally *tallies;     /* one per worker */
} td_cpu_paths;

#endif
