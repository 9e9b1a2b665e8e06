/* The coop engine's layout: the split graph, its hot part on the device, the rest in pinned host memory. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/log.h"
#include "gpu/transfer.h"

#include <stdatomic.h>
#include <string.h>

/* Freeing. */

static void *own(const void *memory) { return (void *)(uintptr_t)memory; }

static void free_lists(td_coop_graph *layout)
{
    const td_adjacency *rest = layout->cut != NULL ? &layout->cut->rest : NULL;
    if (layout->pinned[0]) td_device_unpin(layout->device, rest->targets);
    if (layout->pinned[1]) td_device_unpin(layout->device, rest->weights);
    td_link_free_compressed(layout->device, &layout->link);
    layout->link = (td_link_list){0};
    for (int i = 0; i < TD_COOP_WINDOWS; i++) {
        td_device_free(layout->device, layout->window[i]);
        if (layout->freed[i] != NULL) td_event_destroy(layout->device, layout->freed[i]);
        layout->window[i] = NULL;
        layout->freed[i] = NULL;
    }
    for (int i = 0; i < TD_COOP_DEQUES; i++) {
        td_device_free(layout->device, layout->resident[i].words);
        td_device_free(layout->device, layout->resident[i].at);
        layout->resident[i] = (td_coop_windows){0};
    }
    td_device_free(layout->device, own(layout->hot.offsets));
    td_device_free(layout->device, own(layout->hot.targets));
    td_device_free(layout->device, own(layout->hot.weights));
    td_device_free(layout->device, own(layout->rest.offsets));
    td_device_free(layout->device, layout->out);
    for (int i = 0; i < TD_COOP_DEQUES; i++) td_gpu_free_head_arrays(layout->device, &layout->heads[i]);
    layout->hot = layout->rest = (td_gpu_list){0};
    layout->out = NULL;
    layout->cut = NULL;
    layout->pinned[0] = layout->pinned[1] = layout->readable = layout->prepared = false;
    td_split_free(&layout->split);
}

void td_coop_release(void *state)
{
    td_coop_graph *layout = state;
    if (layout == NULL) return;
    if (layout->stream != NULL) (void)td_stream_synchronize(layout->stream);
    if (layout->copies != NULL) (void)td_stream_synchronize(layout->copies);
    if (layout->incoming != NULL) (void)td_stream_synchronize(layout->incoming);
    if (layout->hot_stream != NULL) (void)td_stream_synchronize(layout->hot_stream);
    if (layout->device != NULL) free_lists(layout);
    td_stream_close(layout->incoming);
    td_stream_close(layout->hot_stream);
    td_stream_close(layout->copies);
    td_stream_close(layout->stream);
    td_free(layout);
}

/* Loading. */

static td_status pin_rest(td_coop_graph *layout)
{
    const td_adjacency *rest = &layout->cut->rest;
    uint64_t edges = rest->offsets[layout->split.vertices];
    void *targets = NULL, *weights = NULL;
    if (edges == 0) return TD_OK;
    layout->pinned[0] = td_device_pin(layout->device, rest->targets, edges * sizeof(uint32_t), &targets) == TD_OK;
    if (layout->pinned[0] && rest->weights != NULL)
        layout->pinned[1] =
            td_device_pin(layout->device, rest->weights, edges * layout->split.weight_bytes, &weights) == TD_OK;
    bool all = layout->pinned[0] && (rest->weights == NULL || layout->pinned[1]);
    if (!all) td_warn("%s; the GPU cannot read the rest of the edges from host memory", td_last_message());
    layout->readable = all && td_device_supports(layout->device, TD_FEATURE_HOST_READS);
    layout->rest.targets = targets;
    layout->rest.weights = weights;
    return TD_OK;
}

static uint64_t offset_of(const void *offsets, uint64_t v) { return ((const uint64_t *)offsets)[v]; }

static td_status fill_heads(td_coop_job *self, const uint64_t *offsets, const td_gpu_head_arrays *to)
{
    td_status status = TD_OK;
    const td_coop_graph *layout = self->layout;
    td_gpu_heads found = {0};
    TD_TRY(td_gpu_find_heads(&found, offset_of, offsets, layout->split.vertices, self->gpu.options->pool));
    TD_TRY(td_gpu_upload_heads(&self->gpu, to, &found));
done:
    if (status != TD_OK) (void)td_stream_synchronize(layout->stream);
    td_gpu_free_heads(&found);
    return status;
}

/* Measures the copy rate of the link with the first edges of the rest; the second of two copies counts. */
static td_status measure_copies(td_coop_graph *layout, uint64_t most)
{
    enum { MOST = 32 << 20 };
    const td_adjacency *rest = &layout->cut->rest;
    uint64_t bytes = rest->offsets[layout->split.vertices] * sizeof(uint32_t), began = 0;
    void *room = NULL;
    if (bytes > MOST) bytes = MOST;
    if (bytes > most) bytes = most;
    layout->copy_rate = 10;
    if (bytes == 0 || td_device_left(layout->device) < bytes) return TD_OK;
    TD_CHECK(td_device_new(layout->device, &room, bytes, 1, "measurement of the link"));
    td_status status = TD_OK;
    for (int i = 0; i < 2 && status == TD_OK; i++) {
        began = td_device_clock(layout->device);
        status = td_stream_copy(layout->copies, room, rest->targets, bytes, TD_TO_DEVICE);
        if (status == TD_OK) status = td_stream_synchronize(layout->copies);
    }
    uint64_t took = td_device_clock(layout->device) - began;
    if (status == TD_OK) layout->copy_rate = (double)bytes / (double)(took == 0 ? 1 : took);
    td_device_free(layout->device, room);
    return status;
}

/* Declares an array of the device and, in a run, fills it. */
static td_status send(td_coop_job *self, void *slot, const void *host, uint64_t count, uint64_t bytes, const char *what)
{
    void *to;
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, slot, count, bytes, what));
    td_gpu_ring_note(&self->gpu, count * bytes);
    if (self->gpu.memory.measures || count == 0) return TD_OK;
    memcpy(&to, slot, sizeof to);
    return td_gpu_upload(&self->gpu, to, host, count * bytes);
}

/* The number of hot edges is known only after the split: measuring assumes as many as fit. */
static td_status send_hot(td_coop_job *self, uint64_t room)
{
    td_coop_graph *layout = self->layout;
    const td_adjacency *hot = &layout->cut->hot;
    size_t weight = layout->split.weight_bytes;
    uint64_t most = room / (sizeof(uint32_t) + weight);
    uint64_t edges = most < layout->split.edges ? most : layout->split.edges;
    if (!self->gpu.memory.measures) edges = hot->offsets[layout->split.vertices];
    TD_CHECK(send(self, &layout->hot.targets, hot->targets, edges, sizeof(uint32_t), "the hot part"));
    return weight == 0 ? TD_OK : send(self, &layout->hot.weights, hot->weights, edges, weight, "the hot part's weights");
}

/* Declares the device's arrays of both parts besides edges; hot and rest: their numbers of edges. */
static td_status declare_offsets(td_gpu_memory *memory, td_coop_graph *layout, bool accumulates, uint64_t hot,
                                 uint64_t rest)
{
    uint64_t n = layout->split.vertices, bytes = sizeof(uint64_t);
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &layout->hot.offsets, n + 1, bytes, "the hot part's offsets"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &layout->rest.offsets, n + 1, bytes, "the rest's offsets"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &layout->out, n + 1, bytes, "out-degrees"));
    if (!accumulates) return TD_OK;
    TD_CHECK(td_gpu_declare_heads(memory, &layout->heads[TD_COOP_HOT], hot, n));
    return td_gpu_declare_heads(memory, &layout->heads[TD_COOP_REST], rest, n);
}

/* Measures as if all edges were in one part: list starts take the same, but for a tile in each. */
static td_status send_offsets(td_coop_job *self, bool accumulates)
{
    td_coop_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t n = layout->split.vertices, bytes = (n + 1) * sizeof(uint64_t), edges = layout->split.edges;
    const uint64_t *hot = layout->cut->hot.offsets, *rest = layout->cut->rest.offsets;
    bool measures = memory->measures;
    TD_CHECK(declare_offsets(memory, layout, accumulates, measures ? edges + TD_GPU_TILE : hot[n], measures ? 0 : rest[n]));
    td_gpu_ring_note(&self->gpu, bytes);
    if (accumulates) td_gpu_note_heads(&self->gpu, edges, n); /* of both parts, one by one */
    if (measures) return TD_OK;
    TD_CHECK(td_gpu_upload(&self->gpu, own(layout->hot.offsets), hot, bytes));
    TD_CHECK(td_gpu_upload(&self->gpu, own(layout->rest.offsets), rest, bytes));
    TD_CHECK(td_gpu_upload(&self->gpu, layout->out, layout->split.out, bytes));
    TD_CHECK(td_stream_synchronize(layout->stream));
    if (!accumulates) return TD_OK;
    TD_CHECK(fill_heads(self, hot, &layout->heads[TD_COOP_HOT]));
    return fill_heads(self, rest, &layout->heads[TD_COOP_REST]);
}

/* Windows: compressed targets, for accumulating programs without weights. */

static td_status make_windows(td_coop_job *self, td_link_list *link, const td_adjacency *list, uint32_t shift,
                              uint64_t edges)
{
    td_coop_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t size = UINT64_C(1) << shift, guess = (uint64_t)(self->setup.compressed_guess * (double)edges);
    *link = (td_link_list){.offsets = list->offsets, .targets = list->targets, .edges = edges, .shift = shift,
                           .subgraphs = (uint32_t)((edges + size - 1) >> shift)};
    TD_CHECK(td_link_compress(link, guess, &memory->host, layout->device, self->gpu.options->pool));
    if (memory->measures || (link->compressed != NULL && link->compressed_most <= size)) return TD_OK;
    td_link_free_compressed(layout->device, link); /* the targets do not shrink */
    return TD_OK;
}

/* Uploads the windows from `first` on. */
static td_status upload_windows(td_coop_job *self, const td_link_list *link, uint32_t first, td_coop_windows *resident)
{
    uint64_t base = link->compressed_at[first], words = link->compressed_at[link->subgraphs] - base;
    if (words == 0) return TD_OK;
    resident->first = first;
    resident->end = link->subgraphs;
    resident->base = base;
    TD_CHECK(send(self, &resident->words, link->compressed + base, words, sizeof(uint32_t), "compressed targets"));
    TD_CHECK(send(self, &resident->at, link->compressed_at + first, link->subgraphs - first + UINT64_C(1),
                  sizeof(uint64_t), "starts of windows"));
    return td_stream_synchronize(self->layout->stream);
}

/* Measures both parts, compressed and not; the compressed hot part leaves the host when it has been uploaded. On the
 * device, compressed edges fill the room, unless all of them take less. */
static td_status measure_compressed(td_coop_job *self, uint32_t shift, uint64_t room)
{
    td_coop_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t all = layout->split.edges, most = layout->request.room / sizeof(uint32_t);
    uint64_t inside = most < all ? most : all;
    const td_adjacency none = {0};
    td_link_list hot;
    uint32_t *edges;
    TD_CHECK(make_windows(self, &layout->link, &none, shift, all - inside));
    uint64_t before = memory->host.bytes;
    TD_CHECK(make_windows(self, &hot, &none, shift, inside));
    uint64_t windows = TD_COOP_WINDOWS * (UINT64_C(1) << shift);
    uint64_t words = (uint64_t)(self->setup.compressed_guess * (double)(all +
                                                                        windows)), bytes = words * sizeof(uint32_t);
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &edges, bytes < room ? bytes : room, 1, "compressed targets"));
    td_host_let_go(&memory->host, memory->host.bytes - before);
    return TD_OK;
}

/* First of as many windows at the end of the rest as fit. */
static uint32_t first_resident(const td_link_list *link, uint64_t room)
{
    uint32_t first = link->subgraphs;
    while (first > 0 && (link->compressed_at[link->subgraphs] - link->compressed_at[first - 1]) * sizeof(uint32_t) +
                                (link->subgraphs - first + UINT64_C(2)) * sizeof(uint64_t) <= room)
        first--;
    return first;
}

/* Uploads the compressed hot part and, in the memory that this saves, windows of the rest. */
static td_status send_compressed(td_coop_job *self, uint32_t shift, uint64_t room)
{
    td_coop_graph *layout = self->layout;
    uint64_t n = layout->split.vertices;
    td_link_list hot, *link = &layout->link;
    td_status status = TD_OK;
    TD_CHECK(make_windows(self, link, &layout->cut->rest, shift, layout->cut->rest.offsets[n]));
    if (link->compressed == NULL) return send_hot(self, room);
    TD_TRY(make_windows(self, &hot, &layout->cut->hot, shift, layout->cut->hot.offsets[n]));
    if (hot.compressed == NULL) TD_TRY(send_hot(self, room));
    else TD_TRY(upload_windows(self, &hot, 0, &layout->resident[TD_COOP_HOT]));
    uint64_t taken = hot.compressed != NULL ? hot.compressed_at[hot.subgraphs] + 2 * (hot.subgraphs + UINT64_C(1))
                                            : hot.edges;
    taken += TD_COOP_WINDOWS * link->compressed_most;
    if (room > taken * sizeof(uint32_t))
        TD_TRY(upload_windows(self, link, first_resident(link, room - taken * sizeof(uint32_t)),
                              &layout->resident[TD_COOP_REST]));
    for (int i = 0; i < TD_COOP_WINDOWS; i++)
        TD_TRY(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &layout->window[i], link->compressed_most,
                              sizeof(uint32_t), "compressed window"));
done:
    if (status != TD_OK) (void)td_stream_synchronize(layout->stream);
    td_link_free_compressed(layout->device, &hot);
    return status;
}

typedef struct longest {
    const td_split_lists *cut;
    _Atomic uint64_t found;
} longest;

static td_status find_longest_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    longest *self = context;
    uint64_t most = 0;
    for (uint64_t v = begin; v < end; v++)
        for (int i = 0; i < TD_COOP_DEQUES; i++) {
            const td_adjacency *list = i == TD_COOP_HOT ? &self->cut->hot : &self->cut->rest;
            uint64_t length = list->offsets[v + 1] - list->offsets[v];
            if (length > most) most = length;
        }
    uint64_t before = self->found;
    while (most > before && !atomic_compare_exchange_weak(&self->found, &before, most)) {}
    return TD_OK;
}

static td_status find_longest(td_coop_graph *layout, td_pool *pool)
{
    longest self = {.cut = layout->cut};
    TD_CHECK(td_pool_for(pool, layout->split.vertices, 1 << 16, find_longest_part, &self));
    layout->longest = self.found;
    return TD_OK;
}

static void make_shadow(td_coop_graph *layout)
{
    const td_graph *graph = layout->gpu.graph;
    layout->shadow = (td_graph){.vertices = graph->vertices, .edges = layout->split.edges,
                              .symmetric = graph->symmetric || layout->request.both, .weights = graph->weights,
                              .weight_min = graph->weight_min, .weight_max = graph->weight_max,
                              .out = {.offsets = layout->split.out}, .in = {.offsets = layout->split.out},
                              .name = graph->name};
}

static td_status make_lists(td_coop_job *self, const td_split_request *request, uint32_t shift, uint64_t room)
{
    td_coop_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    memory->device = self->gpu.device = layout->device;
    memory->cache = self->gpu.options->cache;
    self->gpu.stream = layout->stream;
    TD_CHECK(td_coop_split(self, request));
    layout->numbering = (td_numbering){layout->split.vertices, layout->split.order, layout->split.place};
    layout->request = *request;
    layout->cut = request->pushes ? &layout->split.push : &layout->split.pull;
    make_shadow(layout);
    if (memory->measures) {
        TD_CHECK(send_offsets(self, !request->pushes));
        bool compresses = shift > 0 && self->setup.compressed_guess > 0;
        return compresses ? measure_compressed(self, shift, room) : send_hot(self, room);
    }
    if (layout->split.inside == 0) return TD_OK; /* no hot part */
    TD_CHECK(find_longest(layout, self->gpu.options->pool));
    TD_CHECK(pin_rest(layout));
    TD_CHECK(send_offsets(self, !request->pushes));
    if (shift > 0) TD_CHECK(send_compressed(self, shift, room));
    else TD_CHECK(send_hot(self, room));
    TD_CHECK(td_stream_synchronize(layout->stream));
    return measure_copies(layout, self->setup.probe_bytes);
}

static uint64_t windows_bytes(uint32_t shift) { return TD_COOP_WINDOWS * sizeof(uint32_t) << shift; }

/* Windows take a small part of the room for edges; 0: too little room. */
static uint32_t window_shift(uint64_t room)
{
    enum { LEAST = 10, MOST = 22, PART = 16 };
    uint32_t shift = MOST;
    while (shift >= LEAST && windows_bytes(shift) > room / PART) shift--;
    return shift >= LEAST ? shift : 0;
}

td_status td_coop_prepare(td_coop_job *self, uint64_t room)
{
    td_coop_graph *layout = self->layout;
    td_split_request request = td_coop_request(self);
    bool compresses = request.pulls && !request.pushes && !request.weighted && self->setup.compress;
    uint32_t shift = compresses ? window_shift(room) : 0;
    request.room = shift > 0 ? room - windows_bytes(shift) : room;
    if (self->gpu.memory.measures) return make_lists(self, &request, shift, room);
    if (layout->split.out != NULL && memcmp(&layout->request, &request, sizeof request) == 0 &&
        layout->compress == self->setup.compress)
        return TD_OK;
    td_gpu_mark before = td_gpu_layout_mark(self->gpu.options);
    free_lists(layout);
    layout->compress = self->setup.compress;
    td_status status = make_lists(self, &request, shift, room);
    td_gpu_layout_note(self->gpu.options, &before);
    if (status == TD_OK) return TD_OK;
    (void)td_stream_synchronize(layout->stream);
    free_lists(layout);
    return status;
}

/* Opening. */

static td_status open_streams(void *state, td_device *device)
{
    td_coop_graph *layout = state;
    layout->device = device;
    TD_CHECK(td_stream_open(device, &layout->stream));
    TD_CHECK(td_stream_open_low_priority(device, &layout->hot_stream)); /* low priority: kernels over the link's edges
                                                                         * go first */
    TD_CHECK(td_stream_open(device, &layout->copies));
    return td_stream_open(device, &layout->incoming);
}

const td_gpu_layout_kind td_coop_layout_kind = {"coop", sizeof(td_coop_graph), open_streams, td_coop_release, false};
