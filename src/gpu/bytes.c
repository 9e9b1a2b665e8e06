/* What a run takes on the device, before it takes it, and whether that fits. The sizes follow arrays.c and lists.c; the
 * tests compare them with what runs really took. */
#include "gpu/bytes.h"

#include "base/size.h"
#include "base/words.h"

#include <string.h>

/* Kernels count vertices in 32 bits, up to a launch's threads past the last one. */
#define MOST_VERTICES (UINT32_MAX - (UINT32_C(1) << 22))

/* A run, as far as its sizes depend on it. */
typedef struct sizes {
    const td_cpu_kernels *kernels;
    bool gas, symmetric, both, prioritised, pulls, pushes, adds_up, shards, twice, parents;
    uint64_t vertices, list_edges, lists; /* edges of one list; how many lists */
    size_t weight_bytes;
    double heavy;
} sizes;

static td_status read_sizes(sizes *self, const td_program *program, const td_graph *graph,
                            const td_run_options *options, const td_gpu_choice *choice)
{
    double set[TD_PARAMETERS];
    const td_program_info *info = program->info;
    td_weight_kind kind = info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    const td_cpu_kernels *k = &program->cpu[kind];
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, set, NULL));
    bool resumed = k->first_hit && options->resume != NULL; /* perhaps a search that did not go by levels */
    bool async = options->mode == TD_MODE_ASYNC || resumed, automatic = choice->direction == TD_DIRECTION_AUTO;
    bool push = choice->direction == TD_DIRECTION_PUSH;
    bool forward = info->forward_choice > 0 && set[info->forward_choice - 1] == 1;
    *self = (sizes){.kernels = k, .gas = info->kind == TD_KIND_GAS, .symmetric = graph->symmetric,
                    .parents = options->parents, .heavy = (double)choice->heavy, .vertices = graph->vertices,
                    .weight_bytes = td_weight_bytes(kind)};
    self->both = k->view == TD_VIEW_BOTH && !k->once && !forward && !graph->symmetric;
    self->prioritised = k->schedule == TD_SCHEDULE_PRIORITY && automatic && !options->has_iterations;
    self->pushes = !self->gas || k->fused;
    self->pulls = self->gas && (!k->fused || (!push && !self->prioritised) || options->parents);
    self->adds_up = td_gpu_accumulates(k, self->pulls, self->prioritised, async);
    self->shards = self->adds_up && choice->shards;
    self->twice = self->gas && !k->fused && options->mode != TD_MODE_ASYNC;
    self->list_edges = graph->edges * (self->both ? 2 : 1);
    self->lists = self->both || graph->symmetric ? 1 : (uint64_t)self->pulls + self->pushes;
    return TD_OK;
}

static uint64_t word_bytes(const sizes *self) { return (self->vertices + 31) / 32 * sizeof(uint32_t); }

/* Where the lists begin: a bit per edge, the vertices that have one, a number per piece. */
static uint64_t head_bytes(const sizes *self)
{
    uint64_t pieces = (self->list_edges + TD_GPU_TILE - 1) / TD_GPU_TILE,
             words = self->list_edges / 32 + TD_GPU_TILE / 32;
    return self->adds_up && !self->shards ? (words + self->vertices + pieces) * sizeof(uint32_t) : 0;
}

static uint64_t sum_bytes(const sizes *self)
{
    return self->adds_up && !self->shards ? self->vertices * self->kernels->accum_bytes : 0;
}

static uint64_t piece_bytes(const sizes *self)
{
    return (self->list_edges / TD_GPU_WARP_PIECE + self->list_edges / (uint64_t)self->heavy + 2) * sizeof(uint64_t);
}

static uint64_t edge_bytes(const sizes *self)
{
    return self->lists * self->list_edges * (sizeof(uint32_t) + self->weight_bytes);
}

static uint64_t graph_bytes(const sizes *self)
{
    bool degrees = self->both || (!self->pushes && !self->symmetric); /* the out-lists' offsets besides */
    uint64_t bytes = edge_bytes(self) + (self->lists + degrees) * (self->vertices + 1) * sizeof(uint64_t);
    if (self->shards) bytes += self->list_edges * sizeof(uint16_t) + (self->vertices / 64 + 1) * sizeof(td_gpu_shard);
    return bytes + head_bytes(self);
}

static uint64_t value_bytes(const sizes *self)
{
    const td_cpu_kernels *k = self->kernels;
    uint64_t each = k->value_bytes + (self->parents ? sizeof(uint32_t) : 0);
    if (self->gas && k->sends_value) each += self->twice ? k->value_bytes : 0;
    else if (self->gas) each += k->message_bytes * (self->twice ? 2 : 1);
    return self->vertices * each;
}

static uint64_t frontier_bytes(const sizes *self)
{
    const td_cpu_kernels *k = self->kernels;
    uint64_t queues = 2 + (k->first_hit ? 1 : 0) + (k->schedule == TD_SCHEDULE_PEEL ? 2 : 0) +
                      (self->prioritised ? 2 : 0);
    if (!self->gas) return 0;
    if (!k->fused) return word_bytes(self);
    return piece_bytes(self) + queues * self->vertices * sizeof(uint32_t) +
           (self->prioritised ? 3 : 2) * word_bytes(self);
}

static uint64_t sweep_bytes(const sizes *self)
{
    const td_cpu_kernels *k = self->kernels;
    if (self->gas) return 0;
    uint64_t each = (k->edge != NULL ? sizeof(uint64_t) : 0) +
                    (k->value_bytes != sizeof(uint32_t) ? sizeof(uint32_t) : 0);
    return piece_bytes(self) + TD_GPU_DRAWN * sizeof(uint32_t) + self->vertices * each;
}

/* What loading holds for a while: both lists of every vertex as one, then what says where lists begin. */
static uint64_t host_bytes(const sizes *self)
{
    uint64_t both = self->both ? self->list_edges * (sizeof(uint32_t) + self->weight_bytes) +
                                     (self->vertices + 1) * sizeof(uint64_t)
                               : 0;
    uint64_t begins = self->shards ? self->list_edges * sizeof(uint16_t) : head_bytes(self);
    return both > begins ? both : begins;
}

td_status td_gpu_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, td_gpu_bytes *out)
{
    sizes self;
    TD_CHECK(read_sizes(&self, program, graph, options, choice));
    out->graph = graph_bytes(&self);
    out->edges = edge_bytes(&self);
    out->host = host_bytes(&self);
    out->list_edges = self.list_edges;
    out->edge_bytes = sizeof(uint32_t) + self.weight_bytes;
    out->offsets = (self.vertices + 1) * sizeof(uint64_t);
    out->heads = head_bytes(&self);
    out->sums = sum_bytes(&self);
    out->pieces = self.gas && !self.kernels->fused ? 0 : piece_bytes(&self);
    out->both = self.both;
    out->program = sizeof(td_gpu_control) + value_bytes(&self) + frontier_bytes(&self) + sweep_bytes(&self) +
                   sum_bytes(&self) + td_run_input_bytes(program, graph, options);
    return TD_OK;
}

/* A share is one of what the engine would keep, so that 100% is no cap. */
static td_status check_edges(const td_run_options *options, uint64_t needed, const td_device *device)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    double cap = options->gpu_edges;
    uint64_t allowed = cap <= 1 ? (uint64_t)(cap * (double)needed) : (uint64_t)cap;
    if (cap <= 0 || needed <= allowed) return TD_OK;
    td_refusal refusal = td_device_refusal(device, needed, allowed);
    refusal.resource = TD_RESOURCE_DEVICE_EDGES;
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "the resident engine keeps all edges on %s: %s, and --gpu-edges allows %s; --engine stream keeps a "
                     "part of them there",
                     device->name, td_format_size(a, needed), td_format_size(b, allowed));
}

static td_status too_large(const td_program *program, const td_gpu_bytes *need, const td_device *device, uint64_t room)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    bool capped = device->budget > 0;
    td_refusal refusal = td_device_refusal(device, need->graph + need->program, room);
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "%s needs %s on %s for the graph and %s for its own arrays, and %s are free%s%s; --engine stream "
                     "keeps the edges at the host, --engine cpu everything",
                     program->info->name, td_format_size(a, need->graph), device->name,
                     td_format_size(b, need->program), td_format_size(c, room), capped ? " under " : "",
                     capped ? td_word("--gpu-memory") : "");
}

td_status td_gpu_check_vertices(const td_graph *graph, const char *engine)
{
    if (graph->vertices <= MOST_VERTICES) return TD_OK;
    return td_fail(TD_LIMIT, "the %s engine takes up to %u vertices, and the graph has %u; --engine cpu runs it",
                   engine, MOST_VERTICES, graph->vertices);
}

td_status td_gpu_check_fit(const td_program *program, const td_gpu_bytes *need, const td_run_options *options,
                           const td_device *device)
{
    uint64_t room = td_device_left(device) + device->now; /* what is cached there makes way */
    TD_CHECK(check_edges(options, need->edges, device));
    if (need->graph + need->program <= room) return TD_OK;
    return too_large(program, need, device, room);
}
