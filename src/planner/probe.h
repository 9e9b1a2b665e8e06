/* Guesses how many rounds a search of a graph takes, from a few short searches. */
#ifndef TD_PLANNER_PROBE_H
#define TD_PLANNER_PROBE_H

#include "store/graph.h"

/* 0: unknown, because the lists are not in memory. Lists of a file that was not checked are safe: what leads outside of
 * the graph ends a search. `source` TD_NO_VERTEX: any. */
double td_probe_rounds(const td_graph *graph, uint32_t source);

#endif
