/* States the memory of a run on every GPU and at the host, by the functions that declare its arrays. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "base/names.h"
#include "base/size.h"
#include "cpu/cpu.h"
#include "gpu/bytes.h"
#include "gpu/ring.h"
#include "layout/lists.h"

#include <stdio.h>

/* What of the request the settings contradict. */

static bool keeps_stored_order(const td_program *program, const td_run_options *options)
{
    const td_program_info *info = program->info;
    bool under_way = options->has_iterations || options->checkpoint != NULL || options->resume != NULL;
    return !info->renumbers || (info->vertex_values && under_way);
}

td_status td_multi_check(const td_program *program, const td_run_options *options, const td_multi_settings *set)
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
    bool guessed;            /* fragments differ from this by a few lists */
} ranges;

/* Entries of the lists of the vertices `first` .. `end` - 1. */
static uint64_t edges_between(const td_graph *graph, const td_adjacency *list, bool both, uint32_t first, uint32_t end)
{
    if (both) return edges_between(graph, &graph->out, false, first, end) + edges_between(graph, &graph->in, false, first, end);
    return list->offsets[end] - list->offsets[first];
}

/* Fragments are ranges of the graph's own numbers: finding them takes a pass over the offsets. */
static td_status find_ranges(const td_plan *plan, const td_multi_need *need, const td_multi_division *division, int count,
                             ranges *out)
{
    const td_graph *graph = plan->graph;
    const td_adjacency *pull = graph->symmetric ? &graph->out : &graph->in;
    td_partition_wish wish = td_multi_wish(graph, need, TD_PARTITION_SEG, 0, count, division);
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

/* Those of a prepared partition. */
static void take_ranges(const td_graph *graph, const td_multi_need *need, const td_multi_found *found, int count, ranges *out)
{
    for (int i = 0; i < count; i++) {
        uint64_t going = found->entries.out[i], coming = graph->symmetric ? going : found->entries.in[i];
        out->vertices[i] = found->first[i + 1] - found->first[i];
        if (need->push) out->push[i] = need->both ? going + coming : going;
        if (need->pull) out->pull[i] = need->both ? going + coming : coming;
    }
}

/* Partitions with their own numbers are made in the run: they have fragments of about the same size. The same for graphs
 * of which only the counts are known ('tandem info'). */
static void guess_ranges(const td_gpu_job *job, const td_multi_need *need, const td_multi_division *division, int count,
                         ranges *out)
{
    double n = job->graph->vertices, all = 0;
    for (int i = 0; i < count; i++) all += division->weighted ? division->weights[i] : 1;
    for (int i = 0; i < count; i++) {
        double share = (division->weighted ? division->weights[i] : 1) / all;
        uint64_t edges = (uint64_t)(share * (double)td_gpu_view_edges(job)) + 1;
        out->vertices[i] = (uint64_t)(share * n) + 1;
        if (need->push) out->push[i] = edges;
        if (need->pull) out->pull[i] = edges;
    }
}

static td_status choose_ranges(const td_plan *plan, const td_multi_job *self, const td_multi_need *need, ranges *out)
{
    const td_graph *graph = plan->graph;
    td_multi_found found;
    bool known = graph->out.offsets != NULL && (graph->symmetric || graph->in.offsets != NULL);
    *out = (ranges){0};
    if (known && self->set.partition == TD_PARTITION_SEG) {
        TD_CHECK(find_ranges(plan, need, &self->division, self->count, out));
    } else if (td_multi_find_prepared(self, need, &found)) {
        take_ranges(graph, need, &found, self->count, out);
    } else {
        guess_ranges(&self->gpu[0].job, need, &self->division, self->count, out);
        out->guessed = self->set.partition != TD_PARTITION_SEG;
    }
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

/* Host arrays while a fragment is loaded: the ring, or offsets that are made whole; list starts; and the lists and their
 * offsets unless they are a range of the graph's. */
static void note_loading(td_multi_job *self, const td_multi_need *need, const ranges *of, int i)
{
    td_host_memory *host = &td_multi_first(self)->memory.host;
    uint64_t edges = of->push[i] > of->pull[i] ? of->push[i] : of->pull[i], bytes = 0;
    uint64_t offsets = (of->vertices[i] + 1) * sizeof(uint64_t), edge = sizeof(uint32_t);
    if (need->weight_bytes > edge) edge = need->weight_bytes;
    uint64_t ring = td_gpu_ring_bytes(edges * edge > offsets ? edges * edge : offsets);
    if (self->set.partition != TD_PARTITION_SEG) bytes += offsets + (edges + 1) * (sizeof(uint32_t) + need->weight_bytes);
    uint64_t whole = td_gpu_ring_pays(offsets) ? 0 : offsets, heads = 0;
    if (need->heads) heads = td_gpu_head_host_bytes(edges, of->vertices[i]);
    td_host_note(host, bytes + ring + (whole > heads ? whole : heads));
}

/* Edges of a fragment that stay at the host. */
static uint64_t rest_edges(const td_multi_job *self, const ranges *of, const td_multi_need *need, int i)
{
    uint64_t push = of->push[i] > self->division.push[i] ? of->push[i] - self->division.push[i] : 0;
    uint64_t pull = of->pull[i] > self->division.pull[i] ? of->pull[i] - self->division.pull[i] : 0;
    return push + (need->same ? 0 : pull);
}

/* While the lists of hubs are collected. */
static uint64_t hub_host_bytes(const td_multi_job *self, const td_multi_need *need)
{
    const td_graph *graph = self->graph;
    uint64_t n = graph->vertices, counted = graph->symmetric || graph->in.offsets != NULL ? 0 : n * sizeof(uint32_t);
    if (self->division.hub_degree == UINT64_MAX) return 0;
    return counted + (n + 1) * sizeof(uint64_t) + (self->division.hub_edges + 1) * (sizeof(uint32_t) + need->weight_bytes);
}

/* While the graph is cut, unless that has been done. */
static uint64_t metis_bytes(const td_multi_job *self, const ranges *of)
{
    return of->guessed ? td_partition_metis_bytes(self->graph, self->set.partition, self->count) : 0;
}

static td_status measure_fragments(td_multi_job *self, const td_multi_need *need, const ranges *of)
{
    const td_graph *graph = self->graph;
    td_host_memory *host = &td_multi_first(self)->memory.host;
    uint64_t n = graph->vertices, words = (n + 31) / 32;
    bool weighted = need->weight_bytes > 0;
    td_adjacency both = {0};
    td_host_note(host, metis_bytes(self, of));
    if (self->set.partition != TD_PARTITION_SEG) td_host_hold(host, 2 * n * sizeof(uint32_t)); /* the numbering */
    if (need->both) TD_CHECK(td_lists_join(graph, weighted, &both, host, self->options->pool));
    for (int i = 0; i < self->count; i++) {
        td_multi_fragment fragment = {0};
        td_multi_amounts amounts = {of->vertices[i], words, of->push[i], of->pull[i], self->division.push[i],
                                    self->division.pull[i]};
        TD_CHECK(td_multi_declare_fragment(&self->gpu[i].job.memory, need, &amounts, &fragment));
        if (td_multi_copies_rest(need, self->set.partition != TD_PARTITION_SEG))
            td_host_hold(host, rest_edges(self, of, need, i) * (sizeof(uint32_t) + need->weight_bytes));
        if (need->push && !need->sweep)
            TD_CHECK(td_multi_declare_hubs(&self->gpu[i].job.memory, need, n, &self->division, &fragment.hubs));
        count_emulated(self, false);
        note_loading(self, need, of, i);
    }
    td_host_note(host, hub_host_bytes(self, need));
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

static td_status open_jobs(const td_plan *plan, td_multi_job *self, td_run *run, const td_gpu_set *gpus)
{
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
    return TD_OK;
}

/* What the run takes if its edges are divided as `division` says. */
typedef struct measured {
    td_multi_job *self;
    td_run run;
    ranges of;
    td_multi_need need;
    bool cooperative;
    uint64_t edge_bytes[TD_FRAGMENTS]; /* of all edges of a fragment, wherever they are */
} measured;

static td_status measure(const td_plan *plan, const td_gpu_set *gpus, const td_multi_settings *set,
                         const td_multi_division *division, measured *out)
{
    td_multi_job *self = out->self;
    *self = (td_multi_job){.set = *set, .division = *division};
    TD_CHECK(open_jobs(plan, self, &out->run, gpus));
    out->need = td_multi_needs(self);
    TD_CHECK(choose_ranges(plan, self, &out->need, &out->of));
    TD_CHECK(td_multi_choose_values(&self->set, gpus, &self->shared));
    TD_CHECK(td_gpu_exchange_open(&self->exchange, self->set.copies));
    TD_CHECK(measure_fragments(self, &out->need, &out->of));
    TD_CHECK(td_multi_measure_arrays(self, &out->need, out->of.most));
    out->cooperative = self->loops;
    count_emulated(self, out->cooperative);
    td_host_hold(&td_multi_first(self)->memory.host, td_multi_recovery_bytes(self));
    return note_results(self);
}

/* Edges that do not fit. */

static td_status refuse_vertices(const td_plan *plan, const td_multi_gpu *gpu, uint64_t least, uint64_t room)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    const td_device *device = gpu->job.device;
    bool capped = device->budget > 0;
    td_refusal refusal = td_device_refusal(device, least, room);
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "%s needs %s on %s for its own arrays and the vertices of its fragment, and %s are free%s%s; edges may "
                     "stay at the host, vertices may not; {engine} cpu needs no GPU",
                     plan->program->info->name, td_format_size(a, least), device->name, td_format_size(b, room),
                     capped ? " under " : "", capped ? td_named("gpu_memory") : "");
}

static uint64_t room_of(const td_device *device)
{
    return td_device_left(device) + device->now; /* the cached layout can be released */
}

/* Of the arrays of edges, if they have none. */
static uint64_t spare_bytes(const measured *all)
{
    uint64_t lists = (uint64_t)(all->need.push + (all->need.pull && !all->need.same));
    return lists * TD_MULTI_SPARE_EDGES * sizeof(uint32_t);
}

/* Every GPU must have room for the arrays of vertices; the refusal names what suffices for all of them. */
static td_status check_vertices(const td_plan *plan, const measured *all)
{
    const td_multi_gpu *largest = NULL;
    uint64_t least = 0;
    bool fits = true;
    TD_EACH_GPU(all->self, gpu) {
        const td_gpu_memory *memory = &gpu->job.memory;
        uint64_t others = td_gpu_memory_sum(memory) - memory->bytes[TD_FOR_EDGES] + spare_bytes(all);
        fits = fits && others <= room_of(gpu->job.device);
        if (others < least) continue;
        least = others;
        largest = gpu;
    }
    return fits ? TD_OK : refuse_vertices(plan, largest, least, room_of(largest->job.device));
}

/* Bytes of edges that the GPU may have: as {gpu_edges} says, and beside everything else; UINT64_MAX: all. */
static uint64_t allowed_edges(const td_plan *plan, const measured *all, const td_multi_gpu *gpu)
{
    const td_gpu_memory *memory = &gpu->job.memory;
    uint64_t edges = all->edge_bytes[td_multi_index(all->self, gpu)], spare = spare_bytes(all);
    uint64_t allowed = room_of(gpu->job.device) - (td_gpu_memory_sum(memory) - memory->bytes[TD_FOR_EDGES]);
    double cap = plan->options.gpu_edges;
    if (all->of.guessed && edges > allowed) allowed -= allowed / 32;
    uint64_t most = cap <= 0 ? UINT64_MAX : cap <= 1 ? (uint64_t)(cap * (double)edges) : (uint64_t)cap;
    if (most < spare) most = spare;
    if (most < allowed) allowed = most;
    return edges <= allowed ? UINT64_MAX : allowed > spare ? allowed - spare : 0;
}

/* Divides a GPU's bytes over the two lists by their edges; whole pieces of gather-sums. */
static void divide_edges(const measured *all, int i, uint64_t allowed, td_multi_division *out)
{
    uint64_t bytes = sizeof(uint32_t) + all->need.weight_bytes, push = all->of.push[i];
    uint64_t pull = all->need.same ? 0 : all->of.pull[i], edges = allowed / bytes;
    out->push[i] = out->pull[i] = UINT64_MAX;
    if (allowed == UINT64_MAX || edges >= push + pull) return;
    double share = (double)edges / (double)(push + pull);
    out->spills = true;
    out->push[i] = (uint64_t)(share * (double)push) / TD_GPU_TILE * TD_GPU_TILE;
    out->pull[i] = all->need.same ? out->push[i] : (uint64_t)(share * (double)pull) / TD_GPU_TILE * TD_GPU_TILE;
}

static void divide_all(const td_plan *plan, const measured *all, td_multi_division *out)
{
    for (int i = 0; i < all->self->count; i++)
        divide_edges(all, i, allowed_edges(plan, all, &all->self->gpu[i]), out);
}

/* Bytes that are left on every GPU beside everything else. */
static uint64_t least_left(const measured *all)
{
    uint64_t least = UINT64_MAX;
    TD_EACH_GPU(all->self, gpu) {
        uint64_t left = room_of(gpu->job.device) - td_gpu_memory_sum(&gpu->job.memory);
        if (left < least) least = left;
    }
    return all->of.guessed ? least - least / 16 : least;
}

/* GPUs of unlike speed or memory. */

static bool are_unlike(const td_gpu_set *gpus)
{
    for (int i = 1; i < gpus->count; i++)
        if (td_multi_speed(gpus->gpu[i]) != td_multi_speed(gpus->gpu[0]) ||
            room_of(gpus->gpu[i]) != room_of(gpus->gpu[0])) return true;
    return false;
}

/* Fills GPUs by their speed, none with more than it has room for: `most`, in the unit of `all`. Weights become what each
 * gets. What exceeds all of them is divided like their room. */
static void weigh(const td_gpu_set *gpus, const double *most, double all, double *weights)
{
    bool full[TD_FRAGMENTS] = {false};
    double left = all, room = 0;
    for (int i = 0; i < gpus->count; i++) room += most[i];
    for (int i = 0; i < gpus->count && room <= all; i++) weights[i] = most[i] > 0 ? most[i] : 1;
    for (bool again = room > all; again;) {
        double speeds = 0;
        again = false;
        for (int i = 0; i < gpus->count; i++) speeds += full[i] ? 0 : td_multi_speed(gpus->gpu[i]);
        for (int i = 0; i < gpus->count; i++) {
            if (full[i]) continue;
            weights[i] = left * td_multi_speed(gpus->gpu[i]) / speeds;
            full[i] = again = weights[i] > most[i];
            if (!full[i]) continue;
            weights[i] = most[i] > 0 ? most[i] : 1;
            left -= weights[i];
            break; /* the others share what is left anew */
        }
    }
}

/* Room depends on the fragments' vertices, and they on the weights: a few rounds settle both. */
static td_status weigh_fragments(const td_plan *plan, const td_gpu_set *gpus, const td_multi_settings *set,
                                 td_multi_division *division, measured *out)
{
    enum { ROUNDS = 4 };
    double most[TD_FRAGMENTS], all = 0;
    division->weighted = true;
    for (int i = 0; i < gpus->count; i++) division->weights[i] = td_multi_speed(gpus->gpu[i]);
    for (int round = 0; round < ROUNDS; round++) {
        TD_CHECK(measure(plan, gpus, set, division, out));
        TD_CHECK(check_vertices(plan, out));
        bool fits = true;
        all = 0;
        for (int i = 0; i < gpus->count; i++) {
            const td_gpu_memory *memory = &out->self->gpu[i].job.memory;
            uint64_t edges = memory->bytes[TD_FOR_EDGES], others = td_gpu_memory_sum(memory) - edges;
            most[i] = 0.98 * (double)(room_of(gpus->gpu[i]) - others);
            fits = fits && td_gpu_memory_sum(memory) <= room_of(gpus->gpu[i]);
            all += (double)edges;
        }
        if (fits) return TD_OK;
        weigh(gpus, most, all, division->weights);
    }
    return measure(plan, gpus, set, division, out);
}

/* Measures a run, first with all edges on the GPUs, then with as many as fit. */
static td_status measure_division(const td_plan *plan, const td_gpu_set *gpus, const td_multi_settings *set, measured *out)
{
    td_multi_division division = {.hub_degree = UINT64_MAX};
    for (int i = 0; i < gpus->count; i++) division.push[i] = division.pull[i] = UINT64_MAX;
    TD_CHECK(are_unlike(gpus) && !set->equal_shares ? weigh_fragments(plan, gpus, set, &division, out)
                                                    : measure(plan, gpus, set, &division, out));
    TD_CHECK(check_vertices(plan, out));
    for (int i = 0; i < gpus->count; i++) out->edge_bytes[i] = out->self->gpu[i].job.memory.bytes[TD_FOR_EDGES];
    divide_all(plan, out, &division);
    if (division.spills) { /* small rounds need no queues then: more edges fit */
        TD_CHECK(measure(plan, gpus, set, &division, out));
        divide_all(plan, out, &division);
    }
    bool hubs = out->need.push && !out->need.sweep && gpus->count > 1 && !division.spills;
    if (hubs) TD_CHECK(td_multi_choose_hubs(plan->graph, &out->need, set->hub_degree, least_left(out), &division));
    bool again = division.spills || division.hub_degree != UINT64_MAX;
    return again ? measure(plan, gpus, set, &division, out) : TD_OK;
}

td_status td_multi_divide_memory(const td_plan *plan, const td_gpu_set *gpus, td_multi_division *out)
{
    td_multi_settings set;
    measured all = {0};
    TD_CHECK(td_multi_read_settings(plan->options.settings, &set));
    TD_CHECK(TD_NEW_ZEROED(&all.self, 1, "multi engine"));
    td_status status = measure_division(plan, gpus, &set, &all);
    *out = all.self->division;
    td_free(all.self);
    return status;
}

/* The plan. */

static void state_device(td_plan *plan, const measured *all, const td_multi_gpu *gpu)
{
    const td_multi_job *self = all->self;
    const uint64_t *bytes = gpu->job.memory.bytes;
    int i = td_multi_index(self, gpu);
    td_plan_on_device(plan, gpu->job.device, bytes[TD_FOR_EDGES] + bytes[TD_FOR_LISTS], bytes[TD_FOR_PROGRAM],
                      all->cooperative);
    td_device_use_of(&plan->devices, gpu->job.device->name)->host_edge_bytes =
        rest_edges(self, &all->of, &all->need, i) * td_multi_edge_bytes(self);
}

static void say_metis(td_plan *plan, const measured *all)
{
    uint64_t bytes = metis_bytes(all->self, &all->of);
    char text[128], size[TD_NUMBER_BYTES];
    snprintf(text, sizeof text, "; METIS takes up to %s of it while it cuts the graph, nothing if that is prepared",
             td_format_size(size, bytes));
    if (bytes > 0) td_plan_add_why(plan, text);
}

static td_status state(td_plan *plan, const td_gpu_set *gpus, const measured *all)
{
    td_multi_division *division;
    uint64_t at_host = 0;
    TD_CHECK(td_plan_shape(plan, &division, sizeof *division));
    *division = all->self->division;
    for (int i = 0; i < gpus->count; i++) {
        state_device(plan, all, &all->self->gpu[i]);
        at_host += rest_edges(all->self, &all->of, &all->need, i);
    }
    plan->program_bytes = td_multi_first(all->self)->memory.host.peak + td_gpu_run_bytes(gpus->count);
    td_plan_count(plan, "gpus", (uint64_t)gpus->count);
    td_plan_count(plan, "edges_at_host", at_host);
    td_plan_count(plan, "hub_edges", all->self->division.hub_edges);
    if (at_host > 0) td_plan_add_why(plan, "; edges that do not fit the GPUs are read from host memory");
    say_metis(plan, all);
    return TD_OK;
}

/* Not again when GPUs are lost: one that is left runs all the same. */
static td_status check_sharing(const td_multi_settings *set, const td_gpu_set *gpus)
{
    bool shared;
    TD_CHECK(td_multi_choose_values(set, gpus, &shared));
    bool common = set->loop_queue == TD_QUEUE_COMMON;
    if (shared || (!common && set->loop_pulls != TD_PULLS_ON)) return TD_OK;
    return td_fail(TD_USAGE, "multi.loop_%s: %s; allowed are slices of one GPU with multi.values=auto or shared, "
                   "and multi.loop_%s", common ? "queue=common" : "pulls=on", gpus->count == 1 ? "there is one GPU"
                   : "the GPUs do not share values", common ? "queue=owners" : "pulls=off");
}

/* What settings alone do not decide: rounds without the host may be impossible on these GPUs, or for this run. */
static void say_loops(td_plan *plan, const td_multi_job *self)
{
    bool given = td_settings_given(plan->options.settings, "multi.loop_queue") ||
                 td_settings_given(plan->options.settings, "multi.loop_blocks");
    if (given && !self->loops)
        td_plan_say(plan, true, "multi.loop_queue and multi.loop_blocks have no effect: rounds without the host need GPUs "
                                "that reach each other's memory, and room for all edges");
}

static void state_prepared(td_plan *plan, const measured *all)
{
    td_multi_found found;
    char text[128];
    if (!td_multi_find_prepared(all->self, &all->need, &found)) return;
    snprintf(text, sizeof text, "multi: the partition is read as it was prepared (%s)", found.name);
    td_plan_say(plan, false, text);
    td_plan_reads(plan, found.name);
}

td_status td_multi_plan(td_plan *plan)
{
    td_status status = TD_OK;
    const td_run_options *options = &plan->options;
    td_multi_settings set;
    measured all = {0};
    td_gpu_set *gpus;
    TD_CHECK(td_gpu_check_vertices(plan->graph, "multi"));
    TD_CHECK(td_multi_read_settings(options->settings, &set));
    TD_CHECK(td_multi_check(plan->program, options, &set));
    TD_CHECK(td_gpu_set_open(options, "multi", &gpus));
    TD_CHECK(check_sharing(&set, gpus));
    TD_CHECK(td_multi_model_check(&set, gpus));
    if (gpus->count == 1) td_plan_add_why(plan, "; with one GPU the resident engine does the same with less");
    TD_CHECK(TD_NEW_ZEROED(&all.self, 1, "multi engine"));
    TD_TRY(measure_division(plan, gpus, &set, &all));
    TD_TRY(state(plan, gpus, &all));
    state_prepared(plan, &all);
    say_loops(plan, all.self);
done:
    td_free(all.self);
    if (status == TD_DEVICE) td_gpu_set_drop(options); /* a GPU is lost: the next run opens all of them anew */
    return status;
}
