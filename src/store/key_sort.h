/* Sorts keys in memory, together with their weights: all workers scatter by the highest
 * bits through line buffers, then each part is radix-sorted separately, inside the
 * cache. */
#ifndef TD_STORE_KEY_SORT_H
#define TD_STORE_KEY_SORT_H

#include "base/pool.h"

typedef struct td_keys {
    uint64_t *keys;
    uint32_t *weights; /* or NULL */
} td_keys;

/* Sorts fewer than 2^32 keys by their lowest `bits`; higher bits must be equal. The result is in `from`, and
 * `spare` has the same room. Weights of equal keys are in ascending order, as floats when `real`. */
td_status td_keys_sort(td_keys *from, td_keys *spare, uint64_t count, uint32_t bits, bool real, td_pool *pool);

#endif
