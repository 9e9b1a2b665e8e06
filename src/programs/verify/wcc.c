/* The claims of weakly connected components:
 *
 *   1. a label is the number of a vertex, whose id is not larger than the vertex's own;
 *   2. no edge joins two labels;
 *   3. a vertex and the vertex named by its label are in the same component, by
 *      an independent union-find.
 *
 * By 2 a component has one label, by 3 the label is inside the component, by 1
 * it is the smallest vertex there.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

typedef struct labelling {
    const td_graph *graph;
    const uint32_t *labels;
    uint32_t *roots;
} labelling;

static td_status check_labels(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const labelling *self = context;
    const td_graph *graph = self->graph;
    for (uint64_t v = begin; v < end; v++)
        if (self->labels[v] >= graph->vertices ||
            td_graph_id(graph, self->labels[v]) > td_graph_id(graph, (uint32_t)v))
            return td_refute("wcc", "a label is the number of a vertex not behind its own",
                             "vertex %" PRIu64 ", number %" PRIu64 ", has the label %" PRIu32,
                             td_graph_id(self->graph, (uint32_t)v), v, self->labels[v]);
    return TD_OK;
}

static td_status check_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const labelling *self = context;
    const td_graph *graph = self->graph;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            uint32_t target = graph->out.targets[e];
            if (self->labels[v] == self->labels[target]) continue;
            return td_refute("wcc", "no edge joins two labels",
                             "edge %" PRIu64 " -> %" PRIu64 " joins the labels %" PRIu32 " and %" PRIu32,
                             td_graph_id(graph, (uint32_t)v), td_graph_id(graph, target), self->labels[v],
                             self->labels[target]);
        }
    return TD_OK;
}

static td_status check_connected(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const labelling *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (self->roots[v] != self->roots[self->labels[v]])
            return td_refute(
                "wcc", "equal labels are connected",
                "no path joins vertex %" PRIu64 " with %" PRIu64 ", which its label %" PRIu32 " stands for",
                td_graph_id(self->graph, (uint32_t)v), td_graph_id(self->graph, self->labels[v]), self->labels[v]);
    return TD_OK;
}

td_status td_verify_wcc(const td_graph *graph, const uint32_t *labels, td_pool *pool)
{
    td_status status = TD_OK;
    labelling self = {.graph = graph, .labels = labels};
    TD_CHECK(td_over_vertices(graph, pool, check_labels, &self));
    TD_CHECK(td_over_edges(graph, TD_LIST_OUT, pool, check_edges, &self));
    TD_CHECK(TD_NEW(&self.roots, graph->vertices, "component roots"));
    TD_TRY(td_components_find(graph, pool, self.roots));
    TD_TRY(td_over_vertices(graph, pool, check_connected, &self));
done:
    td_free(self.roots);
    return status;
}
