/* One iteration across the link, driven by completions.
 *
 * Subgraphs in slots are processed a few at a time; runs of direct subgraphs are read from host memory, one launch per
 * run; meanwhile whole subgraphs are copied to slots and processed as they arrive, and workers extract useful edges.
 * While copies are in flight and no launch is, order-free programs reprocess the subgraphs in slots, lowest level first
 * (Scaph's delayed re-scheduling). */
#include "engine/stream/stream.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { COPIES_AHEAD = 4 };

/* Adds the time since the last call to the row's copy, compute and both seconds, by the work known to be in flight. */
void td_streaming_account_time(td_streaming_job *self)
{
    uint64_t now = td_device_clock(self->gpu.device);
    double seconds = now > self->clock ? (double)(now - self->clock) * 1e-9 : 0;
    if (self->copies_in_flight > 0) self->row->copy_seconds += seconds;
    if (self->flights > 0) self->row->compute_seconds += seconds;
    if (self->copies_in_flight > 0 && self->flights > 0) self->row->both_seconds += seconds;
    self->clock = now;
}

td_status td_streaming_note_event(td_streaming_job *self, td_lane lane, const char *name, uint32_t subgraph, uint64_t asked,
                               uint64_t bytes)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t now = td_device_clock(gpu->device), began = asked > self->lane_free[lane] ? asked : self->lane_free[lane];
    if (began > now) began = now;
    self->lane_free[lane] = now;
    td_run_event event = {lane, name, subgraph, (double)(began - gpu->device_began) * 1e-9,
                          (double)(now - began) * 1e-9, bytes};
    return td_run_add_event(gpu->run, gpu->options, &event);
}

/* Launching. */

static td_status push_part(td_streaming_job *self, td_gpu_list list, const td_gpu_part *part, bool again)
{
    td_push_part_args args = td_gpu_push_part_args(&self->gpu, list, part);
    args.push.again = again;
    return td_gpu_push_part(&self->gpu, self->gpu.stream, &args);
}

static td_sweep_args sweep_args(const td_streaming_job *self, td_gpu_list list, const td_gpu_part *part)
{
    td_sweep_args args = td_gpu_sweep_args(&self->gpu, list, part);
    args.collects_vertices = self->collects_vertices;
    return args;
}

static td_status sweep_part(td_streaming_job *self, td_gpu_list list, const td_gpu_part *part, uint32_t subgraph)
{
    td_gpu_job *gpu = &self->gpu;
    td_sweep_args args = sweep_args(self, list, part);
    args.collects_edges = self->collects_edges;
    args.survivors = self->layout->survivors;
    args.survivor_room = self->layout->shape.survivor_edges;
    TD_CHECK(td_gpu_clear_pieces(gpu, gpu->stream));
    TD_CHECK(td_gpu_sweep_part(gpu, gpu->stream, &args));
    return self->collects_edges ? td_streaming_close_part(self, subgraph) : TD_OK;
}

static td_status hit_part(td_streaming_job *self, td_gpu_list list, const td_gpu_part *part, bool adding)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_stream_fill(gpu->stream, &gpu->state.control->tally.late, 0, sizeof(uint64_t)));
    return td_gpu_pull_hit(gpu, gpu->stream, list, part, adding);
}

static td_status sum_part(td_streaming_job *self, td_gpu_list list, const td_streaming_range *edges)
{
    td_gpu_job *gpu = &self->gpu;
    td_pull_args args = td_gpu_pull_args(gpu, list, &gpu->segments, edges->first, edges->end, gpu->arrays.sums);
    uint64_t threads = (args.end_piece - args.first_piece) * 32;
    if (edges->compressed == NULL) return td_gpu_launch(gpu, gpu->stream, &gpu->kernels->pull, threads, &args);
    td_pull_compressed_args compressed = {.pull = args, .compressed = edges->compressed,
                                          .shift = self->crossing->shift};
    return td_gpu_launch(gpu, gpu->stream, &gpu->kernels->pull_compressed, threads, &compressed);
}

/* The part of the lists for a range of edges. Parents are searched along whole lists. */
static td_gpu_part part_of(const td_streaming_job *self, const td_streaming_range *edges)
{
    const td_link_list *list = self->crossing;
    bool all = self->work == TD_WORK_PARENTS;
    uint32_t low = list->first_vertex[edges->first >> list->shift];
    return (td_gpu_part){.first_edge = edges->first, .end_edge = edges->end, .skip = all ? NULL : list->skip,
                         .light = all ? NULL : list->light, .first_vertex = low,
                         .end_vertex = td_link_vertex(list, edges->end - 1, low, self->gpu.graph->vertices) + 1,
                         .heavy_edges = self->heavy_edges, .from_host = edges->from_host,
                         .weight_bytes = (uint8_t)self->layout->lists[0].weight_bytes};
}

td_status td_streaming_launch_part(td_streaming_job *self, const td_streaming_range *edges)
{
    const td_link_list *crossing = self->crossing;
    td_gpu_list list = {crossing->seen.offsets, edges->targets, edges->weights};
    td_gpu_part part = part_of(self, edges);
    uint32_t first = (uint32_t)(edges->first >> crossing->shift);
    for (uint32_t s = first; self->part_of != NULL && td_link_begin(crossing, s) < edges->end; s++)
        self->part_of[s] = first;
    switch (self->work) {
    case TD_WORK_PUSH:
        if (edges->again && self->differences) TD_CHECK(td_streaming_settle_within(self, &part));
        return push_part(self, list, &part, edges->again);
    case TD_WORK_SWEEP:
        if (edges->again) TD_CHECK(td_streaming_hook_within(self, &part, first));
        return sweep_part(self, list, &part, first);
    case TD_WORK_HIT: return hit_part(self, list, &part, true);
    case TD_WORK_SUM: return sum_part(self, list, edges);
    case TD_WORK_PARENTS: return td_gpu_find_parents(&self->gpu, self->gpu.stream, list, &part, true);
    }
    return TD_OK;
}

/* The resident prefix: no edge is skipped, and none is read from host memory. */

td_status td_streaming_push_prefix(td_streaming_job *self, bool defers)
{
    td_gpu_part all = td_gpu_all(&self->gpu);
    td_push_part_args args = td_gpu_push_part_args(&self->gpu, self->push->prefix, &all);
    args.rest = defers ? self->rest : NULL;
    args.heavy_rest = defers ? self->heavy : NULL;
    return td_gpu_push_part(&self->gpu, self->gpu.stream, &args);
}

td_status td_streaming_hit_prefix(td_streaming_job *self)
{
    td_gpu_part all = td_gpu_all(&self->gpu);
    return hit_part(self, self->pull->prefix, &all, false);
}

td_status td_streaming_sweep_prefix(td_streaming_job *self, uint32_t sampled)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_part all = td_gpu_all(gpu);
    td_sweep_args args = sweep_args(self, self->push->prefix, &all);
    args.sampled = sampled;
    TD_CHECK(td_gpu_clear_pieces(gpu, gpu->stream));
    return td_gpu_sweep_part(gpu, gpu->stream, &args);
}

/* Slots. */

static bool reprocesses(const td_streaming_job *self);
static void on_copied(void *context, td_status status, uint64_t value);
static void on_done(void *context, td_status status, uint64_t slot);

static td_status launch_slot(td_streaming_job *self, uint32_t slot, bool again)
{
    const td_link_list *list = self->crossing;
    const td_slot *it = &self->layout->slots.slots[slot];
    uint64_t first = td_link_begin(list, it->subgraph), end = td_link_end(list, it->subgraph);
    bool decompressed = list->compressed != NULL && self->layout->window != NULL;
    const uint32_t *targets = (const uint32_t *)(decompressed ? self->layout->window : it->targets) - first;
    const char *weights = it->weights == NULL ? NULL : (const char *)it->weights - first * list->weight_bytes;
    td_streaming_range edges = {.first = first, .end = end, .targets = targets, .weights = weights,
                                  .compressed = list->compressed != NULL ? it->targets : NULL, .again = again};
    return td_streaming_launch_part(self, &edges);
}

/* Launches over a slot and requests a completion. */
static td_status process_slot(td_streaming_job *self, uint32_t slot, bool again)
{
    td_slots_use(&self->layout->slots, slot);
    self->layout->slots.slots[slot].asked = td_device_clock(self->gpu.device);
    if (self->crossing->compressed != NULL && self->work != TD_WORK_SUM)
        TD_CHECK(td_streaming_decompress(self, &self->layout->slots.slots[slot]));
    TD_CHECK(launch_slot(self, slot, again));
    uint32_t times = self->variant == TD_STREAMING_HBASE && reprocesses(self) ? self->repeats : 1;
    for (uint32_t i = 1; i < times; i++) TD_CHECK(launch_slot(self, slot, true));
    TD_CHECK(td_stream_notify(self->gpu.stream, on_done, self, slot));
    td_streaming_account_time(self);
    self->flights++;
    self->row->rounds += times;
    return TD_OK;
}

static td_status copy_subgraph(td_streaming_job *self, uint32_t s, uint32_t slot)
{
    const td_link_list *list = self->crossing;
    td_slot *to = &self->layout->slots.slots[slot];
    uint64_t first = td_link_begin(list, s), edges = td_link_end(list, s) - first;
    const uint32_t *targets = list->compressed != NULL ? list->compressed + list->compressed_at[s]
                                                       : list->targets + first;
    uint64_t bytes = td_link_bytes(list, s) - edges * list->weight_bytes;
    TD_CHECK(td_stream_copy(self->layout->copies, to->targets, targets, bytes, TD_TO_DEVICE));
    if (list->weight_bytes > 0)
        TD_CHECK(td_stream_copy(self->layout->copies, to->weights,
                                (const char *)list->weights + first * list->weight_bytes, edges * list->weight_bytes,
                                TD_TO_DEVICE));
    TD_CHECK(td_stream_notify(self->layout->copies, on_copied, self, slot));
    td_streaming_account_time(self);
    to->asked = self->clock;
    self->copies_in_flight++;
    self->row->bytes_whole += td_link_bytes(list, s);
    return TD_OK;
}

/* Starts one copy per free slot. */
td_status td_streaming_start_copies(td_streaming_job *self)
{
    td_slots *slots = &self->layout->slots;
    while (self->waiting_at < self->waiting_count && self->copies_in_flight < COPIES_AHEAD) {
        uint32_t s = self->waiting[self->waiting_at];
        uint64_t evictions = slots->evictions, began = td_clock_ns();
        uint32_t slot = td_slots_take(slots, s);
        self->row->queue_seconds += td_seconds_since(began);
        if (slot == TD_NO_SLOT) return TD_OK;
        self->row->evictions += (uint32_t)(slots->evictions - evictions);
        self->waiting_at++;
        td_status status = copy_subgraph(self, s, slot);
        if (status != TD_OK) {
            td_slots_forget(slots, slot);
            return status;
        }
    }
    return TD_OK;
}

/* Whether subgraphs may be reprocessed within an iteration: only where whole lists are in them (no resident prefix). */
static bool reprocesses(const td_streaming_job *self)
{
    bool works = self->work == TD_WORK_PUSH || (self->work == TD_WORK_SWEEP && self->hooks);
    return self->order_free && works && self->crossing->prefix.offsets == NULL;
}

/* Number of resident subgraphs launched ahead. Few, so that an arriving subgraph is processed soon and frees its slot
 * for the next copy; enough to keep the GPU busy until their completions are handled. */
enum { RESIDENTS_AHEAD = 6 };

static td_status process_residents(td_streaming_job *self)
{
    while (self->residents_at < self->residents_count && self->flights < RESIDENTS_AHEAD)
        TD_CHECK(process_slot(self, self->residents[self->residents_at++], false));
    return TD_OK;
}

static void list_residents(td_streaming_job *self, bool owned)
{
    td_slots *slots = &self->layout->slots;
    for (uint32_t s = 0; s < self->crossing->subgraphs; s++) {
        uint32_t slot = slots->place[s];
        if (self->mode[s] != TD_TRANSFER_RESIDENT || (slots->slots[slot].owner != TD_NO_SUBGRAPH) != owned) continue;
        td_slots_use(slots, slot);
        self->residents[self->residents_count++] = slot;
    }
}

/* Lists the slots with useful edges; they are not evicted before they are processed. Slots that copies wait for come
 * first. */
static void list_all_residents(td_streaming_job *self)
{
    self->residents_at = self->residents_count = 0;
    list_residents(self, false);
    list_residents(self, true);
    self->row->subgraphs_resident += self->residents_count;
}

/* Whether the priority queue reprocesses subgraphs. */
static bool queues(const td_streaming_job *self)
{
    bool has_queue = self->variant == TD_STREAMING_FULL || self->variant == TD_STREAMING_HVSP ||
                     self->variant == TD_STREAMING_SCAPH;
    return has_queue && reprocesses(self);
}

/* While copies are in flight and no launch is, the GPU reprocesses a resident subgraph. */
td_status td_streaming_process_more(td_streaming_job *self)
{
    TD_CHECK(td_streaming_start_copies(self));
    TD_CHECK(process_residents(self));
    if (!queues(self) || self->copies_in_flight == 0 || self->flights > 0) return TD_OK;
    uint64_t began = td_clock_ns();
    uint32_t slot = td_slots_next(&self->layout->slots, self->levels);
    self->row->queue_seconds += td_seconds_since(began);
    return slot == TD_NO_SLOT ? TD_OK : process_slot(self, slot, true);
}

void td_streaming_record_status(td_streaming_job *self, td_status status)
{
    if (status == TD_OK || self->status != TD_OK) return;
    self->status = status;
    td_failure_keep(&self->failure);
    td_loop_stop(self->layout->gpu.set->loop);
}

static void on_copied(void *context, td_status status, uint64_t slot)
{
    td_streaming_job *self = context;
    const td_slot *it = &self->layout->slots.slots[slot];
    td_streaming_account_time(self);
    self->copies_in_flight--;
    td_streaming_record_status(self, status);
    td_streaming_record_status(self, td_streaming_note_event(self, TD_LANE_COPIES, "copy", it->subgraph, it->asked,
                                              td_link_bytes(self->crossing, it->subgraph)));
    if (self->status == TD_OK) td_streaming_record_status(self, process_slot(self, (uint32_t)slot, false));
    if (self->status == TD_OK) td_streaming_record_status(self, td_streaming_start_copies(self));
}

/* Value of a direct launch's completion: this bit, and the bytes that the launch reads. */
static const uint64_t DIRECT = UINT64_C(1) << 63;

static void on_done(void *context, td_status status, uint64_t slot)
{
    td_streaming_job *self = context;
    td_streaming_account_time(self);
    self->flights--;
    td_streaming_record_status(self, status);
    if (slot & DIRECT) {
        td_streaming_record_status(self, td_streaming_note_event(self, TD_LANE_KERNELS, "direct", UINT32_MAX,
                                                                 self->direct_asked,
                                                  slot & ~DIRECT));
    } else {
        const td_slot *it = &self->layout->slots.slots[slot];
        td_slots_done(&self->layout->slots, (uint32_t)slot);
        td_streaming_record_status(self, td_streaming_note_event(self, TD_LANE_KERNELS, "subgraph", it->subgraph,
                                                                 it->asked,
                                                  td_link_bytes(self->crossing, it->subgraph)));
    }
    if (self->status == TD_OK) td_streaming_record_status(self, td_streaming_process_more(self));
}

/* An iteration. */

/* Launches once per run of direct subgraphs; subgraphs without useful edges in between do no harm. Survivors are
 * collected per launch, all or none, so that collecting launches are short. */
enum { SURVIVOR_BATCH = 4 };

static td_status read_directly(td_streaming_job *self)
{
    const td_link_list *list = self->crossing;
    uint32_t most = self->collects_edges ? SURVIVOR_BATCH : list->subgraphs;
    for (uint32_t s = 0, end; s < list->subgraphs; s = end) {
        uint32_t last = s, limit = list->subgraphs - s < most ? list->subgraphs : s + most;
        uint64_t bytes = 0;
        for (end = s; end < limit; end++) {
            if (self->mode[end] != TD_TRANSFER_DIRECT && self->mode[end] != TD_TRANSFER_NONE) break;
            if (self->mode[end] != TD_TRANSFER_DIRECT) continue;
            last = end;
            self->row->subgraphs_direct++;
            bytes += self->useful[end] * td_link_edge_bytes(list);
        }
        if (end == s) end++;
        if (self->mode[last] != TD_TRANSFER_DIRECT) continue;
        while (self->mode[s] != TD_TRANSFER_DIRECT) s++;
        td_streaming_range edges = {.first = td_link_begin(list, s), .end = td_link_end(list, last),
                                      .targets = list->seen.targets, .weights = list->seen.weights, .from_host = true};
        TD_CHECK(td_streaming_launch_part(self, &edges));
        TD_CHECK(td_stream_notify(self->gpu.stream, on_done, self, DIRECT | bytes));
        td_streaming_account_time(self);
        if (self->direct_asked == 0) self->direct_asked = self->clock;
        if (self->work == TD_WORK_SUM) self->row->bytes_direct += bytes; /* a pull reads every edge and no other byte */
        self->flights++;
    }
    return TD_OK;
}

static void list_wholes(td_streaming_job *self)
{
    const td_link_list *list = self->crossing;
    self->waiting_count = self->waiting_at = 0;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        if (self->mode[s] != TD_TRANSFER_RESIDENT) self->row->bytes_useful += self->useful[s] * list->useful_bytes;
        if (self->mode[s] == TD_TRANSFER_WHOLE) self->waiting[self->waiting_count++] = s;
    }
    self->row->subgraphs_whole += self->waiting_count;
}

/* Waits for all queued work: it uses memory that the caller frees. */
static td_status fail_clean(td_streaming_job *self, td_status status)
{
    td_failure failure = self->failure;
    if (self->status == TD_OK) td_failure_keep(&failure);
    (void)td_stream_synchronize(self->layout->copies);
    (void)td_stream_synchronize(self->gpu.stream);
    td_failure_set(&failure);
    return status;
}

static td_status run_iteration(td_streaming_job *self)
{
    TD_CHECK(td_streaming_fetch_active(self));
    TD_CHECK(td_streaming_start_extraction(self));
    list_all_residents(self);
    TD_CHECK(process_residents(self));
    TD_CHECK(td_streaming_start_copies(self));
    TD_CHECK(read_directly(self));
    while ((self->flights + self->copies_in_flight > 0 || td_streaming_is_extracting(self)) && self->status == TD_OK)
        TD_CHECK(td_loop_run(self->layout->gpu.set->loop));
    return self->status;
}

td_status td_streaming_cross(td_streaming_job *self, td_link_list *list, td_streaming_work work, bool heavy)
{
    td_slots *slots = &self->layout->slots;
    self->crossing = list;
    self->work = work;
    self->heavy_edges = heavy;
    TD_CHECK(td_slots_serve(slots, list, list->subgraphs));
    td_slots_begin(slots);
    td_streaming_choose_modes(self, list);
    list_wholes(self);
    self->clock = td_device_clock(self->gpu.device);
    self->direct_asked = 0;
    self->row->levels = queues(self) ? self->levels : 1;
    td_status status = run_iteration(self);
    if (status != TD_OK) status = fail_clean(self, status);
    td_streaming_end_extraction(self);
    return status;
}
