/* Pulls across the link: of accumulating programs, which read every edge in every iteration, and of first-hit programs,
 * whose unvisited vertices scan the prefix of their lists first and the rest only if no neighbour there is active. */
#include "engine/stream/stream.h"

#include "base/clock.h"

td_status td_streaming_pull_hit(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_link_list *list = self->pull;
    bool prefix = list->prefix.offsets != NULL;
    TD_CHECK(td_gpu_reset(gpu));
    if (prefix) TD_CHECK(td_streaming_hit_prefix(self));
    else TD_CHECK(td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t)));
    td_streaming_all_useful(self, list);
    if (!prefix || list->prefix_edges < list->edges) TD_CHECK(td_streaming_cross(self, list, TD_WORK_HIT, false));
    TD_CHECK(td_gpu_read(gpu, 0));
    self->row->bytes_direct = gpu->control->tally.host_bytes; /* every edge read has crossed */
    if (self->row->subgraphs_direct > 0) self->row->bytes_useful = self->row->bytes_direct;
    return TD_OK;
}

/* Gathers along every edge, then applies every vertex. */
static td_status pull(td_streaming_job *self)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_row row = {.direction = "pull", .active_vertices = gpu->graph->vertices,
                        .active_edges = td_gpu_view_edges(gpu)};
    self->row = &row;
    TD_CHECK(td_gpu_reset(gpu));
    td_streaming_all_useful(self, self->pull);
    if (self->pull->subgraphs > 0) TD_CHECK(td_streaming_cross(self, self->pull, TD_WORK_SUM, false));
    TD_CHECK(td_gpu_apply(gpu, gpu->stream, gpu->arrays.sums, 0, gpu->graph->vertices));
    TD_CHECK(td_gpu_read(gpu, 0));
    const td_gpu_tally *sum = &gpu->control->tally;
    TD_CHECK(td_gpu_check_convergence(gpu, sum->change, sum->share));
    td_gpu_turn_values(gpu);
    gpu->state.context.global = sum->share;
    row.edges = td_gpu_view_edges(gpu);
    row.change = sum->change;
    return td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began));
}

td_status td_streaming_pulls(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_frontier now;
    TD_CHECK(td_gpu_start(gpu, &now));
    while (gpu->state.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(pull(self));
        TD_CHECK(td_gpu_checkpoint(gpu));
    }
    return TD_OK;
}
