/* An iteration of pages on the GPU: the values are copied there, then page after page: its edges into a slot, a gather,
 * and its results back. */
#include "engine/hybrid/gpu.h"

#include <string.h>

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

void td_hybrid_gpu_note(td_hybrid_gpu *self, uint64_t now)
{
    if (now <= self->noted) return;
    if (self->flights > 0 && self->cpu_works) self->overlap_ns += now - self->noted;
    self->noted = now;
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
    self->begun = self->noted = td_device_clock(job->device);
    self->overlap_ns = 0;
    memcpy(inputs, state->context.input, sizeof inputs); /* the device's addresses */
    state->context = cpu->context;
    memcpy(state->context.input, inputs, sizeof inputs);
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(td_stream_fill(job->stream, state->next_active, 0, (td_gpu_words(job) + 1) * sizeof(uint32_t)));
    TD_CHECK(td_stream_copy(job->stream, state->values, cpu->values, n * cpu->kernels->value_bytes, TD_TO_DEVICE_LIVE));
    if (!cpu->kernels->sends_value || job->strict)
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
    if (!cpu->setup.track || cpu->kernels->fused) return;
    for (uint64_t v = page->begin; v < page->end; v++)
        if (old == fresh || memcmp(old + v * bytes, fresh + v * bytes, bytes) != 0)
            td_bit_set(cpu->frontier.next_active, v);
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
    td_hybrid_gpu_note(self, now);
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
    return td_stream_copy(stream, (uint32_t *)cpu->frontier.next_active + word, state->next_active + word,
                          words * sizeof(uint32_t), TD_TO_HOST);
}

/* Copies `bytes` of the page to `to`, from place `at` of a pinned buffer or from where they are. */
static td_status send(td_hybrid_slot *slot, int which, void *to, const void *from, uint64_t at, uint64_t bytes)
{
    if (bytes == 0) return TD_OK;
    if (slot->staged[which] != NULL) {
        memcpy((char *)slot->staged[which] + at, from, bytes);
        from = (char *)slot->staged[which] + at;
    }
    return td_stream_copy(slot->stream, (char *)to + at, from, bytes, TD_TO_DEVICE);
}

static td_status send_names(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t page, int side, uint64_t at)
{
    const td_adjacency *list = &self->hybrid->cpu.view.pull[side];
    const uint16_t *from = self->names[side];
    uint64_t bytes = td_hybrid_gpu_edges(self, page, side) * sizeof(uint16_t);
    if (bytes == 0) return TD_OK;
    if (from == NULL) {
        from = (uint16_t *)slot->staged[TD_STAGED_NAMES] + at;
        td_hybrid_gpu_name(self, page, side, (uint16_t *)slot->staged[TD_STAGED_NAMES] + at);
    } else {
        from += list->offsets[self->hybrid->pull->pages[page].begin];
    }
    return td_stream_copy(slot->stream, slot->names + at, from, bytes, TD_TO_DEVICE);
}

/* Sends the page's edges in a list to place `at` of the slot. */
static td_status send_edges(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t page, int side, uint64_t at)
{
    const td_adjacency *list = &self->hybrid->cpu.view.pull[side];
    uint64_t first = list->offsets[self->hybrid->pull->pages[page].begin], edges = td_hybrid_gpu_edges(self, page, side);
    size_t weight = slot->weights != NULL ? td_weight_bytes(self->job.graph->weights) : 0;
    TD_CHECK(send(slot, TD_STAGED_TARGETS, slot->targets, list->targets + first, at * sizeof(uint32_t),
                  edges * sizeof(uint32_t)));
    if (weight > 0)
        TD_CHECK(send(slot, TD_STAGED_WEIGHTS, slot->weights, (const char *)list->weights + first * weight, at * weight,
                      edges * weight));
    return self->by_shards ? send_names(self, slot, page, side, at) : TD_OK;
}

static td_gpu_list list_in_slot(const td_hybrid_gpu *self, const td_hybrid_slot *slot, int side)
{
    uint64_t at = side == 0 ? 0 : slot->second;
    size_t weight = slot->weights != NULL ? td_weight_bytes(self->job.graph->weights) : 0;
    const char *weights = slot->weights;
    return (td_gpu_list){NULL, slot->targets + at, weights != NULL ? weights + at * weight : NULL};
}

/* Gathers along the page's edges in a list. */
static td_status pull_rows(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t page, int side, void *sums)
{
    const td_gpu_job *job = &self->job;
    uint64_t part = td_hybrid_gpu_part(self, page, side), piece = self->piece_of[part], pieces = self->piece_of[part + 1] - piece;
    td_gpu_segments segments = {self->heads + piece * (TD_GPU_TILE / 32), self->lists + self->list_of[part],
                                self->before + piece, td_hybrid_gpu_edges(self, page, side)};
    td_pull_args args = td_gpu_pull_args(job, list_in_slot(self, slot, side), &segments, 0, pieces * TD_GPU_TILE, sums);
    return pieces > 0 ? td_gpu_launch(job, slot->stream, &job->kernels->pull, pieces * 32, &args) : TD_OK;
}

/* Adds the sums along the second list to those along the first. */
static td_status merge(td_hybrid_gpu *self, td_hybrid_slot *slot, const td_held_page *page)
{
    const td_gpu_job *job = &self->job;
    td_merge_args args = {.state = job->state, .sums = job->arrays.sums, .rest_sums = self->other_sums,
                          .first_vertex = page->begin, .end_vertex = page->end};
    return td_gpu_launch(job, slot->stream, &job->kernels->merge_sums, page->end - page->begin, &args);
}

static td_status pull_shards(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t page)
{
    const td_gpu_job *job = &self->job;
    uint64_t first = self->shard_of[page], count = self->shard_of[page + 1] - first;
    td_shard_args args = {.state = job->state, .shards = self->shards + first, .count = (uint32_t)count,
                          .list = {list_in_slot(self, slot, 0), list_in_slot(self, slot, 1)},
                          .targets = {slot->names, slot->names + slot->second}};
    return td_gpu_launch_blocks(job, slot->stream, &job->kernels->pull_shards, count, self->shard_bytes, &args);
}

/* Gathers along the page in the slot and computes its vertices. */
static td_status pull_page(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t number)
{
    const td_gpu_job *job = &self->job;
    const td_held_page *page = &self->hybrid->pull->pages[number];
    if (self->by_shards) return pull_shards(self, slot, number);
    TD_CHECK(pull_rows(self, slot, number, 0, job->arrays.sums));
    if (self->lists_of_vertex == 2) {
        TD_CHECK(pull_rows(self, slot, number, 1, self->other_sums));
        TD_CHECK(merge(self, slot, page));
    }
    return td_gpu_apply(job, slot->stream, job->arrays.sums, page->begin, page->end);
}

td_status td_hybrid_gpu_launch(td_hybrid_gpu *self, td_hybrid_slot *slot, uint32_t place)
{
    td_hybrid_job *hybrid = self->hybrid;
    uint32_t number = hybrid->order[place];
    slot->edges = td_page_edges(hybrid->pull, number);
    slot->second = (td_hybrid_gpu_edges(self, number, 0) + 3) / 4 * 4;
    slot->place = place;
    slot->busy = true;
    slot->asked = td_device_clock(self->job.device);
    td_hybrid_gpu_note(self, slot->asked);
    self->flights++;
    hybrid->row.pages_gpu++;
    hybrid->row.edges_gpu += slot->edges;
    for (int side = 0; side < self->lists_of_vertex; side++)
        TD_CHECK(send_edges(self, slot, number, side, side == 0 ? 0 : slot->second));
    TD_CHECK(pull_page(self, slot, number));
    TD_CHECK(bring_back(self, slot->stream, &hybrid->pull->pages[number]));
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
