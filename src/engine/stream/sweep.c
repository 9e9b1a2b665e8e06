/* Sweeps across the link: every useful edge once per sweep. Components are sampled from the resident prefix; afterwards
 * few vertices have lists that must cross. For a spanning forest, vertices with an edge out of their component stay
 * active, and these edges become survivors on the device if there is room (survivors.c). */
#include "engine/stream/stream.h"

#include "base/clock.h"

static td_status clear_next(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    return td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t));
}

/* The skipped component stays the same one even if its label changes: its members have skipped edges already. */
static td_status follow_left_out(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t *place = gpu->arrays.drawn;
    TD_CHECK(td_stream_copy(gpu->stream, place, &gpu->left_out, sizeof *place, TD_TO_DEVICE));
    TD_CHECK(td_stream_fill(gpu->stream, place + 1, 0, (TD_GPU_DRAWN - 1) * sizeof *place));
    TD_CHECK(td_gpu_label_drawn(gpu));
    TD_CHECK(td_stream_copy(gpu->stream, &gpu->left_out, place, sizeof *place, TD_TO_HOST));
    return td_stream_synchronize(gpu->stream);
}

/* Samples the first edges of every list and skips the largest component from then on. */
static td_status sample(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    const td_link_list *list = self->push;
    bool prefix = list->prefix.offsets != NULL;
    TD_CHECK(td_gpu_sample(gpu, prefix ? list->prefix : list->seen));
    gpu->sampled = prefix ? 0 : gpu->samples;
    if (!prefix) return TD_OK;
    self->prefix_done = true;
    TD_CHECK(td_streaming_sweep_prefix(self, gpu->samples));
    TD_CHECK(td_gpu_vertex_steps(gpu));
    return follow_left_out(self);
}

/* All vertices outside the skipped component are active. */
static td_status choose_all(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_choose_args args = {.state = gpu->state, .chosen = self->chosen, .left_out = gpu->left_out,
                           .skipping = gpu->skipping};
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->choose, td_gpu_words(gpu) * 32, &args));
    gpu->state.active = self->chosen;
    return clear_next(self);
}

td_status td_streaming_end_sweep(td_streaming_job *self, td_row *row, uint64_t began, bool *again)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_vertex_steps(gpu));
    TD_CHECK(td_gpu_collect_edges(gpu));
    TD_CHECK(td_gpu_read(gpu, 0));
    *again = gpu->kernels->again(&gpu->state.context, gpu->control->tally.total);
    row->edges = gpu->control->tally.edges;
    row->bytes_direct = gpu->control->tally.host_bytes;
    return td_gpu_end_iteration(gpu, row, began, td_seconds_since(began));
}

static td_status sweep_once(td_streaming_job *self, bool *again)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_row row = {.direction = "sweep"};
    self->row = &row;
    TD_CHECK(td_streaming_count_useful(self, self->push, false));
    if (self->collects_edges) td_streaming_skip_covered(self);
    row.active_vertices = self->vertices_useful;
    row.active_edges = self->edges_useful + self->survivor_count;
    TD_CHECK(td_gpu_reset(gpu));
    if (self->hooks) TD_CHECK(td_streaming_span_components(self));
    TD_CHECK(td_streaming_sweep_survivors(self));
    if (self->push->prefix.offsets != NULL && !self->prefix_done)
        TD_CHECK(td_streaming_sweep_prefix(self, gpu->sampled));
    self->prefix_done = false;
    if (self->edges_useful > 0) TD_CHECK(td_streaming_cross(self, self->push, TD_WORK_SWEEP, false));
    TD_CHECK(td_streaming_end_sweep(self, &row, began, again));
    TD_CHECK(td_streaming_read_survivors(self));
    td_gpu_swap(&gpu->state.active, &gpu->state.next_active);
    return clear_next(self);
}

td_status td_streaming_sweep(td_streaming_job *self)
{
    bool again = true, resumed = self->gpu.run->resumed != NULL;
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_init(gpu)); /* without a bitmap: all vertices are active until some are chosen */
    bool samples = gpu->traits->samples && gpu->samples > 0 && self->variant == TD_STREAMING_FULL;
    if (samples && resumed) TD_CHECK(td_gpu_exclude_largest(gpu));
    else if (samples && (self->push->prefix.offsets != NULL || self->push->readable)) TD_CHECK(sample(self));
    if (self->layout->survivors != NULL) TD_CHECK(td_streaming_start_survivors(self));
    uint32_t edges = gpu->control->edge_count;
    if (self->layout->survivors != NULL) TD_CHECK(td_streaming_sweep_light(self));
    bool waits = resumed && gpu->control->edge_count == edges; /* no checkpoint before there is progress since the
                                                                * resumed one */
    TD_CHECK(choose_all(self));
    self->collects_vertices = true;
    self->collects_edges = self->layout->survivors != NULL;
    while (again && !(gpu->has_limit && gpu->state.context.iteration >= gpu->limit)) {
        if (gpu->state.context.iteration > 0 && !waits) TD_CHECK(td_gpu_checkpoint(gpu));
        TD_CHECK(sweep_once(self, &again));
        waits = false;
    }
    gpu->run->converged = !again;
    return td_gpu_checkpoint(gpu);
}
