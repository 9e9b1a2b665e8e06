/* How several GPUs share the paths of a graph: every partition is on one GPU, and so is the master of every vertex, with
 * its home path. Made from the decomposition and its index, and kept with them (gpu.c). */
#ifndef TD_ENGINE_PATHS_SHARE_H
#define TD_ENGINE_PATHS_SHARE_H

#include "engine/paths/paths.h"
#include "gpu/set.h"

/* What GPUs send each other behind a walk. */
typedef enum td_paths_mail {
    TD_PATHS_DEPOSITS, /* to the GPU that has the master */
    TD_PATHS_MESSAGES, /* of a master that changed, to the GPUs that read it */
    TD_PATHS_MAILS,
} td_paths_mail;

/* The vertices that a GPU's messages of one kind may be about, by receiver (td_path_pack_args). */
typedef struct td_paths_list {
    uint32_t *vertices;
    uint32_t *uses;                     /* deposits: edges on this GPU that deposit at the vertex */
    uint32_t first[TD_GPUS + 1];        /* in units of TD_GPU_THREADS */
    uint64_t count[TD_GPUS];            /* vertices for a receiver */
} td_paths_list;

typedef struct td_paths_share {
    int count;                          /* GPUs */
    uint8_t *gpu;                       /* vertices: which has the master */
    td_paths paths[TD_GPUS];            /* the partitions of a GPU, of all groups; groups without any are empty */
    td_paths_index index[TD_GPUS];      /* `members`: all vertices with a master there, those without readers last */
    uint64_t members[TD_GPUS];
    td_paths_list list[TD_GPUS][TD_PATHS_MAILS];
    uint64_t affine;                    /* partitions on the GPU that has most of what they read */
    uint64_t spread;                    /* groups whose partitions are on several GPUs */
} td_paths_share;

/* `self` has the decomposition and its index. On failure nothing is left. */
td_status td_paths_make_share(td_paths_job *self, int count, td_paths_share *out);
void td_paths_free_share(td_paths_share *share);

#endif
