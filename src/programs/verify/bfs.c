/* The claims of a breadth-first search:
 *
 *   1. the source has level 0;
 *   2. no edge skips a level: u -> v with u reached gives level[v] <= level[u] + 1;
 *   3. every other reached vertex has an edge from the level before it;
 *   4. with parents: the parent of a reached vertex is such an edge's source,
 *      the source is its own parent, an unreached vertex has none.
 *
 * By 2 no level is larger than the distance, by 3 none is smaller. One pass
 * over the out-lists checks 2 and marks the vertices that fulfil 3.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

#define UNREACHED UINT32_MAX

typedef struct search {
    const td_graph *graph;
    uint32_t source;
    const uint32_t *levels, *parents;
    uint64_t *followed; /* vertices with an edge from the previous level */
} search;

static td_status refute(const search *self, const char *claim, uint32_t u, uint32_t v)
{
    return td_refute("bfs", claim,
                     "edge %" PRIu64 " -> %" PRIu64 " leads from level %" PRIu32 " to level %" PRIu32 "%s",
                     td_graph_id(self->graph, u), td_graph_id(self->graph, v), self->levels[u], self->levels[v],
                     self->levels[v] == UNREACHED ? " (unreached)" : "");
}

static td_status follow_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    search *self = context;
    const td_adjacency *out = &self->graph->out;
    for (uint64_t u = begin; u < end; u++) {
        if (self->levels[u] == UNREACHED) continue;
        uint64_t next = (uint64_t)self->levels[u] + 1;
        for (uint64_t e = out->offsets[u]; e < out->offsets[u + 1]; e++) {
            uint32_t v = out->targets[e];
            if (self->levels[v] > next) return refute(self, "no edge skips a level", (uint32_t)u, v);
            if (self->levels[v] == next) td_bit_set_atomic(self->followed, v);
        }
    }
    return TD_OK;
}

static td_status check_followed(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const search *self = context;
    for (uint64_t v = begin; v < end; v++) {
        if (v == self->source || self->levels[v] == UNREACHED || td_bit_get(self->followed, v)) continue;
        return td_refute("bfs", "a reached vertex has an in-neighbour on the level before",
                         "vertex %" PRIu64 " has level %" PRIu32 " and no such in-neighbour",
                         td_graph_id(self->graph, (uint32_t)v), self->levels[v]);
    }
    return TD_OK;
}

static td_status check_parent(const search *self, uint32_t v)
{
    const td_graph *graph = self->graph;
    uint32_t parent = self->parents[v];
    uint64_t id = td_graph_id(graph, v);
    if (self->levels[v] == UNREACHED) {
        if (parent == TD_NO_VERTEX) return TD_OK;
        return td_refute("bfs", "an unreached vertex has no parent",
                         "unreached vertex %" PRIu64 " has a parent, number %" PRIu32, id, parent);
    }
    if (parent >= graph->vertices)
        return td_refute("bfs", "a parent is a vertex",
                         "vertex %" PRIu64 " of level %" PRIu32 " has the parent number %" PRIu32, id, self->levels[v],
                         parent);
    if (v == self->source) {
        if (parent == v) return TD_OK;
        return td_refute("bfs", "the source is its own parent", "the parent of source %" PRIu64 " is %" PRIu64, id,
                         td_graph_id(graph, parent));
    }
    if (!td_parent_edge(graph, parent, v, NULL))
        return td_refute("bfs", "a parent is an in-neighbour",
                         "the parent of vertex %" PRIu64 " is %" PRIu64 ", but there is no edge %" PRIu64
                         " -> %" PRIu64,
                         id, td_graph_id(graph, parent), td_graph_id(graph, parent), id);
    if ((uint64_t)self->levels[parent] + 1 != self->levels[v])
        return refute(self, "a parent is on the level before", parent, v);
    return TD_OK;
}

static td_status check_parents(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(check_parent(context, (uint32_t)v));
    return TD_OK;
}

td_status td_verify_bfs(const td_graph *graph, uint32_t source, const uint32_t *levels, const uint32_t *parents,
                        td_pool *pool)
{
    td_status status = TD_OK;
    search self = {.graph = graph, .source = source, .levels = levels, .parents = parents};
    TD_CHECK(td_source_check(graph, source));
    if (levels[source] != 0)
        return td_refute("bfs", "the source has level 0", "source %" PRIu64 " has level %" PRIu32,
                         td_graph_id(graph, source), levels[source]);
    TD_CHECK(TD_NEW_ZEROED(&self.followed, td_bitmap_words(graph->vertices), "vertices with a proper level"));
    TD_TRY(td_over_edges(graph, TD_LIST_OUT, pool, follow_edges, &self));
    TD_TRY(td_over_vertices(graph, pool, check_followed, &self));
    if (parents != NULL) TD_TRY(td_over_edges(graph, td_parent_lists(graph), pool, check_parents, &self));
done:
    td_free(self.followed);
    return status;
}
