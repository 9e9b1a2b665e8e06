/* Reprocessing for forests (Scaph's delayed re-scheduling, for Boruvka's rounds). The best edge of a component is final
 * once all its edges have been offered. If they are all in one subgraph, that is the case as soon as the subgraph has
 * been swept: the component hooks at once, and another sweep of the subgraph finds its next best edge, while other
 * subgraphs are copied (kernels/gpu/sweep.h, hook_within). The span of a vertex is the range of subgraphs that contain
 * edges of it; a component's is the union of its vertices'. */
#include "engine/stream/stream.h"

#include "base/alloc.h"

td_status td_streaming_declare_spans(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t **const arrays[] = {&self->spans.own_first, &self->spans.own_last, &self->spans.first, &self->spans.last};
    for (int i = 0; i < 4; i++)
        TD_CHECK(td_gpu_new(gpu, arrays[i], gpu->graph->vertices, sizeof(uint32_t), "subgraphs of vertices"));
    td_host_note(&gpu->memory.host, 2 * sizeof(uint32_t) * gpu->graph->vertices);
    return TD_OK;
}

typedef struct spanning {
    const td_link_list *list;
    bool symmetric;
    uint32_t *first, *last;
} spanning;

static void widen(spanning *self, uint64_t v, uint64_t subgraph)
{
    uint32_t s = (uint32_t)subgraph, now = TD_LOAD(&self->last[v]);
    TD_LOWER(&self->first[v], s);
    while (now < s && !__atomic_compare_exchange_n(&self->last[v], &now, s, true, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED)) {}
}

/* A vertex without a list is in no subgraph's range of vertices, so that its span is unlimited. */
static td_status span_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    spanning *self = context;
    const td_link_list *list = self->list;
    for (uint64_t u = begin; u < end; u++) {
        uint64_t from = list->offsets[u], to = list->offsets[u + 1];
        widen(self, u, from == to ? 0 : from >> list->shift);
        widen(self, u, from == to ? UINT32_MAX : (to - 1) >> list->shift);
        for (uint64_t e = from; e < to; e++)
            if (!self->symmetric || list->targets[e] > u) widen(self, list->targets[e], e >> list->shift);
    }
    return TD_OK;
}

td_status td_streaming_find_spans(td_streaming_job *self)
{
    td_status status = TD_OK;
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices;
    spanning spans = {.list = self->push, .symmetric = gpu->graph->symmetric};
    TD_TRY(TD_NEW(&spans.first, n, "subgraphs of vertices"));
    TD_TRY(TD_NEW_ZEROED(&spans.last, n, "subgraphs of vertices"));
    for (uint64_t v = 0; v < n; v++) spans.first[v] = UINT32_MAX;
    TD_TRY(td_pool_for(gpu->options->pool, n, 4096, span_lists, &spans));
    TD_TRY(td_stream_copy(gpu->stream, self->spans.own_first, spans.first, n * sizeof(uint32_t), TD_TO_DEVICE));
    TD_TRY(td_stream_copy(gpu->stream, self->spans.own_last, spans.last, n * sizeof(uint32_t), TD_TO_DEVICE));
    TD_TRY(td_stream_synchronize(gpu->stream));
done:
    td_free(spans.first);
    td_free(spans.last);
    return status;
}

static td_hook_args hook_args(const td_streaming_job *self)
{
    const td_gpu_job *gpu = &self->gpu;
    return (td_hook_args){.state = gpu->state, .spans = self->spans, .edges = gpu->arrays.edges,
                          .count = &gpu->state.control->edge_count, .end_vertex = gpu->graph->vertices};
}

td_status td_streaming_span_components(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_hook_args args = hook_args(self);
    for (args.step = 0; args.step < 2; args.step++)
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->span_components, gpu->graph->vertices, &args));
    return TD_OK;
}

td_status td_streaming_hook_within(td_streaming_job *self, const td_gpu_part *part, uint32_t subgraph)
{
    enum { STEPS = 4 };
    td_gpu_job *gpu = &self->gpu;
    td_hook_args args = hook_args(self);
    args.subgraph = subgraph;
    args.first_vertex = part->first_vertex;
    args.end_vertex = part->end_vertex;
    for (args.step = 0; args.step < STEPS; args.step++)
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->hook_within, part->end_vertex - part->first_vertex,
                               &args));
    return TD_OK;
}
