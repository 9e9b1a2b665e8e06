/* What of every list stays on the device, or is left out of what crosses: beginnings, as many edges of each as there is
 * room for; light edges; edges that lead to lower numbers. All are sums over the vertices, on the device and, where
 * useful edges are extracted, at the host. */
#include "engine/stream/stream.h"

#include "base/alloc.h"

#include <string.h>

/* The prefix: as many edges of the begin of every list as the memory for it allows, equally many of all. */

enum { LONGEST_PREFIX = 1 << 16 };

static uint64_t out_degree(const td_graph *graph, uint64_t v) { return td_degree(&graph->out, (uint32_t)v); }
static uint64_t in_degree(const td_graph *graph, uint64_t v) { return td_degree(&graph->in, (uint32_t)v); }
static uint64_t both_degrees(const td_graph *graph, uint64_t v) { return out_degree(graph, v) + in_degree(graph, v); }

/* Of the shape's lists: the first, or the one that is pulled along where there are two. */
td_streaming_degree td_streaming_degree_of(const td_graph *graph, const td_streaming_shape *shape, bool second)
{
    if (shape->both) return both_degrees;
    return !second && (shape->pushes || graph->symmetric) ? out_degree : in_degree;
}

td_status td_streaming_fit_prefix(const td_graph *graph, td_streaming_degree degree_of, uint64_t room, uint32_t *most,
                                  uint64_t *edges)
{
    uint64_t *longer, total = 0;
    TD_CHECK(TD_NEW_ZEROED(&longer, LONGEST_PREFIX + 1, "lengths of lists"));
    for (uint64_t v = 0; v < graph->vertices; v++) {
        uint64_t degree = degree_of(graph, v);
        longer[degree < LONGEST_PREFIX ? degree : LONGEST_PREFIX]++;
    }
    for (uint32_t k = LONGEST_PREFIX; k > 0; k--) longer[k - 1] += longer[k]; /* lists of k - 1 edges and more */
    for (*most = 0; *most < LONGEST_PREFIX && longer[*most + 1] > 0 && total + longer[*most + 1] <= room; ++*most)
        total += longer[*most + 1];
    td_free(longer);
    *edges = total;
    return TD_OK;
}

typedef struct gathering {
    const td_link_list *list;
    const uint64_t *offsets; /* of the prefix */
    uint32_t *targets;
    char *weights;
} gathering;

static td_status gather_prefix(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    gathering *self = context;
    const td_link_list *list = self->list;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t from = list->offsets[v], to = self->offsets[v], count = self->offsets[v + 1] - to;
        memcpy(self->targets + to, list->targets + from, count * sizeof(uint32_t));
        if (self->weights != NULL)
            memcpy(self->weights + to * list->weight_bytes, (const char *)list->weights + from * list->weight_bytes,
                   count * list->weight_bytes);
    }
    return TD_OK;
}

static td_status declare_prefix(td_streaming_job *self, td_link_list *list, uint64_t edges)
{
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t n = self->gpu.graph->vertices;
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &list->skip, n + 1, sizeof(uint64_t), "offsets of beginnings"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &list->prefix.targets, edges, sizeof(uint32_t),
                            "beginnings of lists"));
    if (list->weight_bytes == 0) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_EDGES, &list->prefix.weights, edges, list->weight_bytes,
                          "beginnings of lists");
}

/* With what is gathered at the host until it has crossed; extraction goes by the offsets from then on. */
static td_status measure_prefix(td_streaming_job *self, td_link_list *list, uint64_t edges)
{
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t offsets = (self->gpu.graph->vertices + UINT64_C(1)) * sizeof(uint64_t);
    td_host_hold(host, offsets + edges * td_link_edge_bytes(list));
    TD_CHECK(declare_prefix(self, list, edges));
    td_host_let_go(host, edges * td_link_edge_bytes(list) + (self->held->shape.chunks > 0 ? 0 : offsets));
    return TD_OK;
}

static td_status send_prefix(td_streaming_job *self, const td_link_list *list, const gathering *from)
{
    td_stream *stream = self->held->stream;
    uint64_t n = self->gpu.graph->vertices, edges = list->prefix_edges;
    void *targets = (void *)(uintptr_t)list->prefix.targets, *weights = (void *)(uintptr_t)list->prefix.weights;
    TD_CHECK(td_stream_copy(stream, list->skip, from->offsets, (n + 1) * sizeof(uint64_t), TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(stream, targets, from->targets, edges * sizeof(uint32_t), TD_TO_DEVICE));
    if (weights != NULL)
        TD_CHECK(td_stream_copy(stream, weights, from->weights, edges * list->weight_bytes, TD_TO_DEVICE));
    return td_stream_synchronize(stream);
}

/* The plan has made the bytes fit a prefix of whole edges of every list, wherever it knows the lists' lengths. */
td_status td_streaming_make_prefix(td_streaming_job *self, td_link_list *list, uint64_t bytes, bool second)
{
    td_status status = TD_OK;
    td_streaming_graph *held = self->held;
    const td_graph *graph = self->gpu.graph;
    uint64_t n = graph->vertices, *offsets = NULL, room = bytes / td_link_edge_bytes(list), edges;
    gathering gather = {.list = list};
    uint32_t most;
    if (self->gpu.memory.measures) return measure_prefix(self, list, room);
    TD_CHECK(td_streaming_fit_prefix(graph, td_streaming_degree_of(graph, &held->shape, second), room, &most, &edges));
    if (most == 0) return TD_OK;
    TD_TRY(TD_NEW(&offsets, n + 1, "beginnings of lists"));
    offsets[0] = 0;
    for (uint64_t v = 0; v < n; v++) {
        uint64_t degree = list->offsets[v + 1] - list->offsets[v];
        offsets[v + 1] = offsets[v] + (degree < most ? degree : most);
    }
    list->prefix_edges = offsets[n];
    list->prefix_most = most;
    gather.offsets = offsets;
    TD_TRY(TD_NEW(&gather.targets, list->prefix_edges, "beginnings of lists"));
    if (list->weight_bytes > 0)
        TD_TRY(TD_NEW(&gather.weights, list->prefix_edges * list->weight_bytes, "beginnings of lists"));
    TD_TRY(td_pool_for(self->gpu.options->pool, n, 4096, gather_prefix, &gather));
    TD_TRY(declare_prefix(self, list, list->prefix_edges));
    list->prefix.offsets = list->skip;
    TD_TRY(send_prefix(self, list, &gather));
    if (held->shape.chunks > 0) td_gpu_swap(&list->own_skip, &offsets);
done:
    if (status != TD_OK) (void)td_stream_synchronize(held->stream);
    td_free(offsets);
    td_free(gather.targets);
    td_free(gather.weights);
    return status;
}

/* Of lists in the order of weights: how many edges are lighter than the width of a step of distances. */
typedef struct lightness {
    const td_graph *graph;
    const td_link_list *list;
    double limit;
    uint64_t *counts;
} lightness;

static double weight_of(const lightness *self, uint64_t e)
{
    const td_adjacency apart = {.weights = (void *)(uintptr_t)self->list->weights};
    uint32_t bits = self->list->weight_bits;
    return bits > 0 ? self->list->targets[e] >> (32 - bits) : td_weight_at(self->graph, &apart, e);
}

static td_status count_light(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    lightness *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t low = self->list->offsets[v], high = self->list->offsets[v + 1];
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (weight_of(self, middle) < self->limit) low = middle + 1;
            else high = middle;
        }
        self->counts[v + 1] = low - self->list->offsets[v];
    }
    return TD_OK;
}

td_status td_streaming_find_light(td_streaming_job *self, td_link_list *list, double limit)
{
    td_status status = TD_OK;
    uint64_t n = self->gpu.graph->vertices;
    lightness count = {self->gpu.graph, list, limit, NULL};
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->light, n + 1, sizeof(uint64_t), "light edges"));
    td_host_hold(&self->gpu.memory.host, (n + 1) * sizeof(uint64_t));
    if (self->held->shape.chunks == 0) td_host_let_go(&self->gpu.memory.host, (n + 1) * sizeof(uint64_t));
    if (self->gpu.memory.measures) return TD_OK;
    TD_TRY(TD_NEW(&count.counts, n + 1, "light edges"));
    count.counts[0] = 0;
    TD_TRY(td_pool_for(self->gpu.options->pool, n, 4096, count_light, &count));
    for (uint64_t v = 0; v < n; v++) count.counts[v + 1] += count.counts[v];
    TD_TRY(td_stream_copy(self->held->stream, list->light, count.counts, (n + 1) * sizeof(uint64_t), TD_TO_DEVICE));
    TD_TRY(td_stream_synchronize(self->held->stream));
    if (self->held->shape.chunks > 0) td_gpu_swap(&list->own_light, &count.counts);
done:
    td_free(count.counts);
    return status;
}

/* Of sorted lists whose edges are meant once: how many lead to the vertex itself or below. */
td_status td_streaming_skip_lower(td_streaming_job *self, td_link_list *list)
{
    td_status status = TD_OK;
    uint64_t n = self->gpu.graph->vertices, *skip = NULL;
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->skip, n + 1, sizeof(uint64_t), "edges left out"));
    td_host_note(&self->gpu.memory.host, (n + 1) * sizeof(uint64_t));
    if (self->gpu.memory.measures) return TD_OK;
    TD_TRY(TD_NEW(&skip, n + 1, "edges left out"));
    skip[0] = 0;
    for (uint64_t v = 0; v < n; v++) {
        uint64_t low = list->offsets[v], high = list->offsets[v + 1];
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (list->targets[middle] <= v) low = middle + 1;
            else high = middle;
        }
        skip[v + 1] = skip[v] + (low - list->offsets[v]);
    }
    TD_TRY(td_stream_copy(self->held->stream, list->skip, skip, (n + 1) * sizeof *skip, TD_TO_DEVICE));
    TD_TRY(td_stream_synchronize(self->held->stream));
done:
    td_free(skip);
    return status;
}
