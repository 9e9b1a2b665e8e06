/* Sweeps across the link: the edges of every vertex that still has any of use, once. Components are sampled from the
 * beginnings of the lists, which are on the device; after that hardly anyone is left whose list must cross. Of a
 * spanning forest those vertices go on that have an edge out of their component, and the edges themselves stay on the
 * device where there is room (stream_kept.c). */
#include "engine/stream/stream.h"

#include "base/clock.h"

static td_status clear_next(td_streaming_job *self)
{
    return td_stream_fill(self->gpu.stream, self->gpu.args.next_active, 0, td_gpu_words(&self->gpu) * sizeof(uint32_t));
}

/* The component left out stays the same one, whatever it is called by now: its members have skipped edges already. */
static td_status follow_left_out(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t *place = gpu->args.drawn;
    TD_CHECK(td_stream_copy(gpu->stream, place, &gpu->args.left_out, sizeof *place, TD_TO_DEVICE));
    TD_CHECK(td_stream_fill(gpu->stream, place + 1, 0, (TD_GPU_DRAWN - 1) * sizeof *place));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->draw, TD_GPU_DRAWN));
    TD_CHECK(td_stream_copy(gpu->stream, &gpu->args.left_out, place, sizeof *place, TD_TO_HOST));
    return td_stream_synchronize(gpu->stream);
}

/* Looks at the first edges of every list and leaves the largest component out from then on. */
static td_status sample(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_link_list *list = self->push;
    uint32_t *active = gpu->args.active;
    bool prefix = list->prefix.offsets != NULL;
    gpu->args.active = NULL;
    gpu->args.push = prefix ? list->prefix : list->seen;
    td_status status = td_gpu_sample(gpu);
    if (status == TD_OK && prefix) {
        self->beginnings_done = true;
        gpu->args.sampled = gpu->args.samples;
        status = td_streaming_launch_prefix(self, list, TD_WORK_SWEEP);
        if (status == TD_OK) status = td_gpu_vertex_steps(gpu);
        if (status == TD_OK) status = follow_left_out(self);
    }
    gpu->args.active = active;
    gpu->args.sampled = prefix ? 0 : gpu->args.samples;
    return status;
}

/* Everyone who is not left out has to be looked at. */
static td_status choose_all(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t *active = gpu->args.active;
    gpu->args.active = NULL;
    td_status status = td_gpu_launch(gpu, &gpu->kernels->choose, td_gpu_words(gpu) * 32);
    gpu->args.active = gpu->args.next_active;
    gpu->args.next_active = active;
    return status == TD_OK ? clear_next(self) : status;
}

td_status td_streaming_end_sweep(td_streaming_job *self, td_iteration *row, uint64_t began, bool *again)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    a->first_vertex = 0;
    a->end_vertex = gpu->graph->vertices;
    TD_CHECK(td_gpu_vertex_steps(gpu));
    if (a->edges != NULL) TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->collect, gpu->graph->vertices));
    TD_CHECK(td_gpu_read(gpu, 0));
    *again = gpu->kernels->again(&a->context, gpu->control->tally.total);
    row->edges = gpu->control->tally.edges;
    row->bytes_direct = gpu->control->tally.host_bytes;
    return td_gpu_end_iteration(gpu, row, began, td_seconds_since(began));
}

static td_status sweep_once(td_streaming_job *self, bool *again)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    td_iteration row = {.direction = "sweep"};
    self->row = &row;
    TD_CHECK(td_streaming_count_useful(self, self->push));
    if (a->keeps_edges) td_streaming_leave_out_kept(self);
    row.active_vertices = self->vertices_useful;
    row.active_edges = self->edges_useful + self->kept_count;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_streaming_sweep_kept(self));
    if (self->push->prefix.offsets != NULL && !self->beginnings_done)
        TD_CHECK(td_streaming_launch_prefix(self, self->push, TD_WORK_SWEEP));
    self->beginnings_done = false;
    if (self->edges_useful > 0) TD_CHECK(td_streaming_cross(self, self->push, TD_WORK_SWEEP));
    TD_CHECK(td_streaming_end_sweep(self, &row, began, again));
    TD_CHECK(td_streaming_note_kept(self));
    td_gpu_swap(&a->active, &a->next_active);
    return clear_next(self);
}

td_status td_streaming_sweep(td_streaming_job *self)
{
    bool again = true, resumed = self->gpu.run->resumed != NULL;
    td_gpu_job *gpu = &self->gpu;
    uint32_t *active = gpu->args.active;
    gpu->args.active = NULL;
    td_status status = td_gpu_init(gpu);
    gpu->args.active = active;
    TD_CHECK(status);
    bool samples = gpu->traits->samples && gpu->args.samples > 0 && self->variant == TD_STREAMING_FULL;
    if (samples && resumed) TD_CHECK(td_gpu_leave_out(gpu));
    else if (samples && (self->push->prefix.offsets != NULL || self->push->readable)) TD_CHECK(sample(self));
    if (self->held->kept != NULL) TD_CHECK(td_streaming_start_kept(self));
    uint32_t edges = gpu->control->edge_count;
    if (self->held->kept != NULL) TD_CHECK(td_streaming_sweep_light(self));
    bool waits = resumed && gpu->control->edge_count == edges; /* until it is further than where it went on from */
    TD_CHECK(choose_all(self));
    gpu->args.keeps = true;
    gpu->args.keeps_edges = self->held->kept != NULL;
    while (again && !(gpu->has_limit && gpu->args.context.iteration >= gpu->limit)) {
        if (gpu->args.context.iteration > 0 && !waits) TD_CHECK(td_gpu_checkpoint(gpu));
        TD_CHECK(sweep_once(self, &again));
        waits = false;
    }
    gpu->run->converged = !again;
    return td_gpu_checkpoint(gpu);
}
