/* Sweeps of programs that may see light edges first (Filter-Kruskal: Osipov, Sanders, Singler, ALENEX'09), so that
 * hardly an edge crosses the link twice. Device memory for edges is spent on room for single edges. The host's workers
 * pick the lightest out when the graph is set up, as many as there is room for; they are swept on the device until that
 * changes nothing. Then all lists cross, once: an edge that still matters after the light ones is kept on the device,
 * and later sweeps look at those alone. Parts of the lists whose edges find no room cross again. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* The light edges, at the host. */

enum { SAMPLE = 1 << 16 }; /* weights looked at to find what is light */
enum { GRAIN = 1024 };     /* vertices that a worker takes at a time */

typedef struct picking {
    const td_graph *graph;
    const td_link_list *list;
    uint32_t edge_bits, limit; /* edges up to this weight, in ordered bits */
    uint64_t *counts;          /* of every GRAIN vertices; when edges are put down, where theirs begin */
    td_gpu_edge *edges;        /* NULL: they are counted */
} picking;

static uint32_t ordered_weight(const picking *self, uint64_t e)
{
    const void *weights = self->list->weights;
    switch (weights == NULL ? TD_WEIGHT_NONE : self->graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)weights)[e];
    case TD_WEIGHT_U16: return ((const uint16_t *)weights)[e];
    case TD_WEIGHT_U32: return ((const uint32_t *)weights)[e];
    case TD_WEIGHT_F32: return td_ordered_bits(((const float *)weights)[e]);
    default: return 1;
    }
}

static td_status pick(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    picking *self = context;
    const td_link_list *list = self->list;
    uint64_t at = self->edges != NULL ? self->counts[begin / GRAIN] : 0;
    for (uint64_t u = begin; u < end; u++)
        for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++) {
            uint32_t v = list->targets[e], weight = ordered_weight(self, e);
            if (weight > self->limit || (self->graph->symmetric && v <= u)) continue;
            uint64_t key = (uint64_t)weight << self->edge_bits | e;
            if (self->edges != NULL) self->edges[at] = (td_gpu_edge){(uint32_t)u, v, key};
            at++;
        }
    if (self->edges == NULL) self->counts[begin / GRAIN] = at;
    return TD_OK;
}

static td_status count_light(picking *self, td_pool *pool, uint64_t *total)
{
    uint64_t pieces = (self->graph->vertices + GRAIN - UINT64_C(1)) / GRAIN;
    TD_CHECK(td_pool_for(pool, self->graph->vertices, GRAIN, pick, self));
    *total = 0;
    for (uint64_t i = 0; i < pieces; i++) *total += self->counts[i];
    return TD_OK;
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The largest limit, among weights drawn from all lists, up to which edges find room. */
static td_status find_limit(picking *self, td_pool *pool, uint64_t room, uint64_t *total)
{
    td_status status = TD_OK;
    uint32_t *drawn = NULL;
    uint64_t edges = self->list->edges, count = edges < SAMPLE ? edges : SAMPLE;
    uint64_t meant = self->graph->symmetric ? edges / 2 : edges;
    *total = 0;
    TD_TRY(TD_NEW(&drawn, count + 1, "weights of a sample"));
    double stride = (double)edges / (double)count;
    for (uint64_t i = 0; i < count; i++) drawn[i] = ordered_weight(self, (uint64_t)(stride * (double)i));
    qsort(drawn, count, sizeof *drawn, compare_words);
    double share = meant > 0 ? (double)room / (double)meant : 0;
    uint64_t place = share >= 1 ? count : (uint64_t)(share * (double)count);
    while (place > 0) {
        self->limit = drawn[place - 1];
        TD_TRY(count_light(self, pool, total));
        if (*total <= room) break;
        while (place > 0 && drawn[place - 1] == self->limit) place--;
        *total = 0;
    }
done:
    td_free(drawn);
    return status;
}

static void places_from_counts(uint64_t *counts, uint64_t pieces)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i < pieces; i++) {
        uint64_t here = counts[i];
        counts[i] = before;
        before += here;
    }
}

static td_status pick_light(td_streaming_job *self, picking *light, uint64_t room)
{
    td_streaming_graph *held = self->held;
    td_pool *pool = self->gpu.options->pool;
    uint64_t pieces = (self->gpu.graph->vertices + GRAIN - UINT64_C(1)) / GRAIN, total;
    void *seen;
    TD_CHECK(TD_NEW_ZEROED(&light->counts, pieces + 1, "light edges"));
    TD_CHECK(find_limit(light, pool, room, &total));
    if (total == 0) return TD_OK;
    TD_CHECK(td_host_declare_pages(&self->gpu.memory.host, &held->light, total * sizeof *held->light, "light edges"));
    places_from_counts(light->counts, pieces);
    light->edges = held->light;
    TD_CHECK(td_pool_for(pool, self->gpu.graph->vertices, GRAIN, pick, light));
    held->light_count = total;
    held->light_pinned = td_device_pin(held->device, held->light, total * sizeof *held->light, &seen) == TD_OK;
    return TD_OK;
}

/* Room on the device, and what it is filled with first. */
td_status td_streaming_make_kept(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *held = self->held;
    picking light = {.graph = self->gpu.graph, .list = &held->lists[0], .edge_bits = self->gpu.run->context.edge_bits};
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &held->kept, shape->kept_edges, sizeof(td_gpu_edge),
                            "edges that may matter"));
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &held->aside, td_streaming_aside(shape->kept_edges),
                            sizeof(td_gpu_edge), "edges put aside"));
    if (!shape->light_first) return TD_OK;
    if (self->gpu.memory.measures) /* as many as there is room for */
        return td_host_declare_pages(&self->gpu.memory.host, &held->light, shape->kept_edges * sizeof *held->light,
                                     "light edges");
    td_status status = pick_light(self, &light, shape->kept_edges);
    td_free(light.counts);
    return status;
}

void td_streaming_free_kept(td_streaming_graph *held)
{
    if (held->light_pinned) td_device_unpin(held->device, held->light);
    td_free(held->light);
    td_device_free(held->device, held->kept);
    td_device_free(held->device, held->aside);
    held->light = NULL;
    held->kept = held->aside = NULL;
    held->light_count = 0;
    held->light_pinned = false;
}

/* Sweeping. */

static td_kept_args kept_args(const td_streaming_job *self)
{
    return (td_kept_args){.state = self->gpu.state, .kept = self->held->kept, .aside = self->held->aside,
                          .room = self->held->shape.kept_edges, .part_kept = self->device_found};
}

td_status td_streaming_close_part(td_streaming_job *self, uint32_t subgraph)
{
    td_kept_args args = kept_args(self);
    args.part = subgraph;
    return td_gpu_launch(&self->gpu, self->gpu.stream, &self->gpu.kernels->close_part, 1, &args);
}

td_status td_streaming_sweep_kept(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t stretch = td_streaming_aside(self->held->shape.kept_edges), end;
    for (uint64_t first = 0; first < self->kept_count; first = end) {
        end = first + stretch < self->kept_count ? first + stretch : self->kept_count;
        td_kept_args args = kept_args(self);
        args.first = first;
        args.end = end;
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->sweep_kept, end - first, &args));
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->move_kept, end - first, &args));
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->close_move, 1, &args));
    }
    return TD_OK;
}

/* Before the lists of a sweep cross: parts whose edges are kept need not. */
void td_streaming_leave_out_kept(td_streaming_job *self)
{
    for (uint32_t s = 0; s < self->push->subgraphs; s++) {
        if (!self->part_kept[s]) continue;
        self->edges_useful -= self->useful[s];
        self->useful[s] = 0;
    }
}

/* What a sweep kept. */
td_status td_streaming_note_kept(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t count = self->push->subgraphs;
    if (!self->keeps_edges) return TD_OK;
    TD_CHECK(td_stream_copy(gpu->stream, self->part_found, self->device_found, count * sizeof(uint32_t), TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    self->kept_count = gpu->control->kept_count;
    for (uint32_t s = 0; s < count; s++)
        if (self->useful[s] > 0 && self->part_found[self->part_of[s]] != 0) self->part_kept[s] = true;
    return TD_OK;
}

td_status td_streaming_start_kept(td_streaming_job *self)
{
    uint64_t count = self->push->subgraphs;
    TD_CHECK(TD_NEW_ZEROED(&self->part_found, count + 1, "parts whose edges are kept"));
    TD_CHECK(TD_NEW_ZEROED(&self->part_kept, count + 1, "parts whose edges are kept"));
    return TD_NEW_ZEROED(&self->part_of, count + 1, "parts of the lists");
}

/* Whether the next sweep begins a round: a state in the middle of one has seen light edges only, and whoever took them
 * for all edges could find nothing to do and end there. */
static bool begins_round(const td_gpu_job *gpu)
{
    td_context before = gpu->state.context;
    if (before.iteration-- == 0) return true;
    return !gpu->kernels->again(&before, 0);
}

/* The light edges alone, until they change nothing. Between two rounds they are a beginning like any other: a
 * checkpoint may be written there, and what goes on from one goes on with them. */
td_status td_streaming_sweep_light(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    const td_streaming_graph *held = self->held;
    uint64_t bytes = held->light_count * sizeof *held->light;
    bool again = held->light_count > 0 && begins_round(gpu);
    self->kept_count = held->light_count;
    for (bool first = true; again; first = false) {
        if (!first && begins_round(gpu)) TD_CHECK(td_gpu_checkpoint(gpu));
        uint64_t began = td_clock_ns();
        td_row row = {.direction = "light", .active_edges = self->kept_count};
        if (first) row.bytes_whole = row.bytes_useful = bytes;
        if (first) TD_CHECK(td_stream_copy(gpu->stream, held->kept, held->light, bytes, TD_TO_DEVICE));
        TD_CHECK(td_gpu_reset(gpu));
        TD_CHECK(td_streaming_sweep_kept(self));
        TD_CHECK(td_streaming_end_sweep(self, &row, began, &again));
        self->kept_count = gpu->control->kept_count;
    }
    self->kept_count = 0; /* what is left joins nothing any more */
    return TD_OK;
}
