/* What stays from run to run: the graph cut in two, its hot part on the device, the rest in pinned memory. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/log.h"

#include <string.h>

/* Giving back. */

static void *own(const void *memory) { return (void *)(uintptr_t)memory; }

static void free_lists(td_coop_graph *held)
{
    const td_adjacency *rest = held->cut != NULL ? &held->cut->rest : NULL;
    if (held->pinned[0]) td_device_unpin(held->device, rest->targets);
    if (held->pinned[1]) td_device_unpin(held->device, rest->weights);
    td_link_free_narrow(held->device, &held->link);
    held->link = (td_link_list){0};
    for (int i = 0; i < TD_COOP_WINDOWS; i++) {
        td_device_free(held->device, held->narrow[i]);
        if (held->freed[i] != NULL) td_event_destroy(held->device, held->freed[i]);
        held->narrow[i] = NULL;
        held->freed[i] = NULL;
    }
    for (int i = 0; i < TD_POTS; i++) {
        td_device_free(held->device, held->kept[i].words);
        td_device_free(held->device, held->kept[i].at);
        held->kept[i] = (td_coop_narrow){0};
    }
    td_device_free(held->device, own(held->hot.offsets));
    td_device_free(held->device, own(held->hot.targets));
    td_device_free(held->device, own(held->hot.weights));
    td_device_free(held->device, own(held->rest.offsets));
    td_device_free(held->device, held->out);
    for (int i = 0; i < TD_POTS; i++) td_gpu_free_head_arrays(held->device, &held->heads[i]);
    held->hot = held->rest = (td_gpu_list){0};
    held->out = NULL;
    held->cut = NULL;
    held->pinned[0] = held->pinned[1] = held->readable = false;
    td_split_free(&held->split);
}

void td_coop_release(void *state)
{
    td_coop_graph *held = state;
    if (held == NULL) return;
    if (held->stream != NULL) (void)td_stream_synchronize(held->stream);
    if (held->copies != NULL) (void)td_stream_synchronize(held->copies);
    if (held->incoming != NULL) (void)td_stream_synchronize(held->incoming);
    if (held->hot_stream != NULL) (void)td_stream_synchronize(held->hot_stream);
    if (held->device != NULL) free_lists(held);
    td_stream_close(held->incoming);
    td_stream_close(held->hot_stream);
    td_stream_close(held->copies);
    td_stream_close(held->stream);
    td_free(held);
}

/* Bringing it there. */

static td_status pin_rest(td_coop_graph *held)
{
    const td_adjacency *rest = &held->cut->rest;
    uint64_t edges = rest->offsets[held->split.vertices];
    void *targets = NULL, *weights = NULL;
    if (edges == 0) return TD_OK;
    held->pinned[0] = td_device_pin(held->device, rest->targets, edges * sizeof(uint32_t), &targets) == TD_OK;
    if (held->pinned[0] && rest->weights != NULL)
        held->pinned[1] =
            td_device_pin(held->device, rest->weights, edges * held->split.weight_bytes, &weights) == TD_OK;
    bool all = held->pinned[0] && (rest->weights == NULL || held->pinned[1]);
    if (!all) td_warn("%s; the GPU cannot help the CPU with the rest of the edges", td_last_message());
    held->readable = all && td_device_supports(held->device, TD_FEATURE_HOST_READS);
    held->rest.targets = targets;
    held->rest.weights = weights;
    return TD_OK;
}

static uint64_t offset_of(const void *offsets, uint64_t v) { return ((const uint64_t *)offsets)[v]; }

static td_status fill_heads(td_coop_graph *held, const uint64_t *offsets, const td_gpu_head_arrays *to)
{
    td_status status = TD_OK;
    td_gpu_heads found = {0};
    TD_TRY(td_gpu_find_heads(&found, offset_of, offsets, held->split.vertices));
    TD_TRY(td_gpu_send_heads(held->stream, to, &found));
done:
    if (status != TD_OK) (void)td_stream_synchronize(held->stream);
    td_gpu_free_heads(&found);
    return status;
}

/* How fast the link is: the second of two copies of the begin of the rest counts. */
static td_status measure_copies(td_coop_graph *held, uint64_t most)
{
    enum { MOST = 32 << 20 };
    const td_adjacency *rest = &held->cut->rest;
    uint64_t bytes = rest->offsets[held->split.vertices] * sizeof(uint32_t), began = 0;
    void *room = NULL;
    if (bytes > MOST) bytes = MOST;
    if (bytes > most) bytes = most;
    held->copy_rate = 10;
    if (bytes == 0 || td_device_left(held->device) < bytes) return TD_OK;
    TD_CHECK(td_device_new(held->device, &room, bytes, 1, "a measurement"));
    td_status status = TD_OK;
    for (int i = 0; i < 2 && status == TD_OK; i++) {
        began = td_device_clock(held->device);
        status = td_stream_copy(held->copies, room, rest->targets, bytes, TD_TO_DEVICE);
        if (status == TD_OK) status = td_stream_synchronize(held->copies);
    }
    uint64_t took = td_device_clock(held->device) - began;
    if (status == TD_OK) held->copy_rate = (double)bytes / (double)(took == 0 ? 1 : took);
    td_device_free(held->device, room);
    return status;
}

/* Declares an array of the device and, in a run, fills it. */
static td_status send(td_coop_job *self, void *slot, const void *host, uint64_t count, uint64_t bytes, const char *what)
{
    void *to;
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, slot, count, bytes, what));
    if (self->gpu.memory.measures || count == 0) return TD_OK;
    memcpy(&to, slot, sizeof to);
    return td_stream_copy(self->held->stream, to, host, count * bytes, TD_TO_DEVICE);
}

/* How many edges are hot is found when the graph is cut: at most as many as there is room for. */
static td_status send_hot(td_coop_job *self, uint64_t room)
{
    td_coop_graph *held = self->held;
    const td_adjacency *hot = &held->cut->hot;
    size_t weight = held->split.weight_bytes;
    uint64_t most = room / (sizeof(uint32_t) + weight);
    uint64_t edges = most < held->split.edges ? most : held->split.edges;
    if (!self->gpu.memory.measures) edges = hot->offsets[held->split.vertices];
    TD_CHECK(send(self, &held->hot.targets, hot->targets, edges, sizeof(uint32_t), "the hot part"));
    return weight == 0 ? TD_OK : send(self, &held->hot.weights, hot->weights, edges, weight, "the hot part's weights");
}

/* Declares what the device has of the two parts' lists besides edges, of which there are so many. */
static td_status declare_offsets(td_gpu_memory *memory, td_coop_graph *held, bool adds_up, uint64_t hot, uint64_t rest)
{
    uint64_t n = held->split.vertices, bytes = sizeof(uint64_t);
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &held->hot.offsets, n + 1, bytes, "the hot part's offsets"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &held->rest.offsets, n + 1, bytes, "the rest's offsets"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &held->out, n + 1, bytes, "out-degrees"));
    if (!adds_up) return TD_OK;
    TD_CHECK(td_gpu_declare_heads(memory, &held->heads[TD_POT_HOT], hot, n));
    return td_gpu_declare_heads(memory, &held->heads[TD_POT_REST], rest, n);
}

/* Where lists begin takes as much for all edges in one part, but for a tile in each. */
static td_status send_offsets(td_coop_job *self, bool adds_up)
{
    td_coop_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t n = held->split.vertices, bytes = (n + 1) * sizeof(uint64_t), edges = held->split.edges;
    const uint64_t *hot = held->cut->hot.offsets, *rest = held->cut->rest.offsets;
    bool measures = memory->measures;
    TD_CHECK(declare_offsets(memory, held, adds_up, measures ? edges + TD_GPU_TILE : hot[n], measures ? 0 : rest[n]));
    if (adds_up) td_host_note(&memory->host, td_gpu_head_host_bytes(edges, n)); /* of both parts, one by one */
    if (measures) return TD_OK;
    TD_CHECK(td_stream_copy(held->stream, own(held->hot.offsets), hot, bytes, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(held->stream, own(held->rest.offsets), rest, bytes, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(held->stream, held->out, held->split.out, bytes, TD_TO_DEVICE));
    TD_CHECK(td_stream_synchronize(held->stream));
    if (!adds_up) return TD_OK;
    TD_CHECK(fill_heads(held, hot, &held->heads[TD_POT_HOT]));
    return fill_heads(held, rest, &held->heads[TD_POT_REST]);
}

/* Windows: lists in fewer bits, for programs that add up along edges without weights. */

static td_status make_windows(td_coop_job *self, td_link_list *link, const td_adjacency *list, uint32_t shift,
                              uint64_t edges)
{
    td_coop_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t size = UINT64_C(1) << shift, guess = (uint64_t)(self->narrow_guess * (double)edges);
    *link = (td_link_list){.offsets = list->offsets, .targets = list->targets, .edges = edges, .shift = shift,
                           .subgraphs = (uint32_t)((edges + size - 1) >> shift)};
    TD_CHECK(td_link_narrow(link, guess, &memory->host, held->device, self->gpu.options->pool));
    if (memory->measures || (link->narrow != NULL && link->narrow_most <= size)) return TD_OK;
    td_link_free_narrow(held->device, link); /* no fewer bits */
    return TD_OK;
}

/* Windows from `first` on stay on the device. */
static td_status keep_windows(td_coop_job *self, const td_link_list *link, uint32_t first, td_coop_narrow *kept)
{
    uint64_t base = link->narrow_at[first], words = link->narrow_at[link->subgraphs] - base;
    if (words == 0) return TD_OK;
    kept->first = first;
    kept->end = link->subgraphs;
    kept->base = base;
    TD_CHECK(send(self, &kept->words, link->narrow + base, words, sizeof(uint32_t), "edges in fewer bits"));
    TD_CHECK(send(self, &kept->at, link->narrow_at + first, link->subgraphs - first + UINT64_C(1), sizeof(uint64_t),
                  "where they begin"));
    return td_stream_synchronize(self->held->stream);
}

/* Measuring: the lists in both their forms, with the hot part's second one until it has crossed. What the device keeps
 * of them fills the room, unless all of it takes less. */
static td_status measure_narrow(td_coop_job *self, uint32_t shift, uint64_t room)
{
    td_coop_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t all = held->split.edges, most = held->wish.room / sizeof(uint32_t), inside = most < all ? most : all;
    const td_adjacency none = {0};
    td_link_list hot;
    uint32_t *edges;
    TD_CHECK(make_windows(self, &held->link, &none, shift, all - inside));
    uint64_t before = memory->host.bytes;
    TD_CHECK(make_windows(self, &hot, &none, shift, inside));
    uint64_t windows = TD_COOP_WINDOWS * (UINT64_C(1) << shift);
    uint64_t words = (uint64_t)(self->narrow_guess * (double)(all + windows)), bytes = words * sizeof(uint32_t);
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &edges, bytes < room ? bytes : room, 1, "edges in fewer bits"));
    td_host_let_go(&memory->host, memory->host.bytes - before);
    return TD_OK;
}

/* As many windows of the rest, from its end, as there is room for. */
static uint32_t first_kept(const td_link_list *link, uint64_t room)
{
    uint32_t first = link->subgraphs;
    while (first > 0 && (link->narrow_at[link->subgraphs] - link->narrow_at[first - 1]) * sizeof(uint32_t) +
                                (link->subgraphs - first + UINT64_C(2)) * sizeof(uint64_t) <= room)
        first--;
    return first;
}

/* The hot part in fewer bits, and in the room that this leaves windows of the rest. */
static td_status send_narrow(td_coop_job *self, uint32_t shift, uint64_t room)
{
    td_coop_graph *held = self->held;
    uint64_t n = held->split.vertices;
    td_link_list hot, *link = &held->link;
    td_status status = TD_OK;
    TD_CHECK(make_windows(self, link, &held->cut->rest, shift, held->cut->rest.offsets[n]));
    if (link->narrow == NULL) return send_hot(self, room);
    TD_TRY(make_windows(self, &hot, &held->cut->hot, shift, held->cut->hot.offsets[n]));
    if (hot.narrow == NULL) TD_TRY(send_hot(self, room));
    else TD_TRY(keep_windows(self, &hot, 0, &held->kept[TD_POT_HOT]));
    uint64_t taken = hot.narrow != NULL ? hot.narrow_at[hot.subgraphs] + 2 * (hot.subgraphs + UINT64_C(1)) : hot.edges;
    taken += TD_COOP_WINDOWS * link->narrow_most;
    if (room > taken * sizeof(uint32_t))
        TD_TRY(keep_windows(self, link, first_kept(link, room - taken * sizeof(uint32_t)), &held->kept[TD_POT_REST]));
    for (int i = 0; i < TD_COOP_WINDOWS; i++)
        TD_TRY(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &held->narrow[i], link->narrow_most, sizeof(uint32_t),
                              "a window in fewer bits"));
done:
    if (status != TD_OK) (void)td_stream_synchronize(held->stream);
    td_link_free_narrow(held->device, &hot);
    return status;
}

static void find_longest(td_coop_graph *held)
{
    held->longest = 0;
    for (uint64_t v = 0; v < held->split.vertices; v++)
        for (int i = 0; i < TD_POTS; i++) {
            const td_adjacency *list = i == TD_POT_HOT ? &held->cut->hot : &held->cut->rest;
            uint64_t length = list->offsets[v + 1] - list->offsets[v];
            if (length > held->longest) held->longest = length;
        }
}

static void make_shadow(td_coop_graph *held)
{
    const td_graph *graph = held->gpu.graph;
    held->shadow = (td_graph){.vertices = graph->vertices, .edges = held->split.edges,
                              .symmetric = graph->symmetric || held->wish.both, .weights = graph->weights,
                              .weight_min = graph->weight_min, .weight_max = graph->weight_max,
                              .out = {.offsets = held->split.out}, .in = {.offsets = held->split.out},
                              .name = graph->name};
}

static td_status make_lists(td_coop_job *self, const td_split_wish *wish, uint32_t shift, uint64_t room)
{
    td_coop_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    memory->device = held->device;
    memory->cache = self->gpu.options->cache;
    TD_CHECK(td_split_make(&held->split, held->gpu.graph, wish, &memory->host, self->gpu.options->pool));
    held->numbering = (td_numbering){held->split.vertices, held->split.order, held->split.place};
    held->wish = *wish;
    held->cut = wish->pushes ? &held->split.push : &held->split.pull;
    make_shadow(held);
    if (memory->measures) {
        TD_CHECK(send_offsets(self, !wish->pushes));
        return shift > 0 && self->narrow_guess > 0 ? measure_narrow(self, shift, room) : send_hot(self, room);
    }
    if (held->split.inside == 0) return TD_OK; /* nothing for the GPU */
    find_longest(held);
    TD_CHECK(pin_rest(held));
    TD_CHECK(send_offsets(self, !wish->pushes));
    if (shift > 0) TD_CHECK(send_narrow(self, shift, room));
    else TD_CHECK(send_hot(self, room));
    TD_CHECK(td_stream_synchronize(held->stream));
    return measure_copies(held, self->probe_bytes);
}

static uint64_t windows_bytes(uint32_t shift) { return TD_COOP_WINDOWS * sizeof(uint32_t) << shift; }

/* Windows take a small part of the room for edges; 0: there is none for them. */
static uint32_t window_shift(uint64_t room)
{
    enum { LEAST = 10, MOST = 22, PART = 16 };
    uint32_t shift = MOST;
    while (shift >= LEAST && windows_bytes(shift) > room / PART) shift--;
    return shift >= LEAST ? shift : 0;
}

td_status td_coop_hold(td_coop_job *self, uint64_t room)
{
    td_coop_graph *held = self->held;
    const td_cpu_kernels *k = self->gpu.traits;
    td_split_wish wish;
    memset(&wish, 0, sizeof wish); /* compared byte by byte */
    wish.order = self->order;
    wish.extract = self->extract;
    wish.weighted = self->gpu.run->program->info->weights != TD_WEIGHTS_UNUSED &&
                    held->gpu.graph->weights != TD_WEIGHT_NONE;
    wish.both = self->gpu.both;
    wish.pushes = k->fused;
    wish.pulls = !k->fused || !self->gpu.prioritised; /* distances by steps only push */
    uint32_t shift = wish.pulls && !wish.pushes && !wish.weighted && self->compress ? window_shift(room) : 0;
    wish.room = shift > 0 ? room - windows_bytes(shift) : room;
    if (self->gpu.memory.measures) return make_lists(self, &wish, shift, room);
    if (held->split.out != NULL && memcmp(&held->wish, &wish, sizeof wish) == 0 && held->compress == self->compress)
        return TD_OK;
    td_gpu_mark before = td_gpu_layout_mark(self->gpu.options);
    free_lists(held);
    held->compress = self->compress;
    td_status status = make_lists(self, &wish, shift, room);
    td_gpu_layout_note(self->gpu.options, &before);
    if (status == TD_OK) return TD_OK;
    (void)td_stream_synchronize(held->stream);
    free_lists(held);
    return status;
}

/* Opening. */

static td_status open_streams(void *state, td_device *device)
{
    td_coop_graph *held = state;
    held->device = device;
    TD_CHECK(td_stream_open(device, &held->stream));
    TD_CHECK(td_stream_open_low_priority(device, &held->hot_stream)); /* the link must not wait for what is there */
    TD_CHECK(td_stream_open(device, &held->copies));
    return td_stream_open(device, &held->incoming);
}

const td_gpu_keeper td_coop_keeper = {"coop", sizeof(td_coop_graph), open_streams, td_coop_release};
