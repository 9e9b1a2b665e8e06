/* Accumulating programs: every edge once per iteration, divided between GPU and CPU (tiles.c); the GPU applies every
 * vertex. The CPU takes lists from the front, the GPU from the back: vertices behind all unfinished pieces are applied
 * at once, and their messages are copied to the host while the iteration continues. At its end the CPU sends its sums,
 * the remaining vertices are applied, and their messages are copied. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

static const uint64_t SNAPSHOT_NS = 250000000; /* between snapshots, from which the CPU continues if the GPU is lost */
enum { EARLY_PARTS = 16 };                     /* a smaller part of the vertices is not worth a launch */

/* Work queued on one stream from now on waits for the work queued on the other. */
td_status td_coop_follow(td_coop_job *self, td_stream *stream, td_stream *other)
{
    td_event *event = NULL;
    TD_CHECK(td_stream_record(other, &event));
    td_status status = td_stream_wait(stream, event);
    td_event_destroy(self->layout->device, event);
    return status;
}

/* Messages. */

/* Copies messages of the vertices first .. end - 1 that have out-edges to the host, for the next iteration. */
static td_status send_messages(td_coop_job *self, const void *from, uint64_t first, uint64_t end)
{
    bool values = self->gpu.traits->sends_value;
    uint64_t bytes = values ? self->gpu.traits->value_bytes : self->gpu.traits->message_bytes;
    uint64_t sources = values ? end : self->sums.sources;
    if (end > sources) end = sources;
    if (first >= end) return TD_OK;
    self->now.row->bytes_synchronised += (end - first) * bytes;
    return td_stream_copy(self->layout->copies, (char *)self->sums.messages[self->sums.next_messages] + first * bytes,
                          (const char *)from + first * bytes, (end - first) * bytes, TD_TO_HOST);
}

/* Applies the vertices whose lists are complete: the GPU has taken the edges from `from` on, up to the end of the rest
 * or of the part that crosses. Vertices with hot edges are excluded. */
td_status td_coop_settle(td_coop_job *self, int deque, uint64_t from)
{
    td_gpu_job *gpu = &self->gpu;
    td_stream *lane = self->share.lane[deque];
    uint64_t first = td_first_list(self->layout->cut->rest.offsets, self->sums.participants, from);
    uint64_t least = self->layout->split.vertices / EARLY_PARTS;
    uint64_t end = self->sums.settled[deque].begin;
    uint64_t lowest = deque == TD_COOP_HOT ? self->sums.settled[TD_COOP_REST].end : self->sums.hot_end;
    if (first < self->sums.hot_end) first = self->sums.hot_end;
    if (first < lowest) first = lowest;
    if (first >= end || end - first < least) return TD_OK;
    self->sums.settled[deque].begin = first;
    if (self->kept.in_flight > 0) TD_CHECK(td_coop_follow(self, lane, self->layout->copies));
    TD_CHECK(td_gpu_apply(gpu, lane, self->sums.rest, first, end));
    TD_CHECK(td_coop_follow(self, self->layout->copies, lane));
    const td_gpu_state *state = &gpu->state;
    return send_messages(self, gpu->traits->sends_value ? state->next_values : state->next_messages, first, end);
}

static void begin_settling(td_coop_job *self)
{
    const uint64_t *offsets = self->layout->cut->rest.offsets;
    uint64_t all = self->sums.participants, crossing = td_coop_crossing_end(self);
    uint64_t end = all;
    if (crossing != offsets[all]) end = td_first_list(offsets, all, crossing + 1) - 1; /* its list continues in the
                                                                                        * resident windows */
    self->sums.settled[TD_COOP_REST] = (td_coop_range){end, end};
    self->sums.settled[TD_COOP_HOT] = (td_coop_range){all, all};
    bool over = self->gpu.traits->sends_value && self->kept.safe == self->sums.next_messages;
    if (over) self->kept.safe = -1; /* the snapshot is being overwritten */
}

static void on_messages(void *context, td_status status, uint64_t which)
{
    (void)which;
    td_coop_job *self = context;
    td_coop_record_status(self, status);
    if (self->status == TD_OK && self->now.cpu_waits) td_coop_start_cpu(self);
}

static void on_snapshot(void *context, td_status status, uint64_t which)
{
    td_coop_job *self = context;
    td_coop_record_status(self, status);
    if (status == TD_OK) self->kept.safe = (int)which;
    self->kept.in_flight--;
}

/* Copies values to the host, from which the CPU could continue alone. */
static td_status take_snapshot(td_coop_job *self, uint32_t next)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t bytes = gpu->graph->vertices * gpu->traits->value_bytes;
    uint32_t to = gpu->traits->sends_value ? (uint32_t)self->sums.next_messages : self->kept.count % 2;
    self->kept.count++;
    if (self->kept.safe == (int)to) self->kept.safe = -1;
    self->kept.of[to] = (td_coop_moment){next, gpu->state.context.global};
    self->kept.at = td_device_clock(self->layout->device);
    self->kept.in_flight++;
    self->kept.last = to;
    if (!gpu->traits->sends_value) {
        TD_CHECK(td_stream_copy(self->layout->copies, self->kept.values[to], gpu->state.values, bytes, TD_TO_HOST));
        self->now.row->bytes_synchronised += bytes;
    }
    return td_stream_notify(self->layout->copies, on_snapshot, self, to);
}

static bool wants_snapshot(const td_coop_job *self)
{
    bool first = self->kept.count == 0, due = td_device_clock(self->layout->device) - self->kept.at > SNAPSHOT_NS;
    bool always = self->gpu.traits->sends_value || self->gpu.run->checkpoints != NULL;
    return always || first || (due && self->kept.in_flight == 0);
}

/* Copies the remaining messages that the CPU needs for its next sums: those of two ranges of vertices. */
static td_status fetch(td_coop_job *self, uint32_t next, td_coop_range low, td_coop_range high)
{
    td_gpu_job *gpu = &self->gpu;
    const void *from = gpu->traits->sends_value ? gpu->state.values : gpu->state.messages;
    TD_CHECK(td_coop_follow(self, self->layout->copies, gpu->stream));
    self->now.cpu_waits = true;
    TD_CHECK(send_messages(self, from, low.begin, low.end));
    TD_CHECK(send_messages(self, from, high.begin, high.end));
    TD_CHECK(td_stream_notify(self->layout->copies, on_messages, self, 0));
    self->cpu.messages = self->sums.messages[self->sums.next_messages];
    if (wants_snapshot(self)) TD_CHECK(take_snapshot(self, next));
    self->sums.next_messages = 1 - self->sums.next_messages;
    return TD_OK;
}

/* Values. */

static td_status send_sums(td_coop_job *self)
{
    uint64_t sum = self->gpu.traits->accum_bytes, given = self->sums.end - self->sums.begin;
    self->now.row->bytes_synchronised += given * sum;
    if (given == 0) return TD_OK;
    return td_stream_copy(self->gpu.stream, self->sums.sent, (char *)self->sums.own + self->sums.begin * sum,
                          given * sum,
                          TD_TO_DEVICE);
}

static td_status apply(td_coop_job *self, td_coop_range vertices)
{
    td_gpu_job *gpu = &self->gpu;
    if (vertices.begin >= vertices.end) return TD_OK;
    td_merge_args args = {.state = gpu->state, .sums = gpu->arrays.sums, .rest_sums = self->sums.rest,
                          .host_sums = self->sums.sent, .host_first = (uint32_t)self->sums.begin,
                          .host_count = (uint32_t)(self->sums.end - self->sums.begin),
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
    td_row row = {.direction = "pull", .active_vertices = self->sums.participants};
    self->now.row = &row;
    TD_CHECK(td_gpu_reset(gpu));
    td_coop_fill_deques(self);
    begin_settling(self);
    row.active_edges = self->share.deque[TD_COOP_HOT].edges + self->share.deque[TD_COOP_REST].edges;
    self->sums.begin = self->sums.end = 0;
    self->sums.add = false;
    TD_CHECK(td_coop_follow(self, self->layout->hot_stream, gpu->stream));
    TD_CHECK(td_coop_drain(self));
    TD_CHECK(td_coop_follow(self, gpu->stream, self->layout->hot_stream));
    row.edges = row.edges_gpu + row.edges_link + row.edges_cpu + row.edges_on_demand;
    td_coop_range low = {0, self->sums.settled[TD_COOP_REST].begin};
    td_coop_range high = {self->sums.settled[TD_COOP_REST].end, self->sums.settled[TD_COOP_HOT].begin};
    if (self->kept.in_flight > 0) TD_CHECK(td_coop_follow(self, gpu->stream, self->layout->copies));
    TD_CHECK(send_sums(self));
    TD_CHECK(apply(self, low));
    TD_CHECK(apply(self, high));
    TD_CHECK(end_values(self));
    TD_CHECK(td_gpu_check_convergence(gpu, gpu->control->tally.change, gpu->control->tally.share));
    gpu->state.context.global = gpu->control->tally.share;
    row.change = gpu->control->tally.change;
    TD_CHECK(fetch(self, gpu->state.context.iteration + 1, low, high));
    TD_CHECK(td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began)));
    self->cpu.context = gpu->state.context;
    return TD_OK;
}

/* The first vertex number from which on no vertex has out-edges. */
static uint64_t first_sink(const td_coop_job *self)
{
    const uint64_t *out = self->layout->split.out;
    uint64_t v = self->layout->split.vertices;
    while (v > 0 && out[v] == out[v - 1]) v--;
    return v;
}

static td_status wait_for_messages(td_coop_job *self)
{
    while (self->now.cpu_waits && self->status == TD_OK) TD_CHECK(td_loop_run(self->layout->gpu.set->loop));
    if (self->status != TD_OK) td_failure_set(&self->failure);
    return self->status;
}

static td_status pull_sinks(td_coop_job *self, uint64_t first)
{
    uint64_t began = td_clock_ns(), n = self->layout->split.vertices;
    const td_adjacency *hot = &self->layout->cut->hot, *rest = &self->layout->cut->rest;
    uint64_t hot_edges = hot->offsets[n] - hot->offsets[first], rest_edges = rest->offsets[n] - rest->offsets[first];
    td_row row = {.direction = "sinks", .active_vertices = n - first, .change = self->gpu.run->final_change};
    self->now.row = &row;
    row.edges = row.edges_cpu = row.active_edges = hot_edges + rest_edges;
    TD_CHECK(wait_for_messages(self));
    TD_CHECK(td_gpu_reset(&self->gpu));
    self->sums.begin = self->sums.end = first;
    TD_CHECK(td_coop_clear_until(self, n));
    if (rest_edges > 0) TD_CHECK(td_coop_gather(self, rest, rest->offsets[first], rest->offsets[n], false));
    if (hot_edges > 0) TD_CHECK(td_coop_gather(self, hot, hot->offsets[first], hot->offsets[n], true));
    self->gpu.state.next_values = self->gpu.state.values; /* sinks have no readers: all other values stay */
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
    TD_CHECK(td_coop_new_pinned(self, &self->sums.own, n, k->accum_bytes, "sums"));
    for (int i = 0; i < 2; i++) {
        TD_CHECK(td_coop_new_pinned(self, &self->kept.values[i], n, k->value_bytes, "vertex values"));
        self->sums.messages[i] = self->kept.values[i];
        if (!k->sends_value)
            TD_CHECK(td_coop_new_pinned(self, &self->sums.messages[i], n, k->message_bytes, "messages"));
    }
    return td_coop_make_deques(self);
}

td_status td_coop_make_sums(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_coop_declare_arrays(self));
    TD_CHECK(td_gpu_send_inputs(gpu));
    TD_CHECK(td_gpu_clear_sums(gpu, gpu->arrays.sums));
    TD_CHECK(td_gpu_clear_sums(gpu, self->sums.rest));
    TD_CHECK(td_coop_declare_host(self));
    self->cpu.coop.sums = self->sums.own;
    return TD_OK;
}

/* End of the vertices that have hot edges. */
static uint64_t hot_end(const td_coop_job *self)
{
    const uint64_t *offsets = self->layout->cut->hot.offsets;
    return td_first_list(offsets, self->layout->split.vertices, offsets[self->layout->split.vertices]);
}

td_status td_coop_pulls(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_frontier now;
    td_row row = {0};
    uint64_t n = gpu->graph->vertices;
    self->sums.participants = self->setup.defer_sinks ? first_sink(self) : n;
    self->sums.sources = gpu->traits->view == TD_VIEW_FORWARD ? first_sink(self) : n;
    self->share.lane[TD_COOP_HOT] = self->layout->hot_stream;
    self->share.lane[TD_COOP_REST] = self->layout->stream;
    self->sums.hot_end = hot_end(self);
    self->kept.safe = -1;
    self->share.launch = td_coop_launch_pull;
    self->share.work = td_coop_work_pull;
    self->share.cpu_in_front = self->now.gpu_takes = true;
    self->now.row = &row;
    TD_CHECK(td_gpu_start(gpu, &now));
    bool waits = self->sums.participants < n && gpu->state.next_values != gpu->state.values;
    if (waits) /* deferred sinks have their initial values in both arrays */
        TD_CHECK(td_stream_copy(gpu->stream, gpu->state.next_values, gpu->state.values, n * gpu->traits->value_bytes,
                                TD_ON_DEVICE));
    self->cpu.context = gpu->state.context;
    TD_CHECK(fetch(self, gpu->state.context.iteration, (td_coop_range){0, n}, (td_coop_range){0, 0}));
    /* Also at the host, if messages are the values. */
    TD_CHECK(send_messages(self, gpu->state.values, self->sums.participants, n));
    while (gpu->state.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(pull(self));
        if (gpu->run->checkpoints == NULL) continue;
        TD_CHECK(td_stream_synchronize(self->layout->copies)); /* the values have arrived */
        TD_CHECK(td_coop_save(self, &gpu->state.context, self->kept.values[self->kept.last]));
    }
    if (self->sums.participants < n) TD_CHECK(pull_sinks(self, self->sums.participants));
    TD_CHECK(wait_for_messages(self));
    self->kept.last = self->kept.safe == 0; /* overwrite the older snapshot */
    TD_CHECK(td_stream_copy(self->layout->copies, self->kept.values[self->kept.last], gpu->state.values,
                            n * gpu->traits->value_bytes, TD_TO_HOST));
    return td_stream_synchronize(self->layout->copies);
}
