/* The paths engine: plans and runs. */
#include "engine/paths/several.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "run/checkpoint.h"

#include <string.h>

/* Refuses runs whose result depends on the order of work. */
static td_status check_request(const td_program *program, const td_run_options *options)
{
    const td_program_info *info = program->info;
    if (program->cpu->edge != NULL)
        return td_fail(TD_USAGE, "%s chooses edges for whole components, sweep by sweep, and paths would gain nothing; "
                                 "{engine} cpu or resident runs it", info->name);
    if (!info->order_free)
        return td_fail(TD_USAGE, "%s computes a number of rounds, and the engine paths has none: every path proceeds by "
                                 "itself; {engine} cpu or resident runs it", info->name);
    if (info->kind == TD_KIND_SWEEP)
        return td_fail(TD_USAGE, "%s sweeps over edges in any order, and paths would gain nothing; the engine paths runs "
                                 "labels, with the same components", info->name);
    if (options->has_iterations && info->tolerance > 0)
        return td_fail(TD_USAGE, "{iterations}: the engine paths has no iterations over all vertices; {tolerance} ends "
                                 "its runs");
    if (options->has_iterations)
        return td_fail(TD_USAGE, "{iterations}: the engine paths has no iterations over all vertices; leave it out, or "
                                 "take {engine} cpu");
    if ((options->checkpoint != NULL || options->resume != NULL) && program->cpu->schedule == TD_SCHEDULE_PEEL)
        return td_fail(TD_USAGE, "{checkpoint}: the engine paths has bounds of core numbers, from which no other engine "
                                 "could go on; {engine} cpu writes checkpoints of %s", info->name);
    if (options->mode == TD_MODE_SYNC)
        return td_fail(TD_USAGE, "{sync}: the engine paths is asynchronous");
    return TD_OK;
}

/* PageRank without jumps has no solution that every order of work finds. */
static td_status check_solution(const td_run *run)
{
    const td_cpu_kernels *k = run->program->cpu;
    if (k->measure != TD_MEASURE_NONE && !(run->tolerance > 0))
        return td_fail(TD_USAGE, "{tolerance}: the engine paths needs one above 0 for %s", run->program->info->name);
    if (k->linear && run->context.parameter[0] >= 1)
        return td_fail(TD_USAGE, "pagerank.damping=1: without jumps the ranks depend on the order of work; the engine "
                                 "paths needs a damping below 1");
    return TD_OK;
}

static void describe(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    self->real = cpu->kernels->measure != TD_MEASURE_NONE;
    self->steps.state.plain = self->set.variant == TD_PATHS_T;
    self->steps.state.back = cpu->view.lists == 2;
    self->one_group = cpu->view.lists == 2 || !self->set.layers;
}

static td_status open_paths(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_path_state *s = &self->steps.state;
    const td_paths *paths = &self->paths;
    TD_CHECK(td_paths_open(&self->paths, cpu->graph, &self->set.layout, cpu->pool, &self->prepared));
    self->has_paths = true;
    s->entries = paths->vertices;
    s->weights = paths->weights;
    s->starts = paths->starts;
    s->lanes = paths->lanes;
    s->partition = paths->partition;
    TD_CHECK(TD_NEW(&self->order, paths->partitions, "order of partitions"));
    TD_CHECK(TD_NEW(&self->rank, paths->partitions, "priorities of partitions"));
    return td_paths_make_index(self);
}

/* The variant without paths reads adjacency lists: a vertex has places where it has edges to push along. */
static td_status open_plain(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t n = cpu->graph->vertices;
    self->steps.state.place_offsets = cpu->view.push[0].offsets;
    if (cpu->view.lists == 1) return TD_OK;
    TD_CHECK(TD_NEW(&self->index.place_offsets, n + 1, "lists of vertices"));
    for (uint64_t v = 0; v <= n; v++)
        self->index.place_offsets[v] = cpu->view.push[0].offsets[v] + cpu->view.push[1].offsets[v];
    self->steps.state.place_offsets = self->index.place_offsets;
    return TD_OK;
}

static td_status set_up(td_paths_job *self)
{
    bool plain, gpu = td_gpu_is_named(self->options->devices);
    describe(self);
    plain = self->steps.state.plain;
    TD_CHECK(check_solution(self->run));
    if (plain) TD_CHECK(open_plain(self));
    else if (!gpu) TD_CHECK(open_paths(self));
    TD_CHECK(gpu ? td_paths_gpu_open(self) : td_paths_declare_state(self, &(td_host_memory){0}));
    return plain ? TD_OK : TD_NEW_ZEROED(&self->outside, (uint64_t)self->paths.groups + 1, "sums of groups");
}

/* What the job made and did not give to a layout. */
static void free_tables(td_paths_job *self)
{
    if (self->borrows) return;
    td_paths_free_index(&self->index);
    if (self->has_paths) td_paths_free(&self->paths);
}

static void tear_down(td_paths_job *self, bool failed)
{
    td_paths_gpu_close(self, failed);
    td_paths_free_state(self);
    free_tables(self);
    td_cpu_job_close(&self->cpu);
}

static td_status open_job(td_paths_job *self, td_run *run, const td_run_options *options)
{
    self->run = run;
    self->options = options;
    run->async = true;
    TD_CHECK(td_paths_read_settings(options->settings, &self->set));
    self->cpu.setup.bare = self->cpu.setup.by_rounds = true;
    return td_cpu_job_open(&self->cpu, run, options);
}

static td_status compute(td_paths_job *self)
{
    TD_CHECK(self->steps.state.plain ? td_paths_plain(self) : td_paths_dispatch(self));
    TD_CHECK(td_paths_store_scaled(self));
    return td_paths_checkpoint(self);
}

static void start_counting(td_paths_job *self)
{
    for (int i = 0; self->several != NULL && i < self->several->count; i++)
        td_gpu_start_row(&self->several->part[i].gpu->job);
    if (self->gpu != NULL) td_gpu_start_counting(&self->gpu->job);
}

static void stop_counting(td_paths_job *self)
{
    if (self->gpu != NULL) td_gpu_stop_counting(&self->gpu->job);
    for (int i = 0; self->several != NULL && i < self->several->count; i++)
        td_gpu_fill_row(&self->several->part[i].gpu->job)->row.edges = self->several->edges[i];
}

static td_status run_paths(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    td_paths_job self = {0};
    uint64_t began = td_clock_ns();
    double created = run->prepare_seconds;
    TD_TRY(open_job(&self, run, &plan->options));
    TD_TRY(set_up(&self));
    run->prepare_seconds = created + td_seconds_since(began); /* opening the job is part of it */
    self.cpu.progress.began = td_clock_ns();
    start_counting(&self);
    TD_TRY(td_paths_start(&self));
    if (!self.finished) TD_TRY(compute(&self));
    run->converged |= self.finished;
    td_checkpoints_finish(run);
    td_run_end_processing(run, self.cpu.progress.began);
    if (self.several != NULL) TD_TRY(td_paths_several_end(&self));
    stop_counting(&self);
    td_paths_count(&self);
    if (self.gpu != NULL) TD_TRY(td_paths_gpu_result(&self));
    if (plan->options.parents) TD_TRY(td_cpu_find_parents(&self.cpu));
    TD_TRY(td_cpu_copy_result(&self.cpu));
done:
    tear_down(&self, status != TD_OK);
    return status;
}

/* Bytes of the layout, a guess: how many paths, readers and components there are is known once it is made, at most one
 * path and reader for every edge. What making it takes besides (docs/design/paths.md, "Memory") is gone when the index
 * and the state are made. */
static uint64_t guess_bytes(const td_paths_job *self, const td_graph *graph, uint64_t state)
{
    uint64_t edges = graph->edges, n = graph->vertices, id = sizeof(uint32_t);
    uint64_t layout = edges * (4 * id + td_weight_bytes(graph->weights)) + n * sizeof(uint64_t);
    uint64_t making = n * 100 + edges * id, index = edges * id + n * (sizeof(uint64_t) + 3 * id);
    if (self->steps.state.back) index += edges * id; /* beginnings of paths are places that receive, too */
    return layout + (making > index + state ? making : index + state);
}

/* At the host: the layout, and the result. */
static td_status plan_gpu(td_paths_job *self, td_plan *plan)
{
    uint64_t n = plan->graph->vertices, result = n * self->cpu.kernels->value_bytes;
    if (plan->options.parents) result += n * sizeof(uint32_t);
    if (self->cpu.kernels->schedule == TD_SCHEDULE_PEEL) result += n * sizeof(uint64_t);
    td_status status = td_paths_gpu_plan(self, plan, self->steps.state.plain ? result + n * sizeof(uint64_t)
                                                                           : guess_bytes(self, plan->graph, result));
    free_tables(self);
    return status;
}

/* Refuses what is about GPUs in a run without one. */
static td_status check_cores(const td_run_options *options)
{
    if (options->gpu_edges > 0)
        return td_fail(TD_USAGE, "{gpu_edges} has no effect on the CPU's cores; {devices} names a GPU");
    return td_paths_check_cores(options->settings);
}

/* The plan's shape: settings as they are in effect, which programs, graphs and GPUs decide as well. */
typedef struct paths_effect {
    bool layers, early, near, warp, proxies;
} paths_effect;

static td_status state_effect(const td_paths_job *self, td_plan *plan, bool both_ways)
{
    paths_effect *effect;
    bool layers = self->set.layers && !self->one_group && !both_ways && !self->steps.state.plain;
    bool copied = td_plan_counter(plan, "pinned_bytes") > 0;
    TD_CHECK(td_plan_shape(plan, &effect, sizeof *effect));
    *effect = (paths_effect){.layers = layers, .early = layers && !copied && self->set.early,
                             .near = td_paths_has_buckets(self), .warp = !copied && td_paths_walks_by_warps(self),
                             .proxies = td_paths_has_proxies(self, copied)};
    return TD_OK;
}

static double in_effect(const td_plan *plan, const td_setting *entry, double number)
{
    const paths_effect *effect = plan->shape;
    if (effect != NULL && strcmp(entry->name, "layers") == 0) return effect->layers;
    if (effect != NULL && strcmp(entry->name, "early") == 0) return effect->early;
    if (effect != NULL && strcmp(entry->name, "near") == 0) return effect->near;
    if (effect != NULL && strcmp(entry->name, "walk") == 0) return !effect->warp;
    if (effect != NULL && strcmp(entry->name, "proxy") == 0 && !effect->proxies) return 0;
    return number;
}

static td_status plan_paths(td_plan *plan)
{
    td_run run = {.program = plan->program, .graph = plan->graph, .async = true};
    td_host_memory memory = {.measures = true};
    td_paths_job self = {.run = &run, .options = &plan->options};
    const td_program_info *info = plan->program->info;
    TD_CHECK(check_request(plan->program, &plan->options));
    TD_CHECK(td_paths_read_settings(plan->options.settings, &self.set));
    if (!td_gpu_is_named(plan->options.devices)) TD_CHECK(check_cores(&plan->options));
    else if (plan->options.gpu_edges > 0 && self.set.variant == TD_PATHS_T)
        return td_fail(TD_USAGE, "{gpu_edges}: the variant without paths needs all edges on the GPU; paths.variant=full "
                                 "does not");
    TD_CHECK(td_settings_resolve(plan->options.settings, info->name, info->parameters, run.context.parameter, NULL));
    self.cpu.setup.bare = self.cpu.setup.by_rounds = true;
    TD_CHECK(td_cpu_job_describe(&self.cpu, &run, &plan->options));
    describe(&self);
    TD_CHECK(td_paths_declare_state(&self, &memory));
    plan->program_bytes = self.steps.state.plain ? memory.peak : guess_bytes(&self, plan->graph, memory.peak);
    if (td_gpu_is_named(plan->options.devices)) TD_CHECK(plan_gpu(&self, plan));
    bool both_ways = self.cpu.view.lists == 2 || plan->graph->symmetric;
    if (both_ways && self.set.layers && !self.steps.state.plain)
        td_plan_say(plan, false, "paths: values flow both ways along every edge, so that layers have no effect");
    return state_effect(&self, plan, both_ways);
}

const td_engine td_paths_engine = {
    .name = "paths",
    .summary = "a directed graph as disjoint paths, walked in the order of their dependencies (DiGraph)",
    .device = "cpu, cuda or emu",
    .uses_devices = TD_USES_CPU | TD_USES_GPU,
    .limits_edges = true,
    .settings = td_paths_setting_table,
    .applies = td_paths_setting_applies,
    .check = td_paths_check_settings,
    .plan = plan_paths,
    .run = run_paths,
    .in_effect = in_effect,
};
