/* Concatenates both lists of every vertex. */
#include "layout/lists.h"

#include "base/alloc.h"

#include <string.h>

typedef struct joining {
    const td_graph *graph;
    td_adjacency both;
    size_t weight;
} joining;

static td_status join(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    joining *self = context;
    const td_adjacency *parts[2] = {&self->graph->in, &self->graph->out};
    for (uint64_t v = begin; v < end; v++) {
        uint64_t at = self->both.offsets[v];
        for (int i = 0; i < 2; i++) {
            uint64_t first = parts[i]->offsets[v], count = parts[i]->offsets[v + 1] - first;
            memcpy(self->both.targets + at, parts[i]->targets + first, count * sizeof(uint32_t));
            if (self->both.weights != NULL)
                memcpy((char *)self->both.weights + at * self->weight,
                       (const char *)parts[i]->weights + first * self->weight, count * self->weight);
            at += count;
        }
    }
    return TD_OK;
}

td_status td_lists_join(const td_graph *graph, bool weighted, td_adjacency *out, td_pool *pool)
{
    td_status status = TD_OK;
    joining self = {.graph = graph, .weight = td_weight_bytes(graph->weights)};
    TD_TRY(TD_NEW(&self.both.offsets, (uint64_t)graph->vertices + 1, "undirected lists"));
    TD_TRY(TD_NEW(&self.both.targets, 2 * graph->edges, "undirected lists"));
    if (weighted && self.weight > 0)
        TD_TRY(td_new_bytes(&self.both.weights, 2 * graph->edges, self.weight, "undirected lists"));
    for (uint64_t v = 0; v <= graph->vertices; v++) self.both.offsets[v] = graph->in.offsets[v] + graph->out.offsets[v];
    TD_TRY(td_pool_for(pool, graph->vertices, 4096, join, &self));
    *out = self.both;
    self.both = (td_adjacency){0};
done:
    td_lists_free(&self.both);
    return status;
}

void td_lists_free(td_adjacency *lists)
{
    td_free(lists->offsets);
    td_free(lists->targets);
    td_free(lists->weights);
    *lists = (td_adjacency){0};
}
