/* Statistics of a graph: degrees, sinks, loops. One parallel pass over the lists. */
#ifndef TD_STORE_GRAPH_STATS_H
#define TD_STORE_GRAPH_STATS_H

#include "store/graph.h"

typedef struct td_graph_stats {
    td_degree_facts out, in; /* `in` is the same when symmetric, all zero without in-adjacency */
    bool has_in;             /* also true when symmetric */
    double average_degree;
    uint64_t sinks;    /* vertices without out-edges */
    uint64_t sources;  /* without in-edges */
    uint64_t isolated; /* without any edge */
    uint64_t loops;    /* edges from a vertex to itself */
    uint64_t parallel; /* edges beyond the first between the same two ends */
} td_graph_stats;

td_status td_graph_stats_collect(const td_graph *graph, td_pool *pool, td_graph_stats *out);

/* The same from the offsets alone: `loops` and `parallel` stay 0. Safe for a mapped file that was not verified. */
td_status td_graph_stats_degrees(const td_graph *graph, td_pool *pool, td_graph_stats *out);

#endif
