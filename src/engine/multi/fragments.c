/* Fragments: the lists of consecutive vertices, each on its own GPU, loaded once and cached for the runs that follow. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "gpu/transfer.h"
#include "layout/lists.h"

#include <stdatomic.h>
#include <string.h>

/* Releasing. */

static void free_lists(const td_gpu_set *gpus, td_device *device, td_multi_lists *lists)
{
    td_multi_free_rest(gpus, lists);
    td_device_free(device, lists->offsets);
    td_device_free(device, lists->targets);
    td_device_free(device, lists->weights);
    td_gpu_free_head_arrays(device, &lists->heads);
    *lists = (td_multi_lists){0};
}

static void free_fragments(td_multi_graph *layout)
{
    for (int i = 0; i < layout->count; i++) {
        td_multi_fragment *fragment = &layout->fragment[i];
        if (fragment->device == NULL) continue;
        if (layout->same) fragment->pull = (td_multi_lists){0};
        free_lists(layout->gpu.set, fragment->device, &fragment->push);
        free_lists(layout->gpu.set, fragment->device, &fragment->pull);
        td_multi_free_hubs(fragment->device, &fragment->hubs);
        td_device_free(fragment->device, fragment->out);
        td_device_free(fragment->device, fragment->boundary);
        fragment->out = NULL;
        fragment->boundary = NULL;
    }
    if (layout->is_cut) td_partition_free(&layout->partition);
    layout->is_cut = layout->prepared = layout->same = layout->has_push = layout->has_pull = false;
    layout->has_heads = layout->has_weights = false;
}

static void release(void *state)
{
    td_multi_graph *layout = state;
    if (layout == NULL) return;
    for (int i = 0; i < layout->count; i++)
        if (layout->fragment[i].stream != NULL) (void)td_stream_synchronize(layout->fragment[i].stream);
    free_fragments(layout);
    for (int i = 0; i < layout->count; i++) td_stream_close(layout->fragment[i].stream);
    td_free(layout);
}

static td_status open_streams(void *state, td_device *device)
{
    td_multi_graph *layout = state;
    const td_gpu_set *set = layout->gpu.set;
    (void)device;
    layout->count = set->count;
    for (int i = 0; i < set->count; i++) {
        layout->fragment[i].device = set->gpu[i];
        TD_CHECK(td_stream_open(set->gpu[i], &layout->fragment[i].stream));
    }
    return TD_OK;
}

const td_gpu_layout_kind td_multi_layout_kind = {"multi", sizeof(td_multi_graph), open_streams, release, .many = true};

/* What a run needs of a fragment. */

td_multi_need td_multi_needs(const td_multi_job *self)
{
    const td_gpu_job *job = &self->gpu[0].job;
    bool gas = td_gpu_is_gas(job), fused = job->traits->fused;
    td_multi_need need = {.both = job->both, .sweep = !gas, .push = !gas || fused,
                          .weight_bytes = td_gpu_weight_bytes(job)};
    bool pulls = gas && (!fused || (job->direction != TD_DIRECTION_PUSH && !job->prioritised));
    need.pull = pulls;
    need.same = need.push && pulls && (job->both || job->graph->symmetric);
    need.heads = td_gpu_accumulates(job->traits, pulls, job->prioritised, job->run->async);
    return need;
}

static td_status declare_lists(td_gpu_memory *memory, const td_multi_need *need, bool heads, uint64_t vertices,
                               uint64_t edges, uint64_t resident, td_multi_lists *lists)
{
    if (resident > edges) resident = edges;
    lists->resident = resident;
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &lists->offsets, vertices + 1, sizeof(uint64_t),
                            "a fragment's offsets"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &lists->targets, resident + TD_MULTI_SPARE_EDGES, sizeof(uint32_t),
                            "a fragment's edges"));
    if (need->weight_bytes > 0)
        TD_CHECK(td_gpu_declare(memory, TD_FOR_EDGES, &lists->weights, resident, need->weight_bytes,
                                "a fragment's weights"));
    return heads ? td_gpu_declare_heads(memory, &lists->heads, edges, vertices) : TD_OK;
}

td_status td_multi_declare_fragment(td_gpu_memory *memory, const td_multi_need *need, const td_multi_amounts *of,
                                    td_multi_fragment *fragment)
{
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &fragment->out, of->vertices + 1, sizeof(uint64_t),
                            "a fragment's offsets"));
    if (need->push)
        TD_CHECK(declare_lists(memory, need, need->same && need->heads, of->vertices, of->push, of->push_resident,
                               &fragment->push));
    if (need->pull && !need->same)
        TD_CHECK(declare_lists(memory, need, need->heads, of->vertices, of->pull, of->pull_resident, &fragment->pull));
    return td_gpu_declare(memory, TD_FOR_LISTS, &fragment->boundary, of->words, sizeof(uint32_t), "boundary vertices");
}

/* A fragment's lists at the host. With the graph's own numbers they are a stretch of its arrays, and their places need no
 * array of their own. */

typedef struct host_lists {
    const td_partition *partition;
    const td_adjacency *from;
    uint32_t first;
    uint64_t *places; /* of the fragment's lists, from 0; NULL: the graph's offsets tell */
    uint64_t base;    /* added to the places that the GPU gets */
    uint32_t *targets;
    void *weights;
    size_t weight_bytes;
    _Atomic uint64_t longest;
} host_lists;

static uint32_t vertex_of(const td_partition *partition, uint64_t number)
{
    return partition->order != NULL ? partition->order[number] : (uint32_t)number;
}

static uint64_t place_of(const void *context, uint64_t i)
{
    const host_lists *self = context;
    if (self->places != NULL) return self->places[i];
    return self->from->offsets[self->first + i] - self->from->offsets[self->first];
}

static td_status find_places(host_lists *self, uint64_t n)
{
    if (self->partition->order == NULL) return TD_OK;
    TD_CHECK(TD_NEW(&self->places, n + 1, "a fragment's offsets"));
    self->places[0] = 0;
    for (uint64_t i = 0; i < n; i++)
        self->places[i + 1] = self->places[i] + td_degree(self->from, vertex_of(self->partition, self->first + i));
    return TD_OK;
}

static td_status fill_places(void *context, uint64_t at, char *part, uint64_t bytes)
{
    const host_lists *self = context;
    uint64_t *to = (uint64_t *)(void *)part, first = at / sizeof *to;
    for (uint64_t i = 0; i < bytes / sizeof *to; i++) to[i] = self->base + place_of(self, first + i);
    return TD_OK;
}

static td_status find_longest(void *context, uint64_t begin, uint64_t end, int worker)
{
    host_lists *self = context;
    uint64_t most = 0;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t degree = td_degree(self->from, vertex_of(self->partition, self->first + i));
        if (degree > most) most = degree;
    }
    uint64_t before = atomic_load_explicit(&self->longest, memory_order_relaxed);
    while (before < most && !atomic_compare_exchange_weak(&self->longest, &before, most)) {}
    return TD_OK;
}

static td_status collect_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    const host_lists *self = context;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = vertex_of(self->partition, self->first + i);
        uint64_t at = self->from->offsets[v], degree = self->from->offsets[v + 1] - at, to = self->places[i];
        for (uint64_t e = 0; e < degree; e++) self->targets[to + e] = self->partition->place[self->from->targets[at + e]];
        if (self->weight_bytes > 0)
            memcpy((char *)self->weights + to * self->weight_bytes, (const char *)self->from->weights + at * self->weight_bytes,
                   degree * self->weight_bytes);
    }
    return TD_OK;
}

static td_status collect(host_lists *self, uint64_t n, td_pool *pool)
{
    uint64_t edges = place_of(self, n), at = self->from->offsets[self->first];
    if (self->partition->order == NULL) {
        self->targets = self->from->targets + at;
        if (self->weight_bytes > 0) self->weights = (char *)self->from->weights + at * self->weight_bytes;
        return TD_OK;
    }
    TD_CHECK(TD_NEW(&self->targets, edges + 1, "a fragment's edges"));
    if (self->weight_bytes > 0)
        TD_CHECK(td_new_bytes(&self->weights, edges + 1, self->weight_bytes, "a fragment's weights"));
    return td_pool_for(pool, n, 4096, collect_lists, self);
}

static void free_host_lists(host_lists *self)
{
    if (self->partition->order == NULL) return;
    td_free(self->places);
    td_free(self->targets);
    td_free(self->weights);
}

/* The first vertex of the fragment whose list is not whole on the GPU. */
static uint32_t find_split(const host_lists *from, const td_multi_fragment *fragment, uint64_t resident)
{
    uint64_t low = 0, high = fragment->end - fragment->first;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (place_of(from, middle + 1) > resident) high = middle;
        else low = middle + 1;
    }
    return fragment->first + (uint32_t)low;
}

static void *shifted(void *array, uint64_t elements, size_t bytes)
{
    return (void *)((uintptr_t)array - elements * bytes);
}

static td_status send_heads(td_gpu_job *job, const td_multi_fragment *fragment, td_multi_lists *lists, const host_lists *from)
{
    td_status status = TD_OK;
    td_gpu_heads found = {0};
    TD_TRY(td_gpu_find_heads(&found, place_of, from, fragment->end - fragment->first, job->options->pool));
    for (uint64_t i = 0; i < found.count; i++) found.lists[i] += fragment->first;
    TD_TRY(td_gpu_upload_heads(job, &lists->heads, &found));
    lists->segments = (td_gpu_segments){lists->heads.bits, lists->heads.lists, lists->heads.before, lists->edges};
    lists->pieces = found.pieces;
done:
    if (status != TD_OK) (void)td_stream_synchronize(job->stream);
    td_gpu_free_heads(&found);
    return status;
}

/* Sends the lists. Edges of sweeps have the graph's numbers, which name them in a forest; others are numbered from 0. */
static td_status send_lists(td_multi_job *self, td_gpu_job *job, td_multi_fragment *fragment, td_multi_lists *lists,
                            const td_adjacency *from, const td_multi_need *need)
{
    size_t weight_bytes = need->weight_bytes;
    bool sweep = need->sweep, copies = td_multi_copies_rest(need, self->layout->partition.order != NULL);
    td_status status = TD_OK;
    uint64_t n = fragment->end - fragment->first;
    host_lists host = {.partition = &self->layout->partition, .from = from, .first = fragment->first,
                       .weight_bytes = weight_bytes};
    TD_TRY(find_places(&host, n));
    TD_TRY(td_pool_for(self->options->pool, n, 1 << 16, find_longest, &host));
    TD_TRY(collect(&host, n, self->options->pool));
    lists->longest = host.longest;
    lists->edges = place_of(&host, n);
    TD_TRY(td_gpu_upload(job, lists->targets, host.targets, lists->resident * sizeof(uint32_t)));
    if (weight_bytes > 0) TD_TRY(td_gpu_upload(job, lists->weights, host.weights, lists->resident * weight_bytes));
    if (lists->heads.lists != NULL) TD_TRY(send_heads(job, fragment, lists, &host));
    lists->base = host.base = sweep ? from->offsets[fragment->first] : 0;
    lists->split = find_split(&host, fragment, lists->resident);
    if (sweep) lists->resident = place_of(&host, lists->split - fragment->first); /* samples are taken from whole lists */
    TD_TRY(td_gpu_upload_made(job, lists->offsets, (n + 1) * sizeof(uint64_t), fill_places, &host));
    TD_TRY(td_stream_synchronize(job->stream));
    lists->view = (td_gpu_list){shifted(lists->offsets, fragment->first, sizeof(uint64_t)),
                                shifted(lists->targets, lists->base, sizeof(uint32_t)),
                                weight_bytes > 0 ? shifted(lists->weights, lists->base, weight_bytes) : NULL};
    TD_TRY(td_multi_keep_rest(self, lists, from, host.targets, host.weights, weight_bytes, copies));
done:
    if (status != TD_OK) (void)td_stream_synchronize(job->stream);
    free_host_lists(&host);
    return status;
}

static td_status send_out(td_multi_job *self, td_gpu_job *job, td_multi_fragment *fragment)
{
    uint64_t n = fragment->end - fragment->first;
    host_lists host = {.partition = &self->layout->partition, .from = &self->graph->out, .first = fragment->first};
    td_status status = find_places(&host, n);
    if (status == TD_OK) status = td_gpu_upload_made(job, fragment->out, (n + 1) * sizeof(uint64_t), fill_places, &host);
    free_host_lists(&host);
    fragment->out_offsets = shifted(fragment->out, fragment->first, sizeof(uint64_t));
    return status;
}

static uint64_t edges_of(const td_partition *partition, const td_adjacency *from, uint32_t first, uint32_t end)
{
    uint64_t edges = 0;
    if (partition->order == NULL) return from->offsets[end] - from->offsets[first];
    for (uint64_t v = first; v < end; v++) edges += td_degree(from, partition->order[v]);
    return edges;
}

static td_status load_fragment(td_multi_job *self, int i, const td_multi_need *need, const td_adjacency *push,
                               const td_adjacency *pull)
{
    td_multi_graph *layout = self->layout;
    const td_partition *partition = &layout->partition;
    td_multi_fragment *fragment = &layout->fragment[i];
    fragment->first = partition->first[i];
    fragment->end = partition->first[i + 1];
    uint64_t push_edges = need->push ? edges_of(partition, push, fragment->first, fragment->end) : 0;
    uint64_t pull_edges = need->pull ? edges_of(partition, pull, fragment->first, fragment->end) : 0;
    td_multi_amounts of = {.vertices = fragment->end - fragment->first, .words = ((uint64_t)self->graph->vertices + 31) / 32,
                           .push = push_edges, .pull = pull_edges, .push_resident = self->division.push[i],
                           .pull_resident = self->division.pull[i]};
    td_gpu_job *job = &self->gpu[i].job;
    TD_CHECK(td_multi_declare_fragment(&job->memory, need, &of, fragment));
    TD_CHECK(send_out(self, job, fragment));
    if (need->push) TD_CHECK(send_lists(self, job, fragment, &fragment->push, push, need));
    if (need->pull && !need->same)
        TD_CHECK(send_lists(self, job, fragment, &fragment->pull, pull, need));
    if (need->same) fragment->pull = fragment->push;
    td_gpu_ring_close(job); /* one at a time */
    return TD_OK;
}

/* Boundary vertices: every GPU marks the targets of its edges, and owners collect the marks in their ranges. */

static td_status mark_list(td_gpu_job *job, const uint32_t *targets, uint64_t edges, uint32_t *map)
{
    td_targets_args args = {.targets = targets, .edges = edges, .map = map};
    return edges > 0 ? td_gpu_launch(job, job->stream, &job->kernels->mark_targets, edges, &args) : TD_OK;
}

static td_status mark_targets(td_multi_gpu *gpu, uint32_t *map)
{
    td_gpu_job *job = &gpu->job;
    const td_multi_lists *lists[] = {&gpu->fragment->push, &gpu->fragment->pull};
    TD_CHECK(td_gpu_clear_map(job, map));
    for (int i = 0; i < 2; i++) {
        uint64_t resident = lists[i]->resident, rest = lists[i]->edges - resident;
        TD_CHECK(mark_list(job, lists[i]->targets, resident, map));
        if (rest > 0) TD_CHECK(mark_list(job, lists[i]->rest.targets + lists[i]->base + resident, rest, map));
    }
    return TD_OK;
}

/* The host adds the marks up: a bit per vertex and GPU, once per layout. */
static td_status find_boundaries(td_multi_job *self)
{
    td_status status = TD_OK;
    uint64_t words = ((uint64_t)self->graph->vertices + 31) / 32;
    uint32_t *all = NULL, *one = NULL;
    TD_TRY(TD_NEW_ZEROED(&all, words, "boundary vertices"));
    TD_TRY(TD_NEW(&one, words, "boundary vertices"));
    TD_EACH_GPU(self, gpu) TD_TRY(mark_targets(gpu, gpu->fragment->boundary));
    TD_EACH_GPU(self, gpu) {
        TD_TRY(td_stream_copy(gpu->job.stream, one, gpu->fragment->boundary, words * sizeof *one, TD_TO_HOST));
        TD_TRY(td_stream_synchronize(gpu->job.stream));
        uint64_t first = gpu->fragment->first / 32, end = ((uint64_t)gpu->fragment->end + 31) / 32;
        for (uint64_t w = 0; w < words; w++)
            if (w < first || w >= end) all[w] |= one[w];
    }
    TD_EACH_GPU(self, gpu) {
        TD_TRY(td_stream_copy(gpu->job.stream, gpu->fragment->boundary, all, words * sizeof *all, TD_TO_DEVICE));
        TD_TRY(td_stream_synchronize(gpu->job.stream));
    }
done:
    (void)td_multi_end_copies(self, status);
    td_free(all);
    td_free(one);
    return status;
}

static bool is_same(const td_multi_division *a, const td_multi_division *b)
{
    return a->weighted == b->weighted && memcmp(a->weights, b->weights, sizeof a->weights) == 0 &&
           memcmp(a->push, b->push, sizeof a->push) == 0 && memcmp(a->pull, b->pull, sizeof a->pull) == 0 &&
           a->hub_degree == b->hub_degree && a->hub_edges == b->hub_edges;
}

static bool serves(const td_multi_graph *layout, const td_multi_settings *set, const td_multi_need *need,
                   const td_multi_division *division)
{
    return layout->is_cut && is_same(&layout->division, division) && layout->kind == set->partition &&
           layout->seed == set->seed && layout->both == need->both &&
           layout->sweep == need->sweep && layout->has_push >= need->push && layout->has_pull >= need->pull &&
           layout->has_weights == (need->weight_bytes > 0) && layout->has_heads >= need->heads;
}

static td_status load_all(td_multi_job *self, const td_multi_need *need)
{
    td_status status = TD_OK;
    td_multi_graph *layout = self->layout;
    const td_graph *graph = self->graph;
    td_host_memory *host = &td_multi_first(self)->memory.host;
    td_adjacency both = {0};
    const td_adjacency *push = &graph->out, *pull = graph->symmetric ? &graph->out : &graph->in;
    if (need->both) {
        TD_CHECK(td_lists_join(graph, need->weight_bytes > 0, &both, host, self->options->pool));
        push = pull = &both;
    }
    layout->same = need->same;
    for (int i = 0; i < layout->count; i++) TD_TRY(load_fragment(self, i, need, push, pull));
    if (need->push && !need->sweep) TD_TRY(td_multi_load_hubs(self, need, push));
    TD_TRY(find_boundaries(self));
    layout->both = need->both;
    layout->sweep = need->sweep;
    layout->has_push = need->push;
    layout->has_pull = need->pull;
    layout->has_heads = need->heads;
    layout->has_weights = need->weight_bytes > 0;
done:
    if (need->both) td_lists_unjoin(graph, need->weight_bytes > 0, &both, host);
    return status;
}

td_partition_wish td_multi_wish(const td_graph *graph, const td_multi_need *need, td_partition_kind kind, uint64_t seed,
                                int parts, const td_multi_division *division)
{
    td_partition_wish wish = {.kind = kind, .parts = parts, .seed = seed, .ranges_only = true,
                              .weights = division->weighted ? division->weights : NULL,
                              .out = need->both || need->push || graph->symmetric,
                              .in = need->both || (need->pull && !graph->symmetric)};
    return wish;
}

td_status td_multi_load(td_multi_job *self)
{
    td_multi_graph *layout = self->layout;
    const td_multi_settings *set = &self->set;
    td_multi_need need = td_multi_needs(self);
    if (serves(layout, set, &need, &self->division)) return TD_OK;
    td_gpu_mark before = td_gpu_layout_mark(self->options);
    free_fragments(layout);
    td_partition_wish wish = td_multi_wish(self->graph, &need, set->partition, set->seed, layout->count,
                                            &self->division);
    TD_CHECK(td_multi_cut(self, &wish, &layout->partition, &layout->prepared));
    layout->is_cut = true;
    layout->division = self->division;
    layout->kind = set->partition;
    layout->seed = set->seed;
    layout->counts_out = wish.out;
    layout->counts_in = wish.in;
    td_status status = load_all(self, &need);
    td_gpu_layout_note(self->options, &before);
    return status;
}
