/* Survivors: edges that later sweeps must visit, collected on the device (Filter-Kruskal: Osipov, Sanders, Singler,
 * ALENEX'09), so that few edges cross the link twice. When the layout is made, workers collect the lightest edges, as
 * many as there is room for; they are swept on the device until nothing changes. Then all lists cross once; an edge
 * that still joins two components becomes a survivor, and later sweeps visit survivors only. Parts of the lists whose
 * survivors do not fit cross again. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "run/sweep.h"

#include <stdlib.h>
#include <string.h>

/* The light edges, at the host. */

enum { SAMPLE = 1 << 16 }; /* weights sampled to find the limit of light edges */
enum { GRAIN = 1024 };     /* vertices per unit of work */

typedef struct picking {
    const td_graph *graph;
    const td_link_list *list;
    uint32_t edge_bits, limit; /* limit: maximum weight of a light edge, as ordered bits */
    uint64_t *counts;          /* light edges of every GRAIN vertices; then their first positions */
    td_gpu_edge *edges;        /* NULL: count only */
} picking;

static uint32_t ordered_weight(const picking *self, uint64_t e)
{
    return td_sweep_ordered_weight(self->graph, self->list->weights, e);
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

/* Finds the largest limit, among sampled weights, whose light edges fit. */
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
    td_streaming_graph *layout = self->layout;
    td_pool *pool = self->gpu.options->pool;
    uint64_t pieces = (self->gpu.graph->vertices + GRAIN - UINT64_C(1)) / GRAIN, total;
    void *seen;
    TD_CHECK(TD_NEW_ZEROED(&light->counts, pieces + 1, "light edges"));
    TD_CHECK(find_limit(light, pool, room, &total));
    if (total == 0) return TD_OK;
    TD_CHECK(td_host_declare_pages(&self->gpu.memory.host, &layout->light, total * sizeof *layout->light, "light edges"));
    places_from_counts(light->counts, pieces);
    light->edges = layout->light;
    TD_CHECK(td_pool_for(pool, self->gpu.graph->vertices, GRAIN, pick, light));
    layout->light_count = total;
    layout->light_pinned = td_device_pin(layout->device, layout->light, total * sizeof *layout->light, &seen) == TD_OK;
    return TD_OK;
}

/* Makes the array of survivors and its compaction buffer, and collects the light edges. */
td_status td_streaming_make_survivors(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    picking light = {.graph = self->gpu.graph, .list = &layout->lists[0],
                     .edge_bits = self->gpu.run->context.edge_bits};
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &layout->survivors, shape->survivor_edges,
                            sizeof(td_gpu_edge), "survivors"));
    TD_CHECK(td_gpu_declare(&self->gpu.memory, TD_FOR_EDGES, &layout->scratch,
                            td_streaming_scratch_edges(shape->survivor_edges), sizeof(td_gpu_edge), "buffer of survivors"));
    if (!shape->light_first) return TD_OK;
    if (self->gpu.memory.measures) /* as many as there is room for */
        return td_host_declare_pages(&self->gpu.memory.host, &layout->light,
                                     shape->survivor_edges * sizeof *layout->light, "light edges");
    td_status status = pick_light(self, &light, shape->survivor_edges);
    td_free(light.counts);
    return status;
}

void td_streaming_free_survivors(td_streaming_graph *layout)
{
    if (layout->light_pinned) td_device_unpin(layout->device, layout->light);
    td_free(layout->light);
    td_device_free(layout->device, layout->survivors);
    td_device_free(layout->device, layout->scratch);
    layout->light = NULL;
    layout->survivors = layout->scratch = NULL;
    layout->light_count = 0;
    layout->light_pinned = false;
}

/* Sweeping. */

static td_survivor_args survivor_args(const td_streaming_job *self)
{
    return (td_survivor_args){.state = self->gpu.state, .survivors = self->layout->survivors,
                              .scratch = self->layout->scratch,
                          .room = self->layout->shape.survivor_edges, .part_covered = self->device_found};
}

td_status td_streaming_close_part(td_streaming_job *self, uint32_t subgraph)
{
    td_survivor_args args = survivor_args(self);
    args.part = subgraph;
    return td_gpu_launch(&self->gpu, self->gpu.stream, &self->gpu.kernels->close_part, 1, &args);
}

td_status td_streaming_sweep_survivors(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t stretch = td_streaming_scratch_edges(self->layout->shape.survivor_edges), end;
    for (uint64_t first = 0; first < self->survivor_count; first = end) {
        end = first + stretch < self->survivor_count ? first + stretch : self->survivor_count;
        td_survivor_args args = survivor_args(self);
        args.first = first;
        args.end = end;
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->sweep_survivors, end - first, &args));
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->move_survivors, end - first, &args));
        TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->close_move, 1, &args));
    }
    return TD_OK;
}

/* Marks the parts that survivors cover as not useful: they need not cross. */
void td_streaming_skip_covered(td_streaming_job *self)
{
    for (uint32_t s = 0; s < self->push->subgraphs; s++) {
        if (!self->part_covered[s]) continue;
        self->edges_useful -= self->useful[s];
        self->useful[s] = 0;
    }
}

/* Reads back which parts the survivors cover after a sweep. */
td_status td_streaming_read_survivors(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t count = self->push->subgraphs;
    if (!self->collects_edges) return TD_OK;
    TD_CHECK(td_stream_copy(gpu->stream, self->part_found, self->device_found, count * sizeof(uint32_t), TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    self->survivor_count = gpu->control->survivor_count;
    for (uint32_t s = 0; s < count; s++)
        if (self->useful[s] > 0 && self->part_found[self->part_of[s]] != 0) self->part_covered[s] = true;
    return TD_OK;
}

td_status td_streaming_start_survivors(td_streaming_job *self)
{
    uint64_t count = self->push->subgraphs;
    TD_CHECK(TD_NEW_ZEROED(&self->part_found, count + 1, "parts covered by survivors"));
    TD_CHECK(TD_NEW_ZEROED(&self->part_covered, count + 1, "parts covered by survivors"));
    return TD_NEW_ZEROED(&self->part_of, count + 1, "parts of the lists");
}

/* Whether the next sweep begins a round. A state within a round has seen only light edges; a run that resumed from it
 * would take them for all edges and could end too early. */
static bool begins_round(const td_gpu_job *gpu)
{
    td_context before = gpu->state.context;
    if (before.iteration-- == 0) return true;
    return !gpu->kernels->again(&before, 0);
}

/* Sweeps the light edges alone until nothing changes. A checkpoint may be written between two rounds; a resumed run
 * starts with the light edges again. */
td_status td_streaming_sweep_light(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    const td_streaming_graph *layout = self->layout;
    uint64_t bytes = layout->light_count * sizeof *layout->light;
    bool again = layout->light_count > 0 && begins_round(gpu);
    self->survivor_count = layout->light_count;
    for (bool first = true; again; first = false) {
        if (!first && begins_round(gpu)) TD_CHECK(td_gpu_checkpoint(gpu));
        uint64_t began = td_clock_ns();
        td_row row = {.direction = "light", .active_edges = self->survivor_count};
        if (first) row.bytes_whole = row.bytes_useful = bytes;
        if (first) TD_CHECK(td_stream_copy(gpu->stream, layout->survivors, layout->light, bytes, TD_TO_DEVICE));
        TD_CHECK(td_gpu_reset(gpu));
        TD_CHECK(td_streaming_sweep_survivors(self));
        TD_CHECK(td_streaming_end_sweep(self, &row, began, &again));
        self->survivor_count = gpu->control->survivor_count;
    }
    self->survivor_count = 0; /* the remaining light edges join no components */
    return TD_OK;
}
