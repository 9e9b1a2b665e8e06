/* Small kernels for the tests of the CUDA device (kernels.cu). */
#ifndef TD_TESTS_GPU_KERNELS_H
#define TD_TESTS_GPU_KERNELS_H

#include <stdint.h>

typedef struct add_arguments {
    uint32_t *numbers;
    uint64_t count;
    uint32_t by;
} add_arguments;

/* sum += the numbers, read where they are */
typedef struct sum_arguments {
    const uint32_t *numbers;
    uint64_t count;
    uint64_t *sum;
} sum_arguments;

/* Every block counts up in `turns` rounds with a barrier of all blocks between them; `late` counts the rounds that a
 * block began before all had ended the last one. */
typedef struct rounds_arguments {
    uint32_t *count;
    uint32_t *late;
    uint32_t *meeting; /* for the barrier, 0 at first */
    uint32_t turns;
} rounds_arguments;

/* Waits until `flag` is `until`, or that many clocks have passed; then sets `seen` to whether it was. */
typedef struct meet_arguments {
    uint32_t *mine, *other, *seen;
    uint64_t clocks;
} meet_arguments;

/* The multiprocessors that its blocks ran on: a bit each. */
typedef struct where_arguments {
    uint32_t *bits;
} where_arguments;

#ifdef __cplusplus
extern "C" {
#endif
extern const void *const kernel_add, *const kernel_sum, *const kernel_rounds, *const kernel_meet, *const kernel_where,
    *const kernel_shared, *const kernel_wild, *const kernel_ring;
#ifdef __cplusplus
}
#endif

#endif
