/* The kernels of rates.c, compiled by nvcc. */
#ifndef TD_DEVICE_CUDA_RATE_KERNELS_H
#define TD_DEVICE_CUDA_RATE_KERNELS_H

#include <stdint.h>

/* Reads `bytes` at `from`, or copies them to `to`; both multiples of 16. */
typedef struct td_rate_stream {
    const void *from;
    void *to;
    uint64_t bytes;
} td_rate_stream;

/* Reads `count` lines of 128 bytes, spread over `lines`. `sink` is never written. */
typedef struct td_rate_lines {
    const uint32_t *from;
    uint32_t *sink;
    uint64_t lines, count;
} td_rate_lines;

/* Reads a word of `from` for each of `count` indices, a multiple of 4; or makes them, random ones below `words`. */
typedef struct td_rate_gathers {
    const uint32_t *from;
    uint32_t *indices, *sink;
    uint64_t words, count;
} td_rate_gathers;

typedef struct td_rate_turns {
    uint32_t turns;
} td_rate_turns;

#ifdef __cplusplus
extern "C" {
#endif
extern const void *const td_rate_read, *const td_rate_copy, *const td_rate_random, *const td_rate_barriers,
    *const td_rate_nothing, *const td_rate_indices, *const td_rate_gather;
#ifdef __cplusplus
}
#endif

#endif
