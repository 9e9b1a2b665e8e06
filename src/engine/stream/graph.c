/* The layout of the stream engine: lists in pinned host memory, divided into subgraphs; their offsets and resident
 * prefix on the device; slots and chunks. It is cached between runs. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/numa.h"
#include "gpu/transfer.h"
#include "store/checks.h"

#include <stdatomic.h>
#include <string.h>

/* Freeing. */

static void free_list(td_streaming_graph *layout, td_link_list *list)
{
    td_streaming_unpin(layout, list);
    td_link_free_compressed(layout->device, list);
    td_device_free(layout->device, (void *)(uintptr_t)list->seen.offsets);
    td_device_free(layout->device, (void *)(uintptr_t)list->prefix.targets);
    td_device_free(layout->device, (void *)(uintptr_t)list->prefix.weights);
    td_device_free(layout->device, list->skip);
    td_device_free(layout->device, list->light);
    td_free(list->own_offsets);
    td_free(list->own_targets);
    td_free(list->own_weights);
    td_free(list->own_skip);
    td_free(list->own_light);
    td_free(list->first_vertex);
    *list = (td_link_list){0};
}

static void free_chunks(td_streaming_graph *layout)
{
    for (int i = 0; i < 2; i++) {
        if (layout->chunk_pinned[i]) td_device_unpin(layout->device, layout->staging[i]);
        td_free(layout->staging[i]);
        td_device_free(layout->device, layout->chunk[i]);
        td_free(layout->table[i]);
        td_device_free(layout->device, layout->device_table[i]);
        layout->staging[i] = layout->chunk[i] = NULL;
        layout->table[i] = layout->device_table[i] = NULL;
        layout->chunk_pinned[i] = false;
    }
}

static void free_lists(td_streaming_graph *layout)
{
    for (int i = 0; i < 2; i++) free_list(layout, &layout->lists[i]);
    for (uint32_t i = 0; i < layout->slots.count; i++) {
        if (layout->slots.slots[i].owner != TD_NO_SUBGRAPH) continue;
        td_device_free(layout->device, layout->slots.slots[i].targets);
        td_device_free(layout->device, layout->slots.slots[i].weights);
    }
    td_slots_free(&layout->slots);
    td_device_free(layout->device, layout->own_slots);
    layout->own_slots = NULL;
    td_gpu_free_head_arrays(layout->device, &layout->heads);
    layout->heads_of = NULL;
    td_device_free(layout->device, layout->window);
    layout->window = NULL;
    free_chunks(layout);
    td_streaming_free_places(layout);
    td_streaming_free_survivors(layout);
    layout->prepared_read = 0;
}

void td_streaming_release(void *state)
{
    td_streaming_graph *layout = state;
    if (layout == NULL) return;
    if (layout->stream != NULL) (void)td_stream_synchronize(layout->stream);
    if (layout->copies != NULL) (void)td_stream_synchronize(layout->copies);
    if (layout->device != NULL) free_lists(layout);
    td_stream_close(layout->copies);
    td_stream_close(layout->stream);
    td_free(layout);
}

/* Fields that follow from the shape alone: edges, their bytes, the number of subgraphs. */
static void describe_list(const td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape)
{
    list->edges = self->gpu.graph->edges * (shape->both ? 2 : 1);
    list->weight_bytes = shape->weighted && shape->weight_bits == 0 ? td_weight_bytes(self->gpu.graph->weights) : 0;
    while ((UINT64_C(2) << list->shift) <= shape->slot_edges) list->shift++;
    list->subgraphs = (uint32_t)((list->edges + (UINT64_C(1) << list->shift) - 1) >> list->shift);
}

/* Counts lists by length; td_link_list.lengths. */
typedef struct measuring {
    td_link_list *list;
    _Atomic uint64_t lengths[TD_LINK_LENGTHS + 1], longest;
} measuring;

static td_status measure_lengths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    measuring *self = context;
    uint64_t lengths[TD_LINK_LENGTHS + 1] = {0}, longest = 0;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = self->list->offsets[v + 1] - self->list->offsets[v];
        if (degree > longest) longest = degree;
        lengths[degree < TD_LINK_LENGTHS ? degree : TD_LINK_LENGTHS]++;
    }
    for (uint32_t k = 0; k <= TD_LINK_LENGTHS; k++) self->lengths[k] += lengths[k];
    uint64_t before = self->longest;
    while (longest > before && !atomic_compare_exchange_weak(&self->longest, &before, longest)) {}
    return TD_OK;
}

static td_status find_lengths(td_streaming_job *self, td_link_list *list)
{
    measuring lists = {.list = list};
    TD_CHECK(td_pool_for(self->gpu.options->pool, self->gpu.graph->vertices, 1 << 16, measure_lengths, &lists));
    for (uint32_t k = 0; k <= TD_LINK_LENGTHS; k++) list->lengths[k] = lists.lengths[k];
    list->longest = lists.longest;
    return TD_OK;
}

/* The vertex whose list has the first edge of every subgraph, by bisection. */
static td_status cut_subgraphs(td_streaming_job *self, td_link_list *list)
{
    uint64_t n = self->gpu.graph->vertices, count = list->subgraphs;
    TD_CHECK(td_host_declare(&self->gpu.memory.host, &list->first_vertex, count + 1, sizeof *list->first_vertex,
                             "subgraphs"));
    if (self->gpu.memory.measures) return TD_OK;
    for (uint32_t s = 0; s < list->subgraphs; s++)
        list->first_vertex[s] = td_link_vertex(list, td_link_begin(list, s), s > 0 ? list->first_vertex[s - 1] : 0,
                                               (uint32_t)n);
    list->first_vertex[count] = (uint32_t)n;
    return find_lengths(self, list);
}

/* Estimates the words of compressed targets for a plan: of the graph's lists from a sample, of joined lists as the sum of
 * both samples, of reordered lists as the upper bound. */
static uint64_t guess_compressed(const td_streaming_job *self, const td_link_list *list, const td_streaming_shape *shape)
{
    const td_graph *graph = self->gpu.graph;
    uint64_t most = (uint64_t)(TD_LINK_WORTH_IT * (double)list->edges);
    const uint32_t *first = shape->both ? graph->in.targets : list->targets;
    if (!self->gpu.memory.measures) return 0;
    if (shape->prepared != 0) return shape->prepared_words + td_lists_groups(list->edges);
    if (shape->order != TD_LISTS_STORED || first == NULL || td_checks_pending(graph, first)) return most;
    uint64_t words = td_link_guess_compressed(first, graph->edges);
    if (!shape->both) return words;
    uint64_t more = td_link_guess_compressed(graph->out.targets, graph->edges);
    return words > 0 && more > 0 ? words + more : most;
}

static td_status make_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                           const td_streaming_shape *shape)
{
    td_stream *stream = self->layout->stream;
    uint64_t count = self->gpu.graph->vertices + UINT64_C(1);
    describe_list(self, list, shape);
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->seen.offsets, count, sizeof(uint64_t),
                            "the graph's offsets"));
    td_gpu_ring_note(&self->gpu, count * sizeof(uint64_t));
    TD_CHECK(td_streaming_find_host_list(self, list, from, shape));
    if (list == &self->layout->lists[0]) TD_CHECK(td_streaming_place(self, shape)); /* pinned pages do not move */
    if (!self->gpu.memory.measures) td_streaming_pin(self->layout, list);
    TD_CHECK(cut_subgraphs(self, list));
    bool read = self->gpu.memory.measures ? shape->prepared != 0 : list->compressed != NULL;
    if (shape->compresses && !read)
        TD_CHECK(td_link_compress(list, guess_compressed(self, list, shape), &self->gpu.memory.host, self->layout->device,
                                self->gpu.options->pool));
    if (self->gpu.memory.measures) return TD_OK;
    TD_CHECK(td_gpu_upload(&self->gpu, (void *)(uintptr_t)list->seen.offsets, list->offsets, count * sizeof(uint64_t)));
    return td_stream_synchronize(stream);
}

/* Slots and chunks. */

/* Compressed lists need smaller slots, so that more fit in the same memory, and sweeps and pushes need a window to
 * expand into. If the lists hardly shrink, or two slots do not fit, they cross uncompressed. */
static void fit_compressed(td_streaming_graph *layout, uint64_t slot_edges, uint64_t *words, uint64_t *slots)
{
    td_link_list *lists = layout->lists;
    bool two = lists[1].offsets != NULL;
    bool compresses = lists[0].compressed != NULL && (!two || lists[1].compressed != NULL);
    uint64_t most = lists[0].compressed_most;
    if (two && lists[1].compressed_most > most) most = lists[1].compressed_most;
    uint64_t weights = slot_edges * lists[0].weight_bytes, room = *slots * (slot_edges * sizeof(uint32_t) + weights);
    uint64_t window = layout->shape.pushes ? slot_edges * sizeof(uint32_t) : 0;
    uint64_t fits = compresses ? (room - window) / (most * sizeof(uint32_t) + weights) : 0;
    uint64_t subgraphs = lists[0].subgraphs > lists[1].subgraphs ? lists[0].subgraphs : lists[1].subgraphs;
    if (fits < 2) {
        if (layout->shape.compresses == TD_COMPRESS_ASKED)
            td_warn("stream.compress=on: %s; subgraphs cross uncompressed",
                    compresses ? "there is no room for two subgraphs" : "the lists hardly shrink");
        for (int i = 0; i < 2; i++) td_link_free_compressed(layout->device, &lists[i]);
        return;
    }
    *words = most;
    *slots = fits < subgraphs ? fits : subgraphs;
}

/* An accumulating program processes every subgraph in every iteration, so the number of resident bytes counts, not
 * their choice. All but a few slots are reserved for one subgraph each and have its compressed length; they share one
 * allocation. */
enum { PASSING_SLOTS = 6, OWN_ALIGNMENT = 128 };

static uint64_t own_bytes(const td_link_list *list, uint32_t s)
{
    return (td_link_bytes(list, s) + 2 * OWN_ALIGNMENT - 1) / OWN_ALIGNMENT * OWN_ALIGNMENT;
}

/* Chooses the subgraphs that get a reserved slot; returns the bytes of these slots. */
static uint64_t choose_owners(const td_link_list *list, uint64_t room, uint32_t *owners, uint64_t *count)
{
    uint64_t taken = 0;
    *count = 0;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        uint64_t bytes = own_bytes(list, s);
        if (bytes > room - taken) continue;
        taken += bytes;
        owners[(*count)++] = s;
    }
    return taken;
}

static void give_own_slots(td_streaming_graph *layout, const uint32_t *owners, uint64_t count)
{
    const td_link_list *list = &layout->lists[0];
    char *at = layout->own_slots;
    for (uint64_t i = 0; i < count; i++) {
        td_slot *slot = &layout->slots.slots[layout->slots.count - count + i];
        uint64_t edges = td_link_end(list, owners[i]) - td_link_begin(list, owners[i]);
        uint64_t targets = td_link_bytes(list, owners[i]) - edges * list->weight_bytes;
        slot->owner = owners[i];
        slot->targets = at;
        if (list->weight_bytes > 0) slot->weights = at + (targets + OWN_ALIGNMENT - 1) / OWN_ALIGNMENT * OWN_ALIGNMENT;
        at += own_bytes(list, owners[i]);
    }
}

/* *slots becomes the number of unreserved slots, which come first and have `slot_bytes` each. */
static td_status make_own_slots(td_streaming_job *self, uint64_t room, uint64_t slot_bytes, uint64_t *slots)
{
    td_streaming_graph *layout = self->layout;
    td_link_list *list = &layout->lists[0];
    uint32_t *owners;
    uint64_t count, passing = *slots < PASSING_SLOTS ? *slots : PASSING_SLOTS;
    TD_CHECK(TD_NEW(&owners, list->subgraphs, "owners of slots"));
    uint64_t bytes = choose_owners(list, room, owners, &count);
    if (count == list->subgraphs) passing = 0;
    else bytes = choose_owners(list, room - passing * slot_bytes, owners, &count);
    *slots = passing;
    td_status status = td_slots_make(&layout->slots, (uint32_t)(passing + count));
    if (status == TD_OK && count > 0)
        status = td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &layout->own_slots, bytes, 1, "subgraphs");
    if (status == TD_OK) give_own_slots(layout, owners, count);
    td_free(owners);
    return status;
}

static td_status declare_slot(td_gpu_memory *memory, td_slot *slot, uint64_t words, uint64_t edges, size_t weight)
{
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &slot->targets, words, sizeof(uint32_t), "a subgraph"));
    if (weight == 0) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_EDGES, &slot->weights, edges, weight, "a subgraph's weights");
}

/* Uncompressed slots take the most. Compressed ones, whose number only the run knows, take no more in total, and less if
 * all compressed lists fit. */
static td_status measure_slots(td_streaming_job *self, const td_streaming_shape *shape)
{
    const td_link_list *list = &self->layout->lists[0];
    uint64_t edges = UINT64_C(1) << list->shift, room = shape->slots * edges * td_link_edge_bytes(list);
    uint64_t words = shape->compresses ? guess_compressed(self, list, shape) : 0;
    uint64_t whole = words * sizeof(uint32_t) + list->edges * list->weight_bytes +
                     (uint64_t)list->subgraphs * 2 * OWN_ALIGNMENT;
    td_slot slot;
    if (words > 0 && !shape->pushes && whole < room)
        return td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &slot.targets, whole, 1, "subgraphs");
    for (uint64_t i = 0; i < shape->slots; i++)
        TD_CHECK(declare_slot(&self->gpu.memory, &slot, edges, edges, list->weight_bytes));
    return TD_OK;
}

/* Prepared compressed lists that cross uncompressed after all: the run takes the graph's own. */
static td_status take_whole_targets(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_link_list *list = &self->layout->lists[0];
    const td_graph *graph = self->gpu.graph;
    if (list->targets != NULL || list->edges == 0) return TD_OK;
    td_streaming_unpin(self->layout, list);
    td_free(list->own_offsets);
    td_free(list->own_weights);
    list->own_offsets = NULL;
    list->own_weights = NULL;
    self->layout->prepared_read = 0;
    TD_CHECK(td_checks_lists(graph, shape->weighted, self->gpu.options->pool));
    TD_CHECK(td_streaming_make_host_list(self, list, graph->symmetric ? &graph->out : &graph->in, shape));
    td_streaming_pin(self->layout, list);
    return TD_OK;
}

static td_status make_slots(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t edges = UINT64_C(1) << layout->lists[0].shift, words = edges, slots = shape->slots;
    size_t weight = layout->lists[0].weight_bytes;
    if (memory->measures) return measure_slots(self, shape);
    fit_compressed(layout, edges, &words, &slots);
    if (layout->lists[0].compressed == NULL) TD_CHECK(take_whole_targets(self, shape));
    bool compressed = layout->lists[0].compressed != NULL;
    uint64_t room = shape->slots * edges * (sizeof(uint32_t) + weight);
    uint64_t slot_bytes = words * sizeof(uint32_t) + edges * weight;
    if (compressed && shape->pushes)
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &layout->window, edges, sizeof(uint32_t),
                                "a subgraph's targets"));
    if (compressed && !shape->pushes) TD_CHECK(make_own_slots(self, room, slot_bytes, &slots));
    else TD_CHECK(td_slots_make(&layout->slots, (uint32_t)slots));
    for (uint32_t i = 0; i < slots; i++)
        TD_CHECK(declare_slot(memory, &layout->slots.slots[i], words, edges, weight));
    return TD_OK;
}

static td_status make_chunks(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t bytes = td_link_edge_bytes(&layout->lists[0]) << layout->lists[0].shift;
    void *seen;
    for (uint64_t i = 0; i < shape->chunks; i++) {
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &layout->chunk[i], bytes, 1, "useful edges"));
        TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &layout->device_table[i], TD_STREAMING_EXTRACTS + 1,
                                sizeof(td_gpu_extract), "extracts"));
        TD_CHECK(td_host_declare_pages(&memory->host, &layout->staging[i], bytes, "useful edges"));
        TD_CHECK(td_host_declare(&memory->host, &layout->table[i], TD_STREAMING_EXTRACTS + 1, sizeof *layout->table[i],
                                 "extracts"));
        if (memory->measures) continue;
        td_numa_spread(td_numa_here(), layout->staging[i], bytes); /* pinning would first-touch all of it on this NUMA
                                                                    * node */
        layout->chunk_pinned[i] = td_device_pin(layout->device, layout->staging[i], bytes, &seen) == TD_OK;
    }
    return TD_OK;
}

/* Measures the rate of a copy; the second of two copies counts. */
static td_status measure_copy(td_streaming_graph *layout, void *to, const void *from, uint64_t bytes, td_copy_kind kind,
                              double *rate)
{
    uint64_t began = 0;
    for (int i = 0; i < 2; i++) {
        began = td_device_clock(layout->device);
        TD_CHECK(td_stream_copy(layout->copies, to, from, bytes, kind));
        TD_CHECK(td_stream_synchronize(layout->copies));
    }
    uint64_t took = td_device_clock(layout->device) - began;
    *rate = (double)bytes / (double)(took == 0 ? 1 : took);
    return TD_OK;
}

/* Measures the rates of the link and of the device's memory with a subgraph's targets. A copy between two slots reads
 * and writes every byte. */
static td_status measure_copies(td_streaming_graph *layout)
{
    td_link_list *list = &layout->lists[0];
    const td_slot *slots = layout->slots.slots;
    uint64_t edges = list->subgraphs == 0 ? 0 : td_link_end(list, 0), bytes = edges * sizeof(uint32_t);
    if (bytes == 0 || layout->slots.count == 0) return TD_OK;
    const void *from = list->compressed != NULL ? list->compressed : list->targets;
    if (list->compressed != NULL) bytes = td_link_bytes(list, 0) - edges * list->weight_bytes;
    TD_CHECK(measure_copy(layout, slots[0].targets, from, bytes, TD_TO_DEVICE, &layout->copy_rate));
    layout->device_rate = 0;
    if (layout->slots.count < 2 || slots[1].owner != TD_NO_SUBGRAPH) return TD_OK; /* no queue of levels */
    TD_CHECK(measure_copy(layout, slots[1].targets, slots[0].targets, bytes, TD_ON_DEVICE, &layout->device_rate));
    layout->device_rate *= 2;
    return TD_OK;
}

/* Measures the extraction rate: workers collect the lists of evenly spaced vertices until part of a chunk is full. */
enum { PROBE_LISTS = 1 << 14, PROBE_ROOM = 64 };

typedef struct probe {
    const td_link_list *list;
    uint64_t vertices, lists, room; /* room: maximum bytes per list */
    char *to;
    _Atomic uint64_t bytes;
} probe;

static td_status collect_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    probe *self = context;
    uint64_t bytes = 0;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t v = self->vertices * i / self->lists, from = self->list->offsets[v];
        uint64_t size = (self->list->offsets[v + 1] - from) * sizeof(uint32_t);
        if (size > self->room) size = self->room;
        memcpy(self->to + i * self->room, self->list->targets + from, size);
        bytes += size;
    }
    self->bytes += bytes;
    return TD_OK;
}

static td_status measure_extraction(td_streaming_job *self)
{
    td_streaming_graph *layout = self->layout;
    uint64_t bytes = td_link_edge_bytes(&layout->lists[0]) << layout->lists[0].shift;
    uint64_t count = bytes / PROBE_ROOM < PROBE_LISTS ? bytes / PROBE_ROOM : PROBE_LISTS;
    probe lists = {.list = &layout->lists[0], .vertices = self->gpu.graph->vertices, .lists = count,
                   .room = bytes / count, .to = layout->staging[0]};
    layout->extract_rate = 0;
    if (layout->staging[0] == NULL) return TD_OK;
    uint64_t began = td_device_clock(layout->device);
    TD_CHECK(td_pool_for(self->gpu.options->pool, count, 64, collect_lists, &lists));
    td_device_host_worked(layout->device, lists.bytes);
    uint64_t took = td_device_clock(layout->device) - began;
    /* extraction scans the bitmap twice */
    layout->extract_rate = (double)(lists.bytes + 1) / (double)(took == 0 ? 1 : took) / 2;
    return TD_OK;
}

static td_status measure_rates(td_streaming_job *self)
{
    TD_CHECK(measure_copies(self->layout));
    return measure_extraction(self);
}

/* If there are two lists, the pull list gets the prefix if pulls use it most. */
static td_status make_resident_prefix(td_streaming_job *self, const td_streaming_shape *shape)
{
    bool second = td_streaming_has_two(self->gpu.graph, shape) && shape->pulls_prefix;
    td_link_list *list = &self->layout->lists[second];
    if (shape->prefix_bytes == 0 || shape->upper) return TD_OK;
    TD_CHECK(td_streaming_make_prefix(self, list, shape->prefix_bytes, second));
    return shape->light > 0 ? td_streaming_send_light(self, list) : TD_OK;
}

/* Makes slots and chunks last, because making the lists needs temporary host memory. */
static td_status make_lists(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    const td_graph *graph = self->gpu.graph;
    bool two = td_streaming_has_two(graph, shape);
    const td_adjacency *first = shape->pushes || graph->symmetric ? &graph->out : &graph->in;
    layout->shape = *shape;
    TD_CHECK(make_list(self, &layout->lists[0], first, shape));
    if (two) TD_CHECK(make_list(self, &layout->lists[1], &graph->in, shape));
    if (shape->upper) TD_CHECK(td_streaming_skip_lower(self, &layout->lists[0]));
    if (shape->survivor_edges > 0) TD_CHECK(td_streaming_make_survivors(self, shape));
    TD_CHECK(make_resident_prefix(self, shape));
    TD_CHECK(make_slots(self, shape));
    TD_CHECK(make_chunks(self, shape));
    return self->gpu.memory.measures ? TD_OK : measure_rates(self);
}

/* Opening. */

static td_status open_streams(void *state, td_device *device)
{
    td_streaming_graph *layout = state;
    layout->device = device;
    TD_CHECK(td_stream_open(device, &layout->stream));
    return td_stream_open(device, &layout->copies);
}

const td_gpu_layout_kind td_streaming_layout_kind = {"stream", sizeof(td_streaming_graph), open_streams,
                                                     td_streaming_release, false};

td_status td_streaming_prepare(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    if (self->gpu.memory.measures) {
        TD_CHECK(make_lists(self, shape));
    } else if (memcmp(&layout->shape, shape, sizeof *shape) != 0) {
        td_gpu_mark before = td_gpu_layout_mark(self->gpu.options);
        free_lists(layout);
        td_status status = make_lists(self, shape);
        td_gpu_layout_note(self->gpu.options, &before);
        if (status != TD_OK) {
            (void)td_stream_synchronize(layout->stream);
            free_lists(layout);
            layout->shape = (td_streaming_shape){0};
            return status;
        }
    }
    bool two = td_streaming_has_two(self->gpu.graph, shape);
    self->push = shape->pushes ? &layout->lists[0] : NULL;
    self->pull = !shape->pulls ? NULL : two ? &layout->lists[1] : &layout->lists[0];
    return TD_OK;
}
