/* Shared by the verifiers: refuting a claim with a message, weights and lists of the
 * undirected view, sums that do not depend on the threads, a queue drained in waves,
 * and components. Edges may be on disk: a verifier names the lists that it reads, and
 * may read only those of the vertices it is called with. Private to this folder. */
#ifndef TD_PROGRAMS_VERIFY_PARTS_H
#define TD_PROGRAMS_VERIFY_PARTS_H

#include "base/bitmap.h"
#include "store/paged.h"

#include <inttypes.h>
#include <stdatomic.h>

/* TD_VERIFY with "PROGRAM: the claim 'CLAIM' fails: ...". */
td_status td_refute(const char *program, const char *claim, const char *format, ...) TD_PRINTF(3, 4);

/* TD_INVALID unless the source is a vertex. */
td_status td_source_check(const td_graph *graph, uint32_t source);

/* TD_UNSUPPORTED if the in-adjacency was left out of the build. */
td_status td_in_lists_check(const td_graph *graph);

/* The weight of an edge; 1 in a graph without weights. */
static inline double td_edge_weight(const td_graph *graph, const td_adjacency *adjacency, uint64_t edge)
{
    switch (graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U16: return ((const uint16_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U32: return ((const uint32_t *)adjacency->weights)[edge];
    case TD_WEIGHT_F32: return (double)((const float *)adjacency->weights)[edge];
    case TD_WEIGHT_F64: return ((const double *)adjacency->weights)[edge];
    default: return 1;
    }
}

/* The position of the first (lightest) edge source -> target, or UINT64_MAX. */
uint64_t td_edge_find(const td_adjacency *adjacency, uint32_t source, uint32_t target);

/* The first edge parent -> v, searched in v's in-list if the graph has in-lists; `weight` may be NULL. */
bool td_parent_edge(const td_graph *graph, uint32_t parent, uint32_t v, double *weight);
unsigned td_parent_lists(const td_graph *graph); /* for td_over_edges */

/* The lists that make up a vertex's neighbourhood. */
typedef struct td_lists {
    const td_adjacency *lists[2];
    int count;
} td_lists;

td_status td_undirected_view(const td_graph *graph, td_lists *view);

unsigned td_view_lists(const td_graph *graph, const td_lists *view); /* for td_over_edges */

/* Calls `work` for ranges of vertices, on the pool if there are enough of them. */
td_status td_over_vertices(const td_graph *graph, td_pool *pool, td_range_fn work, void *context);

/* The same, if `work` reads the lists of its vertices; `lists` and TD_WITH_WEIGHTS as in store/paged.h. Ranges are
 * whole words of 64 vertices. */
td_status td_over_edges(const td_graph *graph, unsigned lists, td_pool *pool, td_range_fn work, void *context);

/* The sum of term(v) over all vertices, added up in an order fixed by the graph alone. */
typedef double (*td_term_fn)(const void *context, uint32_t v);
td_status td_sum_vertices(const td_graph *graph, td_pool *pool, td_term_fn term, const void *context, double *sum);

/* Vertices to visit, each put in at most once: an array, or a bitmap if lists come from disk page by page. */
typedef struct td_queue {
    uint32_t *items;   /* room for every vertex */
    uint64_t *waiting; /* a bitmap; only one of the two is used */
    _Atomic uint64_t count;
} td_queue;

td_status td_queue_create(td_queue *queue, const td_graph *graph, const char *what);
void td_queue_destroy(td_queue *queue);

static inline void td_queue_put(td_queue *queue, uint32_t v)
{
    uint64_t place = atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed);
    if (queue->items != NULL) queue->items[place] = v;
    else td_bit_set_atomic(queue->waiting, v);
}

/* Visits all vertices of the queue and those that visits put in; a visit reads these lists of its vertex. */
typedef void (*td_visit_fn)(void *context, uint32_t v);
td_status td_queue_drain(td_queue *queue, const td_graph *graph, unsigned lists, td_pool *pool, td_visit_fn visit,
                         void *context);

/* roots[v] = the smallest vertex of v's component of the undirected view, by a
 * concurrent union-find over the out-lists. */
td_status td_components_find(const td_graph *graph, td_pool *pool, uint32_t *roots);

#endif
