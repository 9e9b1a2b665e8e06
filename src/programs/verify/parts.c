#include "programs/verify/parts.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

enum { VERTICES_AT_A_TIME = 4096, VISITS_AT_A_TIME = 256, PAGED_AT_A_TIME = 512 };

td_status td_refute(const char *program, const char *claim, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return td_fail(TD_VERIFY, "%s: the claim '%s' fails: %s", program, claim, text);
}

td_status td_source_check(const td_graph *graph, uint32_t source)
{
    if (source < graph->vertices) return TD_OK;
    return td_fail(TD_INVALID, "cannot verify: the source has number %" PRIu32 ", the graph has %" PRIu32 " vertices",
                   source, graph->vertices);
}

td_status td_in_lists_check(const td_graph *graph)
{
    if (graph->in.offsets != NULL) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "cannot verify: %s was built without its in-adjacency",
                   graph->name != NULL ? graph->name : "the graph");
}

uint64_t td_edge_find(const td_adjacency *adjacency, uint32_t source, uint32_t target)
{
    uint64_t low = adjacency->offsets[source], end = adjacency->offsets[source + 1], high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (adjacency->targets[middle] < target) low = middle + 1;
        else high = middle;
    }
    return low < end && adjacency->targets[low] == target ? low : UINT64_MAX;
}

unsigned td_parent_lists(const td_graph *graph) { return graph->in.offsets != NULL ? TD_LIST_IN : TD_LIST_OUT; }

bool td_parent_edge(const td_graph *graph, uint32_t parent, uint32_t v, double *weight)
{
    bool in = graph->in.offsets != NULL;
    const td_adjacency *list = in ? &graph->in : &graph->out;
    uint64_t e = in ? td_edge_find(list, v, parent) : td_edge_find(list, parent, v);
    if (e != UINT64_MAX && weight != NULL) *weight = td_edge_weight(graph, list, e);
    return e != UINT64_MAX;
}

unsigned td_view_lists(const td_graph *graph, const td_lists *view)
{
    unsigned lists = 0;
    for (int s = 0; s < view->count; s++) lists |= view->lists[s] == &graph->out ? TD_LIST_OUT : TD_LIST_IN;
    return lists;
}

td_status td_undirected_view(const td_graph *graph, td_lists *view)
{
    TD_CHECK(td_in_lists_check(graph));
    *view = (td_lists){{&graph->out, &graph->in}, graph->symmetric ? 1 : 2};
    return TD_OK;
}

td_status td_over_vertices(const td_graph *graph, td_pool *pool, td_range_fn work, void *context)
{
    bool worth_waking = graph->vertices > VERTICES_AT_A_TIME;
    return td_pool_for(worth_waking ? pool : NULL, graph->vertices, VERTICES_AT_A_TIME, work, context);
}

td_status td_over_edges(const td_graph *graph, unsigned lists, td_pool *pool, td_range_fn work, void *context)
{
    if (graph->paged == NULL) return td_over_vertices(graph, pool, work, context);
    return td_graph_for_vertices(graph, lists & TD_LIST_BOTH, lists & TD_WITH_WEIGHTS, pool, PAGED_AT_A_TIME, work,
                                 context);
}

/* Each chunk of vertices has a partial sum, and the partial sums are added in order. */
typedef struct summing {
    td_term_fn term;
    const void *context;
    double *parts;
} summing;

static td_status sum_chunk(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    summing *self = context;
    double sum = 0;
    for (uint64_t v = begin; v < end; v++) sum += self->term(self->context, (uint32_t)v);
    self->parts[begin / VERTICES_AT_A_TIME] = sum;
    return TD_OK;
}

td_status td_sum_vertices(const td_graph *graph, td_pool *pool, td_term_fn term, const void *context, double *sum)
{
    td_status status = TD_OK;
    summing self = {.term = term, .context = context};
    uint64_t chunks = (uint64_t)graph->vertices / VERTICES_AT_A_TIME + 1;
    TD_CHECK(TD_NEW_ZEROED(&self.parts, chunks, "partial sums"));
    TD_TRY(td_over_vertices(graph, pool, sum_chunk, &self));
    *sum = 0;
    for (uint64_t c = 0; c < chunks; c++) *sum += self.parts[c];
done:
    td_free(self.parts);
    return status;
}

typedef struct wave {
    const uint32_t *items;
    td_visit_fn visit;
    void *context;
} wave;

static td_status visit_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    wave *self = context;
    for (uint64_t i = begin; i < end; i++) self->visit(self->context, self->items[i]);
    return TD_OK;
}

td_status td_queue_create(td_queue *queue, const td_graph *graph, const char *what)
{
    if (graph->paged == NULL) return TD_NEW(&queue->items, graph->vertices, what);
    return TD_NEW_ZEROED(&queue->waiting, td_bitmap_words(graph->vertices), what);
}

void td_queue_destroy(td_queue *queue)
{
    td_free(queue->items);
    td_free(queue->waiting);
}

typedef struct page_wave {
    td_queue *queue;
    td_visit_fn visit;
    void *context;
} page_wave;

static td_status visit_waiting(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    page_wave *self = context;
    for (uint64_t w = begin / 64; w < td_bitmap_words(end); w++)
        for (uint64_t bits = __atomic_exchange_n(&self->queue->waiting[w], 0, __ATOMIC_RELAXED); bits != 0;
             bits &= bits - 1)
            self->visit(self->context, (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(bits)));
    return TD_OK;
}

/* Visits a page until no vertex in it waits; vertices that wait in earlier pages are visited in the next pass. */
static td_status drain_pages(td_queue *queue, const td_graph *graph, unsigned lists, td_pool *pool, td_visit_fn visit,
                             void *context)
{
    page_wave now = {queue, visit, context};
    while (atomic_exchange(&queue->count, 0) > 0)
        TD_CHECK(td_paged_for_marked(graph, lists & TD_LIST_BOTH, lists & TD_WITH_WEIGHTS, queue->waiting, pool,
                                     PAGED_AT_A_TIME, visit_waiting, &now));
    return TD_OK;
}

td_status td_queue_drain(td_queue *queue, const td_graph *graph, unsigned lists, td_pool *pool, td_visit_fn visit,
                         void *context)
{
    if (graph->paged != NULL) return drain_pages(queue, graph, lists, pool, visit, context);
    for (uint64_t begin = 0, end; begin < (end = queue->count); begin = end) {
        wave now = {queue->items + begin, visit, context};
        bool worth_waking = end - begin > VISITS_AT_A_TIME;
        TD_CHECK(td_pool_for(worth_waking ? pool : NULL, end - begin, VISITS_AT_A_TIME, visit_some, &now));
    }
    return TD_OK;
}

/* Roots hook onto smaller roots only, so that no cycle can arise and the last
 * root of a component is its smallest vertex (Jayanti and Tarjan, 2016). */
typedef struct forest {
    const td_graph *graph;
    uint32_t *parents;
} forest;

static uint32_t parent_of(const forest *self, uint32_t v)
{
    return __atomic_load_n(&self->parents[v], __ATOMIC_RELAXED);
}

static bool replace_parent(forest *self, uint32_t v, uint32_t old, uint32_t new)
{
    return __atomic_compare_exchange_n(&self->parents[v], &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static uint32_t find_root(forest *self, uint32_t v)
{
    for (;;) {
        uint32_t parent = parent_of(self, v);
        if (parent == v) return v;
        uint32_t grandparent = parent_of(self, parent);
        if (grandparent != parent) replace_parent(self, v, parent, grandparent);
        v = grandparent;
    }
}

static void join(forest *self, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_root(self, a);
        b = find_root(self, b);
        if (a == b) return;
        if (a < b ? replace_parent(self, b, b, a) : replace_parent(self, a, a, b)) return;
    }
}

static td_status plant(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    forest *self = context;
    for (uint64_t v = begin; v < end; v++) self->parents[v] = (uint32_t)v;
    return TD_OK;
}

static td_status join_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    forest *self = context;
    const td_adjacency *out = &self->graph->out;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
            if (self->graph->symmetric && out->targets[e] > v) break; /* the other end has the edge too */
            join(self, (uint32_t)v, out->targets[e]);
        }
    return TD_OK;
}

static td_status point_at_roots(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    forest *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t root = find_root(self, (uint32_t)v);
        __atomic_store_n(&self->parents[v], root, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

td_status td_components_find(const td_graph *graph, td_pool *pool, uint32_t *roots)
{
    forest self = {graph, roots};
    TD_CHECK(td_over_vertices(graph, pool, plant, &self));
    TD_CHECK(td_over_edges(graph, TD_LIST_OUT, pool, join_lists, &self));
    return td_over_vertices(graph, pool, point_at_roots, &self);
}
