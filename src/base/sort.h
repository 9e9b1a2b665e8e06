/* Sorts words in place, by all workers together and without further memory. */
#ifndef TD_BASE_SORT_H
#define TD_BASE_SORT_H

#include "base/pool.h"

/* Ascending; all words are below `limit`. Fails only if the job is cancelled. */
td_status td_sort_words(uint64_t *words, uint64_t count, uint64_t limit, td_pool *pool);

#endif
