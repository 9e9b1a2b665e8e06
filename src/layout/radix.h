/* Stable counting sort, one byte at a time, by all workers together.
 *
 * The elements are divided into blocks; every block counts its elements of each class, the
 * counts become places, and every block moves its elements there in order. A few elements
 * are one block and need no pool. */
#ifndef TD_LAYOUT_RADIX_H
#define TD_LAYOUT_RADIX_H

#include "base/pool.h"

enum {
    TD_CLASSES = 256,
    TD_BLOCK = 1 << 17,  /* elements up to which there is one block */
    TD_MOST_BLOCKS = 64, /* with more elements, blocks grow instead */
};

typedef uint64_t td_counts[TD_CLASSES];

typedef struct td_blocks {
    uint64_t elements, size; /* all elements; elements of a block, except the last */
    td_counts *counts;       /* per block: one for up to TD_BLOCK elements, else TD_MOST_BLOCKS */
    td_pool *pool;
} td_blocks;

td_blocks td_blocks_of(uint64_t elements, td_counts *counts, td_pool *pool);

/* The counts of the block that begins at `begin`. */
static inline uint64_t *td_block_counts(const td_blocks *blocks, uint64_t begin)
{
    return blocks->counts[begin / blocks->size];
}

/* Calls `work` for every block. */
td_status td_blocks_each(const td_blocks *blocks, td_range_fn work, void *context);

/* Turns counts into places: where each block's elements of each class begin, class after
 * class and block after block. False if all elements are of one class. */
bool td_blocks_place(const td_blocks *blocks);

/* Sorts words by their bytes first..last; byte 0 is the lowest. Both arrays have room for all words and may be swapped:
 * the sorted words are in *words. */
td_status td_radix_sort(uint64_t **words, uint64_t **spare, uint64_t count, int first, int last, td_counts *counts,
                        td_pool *pool);

#endif
