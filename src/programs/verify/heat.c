/* The claims of the heat equation:
 *
 *   1. where step times weighted degree is at most 1 everywhere (and no weight
 *      negative), no value leaves the range of the initial ones: each step only
 *      averages;
 *   2. values are those of a replay in doubles;
 *   3. the total is that of the initial values: one end of an edge gains what the
 *      other loses.
 *
 * Each claim allows for float rounding; 2 also for the general tolerance, so that 3
 * detects a small drift of all values. Loops carry no heat.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/replay.h"

typedef struct model {
    const td_heat_claim *claim;
    td_lists view;
} model;

static td_estimate step(const td_replay *replay, uint32_t v)
{
    const model *self = replay->model;
    td_estimate here = replay->now[v];
    double flow = 0, size = 0, error = 0, weights = 0, tau = self->claim->step;
    uint64_t terms = 0;
    for (int s = 0; s < self->view.count; s++) {
        const td_adjacency *list = self->view.lists[s];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            if (list->targets[e] == v) continue;
            double weight = td_edge_weight(replay->graph, list, e);
            td_estimate there = replay->now[list->targets[e]];
            flow += weight * (there.value - here.value);
            size += fabs(weight) * (fabs(there.value) + fabs(here.value));
            error += fabs(weight) * there.error;
            weights += weight;
            terms++;
        }
    }
    double rounding = td_float_rounding(terms) * (fabs(here.value) + fabs(tau) * size);
    return (td_estimate){here.value + tau * flow, fabs(1 - tau * weights) * here.error + fabs(tau) * error + rounding};
}

static double weighted_degree(const td_replay *replay, uint32_t v)
{
    const model *self = replay->model;
    double sum = 0;
    for (int s = 0; s < self->view.count; s++) {
        const td_adjacency *list = self->view.lists[s];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
            if (list->targets[e] != v) sum += td_edge_weight(replay->graph, list, e);
    }
    return sum;
}

typedef struct overshooting {
    const td_replay *replay;
    atomic_bool found;
} overshooting;

static td_status find_overshooting(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    overshooting *self = context;
    const model *of = self->replay->model;
    for (uint64_t v = begin; v < end; v++)
        if (of->claim->step * weighted_degree(self->replay, (uint32_t)v) > 1) self->found = true;
    return TD_OK;
}

static td_status check_range(const td_replay *replay, const float *values)
{
    const model *self = replay->model;
    const td_graph *graph = replay->graph;
    double low = INFINITY, high = -INFINITY;
    overshooting far = {.replay = replay};
    TD_CHECK(td_over_edges(graph, replay->lists, replay->pool, find_overshooting, &far));
    if (far.found || self->claim->step < 0 || graph->weight_min < 0) return TD_OK;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        low = fmin(low, self->claim->initial[v]);
        high = fmax(high, self->claim->initial[v]);
    }
    for (uint32_t v = 0; v < graph->vertices; v++) {
        double slack = replay->now[v].error;
        if ((double)values[v] >= low - slack && (double)values[v] <= high + slack) continue;
        return td_refute("heat", "no value leaves the range of the initial ones",
                         "vertex %" PRIu64 " has %.9g, the initial values lie in %.9g .. %.9g", td_graph_id(graph, v),
                         (double)values[v], low, high);
    }
    return TD_OK;
}

static double initial_term(const void *context, uint32_t v) { return ((const double *)context)[v]; }

static double value_term(const void *context, uint32_t v) { return (double)((const float *)context)[v]; }

static double error_term(const void *context, uint32_t v) { return ((const td_estimate *)context)[v].error; }

static td_status check_total(const td_replay *replay, const float *values)
{
    const model *self = replay->model;
    double before, after, allowed;
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, initial_term, self->claim->initial, &before));
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, value_term, values, &after));
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, error_term, replay->now, &allowed));
    if (fabs(after - before) <= allowed) return TD_OK;
    return td_refute("heat", "the total does not change",
                     "it was %.9g and is %.9g, %.3g apart where float rounding explains %.3g", before, after,
                     fabs(after - before), allowed);
}

static td_status verify(td_replay *replay, const float *values, const td_heat_claim *claim)
{
    TD_CHECK(td_replay_create(replay));
    td_replay_start(replay, claim->initial);
    TD_CHECK(td_replay_run(replay, claim->iterations));
    TD_CHECK(check_range(replay, values));
    TD_CHECK(td_replay_compare(replay, "values are those of the iterations replayed", values, TD_RESULT_TOLERANCE));
    return check_total(replay, values);
}

td_status td_verify_heat(const td_graph *graph, const float *values, const td_heat_claim *claim, td_pool *pool)
{
    model self = {.claim = claim};
    td_replay replay = {.program = "heat", .graph = graph, .pool = pool, .model = &self, .step = step};
    TD_CHECK(td_undirected_view(graph, &self.view));
    replay.lists = td_view_lists(graph, &self.view) | TD_WITH_WEIGHTS;
    td_status status = verify(&replay, values, claim);
    td_replay_destroy(&replay);
    return status;
}
