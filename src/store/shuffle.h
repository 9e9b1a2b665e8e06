/* A random renumbering of 0..count-1 without a table: a bijection keyed by a
 * seed, evaluated wherever it is needed, so that neither memory nor the order
 * of threads matters.
 *
 * It works on the smallest power of two that holds `count`: each round adds a
 * key, multiplies by an odd number (both modulo that power) and folds the upper
 * half of the bits onto the lower, three steps that can each be undone. A
 * result beyond the range is put in again until it falls inside ("cycle
 * walking"), which keeps it a bijection and takes less than two turns on average.
 */
#ifndef TD_STORE_SHUFFLE_H
#define TD_STORE_SHUFFLE_H

#include "base/random.h"

enum { TD_SHUFFLE_ROUNDS = 3 };

typedef struct td_shuffle {
    uint32_t count, mask;
    int fold;
    uint32_t add[TD_SHUFFLE_ROUNDS], multiply[TD_SHUFFLE_ROUNDS];
} td_shuffle;

static inline td_shuffle td_shuffle_of(uint64_t seed, uint32_t count)
{
    td_shuffle self = {.count = count};
    int bits = count < 2 ? 1 : 32 - __builtin_clz(count - 1);
    self.mask = UINT32_MAX >> (32 - bits);
    self.fold = (bits + 1) / 2;
    for (int i = 0; i < TD_SHUFFLE_ROUNDS; i++) {
        uint64_t random = td_random_at(seed, (uint64_t)i);
        self.add[i] = (uint32_t)random;
        self.multiply[i] = (uint32_t)(random >> 32) | 1;
    }
    return self;
}

/* One turn, on any number up to the mask. */
static inline uint32_t td_shuffle_turn(const td_shuffle *self, uint32_t x)
{
    for (int i = 0; i < TD_SHUFFLE_ROUNDS; i++) {
        x = (x + self->add[i]) * self->multiply[i] & self->mask;
        x ^= x >> self->fold;
    }
    return x;
}

static inline uint32_t td_shuffle_at(const td_shuffle *self, uint32_t x)
{
    do x = td_shuffle_turn(self, x);
    while (x >= self->count);
    return x;
}

#endif
