/* The claims of a resistor network's voltages:
 *
 *   1. a vertex that is held at a voltage has it;
 *   2. a vertex that no path joins with a held one has 0 volts;
 *   3. at every other vertex currents balance (Kirchhoff): the sum over its
 *      resistors of (v[j] - v[i]) / resistance, over the sum of 1 / resistance, is
 *      at most the tolerance. That quotient is the distance from v[i] to the
 *      weighted average of its neighbours, in volts.
 *
 * Parallel resistors count each; a loop carries no current but counts as a conductance
 * of its vertex, as often as it occurs in the lists. In addition to the tolerance,
 * 2^-52 of the largest held voltage is allowed for rounding per resistor.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

#include <math.h>

#define DOUBLE_ROUNDING 0x1p-52

typedef struct network {
    const td_graph *graph;
    const double *volts;
    const td_circuit_claim *claim;
    td_lists view;
    double largest;  /* the largest magnitude of a held voltage */
    uint32_t *roots; /* components */
    uint64_t *fed;   /* roots of components with a held vertex */
} network;

static td_status check_held(network *self)
{
    for (uint32_t v = 0; v < self->graph->vertices; v++) {
        double held = self->claim->held[v];
        if (isnan(held)) continue;
        if (self->volts[v] != held)
            return td_refute("circuit", "a held voltage is kept",
                             "vertex %" PRIu64 " has %.17g V, it is held at %.17g V", td_graph_id(self->graph, v),
                             self->volts[v], held);
        td_bit_set(self->fed, self->roots[v]);
        self->largest = fmax(self->largest, fabs(held));
    }
    return TD_OK;
}

static td_status check_balance(const network *self, uint32_t v)
{
    double current = 0, conductance = 0;
    uint64_t resistors = 0;
    for (int s = 0; s < self->view.count; s++) {
        const td_adjacency *list = self->view.lists[s];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            double g = 1 / td_edge_weight(self->graph, list, e);
            current += g * (self->volts[list->targets[e]] - self->volts[v]);
            conductance += g;
            resistors++;
        }
    }
    double seen = current / conductance;
    double allowed = self->claim->tolerance + DOUBLE_ROUNDING * (double)(resistors + 4) * self->largest;
    if (fabs(seen) <= allowed) return TD_OK;
    return td_refute("circuit", "currents balance",
                     "vertex %" PRIu64 " at %.17g V is %.3g V from balance, %.3g V are allowed",
                     td_graph_id(self->graph, v), self->volts[v], seen, allowed);
}

static td_status check_vertex(const network *self, uint32_t v)
{
    if (td_bit_get(self->fed, self->roots[v])) return isnan(self->claim->held[v]) ? check_balance(self, v) : TD_OK;
    if (self->volts[v] == 0) return TD_OK;
    return td_refute("circuit", "a vertex joined with no held one has 0 V", "vertex %" PRIu64 " has %.17g V",
                     td_graph_id(self->graph, v), self->volts[v]);
}

static td_status check_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(check_vertex(context, (uint32_t)v));
    return TD_OK;
}

td_status td_verify_circuit(const td_graph *graph, const double *volts, const td_circuit_claim *claim, td_pool *pool)
{
    td_status status = TD_OK;
    network self = {.graph = graph, .volts = volts, .claim = claim};
    TD_CHECK(td_undirected_view(graph, &self.view));
    if (graph->weights != TD_WEIGHT_NONE && graph->edges > 0 && graph->weight_min <= 0)
        return td_fail(TD_INVALID, "cannot verify circuit: resistances must be above 0, the least is %g",
                       graph->weight_min);
    TD_TRY(TD_NEW(&self.roots, graph->vertices, "component roots"));
    TD_TRY(TD_NEW_ZEROED(&self.fed, td_bitmap_words(graph->vertices), "components with a held vertex"));
    TD_TRY(td_components_find(graph, pool, self.roots));
    TD_TRY(check_held(&self));
    TD_TRY(td_over_edges(graph, td_view_lists(graph, &self.view) | TD_WITH_WEIGHTS, pool, check_vertices, &self));
done:
    td_free(self.roots);
    td_free(self.fed);
    return status;
}
