/* Programs that add up all their neighbours: every edge once an iteration, shared out between the GPU and the CPU
 * (coop_tiles.c); every vertex gets its value on the GPU. The CPU takes lists from the begin, the GPU from the end:
 * vertices behind those that anyone still works at get their values at once, and their messages are on the way to the
 * host while the iteration goes on. At its end the CPU hands over its sums, the others follow, and the CPU has all it
 * needs for the next one. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

static const uint64_t SNAPSHOT_NS = 250000000; /* between values kept at the host, in case the GPU is lost */
enum { EARLY_PARTS = 16 };                     /* fewer vertices than such a part are not worth a launch */

/* What is queued on one stream from now on waits for what the other has. */
td_status td_coop_follow(td_coop_job *self, td_stream *stream, td_stream *other)
{
    td_event *event = NULL;
    TD_CHECK(td_stream_record(other, &event));
    td_status status = td_stream_wait(stream, event);
    td_event_destroy(self->held->device, event);
    return status;
}

/* Messages. */

/* Of the vertices first .. end - 1, as far as anyone hears them, from where they will be read in the next iteration. */
static td_status send_messages(td_coop_job *self, const void *from, uint64_t first, uint64_t end)
{
    bool values = self->gpu.traits->sends_value;
    uint64_t bytes = values ? self->gpu.traits->value_bytes : self->gpu.traits->message_bytes;
    uint64_t heard = values ? end : self->heard;
    if (end > heard) end = heard;
    if (first >= end) return TD_OK;
    self->row->bytes_synchronised += (end - first) * bytes;
    return td_stream_copy(self->held->copies, (char *)self->messages[self->next_messages] + first * bytes,
                          (const char *)from + first * bytes, (end - first) * bytes, TD_TO_HOST);
}

/* Vertices that nobody works at any more, because the GPU has come down to this edge of the rest from its end, or from
 * the end of what crosses: those without hot edges get their values. */
td_status td_coop_settle(td_coop_job *self, int pot, uint64_t from)
{
    td_gpu_job *gpu = &self->gpu;
    td_stream *lane = self->lane[pot];
    uint64_t first = td_first_list(self->held->cut->rest.offsets, self->taking, from);
    uint64_t least = self->held->split.vertices / EARLY_PARTS;
    uint64_t end = self->settled[pot].begin;
    uint64_t lowest = pot == TD_POT_HOT ? self->settled[TD_POT_REST].end : self->hot_end;
    if (first < self->hot_end) first = self->hot_end;
    if (first < lowest) first = lowest;
    if (first >= end || end - first < least) return TD_OK;
    self->settled[pot].begin = first;
    if (self->snapshots_under_way > 0) TD_CHECK(td_coop_follow(self, lane, self->held->copies));
    TD_CHECK(td_gpu_apply(gpu, lane, self->rest_sums, first, end));
    TD_CHECK(td_coop_follow(self, self->held->copies, lane));
    const td_gpu_state *state = &gpu->state;
    return send_messages(self, gpu->traits->sends_value ? state->next_values : state->next_messages, first, end);
}

static void begin_settling(td_coop_job *self)
{
    const uint64_t *offsets = self->held->cut->rest.offsets;
    uint64_t all = self->taking, crossing = td_coop_crossing_end(self);
    uint64_t end = all;
    if (crossing != offsets[all]) end = td_first_list(offsets, all, crossing + 1) - 1; /* its list goes on behind */
    self->settled[TD_POT_REST] = (td_coop_range){end, end};
    self->settled[TD_POT_HOT] = (td_coop_range){all, all};
    bool over = self->gpu.traits->sends_value && self->safe == self->next_messages;
    if (over) self->safe = -1; /* it is written over from now on */
}

static void on_messages(void *context, td_status status, uint64_t which)
{
    (void)which;
    td_coop_job *self = context;
    td_coop_note(self, status);
    if (self->status == TD_OK && self->cpu_waits) td_coop_let_cpu_begin(self);
}

static void on_snapshot(void *context, td_status status, uint64_t which)
{
    td_coop_job *self = context;
    td_coop_note(self, status);
    if (status == TD_OK) self->safe = (int)which;
    self->snapshots_under_way--;
}

/* Values from which the CPU could go on alone. */
static td_status take_snapshot(td_coop_job *self, uint32_t next)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t bytes = gpu->graph->vertices * gpu->traits->value_bytes;
    uint32_t to = gpu->traits->sends_value ? (uint32_t)self->next_messages : self->snapshots % 2;
    self->snapshots++;
    if (self->safe == (int)to) self->safe = -1;
    self->snapshot_of[to] = (td_coop_moment){next, gpu->state.context.global};
    self->snapshot_at = td_device_clock(self->held->device);
    self->snapshots_under_way++;
    self->last_snapshot = to;
    if (!gpu->traits->sends_value) {
        TD_CHECK(td_stream_copy(self->held->copies, self->snapshot[to], gpu->state.values, bytes, TD_TO_HOST));
        self->row->bytes_synchronised += bytes;
    }
    return td_stream_notify(self->held->copies, on_snapshot, self, to);
}

static bool wants_snapshot(const td_coop_job *self)
{
    bool first = self->snapshots == 0, due = td_device_clock(self->held->device) - self->snapshot_at > SNAPSHOT_NS;
    bool always = self->gpu.traits->sends_value || self->gpu.run->checkpoints != NULL;
    return always || first || (due && self->snapshots_under_way == 0);
}

/* The rest of what the CPU needs for its next sums: messages of two ranges of vertices. */
static td_status fetch(td_coop_job *self, uint32_t next, td_coop_range low, td_coop_range high)
{
    td_gpu_job *gpu = &self->gpu;
    const void *from = gpu->traits->sends_value ? gpu->state.values : gpu->state.messages;
    TD_CHECK(td_coop_follow(self, self->held->copies, gpu->stream));
    self->cpu_waits = true;
    TD_CHECK(send_messages(self, from, low.begin, low.end));
    TD_CHECK(send_messages(self, from, high.begin, high.end));
    TD_CHECK(td_stream_notify(self->held->copies, on_messages, self, 0));
    self->cpu.messages = self->messages[self->next_messages];
    if (wants_snapshot(self)) TD_CHECK(take_snapshot(self, next));
    self->next_messages = 1 - self->next_messages;
    return TD_OK;
}

/* Values. */

static td_status send_sums(td_coop_job *self)
{
    uint64_t sum = self->gpu.traits->accum_bytes, given = self->sums_end - self->sums_begin;
    self->row->bytes_synchronised += given * sum;
    if (given == 0) return TD_OK;
    return td_stream_copy(self->gpu.stream, self->host_sums, (char *)self->sums + self->sums_begin * sum, given * sum,
                          TD_TO_DEVICE);
}

static td_status apply(td_coop_job *self, td_coop_range vertices)
{
    td_gpu_job *gpu = &self->gpu;
    if (vertices.begin >= vertices.end) return TD_OK;
    td_merge_args args = {.state = gpu->state, .sums = gpu->arrays.sums, .rest_sums = self->rest_sums,
                          .host_sums = self->host_sums, .host_first = (uint32_t)self->sums_begin,
                          .host_count = (uint32_t)(self->sums_end - self->sums_begin),
                          .first_vertex = (uint32_t)vertices.begin, .end_vertex = (uint32_t)vertices.end};
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->merge_sums, vertices.end - vertices.begin, &args));
    return td_gpu_apply(gpu, gpu->stream, gpu->arrays.sums, vertices.begin, vertices.end);
}

static td_status end_values(td_coop_job *self)
{
    TD_CHECK(td_gpu_read(&self->gpu, 0));
    td_gpu_turn_values(&self->gpu);
    return TD_OK;
}

/* Iterations. */

static td_status pull(td_coop_job *self)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_row row = {.direction = "pull", .active_vertices = self->taking};
    self->row = &row;
    TD_CHECK(td_gpu_reset(gpu));
    td_coop_fill_pots(self);
    begin_settling(self);
    row.active_edges = self->pot[TD_POT_HOT].edges + self->pot[TD_POT_REST].edges;
    self->sums_begin = self->sums_end = 0;
    self->sums_add = false;
    TD_CHECK(td_coop_follow(self, self->held->hot_stream, gpu->stream));
    TD_CHECK(td_coop_share(self));
    TD_CHECK(td_coop_follow(self, gpu->stream, self->held->hot_stream));
    row.edges = row.edges_gpu + row.edges_link + row.edges_cpu + row.edges_on_demand;
    td_coop_range low = {0, self->settled[TD_POT_REST].begin};
    td_coop_range high = {self->settled[TD_POT_REST].end, self->settled[TD_POT_HOT].begin};
    if (self->snapshots_under_way > 0) TD_CHECK(td_coop_follow(self, gpu->stream, self->held->copies));
    TD_CHECK(send_sums(self));
    TD_CHECK(apply(self, low));
    TD_CHECK(apply(self, high));
    TD_CHECK(end_values(self));
    TD_CHECK(td_gpu_judge(gpu, gpu->control->tally.change, gpu->control->tally.share));
    gpu->state.context.global = gpu->control->tally.share;
    row.change = gpu->control->tally.change;
    TD_CHECK(fetch(self, gpu->state.context.iteration + 1, low, high));
    TD_CHECK(td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began)));
    self->cpu.context = gpu->state.context;
    return TD_OK;
}

/* Vertices that nobody hears, once everyone else is final: the first number from which on there are none but them. */
static uint64_t first_sink(const td_coop_job *self)
{
    const uint64_t *out = self->held->split.out;
    uint64_t v = self->held->split.vertices;
    while (v > 0 && out[v] == out[v - 1]) v--;
    return v;
}

static td_status wait_for_messages(td_coop_job *self)
{
    while (self->cpu_waits && self->status == TD_OK) TD_CHECK(td_loop_run(self->held->gpu.set->loop));
    if (self->status != TD_OK) td_failure_set(&self->failure);
    return self->status;
}

static td_status pull_sinks(td_coop_job *self, uint64_t first)
{
    uint64_t began = td_clock_ns(), n = self->held->split.vertices;
    const td_adjacency *hot = &self->held->cut->hot, *rest = &self->held->cut->rest;
    uint64_t hot_edges = hot->offsets[n] - hot->offsets[first], rest_edges = rest->offsets[n] - rest->offsets[first];
    td_row row = {.direction = "sinks", .active_vertices = n - first, .change = self->gpu.run->final_change};
    self->row = &row;
    row.edges = row.edges_cpu = row.active_edges = hot_edges + rest_edges;
    TD_CHECK(wait_for_messages(self));
    TD_CHECK(td_gpu_reset(&self->gpu));
    self->sums_begin = self->sums_end = first;
    TD_CHECK(td_coop_clear_until(self, n));
    if (rest_edges > 0) TD_CHECK(td_coop_gather(self, rest, rest->offsets[first], rest->offsets[n], false));
    if (hot_edges > 0) TD_CHECK(td_coop_gather(self, hot, hot->offsets[first], hot->offsets[n], true));
    self->gpu.state.next_values = self->gpu.state.values; /* nobody hears them: everyone else stays as it is */
    TD_CHECK(send_sums(self));
    TD_CHECK(apply(self, (td_coop_range){first, n}));
    TD_CHECK(end_values(self));
    const td_gpu_tally *sum = &self->gpu.control->tally;
    TD_CHECK(td_run_check_change(self->gpu.run, self->gpu.state.context.iteration, sum->change, sum->share));
    return td_gpu_end_iteration(&self->gpu, &row, began, td_seconds_since(began));
}

td_status td_coop_declare_sums(td_coop_job *self)
{
    const td_cpu_kernels *k = self->gpu.traits;
    uint64_t n = self->gpu.graph->vertices;
    TD_CHECK(td_coop_new_pinned(self, &self->sums, n, k->accum_bytes, "sums"));
    for (int i = 0; i < 2; i++) {
        TD_CHECK(td_coop_new_pinned(self, &self->snapshot[i], n, k->value_bytes, "vertex values"));
        self->messages[i] = self->snapshot[i];
        if (!k->sends_value) TD_CHECK(td_coop_new_pinned(self, &self->messages[i], n, k->message_bytes, "messages"));
    }
    return td_coop_make_pots(self);
}

td_status td_coop_make_sums(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_coop_declare_arrays(self));
    TD_CHECK(td_gpu_send_inputs(gpu));
    TD_CHECK(td_gpu_clear_sums(gpu, gpu->arrays.sums));
    TD_CHECK(td_gpu_clear_sums(gpu, self->rest_sums));
    TD_CHECK(td_coop_declare_host(self));
    self->cpu.coop.sums = self->sums;
    return TD_OK;
}

/* Behind the last vertex that has hot edges. */
static uint64_t hot_end(const td_coop_job *self)
{
    const uint64_t *offsets = self->held->cut->hot.offsets;
    return td_first_list(offsets, self->held->split.vertices, offsets[self->held->split.vertices]);
}

td_status td_coop_pulls(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_frontier now;
    td_row row = {0};
    uint64_t n = gpu->graph->vertices;
    self->taking = self->defer_sinks ? first_sink(self) : n;
    self->heard = gpu->traits->view == TD_VIEW_FORWARD ? first_sink(self) : n;
    self->lane[TD_POT_HOT] = self->held->hot_stream;
    self->lane[TD_POT_REST] = self->held->stream;
    self->hot_end = hot_end(self);
    self->safe = -1;
    self->launch = td_coop_launch_pull;
    self->work = td_coop_work_pull;
    self->cpu_in_front = self->gpu_takes = true;
    self->row = &row;
    TD_CHECK(td_gpu_start(gpu, &now));
    bool waits = self->taking < n && gpu->state.next_values != gpu->state.values;
    if (waits) /* those who wait keep what they start with in both */
        TD_CHECK(td_stream_copy(gpu->stream, gpu->state.next_values, gpu->state.values, n * gpu->traits->value_bytes,
                                TD_ON_DEVICE));
    self->cpu.context = gpu->state.context;
    TD_CHECK(fetch(self, gpu->state.context.iteration, (td_coop_range){0, n}, (td_coop_range){0, 0}));
    TD_CHECK(send_messages(self, gpu->state.values, self->taking, n)); /* and at the host, where values are sent */
    while (gpu->state.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(pull(self));
        if (gpu->run->checkpoints == NULL) continue;
        TD_CHECK(td_stream_synchronize(self->held->copies)); /* the values are here */
        TD_CHECK(td_coop_save(self, &gpu->state.context, self->snapshot[self->last_snapshot]));
    }
    if (self->taking < n) TD_CHECK(pull_sinks(self, self->taking));
    TD_CHECK(wait_for_messages(self));
    self->last_snapshot = self->safe == 0; /* over the other one */
    TD_CHECK(td_stream_copy(self->held->copies, self->snapshot[self->last_snapshot], gpu->state.values,
                            n * gpu->traits->value_bytes, TD_TO_HOST));
    return td_stream_synchronize(self->held->copies);
}
