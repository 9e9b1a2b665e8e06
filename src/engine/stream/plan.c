/* States the memory of a run and divides the device memory for edges among slots for whole subgraphs, chunks for
 * extracted lists, and the resident prefix. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "store/checks.h"

#include <math.h>
#include <string.h>

enum { LEAST_SLOTS = 2, CHUNKS = 2, WANTED_SLOTS = 8, LEAST_EDGES = 32 };
enum { PREFIX_SLOTS = 4 }; /* slots left beside a prefix; with fewer, copies wait for kernels */

/* What the settings and the program ask for. */
typedef struct request {
    const td_cpu_kernels *kernels;
    bool gas, prioritised, collects_edges, uses_survivors, subgraph_given;
    bool changes;       /* pushes changes instead of values (changes.c) */
    bool differences;   /* accumulating program with active vertices (differences.c) */
    bool peels_at_once; /* stream.kcore=peel */
    bool mixes;         /* stream.activity=mixed */
    bool pushes, sums;  /* gas: pushes along lists; accumulates along all lists */
    td_pool *pool;
    uint64_t workers;
    uint64_t cached;    /* host memory of cached layouts, which this run reuses or frees */
    bool prepared;      /* lists are read from files beside the graph */
    bool spares;        /* the graph's own are not in memory, so that the run's take no more than those would */
    double variant, low, subgraph, prefix, list_order, delta, high_degree, direction, survivors, compress, pack,
        prepared_files;
} request;

/* Whether a weight and an edge number fit in 64 bits (td_gpu_edge). */
static bool fit_a_word(const td_graph *graph)
{
    return graph->weights == TD_WEIGHT_NONE ||
           graph->edges <= UINT64_C(1) << (64 - 8 * td_weight_bytes(graph->weights));
}

static td_status read_request(request *self, const td_program *program, const td_graph *graph,
                             const td_run_options *options)
{
    const td_program_info *info = program->info;
    td_weight_kind kind = info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    *self = (request){.kernels = &program->cpu[kind], .gas = info->kind == TD_KIND_GAS};
    self->changes = td_streaming_pushes_changes(program, options->mode);
    self->differences = td_streaming_pushes_differences(program, options->mode, options->settings);
    self->peels_at_once = td_streaming_peels_at_once(program, options);
    self->mixes = td_streaming_asks_to_mix(options->settings);
    self->pushes = self->gas && (self->kernels->fused || self->changes || self->differences);
    self->sums = self->gas && !self->pushes;
    self->collects_edges = self->kernels->edge != NULL;
    self->pool = options->pool;
    self->workers = (uint64_t)td_pool_threads(options->pool);
    self->cached = options->cache != NULL ? td_cache_bytes(options->cache) : 0;
    self->subgraph_given = td_settings_given(options->settings, "stream.subgraph");
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &self->variant));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "low", &self->low));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "subgraph", &self->subgraph));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "prefix", &self->prefix));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "delta", &self->delta));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "high_degree", &self->high_degree));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "direction", &self->direction));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "survivors", &self->survivors));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "compress", &self->compress));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "pack", &self->pack));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "prepared", &self->prepared_files));
    self->prioritised = self->kernels->schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations &&
                        self->variant != TD_STREAMING_SCAPH;
    if (self->variant == TD_STREAMING_SCAPH) self->direction = 2; /* no pulls */
    self->uses_survivors = self->kernels->light_first && self->variant == TD_STREAMING_FULL && self->survivors == 0 &&
                           self->low != TD_LOW_EXTRACT && !options->has_iterations && fit_a_word(graph);
    return td_settings_number(options->settings, "stream", td_streaming_settings, "list_order", &self->list_order);
}

/* Programs that can process part of a list use the prefix. Peeling level by level does not: it has so many rounds that
 * a second one for the rest of the lists costs more than it saves (docs/lab/stream.md). In one launch both parts of a
 * list belong to one round. */
static bool uses_prefix(const request *self)
{
    bool levels = self->kernels->schedule == TD_SCHEDULE_PEEL && !self->peels_at_once;
    return self->kernels->samples || (self->pushes && !levels);
}

static uint64_t half_of_free(uint64_t cached)
{
    td_memory_stats memory = td_memory();
    uint64_t left = memory.now < memory.budget ? memory.budget - memory.now : 0;
    return ((memory.budget > 0 ? left : td_machine_memory_free()) + cached) / 2;
}

/* Whether so many more bytes take at most half of the free host memory; prepared lists take none. */
static bool host_has(const request *self, uint64_t bytes)
{
    return self->spares || bytes <= half_of_free(self->cached);
}

static td_list_order choose_order(const request *self, const td_graph *graph, uint64_t copies)
{
    td_list_order order = TD_LISTS_STORED;
    if (self->collects_edges || self->variant != TD_STREAMING_FULL) return TD_LISTS_STORED;
    if (self->list_order > 0) return (td_list_order)((int)self->list_order - 1);
    if (!uses_prefix(self) || self->prefix == 0) return TD_LISTS_STORED;
    if (self->prioritised && graph->weights != TD_WEIGHT_NONE) order = TD_LISTS_LIGHT;
    if (self->kernels->samples) order = TD_LISTS_HOT; /* for first-hit programs it saves too little
                                                       * (docs/lab/stream.md) */
    uint64_t temporary = td_lists_order_bytes(graph, graph->edges, order, self->spares, (int)self->workers);
    return host_has(self, copies + temporary) ? order : TD_LISTS_STORED;
}

/* Compression pays if every edge crosses in every iteration (accumulating programs), or once to find survivors. For
 * changes it saves bytes, but an uncompressed prefix with direct reads of the rest is faster (docs/lab/stream.md). */
static uint64_t choose_compression(const request *self, uint64_t bytes)
{
    bool asked = self->compress == 1;
    bool wanted = asked || (self->compress == 0 && (self->sums || self->uses_survivors));
    if (!wanted || self->variant != TD_STREAMING_FULL || !host_has(self, bytes)) return TD_COMPRESS_NO;
    return asked ? TD_COMPRESS_ASKED : TD_COMPRESS_YES;
}

/* If lists are copied anyway, weights are packed into the words of their targets if they fit. */
static uint64_t choose_weight_bits(const request *self, const td_graph *graph, const td_streaming_shape *shape)
{
    bool copied = shape->order != TD_LISTS_STORED || shape->both;
    bool wanted = self->pack == 0 && self->pushes && self->kernels->fused && shape->weighted && !shape->compresses;
    return wanted && copied ? td_streaming_weight_bits(graph) : 0;
}

static uint64_t edge_bytes(const td_gpu_bytes *need, const td_streaming_shape *shape)
{
    return shape->weight_bits > 0 ? sizeof(uint32_t) : need->edge_bytes;
}

static uint64_t survivor_bytes(const td_streaming_shape *shape)
{
    uint64_t edges = shape->survivor_edges;
    return edges == 0 ? 0 : (edges + td_streaming_scratch_edges(edges)) * sizeof(td_gpu_edge);
}

/* Room for survivors, and a compaction buffer of a sixteenth. */
static void spend_on_survivors(const request *self, td_streaming_shape *shape, uint64_t spare, uint64_t list_edges)
{
    uint64_t edges = spare / sizeof(td_gpu_edge), most = shape->upper ? list_edges / 2 : list_edges;
    if (edges < 32) return;
    edges = (edges - 1) / 17 * 16;
    shape->survivor_edges = edges < most ? edges : most;
    shape->light_first = shape->survivor_edges > 0 && host_has(self, shape->survivor_edges * sizeof(td_gpu_edge));
}

/* Share of the memory that slots leave for the prefix. */
static double prefix_share(const request *self, const td_streaming_shape *shape)
{
    bool can = self->gas ? self->pushes : self->kernels->samples;
    bool wants = uses_prefix(self) && !(self->changes && shape->compresses); /* slots hold more of compressed lists */
    if (self->variant != TD_STREAMING_FULL || !can) return 0;
    return self->prefix >= 0 ? self->prefix : wants ? 1 : 0;
}

/* Edges of a subgraph: as set, or small enough for several slots. Beside a prefix few subgraphs cross whole: slots take
 * a sixteenth of the room, but copies need 8 MB for the full rate (docs/lab/stream.md). */
static uint64_t choose_slot_edges(const request *self, uint64_t room, uint64_t edge, uint64_t fewest, bool has_prefix)
{
    const uint64_t beside = 16 * (PREFIX_SLOTS + CHUNKS), least = 8 << 20;
    uint64_t edges = fewest;
    while (2 * edges * edge <= self->subgraph) edges *= 2;
    if (self->subgraph_given) return edges;
    while (has_prefix && edges * edge >= 2 * least && room < beside * edges * edge) edges /= 2;
    while (edges > fewest && room < WANTED_SLOTS * edges * edge) edges /= 2;
    return edges;
}

/* Reduces prefix_bytes to a prefix of the same length for all lists; slots get the remainder. A graph of which only the
 * counts are known ('tandem info') has no lists to measure. */
static td_status fit_prefix(td_streaming_shape *shape, const td_graph *graph, uint64_t edge, td_pool *pool)
{
    uint64_t edges;
    uint32_t most;
    bool second = td_streaming_has_two(graph, shape) && shape->pulls_prefix;
    if (shape->prefix_bytes == 0 || graph->out.offsets == NULL || graph->in.offsets == NULL) return TD_OK;
    TD_CHECK(td_streaming_fit_prefix(graph, td_streaming_degree_of(graph, shape, second), shape->prefix_bytes / edge,
                                     &most, &edges, pool));
    shape->prefix_bytes = edges * edge;
    return TD_OK;
}

/* Divides the room for edges. */
static td_status spend(const request *self, td_streaming_shape *shape, uint64_t room, uint64_t edge,
                       uint64_t list_edges, const td_graph *graph)
{
    uint64_t vertices = graph->vertices;
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES], d[TD_NUMBER_BYTES];
    const uint64_t fewest = self->sums ? TD_GPU_TILE : LEAST_EDGES; /* pulls process whole tiles */
    double share = prefix_share(self, shape);
    bool has_prefix = share > 0.5 && share * (double)room / (double)edge >= (double)vertices;
    uint64_t edges = choose_slot_edges(self, room, edge, fewest, has_prefix);
    bool picks = self->variant == TD_STREAMING_LVSP || self->variant == TD_STREAMING_SCAPH;
    bool needs = !self->sums && (picks || self->low == TD_LOW_EXTRACT);
    bool extracts = needs || (self->pushes && self->variant == TD_STREAMING_FULL && self->low == TD_LOW_AUTO);
    uint64_t slot = edges * edge, least = (LEAST_SLOTS + (needs ? CHUNKS : 0)) * slot;
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_EDGES, .needed = least, .allowed = room,
                          .minimum_known = true};
    if (room < least)
        return td_refuse(&refusal,
                         "the stream engine needs %d slots of %s%s on the device, minimum %s, and "
                         "%s are available for edges; raise {gpu_edges} or {gpu_memory}%s%s", LEAST_SLOTS,
                         td_format_size(a, slot), needs ? " and two chunks" : "", td_format_least(b, least),
                         td_format_size(c, room),
                         edges > fewest ? ", or make subgraphs smaller with stream.subgraph, now " : "",
                         edges > fewest ? td_format_size(d, (uint64_t)self->subgraph) : "");
    if (list_edges / edges >= INT32_MAX)
        return td_fail(TD_LIMIT, "stream.subgraph=%s divides %llu edges into more than 2^31 subgraphs; raise it",
                       td_format_size(a, slot), (unsigned long long)list_edges);
    shape->slot_edges = edges;
    shape->chunks = needs || (extracts && room >= WANTED_SLOTS * slot) ? CHUNKS : 0;
    uint64_t reserved = (shape->chunks + (room >= WANTED_SLOTS * slot ? PREFIX_SLOTS : LEAST_SLOTS)) * slot;
    uint64_t spare = room > reserved ? room - reserved : 0;
    shape->prefix_bytes = (uint64_t)(share * (double)spare);
    if (shape->prefix_bytes / edge < vertices) shape->prefix_bytes = 0; /* less than one edge per vertex */
    TD_CHECK(fit_prefix(shape, graph, edge, self->pool));
    if (self->uses_survivors) spend_on_survivors(self, shape, spare, list_edges);
    shape->slots = (room - shape->prefix_bytes - survivor_bytes(shape)) / slot - shape->chunks;
    uint64_t subgraphs = (list_edges + edges - 1) / edges;
    if (shape->slots > subgraphs && subgraphs >= LEAST_SLOTS) shape->slots = subgraphs;
    return TD_OK;
}

/* Memory nodes matter to extraction alone. */
static td_status choose_places(const td_run_options *options, td_streaming_shape *shape, uint64_t cached, uint64_t edge,
                               uint64_t list_edges)
{
    double wanted;
    uint64_t taken;
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "duplicate", &wanted));
    if (shape->chunks > 0) shape->nodes = td_streaming_choose_nodes(options->settings);
    if (shape->nodes == TD_PLACE_HOME)
        shape->duplicate = td_streaming_fit_duplicates(td_numa_here(), list_edges, shape->slot_edges, edge, wanted,
                                                       half_of_free(cached), &taken);
    return TD_OK;
}

/* Which adjacency the run pushes along and which it pulls along. */
static void choose_lists(const request *self, const td_graph *graph, const td_run_options *options,
                         td_streaming_shape *shape)
{
    bool hits = self->kernels->first_hit && options->mode != TD_MODE_ASYNC && self->direction != 2;
    shape->pushes = !self->gas || self->pushes;
    shape->pulls = self->gas && (self->sums || hits || options->parents);
    shape->pulls_prefix = hits;
    shape->upper = self->kernels->once && graph->symmetric;
}

static td_status read_plan(request *self, const td_program *program, const td_graph *graph,
                           const td_run_options *options, td_gpu_bytes *need, td_streaming_shape *shape)
{
    TD_CHECK(read_request(self, program, graph, options));
    TD_CHECK(td_gpu_count_bytes(program, graph, options, &td_gpu_default_choice, need));
    *shape = (td_streaming_shape){.weighted = need->edge_bytes > sizeof(uint32_t), .both = need->both};
    choose_lists(self, graph, options, shape);
    return td_gpu_check_vertices(graph, "stream");
}

/* Decides the lists as if host memory and the GPU had room for all. */
static void want_lists(request *self, const td_graph *graph, td_streaming_shape *shape)
{
    self->spares = true;
    shape->slot_edges = TD_COMPRESS_GROUP;
    shape->order = choose_order(self, graph, 0);
    shape->compresses = choose_compression(self, 0);
    shape->weight_bits = choose_weight_bits(self, graph, shape);
}

td_status td_streaming_wanted(const td_program *program, const td_graph *graph, const td_run_options *options,
                              td_streaming_shape *shape)
{
    td_gpu_bytes need;
    request self;
    TD_CHECK(read_plan(&self, program, graph, options, &need, shape));
    want_lists(&self, graph, shape);
    return TD_OK;
}

/* Whether the lists that the run wants lie beside the graph. */
static bool are_prepared(const request *wanted, const td_graph *graph, const td_streaming_shape *like)
{
    request self = *wanted;
    td_streaming_shape shape = *like;
    if (self.mixes || self.prepared_files == TD_PREPARED_OFF || self.variant != TD_STREAMING_FULL) return false;
    want_lists(&self, graph, &shape);
    td_streaming_find_prepared(graph, &shape);
    return shape.prepared != 0;
}

/* Whether the run's lists are put in order as they are read from the mapped file, if there is room for a prefix. */
static bool orders_file(const request *wanted, const td_graph *graph, const td_streaming_shape *like)
{
    request self = *wanted;
    td_streaming_shape shape = *like;
    want_lists(&self, graph, &shape);
    return td_streaming_orders_file(graph, &shape);
}

static uint64_t besides_edges(const td_gpu_memory *taken)
{
    return taken->bytes[TD_FOR_LISTS] + taken->bytes[TD_FOR_PROGRAM];
}

/* Differences beside gathers take arrays of vertices; they may take an eighth of what is left for edges. */
enum { MIXING_PART = 8 };

static td_status choose_mixing(const td_program *program, const td_graph *graph, const td_run_options *options,
                               const td_gpu_bytes *need, uint64_t room, td_streaming_shape *shape, uint64_t *besides)
{
    td_gpu_memory taken;
    bool asked = td_streaming_asks_to_mix(options->settings);
    if (asked && !need->both && !graph->symmetric)
        return td_see("stream", td_fail(TD_USAGE, "stream.activity=mixed needs one list for pushes and gathers; %s of a "
                                        "directed graph has two", program->info->name));
    if (!td_streaming_mixes(program, graph, options, need->both)) return TD_OK;
    shape->mixes = 1;
    TD_CHECK(td_streaming_measure(program, graph, options, shape, NULL, &taken));
    if (asked || besides_edges(&taken) <= *besides + room / MIXING_PART) *besides = besides_edges(&taken);
    else shape->mixes = 0;
    return TD_OK;
}

td_status td_streaming_plan(const td_program *program, const td_graph *graph, const td_run_options *options,
                         uint64_t device_free, td_streaming_bytes *out, td_streaming_shape *shape)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    td_gpu_bytes need;
    request self;
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
    self.prepared = are_prepared(&self, graph, shape);
    self.spares = td_checks_pending(graph, graph->out.targets) && (self.prepared || orders_file(&self, graph, shape));
    shape->order = choose_order(&self, graph, out->edges);
    if (self.prioritised && shape->order == TD_LISTS_LIGHT) shape->light = td_gpu_delta(graph, self.delta);
    /* Any prefix needs the same arrays besides its edges. */
    shape->prefix_bytes = uses_prefix(&self) || self.prefix > 0 ? 1 : 0;
    shape->chunks = self.sums ? 0 : CHUNKS;
    shape->slot_edges = LEAST_EDGES;
    TD_CHECK(td_streaming_measure(program, graph, options, shape, NULL, &taken));
    out->vertices = besides_edges(&taken);
    uint64_t least = out->vertices + LEAST_SLOTS * TD_GPU_TILE * need.edge_bytes;
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = least, .allowed = device_free,
                          .minimum_known = true};
    if (device_free < out->vertices)
        return td_refuse(&refusal,
                         "%s has %s of vertex arrays on the device, with two subgraphs minimum %s, and %s are "
                         "free; raise {gpu_memory}, or use {engine} cpu", program->info->name,
                         td_format_size(a, out->vertices), td_format_least(c, least), td_format_size(b, device_free));
    if (!self.prepared) /* prepared lists are compressed: nothing to push along */
        TD_CHECK(choose_mixing(program, graph, options, &need, device_free - out->vertices, shape, &out->vertices));
    uint64_t room = device_free - out->vertices;
    out->on_device = room < allowed ? room : allowed;
    shape->compresses = choose_compression(&self, lists * need.list_edges * sizeof(uint32_t));
    shape->weight_bits = choose_weight_bits(&self, graph, shape);
    out->edge_bytes = edge_bytes(&need, shape);
    td_status status = spend(&self, shape, out->on_device, out->edge_bytes, need.list_edges, graph);
    if (status == TD_NO_MEMORY && room < allowed) { /* the device's memory is too small, not the limit on edges */
        refusal = (td_refusal){.resource = TD_RESOURCE_DEVICE_MEMORY, .allowed = device_free, .minimum_known = true,
                               .needed = out->vertices + td_last_refusal()->needed};
        td_refusal_set(&refusal);
    }
    TD_CHECK(status);
    TD_CHECK(choose_places(options, shape, self.cached, out->edge_bytes, need.list_edges));
    if (shape->prefix_bytes == 0) shape->light = 0;
    if (shape->prefix_bytes == 0 && self.list_order == 0 && shape->weight_bits == 0) shape->order = TD_LISTS_STORED;
    if (self.prepared) td_streaming_find_prepared(graph, shape);
    TD_CHECK(td_streaming_measure(program, graph, options, shape, NULL, &taken));
    out->on_device = taken.bytes[TD_FOR_EDGES];
    out->vertices = besides_edges(&taken);
    return TD_OK;
}
