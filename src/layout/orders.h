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

#endif
