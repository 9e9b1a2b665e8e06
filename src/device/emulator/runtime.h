/* What the language of kernels is made of on the emulator; the macros over it are
 * in language.h. A waiting function returns when those waited for have come. */
#ifndef TD_DEVICE_EMULATOR_RUNTIME_H
#define TD_DEVICE_EMULATOR_RUNTIME_H

#include "device/set.h"

#include <stddef.h>
#include <stdint.h>

typedef struct td_site {
    const char *file;
    int line;
} td_site;

/* The thread that runs. */
typedef struct td_emu_thread {
    uint32_t thread, threads, block, blocks;
} td_emu_thread;
extern td_emu_thread *td_emu_self;

/* An atomic's order says which threads it is one for: relaxed, those of the device; sequentially consistent, those of
 * all devices. The watch sees it. */
#define TD_EMU_DEVICE __ATOMIC_RELAXED
#define TD_EMU_SYSTEM __ATOMIC_SEQ_CST

void td_emu_barrier(td_site site);
void td_emu_grid_barrier(td_site site);
void td_emu_set_barrier(const td_set_member *set, td_site site);
uint64_t td_emu_clock(void);
void td_emu_warp_barrier(uint32_t mask, td_site site);
uint32_t td_emu_ballot(uint32_t mask, int predicate, td_site site);
/* The value of that lane; a lane's own when from_lane > 31. */
uint64_t td_emu_shuffle(uint32_t mask, uint64_t value, uint32_t from_lane, td_site site);
void *td_emu_shared(size_t bytes, size_t align, td_site site);
void *td_emu_shared_dynamic(td_site site);

#endif
