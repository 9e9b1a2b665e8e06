/* Per-vertex counts that divide every list: the resident prefix, the light edges, the edges to lower vertex numbers.
 * They are stored as prefix sums over the vertices, on the device and, if edges are extracted, at the host. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/sums.h"
#include "gpu/transfer.h"

#include <string.h>

/* The prefix: the same number of edges of every list, as many as fit. */

enum { LONGEST_PREFIX = 1 << 16 };

static uint64_t out_degree(const td_graph *graph, uint64_t v) { return td_degree(&graph->out, (uint32_t)v); }
static uint64_t in_degree(const td_graph *graph, uint64_t v) { return td_degree(&graph->in, (uint32_t)v); }
static uint64_t both_degrees(const td_graph *graph, uint64_t v) { return out_degree(graph, v) + in_degree(graph, v); }

/* Degree function of the first list, or of the pull list if there are two and `second` is set. */
td_streaming_degree td_streaming_degree_of(const td_graph *graph, const td_streaming_shape *shape, bool second)
{
    if (shape->both) return both_degrees;
    return !second && (shape->pushes || graph->symmetric) ? out_degree : in_degree;
}

enum { FEW = 1024, GRAIN = 1 << 16 };

/* Lists by their lengths. Most are short: a range of vertices counts those apart and adds them up at its end. */
typedef struct lengths {
    const td_graph *graph;
    td_streaming_degree degree_of;
    uint64_t *of; /* 0 .. LONGEST_PREFIX; the last counts all longer ones */
} lengths;

static td_status count_lengths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const lengths *self = context;
    uint64_t few[FEW] = {0};
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = self->degree_of(self->graph, v);
        if (degree < FEW) few[degree]++;
        else __atomic_fetch_add(&self->of[degree < LONGEST_PREFIX ? degree : LONGEST_PREFIX], 1, __ATOMIC_RELAXED);
    }
    for (uint32_t k = 0; k < FEW; k++)
        if (few[k] > 0) __atomic_fetch_add(&self->of[k], few[k], __ATOMIC_RELAXED);
    return TD_OK;
}

td_status td_streaming_fit_prefix(const td_graph *graph, td_streaming_degree degree_of, uint64_t room, uint32_t *most,
                                  uint64_t *edges, td_pool *pool)
{
    uint64_t *longer, total = 0;
    TD_CHECK(TD_NEW_ZEROED(&longer, LONGEST_PREFIX + 1, "lengths of lists"));
    lengths count = {graph, degree_of, longer};
    td_status status = td_pool_for(pool, graph->vertices, GRAIN, count_lengths, &count);
    if (status != TD_OK) {
        td_free(longer);
        return status;
    }
    for (uint32_t k = LONGEST_PREFIX; k > 0; k--) longer[k - 1] += longer[k]; /* lists with at least k - 1 edges */
    for (*most = 0; *most < LONGEST_PREFIX && longer[*most + 1] > 0 && total + longer[*most + 1] <= room; ++*most)
        total += longer[*most + 1];
    td_free(longer);
    *edges = total;
    return TD_OK;
}

typedef struct gathering {
    const td_link_list *list;
    uint64_t *offsets;       /* of the prefix */
    uint64_t vertices;
    uint32_t most;           /* edges of a list in it */
    uint64_t element;        /* bytes of what is copied: targets, or weights */
    const char *from;
} gathering;

static td_status measure_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const gathering *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = self->list->offsets[v + 1] - self->list->offsets[v];
        self->offsets[v + 1] = degree < self->most ? degree : self->most;
    }
    return TD_OK;
}

/* Vertex whose part of the prefix has this edge. */
static uint64_t vertex_of(const gathering *self, uint64_t edge)
{
    uint64_t low = 0, high = self->vertices;
    while (low < high) { /* the first whose part ends behind the edge */
        uint64_t middle = low + (high - low) / 2;
        if (self->offsets[middle + 1] > edge) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Copies a piece of the prefix out of the lists. */
static td_status gather_piece(void *context, uint64_t at, char *part, uint64_t bytes)
{
    const gathering *self = context;
    uint64_t size = self->element, edge = at / size, end = edge + bytes / size;
    for (uint64_t v = vertex_of(self, edge); edge < end; v++) {
        uint64_t skipped = edge - self->offsets[v], last = self->offsets[v + 1] < end ? self->offsets[v + 1] : end;
        memcpy(part, self->from + (self->list->offsets[v] + skipped) * size, (last - edge) * size);
        part += (last - edge) * size;
        edge = last;
    }
    return TD_OK;
}

static td_status declare_prefix(td_streaming_job *self, td_link_list *list, uint64_t edges)
{
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t n = self->gpu.graph->vertices;
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &list->skip, n + 1, sizeof(uint64_t), "offsets of the prefix"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &list->prefix.targets, edges, sizeof(uint32_t),
                            "resident prefix"));
    if (list->weight_bytes == 0) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_EDGES, &list->prefix.weights, edges, list->weight_bytes,
                          "resident prefix");
}

/* Extraction keeps the offsets. */
static td_status measure_prefix(td_streaming_job *self, td_link_list *list, uint64_t edges)
{
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t offsets = (self->gpu.graph->vertices + UINT64_C(1)) * sizeof(uint64_t);
    td_host_hold(host, offsets);
    TD_CHECK(declare_prefix(self, list, edges));
    td_gpu_ring_note(&self->gpu, offsets);
    td_gpu_note_made(&self->gpu, edges * sizeof(uint32_t));
    td_gpu_note_made(&self->gpu, edges * list->weight_bytes);
    if (self->layout->shape.chunks == 0) td_host_let_go(host, offsets);
    return TD_OK;
}

static td_status send_prefix(td_streaming_job *self, const td_link_list *list, gathering *gather)
{
    uint64_t n = self->gpu.graph->vertices, edges = list->prefix_edges;
    void *targets = (void *)(uintptr_t)list->prefix.targets, *weights = (void *)(uintptr_t)list->prefix.weights;
    TD_CHECK(td_gpu_upload(&self->gpu, list->skip, gather->offsets, (n + 1) * sizeof(uint64_t)));
    gather->element = sizeof(uint32_t);
    gather->from = (const char *)list->targets;
    TD_CHECK(td_gpu_upload_made(&self->gpu, targets, edges * sizeof(uint32_t), gather_piece, gather));
    if (weights == NULL) return td_stream_synchronize(self->layout->stream);
    gather->element = list->weight_bytes;
    gather->from = list->weights;
    TD_CHECK(td_gpu_upload_made(&self->gpu, weights, edges * list->weight_bytes, gather_piece, gather));
    return td_stream_synchronize(self->layout->stream);
}

/* The plan has rounded the bytes to a whole prefix if it knew the lengths of the lists. */
td_status td_streaming_make_prefix(td_streaming_job *self, td_link_list *list, uint64_t bytes, bool second)
{
    td_status status = TD_OK;
    td_streaming_graph *layout = self->layout;
    const td_graph *graph = self->gpu.graph;
    uint64_t n = graph->vertices, *offsets = NULL, room = bytes / td_link_edge_bytes(list), edges;
    gathering gather = {.list = list, .vertices = n};
    uint32_t most;
    if (self->gpu.memory.measures) return measure_prefix(self, list, room);
    TD_CHECK(td_streaming_fit_prefix(graph, td_streaming_degree_of(graph, &layout->shape, second), room, &most,
                                     &edges, self->gpu.options->pool));
    if (most == 0) return TD_OK;
    TD_TRY(TD_NEW(&offsets, n + 1, "resident prefix"));
    gather.offsets = offsets;
    gather.most = most;
    TD_TRY(td_pool_for(self->gpu.options->pool, n, GRAIN, measure_lists, &gather));
    TD_TRY(td_sum_up(offsets, n, self->gpu.options->pool));
    list->prefix_edges = offsets[n];
    list->prefix_most = most;
    TD_TRY(declare_prefix(self, list, list->prefix_edges));
    list->prefix.offsets = list->skip;
    TD_TRY(send_prefix(self, list, &gather));
    if (layout->shape.chunks > 0) td_gpu_swap(&list->own_skip, &offsets);
done:
    if (status != TD_OK) (void)td_stream_synchronize(layout->stream);
    td_free(offsets);
    return status;
}

/* Counts the edges of every list below the bucket width; lists are ordered by weight. */
static double weight_of(const td_streaming_light *self, uint64_t e)
{
    const td_adjacency apart = {.weights = (void *)(uintptr_t)self->list->own_weights};
    uint32_t bits = self->list->weight_bits;
    return bits > 0 ? self->list->own_targets[e] >> (32 - bits) : td_weight_at(self->graph, &apart, e);
}

void td_streaming_count_light(const td_streaming_light *self, uint32_t first, uint32_t after)
{
    for (uint32_t v = first; v < after; v++) {
        uint64_t low = self->list->offsets[v], high = self->list->offsets[v + 1];
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (weight_of(self, middle) < self->limit) low = middle + 1;
            else high = middle;
        }
        self->list->own_light[v + 1] = low - self->list->offsets[v];
    }
}

/* Extraction keeps the sums. Without a prefix there are none on the device. */
td_status td_streaming_send_light(td_streaming_job *self, td_link_list *list)
{
    uint64_t n = self->gpu.graph->vertices;
    td_host_memory *host = &self->gpu.memory.host;
    if (self->gpu.memory.measures || list->prefix.offsets != NULL) {
        TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->light, n + 1, sizeof(uint64_t), "light edges"));
        td_gpu_ring_note(&self->gpu, (n + 1) * sizeof(uint64_t));
    }
    if (!self->gpu.memory.measures && list->light != NULL) {
        TD_CHECK(td_sum_up(list->own_light, n, self->gpu.options->pool));
        TD_CHECK(td_gpu_upload(&self->gpu, list->light, list->own_light, (n + 1) * sizeof(uint64_t)));
        TD_CHECK(td_stream_synchronize(self->layout->stream));
    }
    if (self->layout->shape.chunks > 0 && (self->gpu.memory.measures || list->light != NULL)) return TD_OK;
    td_host_undeclare(host, &list->own_light, n + 1, sizeof(uint64_t));
    return TD_OK;
}

typedef struct lowness {
    const td_link_list *list;
    uint64_t *counts;
} lowness;

/* Counts the edges of every sorted list that lead to the vertex itself or a lower number. */
static td_status count_lower(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const lowness *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t low = self->list->offsets[v], high = self->list->offsets[v + 1];
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (self->list->targets[middle] <= v) low = middle + 1;
            else high = middle;
        }
        self->counts[v + 1] = low - self->list->offsets[v];
    }
    return TD_OK;
}

td_status td_streaming_skip_lower(td_streaming_job *self, td_link_list *list)
{
    td_status status = TD_OK;
    uint64_t n = self->gpu.graph->vertices;
    lowness count = {.list = list};
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->skip, n + 1, sizeof(uint64_t), "skipped edges"));
    td_gpu_ring_note(&self->gpu, (n + 1) * sizeof(uint64_t));
    td_host_hold(&self->gpu.memory.host, (n + 1) * sizeof(uint64_t));
    if (self->layout->shape.chunks == 0) td_host_let_go(&self->gpu.memory.host, (n + 1) * sizeof(uint64_t));
    if (self->gpu.memory.measures) return TD_OK;
    TD_TRY(TD_NEW(&count.counts, n + 1, "skipped edges"));
    TD_TRY(td_pool_for(self->gpu.options->pool, n, 4096, count_lower, &count));
    TD_TRY(td_sum_up(count.counts, n, self->gpu.options->pool));
    TD_TRY(td_gpu_upload(&self->gpu, list->skip, count.counts, (n + 1) * sizeof(uint64_t)));
    TD_TRY(td_stream_synchronize(self->layout->stream));
    if (self->layout->shape.chunks > 0) td_gpu_swap(&list->own_skip, &count.counts); /* for extraction */
done:
    td_free(count.counts);
    return status;
}
