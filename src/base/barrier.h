/* A barrier for the workers of one pool job. Spins first, because typical waits last
 * microseconds, but not when there are more workers than cores: a spinning worker
 * would then keep the awaited one from running. Writes before the barrier are visible
 * after it. */
#ifndef TD_BASE_BARRIER_H
#define TD_BASE_BARRIER_H

#include "base/machine.h"
#include "base/pause.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TD_BARRIER_SPINS = 4000 };

typedef struct td_barrier {
    _Alignas(64) _Atomic uint32_t arrived;
    _Alignas(64) _Atomic uint32_t round;
    _Atomic uint32_t sleepers;
    uint32_t workers;
    int spins;
} td_barrier;

static inline void td_barrier_init(td_barrier *barrier, int workers)
{
    barrier->arrived = 0;
    barrier->round = 0;
    barrier->sleepers = 0;
    barrier->workers = (uint32_t)workers;
    barrier->spins = workers <= td_machine_usable() ? TD_BARRIER_SPINS : 0;
}

static inline void td_barrier_sleep(td_barrier *barrier, uint32_t round)
{
    atomic_fetch_add(&barrier->sleepers, 1);
    while (atomic_load(&barrier->round) == round)
        syscall(SYS_futex, &barrier->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    atomic_fetch_sub(&barrier->sleepers, 1);
}

static inline void td_barrier_wait(td_barrier *barrier)
{
    uint32_t round = atomic_load_explicit(&barrier->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == barrier->workers) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store(&barrier->round, round + 1); /* before the test for sleepers */
        if (atomic_load(&barrier->sleepers) > 0)
            syscall(SYS_futex, &barrier->round, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
        return;
    }
    for (int spins = 0; spins < barrier->spins; spins++) {
        if (atomic_load_explicit(&barrier->round, memory_order_acquire) != round) return;
        td_pause();
    }
    td_barrier_sleep(barrier, round);
}

#endif
