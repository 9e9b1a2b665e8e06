/* Prefix sums by all workers: where lists begin, from their lengths. */
#ifndef TD_BASE_SUMS_H
#define TD_BASE_SUMS_H

#include "base/pool.h"

/* sums[0] is set to 0; sums[i + 1], the length of list i, becomes the sum of all lengths up to it. `sums` has count + 1
 * elements. Two passes over blocks; a few lengths are added up by the caller. */
td_status td_sum_up(uint64_t *sums, uint64_t count, td_pool *pool);

#endif
