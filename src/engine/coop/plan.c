/* States the memory of a run on the device and at the host. */
#include "engine/coop/coop.h"

#include "base/size.h"
#include "store/checks.h"

bool td_coop_cooperates(const td_program *program)
{
    const td_cpu_kernels *k = program->cpu;
    if (program->info->kind != TD_KIND_GAS) return false;
    return !k->fused || (k->sum == TD_SUM_MIN && k->schedule != TD_SCHEDULE_PEEL);
}

/* Accumulating programs: sums along the hot part, along the rest, and from the host. */
static td_status declare_sums(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, bytes = gpu->traits->accum_bytes;
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.sums, n, bytes, "sums"));
    TD_CHECK(td_gpu_new(gpu, &self->sums.rest, n, bytes, "sums"));
    return td_gpu_new(gpu, &self->sums.sent, n, bytes, "the host's sums");
}

/* Programs that push: vertices and values that are exchanged. */
static td_status declare_frontier(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, edges = self->layout->split.edges;
    uint64_t pieces = edges / TD_GPU_WARP_PIECE + edges / TD_COOP_HIGH_DEGREE + 2;
    TD_CHECK(td_gpu_new(gpu, &gpu->state.next_active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new(gpu, &gpu->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(gpu, &self->push.sent_vertices, n, sizeof(uint32_t), "vertices that changed"));
    return td_gpu_new(gpu, &self->push.sent_values, n, gpu->traits->value_bytes, "values that changed");
}

td_status td_coop_declare_arrays(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_declare_values(gpu));
    TD_CHECK(td_gpu_new(gpu, &gpu->state.active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    return gpu->traits->fused ? declare_frontier(self) : declare_sums(self);
}

/* Estimates the words per edge of compressed targets. They depend on the split's order; the graph's order gives about
 * the same, and lists without locality take half of the bits. */
static double guess_compressed(const td_graph *graph)
{
    if (graph->in.targets == NULL || graph->edges == 0) return TD_LINK_WORTH_IT;
    if (td_checks_pending(graph, graph->in.targets)) return TD_LINK_WORTH_IT;
    double words = (double)td_link_guess_compressed(graph->in.targets, graph->edges) / (double)graph->edges;
    return words > 0.5 ? words : 0.5;
}

/* Results exist beside the run's arrays; with them the names of groups if the split has its own numbers. */
static td_status note_results(td_coop_job *self)
{
    const td_program_info *info = self->gpu.run->program->info;
    uint64_t vertex = self->gpu.traits->value_bytes, parents = 0;
    if (info->vertex_values && self->setup.order != TD_ORDER_NONE) vertex += sizeof(uint32_t);
    if (self->gpu.options->parents) TD_CHECK(td_cpu_measure_parents(self->gpu.run, self->gpu.options, &parents));
    td_host_note(&self->gpu.memory.host, self->gpu.graph->vertices * vertex + parents);
    return TD_OK;
}

/* Host arrays of the CPU's job, which uses the same lists in two parts. Inputs are permuted to the split's order. */
static td_status declare_cpu(td_coop_job *self)
{
    td_run *run = self->gpu.run;
    uint64_t inputs = 0;
    for (int i = 0; i < TD_INPUTS; i++) inputs += run->inputs[i] != NULL;
    if (self->setup.order != TD_ORDER_NONE)
        td_host_hold(&self->gpu.memory.host, inputs * run->graph->vertices * sizeof(double));
    self->cpu.setup.bare = !self->gpu.traits->fused;
    self->cpu.setup.by_rounds = true;
    TD_CHECK(td_cpu_job_describe(&self->cpu, run, self->gpu.options));
    return td_cpu_declare_arrays(&self->cpu, &self->gpu.memory.host);
}

/* Measures a run with `room` bytes of edges on the device, by the functions that allocate its arrays. */
static td_status measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                         td_device *device, uint64_t room, td_coop_bytes *out)
{
    td_coop_graph layout = {.gpu = {.graph = graph}, .device = device};
    td_coop_job self = {.layout = &layout};
    const td_gpu_memory *memory = &self.gpu.memory;
    td_run run;
    TD_CHECK(td_gpu_job_measure(&self.gpu, &run, program, graph, options));
    td_gpu_measure_on(&self.gpu.memory, device);
    run.async = false; /* shared iterations are synchronous */
    TD_CHECK(td_coop_read_settings(&self));
    out->prepared = self.setup.prepared && td_coop_find_prepared(&self, out->layout);
    self.setup.compressed_guess = self.setup.compress ? guess_compressed(graph) : 0;
    TD_CHECK(td_coop_prepare(&self, room));
    TD_CHECK(declare_cpu(&self));
    TD_CHECK(td_coop_declare_arrays(&self));
    TD_CHECK(td_coop_declare_host(&self));
    TD_CHECK(note_results(&self));
    out->hot = memory->bytes[TD_FOR_EDGES];
    out->program = memory->bytes[TD_FOR_PROGRAM];
    out->vertices = memory->bytes[TD_FOR_LISTS] + out->program;
    out->edges = layout.split.edges * (sizeof(uint32_t) + layout.split.weight_bytes);
    out->host = memory->host.peak;
    return TD_OK;
}

td_status td_coop_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                       td_device *device, bool divides, td_coop_bytes *out)
{
    uint64_t device_free = td_device_left(device) + device->now;
    double cap = options->gpu_edges;
    td_gpu_bytes whole;
    TD_CHECK(td_gpu_count_bytes(program, graph, options, &td_gpu_default_choice, &whole));
    TD_CHECK(measure(program, graph, options, device, 0, out));
    uint64_t most = cap <= 0 ? UINT64_MAX : cap <= 1 ? (uint64_t)(cap * (double)out->edges) : (uint64_t)cap;
    out->room = device_free > out->vertices ? device_free - out->vertices : 0;
    if (most < out->room) out->room = most;
    /* The resident engine may need two lists where this one needs one. */
    bool allowed = cap <= 1 || whole.edges <= (uint64_t)cap;
    out->all = !divides && out->room >= out->edges && allowed && whole.graph + whole.program <= device_free;
    return out->all ? TD_OK : measure(program, graph, options, device, out->room, out);
}
