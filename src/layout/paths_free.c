/* Joining without the rule of one pass: at every vertex as many in-edges are continued by out-edges as there are of
 * both. That leaves the fewest paths that there can be, and cycles. Two cycles, or a cycle and a path, that meet at a
 * vertex become one when they exchange their continuations there (Hierholzer), so in the end a cycle is left only
 * where nothing else touches it. Edges have 32-bit numbers here: `merge=free` is for graphs below 2^32 edges. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

enum { OPEN = 0 }; /* the class of all paths that have a beginning and an end; cycles have classes from 1 on */

typedef struct pairing {
    td_path_job *job;
    uint32_t *class_of; /* edges */
    uint32_t *parent;   /* classes: union and find */
    uint32_t *some;     /* classes: an edge of the cycle */
    uint32_t classes;
} pairing;

static td_status find_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_path_job *job = context;
    const td_adjacency *out = &job->graph->out;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
            bool parallel = e > out->offsets[v] && out->targets[e] == out->targets[e - 1];
            job->passes.place[e] = parallel ? job->passes.place[e - 1] + 1
                                            : (uint32_t)td_edge_place(job->graph, (uint32_t)v, out->targets[e]);
        }
    return TD_OK;
}

static void continue_by(td_path_passes *passes, uint64_t edge, uint64_t next)
{
    passes->before[next] = (uint32_t)edge;
    td_bit_set_atomic(passes->followed, edge);
}

/* Pairs the edges of a vertex. The out-lists are taken from the second on: lists of both directions have the same order
 * in a symmetric graph, where an edge would be continued by its reverse. */
static void pair_at(td_path_job *job, uint32_t v)
{
    td_path_passes *passes = &job->passes;
    const td_adjacency *in = &job->graph->in, *out = &job->graph->out;
    uint64_t k = in->offsets[v], last = in->offsets[v + 1], degree = td_degree(out, v);
    if (td_passed(passes, v)) continue_by(passes, passes->enters[v], passes->leaves[v]);
    for (uint64_t i = 0; i < degree; i++) {
        uint64_t next = passes->place[out->offsets[v] + (i + 1) % degree];
        if (k < last && k == passes->enters[v]) k++;
        if (k >= last) return;
        if (next != passes->leaves[v]) continue_by(passes, k++, next);
    }
}

static td_status pair_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t v = begin; v < end; v++) pair_at(context, (uint32_t)v);
    return TD_OK;
}

/* Walks a path back from its last edge. */
static td_status mark_open(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    pairing *self = context;
    const td_path_passes *passes = &self->job->passes;
    for (uint64_t k = begin; k < end; k++) {
        if (td_bit_get(passes->followed, k)) continue;
        for (uint32_t edge = (uint32_t)k; edge != TD_NONE_BEFORE; edge = passes->before[edge])
            self->class_of[edge] = OPEN;
    }
    return TD_OK;
}

static td_status new_class(pairing *self, uint32_t edge, uint32_t *room)
{
    if (self->classes == *room) {
        *room = *room < UINT32_MAX / 2 ? 2 * *room : UINT32_MAX;
        TD_CHECK(TD_RESIZE(&self->parent, *room, "cycles of edges"));
        TD_CHECK(TD_RESIZE(&self->some, *room, "edges of cycles"));
    }
    self->parent[self->classes] = self->classes;
    self->some[self->classes++] = edge;
    return TD_OK;
}

/* What no path has is on a cycle. */
static td_status number_cycles(pairing *self)
{
    const td_path_passes *passes = &self->job->passes;
    uint32_t room = 1024, edges = (uint32_t)self->job->graph->edges;
    TD_CHECK(TD_NEW(&self->parent, room, "cycles of edges"));
    TD_CHECK(TD_NEW(&self->some, room, "edges of cycles"));
    TD_CHECK(new_class(self, 0, &room));
    for (uint32_t k = 0; k < edges; k++) {
        if (self->class_of[k] != UINT32_MAX) continue;
        uint32_t edge = k;
        do {
            self->class_of[edge] = self->classes;
            edge = passes->before[edge];
        } while (edge != k);
        TD_CHECK(new_class(self, k, &room));
    }
    return TD_OK;
}

static uint32_t find(uint32_t *parent, uint32_t one)
{
    while (parent[one] != one) one = parent[one] = parent[parent[one]];
    return one;
}

static void unite(pairing *self, uint32_t one, uint32_t other)
{
    if (one < other) self->parent[other] = one;
    else self->parent[one] = other;
}

static void exchange(td_path_passes *passes, uint32_t one, uint32_t other)
{
    uint32_t before = passes->before[one];
    passes->before[one] = passes->before[other];
    passes->before[other] = before;
}

/* A path ends at the vertex: it goes on by `edge`, and what came before `edge` ends instead. */
static bool end_elsewhere(pairing *self, uint32_t v, uint32_t edge)
{
    td_path_passes *passes = &self->job->passes;
    const td_adjacency *in = &self->job->graph->in;
    for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++)
        if (!td_bit_get(passes->followed, k)) {
            td_bit_clear(passes->followed, passes->before[edge]);
            passes->before[edge] = (uint32_t)k;
            td_bit_set(passes->followed, k);
            return true;
        }
    return false;
}

/* Makes one of all cycles that meet at a vertex, and of these and a path if there is one. */
static void unite_at(pairing *self, uint32_t v)
{
    td_path_passes *passes = &self->job->passes;
    const td_adjacency *out = &self->job->graph->out;
    uint32_t class_before = UINT32_MAX, before = 0;
    for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
        uint32_t edge = passes->place[e], class_here = find(self->parent, self->class_of[edge]);
        if (class_before != UINT32_MAX && class_here != class_before) {
            exchange(passes, before, edge);
            unite(self, class_before, class_here);
            class_here = find(self->parent, class_here);
        }
        class_before = class_here;
        before = edge;
    }
    if (class_before == UINT32_MAX || class_before == OPEN || td_degree(&self->job->graph->in, v) <= td_degree(out, v))
        return;
    if (end_elsewhere(self, v, before)) unite(self, OPEN, class_before);
}

/* Cycles that are left become paths from a vertex to itself. */
static void cut_cycles(pairing *self)
{
    td_path_passes *passes = &self->job->passes;
    for (uint32_t c = 1; c < self->classes; c++) {
        uint32_t edge = self->some[c];
        if (find(self->parent, c) != c) continue;
        td_bit_clear(passes->followed, passes->before[edge]);
        passes->before[edge] = TD_NONE_BEFORE;
    }
}

static td_status join_cycles(td_path_job *job)
{
    td_status status = TD_OK;
    pairing self = {.job = job};
    uint64_t edges = job->graph->edges;
    TD_TRY(TD_NEW(&self.class_of, edges, "paths of edges"));
    for (uint64_t k = 0; k < edges; k++) self.class_of[k] = UINT32_MAX;
    TD_TRY(td_pool_for(job->pool, edges, TD_PATH_GRAIN, mark_open, &self));
    TD_TRY(number_cycles(&self));
    if (self.classes > 1)
        for (uint32_t v = 0; v < job->graph->vertices; v++) unite_at(&self, v);
    cut_cycles(&self);
done:
    td_free(self.class_of);
    td_free(self.parent);
    td_free(self.some);
    return status;
}

/* Cuts paths that are too long. */

typedef struct cuts {
    td_path_job *job;
    const uint64_t *last; /* bitmap: edges that are the last of their paths before any is cut */
} cuts;

static td_status cut_paths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const cuts *self = context;
    td_path_passes *passes = &self->job->passes;
    for (uint64_t k = begin; k < end; k++) {
        uint64_t edges = 1;
        if (!td_bit_get(self->last, k)) continue;
        for (uint32_t edge = (uint32_t)k, before; (before = passes->before[edge]) != TD_NONE_BEFORE; edge = before)
            if (edges++ == self->job->options.longest) {
                passes->before[edge] = TD_NONE_BEFORE;
                td_bit_clear_atomic(passes->followed, before);
                edges = 1;
            }
    }
    return TD_OK;
}

static td_status shorten(td_path_job *job)
{
    td_status status = TD_OK;
    uint64_t *last = NULL, words = td_bitmap_words(job->graph->edges);
    if (job->options.longest == 0) return TD_OK;
    TD_TRY(TD_NEW(&last, words, "ends of paths"));
    for (uint64_t w = 0; w < words; w++) last[w] = ~job->passes.followed[w];
    TD_TRY(td_pool_for(job->pool, job->graph->edges, TD_PATH_GRAIN, cut_paths, &(cuts){job, last}));
done:
    td_free(last);
    return status;
}

td_status td_paths_join_free(td_path_job *job)
{
    const td_graph *graph = job->graph;
    td_path_passes *passes = &job->passes;
    if (graph->edges >= UINT32_MAX)
        return td_fail(TD_LIMIT, "paths.merge=free is for graphs below %u edges; this one has %llu. Use paths.merge=on",
                       UINT32_MAX, (unsigned long long)graph->edges);
    TD_CHECK(TD_NEW(&passes->place, graph->edges, "places of out-edges"));
    TD_CHECK(TD_NEW(&passes->before, graph->edges, "edges before edges"));
    TD_CHECK(TD_NEW_ZEROED(&passes->followed, td_bitmap_words(graph->edges), "edges that are continued"));
    for (uint64_t k = 0; k < graph->edges; k++) passes->before[k] = TD_NONE_BEFORE;
    TD_CHECK(td_pool_for(job->pool, graph->vertices, TD_PATH_GRAIN, find_places, job));
    TD_CHECK(td_pool_for(job->pool, graph->vertices, TD_PATH_GRAIN, pair_edges, job));
    TD_CHECK(join_cycles(job));
    return shorten(job);
}
