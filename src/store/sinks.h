/* A graph divided by where its edges lead. */
#ifndef TD_STORE_SINKS_H
#define TD_STORE_SINKS_H

#include "base/pool.h"
#include "store/graph.h"

/* The graph without the edges that lead to vertices without out-edges; these are the out-lists of its `tails`. The graph
 * itself if there are no such edges. Built when it is first asked for; it lives as long as the graph. */
td_status td_graph_without_sinks(const td_graph *graph, td_pool *pool, const td_graph **out);

#endif
