/* Orders of vertices, which decide which values share cache lines. A reordered graph is
 * the same graph with other vertex numbers and the same original ids; every engine can
 * use it. */
#ifndef TD_LAYOUT_REORDER_H
#define TD_LAYOUT_REORDER_H

#include "store/graph.h"

/* name, what it does */
#define TD_ORDER_LIST(X)                                                                         \
    X(NONE, "none", "as the input numbers them")                                                 \
    X(HOT, "hot", "by in-degree, then breadth-first, vertices without out-edges last (CGgraph)") \
    X(INDEGREE, "indegree", "by descending in-degree")                                           \
    X(RANDOM, "random", "at random, from a seed")                                                \
    X(RCM, "rcm", "breadth-first from an end, low degrees first, backwards (Cuthill and McKee)")  \
    X(GORDER, "gorder", "vertices that are read together, greedily, without hubs (Wei and others)") \
    X(BISECT, "bisect", "halves with few gaps in the lists, again and again (Dhulipala and others)")

typedef enum td_order {
#define TD_ORDER_CODE(code, name, text) TD_ORDER_##code,
    TD_ORDER_LIST(TD_ORDER_CODE)
#undef TD_ORDER_CODE
    TD_ORDERS,
} td_order;

const char *td_order_name(td_order order);
const char *td_order_text(td_order order);
td_status td_order_named(const char *name, td_order *out);

/* The share of a sample of edges whose ends differ by less than a 64th of all vertex numbers: about a 32nd if vertices
 * are numbered at random, nearly 1 if neighbours have near numbers. */
double td_share_near(const td_graph *graph);

/* The mean over all edges of log2(1 + d), d being the difference of the ends' numbers: the bits of a gap. */
double td_gap_bits(const td_graph *graph);

/* Fills `vertices` with the graph's vertices in the order, which must not be NONE. */
td_status td_graph_order(const td_graph *graph, td_order order, uint64_t seed, uint32_t *vertices, td_pool *pool);

/* Replaces *graph; on failure destroys it and sets it to NULL. `seed` is for the random order. The
 * result does not depend on the number of workers. */
td_status td_graph_reorder(td_graph **graph, td_order order, uint64_t seed, td_pool *pool);

#endif
