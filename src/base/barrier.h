/* A barrier for the workers of one pool job. Spins, because the waits it is made
 * for last microseconds; gives the core away when there are more workers than
 * cores. Everything written before it is seen behind it. */
#ifndef TD_BASE_BARRIER_H
#define TD_BASE_BARRIER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct td_barrier {
    _Alignas(64) _Atomic uint32_t arrived;
    _Alignas(64) _Atomic uint32_t round;
    uint32_t workers;
} td_barrier;

static inline void td_barrier_init(td_barrier *barrier, int workers)
{
    barrier->arrived = 0;
    barrier->round = 0;
    barrier->workers = (uint32_t)workers;
}

static inline void td_barrier_wait(td_barrier *barrier)
{
    uint32_t round = atomic_load_explicit(&barrier->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == barrier->workers) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; spins++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (spins >= 2000) sched_yield();
    }
}

#endif
