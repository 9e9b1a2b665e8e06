/* Counter-based randomness: the value depends on (seed, counter) alone, so that
 * any number of threads draws the same numbers. The mixer is splitmix64's. */
#ifndef TD_BASE_RANDOM_H
#define TD_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t td_mix64(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t td_random_at(uint64_t seed, uint64_t counter)
{
    return td_mix64(td_mix64(seed) ^ (counter * UINT64_C(0xd1342543de82ef95)));
}

/* Uniform in [0, bound), bound > 0, without division. */
static inline uint64_t td_random_below(uint64_t random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random * bound) >> 64);
}

/* Uniform in [0, 1). */
static inline double td_random_unit(uint64_t random) { return (double)(random >> 11) * 0x1p-53; }

#endif
