/* Pages on the GPU: pull only, as in Garaph. A page's edges are copied to a slot, gathered (kernels/gpu/pull.h) and
 * applied, and the new values are copied back; every slot has its own stream, so that copies overlap kernels. The host
 * has the valid values, which are copied to the GPU once per iteration. */
#include "engine/hybrid/gpu.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* List starts of a page. */

typedef struct page_place {
    const uint64_t *offsets;
    uint32_t begin;
} page_place;

static uint64_t place_in_page(const void *of, uint64_t v)
{
    const page_place *self = of;
    return self->offsets[self->begin + v] - self->offsets[self->begin];
}

static td_status send_heads(td_hybrid_gpu *self, uint32_t page)
{
    const td_held_page *of = &self->hybrid->pull->pages[page];
    td_stream *stream = self->job.stream;
    page_place place = {self->hybrid->cpu.pull[0].offsets, of->begin};
    td_gpu_heads found = {0};
    td_status status = TD_OK;
    TD_TRY(td_gpu_find_heads(&found, place_in_page, &place, of->end - of->begin));
    for (uint64_t i = 0; i < found.count; i++) found.lists[i] += of->begin;
    uint64_t piece = self->piece_of[page], words = found.pieces * (TD_GPU_TILE / 32);
    if (found.pieces > 0) {
        TD_TRY(td_stream_copy(stream, self->heads + piece * (TD_GPU_TILE / 32), found.bits, words * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_copy(stream, self->before + piece, found.before, found.pieces * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_copy(stream, self->lists + self->list_of[page], found.lists, found.count * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_synchronize(stream));
    }
    self->list_of[page + 1] = self->list_of[page] + found.count;
    self->piece_of[page + 1] = piece + found.pieces;
done:
    td_gpu_free_heads(&found);
    return status;
}

/* Device arrays: vertices, list starts for so many pieces of pages, and slots. */
static td_status declare_arrays(td_hybrid_gpu *self, uint64_t pieces)
{
    td_gpu_job *job = &self->job;
    uint64_t n = job->graph->vertices, words = td_gpu_words(job) + 2;
    size_t weight = td_gpu_weight_bytes(job);
    TD_CHECK(td_gpu_declare_values(job));
    TD_CHECK(td_gpu_new(job, &job->arrays.sums, n, job->traits->accum_bytes, "sums"));
    TD_CHECK(td_gpu_new(job, &job->state.next_active, words, sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &job->state.out_offsets, n + 1, sizeof(uint64_t), "offsets"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->heads, (pieces + 1) * (TD_GPU_TILE / 32), sizeof(uint32_t),
                            "list starts"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->before, pieces + 1, sizeof(uint32_t), "list starts"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->lists, n + 1, sizeof(uint32_t), "vertices with lists"));
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) {
        td_hybrid_slot *slot = &self->slots[i];
        uint64_t edges = self->slot_edges + 4;
        TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &slot->targets, edges, sizeof(uint32_t), "page"));
        if (weight > 0)
            TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &slot->weights, edges, weight, "weights of a page"));
    }
    return TD_OK;
}

static uint64_t pieces_of(const td_page_set *set)
{
    uint64_t pieces = 0;
    for (uint32_t p = 0; p < set->count; p++) pieces += (td_page_edges(set, p) + TD_GPU_TILE - 1) / TD_GPU_TILE;
    return pieces;
}

static td_status fill_heads(td_hybrid_gpu *self)
{
    const td_page_set *set = self->hybrid->pull;
    TD_CHECK(TD_NEW_ZEROED(&self->piece_of, (uint64_t)set->count + 1, "pieces of pages"));
    TD_CHECK(TD_NEW_ZEROED(&self->list_of, (uint64_t)set->count + 1, "lists of pages"));
    for (uint32_t p = 0; p < set->count; p++) TD_CHECK(send_heads(self, p));
    return TD_OK;
}

/* Opening. */

static size_t page_weight_bytes(const td_hybrid_job *hybrid)
{
    return hybrid->needs & TD_WITH_WEIGHTS ? td_weight_bytes(hybrid->cpu.graph->weights) : 0;
}

/* Pins host memory, from which copies are faster and asynchronous; memory that cannot be pinned is copied too. */
static bool pin(td_hybrid_gpu *self, void *host, uint64_t bytes)
{
    void *seen;
    for (int i = 0; i < self->pinned_count; i++)
        if (self->pinned[i] == host) return true;
    if (host == NULL || bytes == 0 || self->pinned_count == (int)(sizeof self->pinned / sizeof *self->pinned))
        return false;
    if (td_device_pin(self->job.device, host, bytes, &seen) != TD_OK) return false;
    self->pinned[self->pinned_count++] = host;
    return true;
}

uint64_t td_hybrid_gpu_slot(const td_hybrid_job *hybrid)
{
    uint64_t largest = 0;
    for (uint32_t p = 0; p < hybrid->pull->count; p++) {
        uint64_t edges = td_page_edges(hybrid->pull, p);
        if (edges <= TD_HYBRID_LARGEST_SLOT && edges > largest) largest = edges;
    }
    return largest;
}

/* Upper bound of the pieces of all pages. Every page ends within a piece; two adjacent pages have more edges than a
 * slot, except those of vertices that exceed a page alone. */
static uint64_t most_pieces(const td_graph *graph, uint64_t slot_edges)
{
    uint64_t pages = slot_edges > 0 ? 2 * (graph->edges / slot_edges) : 0, pieces = graph->edges / TD_GPU_TILE;
    return pieces + pieces / 64 + pages + 2;
}

td_status td_hybrid_gpu_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                                uint64_t slot_edges, td_gpu_memory *out)
{
    td_hybrid_gpu self = {.slot_edges = slot_edges};
    td_run run;
    TD_CHECK(td_gpu_job_measure(&self.job, &run, program, graph, options));
    TD_CHECK(declare_arrays(&self, most_pieces(graph, slot_edges)));
    *out = self.job.memory;
    return TD_OK;
}

static uint64_t slot_bytes(const td_program *program, const td_graph *graph, uint64_t edges)
{
    bool weights = program->info->weights != TD_WEIGHTS_UNUSED;
    return edges * (sizeof(uint32_t) + (weights ? td_weight_bytes(graph->weights) : 0));
}

uint64_t td_hybrid_gpu_emulated_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                      uint64_t slot_edges)
{
    td_gpu_memory taken;
    uint64_t emulated = 0;
    const char *devices = td_gpu_wanted(options);
    if (td_hybrid_gpu_measure(program, graph, options, slot_edges, &taken) != TD_OK) return 0; /* refused in time */
    if (td_devices_host_bytes(devices, td_gpu_memory_sum(&taken), false, &emulated) != TD_OK) return 0;
    return emulated;
}

uint64_t td_hybrid_gpu_host_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  uint64_t slot_edges, bool on_disk)
{
    enum { BESIDES = 512 << 10 }; /* streams, tables of pages, rounding */
    return td_hybrid_gpu_emulated_bytes(program, graph, options, slot_edges) + BESIDES +
           (on_disk ? TD_HYBRID_SLOTS * slot_bytes(program, graph, slot_edges) : 0);
}

static td_status open_slots(td_hybrid_gpu *self)
{
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) {
        self->slots[i].gpu = self;
        TD_CHECK(td_stream_open(self->job.device, &self->slots[i].stream));
    }
    return TD_OK;
}

/* Pages from disk are not in pinned memory: they are copied to a pinned buffer first. */
static td_status make_stages(td_hybrid_gpu *self)
{
    size_t bytes[2] = {sizeof(uint32_t), page_weight_bytes(self->hybrid)};
    for (int i = 0; self->hybrid->paged != NULL && i < TD_HYBRID_SLOTS; i++)
        for (int w = 0; w < 2; w++) {
            td_hybrid_slot *slot = &self->slots[i];
            if (bytes[w] == 0 || self->slot_edges == 0) continue;
            TD_CHECK(td_new_pages(&slot->staged[w], self->slot_edges * bytes[w], "pinned buffer of a page"));
            if (pin(self, slot->staged[w], self->slot_edges * bytes[w])) continue;
            td_free(slot->staged[w]);
            slot->staged[w] = NULL;
        }
    return TD_OK;
}

static td_status fill_vertices(td_hybrid_gpu *self)
{
    td_gpu_job *job = &self->job;
    td_gpu_state *state = &job->state;
    uint64_t n = job->graph->vertices;
    void *offsets = (void *)(uintptr_t)state->out_offsets;
    TD_CHECK(td_gpu_send_inputs(job));
    uint64_t began = td_device_clock(job->device);
    TD_CHECK(td_stream_copy(job->stream, offsets, job->graph->out.offsets, (n + 1) * sizeof(uint64_t), TD_TO_DEVICE));
    TD_CHECK(td_stream_synchronize(job->stream));
    self->setup_ns = (double)(td_device_clock(job->device) - began); /* estimates the copy of the values until it is
                                                                      * measured */
    self->end_ns = self->setup_ns;
    self->link_rate = (double)((n + 1) * sizeof(uint64_t)) / (self->setup_ns + 1) /
                      (double)(sizeof(uint32_t) + page_weight_bytes(self->hybrid));
    state->push_offsets = state->out_offsets;
    state->vertices = job->graph->vertices;
    state->weights = job->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : job->graph->weights;
    state->symmetric = job->graph->symmetric;
    state->async = job->run->async;
    return td_gpu_clear_sums(job, job->arrays.sums);
}

static void pin_lists(td_hybrid_gpu *self)
{
    const td_adjacency *list = &self->hybrid->cpu.pull[0];
    if (self->hybrid->paged != NULL) return;
    (void)pin(self, list->targets, self->job.graph->edges * sizeof(uint32_t));
    (void)pin(self, list->weights, self->job.graph->edges * page_weight_bytes(self->hybrid));
}

/* Pins the arrays that are copied in every iteration; the two arrays of a pair alternate. */
static void pin_values(td_hybrid_gpu *self)
{
    td_cpu_job *cpu = &self->hybrid->cpu;
    uint64_t n = cpu->graph->vertices, values = n * cpu->kernels->value_bytes;
    uint64_t messages = n * cpu->kernels->message_bytes;
    (void)pin(self, cpu->values, values);
    if (cpu->kernels->sends_value) (void)pin(self, cpu->next_values, values);
    else (void)(pin(self, cpu->messages, messages) && pin(self, cpu->next_messages, messages));
    if (cpu->kernels->fused) (void)pin(self, cpu->next_active, td_cpu_words(cpu) * sizeof(uint64_t));
}

void td_hybrid_gpu_unpin(td_hybrid_gpu *self)
{
    if (self == NULL) return;
    while (self->pinned_count > 0) td_device_unpin(self->job.device, self->pinned[--self->pinned_count]);
}

td_status td_hybrid_gpu_open(td_hybrid_job *hybrid)
{
    td_hybrid_gpu *self = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "GPU of the hybrid engine"));
    hybrid->gpu = self;
    self->hybrid = hybrid;
    TD_CHECK(td_gpu_job_open(&self->job, hybrid->cpu.run, hybrid->cpu.options));
    TD_CHECK(td_gpu_set_open(hybrid->cpu.options, "hybrid", &self->set));
    td_device *device = self->set->gpu[0];
    if (self->set->count > 1)
        td_warn("the hybrid engine uses one GPU: of {devices} %s, %s", self->set->devices, device->name);
    TD_CHECK(td_stream_open(device, &self->job.stream));
    TD_CHECK(td_gpu_job_start(&self->job, device, self->job.stream));
    self->slot_edges = td_hybrid_gpu_slot(hybrid);
    TD_CHECK(declare_arrays(self, pieces_of(hybrid->pull)));
    TD_CHECK(fill_vertices(self));
    TD_CHECK(fill_heads(self));
    TD_CHECK(open_slots(self));
    TD_CHECK(make_stages(self));
    pin_lists(self);
    pin_values(self);
    td_gpu_start_counting(&self->job);
    return td_stream_synchronize(self->job.stream);
}

void td_hybrid_gpu_close(td_hybrid_job *hybrid)
{
    td_hybrid_gpu *self = hybrid->gpu;
    if (self == NULL) return;
    for (int i = 0; i < TD_HYBRID_SLOTS; i++)
        if (self->slots[i].stream != NULL) {
            (void)td_stream_synchronize(self->slots[i].stream);
            td_stream_close(self->slots[i].stream);
        }
    td_hybrid_gpu_unpin(self);
    for (int i = 0; i < TD_HYBRID_SLOTS; i++)
        for (int w = 0; w < 2; w++) td_free(self->slots[i].staged[w]);
    td_stream *stream = self->job.stream;
    td_gpu_job_close(&self->job);
    if (stream != NULL) td_stream_close(stream);
    td_gpu_set_note(hybrid->cpu.options);
    if (self->flights > 0 || self->status != TD_OK || !hybrid->through) td_gpu_set_drop(hybrid->cpu.options);
    td_free(self->piece_of);
    td_free(self->list_of);
    td_free(self);
    hybrid->gpu = NULL;
}

bool td_hybrid_gpu_takes(const td_hybrid_gpu *self, uint32_t page)
{
    return td_page_edges(self->hybrid->pull, page) <= self->slot_edges;
}

/* An iteration. */

void td_hybrid_gpu_record_status(td_hybrid_gpu *self, td_status status)
{
    if (status == TD_OK || self->status != TD_OK) return;
    self->status = status;
    td_failure_keep(&self->failure);
}

uint64_t td_hybrid_gpu_done_at(const td_hybrid_gpu *self)
{
    uint64_t time = td_loop_time(self->set->loop);
    return time > 0 ? time : td_loop_arrived(self->set->loop);
}

static void on_ready(void *context, td_status status, uint64_t value)
{
    td_hybrid_gpu *self = context;
    uint64_t now = td_hybrid_gpu_done_at(self);
    (void)value;
    td_hybrid_gpu_record_status(self, status);
    self->ready = true;
    self->free_at = now;
    self->setup_ns = now > self->begun ? (double)(now - self->begun) : 0;
    td_loop_stop(self->set->loop);
}

td_status td_hybrid_gpu_begin(td_hybrid_gpu *self)
{
    td_cpu_job *cpu = &self->hybrid->cpu;
    td_gpu_job *job = &self->job;
    td_gpu_state *state = &job->state;
    const double *inputs[TD_INPUTS];
    uint64_t n = cpu->graph->vertices;
    self->ready = false;
    self->begun = td_device_clock(job->device);
    memcpy(inputs, state->context.input, sizeof inputs); /* the device's addresses */
    state->context = cpu->context;
    memcpy(state->context.input, inputs, sizeof inputs);
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(td_stream_fill(job->stream, state->next_active, 0, (td_gpu_words(job) + 1) * sizeof(uint32_t)));
    TD_CHECK(td_stream_copy(job->stream, state->values, cpu->values, n * cpu->kernels->value_bytes, TD_TO_DEVICE_LIVE));
    if (!cpu->kernels->sends_value)
        TD_CHECK(td_stream_copy(job->stream, state->messages, cpu->messages, n * cpu->kernels->message_bytes,
                                TD_TO_DEVICE_LIVE));
    return td_stream_notify(job->stream, on_ready, self, 0);
}

/* Kernels of fused programs do not report changed vertices: a vertex whose message differs has changed. */
static void mark_changed(td_hybrid_gpu *self, const td_held_page *page)
{
    td_cpu_job *cpu = &self->hybrid->cpu;
    size_t bytes = cpu->kernels->message_bytes;
    const char *old = cpu->messages, *fresh = cpu->next_messages;
    if (!cpu->track || cpu->kernels->fused) return;
    for (uint64_t v = page->begin; v < page->end; v++)
        if (old == fresh || memcmp(old + v * bytes, fresh + v * bytes, bytes) != 0) td_bit_set(cpu->next_active, v);
}

static void on_landed(void *context, td_status status, uint64_t value)
{
    td_hybrid_slot *slot = context;
    td_hybrid_gpu *self = slot->gpu;
    uint64_t now = td_hybrid_gpu_done_at(self);
    uint64_t began = slot->asked > self->free_at ? slot->asked : self->free_at;
    (void)value;
    td_hybrid_update_rate(&self->hybrid->gpu_rate, slot->edges, now > began ? now - began : 1);
    self->busy_ns += now > began ? now - began : 0;
    self->free_at = now;
    self->flights--;
    slot->busy = false;
    td_hybrid_gpu_record_status(self, status);
    mark_changed(self, &self->hybrid->pull->pages[self->hybrid->order[slot->place]]);
    td_hybrid_gpu_record_status(self, td_paged_leave(self->hybrid->paged, slot->place, 1));
    td_loop_stop(self->set->loop);
}

/* Copies back the results of a page, which a pull on the CPU would write. */
static td_status bring_back(td_hybrid_gpu *self, td_stream *stream, const td_held_page *page)
{
    td_cpu_job *cpu = &self->hybrid->cpu;
    const td_cpu_kernels *k = cpu->kernels;
    const td_gpu_state *state = &self->job.state;
    uint64_t first = page->begin, count = page->end - page->begin, word = first / 32, words = (count + 31) / 32;
    char *values = k->sends_value ? cpu->next_values : cpu->values;
    const char *found = k->sends_value ? state->next_values : state->values;
    TD_CHECK(td_stream_copy(stream, values + first * k->value_bytes, found + first * k->value_bytes,
                            count * k->value_bytes, TD_TO_HOST));
    if (!k->sends_value)
        TD_CHECK(td_stream_copy(stream, (char *)cpu->next_messages + first * k->message_bytes,
                                (const char *)state->next_messages + first * k->message_bytes, count * k->message_bytes,
                                TD_TO_HOST));
    if (!k->fused) return TD_OK;
    return td_stream_copy(stream, (uint32_t *)cpu->next_active + word, state->next_active + word,
                          words * sizeof(uint32_t), TD_TO_HOST);
}

/* Source of a copy to the slot. */
static const void *staged(td_hybrid_slot *slot, int which, const void *from, uint64_t bytes)
{
    if (slot->staged[which] == NULL) return from;
    memcpy(slot->staged[which], from, bytes);
    return slot->staged[which];
}

static td_status send_page(td_hybrid_slot *slot, const td_adjacency *list, uint64_t first, size_t weight)
{
    uint64_t bytes = slot->edges * sizeof(uint32_t);
    if (slot->edges == 0) return TD_OK;
    TD_CHECK(td_stream_copy(slot->stream, slot->targets, staged(slot, 0, list->targets + first, bytes), bytes,
                            TD_TO_DEVICE));
    if (weight == 0) return TD_OK;
    bytes = slot->edges * weight;
    return td_stream_copy(slot->stream, slot->weights,
                          staged(slot, 1, (const char *)list->weights + first * weight, bytes), bytes, TD_TO_DEVICE);
}

/* Gathers along the page in the slot. */
static td_status pull_page(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t page)
{
    const td_gpu_job *job = &self->job;
    uint64_t piece = self->piece_of[page], pieces = self->piece_of[page + 1] - piece;
    td_gpu_list list = {NULL, slot->targets, slot->weights};
    td_gpu_segments segments = {self->heads + piece * (TD_GPU_TILE / 32), self->lists + self->list_of[page],
                                self->before + piece, slot->edges};
    td_pull_args args = td_gpu_pull_args(job, list, &segments, 0, pieces * TD_GPU_TILE, job->arrays.sums);
    return pieces > 0 ? td_gpu_launch(job, slot->stream, &job->kernels->pull, pieces * 32, &args) : TD_OK;
}

td_status td_hybrid_gpu_launch(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t place)
{
    td_hybrid_job *hybrid = self->hybrid;
    const td_adjacency *list = &hybrid->cpu.pull[0];
    uint32_t number = hybrid->order[place];
    const td_held_page *page = &hybrid->pull->pages[number];
    uint64_t first = list->offsets[page->begin];
    const td_gpu_job *job = &self->job;
    size_t weight = slot->weights != NULL ? td_weight_bytes(self->job.graph->weights) : 0;
    slot->edges = list->offsets[page->end] - first;
    slot->place = place;
    slot->busy = true;
    slot->asked = td_device_clock(self->job.device);
    self->flights++;
    hybrid->row.pages_gpu++;
    hybrid->row.edges_gpu += slot->edges;
    TD_CHECK(send_page(slot, list, first, weight));
    TD_CHECK(pull_page(self, slot, number));
    TD_CHECK(td_gpu_apply(job, slot->stream, job->arrays.sums, page->begin, page->end));
    TD_CHECK(bring_back(self, slot->stream, page));
    return td_stream_notify(slot->stream, on_landed, slot, 0);
}

td_status td_hybrid_gpu_end(td_hybrid_gpu *self, td_cpu_tally *sum)
{
    uint64_t began = td_device_clock(self->job.device);
    TD_CHECK(td_gpu_read(&self->job, 0));
    self->end_ns = (double)(td_device_clock(self->job.device) - began);
    const td_gpu_tally *found = &self->job.control->tally;
    td_cpu_tally more = {.change = found->change, .share = found->share, .lowest = UINT64_MAX};
    td_hybrid_add(sum, &more, self->hybrid->cpu.kernels->measure);
    return TD_OK;
}
