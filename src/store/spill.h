/* Sorting more keys than memory holds.
 *
 * Keys, each perhaps with a weight, are put into buckets by their highest bits;
 * a full buffer is appended to one temporary file, which is so written sequentially.
 * Then the buckets are read back in order, sorted in memory and passed on. A bucket
 * that is too large for memory goes through a spill of its own. If everything fits
 * the buffers, nothing is written to disk.
 */
#ifndef TD_STORE_SPILL_H
#define TD_STORE_SPILL_H

#include "base/pool.h"

typedef struct td_spill td_spill;

typedef struct td_spill_shape {
    uint32_t key_bits; /* keys lie in [base, base + 2^key_bits) */
    bool open;         /* keys above the range are allowed; they go to the last bucket */
    uint64_t base;
    bool weighted;
    const struct td_weight_table *codes; /* not NULL: weights are its codes, which are ranked before the run and passed on
                                          * as ranks */
    uint64_t memory;       /* for the buffers of the buckets */
    const char *directory; /* of the temporary file */
    td_pool *pool;
    int workers; /* of the pool; it may be made inside a job, where the pool counts as one */
} td_spill_shape;

/* Minimum of td_spill_shape.memory. */
#define TD_SPILL_LEAST_FILL (UINT64_C(1) << 20)

td_status td_spill_create(td_spill **out, const td_spill_shape *shape);
void td_spill_destroy(td_spill *spill); /* NULL is fine */

/* Any worker of the pool. The weights are 32-bit integers, or floats when `real`; once
 * some are, all become floats. */
td_status td_spill_put(td_spill *spill, const uint64_t *keys, const uint32_t *weights, uint64_t count, bool real,
                        int worker);

/* Called after the last put. Frees the buffers if anything was written to disk. */
td_status td_spill_finish(td_spill *spill);
uint64_t td_spill_count(const td_spill *spill);
void td_spill_range(const td_spill *spill, uint64_t *lowest, uint64_t *highest); /* of its keys, if any */
bool td_spill_real(const td_spill *spill);
uint64_t td_spill_spilled(const td_spill *spill); /* bytes written to disk */

/* Passes on all keys in ascending order, equal keys in ascending order of their weights,
 * some at a time. Uses about `memory` bytes. */
typedef td_status (*td_sorted_fn)(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count);
td_status td_spill_run(td_spill *spill, uint64_t memory, td_sorted_fn take, void *context);

/* After the run: whether an integer weight became a float that is not the same number. */
bool td_spill_inexact(const td_spill *spill);

#endif
