/* What a run of the stream engine takes, and how the device memory for edges is spent: slots for whole subgraphs,
 * chunks for extracted lists, and the beginnings of all lists. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

enum { LEAST_SLOTS = 2, CHUNKS = 2, WANTED_SLOTS = 8, LEAST_EDGES = 32 };
enum { PREFIX_SLOTS = 4 }; /* left beside beginnings: fewer, and copies wait for kernels */

/* What the settings and the program say. */
typedef struct wishes {
    const td_cpu_kernels *kernels;
    bool gas, prioritised, keeps_edges, keeps_survivors, subgraph_given;
    bool changes;       /* are told: stream_changes.c */
    bool pushes, sums;  /* gas: lists are told along, or added up along, all of them */
    uint64_t workers;
    uint64_t held;      /* bytes of cached layouts at the host, for this run or to be given back */
    double variant, low, subgraph, prefix, lists, delta, heavy, direction, survivors, compress, words;
} wishes;

/* A weight and a number of an edge (td_gpu_edge). */
static bool fit_a_word(const td_graph *graph)
{
    return graph->weights == TD_WEIGHT_NONE ||
           graph->edges <= UINT64_C(1) << (64 - 8 * td_weight_bytes(graph->weights));
}

static td_status read_wishes(wishes *self, const td_program *program, const td_graph *graph,
                             const td_run_options *options)
{
    const td_program_info *info = program->info;
    td_weight_kind kind = info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    *self = (wishes){.kernels = &program->cpu[kind], .gas = info->kind == TD_KIND_GAS};
    self->prioritised = self->kernels->schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations;
    self->changes = td_streaming_tells_changes(program, options->mode);
    self->pushes = self->gas && (self->kernels->fused || self->changes);
    self->sums = self->gas && !self->pushes;
    self->keeps_edges = self->kernels->edge != NULL;
    self->workers = (uint64_t)td_pool_threads(options->pool);
    self->held = options->cache != NULL ? td_cache_bytes(options->cache) : 0;
    self->subgraph_given = td_settings_given(options->settings, "stream.subgraph");
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &self->variant));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "low", &self->low));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "subgraph", &self->subgraph));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "prefix", &self->prefix));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "delta", &self->delta));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "heavy", &self->heavy));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "direction", &self->direction));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "survivors", &self->survivors));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "compress", &self->compress));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "words", &self->words));
    self->keeps_survivors = self->kernels->light_first && self->variant == TD_STREAMING_FULL && self->survivors == 0 &&
                            !options->has_iterations && fit_a_word(graph);
    return td_settings_number(options->settings, "stream", td_streaming_settings, "lists", &self->lists);
}

/* Programs that look at the beginnings of lists first: all that can go on with part of a list. Peeling has so many
 * rounds that a second one for the rest of the lists costs more than it saves (docs/lab/stream.md). */
static bool uses_beginnings(const wishes *self)
{
    return self->kernels->samples || (self->pushes && self->kernels->schedule != TD_SCHEDULE_PEEL);
}

/* Whether the host has room for so many bytes more and would not be crowded. */
static bool host_has(const wishes *self, uint64_t bytes)
{
    td_memory_stats memory = td_memory();
    uint64_t left = memory.now < memory.budget ? memory.budget - memory.now : 0;
    return bytes <= ((memory.budget > 0 ? left : td_machine_memory_free()) + self->held) / 2;
}

static td_list_order choose_order(const wishes *self, const td_graph *graph, uint64_t copies)
{
    td_list_order order = TD_LISTS_STORED;
    if (self->keeps_edges || self->variant != TD_STREAMING_FULL) return TD_LISTS_STORED;
    if (self->lists > 0) return (td_list_order)((int)self->lists - 1);
    if (!uses_beginnings(self) || self->prefix == 0) return TD_LISTS_STORED;
    if (self->prioritised && graph->weights != TD_WEIGHT_NONE) order = TD_LISTS_LIGHT;
    if (self->kernels->samples) order = TD_LISTS_HOT; /* of first hits it spares too little (docs/lab/stream.md) */
    uint64_t meanwhile = td_lists_order_bytes(graph, graph->edges, order, (int)self->workers);
    return host_has(self, copies + meanwhile) ? order : TD_LISTS_STORED;
}

/* Every edge crosses in every iteration of a sum, and once when survivors are found: a copy in fewer bits pays. For
 * changes it saves bytes, but kernels that read beginnings there and the rest directly take less time
 * (docs/lab/stream.md). */
static uint64_t choose_narrow(const wishes *self, uint64_t bytes)
{
    bool asked = self->compress == 1;
    bool wanted = asked || (self->compress == 0 && (self->sums || self->keeps_survivors));
    if (!wanted || self->variant != TD_STREAMING_FULL || !host_has(self, bytes)) return TD_NARROW_NO;
    return asked ? TD_NARROW_ASKED : TD_NARROW_YES;
}

/* A copy of the lists that is made anyway has weights in the words of their targets, where they find room there. */
static uint64_t choose_weight_bits(const wishes *self, const td_graph *graph, const td_streaming_shape *shape)
{
    bool copied = shape->order != TD_LISTS_STORED || shape->both;
    bool wanted = self->words == 0 && self->pushes && self->kernels->fused && shape->weighted && !shape->narrows;
    return wanted && copied ? td_streaming_weight_bits(graph) : 0;
}

static uint64_t edge_bytes(const td_gpu_bytes *need, const td_streaming_shape *shape)
{
    return shape->weight_bits > 0 ? sizeof(uint32_t) : need->edge_bytes;
}

static uint64_t kept_bytes(const td_streaming_shape *shape)
{
    return shape->kept_edges == 0 ? 0 : (shape->kept_edges + td_streaming_aside(shape->kept_edges)) * sizeof(td_gpu_edge);
}

/* Room for single edges, and for a sixteenth of them to be put aside. */
static void spend_on_kept(const wishes *self, td_streaming_shape *shape, uint64_t spare, uint64_t list_edges)
{
    uint64_t edges = spare / sizeof(td_gpu_edge), most = shape->upper ? list_edges / 2 : list_edges;
    if (edges < 32) return;
    edges = (edges - 1) / 17 * 16;
    shape->kept_edges = edges < most ? edges : most;
    shape->light_first = shape->kept_edges > 0 && host_has(self, shape->kept_edges * sizeof(td_gpu_edge));
}

/* How much of what slots leave is for beginnings. */
static double share_of_beginnings(const wishes *self, const td_streaming_shape *shape)
{
    bool can = self->gas ? self->pushes : self->kernels->samples;
    bool wants = uses_beginnings(self) && !(self->changes && shape->narrows); /* slots hold more of narrow lists */
    if (self->variant != TD_STREAMING_FULL || !can) return 0;
    return self->prefix >= 0 ? self->prefix : wants ? 1 : 0;
}

/* A subgraph is as large as was asked for, and by itself no larger than leaves room for some. Beside beginnings few
 * cross whole: there slots are to take a sixteenth of the room, but copies want 8 MB (docs/lab/stream.md). */
static uint64_t choose_slot_edges(const wishes *self, uint64_t room, uint64_t edge, uint64_t fewest, bool begins)
{
    const uint64_t beside = 16 * (PREFIX_SLOTS + CHUNKS), least = 8 << 20;
    uint64_t edges = fewest;
    while (2 * edges * edge <= self->subgraph) edges *= 2;
    if (self->subgraph_given) return edges;
    while (begins && edges * edge >= 2 * least && room < beside * edges * edge) edges /= 2;
    while (edges > fewest && room < WANTED_SLOTS * edges * edge) edges /= 2;
    return edges;
}

/* Beginnings are equally long: the room that they leave is for slots. A graph of which only the counts are known, as
 * for 'tandem info', has no lengths to look at. */
static td_status fit_prefix(td_streaming_shape *shape, const td_graph *graph, uint64_t edge)
{
    uint64_t edges;
    uint32_t most;
    bool second = td_streaming_has_two(graph, shape) && shape->pulls_beginnings;
    if (shape->prefix_bytes == 0 || graph->out.offsets == NULL || graph->in.offsets == NULL) return TD_OK;
    TD_CHECK(td_streaming_fit_prefix(graph, td_streaming_degree_of(graph, shape, second), shape->prefix_bytes / edge,
                                     &most, &edges));
    shape->prefix_bytes = edges * edge;
    return TD_OK;
}

/* How the room for edges is spent. */
static td_status spend(const wishes *self, td_streaming_shape *shape, uint64_t room, uint64_t edge, uint64_t list_edges,
                       const td_graph *graph)
{
    uint64_t vertices = graph->vertices;
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES], d[TD_NUMBER_BYTES];
    const uint64_t fewest = self->sums ? TD_GPU_TILE : LEAST_EDGES; /* sums are made piece by piece */
    double share = share_of_beginnings(self, shape);
    bool begins = share > 0.5 && share * (double)room / (double)edge >= (double)vertices;
    uint64_t edges = choose_slot_edges(self, room, edge, fewest, begins);
    bool extracts = self->pushes && (self->variant == TD_STREAMING_LVSP ||
                               (self->variant == TD_STREAMING_FULL && self->low <= TD_LOW_EXTRACT));
    bool needs = extracts && (self->variant == TD_STREAMING_LVSP || self->low == TD_LOW_EXTRACT);
    uint64_t slot = edges * edge, least = (LEAST_SLOTS + (needs ? CHUNKS : 0)) * slot;
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_EDGES, .needed = least, .allowed = room,
                          .minimum_known = true};
    if (room < least)
        return td_refuse(&refusal,
                         "the stream engine needs room for %d subgraphs of %s%s on the device, %s at least, and there "
                         "are %s for edges; raise --gpu-edges or --gpu-memory%s%s", LEAST_SLOTS,
                         td_format_size(a, slot), needs ? " and two chunks" : "", td_format_least(b, least),
                         td_format_size(c, room),
                         edges > fewest ? ", or make subgraphs smaller with stream.subgraph, now " : "",
                         edges > fewest ? td_format_size(d, (uint64_t)self->subgraph) : "");
    if (list_edges / edges >= INT32_MAX)
        return td_fail(TD_LIMIT, "stream.subgraph=%s cuts %llu edges into more than 2^31 subgraphs; make them larger",
                       td_format_size(a, slot), (unsigned long long)list_edges);
    shape->slot_edges = edges;
    shape->chunks = needs || (extracts && room >= WANTED_SLOTS * slot) ? CHUNKS : 0;
    uint64_t kept = (shape->chunks + (room >= WANTED_SLOTS * slot ? PREFIX_SLOTS : LEAST_SLOTS)) * slot;
    uint64_t spare = room > kept ? room - kept : 0;
    shape->prefix_bytes = (uint64_t)(share * (double)spare);
    if (shape->prefix_bytes / edge < vertices) shape->prefix_bytes = 0; /* not an edge for everyone */
    TD_CHECK(fit_prefix(shape, graph, edge));
    if (self->keeps_survivors) spend_on_kept(self, shape, spare, list_edges);
    shape->slots = (room - shape->prefix_bytes - kept_bytes(shape)) / slot - shape->chunks;
    uint64_t subgraphs = (list_edges + edges - 1) / edges;
    if (shape->slots > subgraphs && subgraphs >= LEAST_SLOTS) shape->slots = subgraphs;
    return TD_OK;
}

/* Which lists there are: what is told along, and what is gathered along. */
static void choose_lists(const wishes *self, const td_graph *graph, const td_run_options *options,
                         td_streaming_shape *shape)
{
    bool hits = self->kernels->first_hit && options->mode != TD_MODE_ASYNC && self->direction != 2;
    shape->pushes = !self->gas || self->pushes;
    shape->pulls = self->gas && (self->sums || hits || options->parents);
    shape->pulls_beginnings = hits;
    shape->upper = self->kernels->once && graph->symmetric;
}

static td_status read_plan(wishes *self, const td_program *program, const td_graph *graph,
                           const td_run_options *options, td_gpu_bytes *need, td_streaming_shape *shape)
{
    TD_CHECK(read_wishes(self, program, graph, options));
    TD_CHECK(td_gpu_count_bytes(program, graph, options, &td_gpu_default_choice, need));
    *shape = (td_streaming_shape){.weighted = need->edge_bytes > sizeof(uint32_t), .both = need->both};
    choose_lists(self, graph, options, shape);
    return td_gpu_check_vertices(graph, "stream");
}

static uint64_t besides_edges(const td_gpu_memory *taken)
{
    return taken->bytes[TD_FOR_LISTS] + taken->bytes[TD_FOR_PROGRAM];
}

td_status td_streaming_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t device_free, td_streaming_bytes *out, td_streaming_shape *shape)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    td_gpu_bytes need;
    wishes self;
    td_gpu_memory taken;
    double cap = options->gpu_edges;
    TD_CHECK(read_plan(&self, program, graph, options, &need, shape));
    uint64_t lists = shape->both || graph->symmetric ? 1 : (uint64_t)shape->pushes + shape->pulls;
    out->edges = lists * need.list_edges * need.edge_bytes;
    uint64_t allowed = cap <= 0 ? UINT64_MAX : cap <= 1 ? (uint64_t)(cap * (double)out->edges) : (uint64_t)cap;
    bool uncapped = cap <= 0 || (cap <= 1 ? cap == 1 : need.edges <= allowed);
    out->all = uncapped && need.graph + need.program <= device_free;
    out->vertices = need.graph - need.edges + need.program;
    out->on_device = need.edges;
    if (out->all) return TD_OK;
    shape->order = choose_order(&self, graph, out->edges);
    if (self.prioritised && shape->order == TD_LISTS_LIGHT) shape->light = td_gpu_delta(graph, self.delta);
    /* As far as the arrays are concerned that go with it. */
    shape->prefix_bytes = uses_beginnings(&self) || self.prefix > 0 ? 1 : 0;
    shape->chunks = self.pushes ? CHUNKS : 0;
    shape->slot_edges = LEAST_EDGES;
    TD_CHECK(td_streaming_measure(program, graph, options, shape, NULL, &taken));
    out->vertices = besides_edges(&taken);
    uint64_t least = out->vertices + LEAST_SLOTS * TD_GPU_TILE * need.edge_bytes;
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = least, .allowed = device_free,
                          .minimum_known = true};
    if (device_free < out->vertices)
        return td_refuse(&refusal,
                         "%s keeps %s of vertices' arrays on the device, with two subgraphs %s at least, and %s are "
                         "free; raise --gpu-memory, or use --engine cpu, which needs none", program->info->name,
                         td_format_size(a, out->vertices), td_format_least(c, least), td_format_size(b, device_free));
    uint64_t room = device_free - out->vertices;
    out->on_device = room < allowed ? room : allowed;
    shape->narrows = choose_narrow(&self, lists * need.list_edges * sizeof(uint32_t));
    shape->weight_bits = choose_weight_bits(&self, graph, shape);
    out->edge_bytes = edge_bytes(&need, shape);
    td_status status = spend(&self, shape, out->on_device, out->edge_bytes, need.list_edges, graph);
    if (status == TD_NO_MEMORY && room < allowed) { /* not the cap on edges is too small, but the memory */
        refusal = (td_refusal){.resource = TD_RESOURCE_DEVICE_MEMORY, .allowed = device_free, .minimum_known = true,
                               .needed = out->vertices + td_last_refusal()->needed};
        td_refusal_set(&refusal);
    }
    TD_CHECK(status);
    if (shape->prefix_bytes == 0) shape->light = 0;
    if (shape->prefix_bytes == 0 && self.lists == 0 && shape->weight_bits == 0) shape->order = TD_LISTS_STORED;
    TD_CHECK(td_streaming_measure(program, graph, options, shape, NULL, &taken));
    out->on_device = taken.bytes[TD_FOR_EDGES];
    out->vertices = besides_edges(&taken);
    return TD_OK;
}
