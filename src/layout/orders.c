/* Orders by a key of each vertex: by degree, by any key, at random. */
#include "layout/orders.h"

#include "base/alloc.h"
#include "store/shuffle.h"

enum { GRAIN = 1 << 15 }; /* vertices or edges per chunk */

td_status td_sorter_create(td_sorter *sorter, const td_graph *graph, td_pool *pool)
{
    *sorter = (td_sorter){.pool = pool};
    TD_CHECK(TD_NEW(&sorter->words, graph->vertices, "vertices to sort"));
    TD_CHECK(TD_NEW(&sorter->spare, graph->vertices, "vertices to sort"));
    return TD_NEW(&sorter->counts, TD_MOST_BLOCKS, "counts of vertices");
}

void td_sorter_destroy(td_sorter *sorter)
{
    td_free(sorter->words);
    td_free(sorter->spare);
    td_free(sorter->counts);
}

typedef struct keyed {
    const td_graph *graph;
    const uint32_t *keys;
    uint64_t *words, *counted; /* counted: in-degrees of a graph without in-adjacency */
    uint32_t *order;
} keyed;

static td_status clear_counts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const keyed *self = context;
    for (uint64_t v = begin; v < end; v++) self->counted[v] = 0;
    return TD_OK;
}

static td_status count_targets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const keyed *self = context;
    for (uint64_t e = begin; e < end; e++)
        __atomic_fetch_add(&self->counted[self->graph->out.targets[e]], 1, __ATOMIC_RELAXED);
    return TD_OK;
}

static td_status word_by_heat(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const keyed *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t heat = self->counted != NULL ? self->counted[v] : td_degree(&self->graph->in, (uint32_t)v);
        uint32_t capped = heat < UINT32_MAX ? (uint32_t)heat : UINT32_MAX;
        self->words[v] = (uint64_t)(UINT32_MAX - capped) << 32 | v;
    }
    return TD_OK;
}

static td_status word_by_key(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const keyed *self = context;
    for (uint64_t v = begin; v < end; v++) self->words[v] = (uint64_t)self->keys[v] << 32 | v;
    return TD_OK;
}

static td_status take_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const keyed *self = context;
    for (uint64_t i = begin; i < end; i++) self->order[i] = (uint32_t)self->words[i];
    return TD_OK;
}

static td_status sort_words(keyed *self, td_sorter *sorter)
{
    uint64_t vertices = self->graph->vertices;
    TD_CHECK(td_radix_sort(&sorter->words, &sorter->spare, vertices, 4, 7, sorter->counts, sorter->pool));
    self->words = sorter->words;
    return td_pool_for(sorter->pool, vertices, GRAIN, take_vertices, self);
}

td_status td_order_by_heat(const td_graph *graph, td_sorter *sorter, uint32_t *order)
{
    keyed self = {.graph = graph, .words = sorter->words, .order = order};
    if (graph->in.offsets == NULL) {
        self.counted = sorter->spare;
        TD_CHECK(td_pool_for(sorter->pool, graph->vertices, GRAIN, clear_counts, &self));
        TD_CHECK(td_pool_for(sorter->pool, graph->edges, GRAIN, count_targets, &self));
    }
    TD_CHECK(td_pool_for(sorter->pool, graph->vertices, GRAIN, word_by_heat, &self));
    return sort_words(&self, sorter);
}

td_status td_order_by_key(const td_graph *graph, const uint32_t *keys, td_sorter *sorter, uint32_t *order)
{
    keyed self = {.graph = graph, .keys = keys, .words = sorter->words, .order = order};
    TD_CHECK(td_pool_for(sorter->pool, graph->vertices, GRAIN, word_by_key, &self));
    return sort_words(&self, sorter);
}

typedef struct shuffling {
    td_shuffle shuffle;
    uint32_t *order;
} shuffling;

static td_status shuffle_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const shuffling *self = context;
    for (uint64_t i = begin; i < end; i++) self->order[i] = td_shuffle_at(&self->shuffle, (uint32_t)i);
    return TD_OK;
}

td_status td_order_at_random(const td_graph *graph, uint64_t seed, uint32_t *order, td_pool *pool)
{
    shuffling self = {td_shuffle_of(seed, graph->vertices), order};
    return td_pool_for(pool, graph->vertices, GRAIN, shuffle_vertices, &self);
}

/* In-lists. */

static void fill_in_lists(const td_graph *graph, td_in_lists *in)
{
    uint64_t *at = in->own_offsets + 1; /* at[v]: the next place of v's list, at the end where it ends */
    uint64_t n = graph->vertices, sum = 0;
    for (uint64_t e = 0; e < graph->edges; e++) at[graph->out.targets[e]]++;
    for (uint64_t v = 0; v < n; v++) {
        uint64_t degree = at[v];
        at[v] = sum;
        sum += degree;
    }
    for (uint64_t v = 0; v < n; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            in->own_targets[at[graph->out.targets[e]]++] = (uint32_t)v;
}

td_status td_in_lists_make(const td_graph *graph, td_in_lists *out)
{
    *out = (td_in_lists){graph->in.offsets, graph->in.targets, NULL, NULL};
    if (out->offsets != NULL) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&out->own_offsets, (uint64_t)graph->vertices + 1, "in-lists"));
    TD_CHECK(TD_NEW(&out->own_targets, graph->edges, "in-lists"));
    out->offsets = out->own_offsets;
    out->targets = out->own_targets;
    fill_in_lists(graph, out);
    return TD_OK;
}

void td_in_lists_clear(td_in_lists *lists)
{
    td_free(lists->own_offsets);
    td_free(lists->own_targets);
}
