/* Monotonic time in nanoseconds, and the processor time of a thread. */
#ifndef TD_BASE_CLOCK_H
#define TD_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t td_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double td_seconds_since(uint64_t start_ns)
{
    return (double)(td_clock_ns() - start_ns) * 1e-9;
}

static inline double td_thread_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

#endif
