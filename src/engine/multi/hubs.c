/* The hub cache (GUM, t4): the lists of vertices with many in-edges, which are active often, are on every GPU, as far as
 * the memory of all of them allows. Pushes of a GPU along another's lists leave the cached ones out, and a second launch
 * goes along the GPU's own copy. Prefix sums over all vertices of the cached lists' lengths tell which are cached: they are
 * the offsets of the copy, and what the first launch skips (td_gpu_part.skip). */
#include "engine/multi/multi.h"

#include "base/alloc.h"

#include <string.h>

/* Choosing. */

/* In-degrees where the graph has no in-lists. */
static td_status count_in_edges(const td_graph *graph, uint32_t **out)
{
    *out = NULL;
    if (graph->symmetric || graph->in.offsets != NULL) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(out, graph->vertices, "in-degrees"));
    for (uint64_t e = 0; e < graph->edges; e++) (*out)[graph->out.targets[e]]++;
    return TD_OK;
}

static uint64_t in_degree(const td_graph *graph, const uint32_t *counted, uint32_t v)
{
    return counted != NULL ? counted[v] : td_degree(graph->symmetric ? &graph->out : &graph->in, v);
}

static uint64_t list_degree(const td_graph *graph, bool both, uint32_t v)
{
    return td_degree(&graph->out, v) + (both ? td_degree(&graph->in, v) : 0);
}

/* Edges of the lists of vertices with more in-edges than `degree`. */
static uint64_t hub_edges(const td_graph *graph, const uint32_t *counted, bool both, uint64_t degree)
{
    uint64_t edges = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (in_degree(graph, counted, v) > degree) edges += list_degree(graph, both, v);
    return edges;
}

static uint64_t hub_bytes(const td_graph *graph, const td_multi_need *need, uint64_t edges)
{
    return ((uint64_t)graph->vertices + 1) * sizeof(uint64_t) + edges * (sizeof(uint32_t) + need->weight_bytes);
}

td_status td_multi_choose_hubs(const td_graph *graph, const td_multi_need *need, uint64_t degree, uint64_t room,
                               td_multi_division *out)
{
    uint32_t *counted;
    out->hub_degree = UINT64_MAX;
    out->hub_edges = 0;
    if (graph->out.offsets == NULL || degree == UINT64_MAX) return TD_OK;
    TD_CHECK(count_in_edges(graph, &counted));
    uint64_t edges = hub_edges(graph, counted, need->both, degree);
    while (edges > 0 && hub_bytes(graph, need, edges) > room) { /* a quarter more: fewer lists, as close as passes allow */
        degree += degree / 4 + 1;
        edges = hub_edges(graph, counted, need->both, degree);
    }
    td_free(counted);
    if (hub_bytes(graph, need, edges) > room) return TD_OK;
    out->hub_degree = degree;
    out->hub_edges = edges;
    return TD_OK;
}

td_status td_multi_declare_hubs(td_gpu_memory *memory, const td_multi_need *need, uint64_t vertices,
                                const td_multi_division *division, td_multi_hubs *hubs)
{
    uint64_t edges = division->hub_edges;
    if (division->hub_degree == UINT64_MAX) return TD_OK;
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &hubs->offsets, vertices + 1, sizeof(uint64_t), "offsets of cached lists"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &hubs->targets, edges, sizeof(uint32_t), "cached lists"));
    if (need->weight_bytes == 0) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_LISTS, &hubs->weights, edges, need->weight_bytes, "weights of cached lists");
}

void td_multi_free_hubs(td_device *device, td_multi_hubs *hubs)
{
    td_device_free(device, hubs->offsets);
    td_device_free(device, hubs->targets);
    td_device_free(device, hubs->weights);
    *hubs = (td_multi_hubs){0};
}

/* Loading. */

typedef struct collected {
    uint64_t *offsets;
    uint32_t *targets;
    char *weights;
} collected;

static void collect_list(const td_partition *partition, const td_adjacency *from, uint32_t v, size_t weight_bytes, uint64_t to,
                         collected *into)
{
    uint64_t at = from->offsets[v], degree = td_degree(from, v);
    for (uint64_t e = 0; e < degree; e++) {
        uint32_t target = from->targets[at + e];
        into->targets[to + e] = partition->place != NULL ? partition->place[target] : target;
    }
    if (weight_bytes > 0)
        memcpy(into->weights + to * weight_bytes, (const char *)from->weights + at * weight_bytes, degree * weight_bytes);
}

static void collect(const td_multi_job *self, const td_adjacency *from, const uint32_t *counted, size_t weight_bytes,
                    collected *into)
{
    const td_partition *partition = &self->layout->partition;
    uint64_t sum = 0;
    for (uint32_t number = 0; number < self->graph->vertices; number++) {
        uint32_t v = partition->order != NULL ? partition->order[number] : number;
        into->offsets[number] = sum;
        if (in_degree(self->graph, counted, v) <= self->division.hub_degree) continue;
        collect_list(partition, from, v, weight_bytes, sum, into);
        sum += td_degree(from, v);
    }
    into->offsets[self->graph->vertices] = sum;
}

static td_status send(td_multi_gpu *gpu, const collected *from, uint64_t vertices, uint64_t edges, size_t weight_bytes)
{
    td_stream *stream = gpu->job.stream;
    td_multi_hubs *hubs = &gpu->fragment->hubs;
    TD_CHECK(td_stream_copy(stream, hubs->offsets, from->offsets, (vertices + 1) * sizeof *from->offsets, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(stream, hubs->targets, from->targets, edges * sizeof *from->targets, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(stream, hubs->weights, from->weights, edges * weight_bytes, TD_TO_DEVICE));
    hubs->view = (td_gpu_list){hubs->offsets, hubs->targets, hubs->weights};
    return td_stream_synchronize(stream);
}

td_status td_multi_load_hubs(td_multi_job *self, const td_multi_need *need, const td_adjacency *push)
{
    td_status status = TD_OK;
    const td_multi_division *division = &self->division;
    uint64_t n = self->graph->vertices, edges = division->hub_edges;
    collected lists = {0};
    uint32_t *counted = NULL;
    void *weights = NULL;
    if (division->hub_degree == UINT64_MAX) return TD_OK;
    TD_TRY(count_in_edges(self->graph, &counted));
    TD_TRY(TD_NEW(&lists.offsets, n + 1, "offsets of cached lists"));
    TD_TRY(TD_NEW(&lists.targets, edges + 1, "cached lists"));
    if (need->weight_bytes > 0) TD_TRY(td_new_bytes(&weights, edges + 1, need->weight_bytes, "weights of cached lists"));
    lists.weights = weights;
    collect(self, push, counted, need->weight_bytes, &lists);
    TD_EACH_GPU(self, gpu) {
        TD_TRY(td_multi_declare_hubs(&gpu->job.memory, need, n, division, &gpu->fragment->hubs));
        TD_TRY(send(gpu, &lists, n, edges, need->weight_bytes));
    }
done:
    TD_EACH_GPU(self, gpu) if (status != TD_OK) (void)td_stream_synchronize(gpu->job.stream);
    td_free(counted);
    td_free(lists.offsets);
    td_free(lists.targets);
    td_free(weights);
    return status;
}
