/* Sorts words in place, by all workers together. */
#ifndef TD_BASE_SORT_H
#define TD_BASE_SORT_H

#include "base/pool.h"

/* Ascending; all words are below `limit`. Takes no further memory, and fails only if the job is cancelled. */
td_status td_sort_words(uint64_t *words, uint64_t count, uint64_t limit, td_pool *pool);

/* The same for words that are all different: through a bitmap of all words below `limit`, where it takes no more memory
 * than the words do and the budget has room for it; td_sort_bitmap_bytes: its bytes, or 0. */
td_status td_sort_distinct(uint64_t *words, uint64_t count, uint64_t limit, td_pool *pool);
uint64_t td_sort_bitmap_bytes(uint64_t count, uint64_t limit);

#endif
