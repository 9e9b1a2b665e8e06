/* What a run of the coop engine takes, on the device and at the host. */
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

static uint64_t device_bytes(const td_cpu_kernels *k, uint64_t n, uint64_t edges, int inputs)
{
    uint64_t words = (n + 31) / 32 * sizeof(uint32_t), offsets = 3 * (n + 1) * sizeof(uint64_t);
    uint64_t bytes = offsets + values_bytes(k, n) + sizeof(td_gpu_control) + (uint64_t)inputs * n * sizeof(double);
    if (!k->fused) return bytes + words + 3 * n * k->accum_bytes + edges / 8 + 2 * n * sizeof(uint32_t) +
               (edges / TD_GPU_TILE + TD_GPU_TILE / 16 + 4) * 4;
    uint64_t pieces = edges / TD_GPU_WARP_PIECE + edges / TD_COOP_HEAVY + 2;
    return bytes + 2 * words + n * (sizeof(uint32_t) + k->value_bytes) + pieces * sizeof(uint64_t);
}

static uint64_t host_bytes(const td_cpu_kernels *k, const td_graph *graph, uint64_t lists, size_t edge, uint64_t n)
{
    uint64_t bytes = lists * (graph->edges * edge + 2 * (n + 1) * sizeof(uint64_t)) + 2 * n * sizeof(uint32_t) +
                     (n + 1) * sizeof(uint64_t);
    if (k->fused) return bytes + values_bytes(k, n) + n * (2 * sizeof(uint32_t) + 2 * k->value_bytes) + n / 2;
    return bytes + values_bytes(k, n) + n * (k->accum_bytes + 2 * k->value_bytes);
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
    out->vertices = device_bytes(k, n, graph->edges * ways,
                                 (int)(td_run_input_bytes(program, graph, options) / (n * sizeof(double))));
    bool steps = k->schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations;
    uint64_t lists = ways == 2 ? 2 : graph->symmetric || !k->fused || steps ? 1 : 2;
    out->host = host_bytes(k, graph, lists, edge, n);
    bool narrow = !k->fused && kind == TD_WEIGHT_NONE && td_coop_compresses(options);
    if (narrow) out->host += out->edges; /* at most, in fewer bits */
    out->room = device_free > out->vertices ? device_free - out->vertices : 0;
    double cap = options->gpu_edges;
    if (cap > 0) {
        uint64_t most = cap <= 1 ? (uint64_t)(cap * (double)out->edges) : (uint64_t)cap;
        if (most < out->room) out->room = most;
    }
    /* The resident engine may keep two lists where this one keeps one. */
    bool allowed = cap <= 1 || whole.edges <= (uint64_t)cap;
    out->all = out->room >= out->edges && allowed && whole.graph + whole.program <= device_free;
    return TD_OK;
}
