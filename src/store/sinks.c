#include "store/sinks.h"

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>

enum { VERTICES_AT_A_TIME = 1 << 12 };

typedef struct division {
    const td_graph *graph;
    td_graph *kept, *tails;
    uint64_t weight; /* bytes of a weight */
} division;

static bool is_sink(const td_graph *graph, uint64_t v) { return td_degree(&graph->out, (uint32_t)v) == 0; }

static td_status count_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    division *self = context;
    const td_graph *graph = self->graph;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t tails = 0;
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            tails += is_sink(graph, graph->out.targets[e]);
        self->tails->out.offsets[v + 1] = tails;
        self->kept->out.offsets[v + 1] = td_degree(&graph->out, (uint32_t)v) - tails;
        if (graph->in.offsets != NULL)
            self->kept->in.offsets[v + 1] = is_sink(graph, v) ? 0 : td_degree(&graph->in, (uint32_t)v);
    }
    return TD_OK;
}

static void copy_edges(const division *self, const td_adjacency *from, uint64_t first, td_adjacency *to, uint64_t at,
                       uint64_t count)
{
    memcpy(to->targets + at, from->targets + first, count * sizeof *to->targets);
    if (to->weights == NULL) return;
    memcpy((char *)to->weights + at * self->weight, (const char *)from->weights + first * self->weight,
           count * self->weight);
}

static td_status copy_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    division *self = context;
    const td_graph *graph = self->graph;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t kept = self->kept->out.offsets[v], tails = self->tails->out.offsets[v];
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            bool leads = is_sink(graph, graph->out.targets[e]);
            copy_edges(self, &graph->out, e, leads ? &self->tails->out : &self->kept->out, leads ? tails++ : kept++, 1);
        }
        if (graph->in.offsets == NULL || is_sink(graph, v)) continue;
        copy_edges(self, &graph->in, graph->in.offsets[v], &self->kept->in, self->kept->in.offsets[v],
                   td_degree(&graph->in, (uint32_t)v));
    }
    return TD_OK;
}

static td_status make_edges(td_adjacency *lists, uint64_t edges, uint64_t weight)
{
    TD_CHECK(TD_NEW(&lists->targets, edges, "lists without sinks"));
    return weight == 0 ? TD_OK : td_new_bytes(&lists->weights, edges, weight, "lists without sinks");
}

static void add_up(uint64_t *offsets, uint64_t vertices)
{
    offsets[0] = 0;
    for (uint64_t v = 0; v < vertices; v++) offsets[v + 1] += offsets[v];
}

static td_status make_graph(td_graph **out, const td_graph *graph, bool has_in)
{
    uint64_t places = graph->vertices + UINT64_C(1);
    td_graph *made;
    TD_CHECK(TD_NEW_ZEROED(out, 1, "graph without sinks"));
    made = *out;
    made->vertices = graph->vertices;
    made->weights = graph->weights;
    made->weight_min = graph->weight_min;
    made->weight_max = graph->weight_max;
    made->id_base = graph->id_base;
    TD_CHECK(TD_NEW(&made->out.offsets, places, "lists without sinks"));
    return has_in ? TD_NEW(&made->in.offsets, places, "lists without sinks") : TD_OK;
}

static td_status divide(const td_graph *graph, td_pool *pool, td_graph **out)
{
    td_status status = TD_OK;
    bool has_in = graph->in.offsets != NULL;
    division self = {.graph = graph, .weight = td_weight_bytes(graph->weights)};
    TD_TRY(make_graph(&self.kept, graph, has_in));
    TD_TRY(make_graph(&self.tails, graph, false));
    TD_TRY(td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, count_lists, &self));
    add_up(self.kept->out.offsets, graph->vertices);
    add_up(self.tails->out.offsets, graph->vertices);
    if (has_in) add_up(self.kept->in.offsets, graph->vertices);
    self.kept->edges = self.kept->out.offsets[graph->vertices];
    self.tails->edges = self.tails->out.offsets[graph->vertices];
    TD_TRY(make_edges(&self.kept->out, self.kept->edges, self.weight));
    TD_TRY(make_edges(&self.tails->out, self.tails->edges, self.weight));
    if (has_in) TD_TRY(make_edges(&self.kept->in, self.kept->edges, self.weight));
    TD_TRY(td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, copy_lists, &self));
    self.kept->tails = self.tails;
    *out = self.kept;
    self.kept = self.tails = NULL;
done:
    td_graph_destroy(self.kept);
    td_graph_destroy(self.tails);
    return status;
}

static bool has_tails(const td_graph *graph)
{
    for (uint32_t v = 0; graph->in.offsets != NULL && v < graph->vertices; v++)
        if (is_sink(graph, v) && td_degree(&graph->in, v) > 0) return true;
    return graph->in.offsets == NULL;
}

td_status td_graph_without_sinks(const td_graph *graph, td_pool *pool, const td_graph **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    td_status status = TD_OK;
    td_graph **kept = &((td_graph *)(uintptr_t)graph)->kept; /* a cache: the graph itself does not change */
    pthread_mutex_lock(&lock);
    if (*kept == NULL && has_tails(graph)) status = divide(graph, pool, kept);
    *out = *kept != NULL ? *kept : graph;
    pthread_mutex_unlock(&lock);
    return status;
}
