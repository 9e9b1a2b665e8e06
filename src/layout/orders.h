/* The orders of td_graph_reorder: each fills `order` with the vertices in their new
 * sequence. The result does not depend on the number of workers. */
#ifndef TD_LAYOUT_ORDERS_H
#define TD_LAYOUT_ORDERS_H

#include "layout/radix.h"
#include "store/graph.h"

/* Buffers to sort all vertices, as words of a key and a vertex. */
typedef struct td_sorter {
    uint64_t *words, *spare;
    td_counts *counts;
    td_pool *pool;
} td_sorter;

td_status td_sorter_create(td_sorter *sorter, const td_graph *graph, td_pool *pool);
void td_sorter_destroy(td_sorter *sorter);

/* By descending in-degree, ties by number. */
td_status td_order_by_heat(const td_graph *graph, td_sorter *sorter, uint32_t *order);

/* By ascending key, ties by number. */
td_status td_order_by_key(const td_graph *graph, const uint32_t *keys, td_sorter *sorter, uint32_t *order);

td_status td_order_at_random(const td_graph *graph, uint64_t seed, uint32_t *order, td_pool *pool);
td_status td_order_hot(const td_graph *graph, td_sorter *sorter, uint32_t *order);
td_status td_order_rcm(const td_graph *graph, td_sorter *sorter, uint32_t *order);

/* Gorder: the vertices whose scores count, and the out-edges (also at most the root of all vertices) above which a common
 * in-neighbour does not count. */
enum { TD_GORDER_WINDOW = 5, TD_GORDER_HUB = 256 };
uint64_t td_gorder_hub(uint64_t vertices);
td_status td_order_gorder(const td_graph *graph, td_sorter *sorter, uint32_t *order);
td_status td_order_bisect(const td_graph *graph, uint32_t *order);

/* The in-lists of a graph, made from the out-lists if it has none. */
typedef struct td_in_lists {
    const uint64_t *offsets;
    const uint32_t *targets;
    uint64_t *own_offsets;   /* NULL: the graph's */
    uint32_t *own_targets;
} td_in_lists;
td_status td_in_lists_make(const td_graph *graph, td_in_lists *out);
void td_in_lists_clear(td_in_lists *lists);

#endif
