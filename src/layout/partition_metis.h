/* METIS, which cuts few edges: loaded where it is installed, and run in a process of its own. */
#ifndef TD_LAYOUT_PARTITION_METIS_H
#define TD_LAYOUT_PARTITION_METIS_H

#include "store/graph.h"

/* TD_UNSUPPORTED, with the package that would help, if METIS cannot be used. */
td_status td_metis_check(void);

/* Writes the owner of every vertex, 0 .. parts - 1. `shares` are the parts' shares of the edges, all above 0; a vertex
 * weighs the entries of its lists in `lists`, and one. METIS partitions the undirected simple graph, which takes 4
 * bytes per distinct pair of neighbours and direction and 8 per vertex (twice that if METIS has 64-bit numbers), and
 * METIS itself up to 14 times as much; both count against the memory budget. */
td_status td_metis_cut(const td_graph *graph, const td_adjacency *const *lists, int list_count, int parts,
                       const double *shares, uint64_t seed, uint8_t *owner, td_pool *pool);

/* The most that td_metis_cut takes of a graph with so many vertices and edges: no two edges have the same ends, and no
 * edge has one in the other direction. */
uint64_t td_metis_bytes(uint64_t vertices, uint64_t edges, bool symmetric);

#endif
