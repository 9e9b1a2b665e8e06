/* States the memory of a run on the device and at the host. */
#include "engine/coop/coop.h"

#include "base/size.h"

bool td_coop_cooperates(const td_program *program)
{
    const td_cpu_kernels *k = program->cpu;
    if (program->info->kind != TD_KIND_GAS) return false;
    return !k->fused || (k->sum == TD_SUM_MIN && k->schedule != TD_SCHEDULE_PEEL);
}

static uint64_t values_bytes(const td_cpu_kernels *k, uint64_t n)
{
    uint64_t bytes = n * k->value_bytes;
    if (!k->sends_value) bytes += 2 * n * k->message_bytes;
    else if (!k->fused) bytes += n * k->value_bytes;
    return bytes;
}

/* Accumulating programs: sums along the hot part, along the rest, and from the host. */
static td_status declare_sums(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, bytes = gpu->traits->accum_bytes;
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.sums, n, bytes, "sums"));
    TD_CHECK(td_gpu_new(gpu, &self->rest_sums, n, bytes, "sums"));
    return td_gpu_new(gpu, &self->host_sums, n, bytes, "the host's sums");
}

/* Programs that push: vertices and values that are exchanged. */
static td_status declare_frontier(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, edges = self->layout->split.edges;
    uint64_t pieces = edges / TD_GPU_WARP_PIECE + edges / TD_COOP_HIGH_DEGREE + 2;
    TD_CHECK(td_gpu_new(gpu, &gpu->state.next_active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(gpu, &self->sent_vertices, n, sizeof(uint32_t), "vertices that changed"));
    return td_gpu_new(gpu, &self->sent_values, n, gpu->traits->value_bytes, "values that changed");
}

td_status td_coop_declare_arrays(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_declare_values(gpu));
    TD_CHECK(td_gpu_new(gpu, &gpu->state.active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    return gpu->traits->fused ? declare_frontier(self) : declare_sums(self);
}

/* Device memory besides hot edges. The number of hot edges is known only after the split; list starts take the same for
 * all edges in one part, but for a tile in each. */
static td_status measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t edges, td_coop_bytes *out)
{
    td_coop_graph layout = {.split = {.vertices = graph->vertices, .edges = edges}};
    td_coop_job self = {.layout = &layout};
    td_run run;
    TD_CHECK(td_gpu_job_measure(&self.gpu, &run, program, graph, options));
    run.async = false; /* shared iterations are synchronous */
    TD_CHECK(td_coop_declare_offsets(&self.gpu.memory, &layout, !self.gpu.traits->fused, edges + TD_GPU_TILE, 0));
    TD_CHECK(td_coop_declare_arrays(&self));
    out->vertices = td_gpu_memory_sum(&self.gpu.memory);
    out->program = self.gpu.memory.bytes[TD_FOR_PROGRAM];
    return TD_OK;
}

static uint64_t host_bytes(const td_cpu_kernels *k, const td_graph *graph, uint64_t lists, size_t edge, uint64_t n)
{
    uint64_t bytes = lists * (graph->edges * edge + 2 * (n + 1) * sizeof(uint64_t)) + 2 * n * sizeof(uint32_t) +
                     (n + 1) * sizeof(uint64_t);
    if (k->fused) return bytes + values_bytes(k, n) + n * (2 * sizeof(uint32_t) + 2 * k->value_bytes) + n / 2;
    return bytes + values_bytes(k, n) + n * (k->accum_bytes + 2 * k->value_bytes);
}

/* Estimates the compressed targets of the rest. Their size depends on the split's order; the graph's order gives about
 * the same, and lists without locality take half of the bits. */
static uint64_t guess_compressed(const td_graph *graph, uint64_t edges, uint64_t rest)
{
    uint64_t half = rest / 2;
    if (graph->in.targets == NULL || graph->paged != NULL) return (uint64_t)(TD_LINK_WORTH_IT * (double)rest);
    uint64_t words = td_link_guess_compressed(graph->in.targets, graph->edges);
    uint64_t own = (uint64_t)((double)words * sizeof(uint32_t) / (double)edges * (double)rest);
    return own > half ? own : half;
}

td_status td_coop_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                       uint64_t device_free, td_coop_bytes *out)
{
    td_weight_kind kind = program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    const td_cpu_kernels *k = &program->cpu[kind];
    uint64_t n = graph->vertices, ways = k->view == TD_VIEW_BOTH && !graph->symmetric ? 2 : 1;
    size_t edge = sizeof(uint32_t) + td_weight_bytes(kind);
    td_gpu_bytes whole;
    *out = (td_coop_bytes){.edges = graph->edges * ways * edge};
    TD_CHECK(td_gpu_count_bytes(program, graph, options, &td_gpu_default_choice, &whole));
    TD_CHECK(measure(program, graph, options, graph->edges * ways, out));
    bool steps = k->schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations;
    uint64_t lists = ways == 2 ? 2 : graph->symmetric || !k->fused || steps ? 1 : 2;
    out->host = host_bytes(k, graph, lists, edge, n);
    bool compressed = !k->fused && kind == TD_WEIGHT_NONE && td_coop_compresses(options);
    out->room = device_free > out->vertices ? device_free - out->vertices : 0;
    double cap = options->gpu_edges;
    if (cap > 0) {
        uint64_t most = cap <= 1 ? (uint64_t)(cap * (double)out->edges) : (uint64_t)cap;
        if (most < out->room) out->room = most;
    }
    uint64_t hot = out->room < out->edges ? out->room : out->edges;
    if (compressed) out->host += guess_compressed(graph, out->edges, out->edges - hot);
    /* The resident engine may need two lists where this one needs one. */
    bool allowed = cap <= 1 || whole.edges <= (uint64_t)cap;
    out->all = out->room >= out->edges && allowed && whole.graph + whole.program <= device_free;
    return TD_OK;
}
