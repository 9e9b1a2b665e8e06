/* The steps of builder.c after the lists are sorted by target; defined in
 * builder_steps.c. Private to the two files, except for the weights, which external.c
 * draws in the same way, and the order of parallel edges in csr.c. */
#ifndef TD_STORE_BUILDER_STEPS_H
#define TD_STORE_BUILDER_STEPS_H

#include "store/builder.h"

/* Weights of a step are 32-bit: integers, or floats when `real`. */
typedef struct td_rows {
    uint32_t vertices;
    uint64_t edges;
    bool real;
    td_pool *pool;
} td_rows;

/* Sorts runs of parallel edges by weight. */
td_status td_rows_order_parallel(const td_rows *rows, td_adjacency *adjacency);

/* Keeps the first of every run of parallel edges; sets rows->edges. */
td_status td_rows_dedup(td_rows *rows, td_adjacency *adjacency);

/* Sets the graph's weight kind and range from 32-bit weights, and narrows them; if there is a table, these are ranks, and
 * become 64-bit floats. */
td_status td_graph_settle_weights(td_graph *graph, bool real, const td_weight_table *table, td_pool *pool);

/* Gives every edge a weight drawn from the seed and its two ends. */
td_status td_graph_attach_weights(td_graph *graph, const td_build_options *options, td_pool *pool);

/* The narrowest kind for weights up to `highest`; the weight of an edge, as an
 * integer or as the bits of a float, drawn from the seed and its two ends. */
td_weight_kind td_weights_narrowest(bool real, double highest);
uint32_t td_weights_draw(const td_build_options *options, uint32_t a, uint32_t b);

/* If both adjacencies are the same, keeps one. */
td_status td_graph_fold_symmetric(td_graph *graph, td_pool *pool);

#endif
