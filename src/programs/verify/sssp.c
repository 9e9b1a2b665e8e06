/* The claims of shortest paths:
 *
 *   1. distances are not negative, and the source has distance 0;
 *   2. no edge can relax: u -> v with u reached gives distance[v] <= distance[u] + w;
 *   3. every other reached vertex is reached from the source over tight edges,
 *      those with distance[v] = distance[u] + w;
 *   4. with parents: the parent of a reached vertex is a tight edge's source and
 *      parents lead to the source, which is its own; an unreached vertex has none.
 *
 * By 2 no distance is too large, by 3 none too small. A tight edge that rises
 * (distance[u] < distance[v]) cannot be part of a cycle, so most vertices prove
 * 3 by one such edge. Tight edges between equal distances (weight 0, or too small to
 * change a float) may form a cycle; along those edges a search from the proven
 * vertices decides.
 *
 * Distances in floats: an engine rounds each sum once, or a sum in doubles at
 * the end (then both ends of an edge are rounded). 2 and 3 allow twice that,
 * 2^-22 of the distance. A sum in doubles is rounded once, as here: 2 and 3 are
 * exact. So are integers.
 *
 * The bound: with r the relative error of a step (2^-22, 2^-53 or 0), a distance
 * is at least (1 - r)^k of the length of its tight path, and at most (1 + r)^k of
 * the shortest one, k the edges of that path: fewer than the vertices, and at most
 * the largest distance over the lightest weight.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

#include <math.h>

#define FLOAT_TOLERANCE 0x1p-22

typedef struct paths {
    const td_graph *graph;
    uint32_t source;
    td_value_kind kind;
    const void *distances;
    double tolerance;
    const uint32_t *parents;
    uint64_t *proven; /* vertices known to be reached over tight edges */
    td_queue queue;
    atomic_bool level_edges; /* some tight edge joins equal distances */
} paths;

static inline double distance(const paths *self, uint32_t v)
{
    uint64_t whole;
    if (self->kind == TD_VALUE_F64) return ((const double *)self->distances)[v];
    if (self->kind == TD_VALUE_F32) return (double)((const float *)self->distances)[v];
    if (self->kind == TD_VALUE_U32)
        whole = ((const uint32_t *)self->distances)[v] == TD_UNREACHED ? TD_UNREACHED_U64
                                                                       : ((const uint32_t *)self->distances)[v];
    else
        whole = ((const uint64_t *)self->distances)[v];
    return whole == TD_UNREACHED_U64 ? INFINITY : (double)whole;
}

static inline bool reached(const paths *self, uint32_t v) { return distance(self, v) < INFINITY; }

static inline bool tight(const paths *self, double through, double to)
{
    return fabs(through - to) <= self->tolerance * to;
}

/* 64-bit distances beyond 2^53 are no doubles: what exceeds the distance through an edge by less than a double shows. */
static inline int64_t beyond(const paths *self, uint32_t u, uint32_t v, double weight)
{
    const uint64_t *whole = self->distances;
    if (self->kind != TD_VALUE_U64 || whole[u] == TD_UNREACHED_U64 || whole[v] == TD_UNREACHED_U64) return 0;
    return (int64_t)(whole[v] - whole[u] - (uint64_t)weight);
}

/* The order of two distances, where doubles cannot tell: 64 bits. */
static inline bool rises(const paths *self, uint32_t u, uint32_t v)
{
    const uint64_t *whole = self->distances;
    return self->kind == TD_VALUE_U64 ? whole[u] < whole[v] : distance(self, u) < distance(self, v);
}

static inline bool level(const paths *self, uint32_t u, uint32_t v)
{
    const uint64_t *whole = self->distances;
    return self->kind == TD_VALUE_U64 ? whole[u] == whole[v] : distance(self, u) == distance(self, v);
}

static td_status refute_edge(const paths *self, const char *claim, uint32_t u, uint32_t v, double weight)
{
    return td_refute("sssp", claim,
                     "edge %" PRIu64 " -> %" PRIu64 " of weight %.9g leads from distance %.9g to distance %.9g",
                     td_graph_id(self->graph, u), td_graph_id(self->graph, v), weight, distance(self, u),
                     distance(self, v));
}

static td_status refute_vertex(const paths *self, const char *claim, uint32_t v, const char *why)
{
    return td_refute("sssp", claim, "vertex %" PRIu64 " has distance %.9g%s", td_graph_id(self->graph, v),
                     distance(self, v), why);
}

static td_status check_distance(const paths *self, uint32_t v)
{
    if (v == self->source && distance(self, v) != 0) return refute_vertex(self, "the source has distance 0", v, "");
    if (!(distance(self, v) >= 0)) return refute_vertex(self, "distances are not negative", v, "");
    return TD_OK;
}

/* Checks claims 1 and 2 at u, and marks the vertices that its edges prove for claim 3. */
static td_status follow_edges(paths *self, uint32_t u)
{
    const td_adjacency *out = &self->graph->out;
    double from = distance(self, u);
    TD_CHECK(check_distance(self, u));
    if (from == INFINITY) return TD_OK;
    for (uint64_t e = out->offsets[u]; e < out->offsets[u + 1]; e++) {
        uint32_t v = out->targets[e];
        double weight = td_edge_weight(self->graph, out, e), through = from + weight, to = distance(self, v);
        int64_t more = beyond(self, u, v, weight);
        if (to > through + self->tolerance * through || more > 0)
            return refute_edge(self, "no edge can relax", u, v, weight);
        if (self->proven == NULL || u == v || !tight(self, through, to) || more != 0) continue;
        if (rises(self, u, v)) td_bit_set_atomic(self->proven, v);
        else if (level(self, u, v)) atomic_store_explicit(&self->level_edges, true, memory_order_relaxed);
    }
    return TD_OK;
}

static td_status follow_all(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t u = begin; u < end; u++) TD_CHECK(follow_edges(context, (uint32_t)u));
    return TD_OK;
}

static void follow_level_edges(void *context, uint32_t u)
{
    paths *self = context;
    const td_adjacency *out = &self->graph->out;
    double here = distance(self, u);
    for (uint64_t e = out->offsets[u]; e < out->offsets[u + 1]; e++) {
        uint32_t v = out->targets[e];
        double weight = td_edge_weight(self->graph, out, e);
        if (!level(self, u, v) || !tight(self, here + weight, here) || beyond(self, u, v, weight) != 0) continue;
        if (td_bit_set_atomic(self->proven, v)) td_queue_put(&self->queue, v);
    }
}

static td_status prove_by_search(paths *self, td_pool *pool)
{
    TD_CHECK(td_queue_create(&self->queue, self->graph, "vertices to search from"));
    for (uint32_t v = 0; v < self->graph->vertices; v++)
        if (td_bit_get(self->proven, v)) td_queue_put(&self->queue, v);
    return td_queue_drain(&self->queue, self->graph, TD_LIST_OUT | TD_WITH_WEIGHTS, pool, follow_level_edges, self);
}

static td_status check_proven(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const paths *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (reached(self, (uint32_t)v) && !td_bit_get(self->proven, v))
            return refute_vertex(self, "a reached vertex is reached over tight edges", (uint32_t)v,
                                 ", but no path from the source has that length");
    return TD_OK;
}

static td_status check_tight_paths(paths *self, td_pool *pool)
{
    td_bit_set(self->proven, self->source);
    if (self->level_edges) TD_CHECK(prove_by_search(self, pool));
    return td_over_vertices(self->graph, pool, check_proven, self);
}

static td_status check_parent_edge(const paths *self, uint32_t parent, uint32_t v)
{
    const td_graph *graph = self->graph;
    uint64_t id = td_graph_id(graph, v);
    double weight;
    if (!td_parent_edge(graph, parent, v, &weight))
        return td_refute("sssp", "a parent is an in-neighbour",
                         "the parent of vertex %" PRIu64 " is %" PRIu64 ", but there is no edge %" PRIu64
                         " -> %" PRIu64,
                         id, td_graph_id(graph, parent), td_graph_id(graph, parent), id);
    double from = distance(self, parent), to = distance(self, v);
    if (rises(self, v, parent) || !tight(self, from + weight, to) || beyond(self, parent, v, weight) != 0)
        return refute_edge(self, "the edge from a parent is tight", parent, v, weight);
    return TD_OK;
}

static td_status check_parent(const paths *self, uint32_t v)
{
    uint32_t parent = self->parents[v];
    uint64_t id = td_graph_id(self->graph, v);
    if (!reached(self, v)) {
        if (parent == TD_NO_VERTEX) return TD_OK;
        return td_refute("sssp", "an unreached vertex has no parent",
                         "unreached vertex %" PRIu64 " has a parent, number %" PRIu32, id, parent);
    }
    if (parent >= self->graph->vertices)
        return td_refute("sssp", "a parent is a vertex",
                         "vertex %" PRIu64 " at distance %.9g has the parent number %" PRIu32, id, distance(self, v),
                         parent);
    if (v != self->source) return check_parent_edge(self, parent, v);
    if (parent == v) return TD_OK;
    return td_refute("sssp", "the source is its own parent", "the parent of source %" PRIu64 " is %" PRIu64, id,
                     td_graph_id(self->graph, parent));
}

static td_status check_parents(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(check_parent(context, (uint32_t)v));
    return TD_OK;
}

/* Distances never rise towards the source, so a cycle of parents has one distance: each
 * chain of parents with equal distances is walked once, to its upper end. */
static td_status check_chains(const paths *self)
{
    enum { UNSEEN, ON_THIS_WALK, ENDS_WELL };
    td_status status = TD_OK;
    uint8_t *marks = NULL;
    TD_CHECK(TD_NEW_ZEROED(&marks, self->graph->vertices, "parents seen"));
    marks[self->source] = ENDS_WELL;
    for (uint32_t v = 0; v < self->graph->vertices; v++) {
        if (!reached(self, v)) continue;
        uint32_t top = v;
        for (; marks[top] == UNSEEN && level(self, top, v); top = self->parents[top]) marks[top] = ON_THIS_WALK;
        if (marks[top] == ON_THIS_WALK)
            TD_TRY(refute_vertex(self, "parents lead to the source", top, " and is its own ancestor"));
        for (uint32_t u = v; marks[u] == ON_THIS_WALK; u = self->parents[u]) marks[u] = ENDS_WELL;
    }
done:
    td_free(marks);
    return status;
}

static td_status verify(paths *self, td_pool *pool)
{
    td_status status = TD_OK;
    const td_graph *graph = self->graph;
    TD_CHECK(td_source_check(graph, self->source));
    if (graph->weight_min < 0)
        return td_fail(TD_INVALID, "cannot verify sssp: the graph has negative weights, down to %g", graph->weight_min);
    if (self->parents == NULL)
        TD_TRY(TD_NEW_ZEROED(&self->proven, td_bitmap_words(graph->vertices), "vertices with a proper distance"));
    TD_TRY(td_over_edges(graph, TD_LIST_OUT | TD_WITH_WEIGHTS, pool, follow_all, self));
    if (self->parents == NULL) {
        TD_TRY(check_tight_paths(self, pool));
    } else {
        TD_TRY(td_over_edges(graph, td_parent_lists(graph) | TD_WITH_WEIGHTS, pool, check_parents, self));
        TD_TRY(check_chains(self));
    }
done:
    td_free(self->proven);
    td_queue_destroy(&self->queue);
    return status;
}

static double rounding_of(td_value_kind kind)
{
    return kind == TD_VALUE_F32 ? FLOAT_TOLERANCE : kind == TD_VALUE_F64 ? 0x1p-53 : 0;
}

/* The largest relative error of a result that fulfils the claims. */
static double error_bound(const paths *self)
{
    const td_graph *graph = self->graph;
    double step = rounding_of(self->kind), farthest = 0, lightest = graph->weights == TD_WEIGHT_NONE ? 1 : graph->weight_min;
    for (uint32_t v = 0; step > 0 && v < graph->vertices; v++)
        if (reached(self, v)) farthest = fmax(farthest, distance(self, v));
    double edges = graph->vertices - 1.0;
    if (lightest > 0) edges = fmin(edges, ceil(farthest / lightest * (1 + 0x1p-10)) + 1);
    return edges * step < 1 ? edges * step / (1 - edges * step) : (double)INFINITY;
}

td_status td_verify_sssp(const td_graph *graph, uint32_t source, td_value_kind kind, const void *distances,
                         const uint32_t *parents, td_pool *pool, double *bound)
{
    paths self = {.graph = graph, .source = source, .kind = kind, .distances = distances, .parents = parents,
                  .tolerance = kind == TD_VALUE_F32 ? FLOAT_TOLERANCE : 0};
    bool whole = kind == TD_VALUE_U32 || kind == TD_VALUE_U64;
    if (whole && td_weight_real(graph->weights))
        return td_fail(TD_INVALID, "cannot verify sssp: distances are integers, the graph's weights are floats");
    TD_CHECK(verify(&self, pool));
    if (bound != NULL) *bound = error_bound(&self);
    return TD_OK;
}
