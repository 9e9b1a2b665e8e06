/* A graph's weights as ranks, for programs that order edges by keys of 32 bits of weight. */
#ifndef TD_STORE_RANKS_H
#define TD_STORE_RANKS_H

#include "base/pool.h"
#include "store/graph.h"

/* The graph with 32-bit integers for weights: the rank of each among the distinct weights of the graph, which are 64-bit
 * floats. All else is the graph's own, edge numbers too; td_weight_at returns the weights of `graph`, which is its
 * `ranks_of`. Built when it is first asked for; it lives as long as the graph. */
td_status td_graph_ranked(const td_graph *graph, td_pool *pool, const td_graph **out);

/* Bytes beside those of the graph: of the ranks, if there are so many distinct weights; while they are found. */
uint64_t td_ranks_bytes(const td_graph *graph, uint64_t distinct);
uint64_t td_ranks_peak_bytes(const td_graph *graph, uint64_t distinct);

/* At most so many distinct weights: both directions of an edge have one. */
uint64_t td_ranks_most(const td_graph *graph);

#endif
