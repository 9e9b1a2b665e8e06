/* The graph on the device: the lists that a run needs are loaded once and cached (td_run_options.cache). The undirected
 * view of a directed graph is one list per vertex, joined from both, so that kernels process one kind of list. */
#include "gpu/lists.h"

#include "base/alloc.h"
#include "gpu/transfer.h"
#include "layout/lists.h"
#include "store/checks.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Opening and closing. */

static void free_list(td_gpu_graph *layout, td_gpu_adjacency *list)
{
    td_device_free(layout->device, list->offsets);
    td_device_free(layout->device, list->targets);
    td_device_free(layout->device, list->weights);
    td_gpu_free_head_arrays(layout->device, &list->heads);
    *list = (td_gpu_adjacency){0};
}

static void free_shards(td_gpu_graph *layout)
{
    td_device_free(layout->device, layout->shards);
    td_device_free(layout->device, layout->shard_targets);
    layout->shards = layout->shard_targets = NULL;
    layout->shard_of = NULL;
}

void td_gpu_graph_release(void *state)
{
    td_gpu_graph *layout = state;
    if (layout == NULL) return;
    if (layout->device != NULL) {
        free_list(layout, &layout->out);
        free_list(layout, &layout->in);
        free_list(layout, &layout->both);
        free_list(layout, &layout->tails);
        free_shards(layout);
    }
    td_stream_close(layout->stream);
    td_free(layout);
}

static td_status open_stream(void *state, td_device *device)
{
    td_gpu_graph *layout = state;
    layout->device = device;
    return td_stream_open(device, &layout->stream);
}

const td_gpu_layout_kind td_gpu_graph_layout_kind = {"resident", sizeof(td_gpu_graph), open_stream,
                                                     td_gpu_graph_release, false};

/* Lists. */

void td_gpu_choose_lists(td_gpu_job *job)
{
    td_gpu_graph *layout = job->layout;
    bool gas = td_gpu_is_gas(job), fused = job->traits->fused, push = !gas || fused;
    bool pushes = job->direction == TD_DIRECTION_PUSH || job->prioritised || job->cores != TD_CORES_ROUNDS;
    bool pull = gas && (!fused || !pushes || job->options->parents);
    job->push = !push ? NULL : job->both ? &layout->both : &layout->out;
    job->pull = !pull ? NULL : job->both ? &layout->both : job->graph->symmetric ? &layout->out : &layout->in;
    job->accumulates = td_gpu_accumulates(job->traits, pull, job->prioritised, job->run->async);
}

/* The arrays of a list that the run needs and the device lacks. */
typedef struct missing {
    bool offsets, targets, weights;
} missing;

static missing find_missing(const td_gpu_job *job, const td_gpu_adjacency *list, bool targets)
{
    return (missing){.offsets = list->offsets == NULL, .targets = targets && list->targets == NULL,
                     .weights = targets && td_gpu_weight_bytes(job) > 0 && list->weights == NULL};
}

static td_status declare_list(td_gpu_job *job, td_gpu_adjacency *list, const missing *of, uint64_t edges)
{
    td_gpu_memory *memory = &job->memory;
    uint64_t n = job->graph->vertices;
    if (of->offsets)
        TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &list->offsets, n + 1, sizeof(uint64_t), "the graph's offsets"));
    if (of->targets)
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &list->targets, edges, sizeof(uint32_t), "the graph's edges"));
    if (!of->weights) return TD_OK;
    return td_gpu_declare(memory, TD_FOR_EDGES, &list->weights, edges, td_gpu_weight_bytes(job), "the graph's weights");
}

/* `targets`: load the edges too, not only the offsets. */
static td_status load_list(td_gpu_job *job, td_gpu_adjacency *list, const td_adjacency *from, uint64_t edges,
                           bool targets)
{
    uint64_t n = job->graph->vertices;
    missing of = find_missing(job, list, targets);
    TD_CHECK(declare_list(job, list, &of, edges));
    if (of.offsets) td_gpu_note_upload(job, from->offsets, (n + 1) * sizeof(uint64_t));
    if (of.targets) td_gpu_note_upload(job, from->targets, edges * sizeof(uint32_t));
    if (of.weights) td_gpu_note_upload(job, from->weights, edges * td_gpu_weight_bytes(job));
    if (job->memory.measures) return TD_OK;
    if (of.offsets) TD_CHECK(td_gpu_upload(job, list->offsets, from->offsets, (n + 1) * sizeof(uint64_t)));
    if (of.targets) TD_CHECK(td_gpu_upload(job, list->targets, from->targets, edges * sizeof(uint32_t)));
    if (of.weights) TD_CHECK(td_gpu_upload(job, list->weights, from->weights, edges * td_gpu_weight_bytes(job)));
    list->there = list->there || targets;
    list->view = (td_gpu_list){list->offsets, list->targets, list->weights};
    return td_stream_synchronize(job->stream);
}

/* Joins out- and in-list of every vertex; the host holds the joined list until it is copied. */
static td_status load_both(td_gpu_job *job)
{
    td_status status = TD_OK;
    td_adjacency both = {0};
    uint64_t edges = 2 * job->graph->edges;
    bool weighted = job->run->program->info->weights != TD_WEIGHTS_UNUSED;
    if (!job->memory.measures) TD_CHECK(td_checks_lists(job->graph, weighted, job->options->pool));
    else job->file_copies += td_checks_pending_targets(job->graph) + (weighted ? td_checks_pending_weights(job->graph) : 0);
    TD_CHECK(td_lists_join(job->graph, weighted, &both, &job->memory.host, job->options->pool));
    TD_TRY(load_list(job, &job->layout->both, &both, edges, true));
done:
    td_lists_unjoin(job->graph, weighted, &both, &job->memory.host);
    return status;
}

td_status td_gpu_load(td_gpu_job *job)
{
    td_gpu_graph *layout = job->layout;
    const td_graph *graph = job->graph;
    bool out = job->push == &layout->out || job->pull == &layout->out;
    TD_CHECK(load_list(job, &layout->out, &graph->out, graph->edges, out));
    if (job->pull == &layout->in) TD_CHECK(load_list(job, &layout->in, &graph->in, graph->edges, true));
    if (graph->tails != NULL) TD_CHECK(load_list(job, &layout->tails, &graph->tails->out, graph->tails->edges, true));
    bool both = job->push == &layout->both || job->pull == &layout->both;
    if (!both || (layout->both.there && (td_gpu_weight_bytes(job) == 0 || layout->both.weights != NULL))) return TD_OK;
    free_list(layout, &layout->both);
    return load_both(job);
}

void td_gpu_drop_others(td_gpu_job *job)
{
    td_gpu_graph *layout = job->layout;
    td_gpu_adjacency *lists[] = {&layout->out, &layout->in, &layout->both};
    for (int i = 0; i < 3; i++) {
        if (lists[i] != job->push && lists[i] != job->pull) free_list(layout, lists[i]);
        if (job->run->program->info->weights != TD_WEIGHTS_UNUSED) continue;
        td_device_free(layout->device, lists[i]->weights);
        lists[i]->weights = NULL;
    }
    if (!job->shards || layout->shard_of != job->pull) free_shards(layout);
}

/* Finds the length of the longest push list, once. */
typedef struct longest {
    const td_graph *graph;
    bool both;
    _Atomic uint64_t found;
} longest;

static td_status find_longest(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    longest *self = context;
    uint64_t most = 0;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = td_degree(&self->graph->out, (uint32_t)v) +
                          (self->both ? td_degree(&self->graph->in, (uint32_t)v) : 0);
        if (degree > most) most = degree;
    }
    uint64_t now = self->found;
    while (most > now && !atomic_compare_exchange_weak(&self->found, &now, most)) {}
    return TD_OK;
}

td_status td_gpu_longest(td_gpu_job *job, uint64_t *found)
{
    longest self = {.graph = job->graph, .both = job->push == &job->layout->both};
    if (job->push->longest == 0) {
        TD_CHECK(td_pool_for(job->options->pool, job->graph->vertices, 65536, find_longest, &self));
        job->push->longest = self.found;
    }
    *found = job->push->longest;
    return TD_OK;
}

/* List starts. */

/* The host's offset of a vertex in the pull list. */
static uint64_t place_of(const td_gpu_job *job, uint64_t v)
{
    const td_graph *graph = job->graph;
    if (job->pull == &job->layout->both) return graph->in.offsets[v] + graph->out.offsets[v];
    return job->pull == &job->layout->in ? graph->in.offsets[v] : graph->out.offsets[v];
}

static uint64_t place_of_vertex(const void *job, uint64_t v) { return place_of(job, v); }

uint32_t td_gpu_lists_ended(const td_gpu_job *job, uint64_t piece)
{
    uint64_t low = 0, high = job->graph->vertices;
    if (piece == job->pull_pieces) return (uint32_t)high;
    while (low < high) { /* first vertex whose list ends behind the piece's start */
        uint64_t middle = low + (high - low) / 2;
        if (place_of(job, middle + 1) > piece * TD_GPU_TILE) high = middle;
        else low = middle + 1;
    }
    return (uint32_t)low;
}

static td_status find_heads(const td_gpu_job *job, td_gpu_heads *found)
{
    return td_gpu_find_heads(found, place_of_vertex, job, job->graph->vertices, job->options->pool);
}

static td_status fill_heads(td_gpu_job *job, const td_gpu_head_arrays *heads)
{
    td_status status = TD_OK;
    td_gpu_heads found = {0};
    TD_TRY(find_heads(job, &found));
    TD_TRY(td_gpu_upload_heads(job, heads, &found));
done:
    td_gpu_free_heads(&found);
    return status;
}

static td_status load_heads(td_gpu_job *job)
{
    td_gpu_head_arrays *heads = &job->pull->heads;
    uint64_t edges = td_gpu_view_edges(job), n = job->graph->vertices;
    job->pull_pieces = (edges + TD_GPU_TILE - 1) / TD_GPU_TILE;
    if (heads->lists == NULL) {
        TD_CHECK(td_gpu_declare_heads(&job->memory, heads, edges, n));
        td_gpu_note_heads(job, edges, n);
        if (job->memory.measures) return TD_OK;
        TD_CHECK(fill_heads(job, heads));
    }
    job->segments = (td_gpu_segments){heads->bits, heads->lists, heads->before, edges};
    return TD_OK;
}

/* Shards (Garaph). */

static td_gpu_shard_cut cut_of(const td_gpu_job *job)
{
    uint64_t room = job->layout->shard_bytes / job->traits->accum_bytes;
    return (td_gpu_shard_cut){.place = {place_of_vertex}, .of = {job}, .end = job->graph->vertices, .room = room,
                              .copies = job->copies};
}

typedef struct naming {
    td_gpu_shard_cut cut;
    const td_gpu_shard *shards;
    uint16_t *names;
} naming;

static td_status name_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    naming *self = context;
    for (uint64_t s = begin; s < end; s++) td_gpu_name_edges(&self->cut, &self->shards[s], 0, self->names);
    return TD_OK;
}

/* The number of shards depends on the data. */
static td_status declare_shards(td_gpu_job *job, uint64_t count)
{
    td_gpu_graph *layout = job->layout;
    uint64_t edges = td_gpu_view_edges(job), most = job->graph->vertices / TD_LEAST_SHARD + UINT64_C(1);
    TD_CHECK(td_gpu_declare(&job->memory, TD_FOR_LISTS, &layout->shards, count > most ? count : most,
                            sizeof(td_gpu_shard), "shards"));
    TD_CHECK(td_gpu_declare(&job->memory, TD_FOR_LISTS, &layout->shard_targets, edges, sizeof(uint16_t),
                            "shards' edges"));
    td_host_note(&job->memory.host, edges * sizeof(uint16_t)); /* the host's copy, until it has been uploaded */
    return TD_OK;
}

static td_status load_shards(td_gpu_job *job)
{
    td_status status = TD_OK;
    td_gpu_graph *layout = job->layout;
    td_gpu_shard_list list = {0};
    naming self = {.cut = cut_of(job)};
    uint64_t edges = td_gpu_view_edges(job);
    free_shards(layout);
    TD_TRY(td_gpu_cut_shards(&list, &self.cut));
    layout->shard_count = (uint32_t)list.count;
    TD_TRY(TD_NEW(&self.names, edges, "shards' edges"));
    self.shards = list.shards;
    TD_TRY(td_pool_for(job->options->pool, layout->shard_count, 1, name_edges, &self));
    TD_TRY(declare_shards(job, layout->shard_count));
    TD_TRY(td_gpu_upload(job, layout->shards, list.shards, layout->shard_count * sizeof *list.shards));
    TD_TRY(td_gpu_upload(job, layout->shard_targets, self.names, edges * sizeof *self.names));
    TD_TRY(td_stream_synchronize(job->stream));
    td_gpu_count_shards(layout->shards_by_copies, list.shards, list.count);
    layout->shard_of = job->pull;
    layout->shard_copies = job->copies;
    layout->shard_accum = job->traits->accum_bytes;
done:
    td_free(list.shards);
    td_free(self.names);
    return status;
}

static td_status make_shards(td_gpu_job *job)
{
    td_gpu_graph *layout = job->layout;
    if (job->memory.measures) return declare_shards(job, 0);
    layout->shard_bytes = td_gpu_shard_bytes(job->device);
    bool there = layout->shard_of == job->pull && layout->shard_copies == job->copies &&
                 layout->shard_accum == job->traits->accum_bytes;
    if (!there) TD_CHECK(load_shards(job));
    td_gpu_report_shards(job->run, layout->shards_by_copies);
    return TD_OK;
}

td_status td_gpu_load_gathers(td_gpu_job *job)
{
    if (!job->accumulates) return TD_OK;
    return job->shards ? make_shards(job) : load_heads(job);
}
