/* The lists that cross the link: at the host in pinned memory, their offsets and their beginnings on the device, cut
 * into subgraphs; and the device memory that subgraphs come to. Kept from run to run. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/numa.h"

#include <stdatomic.h>
#include <string.h>

/* Giving back. */

static void unpin_list(td_streaming_graph *held, td_link_list *list)
{
    if (list->pinned[0]) td_device_unpin(held->device, (void *)(uintptr_t)list->targets);
    if (list->pinned[1]) td_device_unpin(held->device, (void *)(uintptr_t)list->weights);
}

static void free_list(td_streaming_graph *held, td_link_list *list)
{
    unpin_list(held, list);
    td_link_free_narrow(held->device, list);
    td_device_free(held->device, (void *)(uintptr_t)list->seen.offsets);
    td_device_free(held->device, (void *)(uintptr_t)list->prefix.targets);
    td_device_free(held->device, (void *)(uintptr_t)list->prefix.weights);
    td_device_free(held->device, list->skip);
    td_device_free(held->device, list->light);
    td_free(list->own_offsets);
    td_free(list->own_targets);
    td_free(list->own_weights);
    td_free(list->own_skip);
    td_free(list->own_light);
    td_free(list->first_vertex);
    *list = (td_link_list){0};
}

static void free_chunks(td_streaming_graph *held)
{
    for (int i = 0; i < 2; i++) {
        if (held->chunk_pinned[i]) td_device_unpin(held->device, held->staging[i]);
        td_free(held->staging[i]);
        td_device_free(held->device, held->chunk[i]);
        td_free(held->table[i]);
        td_device_free(held->device, held->device_table[i]);
        held->staging[i] = held->chunk[i] = NULL;
        held->table[i] = held->device_table[i] = NULL;
        held->chunk_pinned[i] = false;
    }
}

static void free_lists(td_streaming_graph *held)
{
    for (int i = 0; i < 2; i++) free_list(held, &held->lists[i]);
    for (uint32_t i = 0; i < held->slots.count; i++) {
        if (held->slots.slots[i].owner != TD_NO_SUBGRAPH) continue;
        td_device_free(held->device, held->slots.slots[i].targets);
        td_device_free(held->device, held->slots.slots[i].weights);
    }
    td_slots_free(&held->slots);
    td_device_free(held->device, held->own_slots);
    held->own_slots = NULL;
    td_gpu_free_head_arrays(held->device, &held->heads);
    held->heads_of = NULL;
    td_device_free(held->device, held->window);
    held->window = NULL;
    free_chunks(held);
    td_streaming_free_kept(held);
}

void td_streaming_release(void *state)
{
    td_streaming_graph *held = state;
    if (held == NULL) return;
    if (held->stream != NULL) (void)td_stream_synchronize(held->stream);
    if (held->copies != NULL) (void)td_stream_synchronize(held->copies);
    if (held->device != NULL) free_lists(held);
    td_stream_close(held->copies);
    td_stream_close(held->stream);
    td_free(held);
}

/* Lists at the host. */

static void take_graphs_own(td_link_list *list, const td_adjacency *from, bool weighted)
{
    list->offsets = from->offsets;
    list->targets = from->targets;
    list->weights = weighted ? from->weights : NULL;
}

static void take_made(td_link_list *list, td_adjacency *made)
{
    if (made->offsets != NULL) list->offsets = list->own_offsets = made->offsets;
    list->targets = list->own_targets = made->targets;
    list->weights = list->own_weights = made->weights;
    *made = (td_adjacency){0};
}

/* `owned`: the lists have been joined, and these go. */
static td_status put_in_order(td_streaming_job *self, td_link_list *list, td_list_order order, bool owned)
{
    td_status status = TD_OK;
    const td_graph *graph = self->gpu.graph;
    td_pool *pool = self->gpu.options->pool;
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t edges = list->edges, weight = list->weight_bytes;
    td_adjacency from = {(uint64_t *)(uintptr_t)list->offsets, (uint32_t *)(uintptr_t)list->targets,
                         (void *)(uintptr_t)list->weights};
    td_adjacency made = {0};
    TD_TRY(td_host_declare(host, &made.targets, edges, sizeof(uint32_t), "lists in order"));
    if (weight > 0) TD_TRY(td_host_declare(host, &made.weights, edges, weight, "lists in order"));
    td_host_note(host, td_lists_order_bytes(graph, edges, order, td_pool_threads(pool)));
    if (!host->measures) TD_TRY(td_lists_order(graph, &from, order, made.targets, made.weights, pool));
    if (owned) td_host_undeclare(host, &list->own_targets, edges, sizeof(uint32_t));
    if (owned && weight > 0) td_host_undeclare(host, &list->own_weights, edges, weight);
    if (!host->measures) take_made(list, &made);
done:
    td_lists_free(&made);
    return status;
}

static td_status make_host_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                                const td_streaming_shape *shape)
{
    td_adjacency both = {0};
    const td_graph *graph = self->gpu.graph;
    list->weight_bytes = shape->weighted ? td_weight_bytes(graph->weights) : 0;
    if (shape->both) {
        TD_CHECK(td_lists_join(graph, shape->weighted, &both, &self->gpu.memory.host, self->gpu.options->pool));
        take_made(list, &both);
    } else {
        take_graphs_own(list, from, shape->weighted);
    }
    list->useful_bytes = (uint32_t)td_link_edge_bytes(list);
    if (shape->order != TD_LISTS_STORED) TD_CHECK(put_in_order(self, list, shape->order, shape->both));
    if (shape->weight_bits == 0) return TD_OK;
    return td_streaming_join_weights(list, graph, (uint32_t)shape->weight_bits, &self->gpu.memory.host,
                                     self->gpu.options->pool);
}

/* Pinned, so that copies need no staging and kernels can read it; told once where the system refuses. */
static void pin_list(td_streaming_graph *held, td_link_list *list)
{
    void *targets = NULL, *weights = NULL;
    uint64_t bytes[2] = {list->edges * sizeof(uint32_t), list->edges * list->weight_bytes};
    if (list->edges == 0) return;
    list->pinned[0] = td_device_pin(held->device, (void *)(uintptr_t)list->targets, bytes[0], &targets) == TD_OK;
    if (bytes[1] > 0 && list->pinned[0])
        list->pinned[1] = td_device_pin(held->device, (void *)(uintptr_t)list->weights, bytes[1], &weights) == TD_OK;
    bool all = list->pinned[0] && (bytes[1] == 0 || list->pinned[1]);
    if (!all && !held->told_unpinned)
        td_warn("%s; the stream engine copies from memory that is not pinned, which is slower", td_last_message());
    held->told_unpinned = held->told_unpinned || !all;
    list->readable = all && td_device_supports(held->device, TD_FEATURE_HOST_READS);
    list->seen.targets = targets;
    list->seen.weights = weights;
}

/* What follows from the shape alone: edges, their bytes, the number of subgraphs. */
static void describe_list(const td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape)
{
    list->edges = self->gpu.graph->edges * (shape->both ? 2 : 1);
    list->weight_bytes = shape->weighted && shape->weight_bits == 0 ? td_weight_bytes(self->gpu.graph->weights) : 0;
    while ((UINT64_C(2) << list->shift) <= shape->slot_edges) list->shift++;
    list->subgraphs = (uint32_t)((list->edges + (UINT64_C(1) << list->shift) - 1) >> list->shift);
}

static td_status cut_subgraphs(td_streaming_job *self, td_link_list *list)
{
    uint64_t v = 0, n = self->gpu.graph->vertices, count = list->subgraphs;
    TD_CHECK(td_host_declare(&self->gpu.memory.host, &list->first_vertex, count + 1, sizeof *list->first_vertex,
                             "subgraphs"));
    if (self->gpu.memory.measures) return TD_OK;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        while (list->offsets[v + 1] <= td_link_begin(list, s)) v++;
        list->first_vertex[s] = (uint32_t)v;
    }
    list->first_vertex[count] = (uint32_t)n;
    for (v = 0; v < n; v++) {
        uint64_t degree = list->offsets[v + 1] - list->offsets[v];
        if (degree > list->longest) list->longest = degree;
        list->lengths[degree < TD_LINK_LENGTHS ? degree : TD_LINK_LENGTHS]++;
    }
    return TD_OK;
}

/* Words of the targets in fewer bits, where arrays are measured: of lists as the graph has them from a sample, joined
 * ones about as much as both, of lists in another order at most. */
static uint64_t guess_narrow(const td_streaming_job *self, const td_link_list *list, const td_streaming_shape *shape)
{
    const td_graph *graph = self->gpu.graph;
    uint64_t most = (uint64_t)(TD_LINK_WORTH_IT * (double)list->edges);
    const uint32_t *first = shape->both ? graph->in.targets : list->targets;
    if (!self->gpu.memory.measures) return 0;
    if (shape->order != TD_LISTS_STORED || first == NULL) return most;
    uint64_t words = td_link_guess_narrow(first, graph->edges);
    if (!shape->both) return words;
    uint64_t more = td_link_guess_narrow(graph->out.targets, graph->edges);
    return words > 0 && more > 0 ? words + more : most;
}

static td_status make_list(td_streaming_job *self, td_link_list *list, const td_adjacency *from,
                           const td_streaming_shape *shape)
{
    td_stream *stream = self->held->stream;
    uint64_t count = self->gpu.graph->vertices + UINT64_C(1);
    describe_list(self, list, shape);
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_LISTS, &list->seen.offsets, count, sizeof(uint64_t),
                            "the graph's offsets"));
    TD_CHECK(make_host_list(self, list, from, shape));
    if (!self->gpu.memory.measures) pin_list(self->held, list);
    TD_CHECK(cut_subgraphs(self, list));
    if (shape->narrows)
        TD_CHECK(td_link_narrow(list, guess_narrow(self, list, shape), &self->gpu.memory.host, self->held->device,
                                self->gpu.options->pool));
    if (self->gpu.memory.measures) return TD_OK;
    TD_CHECK(td_stream_copy(stream, (void *)(uintptr_t)list->seen.offsets, list->offsets, count * sizeof(uint64_t),
                            TD_TO_DEVICE));
    return td_stream_synchronize(stream);
}

/* Slots and chunks. */

/* Lists in fewer bits need smaller slots, of which there are more in the same memory, and to be swept a window; where
 * they do not shrink, or there is no room for two, they cross as they are. */
static void fit_narrow(td_streaming_graph *held, uint64_t slot_edges, uint64_t *words, uint64_t *slots)
{
    td_link_list *lists = held->lists;
    bool two = lists[1].offsets != NULL, narrows = lists[0].narrow != NULL && (!two || lists[1].narrow != NULL);
    uint64_t most = two && lists[1].narrow_most > lists[0].narrow_most ? lists[1].narrow_most : lists[0].narrow_most;
    uint64_t weights = slot_edges * lists[0].weight_bytes, room = *slots * (slot_edges * sizeof(uint32_t) + weights);
    uint64_t window = held->shape.pushes ? slot_edges * sizeof(uint32_t) : 0;
    uint64_t fits = narrows ? (room - window) / (most * sizeof(uint32_t) + weights) : 0;
    uint64_t subgraphs = lists[0].subgraphs > lists[1].subgraphs ? lists[0].subgraphs : lists[1].subgraphs;
    if (fits < 2) {
        if (held->shape.narrows == TD_NARROW_ASKED)
            td_warn("stream.compress=on: %s; subgraphs cross as they are",
                    narrows ? "there is no room for two subgraphs" : "the lists hardly shrink");
        for (int i = 0; i < 2; i++) td_link_free_narrow(held->device, &lists[i]);
        return;
    }
    *words = most;
    *slots = fits < subgraphs ? fits : subgraphs;
}

/* Sums go over every subgraph in every iteration, so it counts how many bytes stay, not whose: but for a few slots that
 * the others pass through each is for one subgraph, of that one's length in fewer bits, and all are one block. */
enum { PASSING_SLOTS = 6, OWN_ALIGNMENT = 128 };

static uint64_t own_bytes(const td_link_list *list, uint32_t s)
{
    return (td_link_bytes(list, s) + 2 * OWN_ALIGNMENT - 1) / OWN_ALIGNMENT * OWN_ALIGNMENT;
}

/* The subgraphs that find room for a slot of their own, and the bytes of these. */
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

static void give_own_slots(td_streaming_graph *held, const uint32_t *owners, uint64_t count)
{
    const td_link_list *list = &held->lists[0];
    char *at = held->own_slots;
    for (uint64_t i = 0; i < count; i++) {
        td_slot *slot = &held->slots.slots[held->slots.count - count + i];
        uint64_t edges = td_link_end(list, owners[i]) - td_link_begin(list, owners[i]);
        uint64_t targets = td_link_bytes(list, owners[i]) - edges * list->weight_bytes;
        slot->owner = owners[i];
        slot->targets = at;
        if (list->weight_bytes > 0) slot->weights = at + (targets + OWN_ALIGNMENT - 1) / OWN_ALIGNMENT * OWN_ALIGNMENT;
        at += own_bytes(list, owners[i]);
    }
}

/* *slots becomes the number of those for any, which come first and have `slot_bytes` each. */
static td_status make_own_slots(td_streaming_job *self, uint64_t room, uint64_t slot_bytes, uint64_t *slots)
{
    td_streaming_graph *held = self->held;
    td_link_list *list = &held->lists[0];
    uint32_t *owners;
    uint64_t count, passing = *slots < PASSING_SLOTS ? *slots : PASSING_SLOTS;
    TD_CHECK(TD_NEW(&owners, list->subgraphs, "owners of slots"));
    uint64_t bytes = choose_owners(list, room, owners, &count);
    if (count == list->subgraphs) passing = 0;
    else bytes = choose_owners(list, room - passing * slot_bytes, owners, &count);
    *slots = passing;
    td_status status = td_slots_make(&held->slots, (uint32_t)(passing + count));
    if (status == TD_OK && count > 0)
        status = td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &held->own_slots, bytes, 1, "subgraphs");
    if (status == TD_OK) give_own_slots(held, owners, count);
    td_free(owners);
    return status;
}

static td_status declare_slot(td_gpu_memory *memory, td_slot *slot, uint64_t words, uint64_t edges, size_t weight)
{
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &slot->targets, words, sizeof(uint32_t), "a subgraph"));
    if (weight == 0) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_EDGES, &slot->weights, edges, weight, "a subgraph's weights");
}

/* Slots for lists as they are take the most: those for lists in fewer bits, of which the run knows how many, take no
 * more together, and less where all lists then fit. */
static td_status measure_slots(td_streaming_job *self, const td_streaming_shape *shape)
{
    const td_link_list *list = &self->held->lists[0];
    uint64_t edges = UINT64_C(1) << list->shift, room = shape->slots * edges * td_link_edge_bytes(list);
    uint64_t words = shape->narrows ? guess_narrow(self, list, shape) : 0;
    uint64_t whole = words * sizeof(uint32_t) + list->edges * list->weight_bytes +
                     (uint64_t)list->subgraphs * 2 * OWN_ALIGNMENT;
    td_slot slot;
    if (words > 0 && !shape->pushes && whole < room)
        return td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &slot.targets, whole, 1, "subgraphs");
    for (uint64_t i = 0; i < shape->slots; i++)
        TD_CHECK(declare_slot(&self->gpu.memory, &slot, edges, edges, list->weight_bytes));
    return TD_OK;
}

static td_status make_slots(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t edges = UINT64_C(1) << held->lists[0].shift, words = edges, slots = shape->slots;
    size_t weight = held->lists[0].weight_bytes;
    if (memory->measures) return measure_slots(self, shape);
    fit_narrow(held, edges, &words, &slots);
    bool narrow = held->lists[0].narrow != NULL;
    uint64_t room = shape->slots * edges * (sizeof(uint32_t) + weight);
    uint64_t slot_bytes = words * sizeof(uint32_t) + edges * weight;
    if (narrow && shape->pushes)
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &held->window, edges, sizeof(uint32_t), "a subgraph's targets"));
    if (narrow && !shape->pushes) TD_CHECK(make_own_slots(self, room, slot_bytes, &slots));
    else TD_CHECK(td_slots_make(&held->slots, (uint32_t)slots));
    for (uint32_t i = 0; i < slots; i++)
        TD_CHECK(declare_slot(memory, &held->slots.slots[i], words, edges, weight));
    return TD_OK;
}

static td_status make_chunks(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *held = self->held;
    td_gpu_memory *memory = &self->gpu.memory;
    uint64_t bytes = td_link_edge_bytes(&held->lists[0]) << held->lists[0].shift;
    void *seen;
    for (uint64_t i = 0; i < shape->chunks; i++) {
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &held->chunk[i], bytes, 1, "useful edges"));
        TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &held->device_table[i], TD_STREAMING_EXTRACTS + 1,
                                sizeof(td_gpu_extract), "extracts"));
        TD_CHECK(td_host_declare_pages(&memory->host, &held->staging[i], bytes, "useful edges"));
        TD_CHECK(td_host_declare(&memory->host, &held->table[i], TD_STREAMING_EXTRACTS + 1, sizeof *held->table[i],
                                 "extracts"));
        if (memory->measures) continue;
        td_numa_spread(td_numa_here(), held->staging[i], bytes); /* pinning would touch all of it here */
        held->chunk_pinned[i] = td_device_pin(held->device, held->staging[i], bytes, &seen) == TD_OK;
    }
    return TD_OK;
}

/* How fast a subgraph comes: the second of two copies counts. */
static td_status measure_copies(td_streaming_graph *held)
{
    td_link_list *list = &held->lists[0];
    uint64_t edges = list->subgraphs == 0 ? 0 : td_link_end(list, 0), bytes = edges * sizeof(uint32_t), began = 0;
    if (bytes == 0 || held->slots.count == 0) return TD_OK;
    if (list->narrow != NULL) bytes = td_link_bytes(list, 0) - edges * list->weight_bytes;
    for (int i = 0; i < 2; i++) {
        began = td_device_clock(held->device);
        TD_CHECK(td_stream_copy(held->copies, held->slots.slots[0].targets, list->targets, bytes, TD_TO_DEVICE));
        TD_CHECK(td_stream_synchronize(held->copies));
    }
    uint64_t took = td_device_clock(held->device) - began;
    held->copy_rate = (double)bytes / (double)(took == 0 ? 1 : took);
    return TD_OK;
}

/* How fast workers collect lists: every so many vertices' own, until a part of a chunk is full. */
enum { PROBE_LISTS = 1 << 14, PROBE_ROOM = 64 };

typedef struct probe {
    const td_link_list *list;
    uint64_t vertices, lists, room; /* room: bytes for a list */
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
    td_streaming_graph *held = self->held;
    uint64_t bytes = td_link_edge_bytes(&held->lists[0]) << held->lists[0].shift;
    uint64_t count = bytes / PROBE_ROOM < PROBE_LISTS ? bytes / PROBE_ROOM : PROBE_LISTS;
    probe lists = {.list = &held->lists[0], .vertices = self->gpu.graph->vertices, .lists = count,
                   .room = bytes / count, .to = held->staging[0]};
    held->extract_rate = 0;
    if (held->staging[0] == NULL) return TD_OK;
    uint64_t began = td_device_clock(held->device);
    TD_CHECK(td_pool_for(self->gpu.options->pool, count, 64, collect_lists, &lists));
    td_device_host_worked(held->device, lists.bytes);
    uint64_t took = td_device_clock(held->device) - began;
    /* it goes over the bitmap twice */
    held->extract_rate = (double)(lists.bytes + 1) / (double)(took == 0 ? 1 : took) / 2;
    return TD_OK;
}

static td_status measure_rates(td_streaming_job *self)
{
    TD_CHECK(measure_copies(self->held));
    return measure_extraction(self);
}

/* Whoever pulls along a list uses its beginnings most. */
static td_status make_beginnings(td_streaming_job *self, const td_streaming_shape *shape)
{
    bool second = td_streaming_has_two(self->gpu.graph, shape) && shape->pulls_beginnings;
    td_link_list *list = &self->held->lists[second];
    if (shape->prefix_bytes == 0 || shape->upper) return TD_OK;
    TD_CHECK(td_streaming_make_prefix(self, list, shape->prefix_bytes, second));
    bool there = list->prefix.offsets != NULL || self->gpu.memory.measures;
    return shape->light > 0 && there ? td_streaming_find_light(self, list, shape->light) : TD_OK;
}

/* Slots and chunks come last: what is made of the lists takes memory at the host for a while. */
static td_status make_lists(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *held = self->held;
    const td_graph *graph = self->gpu.graph;
    bool two = td_streaming_has_two(graph, shape);
    const td_adjacency *first = shape->pushes || graph->symmetric ? &graph->out : &graph->in;
    held->shape = *shape;
    TD_CHECK(make_list(self, &held->lists[0], first, shape));
    if (two) TD_CHECK(make_list(self, &held->lists[1], &graph->in, shape));
    if (shape->upper) TD_CHECK(td_streaming_skip_lower(self, &held->lists[0]));
    if (shape->kept_edges > 0) TD_CHECK(td_streaming_make_kept(self, shape));
    TD_CHECK(make_beginnings(self, shape));
    TD_CHECK(make_slots(self, shape));
    TD_CHECK(make_chunks(self, shape));
    return self->gpu.memory.measures ? TD_OK : measure_rates(self);
}

/* Opening. */

static td_status open_streams(void *state, td_device *device)
{
    td_streaming_graph *held = state;
    held->device = device;
    TD_CHECK(td_stream_open(device, &held->stream));
    return td_stream_open(device, &held->copies);
}

const td_gpu_keeper td_streaming_keeper = {"stream", sizeof(td_streaming_graph), open_streams, td_streaming_release};

td_status td_streaming_hold(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *held = self->held;
    if (self->gpu.memory.measures) {
        TD_CHECK(make_lists(self, shape));
    } else if (memcmp(&held->shape, shape, sizeof *shape) != 0) {
        td_gpu_mark before = td_gpu_layout_mark(self->gpu.options);
        free_lists(held);
        td_status status = make_lists(self, shape);
        td_gpu_layout_note(self->gpu.options, &before);
        if (status != TD_OK) {
            (void)td_stream_synchronize(held->stream);
            free_lists(held);
            held->shape = (td_streaming_shape){0};
            return status;
        }
    }
    bool two = td_streaming_has_two(self->gpu.graph, shape);
    self->push = shape->pushes ? &held->lists[0] : NULL;
    self->pull = !shape->pulls ? NULL : two ? &held->lists[1] : &held->lists[0];
    return TD_OK;
}
