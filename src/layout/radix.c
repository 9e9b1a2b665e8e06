#include "layout/radix.h"

#include <string.h>

td_blocks td_blocks_of(uint64_t elements, td_counts *counts, td_pool *pool)
{
    uint64_t share = (elements + TD_MOST_BLOCKS - 1) / TD_MOST_BLOCKS;
    return (td_blocks){elements, share > TD_BLOCK ? share : TD_BLOCK, counts, pool};
}

td_status td_blocks_each(const td_blocks *blocks, td_range_fn work, void *context)
{
    if (blocks->elements <= blocks->size) return work(context, 0, blocks->elements, 0);
    return td_pool_for(blocks->pool, blocks->elements, blocks->size, work, context);
}

bool td_blocks_place(const td_blocks *blocks)
{
    uint64_t count = blocks->elements / blocks->size + (blocks->elements % blocks->size != 0), next = 0, most = 0;
    for (int class = 0; class < TD_CLASSES; class++) {
        uint64_t first = next;
        for (uint64_t b = 0; b < count; b++) {
            uint64_t elements = blocks->counts[b][class];
            blocks->counts[b][class] = next;
            next += elements;
        }
        if (next - first > most) most = next - first;
    }
    return most < blocks->elements;
}

typedef struct sorting {
    td_blocks blocks;
    const uint64_t *from;
    uint64_t *to;
    int shift;
} sorting;

static inline uint8_t digit_of(uint64_t word, int shift) { return (uint8_t)(word >> shift); }

static td_status count_digits(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const sorting *self = context;
    uint64_t *mine = td_block_counts(&self->blocks, begin);
    memset(mine, 0, sizeof(td_counts));
    for (uint64_t i = begin; i < end; i++) mine[digit_of(self->from[i], self->shift)]++;
    return TD_OK;
}

static td_status move_words(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const sorting *self = context;
    uint64_t *next = td_block_counts(&self->blocks, begin);
    for (uint64_t i = begin; i < end; i++) self->to[next[digit_of(self->from[i], self->shift)]++] = self->from[i];
    return TD_OK;
}

td_status td_radix_sort(uint64_t **words, uint64_t **spare, uint64_t count, int first, int last, td_counts *counts,
                        td_pool *pool)
{
    if (count < 2) return TD_OK;
    for (int byte = first; byte <= last; byte++) {
        sorting self = {td_blocks_of(count, counts, pool), *words, *spare, 8 * byte};
        TD_CHECK(td_blocks_each(&self.blocks, count_digits, &self));
        if (!td_blocks_place(&self.blocks)) continue;
        TD_CHECK(td_blocks_each(&self.blocks, move_words, &self));
        uint64_t *sorted = *spare;
        *spare = *words;
        *words = sorted;
    }
    return TD_OK;
}
