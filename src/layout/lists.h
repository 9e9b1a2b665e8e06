/* Copies of an adjacency in which every list is in another order: what is used
 * first comes first, so that early exits come sooner and a prefix of every list
 * is the best part of it to keep near. Which edges a list has, and where it
 * stands, does not change; that it is sorted by target no longer holds.
 */
#ifndef TD_LAYOUT_LISTS_H
#define TD_LAYOUT_LISTS_H

#include "store/graph.h"

typedef enum td_list_order {
    TD_LISTS_STORED, /* as they are */
    TD_LISTS_HOT,    /* the neighbour of the highest degree first */
    TD_LISTS_LIGHT,  /* the lightest edge first; as they are in a graph without weights */
} td_list_order;

/* A degree here is the length of both lists, of a symmetric graph or one without
 * in-adjacency that of the one it has. HOT compares them by class: degrees up to 15
 * are classes of their own, above that eight classes share every doubling. A list
 * is in order of classes, and no degree is followed by one 1/8 larger. */
static inline uint32_t td_degree_class(uint64_t degree)
{
    if (degree < 16) return (uint32_t)degree;
    if (degree > UINT32_MAX) degree = UINT32_MAX;
    uint32_t log = 31 - (uint32_t)__builtin_clz((uint32_t)degree);
    return 16 + (log - 4) * 8 + ((uint32_t)degree >> (log - 3) & 7);
}

/* Writes the adjacency's targets (and weights, where neither side's are NULL) into room
 * for all of its edges, every list in the order wanted, ties in stored order. Offsets stay
 * what they are: a list keeps its place. LIGHT writes a weight of -0 as 0.
 * Holds a byte per vertex (HOT) or 2 MiB per worker (LIGHT) while it works, and 16 bytes per edge
 * of the longest list if that has more than 2^17. */
td_status td_lists_order(const td_graph *graph, const td_adjacency *from, td_list_order order, uint32_t *targets,
                         void *weights, td_pool *pool);

/* The undirected view of a directed graph as one adjacency: behind a vertex's in-list its out-list. */
td_status td_lists_join(const td_graph *graph, bool weighted, td_adjacency *out, td_pool *pool);
void td_lists_free(td_adjacency *lists);

#endif
