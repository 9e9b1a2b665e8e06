/* Copies of an adjacency in which every list is in another order: edges that are
 * useful first come first, so that early exits come sooner and a prefix of every
 * list is its best part to keep resident. A list keeps its edges and its place, but
 * is no longer sorted by target.
 */
#ifndef TD_LAYOUT_LISTS_H
#define TD_LAYOUT_LISTS_H

#include "base/declare.h"
#include "store/graph.h"

typedef enum td_list_order {
    TD_LISTS_STORED, /* the stored order */
    TD_LISTS_HOT,    /* the neighbour of the highest degree first */
    TD_LISTS_LIGHT,  /* the lightest edge first; the stored order in a graph without weights */
} td_list_order;

/* A degree here is the length of both lists of a vertex, or of the only list in a graph
 * that is symmetric or has no in-adjacency. HOT compares degrees by class: each degree up
 * to 15 is a class, above that there are eight classes per doubling. In a list sorted by
 * class, no degree is followed by one that is 1/8 larger. */
static inline uint32_t td_degree_class(uint64_t degree)
{
    if (degree < 16) return (uint32_t)degree;
    if (degree > UINT32_MAX) degree = UINT32_MAX;
    uint32_t log = 31 - (uint32_t)__builtin_clz((uint32_t)degree);
    return 16 + (log - 4) * 8 + ((uint32_t)degree >> (log - 3) & 7);
}

/* Writes the adjacency's targets (and weights, unless either side's are NULL) to arrays for all of its edges, every list in
 * the given order, ties in stored order. Offsets do not change. LIGHT writes a weight of -0 as 0. With weight_bits,
 * weights are packed into so many bits at the top of the words of their targets; one that does not fit is TD_CORRUPT.
 *
 * Lists that are in the graph's mapped file (store/checks.h) are read from it, once, and checked: no copy of them is in
 * memory but in the new order. */
typedef struct td_lists_ordering {
    const td_graph *graph;
    const td_adjacency *from;
    td_list_order order;
    uint32_t weight_bits;
    uint32_t *targets;
    void *weights;
} td_lists_ordering;
td_status td_lists_order(const td_lists_ordering *what, td_pool *pool);

/* Memory that it takes meanwhile: 320 KiB per worker, and a byte per vertex (HOT); for weights of more than a byte 2 MiB
 * per worker; for lists in the file a piece of edges per worker. Beside that 16 bytes per edge of the longest list if that
 * has more than 2^17 edges, and for lists in the file its targets and weights. */
uint64_t td_lists_order_bytes(const td_graph *graph, uint64_t edges, td_list_order order, bool in_file, int threads);

/* The same in pieces of the edges, for a caller that does more with a piece while it is in the cache. Any worker processes
 * any piece, once; a list that several pieces share is in order after the end. */
enum { TD_LISTS_PIECE = 1 << 16 }; /* edges: whole blocks of the file, whatever the weights */
typedef struct td_ordering td_ordering;
td_status td_ordering_open(td_ordering **out, const td_lists_ordering *what, td_pool *pool);
td_status td_ordering_piece(td_ordering *self, uint64_t piece, int worker);
td_status td_ordering_end(td_ordering *self, td_pool *pool);
void td_ordering_close(td_ordering *self);

static inline uint64_t td_lists_pieces(uint64_t edges) { return (edges + TD_LISTS_PIECE - 1) / TD_LISTS_PIECE; }

/* Vertices *first .. *after - 1, whose lists are within the piece, none of them in two; and the one whose list begins before a piece and ends in
 * it or behind it, if no earlier piece has been such a one's; UINT32_MAX: there is none. */
void td_lists_within(const uint64_t *offsets, uint32_t vertices, uint64_t piece, uint32_t *first, uint32_t *after);
uint32_t td_lists_across(const uint64_t *offsets, uint32_t vertices, uint64_t piece);

/* The undirected view of a directed graph as one adjacency: the in-list of a vertex, then its out-list. Its arrays are
 * declared (base/declare.h); td_lists_unjoin frees them and takes them back. */
td_status td_lists_join(const td_graph *graph, bool weighted, td_adjacency *out, td_host_memory *memory, td_pool *pool);
void td_lists_unjoin(const td_graph *graph, bool weighted, td_adjacency *both, td_host_memory *memory);
void td_lists_free(td_adjacency *lists);

#endif
