/* The claims of core numbers, a proof from both sides (compare Batagelj and
 * Zaversnik, 2003, who compute them):
 *
 *   1. a vertex of core k has at least k neighbours of core k or more, so the
 *      vertices of core k or more do form a k-core: no number is too large;
 *   2. among the vertices of core k or more, repeatedly removing vertices with at
 *      most k such neighbours removes every vertex of core k: no number is too
 *      small.
 *
 * Neighbours are those of the undirected view, parallel edges counted each,
 * loops not at all. For the in-degree core they are the sources of in-edges, and a
 * removal lowers the counts of the out-neighbours.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

typedef struct peeling {
    const td_graph *graph;
    const uint32_t *cores;
    td_lists support, dependents; /* lists of the neighbours that count for v, and of the vertices that v counts for */
    uint64_t *held;                    /* remaining neighbours that count for v */
    td_queue fallen;
} peeling;

static uint64_t count_support(const peeling *self, uint32_t v)
{
    uint64_t count = 0;
    for (int s = 0; s < self->support.count; s++) {
        const td_adjacency *list = self->support.lists[s];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
            count += list->targets[e] != v && self->cores[list->targets[e]] >= self->cores[v];
    }
    return count;
}

static td_status check_support(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    peeling *self = context;
    for (uint64_t v = begin; v < end; v++) {
        self->held[v] = count_support(self, (uint32_t)v);
        if (self->held[v] < self->cores[v])
            return td_refute("kcore", "a vertex of core k has k neighbours of core k or more",
                             "vertex %" PRIu64 " of core %" PRIu32 " has %" PRIu64,
                             td_graph_id(self->graph, (uint32_t)v), self->cores[v], self->held[v]);
        if (self->held[v] == self->cores[v]) td_queue_put(&self->fallen, (uint32_t)v);
    }
    return TD_OK;
}

static void let_down(void *context, uint32_t v)
{
    peeling *self = context;
    for (int s = 0; s < self->dependents.count; s++) {
        const td_adjacency *list = self->dependents.lists[s];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            uint32_t u = list->targets[e];
            if (u == v || self->cores[u] != self->cores[v]) continue;
            uint64_t before = __atomic_fetch_sub(&self->held[u], 1, __ATOMIC_RELAXED);
            if (before == (uint64_t)self->cores[u] + 1) td_queue_put(&self->fallen, u);
        }
    }
}

static td_status check_fallen(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const peeling *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (self->held[v] > self->cores[v])
            return td_refute("kcore", "no vertex of core k is left when more than k neighbours are asked for",
                             "vertex %" PRIu64 " of core %" PRIu32 " keeps %" PRIu64,
                             td_graph_id(self->graph, (uint32_t)v), self->cores[v], self->held[v]);
    return TD_OK;
}

td_status td_verify_kcore(const td_graph *graph, const uint32_t *cores, bool in_degree_only, td_pool *pool)
{
    td_status status = TD_OK;
    peeling self = {.graph = graph, .cores = cores};
    TD_CHECK(td_undirected_view(graph, &self.support));
    self.dependents = self.support;
    if (in_degree_only) {
        self.support = (td_lists){{&graph->in}, 1};
        self.dependents = (td_lists){{&graph->out}, 1};
    }
    TD_TRY(TD_NEW(&self.held, graph->vertices, "neighbours standing"));
    TD_TRY(td_queue_create(&self.fallen, graph, "fallen vertices"));
    TD_TRY(td_over_edges(graph, td_view_lists(graph, &self.support), pool, check_support, &self));
    TD_TRY(td_queue_drain(&self.fallen, graph, td_view_lists(graph, &self.dependents), pool, let_down, &self));
    TD_TRY(td_over_vertices(graph, pool, check_fallen, &self));
done:
    td_free(self.held);
    td_queue_destroy(&self.fallen);
    return status;
}
