/* Arrays in host memory that are filled and pinned at the same time. Workers fill pieces in ascending order; the caller
 * alone pins, step by step, what they have filled, and fills pieces as well while there is nothing to pin: pinning takes
 * one thread of the driver about as long as filling takes all workers, and pages that workers have written first need not
 * be cleared by that thread. */
#ifndef TD_GPU_PINNING_H
#define TD_GPU_PINNING_H

#include "base/pool.h"
#include "device/device.h"

typedef struct td_pinning {
    void *array;
    uint64_t bytes;
    uint64_t of_piece; /* bytes of a piece, but of the last one */
    uint64_t step;     /* bytes that are pinned at a time, a multiple of of_piece; no copy may cross a border of steps */
    uint64_t pinned;   /* so far */
    char *seen;        /* the address for kernels */
    bool refused;      /* nothing is pinned; the caller's last message says why */
} td_pinning;

/* Fills `pieces` pieces, and pins the arrays. If that is refused, all of an array is left unpinned; then it is
 * `refused`, and the fill goes on. */
typedef td_status (*td_pinning_fill)(void *context, uint64_t piece, int worker);
td_status td_pinning_run(td_device *device, td_pinning *arrays, int count, uint64_t pieces, td_pinning_fill fill,
                         void *context, td_pool *pool);

/* Pins an array that is filled, and unpins one. */
void td_pinning_pin(td_device *device, td_pinning *array);
void td_pinning_unpin(td_device *device, td_pinning *array);

static inline bool td_pinning_done(const td_pinning *array) { return array->bytes > 0 && array->pinned == array->bytes; }

/* Edges of a step for an array of 4 bytes an edge; 0: the default. For tests. */
uint64_t td_pinning_step_edges(void);
void td_pinning_limit(uint64_t edges);

#endif
