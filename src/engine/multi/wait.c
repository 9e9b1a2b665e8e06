/* Counters of all GPUs: they work at the same time, and the host waits for all of them in one place. */
#include "engine/multi/multi.h"

#include "base/clock.h"

static void on_counters(void *context, td_status status, uint64_t rows)
{
    td_multi_job *self = context;
    (void)rows;
    if (status != TD_OK && self->failed == TD_OK) self->failed = status;
    if (--self->waiting == 0) td_loop_stop(self->loop);
}

td_status td_multi_reset(td_multi_job *self)
{
    TD_EACH_MEMBER(self, gpu) {
        TD_CHECK(td_gpu_reset(&gpu->job));
        TD_CHECK(td_multi_note_started(self, gpu));
    }
    return TD_OK;
}

td_status td_multi_wait(td_multi_job *self)
{
    self->failed = TD_OK;
    TD_EACH_MEMBER(self, gpu) {
        self->waiting++;
        TD_CHECK(td_gpu_read_begin(&gpu->job, 0, on_counters, self));
    }
    TD_CHECK(td_loop_run(self->loop));
    return self->failed;
}

static td_status record(td_multi_gpu *gpu)
{
    if (gpu->done != NULL) td_event_destroy(gpu->job.device, gpu->done);
    gpu->done = NULL;
    return td_stream_record(gpu->job.stream, &gpu->done);
}

td_status td_multi_all_wait(td_multi_job *self)
{
    TD_EACH_GPU(self, gpu) TD_CHECK(record(gpu));
    TD_EACH_GPU(self, gpu)
        TD_EACH_GPU(self, other)
            if (gpu != other) TD_CHECK(td_stream_wait(gpu->job.stream, other->done));
    return TD_OK;
}

td_gpu_state td_multi_state(const td_multi_gpu *gpu, const td_multi_fragment *fragment)
{
    td_gpu_state state = gpu->job.state;
    state.out_offsets = fragment->out_offsets;
    state.push_offsets = fragment->push.view.offsets != NULL ? fragment->push.view.offsets : fragment->out_offsets;
    return state;
}

static td_status measure(td_multi_job *self, td_multi_gpu *gpu, td_multi_fragment *fragment, td_multi_map map)
{
    uint64_t words = ((uint64_t)fragment->end - fragment->first + 31) / 32;
    td_measure_args args = {.state = td_multi_state(gpu, fragment),
                            .map = map == TD_MAP_NEXT     ? gpu->job.state.next_active
                                   : map == TD_MAP_ACTIVE ? gpu->job.state.active
                                                          : NULL,
                            .changed = map == TD_MAP_OPEN ? NULL : gpu->changed, .first_vertex = fragment->first, .end_vertex = fragment->end,
                            .chunk_words = td_multi_chunk_words(fragment),
                            .fragment = (uint32_t)(fragment - self->held->fragment)};
    if (words == 0) return TD_OK;
    if (gpu->tally != NULL) {
        args.tally = &gpu->tally[args.fragment];
        args.value = map == TD_MAP_OPEN ? NULL : &args.tally->value;
        args.other_offsets = fragment->pull.view.offsets;
        TD_CHECK(td_stream_fill(gpu->job.stream, args.tally, 0, sizeof *args.tally));
    }
    return td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->measure, words * 32, &args);
}

td_status td_multi_measure(td_multi_job *self, td_multi_map map)
{
    TD_EACH_OWNED(self, gpu, fragment) TD_CHECK(measure(self, gpu, fragment, map));
    return TD_OK;
}

void td_multi_add_up(td_multi_job *self)
{
    self->now = (td_gpu_frontier){.mapped = true};
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->held->fragment);
        self->gpu[k].vertices = owner->job.control->active_vertices[k];
        self->gpu[k].edges = owner->job.control->active_edges[k];
        self->now.vertices += self->gpu[k].vertices;
        self->now.edges += self->gpu[k].edges;
    }
}

td_status td_multi_end_iteration(td_multi_job *self, uint64_t began)
{
    td_gpu_job *first = td_multi_first(self);
    self->row.messages = self->exchange.messages;
    self->row.bytes_exchanged = self->exchange.bytes;
    self->row.gpus = 0;
    TD_EACH_MEMBER(self, gpu) self->row.gpus++;
    self->row.decide_seconds = self->balance.decide_seconds;
    self->exchange.messages = self->exchange.bytes = 0;
    self->balance.decide_seconds = 0;
    td_status status = td_gpu_end_iteration(first, &self->row, began, td_seconds_since(began));
    TD_EACH_GPU(self, gpu) gpu->job.state.context.iteration = first->state.context.iteration;
    return status;
}
