/* Between the sorts of lists (lists.c) and the division of lists into pieces (lists_pieces.c). */
#ifndef TD_LAYOUT_LISTS_INSIDE_H
#define TD_LAYOUT_LISTS_INSIDE_H

#include "layout/lists.h"
#include "layout/radix.h"

typedef struct td_sort {
    const td_graph *graph;
    td_adjacency from;       /* addresses that edge 0 would have */
    uint32_t *targets;
    void *weights;
    size_t weight_bytes;     /* 0: weights are not written */
    uint32_t weight_bits;    /* weight bits at the top of the word of a target; 0: not packed */
    uint32_t weight_most;    /* if packed: the largest weight, which fits in them */
    uint8_t *cold;           /* class of each vertex, the hottest 0; NULL: by weight */
    bool by_class;
    uint64_t *words, room;   /* two buffers of `room` words per worker */
    struct td_sort_batch *batches; /* one per worker, if lists are sorted by class */
    _Atomic uint64_t *misfit; /* a weight above weight_most, plus 1; 0: none */
} td_sort;

extern const uint64_t td_sort_batch_bytes;

/* Buffers for so many edges. */
td_status td_sort_open(td_sort *job, uint64_t edges, int threads);
void td_sort_close(td_sort *job);

/* Sorts the lists of vertices first .. after - 1, none longer than a block. */
td_status td_sort_lists(const td_sort *job, uint32_t first, uint32_t after, int worker);

/* Sorts one list of any length, by all workers if it is longer than a block. `words` has two buffers of `room` words,
 * `room` at least the list's edges, unless lists are sorted by class; `counts` is for the blocks. */
td_status td_sort_list(const td_sort *job, uint32_t v, uint64_t *words, uint64_t room, td_counts *counts, td_pool *pool);

/* Copies edges begin .. end - 1 in their order. */
void td_sort_copy(const td_sort *job, uint64_t begin, uint64_t end);

#endif
