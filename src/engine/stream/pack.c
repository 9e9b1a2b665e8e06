/* Packed edge words: a vertex number seldom takes all 32 bits, and a weight that fits in the remaining bits makes an
 * edge one word. A kernel then reads one range of host memory per list instead of two, and fewer bytes. Weights are
 * packed in the copy of the lists that reordering makes anyway. */
#include "engine/stream/stream.h"

#include "base/alloc.h"

#include <stdatomic.h>

/* Bits that the largest vertex number leaves; 0 if the largest weight does not fit. */
uint32_t td_streaming_weight_bits(const td_graph *graph)
{
    uint32_t left = 31;
    bool whole = graph->weights == TD_WEIGHT_U8 || graph->weights == TD_WEIGHT_U16 || graph->weights == TD_WEIGHT_U32;
    if (!whole) return 0;
    while (left > 0 && graph->vertices > UINT64_C(1) << (32 - left)) left--;
    return graph->weight_max < (double)(UINT64_C(1) << left) ? left : 0;
}

typedef struct joining {
    td_link_list *list;
    uint32_t bits;
    _Atomic uint64_t misfit; /* number + 1 of an edge whose weight exceeds the graph's stated maximum; 0: none */
} joining;

static uint32_t weight_apart(const td_link_list *list, uint64_t e)
{
    switch (list->weight_bytes) {
    case 1: return ((const uint8_t *)list->weights)[e];
    case 2: return ((const uint16_t *)list->weights)[e];
    default: return ((const uint32_t *)list->weights)[e];
    }
}

static td_status join_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    joining *self = context;
    uint32_t *words = self->list->own_targets, place = 32 - self->bits;
    for (uint64_t e = begin; e < end; e++) {
        uint32_t weight = weight_apart(self->list, e);
        if (weight >> self->bits != 0) self->misfit = e + 1;
        words[e] |= weight << place;
    }
    return TD_OK;
}

td_status td_streaming_pack_weights(td_link_list *list, const td_graph *graph, uint32_t bits, td_host_memory *memory,
                                    td_pool *pool)
{
    joining join = {.list = list, .bits = bits};
    if (!memory->measures) TD_CHECK(td_pool_for(pool, list->edges, 1 << 16, join_edges, &join));
    if (join.misfit > 0)
        return td_fail(TD_CORRUPT, "a weight of %u is above %g, the largest that the graph states: its file is damaged",
                       weight_apart(list, join.misfit - 1), graph->weight_max);
    td_host_undeclare(memory, &list->own_weights, list->edges, list->weight_bytes);
    list->weights = NULL;
    list->weight_bytes = 0;
    list->weight_bits = bits;
    return TD_OK;
}
