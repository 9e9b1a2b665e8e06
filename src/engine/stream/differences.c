/* Accumulating programs whose active vertices push (kernels/gpu/differences.h): value-driven scheduling for programs
 * that would otherwise gather along every edge in every iteration. The sums stay on the device between iterations. A
 * vertex whose message has changed is active and pushes the difference; the useful edges are those of active vertices,
 * and they cross like those of a frontier: resident prefix first, a transfer mode for every subgraph. Then every vertex
 * computes its value from its sum, which needs no edge. An iteration gives the values of a synchronous one.
 *
 * Programs whose result does not depend on the order may reprocess a subgraph on the device within an iteration
 * (td_streaming_settle_within): its vertices take the sums that have arrived and push again. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "store/checks.h"

/* Whether a network has no cycle: Kahn's order reaches every vertex. Then the values of a program that applies sums
 * alone do not depend on the order of its pushes. */
td_status td_streaming_is_acyclic(const td_graph *graph, bool *acyclic)
{
    td_status status = TD_OK;
    uint64_t n = graph->vertices, count = 0;
    uint32_t *waits = NULL, *queue = NULL;
    *acyclic = true;
    if (graph->out.offsets == NULL || graph->in.offsets == NULL) return TD_OK; /* only counts are known */
    TD_CHECK(td_checks_lists(graph, false, NULL));
    TD_TRY(TD_NEW(&waits, n + 1, "in-degrees"));
    TD_TRY(TD_NEW(&queue, n + 1, "queue of vertices"));
    for (uint64_t v = 0; v < n; v++) {
        waits[v] = (uint32_t)td_degree(&graph->in, (uint32_t)v);
        if (waits[v] == 0) queue[count++] = (uint32_t)v;
    }
    for (uint64_t at = 0; at < count; at++)
        for (uint64_t e = graph->out.offsets[queue[at]]; e < graph->out.offsets[queue[at] + 1]; e++)
            if (--waits[graph->out.targets[e]] == 0) queue[count++] = graph->out.targets[e];
    *acyclic = count == n;
done:
    td_free(waits);
    td_free(queue);
    if (status == TD_NO_MEMORY) *acyclic = false; /* the run may fit without what needs an answer */
    return status == TD_NO_MEMORY ? TD_OK : status;
}

td_status td_streaming_declare_differences(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, edges = (self->push != NULL ? self->push : self->pull)->edges;
    uint64_t pieces = edges / TD_GPU_WARP_PIECE + edges / gpu->high_degree + 2;
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(gpu, &gpu->state.next_active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new(gpu, &self->pushed, n, sizeof(double), "messages pushed"));
    return td_gpu_new(gpu, &self->to_push, n, gpu->traits->message_bytes, "differences of messages");
}

static td_differences_args settle_args(const td_streaming_job *self, const td_gpu_part *part)
{
    const td_gpu_job *gpu = &self->gpu;
    td_differences_args args = {.state = gpu->state, .sums = gpu->arrays.sums, .pushed = self->pushed,
                                .map = gpu->state.next_active, .part = *part};
    args.state.messages = self->to_push;
    return args;
}

static td_status settle(td_streaming_job *self, const td_differences_args *args)
{
    td_gpu_job *gpu = &self->gpu;
    return td_gpu_launch(gpu, gpu->stream, &gpu->kernels->settle_differences, td_gpu_part_threads(&args->part), args);
}

td_status td_streaming_settle_within(td_streaming_job *self, const td_gpu_part *part)
{
    td_differences_args args = settle_args(self, part);
    args.within = true;
    return settle(self, &args);
}

/* Nothing has been pushed: every vertex whose message is not 0 is active. */
static td_status start(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_part all = td_gpu_all(gpu);
    td_differences_args args = settle_args(self, &all);
    TD_CHECK(td_gpu_init(gpu));
    TD_CHECK(td_stream_fill(gpu->stream, self->pushed, 0, gpu->graph->vertices * sizeof(double)));
    args.state = gpu->state;
    args.state.messages = self->to_push;
    args.map = gpu->state.active;
    args.first = true;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(settle(self, &args));
    return td_gpu_read(gpu, 0);
}

static td_status push_differences(td_streaming_job *self, td_row *row)
{
    td_gpu_job *gpu = &self->gpu;
    self->row = row;
    TD_CHECK(td_streaming_count_useful(self, self->push, false));
    if (self->push->prefix.offsets == NULL) { /* settling within an iteration counts some vertices several times */
        row->active_vertices = self->vertices_useful;
        row->active_edges = self->edges_useful;
    }
    TD_CHECK(td_gpu_reset(gpu));
    if (self->push->prefix.offsets != NULL) TD_CHECK(td_streaming_push_prefix(self, false));
    return self->edges_useful > 0 ? td_streaming_cross(self, self->push, TD_WORK_PUSH, false) : TD_OK;
}

/* Settles all vertices and closes the iteration. */
static td_status end_iteration(td_streaming_job *self, td_row *row, uint64_t began, bool gathered)
{
    td_gpu_job *gpu = &self->gpu;
    const td_gpu_tally *sum = &gpu->control->tally;
    td_gpu_part all = td_gpu_all(gpu);
    td_differences_args args = settle_args(self, &all);
    TD_CHECK(settle(self, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    TD_CHECK(td_gpu_check_convergence(gpu, sum->change, sum->share));
    td_gpu_swap(&gpu->state.active, &gpu->state.next_active);
    gpu->state.context.global = sum->share;
    row->edges = gathered ? td_gpu_view_edges(gpu) : sum->edges;
    if (!gathered) row->bytes_direct = sum->host_bytes;
    row->change = sum->change;
    gpu->run->updates += gpu->graph->vertices;
    TD_CHECK(td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t)));
    return td_gpu_end_iteration(gpu, row, began, td_seconds_since(began));
}

typedef td_status pushing(td_streaming_job *self, td_row *row);

/* Pushes from the active vertices. */
static td_status iterate(td_streaming_job *self, pushing *push)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    const td_gpu_tally *sum = &gpu->control->tally;
    td_row row = {.direction = "push", .active_vertices = sum->activated, .active_edges = sum->activated_edges};
    void *own = gpu->state.messages;
    gpu->state.messages = self->to_push;
    td_status status = push(self, &row);
    gpu->state.messages = own;
    TD_CHECK(status);
    return end_iteration(self, &row, began, false);
}

td_status td_streaming_differences(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(start(self));
    while (gpu->state.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(iterate(self, push_differences));
        TD_CHECK(td_gpu_checkpoint(gpu));
    }
    return TD_OK;
}

/* stream.activity=mixed, where pushes and gathers use the same lists: slots hold compressed subgraphs for gathers, and the
 * kernel reads the lists of active vertices from host memory if that is faster than the last gather was. */

static td_status push_directly(td_streaming_job *self, td_row *row)
{
    td_link_list *list = self->pull;
    td_streaming_range all = {.end = list->edges, .targets = list->seen.targets, .weights = list->seen.weights,
                              .from_host = true};
    self->row = row;
    row->bytes_useful = row->active_edges * list->useful_bytes;
    TD_CHECK(td_gpu_reset(&self->gpu));
    if (row->active_edges == 0) return TD_OK;
    self->crossing = list;
    self->work = TD_WORK_PUSH;
    self->heavy_edges = false;
    return td_streaming_launch_part(self, &all);
}

/* Gathers whole messages; the sums then contain nothing else. `pushed` has them up to the rounding of the last
 * difference, an error of the sums that lasts until the next gather. */
static td_status gather(td_streaming_job *self)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_row row = {.direction = "pull", .active_vertices = gpu->graph->vertices, .active_edges = td_gpu_view_edges(gpu)};
    self->row = &row;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_clear_sums(gpu, gpu->arrays.sums));
    td_streaming_all_useful(self, self->pull);
    uint64_t clock = td_device_clock(gpu->device);
    if (self->pull->subgraphs > 0) TD_CHECK(td_streaming_cross(self, self->pull, TD_WORK_SUM, false));
    self->gather_ns = (double)(td_device_clock(gpu->device) - clock) + 1;
    return end_iteration(self, &row, began, true);
}

/* Before the first gather, its duration is that of copying all subgraphs. */
static bool gathers_faster(const td_streaming_job *self)
{
    const td_link_list *list = self->pull;
    const td_gpu_tally *active = &self->gpu.control->tally;
    double rate = self->layout->copy_rate > 0 ? self->layout->copy_rate : 1, whole = self->gather_ns;
    if (!list->readable) return true;
    for (uint32_t s = 0; self->gather_ns == 0 && s < list->subgraphs; s++) whole += (double)td_link_bytes(list, s) / rate;
    return td_streaming_direct_ns(self, list, active->activated_edges, active->activated) > whole;
}

td_status td_streaming_mixed(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(start(self));
    while (gpu->state.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(gathers_faster(self) ? gather(self) : iterate(self, push_directly));
        TD_CHECK(td_gpu_checkpoint(gpu));
    }
    return TD_OK;
}
