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

static td_status declare_joined(const td_graph *graph, bool weighted, td_adjacency *both, td_host_memory *memory)
{
    uint64_t edges = 2 * graph->edges;
    size_t weight = weighted ? td_weight_bytes(graph->weights) : 0;
    TD_CHECK(td_host_declare(memory, &both->offsets, (uint64_t)graph->vertices + 1, sizeof *both->offsets,
                             "undirected lists"));
    TD_CHECK(td_host_declare(memory, &both->targets, edges, sizeof *both->targets, "undirected lists"));
    return weight == 0 ? TD_OK : td_host_declare(memory, &both->weights, edges, weight, "undirected lists");
}

void td_lists_unjoin(const td_graph *graph, bool weighted, td_adjacency *both, td_host_memory *memory)
{
    uint64_t edges = 2 * graph->edges;
    size_t weight = weighted ? td_weight_bytes(graph->weights) : 0;
    td_host_undeclare(memory, &both->offsets, (uint64_t)graph->vertices + 1, sizeof *both->offsets);
    td_host_undeclare(memory, &both->targets, edges, sizeof *both->targets);
    if (weight > 0) td_host_undeclare(memory, &both->weights, edges, weight);
}

td_status td_lists_join(const td_graph *graph, bool weighted, td_adjacency *out, td_host_memory *memory, td_pool *pool)
{
    td_status status = TD_OK;
    joining self = {.graph = graph, .weight = td_weight_bytes(graph->weights)};
    TD_TRY(declare_joined(graph, weighted, &self.both, memory));
    if (memory->measures) return TD_OK;
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
