/* Counters of all GPUs: they work at the same time, and the host waits for all of them in one place. */
#include "engine/multi/multi.h"

#include "base/clock.h"

#include <string.h>

/* A copy on the GPU: one from the host would take the link's latency, which GPUs on a switch pay one after another. */
static td_status reset(td_multi_gpu *gpu)
{
    td_gpu_job *job = &gpu->job;
    td_gpu_zero_counters(job);
    if (!gpu->has_zeros || memcmp(gpu->zeros_seen, job->control, TD_MULTI_COUNTERS) != 0) {
        TD_CHECK(td_stream_copy(job->stream, gpu->zeros, job->control, TD_MULTI_COUNTERS, TD_TO_DEVICE));
        memcpy(gpu->zeros_seen, job->control, TD_MULTI_COUNTERS);
        gpu->has_zeros = true;
    }
    job->pieces_clear = true;
    return td_stream_copy(job->stream, job->state.control, gpu->zeros, TD_MULTI_COUNTERS, TD_ON_DEVICE);
}

td_status td_multi_reset_one(td_multi_job *self, td_multi_gpu *gpu)
{
    TD_CHECK(reset(gpu));
    return td_multi_note_started(self, gpu);
}

td_status td_multi_reset(td_multi_job *self)
{
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_reset_one(self, gpu));
    return TD_OK;
}

td_status td_multi_queue_counters(td_multi_gpu *gpu, td_stream *stream)
{
    td_gpu_job *job = &gpu->job;
    td_report_args args = {(const uint32_t *)job->state.control, (uint32_t *)job->control_seen,
                           TD_MULTI_COUNTERS / sizeof(uint32_t)};
    if (job->control_seen == NULL)
        return td_stream_copy(stream, job->control, job->state.control, TD_MULTI_COUNTERS, TD_TO_HOST);
    return td_gpu_launch(job, stream, &job->kernels->report, args.words, &args);
}

td_status td_multi_wait(td_multi_job *self) { return td_multi_wait_rows(self, 0); }

/* All copies are queued before the first stream is waited for, so that the GPUs work at the same time. The streams are asked
 * in turn: waiting for one after another would add up their latencies, and in a joint launch the streams of the other
 * members never end by themselves if one is lost. Completions that are under way (times) come behind. */
td_status td_multi_wait_rows(td_multi_job *self, uint32_t rows)
{
    td_stream *streams[TD_FRAGMENTS];
    int count = 0;
    TD_EACH_MEMBER(self, gpu) {
        TD_CHECK(rows > 0 ? td_gpu_queue_read(&gpu->job, rows) : td_multi_queue_counters(gpu, gpu->job.stream));
        streams[count++] = gpu->job.stream;
    }
    td_status status = td_streams_synchronize(streams, count);
    if (status != TD_OK) td_multi_break_loop(self);
    return status == TD_OK ? td_multi_reports(self) : status;
}

static td_status record(td_multi_gpu *gpu)
{
    if (gpu->done != NULL) td_event_destroy(gpu->job.device, gpu->done);
    gpu->done = NULL;
    return td_stream_record(gpu->job.stream, &gpu->done);
}

/* On a stream of its own, so that later work does not wait for the copy. */
td_status td_multi_read_aside(td_multi_job *self)
{
    TD_EACH_MEMBER(self, gpu) {
        if (gpu->reader == NULL) TD_CHECK(td_stream_open(gpu->job.device, &gpu->reader));
        TD_CHECK(record(gpu));
        TD_CHECK(td_stream_wait(gpu->reader, gpu->done));
        TD_CHECK(td_multi_queue_counters(gpu, gpu->reader));
    }
    return TD_OK;
}

td_status td_multi_wait_aside(td_multi_job *self)
{
    td_stream *streams[TD_FRAGMENTS];
    int count = 0;
    TD_EACH_MEMBER(self, gpu) streams[count++] = gpu->reader;
    TD_CHECK(td_streams_synchronize(streams, count));
    return td_multi_reports(self);
}

td_status td_multi_synchronize(td_multi_job *self)
{
    td_stream *streams[TD_FRAGMENTS];
    int count = 0;
    TD_EACH_MEMBER(self, gpu) streams[count++] = gpu->job.stream;
    return td_streams_synchronize(streams, count);
}

td_status td_multi_end_copies(td_multi_job *self, td_status status)
{
    td_failure failure;
    if (status == TD_OK) return TD_OK;
    td_failure_keep(&failure);
    TD_EACH_GPU(self, gpu) (void)td_stream_synchronize(gpu->job.stream);
    td_failure_set(&failure);
    return status;
}

td_status td_multi_reports(td_multi_job *self)
{
    if (self->waiting == 0) return TD_OK;
    self->failed = TD_OK;
    TD_CHECK(td_loop_run(self->loop));
    return self->failed;
}

td_status td_multi_follow(td_multi_job *self, td_multi_gpu *gpu)
{
    TD_CHECK(record(gpu));
    TD_EACH_GPU(self, other)
        if (other != gpu) TD_CHECK(td_stream_wait(other->job.stream, gpu->done));
    return TD_OK;
}

/* The first GPU's stream waits for all others, and they for it: 3n events and waits, not n^2. */
td_status td_multi_all_wait(td_multi_job *self)
{
    td_multi_gpu *first = self->gpu;
    if (self->count == 1) return TD_OK;
    TD_EACH_GPU(self, gpu) {
        if (gpu == first) continue;
        TD_CHECK(record(gpu));
        TD_CHECK(td_stream_wait(first->job.stream, gpu->done));
    }
    return td_multi_follow(self, first);
}

td_gpu_state td_multi_state(const td_multi_gpu *gpu, const td_multi_fragment *fragment)
{
    td_gpu_state state = gpu->job.state;
    state.out_offsets = fragment->out_offsets;
    state.push_offsets = fragment->push.view.offsets != NULL ? fragment->push.view.offsets : fragment->out_offsets;
    return state;
}

/* Chunks of frontiers are for cuts, so only after an iteration with steals, as the next may have some, too: others are
 * measured again. A value is for mirrors of first-hit programs. */
bool td_multi_needs_tally(const td_multi_job *self)
{
    bool value = self->gpu[0].job.state.first_hit && !self->shared;
    return self->gpu[0].tally != NULL && (value || self->needs_classes || self->balance.tallies);
}

/* The fragments first .. last, which the GPU owns and whose vertices are adjacent. */
static td_status measure(td_multi_job *self, td_multi_gpu *gpu, int first, int last, td_multi_map map)
{
    td_multi_fragment *fragment = &self->layout->fragment[first];
    uint32_t end = self->layout->fragment[last].end;
    uint64_t words = ((uint64_t)end - fragment->first + 31) / 32;
    td_measure_args args = {.state = td_multi_state(gpu, fragment),
                            .map = map == TD_MAP_NEXT     ? gpu->job.state.next_active
                                   : map == TD_MAP_ACTIVE ? gpu->job.state.active
                                                          : NULL,
                            .changed = map == TD_MAP_OPEN || self->shared ? NULL : gpu->changed, .first_vertex = fragment->first, .end_vertex = end,
                            .fragment = (uint32_t)first, .last_fragment = (uint32_t)last};
    if (words == 0) return TD_OK;
    if (td_multi_needs_tally(self)) {
        args.tally = gpu->tally;
        args.value = map != TD_MAP_OPEN;
        args.classes = self->needs_classes;
        TD_CHECK(td_stream_fill(gpu->job.stream, gpu->tally + first, 0, (size_t)(last - first + 1) * sizeof *gpu->tally));
    }
    for (int k = first; k <= last; k++) {
        const td_multi_fragment *each = &self->layout->fragment[k];
        args.first[k] = each->first;
        args.first[k + 1] = each->end;
        args.offsets[k] = each->push.view.offsets;
        args.other_offsets[k] = each->pull.view.offsets;
        args.chunk_words[k] = td_multi_chunk_words(each);
    }
    return td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->measure, words * 32, &args);
}

td_status td_multi_measure(td_multi_job *self, td_multi_map map)
{
    self->tally_stale = !td_multi_needs_tally(self);
    TD_EACH_MEMBER(self, gpu) {
        uint32_t owned = self->exchange.box[td_multi_index(self, gpu)].fragments.owned;
        for (int first = 0, last; first < self->count; first = last + 1) {
            last = first;
            if (!(owned >> first & 1u)) continue;
            while (last + 1 < self->count && (owned >> (last + 1) & 1u)) last++;
            TD_CHECK(measure(self, gpu, first, last, map));
        }
    }
    return TD_OK;
}

td_status td_multi_measure_alone(td_multi_job *self, td_multi_gpu *gpu)
{
    self->tally_stale = true;
    TD_CHECK(reset(gpu));
    TD_CHECK(measure(self, gpu, 0, self->count - 1, TD_MAP_ACTIVE));
    TD_CHECK(td_multi_queue_counters(gpu, gpu->job.stream));
    TD_CHECK(td_streams_synchronize(&gpu->job.stream, 1));
    for (int k = 0; k < self->count; k++) {
        td_gpu_control *control = td_multi_owner(self, k)->job.control;
        control->active_vertices[k] = gpu->job.control->active_vertices[k];
        control->active_edges[k] = gpu->job.control->active_edges[k];
    }
    return TD_OK;
}

td_status td_multi_clear(td_multi_job *self, td_multi_gpu *gpu, uint32_t *map)
{
    if (map == NULL || !self->shared) return td_gpu_clear_map(&gpu->job, map);
    td_multi_fragment *f = td_multi_next_owned(self, gpu, NULL);
    while (f != NULL) { /* fragments beside each other are cleared together */
        uint64_t first = f->first / 32, end = ((uint64_t)f->end + 31) / 32;
        td_multi_fragment *next = td_multi_next_owned(self, gpu, f);
        for (; next == f + 1; next = td_multi_next_owned(self, gpu, f)) {
            f = next;
            end = ((uint64_t)f->end + 31) / 32;
        }
        if (first < end) TD_CHECK(td_stream_fill(gpu->job.stream, map + first, 0, (end - first) * sizeof *map));
        f = next;
    }
    return TD_OK;
}

void td_multi_add_up(td_multi_job *self)
{
    self->now = (td_frontier){.mapped = true};
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment);
        self->gpu[k].vertices = owner->job.control->active_vertices[k];
        self->gpu[k].edges = owner->job.control->active_edges[k];
        self->gpu[k].settled_edges += self->gpu[k].edges;
        self->now.vertices += self->gpu[k].vertices;
        self->now.edges += self->gpu[k].edges;
    }
}

uint64_t td_multi_new_operations(td_multi_job *self)
{
    uint64_t all = 0, before = self->operations;
    for (int i = 0; i < self->count; i++) {
        const td_device_counts *counts = &self->gpu[i].job.device->counts;
        all += counts->launches + counts->copies + counts->fills + counts->waits;
    }
    self->operations = all;
    return all - before;
}

td_status td_multi_end_iteration(td_multi_job *self, uint64_t began)
{
    td_gpu_job *first = td_multi_first(self);
    self->row.messages = self->exchange.messages;
    self->row.bytes_exchanged = self->exchange.bytes;
    self->row.bytes_relayed = self->exchange.relayed;
    self->exchange.relayed = 0;
    self->row.gpus = 0;
    TD_EACH_MEMBER(self, gpu) self->row.gpus++;
    td_multi_end_parts(self, &self->row, false);
    self->row.operations = (uint32_t)td_multi_new_operations(self);
    self->row.decide_seconds = self->balance.decide_seconds;
    self->exchange.messages = self->exchange.bytes = 0;
    self->balance.decide_seconds = 0;
    td_status status = td_gpu_end_iteration(first, &self->row, began, td_seconds_since(began));
    TD_EACH_GPU(self, gpu) gpu->all_processed += gpu->processed;
    TD_EACH_GPU(self, gpu) gpu->job.state.context.iteration = first->state.context.iteration;
    return status;
}
