/* The claims of a minimum spanning forest of the undirected view:
 *
 *   1. each edge is listed once and by the position that stands for it (no loop;
 *      source < target in a symmetric graph);
 *   2. the listed edges form no cycle;
 *   3. they span: every edge of the graph joins two vertices of one tree;
 *   4. they are minimal: any other edge comes after every edge on the path between
 *      its ends, in the order of (weight, position);
 *   5. the total weight is the sum of their weights.
 *
 * That order has no ties, so 4 (the cycle property) leaves exactly one forest,
 * Kruskal's. To check 4 for all edges in parallel, the listed edges are joined in
 * ascending order by union by size without path compression. Each vertex records the
 * edge that hung it under another; these edges ascend towards the root. The last edge
 * on the path between two vertices is the largest record on their paths to the lowest
 * common ancestor, at most log2(vertices) steps up.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/parts.h"

#include <math.h>
#include <stdio.h>

#define NEVER UINT32_MAX

typedef struct tree_edge {
    double weight;
    uint64_t position;
    uint32_t source, target;
} tree_edge;

typedef struct spanning {
    const td_graph *graph;
    uint64_t *listed; /* edge positions */
    tree_edge *tree;  /* ascending */
    uint64_t count;
    uint32_t *above; /* the vertex above; a root is its own */
    uint32_t *hung;  /* the tree edge that hung it there; NEVER for a root */
    uint32_t *size;
} spanning;

static td_status refute_edge(const spanning *self, const char *claim, const tree_edge *edge, const char *why)
{
    return td_refute("mst", claim, "edge %" PRIu64 " -> %" PRIu64 " of weight %.9g, position %" PRIu64 ", %s",
                     td_graph_id(self->graph, edge->source), td_graph_id(self->graph, edge->target), edge->weight,
                     edge->position, why);
}

/* An edge whose page is in memory. */
static tree_edge edge_at(const td_graph *graph, uint32_t source, uint64_t position)
{
    return (tree_edge){td_edge_weight(graph, &graph->out, position), position, source, graph->out.targets[position]};
}

static td_status mark_listed(spanning *self, const uint64_t *edges)
{
    for (uint64_t i = 0; i < self->count; i++) {
        if (edges[i] >= self->graph->edges)
            return td_refute("mst", "a listed edge is one of the graph's",
                             "position %" PRIu64 " is listed, the graph has %" PRIu64 " edges", edges[i],
                             self->graph->edges);
        if (td_bit_get(self->listed, edges[i]))
            return td_refute("mst", "an edge is listed once",
                             "position %" PRIu64 ", an edge of vertex %" PRIu64 ", is listed again", edges[i],
                             td_graph_id(self->graph, td_edge_source(self->graph, edges[i])));
        td_bit_set(self->listed, edges[i]);
    }
    return TD_OK;
}

static td_status check_represents(const spanning *self, const tree_edge *edge)
{
    if (edge->source == edge->target) return refute_edge(self, "no loop is listed", edge, "is one");
    if (self->graph->symmetric && edge->source > edge->target)
        return refute_edge(self, "an edge is listed where its source is before its target", edge, "is turned round");
    return TD_OK;
}

/* Collects the positions of the listed edges; their ends and weights are read afterwards. */
static void collect(spanning *self)
{
    const td_graph *graph = self->graph;
    uint64_t words = td_bitmap_words(graph->edges), found = 0;
    uint32_t source = 0;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t bits = self->listed[w]; bits != 0; bits &= bits - 1) {
            uint64_t position = w * 64 + (uint64_t)__builtin_ctzll(bits);
            while (graph->out.offsets[source + 1] <= position) source++;
            self->tree[found++] = (tree_edge){.position = position, .source = source};
        }
}

static td_status look_up(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const spanning *self = context;
    const td_graph *graph = self->graph;
    uint64_t low = 0, high = self->count;
    while (low < high) { /* the first of these vertices */
        uint64_t middle = low + (high - low) / 2;
        if (self->tree[middle].position < graph->out.offsets[begin]) low = middle + 1;
        else high = middle;
    }
    for (; low < self->count && self->tree[low].position < graph->out.offsets[end]; low++) {
        self->tree[low] = edge_at(graph, self->tree[low].source, self->tree[low].position);
        TD_CHECK(check_represents(self, &self->tree[low]));
    }
    return TD_OK;
}

static void merge(const tree_edge *from, tree_edge *to, uint64_t begin, uint64_t middle, uint64_t end)
{
    uint64_t left = begin, right = middle;
    for (uint64_t i = begin; i < end; i++) {
        bool take_left = left < middle && (right == end || from[left].weight <= from[right].weight);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* Sorts by weight; stable, so that equal weights stay in the order of positions. */
static td_status sort(spanning *self)
{
    tree_edge *other = NULL;
    TD_CHECK(TD_NEW(&other, self->count, "edges being sorted"));
    for (uint64_t run = 1; run < self->count; run *= 2) {
        for (uint64_t begin = 0; begin < self->count; begin += 2 * run) {
            uint64_t middle = begin + run < self->count ? begin + run : self->count;
            uint64_t end = begin + 2 * run < self->count ? begin + 2 * run : self->count;
            merge(self->tree, other, begin, middle, end);
        }
        tree_edge *sorted = other;
        other = self->tree;
        self->tree = sorted;
    }
    td_free(other);
    return TD_OK;
}

static uint32_t root_of(const spanning *self, uint32_t v)
{
    while (self->above[v] != v) v = self->above[v];
    return v;
}

static td_status join(spanning *self)
{
    for (uint32_t v = 0; v < self->graph->vertices; v++) {
        self->above[v] = v;
        self->hung[v] = NEVER;
        self->size[v] = 1;
    }
    for (uint64_t i = 0; i < self->count; i++) {
        const tree_edge *edge = &self->tree[i];
        uint32_t a = root_of(self, edge->source), b = root_of(self, edge->target);
        if (a == b)
            return refute_edge(self, "listed edges form no cycle", edge, "closes a cycle with lighter listed ones");
        uint32_t large = self->size[a] >= self->size[b] ? a : b, small = large == a ? b : a;
        self->above[small] = large;
        self->hung[small] = (uint32_t)i;
        self->size[large] += self->size[small];
    }
    return TD_OK;
}

/* The last edge of the tree on the path between two vertices; NEVER if there is no path. */
static uint32_t last_on_path(const spanning *self, uint32_t u, uint32_t v)
{
    uint32_t last = NEVER;
    while (u != v) {
        uint32_t *lower = self->hung[u] < self->hung[v] ? &u : &v;
        last = self->hung[*lower];
        if (last == NEVER) return NEVER;
        *lower = self->above[*lower];
    }
    return last;
}

static td_status check_outside(const spanning *self, const tree_edge *edge)
{
    const td_graph *graph = self->graph;
    uint32_t last = last_on_path(self, edge->source, edge->target);
    if (last == NEVER) return refute_edge(self, "the listed edges span the graph", edge, "joins two trees");
    const tree_edge *path = &self->tree[last];
    if (edge->weight > path->weight || (edge->weight == path->weight && edge->position > path->position)) return TD_OK;
    char why[160];
    snprintf(why, sizeof why, "should replace edge %" PRIu64 " -> %" PRIu64 " of weight %.9g, position %" PRIu64,
             td_graph_id(graph, path->source), td_graph_id(graph, path->target), path->weight, path->position);
    return refute_edge(self, "no edge outside comes before one on the path between its ends", edge, why);
}

static td_status check_all_outside(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const spanning *self = context;
    const td_adjacency *out = &self->graph->out;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
            uint32_t target = out->targets[e];
            if (target == v || (self->graph->symmetric && target < v) || td_bit_get(self->listed, e)) continue;
            tree_edge edge = edge_at(self->graph, (uint32_t)v, e);
            TD_CHECK(check_outside(self, &edge));
        }
    return TD_OK;
}

/* Integers add up exactly in doubles below 2^53; beyond, and for floats, a sum
 * of n terms in any order is within n 2^-53 of the sum of their magnitudes. */
static td_status check_total(const spanning *self, double total_weight)
{
    long double sum = 0, size = 0;
    for (uint64_t i = 0; i < self->count; i++) {
        sum += (long double)self->tree[i].weight;
        size += fabsl((long double)self->tree[i].weight);
    }
    bool exact = !td_weight_real(self->graph->weights) && size < 0x1p53L;
    long double allowed = exact ? 0 : size * (long double)self->count * 0x1p-53L;
    if (fabsl((long double)total_weight - sum) <= allowed) return TD_OK;
    return td_refute("mst", "the total is the sum of the listed weights", "the total given is %.17g, the sum is %.17Lg",
                     total_weight, sum);
}

static td_status verify(spanning *self, const uint64_t *edges, double total_weight, td_pool *pool)
{
    const td_graph *graph = self->graph;
    TD_CHECK(TD_NEW_ZEROED(&self->listed, td_bitmap_words(graph->edges), "listed edges"));
    TD_CHECK(mark_listed(self, edges));
    TD_CHECK(TD_NEW(&self->tree, self->count, "listed edges"));
    collect(self);
    TD_CHECK(td_over_edges(graph, TD_LIST_OUT | TD_WITH_WEIGHTS, pool, look_up, self));
    TD_CHECK(sort(self));
    TD_CHECK(TD_NEW(&self->above, graph->vertices, "forest"));
    TD_CHECK(TD_NEW(&self->hung, graph->vertices, "forest"));
    TD_CHECK(TD_NEW(&self->size, graph->vertices, "tree sizes"));
    TD_CHECK(join(self));
    TD_CHECK(td_over_edges(graph, TD_LIST_OUT | TD_WITH_WEIGHTS, pool, check_all_outside, self));
    return check_total(self, total_weight);
}

td_status td_verify_mst(const td_graph *graph, const uint64_t *edges, uint64_t count, double total_weight,
                        td_pool *pool)
{
    spanning self = {.graph = graph, .count = count};
    if (count > 0 && count >= graph->vertices)
        return td_refute("mst", "a forest has fewer edges than vertices",
                         "%" PRIu64 " edges are listed, the graph has %" PRIu32 " vertices", count, graph->vertices);
    td_status status = verify(&self, edges, total_weight, pool);
    td_free(self.listed);
    td_free(self.tree);
    td_free(self.above);
    td_free(self.hung);
    td_free(self.size);
    return status;
}
