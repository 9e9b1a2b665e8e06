/* What a run of the stream engine takes, and how the device memory for edges is spent: slots for whole subgraphs, chunks for
 * extracted lists, and the beginnings of all lists. */
#include "engine/stream.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

enum { LEAST_SLOTS = 2, CHUNKS = 2, WANTED_SLOTS = 8, LEAST_EDGES = 256 };
enum { PREFIX_SLOTS = 4 }; /* left beside beginnings: fewer, and copies wait for kernels */

/* What the settings and the program say. */
typedef struct wishes {
    const td_cpu_kernels *kernels;
    bool gas, prioritised, keeps_edges, subgraph_given;
    double variant, low, subgraph, prefix, lists, delta, heavy;
} wishes;

static bool is_given(const td_settings *settings, const char *key)
{
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strcmp(settings->keys[i], key) == 0) return true;
    return false;
}

static td_status read_wishes(wishes *self, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    const td_program_info *info = program->info;
    td_weight_kind kind = info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    *self = (wishes){.kernels = &program->cpu[kind], .gas = info->kind == TD_KIND_GAS};
    self->prioritised = self->kernels->schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations;
    self->keeps_edges = self->kernels->edge != NULL;
    self->subgraph_given = is_given(options->settings, "stream.subgraph");
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "variant", &self->variant));
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "low", &self->low));
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "subgraph", &self->subgraph));
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "prefix", &self->prefix));
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "delta", &self->delta));
    TD_CHECK(td_settings_number(options->settings, "stream", td_stream_settings, "heavy", &self->heavy));
    return td_settings_number(options->settings, "stream", td_stream_settings, "lists", &self->lists);
}

/* Programs that look at the beginnings of lists first. */
static bool uses_beginnings(const wishes *self)
{
    return self->kernels->first_hit || self->kernels->samples || self->prioritised;
}

static td_list_order choose_order(const wishes *self, const td_graph *graph, uint64_t edge_bytes)
{
    td_machine machine;
    td_memory_stats memory = td_memory();
    if (self->keeps_edges || self->variant != TD_STREAM_FULL) return TD_LISTS_STORED;
    if (self->lists > 0) return (td_list_order)((int)self->lists - 1);
    if (!uses_beginnings(self) || self->prefix == 0) return TD_LISTS_STORED;
    td_machine_describe(&machine);
    uint64_t room = memory.budget > 0 ? memory.budget - (memory.now < memory.budget ? memory.now : memory.budget) : machine.memory_free;
    if (2 * edge_bytes > room) return TD_LISTS_STORED; /* a copy of the lists would crowd out everything else */
    if (self->prioritised) return graph->weights != TD_WEIGHT_NONE ? TD_LISTS_LIGHT : TD_LISTS_STORED;
    return TD_LISTS_HOT;
}

/* How the room for edges is spent. */
static td_status spend(const wishes *self, td_stream_shape *shape, uint64_t room, uint64_t edge_bytes, uint64_t list_edges)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    bool pushes = self->gas && self->kernels->fused;
    const uint64_t fewest = self->gas && !pushes ? TD_GPU_TILE : LEAST_EDGES; /* sums are made piece by piece */
    uint64_t edges = fewest;
    bool extracts = pushes && (self->variant == TD_STREAM_LVSP || (self->variant == TD_STREAM_FULL && self->low <= TD_LOW_EXTRACT));
    bool needs = extracts && (self->variant == TD_STREAM_LVSP || self->low == TD_LOW_EXTRACT);
    while (2 * edges * edge_bytes <= self->subgraph) edges *= 2;
    while (!self->subgraph_given && edges > fewest && room < WANTED_SLOTS * edges * edge_bytes) edges /= 2;
    uint64_t slot = edges * edge_bytes, least = (LEAST_SLOTS + (needs ? CHUNKS : 0)) * slot;
    if (room < least)
        return td_fail(TD_NO_MEMORY,
                       "the stream engine needs room for %d subgraphs of %s%s on the device, %s at least, and there are %s for edges; raise "
                       "--gpu-edges or --gpu-memory%s", LEAST_SLOTS, td_format_size(a, slot), needs ? " and two chunks" : "",
                       td_format_size(b, least), td_format_size(c, room),
                       edges > fewest ? ", or make subgraphs smaller (--set stream.subgraph=...)" : "");
    if (list_edges >> 1 >= (UINT64_C(1) << 31) * edges)
        return td_fail(TD_LIMIT, "stream.subgraph=%s cuts %llu edges into more than 2^31 subgraphs; make them larger",
                       td_format_size(a, slot), (unsigned long long)list_edges);
    shape->slot_edges = edges;
    shape->chunks = needs || (extracts && room >= WANTED_SLOTS * slot) ? CHUNKS : 0;
    uint64_t kept = (shape->chunks + (room >= WANTED_SLOTS * slot ? PREFIX_SLOTS : LEAST_SLOTS)) * slot, spare = room > kept ? room - kept : 0;
    double share = self->variant != TD_STREAM_FULL || (self->gas ? !pushes : !self->kernels->samples) ? 0
                   : self->prefix >= 0 ? self->prefix : uses_beginnings(self) ? 1 : 0;
    shape->prefix_bytes = (uint64_t)(share * (double)spare);
    shape->slots = (room - shape->prefix_bytes) / slot - shape->chunks;
    uint64_t subgraphs = (list_edges + edges - 1) / edges;
    if (shape->slots > subgraphs && subgraphs >= LEAST_SLOTS) shape->slots = subgraphs;
    return TD_OK;
}

td_status td_stream_plan(const td_program *program, const td_graph *graph, const td_run_options *options, uint64_t device_free,
                         td_stream_bytes *out, td_stream_shape *shape)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    td_resident_bytes need;
    wishes self;
    TD_CHECK(read_wishes(&self, program, graph, options));
    TD_CHECK(td_resident_count_bytes(program, graph, options, &need));
    uint64_t n = graph->vertices, lists = need.lists, list_edges = lists == 0 ? 0 : need.edges / lists / need.edge_bytes;
    *shape = (td_stream_shape){.weighted = need.edge_bytes > sizeof(uint32_t), .both = need.both, .pushes = need.pushes, .pulls = need.pulls,
                               .upper = self.kernels->once && graph->symmetric};
    out->edges = need.edges;
    uint64_t bitmaps = 5 * ((n + 31) / 32) * sizeof(uint32_t), counters = (list_edges / LEAST_EDGES + 1) * sizeof(uint64_t);
    uint64_t pieces = (list_edges / TD_GPU_WARP_PIECE + list_edges / (uint64_t)self.heavy + 2) * sizeof(uint64_t);
    out->vertices = need.graph - need.edges + need.program + pieces + (n + 1) * 3 * sizeof(uint64_t) + bitmaps + counters;
    uint64_t room = device_free > out->vertices ? device_free - out->vertices : 0;
    double cap = options->gpu_edges;
    uint64_t allowed = cap <= 0 ? UINT64_MAX : cap <= 1 ? (uint64_t)(cap * (double)need.edges) : (uint64_t)cap;
    out->all = need.edges <= allowed && need.graph + need.program <= device_free;
    out->on_device = out->all ? need.edges : room < allowed ? room : allowed;
    if (out->all) return TD_OK;
    if (device_free < out->vertices)
        return td_fail(TD_NO_MEMORY, "%s keeps %s of vertices' arrays on the device, besides two subgraphs, and %s are free; --engine cpu "
                                     "needs no GPU memory", program->info->name, td_format_size(a, out->vertices), td_format_size(b, device_free));
    shape->order = choose_order(&self, graph, need.edges);
    if (self.prioritised && shape->order == TD_LISTS_LIGHT) shape->light = self.delta > 0 ? self.delta : td_resident_delta(graph);
    TD_CHECK(spend(&self, shape, out->on_device, need.edge_bytes, list_edges));
    bool copies = shape->both || shape->order != TD_LISTS_STORED;
    out->host = (copies ? need.edges : 0) + (shape->both ? (n + 1) * sizeof(uint64_t) : 0) + shape->prefix_bytes +
                (shape->chunks > 0 ? shape->chunks * shape->slot_edges * need.edge_bytes + (n + 1) * sizeof(uint64_t) : 0);
    return TD_OK;
}
