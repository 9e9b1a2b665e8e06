/* Words that other GPUs see late: for engines that live with stale values.
 *
 * With `remote-delay N` in the topology, an atomic load (TD_LOAD) of a word that another GPU changed, in an operation
 * that no event orders before the loading kernel, may return the value from before: up to N times for each kernel
 * and word, as often as the seed draws. Changes by atomics always see the newest value, as on a GPU. */
#ifndef TD_DEVICE_EMULATOR_STALE_H
#define TD_DEVICE_EMULATOR_STALE_H

#include "base/status.h"

typedef struct td_emu_stale_word {
    uint64_t key;       /* which word, the same in every run; 0: none */
    uint64_t old;       /* the 8 bytes around it */
    uint32_t tick;      /* of the operation that changed it */
    int writer;         /* the device that it ran on */
    uint32_t reader;    /* the tick of the operation that read it last, and how often it may still see the old value */
    uint32_t left;
} td_emu_stale_word;

enum { TD_STALE_WORDS = 1 << 14 };

typedef struct td_emu_stale {
    uint32_t delay; /* 0: every change is seen at once */
    uint64_t seed;
    td_emu_stale_word *words; /* a table by key; what finds no place is seen at once */
} td_emu_stale;

td_status td_stale_open(td_emu_stale *stale, uint32_t delay, uint64_t seed);
void td_stale_close(td_emu_stale *stale);

/* A kernel of this device, whose operation has this tick, is about to change a word in the 8 bytes at `at`, which
 * begin at a multiple of 8. */
void td_stale_change(td_emu_stale *stale, uint64_t key, const void *at, int writer, uint32_t tick);

/* The last change of these 8 bytes, if another device than the reader's made it; NULL: none. */
td_emu_stale_word *td_stale_find(const td_emu_stale *stale, uint64_t key, int reader);

/* Whether the kernel of this tick still sees the old value. */
bool td_stale_draw(const td_emu_stale *stale, td_emu_stale_word *word, uint32_t tick);

#endif
