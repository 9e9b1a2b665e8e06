/* Pages on the GPU: pull only, as in Garaph. A page's edges are copied to a slot, gathered (kernels/gpu/pull.h) and
 * applied, and the new values are copied back; every slot has its own stream, so that copies overlap kernels. The host
 * has the valid values, which are copied to the GPU once per iteration. */
#include "engine/hybrid/gpu.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* List starts of a page. */

typedef struct page_place {
    const uint64_t *offsets;
    uint32_t begin;
} page_place;

static uint64_t place_in_page(const void *of, uint64_t v)
{
    const page_place *self = of;
    return self->offsets[self->begin + v] - self->offsets[self->begin];
}

uint64_t td_hybrid_gpu_part(const td_hybrid_gpu *self, uint32_t page, int side)
{
    return (uint64_t)page * (uint64_t)self->lists_of_vertex + (uint64_t)side;
}

static td_status send_heads(td_hybrid_gpu *self, uint32_t page, int side)
{
    const td_held_page *of = &self->hybrid->pull->pages[page];
    td_stream *stream = self->job.stream;
    uint64_t part = td_hybrid_gpu_part(self, page, side);
    page_place place = {self->hybrid->cpu.view.pull[side].offsets, of->begin};
    td_gpu_heads found = {0};
    td_status status = TD_OK;
    TD_TRY(td_gpu_find_heads(&found, place_in_page, &place, of->end - of->begin, self->job.options->pool));
    for (uint64_t i = 0; i < found.count; i++) found.lists[i] += of->begin;
    uint64_t piece = self->piece_of[part], words = found.pieces * (TD_GPU_TILE / 32);
    if (found.pieces > 0) {
        TD_TRY(td_stream_copy(stream, self->heads + piece * (TD_GPU_TILE / 32), found.bits, words * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_copy(stream, self->before + piece, found.before, found.pieces * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_copy(stream, self->lists + self->list_of[part], found.lists, found.count * sizeof(uint32_t),
                              TD_TO_DEVICE));
        TD_TRY(td_stream_synchronize(stream));
    }
    self->list_of[part + 1] = self->list_of[part] + found.count;
    self->piece_of[part + 1] = piece + found.pieces;
done:
    td_gpu_free_heads(&found);
    return status;
}

/* Shards of pages. */

static uint64_t place_from_page(const void *of, uint64_t v)
{
    const page_place *self = of;
    return self->offsets[v] - self->offsets[self->begin];
}

typedef struct page_cut {
    page_place place[2];
    td_gpu_shard_cut cut;
} page_cut;

static void begin_cut(const td_hybrid_gpu *self, uint32_t page, page_cut *out)
{
    const td_held_page *of = &self->hybrid->pull->pages[page];
    *out = (page_cut){.cut = {.first = of->begin, .end = of->end, .copies = self->copies,
                              .room = self->shard_bytes / self->job.traits->accum_bytes}};
    for (int side = 0; side < self->lists_of_vertex; side++) {
        out->place[side] = (page_place){self->hybrid->cpu.view.pull[side].offsets, of->begin};
        out->cut.place[side] = place_from_page;
        out->cut.of[side] = &out->place[side];
    }
}

static td_status cut_pages(td_hybrid_gpu *self)
{
    const td_page_set *set = self->hybrid->pull;
    page_cut cut;
    TD_CHECK(TD_NEW_ZEROED(&self->shard_of, (uint64_t)set->count + 1, "shards of pages"));
    for (uint32_t p = 0; p < set->count; p++) {
        begin_cut(self, p, &cut);
        TD_CHECK(td_gpu_cut_shards(&self->shard_list, &cut.cut));
        self->shard_of[p + 1] = self->shard_list.count;
    }
    return TD_OK;
}

void td_hybrid_gpu_name(const td_hybrid_gpu *self, uint32_t page, int side, uint16_t *names)
{
    page_cut cut;
    begin_cut(self, page, &cut);
    for (uint64_t s = self->shard_of[page]; s < self->shard_of[page + 1]; s++)
        td_gpu_name_edges(&cut.cut, &self->shard_list.shards[s], side, names);
}

/* Device arrays: vertices, list starts for so many pieces of pages or so many shards, and slots. */
static td_status declare_gathers(td_hybrid_gpu *self, uint64_t pieces, uint64_t shards)
{
    td_gpu_job *job = &self->job;
    uint64_t n = job->graph->vertices, lists = (uint64_t)self->lists_of_vertex;
    if (self->by_shards) return td_gpu_new_for(job, TD_FOR_LISTS, &self->shards, shards, sizeof *self->shards, "shards");
    TD_CHECK(td_gpu_new(job, &job->arrays.sums, n, job->traits->accum_bytes, "sums"));
    if (lists == 2) TD_CHECK(td_gpu_new(job, &self->other_sums, n, job->traits->accum_bytes, "sums"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->heads, (pieces + 1) * (TD_GPU_TILE / 32), sizeof(uint32_t),
                            "list starts"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->before, pieces + 1, sizeof(uint32_t), "list starts"));
    return td_gpu_new_for(job, TD_FOR_LISTS, &self->lists, lists * n + 1, sizeof(uint32_t), "vertices with lists");
}

static td_status declare_slot(td_hybrid_gpu *self, td_hybrid_slot *slot)
{
    td_gpu_job *job = &self->job;
    uint64_t edges = self->slot_edges + 8; /* either list begins at a multiple of 4 edges */
    size_t weight = td_gpu_weight_bytes(job);
    TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &slot->targets, edges, sizeof(uint32_t), "page"));
    if (weight > 0) TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &slot->weights, edges, weight, "weights of a page"));
    if (!self->by_shards) return TD_OK;
    return td_gpu_new_for(job, TD_FOR_EDGES, &slot->names, edges, sizeof(uint16_t), "page");
}

static td_status declare_arrays(td_hybrid_gpu *self, uint64_t pieces, uint64_t shards)
{
    td_gpu_job *job = &self->job;
    uint64_t n = job->graph->vertices, words = td_gpu_words(job) + 2;
    TD_CHECK(td_gpu_declare_values(job));
    TD_CHECK(td_gpu_new(job, &job->state.next_active, words, sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &job->state.out_offsets, n + 1, sizeof(uint64_t), "offsets"));
    TD_CHECK(declare_gathers(self, pieces, shards));
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) TD_CHECK(declare_slot(self, &self->slots[i]));
    return TD_OK;
}

uint64_t td_hybrid_gpu_edges(const td_hybrid_gpu *self, uint32_t page, int side)
{
    const td_held_page *of = &self->hybrid->pull->pages[page];
    const uint64_t *offsets = self->hybrid->cpu.view.pull[side].offsets;
    return offsets[of->end] - offsets[of->begin];
}

static uint64_t pieces_of(const td_hybrid_gpu *self)
{
    uint64_t pieces = 0;
    for (uint32_t p = 0; p < self->hybrid->pull->count; p++)
        for (int side = 0; side < self->lists_of_vertex; side++)
            pieces += (td_hybrid_gpu_edges(self, p, side) + TD_GPU_TILE - 1) / TD_GPU_TILE;
    return pieces;
}

static td_status fill_heads(td_hybrid_gpu *self)
{
    const td_page_set *set = self->hybrid->pull;
    uint64_t parts = td_hybrid_gpu_part(self, set->count, 0);
    TD_CHECK(TD_NEW_ZEROED(&self->piece_of, parts + 1, "pieces of pages"));
    TD_CHECK(TD_NEW_ZEROED(&self->list_of, parts + 1, "lists of pages"));
    for (uint32_t p = 0; p < set->count; p++)
        for (int side = 0; side < self->lists_of_vertex; side++) TD_CHECK(send_heads(self, p, side));
    return TD_OK;
}

/* An emulated GPU allocates its blocks when it first launches some: before pages get the memory that is left. */
static td_status launch_nothing(td_hybrid_gpu *self)
{
    const td_gpu_job *job = &self->job;
    td_shard_args args = {.state = job->state, .shards = self->shards};
    TD_CHECK(td_gpu_launch_blocks(job, job->stream, &job->kernels->pull_shards, UINT32_MAX, self->shard_bytes, &args));
    return td_stream_synchronize(job->stream);
}

static td_status fill_shards(td_hybrid_gpu *self)
{
    uint64_t counts[TD_SHARD_POWERS], bytes = self->shard_list.count * sizeof(td_gpu_shard);
    td_gpu_count_shards(counts, self->shard_list.shards, self->shard_list.count);
    td_gpu_report_shards(self->job.run, counts);
    TD_CHECK(td_stream_copy(self->job.stream, self->shards, self->shard_list.shards, bytes, TD_TO_DEVICE));
    return launch_nothing(self);
}

/* Opening. */

static size_t page_weight_bytes(const td_hybrid_job *hybrid)
{
    return hybrid->needs & TD_WITH_WEIGHTS ? td_weight_bytes(hybrid->cpu.graph->weights) : 0;
}

/* Pins host memory, from which copies are faster and asynchronous; memory that cannot be pinned is copied too. */
static bool pin(td_hybrid_gpu *self, void *host, uint64_t bytes)
{
    void *seen;
    for (int i = 0; i < self->pinned_count; i++)
        if (self->pinned[i] == host) return true;
    if (host == NULL || bytes == 0 || self->pinned_count == (int)(sizeof self->pinned / sizeof *self->pinned))
        return false;
    if (td_device_pin(self->job.device, host, bytes, &seen) != TD_OK) return false;
    self->pinned[self->pinned_count++] = host;
    return true;
}

/* Edges of a slot: those of the largest page that is small enough. */
static uint64_t choose_slot(const td_hybrid_job *hybrid, uint64_t most)
{
    uint64_t largest = 0;
    for (uint32_t p = 0; p < hybrid->pull->count; p++) {
        uint64_t edges = td_page_edges(hybrid->pull, p);
        if (edges <= TD_HYBRID_LARGEST_SLOT && edges <= most && edges > largest) largest = edges;
    }
    return largest;
}

/* Upper bound of the pieces of all pages. Every page ends within a piece; two adjacent pages have more edges than a
 * slot, except those of vertices that exceed a page alone. */
static uint64_t most_pieces(const td_graph *graph, uint64_t slot_edges, uint64_t lists)
{
    uint64_t pages = slot_edges > 0 ? 2 * (lists * graph->edges / slot_edges) : 0, pieces = graph->edges / TD_GPU_TILE;
    return lists * (pieces + pieces / 64 + pages + 2);
}

/* Shards end where pages do, and no page is smaller than a word of 64 vertices. */
static uint64_t most_shards(const td_graph *graph) { return graph->vertices / TD_LEAST_SHARD + UINT64_C(2); }

td_status td_hybrid_gpu_measure(const td_program *program, const td_graph *graph, const td_run_options *options,
                                uint64_t slot_edges, td_gpu_memory *out)
{
    td_hybrid_gpu self = {.slot_edges = slot_edges, .lists_of_vertex = 1};
    td_run run;
    TD_CHECK(td_gpu_job_measure(&self.job, &run, program, graph, options));
    TD_CHECK(td_hybrid_gather_of(options->settings, &self.by_shards, &self.copies));
    if (self.job.traits->view == TD_VIEW_BOTH && !graph->symmetric) self.lists_of_vertex = 2;
    uint64_t pieces = most_pieces(graph, slot_edges, (uint64_t)self.lists_of_vertex);
    TD_CHECK(declare_arrays(&self, pieces, most_shards(graph)));
    *out = self.job.memory;
    return TD_OK;
}

/* A GPU that processes all pages takes those of 64 vertices, except larger ones than any slot. */
static uint64_t least_slot(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    enum { LEAST = 1024 };
    bool both = program->cpu->view == TD_VIEW_BOTH && !graph->symmetric;
    if (td_hybrid_use_of(options->settings) != TD_USE_GPU) return LEAST;
    uint64_t word = td_hybrid_largest_word(graph, both);
    if (word > TD_HYBRID_LARGEST_SLOT) word = TD_HYBRID_LARGEST_SLOT;
    return word > LEAST ? word : LEAST;
}

td_status td_hybrid_gpu_most(const td_program *program, const td_graph *graph, const td_run_options *options,
                             uint64_t *most, uint64_t *least)
{
    td_gpu_memory taken;
    uint64_t edges = least_slot(program, graph, options);
    *most = UINT64_MAX;
    *least = 0;
    if (options->gpu_memory == 0) return TD_OK;
    TD_CHECK(td_hybrid_gpu_measure(program, graph, options, edges, &taken));
    *least = td_gpu_memory_sum(&taken);
    *most = 0;
    if (*least > options->gpu_memory) return TD_OK;
    for (uint64_t step = TD_HYBRID_LARGEST_SLOT; step > 0; step /= 2) { /* the largest that fits */
        TD_CHECK(td_hybrid_gpu_measure(program, graph, options, edges + step, &taken));
        if (td_gpu_memory_sum(&taken) <= options->gpu_memory) edges += step;
    }
    *most = edges;
    return TD_OK;
}

static uint64_t slot_bytes(const td_program *program, const td_graph *graph, uint64_t edges)
{
    bool weights = program->info->weights != TD_WEIGHTS_UNUSED;
    return edges * (sizeof(uint32_t) + (weights ? td_weight_bytes(graph->weights) : 0));
}

/* The host's names of edges: a buffer per slot for pages from disk, all of a graph in memory. */
static uint64_t name_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                           uint64_t slot_edges, bool on_disk)
{
    bool shards = false;
    uint32_t copies;
    bool both = program->cpu->view == TD_VIEW_BOTH && !graph->symmetric;
    if (td_hybrid_gather_of(options->settings, &shards, &copies) != TD_OK || !shards) return 0; /* refused in time */
    uint64_t edges = on_disk ? TD_HYBRID_SLOTS * (slot_edges + 8) : graph->edges * (both ? 2 : 1);
    return edges * sizeof(uint16_t) + 2 * most_shards(graph) * sizeof(td_gpu_shard);
}

uint64_t td_hybrid_gpu_emulated_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                      uint64_t slot_edges)
{
    td_gpu_memory taken;
    uint64_t emulated = 0;
    const char *devices = td_gpu_wanted(options);
    if (td_hybrid_gpu_measure(program, graph, options, slot_edges, &taken) != TD_OK) return 0; /* refused in time */
    if (td_devices_host_bytes(devices, td_gpu_memory_sum(&taken), false, &emulated) != TD_OK) return 0;
    return emulated;
}

uint64_t td_hybrid_gpu_host_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  uint64_t slot_edges, bool on_disk)
{
    enum { BESIDES = 512 << 10 }; /* streams, tables of pages, rounding */
    return td_hybrid_gpu_emulated_bytes(program, graph, options, slot_edges) + BESIDES +
           name_bytes(program, graph, options, slot_edges, on_disk) +
           (on_disk ? TD_HYBRID_SLOTS * slot_bytes(program, graph, slot_edges) : 0);
}

static td_status open_slots(td_hybrid_gpu *self)
{
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) {
        self->slots[i].gpu = self;
        TD_CHECK(td_stream_open(self->job.device, &self->slots[i].stream));
    }
    return TD_OK;
}

/* A pinned buffer of a slot; without one pages are copied from where they are. */
static td_status make_stage(td_hybrid_gpu *self, td_hybrid_slot *slot, int which, size_t bytes)
{
    uint64_t all = (self->slot_edges + 8) * bytes;
    if (all == 0 || self->slot_edges == 0) return TD_OK;
    TD_CHECK(td_new_pages(&slot->staged[which], all, "pinned buffer of a page"));
    if (pin(self, slot->staged[which], all) || which == TD_STAGED_NAMES) return TD_OK;
    td_free(slot->staged[which]);
    slot->staged[which] = NULL;
    return TD_OK;
}

/* Pages from disk are not in pinned memory: they are copied to a pinned buffer first, and named there. */
static td_status make_stages(td_hybrid_gpu *self)
{
    size_t bytes[] = {sizeof(uint32_t), page_weight_bytes(self->hybrid), self->by_shards ? sizeof(uint16_t) : 0};
    for (int i = 0; self->hybrid->paged != NULL && i < TD_HYBRID_SLOTS; i++)
        for (int w = 0; w < TD_STAGES; w++) TD_CHECK(make_stage(self, &self->slots[i], w, bytes[w]));
    return TD_OK;
}

typedef struct naming {
    td_hybrid_gpu *gpu;
    int side;
} naming;

static td_status name_pages(void *context, uint64_t begin, uint64_t end, int worker)
{
    const naming *self = context;
    const td_hybrid_job *hybrid = self->gpu->hybrid;
    (void)worker;
    for (uint64_t p = begin; p < end; p++) {
        uint64_t first = hybrid->cpu.view.pull[self->side].offsets[hybrid->pull->pages[p].begin];
        td_hybrid_gpu_name(self->gpu, (uint32_t)p, self->side, self->gpu->names[self->side] + first);
    }
    return TD_OK;
}

/* All edges of a graph in memory are named once. */
static td_status make_names(td_hybrid_gpu *self)
{
    td_hybrid_job *hybrid = self->hybrid;
    for (int side = 0; self->by_shards && hybrid->paged == NULL && side < self->lists_of_vertex; side++) {
        TD_CHECK(TD_NEW(&self->names[side], self->job.graph->edges + 1, "shards' edges"));
        TD_CHECK(td_pool_for(hybrid->cpu.pool, hybrid->pull->count, 1, name_pages, &(naming){self, side}));
        (void)pin(self, self->names[side], self->job.graph->edges * sizeof(uint16_t));
    }
    return TD_OK;
}

static td_status fill_vertices(td_hybrid_gpu *self)
{
    td_gpu_job *job = &self->job;
    td_gpu_state *state = &job->state;
    uint64_t n = job->graph->vertices;
    void *offsets = (void *)(uintptr_t)state->out_offsets;
    TD_CHECK(td_gpu_send_inputs(job));
    uint64_t began = td_device_clock(job->device);
    TD_CHECK(td_stream_copy(job->stream, offsets, job->graph->out.offsets, (n + 1) * sizeof(uint64_t), TD_TO_DEVICE));
    TD_CHECK(td_stream_synchronize(job->stream));
    self->setup_ns = (double)(td_device_clock(job->device) - began); /* estimates the copy of the values until it is
                                                                      * measured */
    self->end_ns = self->setup_ns;
    self->link_rate = (double)((n + 1) * sizeof(uint64_t)) / (self->setup_ns + 1) /
                      (double)(sizeof(uint32_t) + page_weight_bytes(self->hybrid));
    state->push_offsets = state->out_offsets;
    state->vertices = job->graph->vertices;
    state->weights = job->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : job->graph->weights;
    state->symmetric = job->graph->symmetric;
    state->async = job->run->async;
    if (self->by_shards) return TD_OK;
    if (self->other_sums != NULL) TD_CHECK(td_gpu_clear_sums(job, self->other_sums));
    return td_gpu_clear_sums(job, job->arrays.sums);
}

static void pin_lists(td_hybrid_gpu *self)
{
    for (int side = 0; self->hybrid->paged == NULL && side < self->lists_of_vertex; side++) {
        const td_adjacency *list = &self->hybrid->cpu.view.pull[side];
        (void)pin(self, list->targets, self->job.graph->edges * sizeof(uint32_t));
        (void)pin(self, list->weights, self->job.graph->edges * page_weight_bytes(self->hybrid));
    }
}

/* Pins the arrays that are copied in every iteration; the two arrays of a pair alternate. */
static void pin_values(td_hybrid_gpu *self)
{
    td_cpu_job *cpu = &self->hybrid->cpu;
    uint64_t n = cpu->graph->vertices, values = n * cpu->kernels->value_bytes;
    uint64_t messages = n * cpu->kernels->message_bytes;
    (void)pin(self, cpu->values, values);
    if (cpu->kernels->sends_value) (void)pin(self, cpu->next_values, values);
    else (void)(pin(self, cpu->messages, messages) && pin(self, cpu->next_messages, messages));
    if (cpu->kernels->fused) (void)pin(self, cpu->frontier.next_active, td_cpu_words(cpu) * sizeof(uint64_t));
}

void td_hybrid_gpu_unpin(td_hybrid_gpu *self)
{
    if (self == NULL) return;
    while (self->pinned_count > 0) td_device_unpin(self->job.device, self->pinned[--self->pinned_count]);
}

static td_status choose_gathers(td_hybrid_gpu *self)
{
    const td_cpu_job *cpu = &self->hybrid->cpu;
    uint64_t most, least;
    self->lists_of_vertex = cpu->view.lists;
    self->shard_bytes = td_gpu_shard_bytes(self->job.device);
    TD_CHECK(td_hybrid_gather_of(cpu->options->settings, &self->by_shards, &self->copies));
    TD_CHECK(td_hybrid_gpu_most(cpu->run->program, cpu->graph, cpu->options, &most, &least));
    self->slot_edges = choose_slot(self->hybrid, most);
    return self->by_shards ? cut_pages(self) : TD_OK;
}

td_status td_hybrid_gpu_open(td_hybrid_job *hybrid)
{
    td_hybrid_gpu *self = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "GPU of the hybrid engine"));
    hybrid->gpu = self;
    self->hybrid = hybrid;
    TD_CHECK(td_gpu_job_open(&self->job, hybrid->cpu.run, hybrid->cpu.options));
    TD_CHECK(td_gpu_set_open(hybrid->cpu.options, "hybrid", &self->set));
    td_device *device = self->set->gpu[0];
    if (self->set->count > 1)
        td_warn("the hybrid engine uses one GPU: of {devices} %s, %s", self->set->devices, device->name);
    TD_CHECK(td_stream_open(device, &self->job.stream));
    TD_CHECK(td_gpu_job_start(&self->job, device, self->job.stream));
    TD_CHECK(choose_gathers(self));
    TD_CHECK(declare_arrays(self, pieces_of(self), self->shard_list.count));
    TD_CHECK(fill_vertices(self));
    TD_CHECK(self->by_shards ? fill_shards(self) : fill_heads(self));
    TD_CHECK(open_slots(self));
    TD_CHECK(make_stages(self));
    TD_CHECK(make_names(self));
    pin_lists(self);
    pin_values(self);
    td_gpu_start_counting(&self->job);
    return td_stream_synchronize(self->job.stream);
}

void td_hybrid_gpu_close(td_hybrid_job *hybrid)
{
    td_hybrid_gpu *self = hybrid->gpu;
    if (self == NULL) return;
    for (int i = 0; i < TD_HYBRID_SLOTS; i++)
        if (self->slots[i].stream != NULL) {
            (void)td_stream_synchronize(self->slots[i].stream);
            td_stream_close(self->slots[i].stream);
        }
    td_hybrid_gpu_unpin(self);
    for (int i = 0; i < TD_HYBRID_SLOTS; i++)
        for (int w = 0; w < TD_STAGES; w++) td_free(self->slots[i].staged[w]);
    for (int side = 0; side < 2; side++) td_free(self->names[side]);
    td_stream *stream = self->job.stream;
    td_gpu_job_close(&self->job);
    if (stream != NULL) td_stream_close(stream);
    td_gpu_set_note(hybrid->cpu.options);
    if (self->flights > 0 || self->status != TD_OK || !hybrid->through) td_gpu_set_drop(hybrid->cpu.options);
    td_free(self->shard_list.shards);
    td_free(self->shard_of);
    td_free(self->piece_of);
    td_free(self->list_of);
    td_free(self);
    hybrid->gpu = NULL;
}

bool td_hybrid_gpu_takes(const td_hybrid_gpu *self, uint32_t page)
{
    return td_page_edges(self->hybrid->pull, page) <= self->slot_edges;
}
