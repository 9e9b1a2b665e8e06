/* Lists in host memory. The graph's own are used as they are, or copied: joined, put in order, with packed weights. Copies
 * are made in one pass over the edges, from memory or from the graph's mapped file: while a piece is in the cache its lists
 * are ordered, packed and their light edges counted, and the caller pins what is done (gpu/pinning.h). */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/log.h"
#include "store/checks.h"

/* Pinning. */

void td_streaming_unpin(td_streaming_graph *layout, td_link_list *list)
{
    for (int i = 0; i < 2; i++) {
        td_pinning_unpin(layout->device, &list->pins[i]);
        list->pins[i] = (td_pinning){0};
    }
}

/* A step has whole subgraphs, so that none crosses the border of two. The graph's own arrays, which others may pin and copy
 * as well, and those that begin within a page are pinned at once. */
static td_pinning pinning_of(const td_link_list *list, const void *array, uint64_t bytes)
{
    enum { PAGE = 4096 };
    bool own = array == list->own_targets || array == list->own_weights;
    uint64_t edges = td_pinning_step_edges(), subgraph = UINT64_C(1) << list->shift;
    if (array == NULL) return (td_pinning){0};
    if (edges < subgraph) edges = subgraph;
    edges = (edges + TD_LISTS_PIECE - 1) / TD_LISTS_PIECE * TD_LISTS_PIECE;
    if (!own || (uintptr_t)array % PAGE != 0) edges = td_lists_pieces(list->edges) * TD_LISTS_PIECE;
    return (td_pinning){.array = (void *)(uintptr_t)array, .bytes = list->edges * bytes, .step = edges * bytes,
                        .of_piece = TD_LISTS_PIECE * bytes};
}

/* Pins a list, so that copies need no staging and kernels can read it. Warns once if the system refuses. Compressed targets
 * are pinned by themselves. */
void td_streaming_pin(td_streaming_graph *layout, td_link_list *list)
{
    const void *arrays[2] = {list->targets, list->weight_bytes > 0 ? list->weights : NULL};
    bool all = true;
    if (list->edges == 0) return;
    for (int i = 0; i < 2; i++) {
        td_pinning *pins = &list->pins[i];
        if (arrays[i] == NULL) continue;
        if (pins->array != arrays[i]) *pins = pinning_of(list, arrays[i], i == 0 ? sizeof(uint32_t) : list->weight_bytes);
        if (all) td_pinning_pin(layout->device, pins);
        all = all && td_pinning_done(pins);
    }
    if (list->targets == NULL) return;
    if (!all && !layout->warned_unpinned)
        td_warn("%s; copies from memory that is not pinned are slower", td_last_message());
    layout->warned_unpinned = layout->warned_unpinned || !all;
    list->readable = all && td_device_supports(layout->device, TD_FEATURE_HOST_READS);
    list->seen.targets = (const uint32_t *)(const void *)list->pins[0].seen;
    list->seen.weights = list->pins[1].seen;
}

/* Filling. */

typedef struct filling {
    td_pinning_fill piece;
    void *context;
    td_streaming_light light;
} filling;

static td_status fill_piece(void *context, uint64_t piece, int worker)
{
    const filling *self = context;
    uint32_t first, after;
    TD_CHECK(self->piece(self->context, piece, worker));
    if (self->light.list->own_light == NULL) return TD_OK;
    td_lists_within(self->light.list->offsets, self->light.graph->vertices, piece, &first, &after);
    td_streaming_count_light(&self->light, first, after);
    return TD_OK;
}

static td_status fill_pieces(void *context, uint64_t begin, uint64_t end, int worker)
{
    for (uint64_t piece = begin; piece < end; piece++) TD_CHECK(fill_piece(context, piece, worker));
    return TD_OK;
}

/* Lists that several pieces share. */
static td_status count_across(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const filling *self = context;
    for (uint64_t piece = begin; piece < end; piece++) {
        uint32_t v = td_lists_across(self->light.list->offsets, self->light.graph->vertices, piece);
        if (v != UINT32_MAX) td_streaming_count_light(&self->light, v, v + 1);
    }
    return TD_OK;
}

/* Light edges of lists that the layout's users cannot know without a prefix are not counted. */
static td_status declare_light(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape)
{
    bool second = td_streaming_has_two(self->gpu.graph, shape) && shape->pulls_prefix;
    if (shape->light == 0 || shape->prefix_bytes == 0 || list != &self->layout->lists[second] || list->own_light != NULL)
        return TD_OK;
    return td_host_declare_zeroed(&self->gpu.memory.host, &list->own_light, self->gpu.graph->vertices + UINT64_C(1),
                                  sizeof(uint64_t), "light edges");
}

static bool moves_pages(const td_streaming_shape *shape)
{
    return shape->nodes == TD_PLACE_HOME || shape->nodes == TD_PLACE_INTERLEAVE;
}

td_status td_streaming_fill(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape,
                            td_pinning_fill piece, void *context)
{
    td_pool *pool = self->gpu.options->pool;
    filling all = {piece, context, {self->gpu.graph, list, shape->light}};
    uint64_t pieces = td_lists_pieces(list->edges);
    if (self->layout->device == NULL || moves_pages(shape)) return td_pool_for(pool, pieces, 1, fill_pieces, &all);
    list->pins[0] = pinning_of(list, list->own_targets, sizeof(uint32_t));
    list->pins[1] = pinning_of(list, list->weight_bytes > 0 ? list->own_weights : NULL, list->weight_bytes);
    return td_pinning_run(self->layout->device, list->pins, list->weight_bytes > 0 ? 2 : 1, pieces, fill_piece, &all, pool);
}

/* Making. */

static void take_graphs_own(td_link_list *list, const td_adjacency *from, bool weighted)
{
    list->offsets = from->offsets;
    list->targets = from->targets;
    list->weights = weighted ? from->weights : NULL;
}

static void take_joined(td_link_list *list, td_adjacency *made)
{
    list->offsets = list->own_offsets = made->offsets;
    list->targets = list->own_targets = made->targets;
    list->weights = list->own_weights = made->weights;
}

static td_status order_piece(void *context, uint64_t piece, int worker) { return td_ordering_piece(context, piece, worker); }

static td_status order(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                       const td_streaming_shape *shape)
{
    td_status status = TD_OK;
    td_ordering *ordering = NULL;
    td_pool *pool = self->gpu.options->pool;
    td_lists_ordering what = {self->gpu.graph, from, shape->order, list->weight_bits, list->own_targets, list->own_weights};
    TD_TRY(td_ordering_open(&ordering, &what, pool));
    TD_TRY(td_streaming_fill(self, list, shape, order_piece, ordering));
    TD_TRY(td_ordering_end(ordering, pool));
done:
    td_ordering_close(ordering);
    return status;
}

/* Puts lists in order and packs weights; with `joined` they are the layout's own, and are freed. */
static td_status put_in_order(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape, bool joined)
{
    td_status status = TD_OK;
    const td_graph *graph = self->gpu.graph;
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t edges = list->edges, weight = list->weight_bytes;
    td_adjacency from = {(uint64_t *)(uintptr_t)list->offsets, (uint32_t *)(uintptr_t)list->targets,
                         (void *)(uintptr_t)list->weights};
    bool in_file = td_checks_pending(graph, from.targets);
    list->own_targets = NULL;
    list->own_weights = NULL;
    list->weight_bits = (uint32_t)shape->weight_bits;
    if (list->weight_bits > 0) list->weight_bytes = 0;
    TD_TRY(td_host_declare_pages(host, &list->own_targets, edges * sizeof(uint32_t), "reordered lists"));
    if (list->weight_bytes > 0) TD_TRY(td_host_declare_pages(host, &list->own_weights, edges * weight, "reordered lists"));
    td_host_note(host, td_lists_order_bytes(graph, edges, shape->order, in_file, td_pool_threads(self->gpu.options->pool)));
    if (!host->measures) TD_TRY(order(self, list, &from, shape));
    list->targets = list->own_targets;
    list->weights = list->own_weights;
done:
    if (!joined) return status;
    td_host_undeclare(host, &from.targets, edges, sizeof(uint32_t));
    if (weight > 0) td_host_undeclare(host, &from.weights, edges, weight);
    return status;
}

td_status td_streaming_make_host_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                                      const td_streaming_shape *shape)
{
    td_adjacency both = {0};
    const td_graph *graph = self->gpu.graph;
    list->weight_bytes = shape->weighted ? td_weight_bytes(graph->weights) : 0;
    if (shape->both) {
        TD_CHECK(td_lists_join(graph, shape->weighted, &both, &self->gpu.memory.host, self->gpu.options->pool));
        take_joined(list, &both);
    } else {
        take_graphs_own(list, from, shape->weighted);
    }
    list->useful_bytes = (uint32_t)td_link_edge_bytes(list);
    bool copied = shape->order != TD_LISTS_STORED || shape->weight_bits > 0;
    return copied ? put_in_order(self, list, shape, shape->both) : TD_OK;
}

static td_status find_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                           const td_streaming_shape *shape)
{
    bool second = list == &self->layout->lists[1], done = false;
    if (shape->prepared >> second & 1u) TD_CHECK(td_streaming_read_prepared(self, list, shape, second, &done));
    return done ? TD_OK : td_streaming_make_host_list(self, list, from, shape);
}

td_status td_streaming_find_host_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                                      const td_streaming_shape *shape)
{
    filling all = {.light = {self->gpu.graph, list, shape->light}};
    TD_CHECK(declare_light(self, list, shape));
    TD_CHECK(find_list(self, list, from, shape));
    if (self->gpu.memory.measures || list->own_light == NULL) return TD_OK;
    return td_pool_for(self->gpu.options->pool, td_lists_pieces(list->edges), 64, count_across, &all);
}

bool td_streaming_orders_file(const td_graph *graph, const td_streaming_shape *shape)
{
    const uint32_t *first = shape->pushes || graph->symmetric ? graph->out.targets : graph->in.targets;
    return shape->order != TD_LISTS_STORED && !shape->both && td_checks_pending(graph, first);
}
