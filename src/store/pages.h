/* Pages: the division of an adjacency for reading from disk.
 *
 * A page is a run of consecutive vertices with all their edges: at most 2^20
 * edges and 2^18 vertices, or one vertex with more edges. The division is
 * greedy from vertex 0, so it is a function of the graph. The summary says
 * which ranges of vertices the page's edges lead to: bit b
 * stands for the vertices [b*span, (b+1)*span). A page whose summary meets no
 * range with an active vertex need not be read (Garaph reads such pages).
 */
#ifndef TD_STORE_PAGES_H
#define TD_STORE_PAGES_H

#include "store/graph.h"

#define TD_PAGE_EDGES (UINT64_C(1) << 20)
#define TD_PAGE_VERTICES (UINT32_C(1) << 18)
#define TD_SUMMARY_BITS 1024u
#define TD_SUMMARY_WORDS (TD_SUMMARY_BITS / 64)

typedef struct td_page { /* as in the file */
    uint64_t first_edge, edges;
    uint32_t first_vertex, vertices;
    uint64_t summary[TD_SUMMARY_WORDS];
} td_page;

/* Vertices per bit of a summary. */
static inline uint32_t td_summary_span(uint32_t vertices)
{
    return vertices / TD_SUMMARY_BITS + (vertices % TD_SUMMARY_BITS != 0);
}

/* The bit of a target, target / span, as a product: with factor = 2^54 / span rounded up, the error of
 * target * factor stays below 2^54 / span and the product below 2^64, because
 * span <= 2^22 and target < 1024 * span. A division costs several times a memory access. */
#define TD_SUMMARY_FACTOR_BITS 54

static inline uint64_t td_summary_factor(uint32_t vertices)
{
    uint64_t span = td_summary_span(vertices);
    return span == 0 ? 0 : ((UINT64_C(1) << TD_SUMMARY_FACTOR_BITS) + span - 1) / span;
}

static inline uint64_t td_summary_bit(uint32_t target, uint64_t factor)
{
    return target * factor >> TD_SUMMARY_FACTOR_BITS;
}

static inline bool td_summary_meets(const uint64_t *a, const uint64_t *b)
{
    uint64_t common = 0;
    for (unsigned w = 0; w < TD_SUMMARY_WORDS; w++) common |= a[w] & b[w];
    return common != 0;
}

uint64_t td_pages_count(const td_adjacency *adjacency, uint32_t vertices);

/* The directory of an adjacency, freed by the caller with td_free. */
td_status td_pages_make(td_page **out, uint64_t *count, const td_adjacency *adjacency, uint32_t vertices,
                        td_pool *pool);

/* The same for an adjacency of a mapped graph, whose pages are released as they have been read (td_graph_let_go). */
td_status td_pages_make_mapped(td_page **out, uint64_t *count, const td_graph *graph, const td_adjacency *adjacency,
                               td_pool *pool);

#endif
