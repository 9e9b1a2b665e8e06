/* What of every list stays on the device, or is left out of what crosses: beginnings, as many edges of each as there is
 * room for; light edges; edges that lead to lower numbers. All are sums over the vertices, on the device and, where
 * useful edges are extracted, at the host. */
#include "engine/stream/stream.h"

#include "base/alloc.h"

#include <string.h>

/* The prefix: as many edges of the begin of every list as the memory for it allows, equally many of all. */

enum { LONGEST_PREFIX = 1 << 16 };

static td_status find_longest_prefix(td_streaming_job *self, const td_link_list *list, uint64_t room, uint32_t *most)
{
    uint64_t *longer, total = 0;
    TD_CHECK(TD_NEW_ZEROED(&longer, LONGEST_PREFIX + 1, "lengths of lists"));
    for (uint64_t v = 0; v < self->gpu.graph->vertices; v++) {
        uint64_t degree = list->offsets[v + 1] - list->offsets[v];
        longer[degree < LONGEST_PREFIX ? degree : LONGEST_PREFIX]++;
    }
    for (uint32_t k = LONGEST_PREFIX; k > 0; k--) longer[k - 1] += longer[k]; /* lists of k - 1 edges and more */
    for (*most = 0; *most < LONGEST_PREFIX && longer[*most + 1] > 0 && total + longer[*most + 1] <= room; ++*most)
        total += longer[*most + 1];
    td_free(longer);
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

td_status td_streaming_make_prefix(td_streaming_job *self, td_link_list *list, uint64_t bytes)
{
    td_status status = TD_OK;
    td_streaming_graph *held = self->held;
    uint64_t n = self->gpu.graph->vertices, *offsets = NULL;
    gathering gather = {.list = list};
    uint32_t most;
    TD_CHECK(find_longest_prefix(self, list, bytes / td_link_edge_bytes(list), &most));
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
    TD_TRY(td_gpu_send(held->stream, &list->skip, offsets, n + 1, sizeof *offsets, "offsets of beginnings"));
    list->prefix.offsets = list->skip;
    TD_TRY(td_gpu_send(held->stream, &list->prefix.targets, gather.targets, list->prefix_edges, sizeof(uint32_t),
                       "beginnings of lists"));
    if (gather.weights != NULL)
        TD_TRY(td_gpu_send(held->stream, &list->prefix.weights, gather.weights, list->prefix_edges,
                           list->weight_bytes, "beginnings of lists"));
    TD_TRY(td_stream_synchronize(held->stream));
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
    TD_TRY(TD_NEW(&count.counts, n + 1, "light edges"));
    count.counts[0] = 0;
    TD_TRY(td_pool_for(self->gpu.options->pool, n, 4096, count_light, &count));
    for (uint64_t v = 0; v < n; v++) count.counts[v + 1] += count.counts[v];
    TD_TRY(td_gpu_send(self->held->stream, &list->light, count.counts, n + 1, sizeof(uint64_t), "light edges"));
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
    TD_TRY(td_gpu_send(self->held->stream, &list->skip, skip, n + 1, sizeof *skip, "edges left out"));
    TD_TRY(td_stream_synchronize(self->held->stream));
done:
    td_free(skip);
    return status;
}
