/* The stream engine: sets up, runs and tears down a run whose edges do not fit on the GPU. If they fit, the plan is
 * delegated to the resident engine. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "gpu/bytes.h"
#include "gpu/transfer.h"
#include "run/parents.h"

#include <stdio.h>
#include <string.h>

/* Setting up. */

static uint64_t offset_of(const void *offsets, uint64_t v) { return ((const uint64_t *)offsets)[v]; }

/* Finds the list starts for pulls that accumulate. */
static td_status find_heads(td_streaming_job *self)
{
    td_status status = TD_OK;
    td_streaming_graph *layout = self->layout;
    td_gpu_heads found = {0};
    if (layout->heads_of != self->pull) {
        bool measures = self->gpu.memory.measures;
        td_gpu_mark before = {0};
        if (!measures) before = td_gpu_layout_mark(self->gpu.options);
        td_gpu_free_head_arrays(layout->device, &layout->heads);
        TD_TRY(td_gpu_declare_heads(&self->gpu.memory, &layout->heads, self->pull->edges, self->gpu.graph->vertices));
        td_gpu_note_heads(&self->gpu, self->pull->edges, self->gpu.graph->vertices);
        if (measures) return TD_OK;
        td_gpu_layout_note(self->gpu.options, &before);
        TD_TRY(td_gpu_find_heads(&found, offset_of, self->pull->offsets, self->gpu.graph->vertices,
                                 self->gpu.options->pool));
        TD_TRY(td_gpu_upload_heads(&self->gpu, &layout->heads, &found));
        layout->heads_of = self->pull;
    }
    self->gpu.segments = (td_gpu_segments){layout->heads.bits, layout->heads.lists, layout->heads.before,
                                           self->pull->edges};
done:
    td_gpu_free_heads(&found);
    return status;
}

static bool needs_heads(const td_streaming_job *self)
{
    return self->pull != NULL && td_gpu_is_gas(&self->gpu) && !self->gpu.traits->fused;
}

/* Out-degrees are needed whichever direction the lists have. */
static td_status find_out_offsets(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    const td_graph *graph = gpu->graph;
    const td_streaming_shape *shape = &self->layout->shape;
    uint64_t count = graph->vertices + UINT64_C(1);
    void *offsets = NULL;
    gpu->state.out_offsets = self->layout->lists[0].seen.offsets;
    if (!shape->both && (shape->pushes || graph->symmetric)) return TD_OK; /* lists[0] are the out-lists */
    TD_CHECK(td_gpu_new(gpu, &offsets, count, sizeof(uint64_t), "the graph's offsets"));
    gpu->state.out_offsets = offsets;
    td_gpu_ring_note(gpu, count * sizeof(uint64_t));
    return gpu->memory.measures ? TD_OK : td_gpu_upload(gpu, offsets, graph->out.offsets, count * sizeof(uint64_t));
}

static td_status fill_state(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_state *state = &gpu->state;
    const td_graph *graph = gpu->graph;
    state->context = gpu->run->context;
    state->vertices = graph->vertices;
    state->weights = gpu->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    state->weight_bits = (uint8_t)self->layout->lists[0].weight_bits;
    state->symmetric = graph->symmetric;
    gpu->mean_degree = (uint32_t)(td_gpu_view_edges(gpu) / graph->vertices + 1);
    state->async = gpu->run->async;
    state->first_hit = gpu->traits->first_hit && !gpu->run->async;
    TD_CHECK(find_out_offsets(self));
    state->push_offsets = state->out_offsets;
    if (self->push != NULL) {
        gpu->has_high_degree = self->push->longest >= gpu->high_degree;
        gpu->push_list = self->push->seen;
        if (gpu->cores != TD_CORES_ROUNDS) gpu->core_prefix = self->push->prefix;
        state->push_offsets = gpu->push_list.offsets;
    }
    if (self->layout->shape.mixes) {
        gpu->has_high_degree = self->pull->longest >= gpu->high_degree;
        state->push_offsets = self->pull->seen.offsets;
    }
    return needs_heads(self) ? find_heads(self) : TD_OK;
}

static uint64_t most_subgraphs(const td_streaming_job *self)
{
    const td_link_list *lists = self->layout->lists;
    return lists[0].subgraphs > lists[1].subgraphs ? lists[0].subgraphs : lists[1].subgraphs;
}

/* Whether a forest's components may hook within a round (hook.c). */
static bool may_hook(const td_streaming_job *self)
{
    bool queues = self->variant == TD_STREAMING_HVSP || self->variant == TD_STREAMING_HBASE ||
                  self->variant == TD_STREAMING_SCAPH;
    return self->gpu.traits->edge != NULL && queues && !self->gpu.has_limit;
}

/* A round that takes two sweeps knows no best edge before the second. */
static td_status start_hooks(td_streaming_job *self)
{
    const td_context *c = &self->gpu.state.context;
    if (!may_hook(self)) return TD_OK;
    self->hooks = c->weight_bits + c->edge_bits + c->vertex_bits < 64;
    if (!self->hooks && self->variant != TD_STREAMING_SCAPH)
        return td_fail(TD_USAGE, "a weight, an edge and a vertex of this graph take %d bits; with more than 63 a round "
                       "of %s takes two sweeps, and subgraphs are not reprocessed: use another stream.variant",
                       c->weight_bits + c->edge_bits + c->vertex_bits, self->gpu.run->program->info->name);
    return self->hooks ? td_streaming_find_spans(self) : TD_OK;
}

/* Device arrays: the program's, and bitmaps and counters of this engine. `heavy` is needed only if the resident prefix
 * distinguishes light edges. */
static td_status declare_arrays(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    const td_streaming_shape *shape = &self->layout->shape;
    uint64_t words = td_gpu_words(gpu), most = most_subgraphs(self);
    bool light = gpu->memory.measures ? shape->light > 0 : self->push != NULL && self->push->light != NULL;
    gpu->accumulates = td_gpu_is_gas(gpu) && !gpu->traits->fused;
    TD_CHECK(td_gpu_declare_arrays(gpu));
    if (self->pushes_changes) TD_CHECK(td_streaming_declare_changes(self));
    if (self->differences || shape->mixes) TD_CHECK(td_streaming_declare_differences(self));
    if (!td_gpu_is_gas(gpu)) {
        TD_CHECK(td_gpu_new(gpu, &self->chosen, words, sizeof(uint32_t), "active vertices"));
        TD_CHECK(td_gpu_new(gpu, &gpu->state.next_active, words, sizeof(uint32_t), "active vertices"));
        if (may_hook(self)) TD_CHECK(td_streaming_declare_spans(self));
    }
    TD_CHECK(td_gpu_new(gpu, &self->rest, words, sizeof(uint32_t), "vertices with a deferred rest"));
    if (light) TD_CHECK(td_gpu_new(gpu, &self->heavy, words, sizeof(uint32_t), "vertices with deferred heavy edges"));
    if (shape->survivor_edges > 0)
        TD_CHECK(td_gpu_new(gpu, &self->device_found, most + 1, sizeof(uint32_t), "parts covered by survivors"));
    return td_gpu_new(gpu, &self->device_useful, most + 1, sizeof(uint64_t), "useful edges");
}

static td_status declare_host_arrays(td_streaming_job *self)
{
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t count = most_subgraphs(self) + 1;
    TD_CHECK(td_host_declare_zeroed(host, &self->useful, count, sizeof *self->useful, "useful edges"));
    TD_CHECK(td_host_declare_zeroed(host, &self->useful_before, count, sizeof *self->useful, "useful edges"));
    if (!td_gpu_is_gas(&self->gpu))
        TD_CHECK(td_host_declare_zeroed(host, &self->usable, count, sizeof *self->usable, "usable edges"));
    TD_CHECK(td_host_declare_zeroed(host, &self->mode, count, sizeof *self->mode, "ways of subgraphs"));
    TD_CHECK(td_host_declare_zeroed(host, &self->waiting, count, sizeof *self->waiting, "subgraphs to be copied"));
    TD_CHECK(td_host_declare_zeroed(host, &self->residents, count, sizeof *self->residents, "subgraphs on the device"));
    if (self->layout->shape.chunks == 0) return TD_OK;
    return td_host_declare(host, &self->active, td_gpu_words(&self->gpu), sizeof *self->active, "active vertices");
}

static td_status make_arrays(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(declare_arrays(self));
    TD_CHECK(td_gpu_fill_arrays(gpu));
    TD_CHECK(td_gpu_clear_map(gpu, self->rest));
    TD_CHECK(td_gpu_clear_map(gpu, self->heavy));
    if (self->pushes_changes) TD_CHECK(td_streaming_start_changes(self));
    TD_CHECK(start_hooks(self));
    return declare_host_arrays(self);
}

td_status td_streaming_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                               const td_streaming_shape *shape, td_device *device, td_gpu_memory *out)
{
    td_streaming_graph layout = {0};
    td_streaming_job self = {.layout = &layout, .pushes_changes = td_streaming_pushes_changes(program, options->mode)};
    td_run run;
    self.differences = td_streaming_pushes_differences(program, options->mode, options->settings);
    TD_CHECK(td_gpu_job_measure(&self.gpu, &run, program, graph, options));
    self.gpu.in_place = self.differences || shape->mixes;
    td_gpu_measure_on(&self.gpu.memory, device);
    TD_CHECK(td_streaming_read_settings(&self));
    TD_CHECK(td_streaming_prepare(&self, shape));
    TD_CHECK(find_out_offsets(&self));
    if (needs_heads(&self)) TD_CHECK(find_heads(&self));
    self.gpu.memory.cooperative = self.gpu.traits->fused;
    TD_CHECK(declare_arrays(&self));
    TD_CHECK(declare_host_arrays(&self));
    td_gpu_note_results(&self.gpu);
    *out = self.gpu.memory;
    return TD_OK;
}

/* The paper's bound: how often the GPU can read a subgraph while another one is copied. More than a few times seldom
 * finds a vertex to push. */
static void choose_levels(td_streaming_job *self)
{
    enum { MOST_LEVELS = 8 };
    const td_streaming_graph *layout = self->layout;
    if (self->levels > 0) return;
    double ratio = layout->copy_rate > 0 && layout->device_rate > 0 ? layout->device_rate / layout->copy_rate : 1;
    self->levels = ratio < 1 ? 1 : ratio > MOST_LEVELS ? MOST_LEVELS : (uint32_t)ratio;
}

static td_status set_up(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_gpu_job_start(gpu, self->layout->device, self->layout->stream));
    TD_CHECK(td_streaming_prepare(self, shape));
    gpu->device->peak = gpu->device->now;
    TD_CHECK(fill_state(self));
    TD_CHECK(make_arrays(self));
    if (gpu->traits->fused) TD_CHECK(td_gpu_size_loops(gpu));
    choose_levels(self);
    return td_stream_synchronize(gpu->stream);
}

static void tear_down(td_streaming_job *self, td_status status)
{
    td_streaming_graph *layout = self->layout;
    td_failure failure; /* the first failure; later ones of a lost device must not replace it */
    td_failure_keep(&failure);
    if (layout != NULL && layout->copies != NULL) (void)td_stream_synchronize(layout->copies);
    if (self->gpu.stream != NULL) (void)td_stream_synchronize(self->gpu.stream);
    td_gpu_job_close(&self->gpu);
    td_free(self->useful);
    td_free(self->useful_before);
    td_free(self->usable);
    td_free(self->mode);
    td_free(self->waiting);
    td_free(self->residents);
    td_free(self->active);
    td_free(self->part_covered);
    td_free(self->part_found);
    td_free(self->part_of);
    td_gpu_layout_release(self->gpu.options, status != TD_OK);
    if (status != TD_OK) td_failure_set(&failure);
}

/* Running. */

static td_status find_parents(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_row row = {0};
    uint64_t n = gpu->graph->vertices, bytes = n * sizeof(uint32_t);
    TD_CHECK(TD_NEW(&gpu->run->parents, n, "parents"));
    td_gpu_part none = {.end_vertex = gpu->graph->vertices}; /* no edges: only source vertices get a parent,
                                                              * themselves */
    TD_CHECK(td_gpu_find_parents(gpu, gpu->stream, self->pull->seen, &none, false));
    self->row = &row;
    td_streaming_all_useful(self, self->pull);
    TD_CHECK(td_streaming_cross(self, self->pull, TD_WORK_PARENTS, false));
    TD_CHECK(td_stream_copy(gpu->stream, gpu->run->parents, gpu->arrays.parents, bytes, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    if (gpu->state.weights == TD_WEIGHT_NONE) return TD_OK;
    return td_run_solve_parents(gpu->run, &gpu->graph->out, gpu->run->values);
}

static td_status run_schedule(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    gpu->run->converged = gpu->run->resumed != NULL && gpu->run->resumed->converged;
    if (gpu->run->converged) return td_gpu_init(gpu); /* the checkpoint is of a run that had converged */
    if (gpu->run->program->info->kind == TD_KIND_SWEEP) return td_streaming_sweep(self);
    if (self->pushes_changes) return td_streaming_changes(self);
    if (self->differences) return td_streaming_differences(self);
    if (self->layout->shape.mixes) return td_streaming_mixed(self);
    if (!gpu->traits->fused) return td_streaming_pulls(self);
    if (gpu->prioritised) return td_streaming_priorities(self);
    if (gpu->cores != TD_CORES_ROUNDS) return td_streaming_peel_at_once(self);
    return gpu->traits->schedule == TD_SCHEDULE_PEEL ? td_streaming_peel(self) : td_streaming_rounds(self);
}

/* The plan's decisions. */
typedef struct streaming_plan {
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    bool reprocesses; /* subgraphs may be reprocessed within an iteration */
} streaming_plan;

/* Decides whether subgraphs may be reprocessed. A program that is not free of order, but applies sums alone, is on a
 * graph without cycles. */
static td_status plan_reprocessing(const td_plan *plan, streaming_plan *self)
{
    double variant;
    const td_program_info *info = plan->program->info;
    const td_run_options *options = &plan->options;
    bool differences = td_streaming_pushes_differences(plan->program, options->mode, options->settings);
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &variant));
    self->reprocesses = td_streaming_why_once(plan->program, options) == NULL &&
                        (info->order_free || variant != TD_STREAMING_FULL) &&
                        (variant != TD_STREAMING_FULL || !differences || options->mode == TD_MODE_ASYNC);
    if (!self->reprocesses || info->order_free) return TD_OK;
    TD_CHECK(td_streaming_is_acyclic(plan->graph, &self->reprocesses));
    if (self->reprocesses || (variant != TD_STREAMING_HVSP && variant != TD_STREAMING_HBASE)) return TD_OK;
    const char *name = variant == TD_STREAMING_HVSP ? "hvsp" : "hbase";
    return td_see("stream", td_fail(TD_USAGE, "stream.variant=%s does what lbase does for %s on a graph with cycles, "
                                    "where its values depend on the order", name, info->name));
}

static bool has_settings(const td_settings *settings)
{
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strncmp(settings->keys[i], "stream.", 7) == 0) return true;
    return false;
}

/* All edges fit: the resident engine runs the plan, and reports keep this engine's name. */
static td_status plan_resident(td_plan *plan)
{
    if (has_settings(plan->options.settings))
        td_plan_say(plan, true, "the graph fits on the GPU, so the resident engine runs it and settings of stream have "
                                "no effect; {gpu_edges} or {gpu_memory} limits the device memory");
    TD_CHECK(td_plan_delegate(plan, &td_resident_engine,
                               "; the graph fits on the GPU, so the resident engine runs it"));
    plan->reported = &td_stream_engine;
    return TD_OK;
}

/* Lists that are put in order are read from the mapped file. */
td_maps td_streaming_maps(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_streaming_shape shape;
    td_failure before;
    td_failure_keep(&before);
    bool known = td_streaming_wanted(program, graph, options, &shape) == TD_OK;
    td_failure_set(&before);
    return known && shape.order != TD_LISTS_STORED && !shape.both ? TD_MAPS_ALWAYS : TD_MAPS_NEVER;
}

static bool spares_lists(const td_plan *plan)
{
    const streaming_plan *self = plan->shape;
    return td_streaming_spares_lists(plan->graph, &self->shape) || td_streaming_orders_file(plan->graph, &self->shape);
}

static void state_prepared(td_plan *plan, const td_streaming_shape *shape)
{
    char name[TD_SIDECAR_NAME], text[128];
    for (int i = 0; i < 2; i++) {
        if (!(shape->prepared >> i & 1u)) continue;
        td_lists_form form = td_streaming_form(plan->graph, shape, i == 1);
        td_plan_reads(plan, td_lists_form_name(name, &form));
        snprintf(text, sizeof text, "stream: the lists are read as they were prepared (%s)", name);
        td_plan_say(plan, false, text);
    }
    bool prepared = shape->prepared != 0 && td_streaming_spares_lists(plan->graph, shape);
    if (prepared || td_streaming_orders_file(plan->graph, shape)) (void)td_plan_spares_lists(plan);
}

static td_status plan_stream(td_plan *plan)
{
    const td_run_options *options = &plan->options;
    streaming_plan *self;
    td_gpu_set *gpus;
    TD_CHECK(td_streaming_check_request(plan->program, options));
    TD_CHECK(td_gpu_set_open(options, "stream", &gpus));
    TD_CHECK(td_plan_shape(plan, &self, sizeof *self));
    uint64_t room = td_device_left(gpus->gpu[0]) + gpus->gpu[0]->now;
    td_status status = td_streaming_plan(plan->program, plan->graph, options, room, &self->bytes, &self->shape);
    if (status == TD_NO_MEMORY && td_last_refusal()->resource >= TD_RESOURCE_DEVICE_MEMORY) {
        td_refusal refusal = *td_last_refusal();
        memcpy(refusal.device, gpus->gpu[0]->name, sizeof refusal.device);
        td_refusal_set(&refusal);
    }
    TD_CHECK(status);
    if (self->bytes.all) return plan_resident(plan);
    state_prepared(plan, &self->shape);
    TD_CHECK(plan_reprocessing(plan, self));
    const td_streaming_bytes *need = &self->bytes;
    bool cooperative = plan->program->cpu[TD_WEIGHT_NONE].fused;
    td_gpu_memory taken;
    TD_CHECK(td_streaming_measure(plan->program, plan->graph, options, &self->shape, gpus->gpu[0], &taken));
    td_plan_on_device(plan, gpus->gpu[0], need->on_device, need->vertices, cooperative);
    plan->program_bytes = taken.host.peak + td_gpu_run_bytes(1);
    td_plan_count(plan, "subgraph_edges", self->shape.slot_edges);
    td_plan_count(plan, "subgraph_slots", self->shape.slots);
    td_plan_count(plan, "chunks", self->shape.chunks);
    td_plan_count(plan, "prefix_bytes", self->shape.prefix_bytes);
    td_plan_count(plan, "survivor_edges", self->shape.survivor_edges);
    if (self->shape.nodes == TD_PLACE_HOME || self->shape.nodes == TD_PLACE_INTERLEAVE)
        td_plan_count(plan, "memory_nodes", (uint64_t)td_numa_here()->nodes);
    if (self->shape.duplicate > 0) {
        uint64_t bytes;
        uint64_t edges = plan->graph->edges * (self->shape.both ? 2 : 1);
        (void)td_streaming_fit_duplicates(td_numa_here(), edges, self->shape.slot_edges, need->edge_bytes,
                                          self->shape.duplicate, UINT64_MAX, &bytes);
        td_plan_count(plan, "duplicate_bytes", bytes);
    }
    td_plan_count(plan, "subgraph_bytes", self->shape.slot_edges * need->edge_bytes);
    return TD_OK;
}

static td_status run_stream(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    const streaming_plan *shape = plan->shape;
    const td_run_options *options = &plan->options;
    td_streaming_job self = {0};
    uint64_t began = td_clock_ns();
    TD_CHECK(td_gpu_job_open(&self.gpu, run, options));
    self.pushes_changes = td_streaming_pushes_changes(run->program, options->mode);
    self.differences = td_streaming_pushes_differences(run->program, options->mode, options->settings);
    self.gpu.in_place = self.differences || shape->shape.mixes;
    self.order_free = shape->reprocesses || (self.gpu.traits->first_hit && run->async && !self.gpu.has_limit);
    TD_TRY(td_streaming_read_settings(&self));
    TD_TRY(td_gpu_layout_acquire(&td_streaming_layout_kind, run->graph, options, &self.layout));
    TD_TRY(set_up(&self, &shape->shape));
    run->prepare_seconds += td_seconds_since(began);
    self.gpu.run_began = td_clock_ns();
    td_gpu_start_counting(&self.gpu);
    TD_TRY(run_schedule(&self));
    td_checkpoints_finish(run);
    TD_TRY(td_stream_synchronize(self.gpu.stream));
    td_run_end_processing(run, self.gpu.run_began);
    td_gpu_stop_counting(&self.gpu);
    if (shape->shape.prepared != 0) td_run_count(run, "prepared", self.layout->prepared_read);
    td_device_use *use = td_device_use_of(&run->devices, run->device);
    use->row.busy_seconds = 0;
    for (uint32_t i = 0; i < run->row_count; i++) use->row.busy_seconds += run->full_rows[i].compute_seconds;
    TD_TRY(td_gpu_copy_result(&self.gpu));
    if (options->parents) TD_TRY(find_parents(&self));
done:
    tear_down(&self, status);
    return status;
}

/* Values of settings that the plan chose or reduced. */
static double in_effect(const td_plan *plan, const td_setting *entry, double number)
{
    uint64_t bytes = td_plan_counter(plan, "subgraph_bytes");
    bool apart = bytes > td_plan_counter(plan, "subgraph_edges") * sizeof(uint32_t);
    if (strcmp(entry->name, "pack") == 0) return apart || plan->graph->weights == TD_WEIGHT_NONE;
    if (strcmp(entry->name, "subgraph") == 0) return (double)bytes;
    if (strcmp(entry->name, "nodes") == 0 && td_plan_counter(plan, "memory_nodes") == 0) return TD_PLACE_OFF;
    if (strcmp(entry->name, "nodes") == 0 && number == TD_PLACE_AUTO) return TD_PLACE_HOME;
    if (strcmp(entry->name, "duplicate") == 0 && plan->engine == &td_stream_engine)
        return ((const streaming_plan *)plan->shape)->shape.duplicate;
    if (strcmp(entry->name, "prefix") == 0)
        return (double)td_plan_counter(plan, "prefix_bytes") / (double)plan->device_graph_bytes;
    return number;
}

#define COLUMN(kind, field) {#field, TD_COLUMN_##kind, offsetof(td_row, field)}
static const td_column columns[] = {
    COLUMN(U32, subgraphs_resident), COLUMN(U32, subgraphs_whole), COLUMN(U32, subgraphs_extracted),
    COLUMN(U32, subgraphs_direct), COLUMN(U64, bytes_whole), COLUMN(U64, bytes_extracted), COLUMN(U64, bytes_direct),
    COLUMN(U64, bytes_useful), COLUMN(U64, bytes_local), COLUMN(U64, bytes_remote), COLUMN(REAL, useful_over_moved), COLUMN(U32, rounds), COLUMN(U32, evictions),
    COLUMN(U32, chunks_sent), COLUMN(U32, levels), COLUMN(REAL, queue_seconds), COLUMN(REAL, bitmap_seconds),
    COLUMN(REAL, copy_seconds), COLUMN(REAL, compute_seconds), COLUMN(REAL, both_seconds), {0},
};

const td_engine td_stream_engine = {
    .name = "stream",
    .summary = "a graph larger than GPU memory: vertices on the GPU, edges in host memory; the useful edges, those of "
               "active vertices, cross the link (Scaph)",
    .device = "cuda or emu",
    .uses_devices = TD_USES_GPU,
    .needs_gpu = true,
    .limits_edges = true,
    .strict = true,
    .settings = td_streaming_settings,
    .renamed = td_streaming_renamed,
    .uses = td_streaming_uses,
    .applies = td_streaming_applies,
    .when = td_streaming_when,
    .check = td_streaming_check_settings,
    .estimate = td_streaming_estimate,
    .plan = plan_stream,
    .layout = td_streaming_layout,
    .make_layout = td_streaming_make_layout,
    .spares_lists = spares_lists,
    .maps = td_streaming_maps,
    .run = run_stream,
    .in_effect = in_effect,
    .columns = columns,
};
