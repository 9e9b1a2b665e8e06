/* States the memory of a run on every GPU and at the host, by the functions that declare its arrays. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "cpu/cpu.h"
#include "gpu/bytes.h"
#include "layout/lists.h"

/* What of the request the settings contradict. */

static bool keeps_stored_order(const td_program *program, const td_run_options *options)
{
    const td_program_info *info = program->info;
    bool under_way = options->has_iterations || options->checkpoint != NULL || options->resume != NULL;
    return !info->renumbers || (info->vertex_values && under_way);
}

static td_status check(const td_program *program, const td_run_options *options, const td_multi_settings *set)
{
    const td_program_info *info = program->info;
    bool fused = program->cpu[TD_WEIGHT_NONE].fused, gas = info->kind == TD_KIND_GAS;
    if (!gas && info->rule != TD_RULE_PARENTS && info->rule != TD_RULE_FOREST)
        return td_fail(TD_UNSUPPORTED, "%s: the multi engine knows how to join what sweeps on several GPUs found only for "
                       "components (TD_RULE_PARENTS) and forests (TD_RULE_FOREST); {engine} resident runs it", info->name);
    if (set->partition != TD_PARTITION_SEG && keeps_stored_order(program, options))
        return td_fail(TD_USAGE, "multi.partition=%s: %s needs the graph's own vertex numbers%s; allowed is seg",
                       td_partition_name(set->partition), info->name,
                       info->renumbers ? " under an iteration limit and with checkpoints" : "");
    if (set->direction == TD_DIRECTION_PUSH && gas && !fused)
        return td_fail(TD_USAGE,
                       "multi.direction=push: %s needs the whole sum of a vertex at once; allowed are auto and pull",
                       info->name);
    if (set->delta > 0 && (options->has_iterations || set->direction != TD_DIRECTION_AUTO))
        return td_fail(TD_USAGE, "multi.delta is the width of a bucket of sssp's distances, which an iteration limit and "
                                 "multi.direction replace by rounds");
    return TD_OK;
}

/* Memory. */

/* The fragments' vertices, and the edges of their lists. */
typedef struct ranges {
    uint64_t vertices[TD_FRAGMENTS], push[TD_FRAGMENTS], pull[TD_FRAGMENTS];
    uint64_t most;           /* of push */
} ranges;

/* Entries of the lists of the vertices `first` .. `end` - 1. */
static uint64_t edges_between(const td_graph *graph, const td_adjacency *list, bool both, uint32_t first, uint32_t end)
{
    if (both) return edges_between(graph, &graph->out, false, first, end) + edges_between(graph, &graph->in, false, first, end);
    return list->offsets[end] - list->offsets[first];
}

/* Fragments are ranges of the graph's own numbers: finding them takes a pass over the offsets. */
static td_status find_ranges(const td_plan *plan, const td_multi_need *need, int count, ranges *out)
{
    const td_graph *graph = plan->graph;
    const td_adjacency *pull = graph->symmetric ? &graph->out : &graph->in;
    td_partition_wish wish = td_multi_wish(graph, need, TD_PARTITION_SEG, 0, count);
    td_partition partition;
    TD_CHECK(td_partition_make(&partition, graph, &wish, plan->options.pool));
    for (int i = 0; i < count; i++) {
        uint32_t first = partition.first[i], end = partition.first[i + 1];
        out->vertices[i] = end - first;
        if (need->push) out->push[i] = edges_between(graph, &graph->out, need->both, first, end);
        if (need->pull) out->pull[i] = edges_between(graph, pull, need->both, first, end);
    }
    td_partition_free(&partition);
    return TD_OK;
}

/* Partitions with their own numbers are made in the run: they have fragments of about the same size. The same for graphs
 * of which only the counts are known ('tandem info'). */
static void guess_ranges(const td_gpu_job *job, const td_multi_need *need, int count, ranges *out)
{
    uint64_t parts = (uint64_t)count, n = job->graph->vertices, edges = td_gpu_view_edges(job) / parts + 1;
    for (int i = 0; i < count; i++) {
        out->vertices[i] = n / parts + 1;
        if (need->push) out->push[i] = edges;
        if (need->pull) out->pull[i] = edges;
    }
}

static td_status choose_ranges(const td_plan *plan, const td_multi_job *self, const td_multi_need *need, ranges *out)
{
    const td_graph *graph = plan->graph;
    bool known = graph->out.offsets != NULL && (graph->symmetric || graph->in.offsets != NULL);
    *out = (ranges){0};
    if (known && self->set.partition == TD_PARTITION_SEG) TD_CHECK(find_ranges(plan, need, self->count, out));
    else guess_ranges(&self->gpu[0].job, need, self->count, out);
    for (int i = 0; i < self->count; i++)
        if (out->push[i] > out->most) out->most = out->push[i];
    return TD_OK;
}

/* Memory of emulated GPUs is host memory. */
static void count_emulated(td_multi_job *self, bool cooperative)
{
    td_host_memory *host = &td_multi_first(self)->memory.host;
    host->besides = 0;
    TD_EACH_GPU(self, gpu)
        host->besides += td_device_host_bytes(gpu->job.device, td_gpu_memory_sum(&gpu->job.memory), cooperative);
    td_host_hold(host, 0);
}

/* Host arrays while a fragment is loaded: offsets, list starts, and the lists unless they are a range of the graph's. */
static void note_loading(td_multi_job *self, const td_multi_need *need, const ranges *of, int i)
{
    td_host_memory *host = &td_multi_first(self)->memory.host;
    uint64_t edges = of->push[i] > of->pull[i] ? of->push[i] : of->pull[i];
    uint64_t bytes = (of->vertices[i] + 1) * sizeof(uint64_t);
    if (self->set.partition != TD_PARTITION_SEG) bytes += (edges + 1) * (sizeof(uint32_t) + need->weight_bytes);
    if (need->heads) bytes += td_gpu_head_host_bytes(edges, of->vertices[i]);
    td_host_note(host, bytes);
}

static td_status measure_fragments(td_multi_job *self, const td_multi_need *need, const ranges *of)
{
    const td_graph *graph = self->graph;
    td_host_memory *host = &td_multi_first(self)->memory.host;
    uint64_t n = graph->vertices, words = (n + 31) / 32;
    bool weighted = need->weight_bytes > 0;
    td_adjacency both = {0};
    if (self->set.partition != TD_PARTITION_SEG) td_host_hold(host, 2 * n * sizeof(uint32_t)); /* the numbering */
    if (need->both) TD_CHECK(td_lists_join(graph, weighted, &both, host, self->options->pool));
    for (int i = 0; i < self->count; i++) {
        td_multi_fragment fragment = {0};
        TD_CHECK(td_multi_declare_fragment(&self->gpu[i].job.memory, need, of->vertices[i], words, of->push[i],
                                           of->pull[i], &fragment));
        count_emulated(self, false);
        note_loading(self, need, of, i);
    }
    td_host_note(host, 2 * words * sizeof(uint32_t)); /* boundary vertices */
    if (need->both) td_lists_unjoin(graph, weighted, &both, host);
    return TD_OK;
}

/* The result and the values that it is made from; the parents, which the CPU finds in a job of its own. */
static td_status note_results(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    uint64_t vertex = 2 * (uint64_t)self->traits->value_bytes, parents = 0;
    if (!td_gpu_is_gas(first)) {
        td_gpu_note_results(first);
        return TD_OK;
    }
    bool named = self->run->program->info->vertex_values && self->set.partition != TD_PARTITION_SEG;
    if (named) vertex += sizeof(uint32_t);
    if (self->options->parents) TD_CHECK(td_cpu_measure_parents(self->run, self->options, &parents));
    td_host_note(&first->memory.host, self->graph->vertices * vertex + parents);
    return TD_OK;
}

static td_status measure(td_plan *plan, td_multi_job *self, td_run *run, const td_gpu_set *gpus, bool *cooperative)
{
    ranges of;
    self->run = run;
    self->graph = plan->graph;
    self->options = &plan->options;
    self->count = self->exchange.count = gpus->count;
    for (int i = 0; i < self->count; i++) {
        td_multi_gpu *gpu = &self->gpu[i];
        TD_CHECK(td_gpu_job_measure(&gpu->job, run, plan->program, plan->graph, &plan->options));
        td_multi_describe_job(gpu, &self->set);
        gpu->job.device = gpus->gpu[i];
        self->exchange.box[i].job = &gpu->job;
    }
    self->traits = td_multi_first(self)->traits;
    td_multi_need need = td_multi_needs(self);
    TD_CHECK(choose_ranges(plan, self, &need, &of));
    TD_CHECK(td_multi_choose_values(&self->set, gpus, &self->shared));
    TD_CHECK(td_gpu_exchange_open(&self->exchange, self->set.copies));
    TD_CHECK(measure_fragments(self, &need, &of));
    TD_CHECK(td_multi_measure_arrays(self, &need, of.most));
    *cooperative = td_multi_loops(self);
    count_emulated(self, *cooperative);
    td_host_hold(&td_multi_first(self)->memory.host, td_multi_recovery_bytes(self));
    return note_results(self);
}

td_status td_multi_plan(td_plan *plan)
{
    td_status status = TD_OK;
    const td_run_options *options = &plan->options;
    td_multi_settings set;
    td_multi_job *self = NULL;
    td_gpu_set *gpus;
    td_run run;
    bool cooperative;
    TD_CHECK(td_gpu_check_vertices(plan->graph, "multi"));
    TD_CHECK(td_multi_read_settings(options->settings, &set));
    TD_CHECK(check(plan->program, options, &set));
    TD_CHECK(td_gpu_set_open(options, "multi", &gpus));
    TD_CHECK(td_multi_model_check(&set, gpus));
    if (gpus->count == 1) td_plan_add_why(plan, "; with one GPU the resident engine does the same with less");
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "multi engine"));
    self->set = set;
    TD_TRY(measure(plan, self, &run, gpus, &cooperative));
    TD_EACH_GPU(self, gpu) {
        const uint64_t *bytes = gpu->job.memory.bytes;
        td_gpu_bytes need = {.graph = bytes[TD_FOR_EDGES] + bytes[TD_FOR_LISTS], .program = bytes[TD_FOR_PROGRAM]};
        TD_TRY(td_gpu_check_fit(plan->program, &need, options, gpu->job.device));
        td_plan_on_device(plan, gpu->job.device, bytes[TD_FOR_EDGES] + bytes[TD_FOR_LISTS], bytes[TD_FOR_PROGRAM],
                          cooperative);
    }
    plan->program_bytes = td_multi_first(self)->memory.host.peak;
    td_plan_count(plan, "gpus", (uint64_t)gpus->count);
done:
    td_free(self);
    if (status == TD_DEVICE) td_gpu_set_drop(options); /* a GPU is lost: the next run opens all of them anew */
    return status;
}
