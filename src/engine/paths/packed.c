/* Packed partitions (kernels/gpu/path_packed.h). Paths that stay at the host are mostly single edges, and a path's entries,
 * beginning and mirrors take five times the bytes of an edge's. So the edges of a partition are stored with numbers of 16
 * bits for their first vertices, sorted by their second, and mirrors are those of a partition and a vertex, on the GPU. As
 * many partitions as there is room for are on the GPU too; walks read the others in the host's memory, those that are
 * marked alone, so that rounds need no look of the host. */
#include "engine/paths/batches.h"

#include "base/alloc.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

enum { ID = sizeof(uint32_t), ALIGNED = 16, MOST_SOURCES = TD_PATH_LAST_EDGE, GRAIN = 16 };

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

static uint64_t edges_of(const td_path_partition *of) { return of->entries - of->paths; }

/* Vertices that a partition's paths enter, at most: paths are in the order of their last vertices, mostly. */
static uint64_t bound_targets(const td_paths *p, const td_path_partition *of)
{
    uint64_t count = 0;
    uint32_t before = UINT32_MAX;
    for (uint32_t path = 0; path < of->paths; path++)
        for (uint64_t e = td_path_begin(p, of, path) + 1; e < td_path_end(p, of, path); e++) {
            count += p->vertices[e] != before;
            before = p->vertices[e];
        }
    return count;
}

static uint64_t word_bytes(uint64_t sources, uint64_t targets, uint64_t edges)
{
    return ID * (sources + targets + (edges + 1) / 2);
}

static uint64_t pack_bytes(const td_paths_job *self, uint32_t k)
{
    const td_path_partition *of = &self->paths.partition[k];
    const td_paths_batches *b = self->gpu->batches;
    uint64_t edges = edges_of(of), weight = td_gpu_weight_bytes(&self->gpu->job);
    return aligned(word_bytes(b->sources[k], b->targets[k], edges)) + aligned(edges * weight);
}

/* Whether partitions can be packed. Values that flow back along paths, and counts instead of sums, are walked in batches. */
static bool may_pack(const td_paths_job *self, const td_device *device)
{
    static const char *const keys[] = {"paths.batch_edges", "paths.prefetch", "paths.evict"};
    const td_settings *settings = self->options->settings;
    for (size_t i = 0; settings != NULL && i < sizeof keys / sizeof *keys; i++)
        if (td_settings_given(settings, keys[i])) return false;
    if (self->set.streams > 0 || self->gpu->post != NULL || !device->properties.reads_host) return false;
    if (self->steps.state.back || self->cpu.kernels->schedule == TD_SCHEDULE_PEEL) return false;
    return self->cpu.graph->vertices < TD_PATH_HOME_HERE && self->gpu->batches->place_count < UINT32_MAX / 2;
}

static td_status count_words(td_paths_job *self, bool *fits)
{
    td_paths_batches *b = self->gpu->batches;
    const td_paths *p = &self->paths;
    b->packed_bytes = 0;
    for (uint32_t k = 0; k < p->partitions; k++) {
        *fits &= b->sources[k] <= MOST_SOURCES;
        b->targets[k] = (uint32_t)bound_targets(p, &p->partition[k]);
        b->packed_bytes += pack_bytes(self, k);
    }
    return TD_OK;
}

td_status td_paths_choose_packs(td_paths_job *self, const td_device *device)
{
    td_paths_batches *b = self->gpu->batches;
    b->packed = may_pack(self, device);
    if (!b->packed) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&b->sources, self->paths.partitions, "packed partitions"));
    TD_CHECK(TD_NEW_ZEROED(&b->targets, self->paths.partitions, "packed partitions"));
    td_paths_count_sources(self, b->sources);
    return count_words(self, &b->packed);
}

td_status td_paths_reserve_packs(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    td_failure before;
    if (!b->packed || b->packed_bytes == 0) return TD_OK;
    TD_CHECK(td_new_bytes((void **)&b->packed_words, b->packed_bytes, 1, "packed partitions"));
    td_failure_keep(&before);
    b->packed = td_device_pin(self->gpu->job.device, b->packed_words, b->packed_bytes, &b->packed_seen) == TD_OK;
    td_failure_set(&before);
    if (b->packed) return TD_OK;
    td_free(b->packed_words);
    b->packed_words = NULL;
    return TD_OK;
}

void td_paths_shape_packs(td_paths_job *self, uint64_t left)
{
    td_paths_batches *b = self->gpu->batches;
    b->pool_bytes = left < b->packed_bytes ? left / ALIGNED * ALIGNED : b->packed_bytes;
}

/* Which partitions are on the GPU: as many as there is room for, in the order of storage. Those come first in the words. */
static td_status place(td_paths_job *self, uint64_t *at)
{
    td_paths_batches *b = self->gpu->batches;
    uint64_t near = 0, far;
    for (uint32_t k = 0; k < self->paths.partitions; k++) {
        uint64_t bytes = pack_bytes(self, k);
        at[k] = UINT64_MAX;
        if (near + bytes > b->pool_bytes) continue;
        at[k] = near;
        near += bytes;
        b->residents++;
    }
    b->near_bytes = far = near;
    for (uint32_t k = 0; k < self->paths.partitions; k++) {
        if (at[k] != UINT64_MAX) continue;
        at[k] = far;
        far += pack_bytes(self, k);
    }
    return TD_OK;
}

/* Packing. */

typedef struct edge {
    uint64_t key; /* its second vertex, then its first */
    uint64_t number;
} edge;

typedef struct packing {
    td_paths_job *self;
    td_path_pack *packs;
    const uint64_t *at;
    edge **edges;       /* of a worker */
    uint32_t **sources;
} packing;

static int by_key(const void *a, const void *b)
{
    uint64_t one = ((const edge *)a)->key, other = ((const edge *)b)->key;
    return one < other ? -1 : one > other;
}

static int by_vertex(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static uint32_t list_edges(const td_paths *p, const td_path_partition *of, edge *out)
{
    uint32_t count = 0;
    for (uint32_t path = 0; path < of->paths; path++)
        for (uint64_t e = td_path_begin(p, of, path); e + 1 < td_path_end(p, of, path); e++)
            out[count++] = (edge){(uint64_t)p->vertices[e + 1] << 32 | p->vertices[e], td_path_edge(of, path, e)};
    qsort(out, count, sizeof *out, by_key);
    return count;
}

static uint32_t list_sources(const edge *edges, uint32_t count, uint32_t *out)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) out[i] = (uint32_t)edges[i].key;
    qsort(out, count, sizeof *out, by_vertex);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || out[i] != out[distinct - 1]) out[distinct++] = out[i];
    return distinct;
}

static uint32_t number_of(const uint32_t *sorted, uint32_t count, uint32_t v)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] < v) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The words of a partition; returns how many vertices its edges enter. */
static uint32_t write_words(const td_paths_job *self, uint32_t k, const edge *edges, uint32_t count,
                            const uint32_t *sources, uint32_t distinct, uint32_t *words)
{
    const uint32_t *home = self->gpu->batches->home;
    uint32_t *targets = words + distinct, entered = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t w = (uint32_t)(edges[i].key >> 32);
        if (i == 0 || w != (targets[entered - 1] & ~TD_PATH_HOME_HERE))
            targets[entered++] = home[w] == k ? w | TD_PATH_HOME_HERE : w;
    }
    for (uint32_t i = 0, t = 0; i < distinct; i++) { /* ascending, both */
        while (t < entered && (targets[t] & ~TD_PATH_HOME_HERE) < sources[i]) t++;
        bool enters = t < entered && (targets[t] & ~TD_PATH_HOME_HERE) == sources[i];
        words[i] = home[sources[i]] == k && !enters ? sources[i] | TD_PATH_HOME_HERE : sources[i];
    }
    uint16_t *out = (uint16_t *)(void *)(targets + entered);
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count || edges[i + 1].key >> 32 != edges[i].key >> 32;
        out[i] = (uint16_t)(number_of(sources, distinct, (uint32_t)edges[i].key) | (last ? TD_PATH_LAST_EDGE : 0));
    }
    if (count % 2 != 0) out[count] = 0;
    return entered;
}

static void write_weights(const td_paths_job *self, const edge *edges, uint32_t count, char *out)
{
    uint64_t weight = td_gpu_weight_bytes(&self->gpu->job);
    for (uint32_t i = 0; weight > 0 && i < count; i++)
        memcpy(out + i * weight, (const char *)self->paths.weights + edges[i].number * weight, weight);
}

static td_status pack_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    packing *all = context;
    const td_paths_job *self = all->self;
    const td_paths_batches *b = self->gpu->batches;
    edge *edges = all->edges[worker];
    uint32_t *sources = all->sources[worker];
    for (uint32_t k = (uint32_t)begin; k < end; k++) {
        char *words = b->packed_words + all->at[k];
        bool near = all->at[k] < b->near_bytes;
        const char *seen = near ? b->memory + all->at[k] : (const char *)b->packed_seen + all->at[k];
        uint32_t count = list_edges(&self->paths, &self->paths.partition[k], edges);
        uint32_t distinct = list_sources(edges, count, sources);
        uint32_t entered = write_words(self, k, edges, count, sources, distinct, (uint32_t *)(void *)words);
        uint64_t bytes = word_bytes(distinct, entered, count), weights = aligned(bytes);
        write_weights(self, edges, count, words + weights);
        all->packs[k] = (td_path_pack){.words = (const uint32_t *)(const void *)seen, .weights = seen + weights,
                                       .first = all->packs[k].first, .sources = distinct, .targets = entered,
                                       .edges = count, .far = near ? 0 : (uint32_t)bytes,
                                       .paths = self->paths.partition[k].paths};
    }
    return TD_OK;
}

static td_status make_room(const td_paths_job *self, packing *all, int workers)
{
    uint64_t most = 1;
    for (uint32_t k = 0; k < self->paths.partitions; k++)
        if (edges_of(&self->paths.partition[k]) > most) most = edges_of(&self->paths.partition[k]);
    for (int i = 0; i < workers; i++) {
        TD_CHECK(TD_NEW(&all->edges[i], most, "packed partitions"));
        TD_CHECK(TD_NEW(&all->sources[i], most, "packed partitions"));
    }
    return TD_OK;
}

static td_status pack_all(td_paths_job *self, packing *all, uint64_t *at)
{
    const td_paths_batches *b = self->gpu->batches;
    uint32_t first = 0;
    TD_CHECK(place(self, at));
    for (uint32_t k = 0; k < self->paths.partitions; k++) {
        all->packs[k].first = first;
        first += b->sources[k];
    }
    return td_pool_for(self->cpu.pool, self->paths.partitions, GRAIN, pack_some, all);
}

td_status td_paths_open_packs(td_paths_job *self)
{
    td_status status = TD_OK;
    td_gpu_job *job = &self->gpu->job;
    td_paths_batches *b = self->gpu->batches;
    uint64_t count = self->paths.partitions, *at = NULL;
    int workers = td_pool_threads(self->cpu.pool);
    packing all = {.self = self};
    TD_TRY(TD_NEW_ZEROED(&all.packs, count, "packed partitions"));
    TD_TRY(TD_NEW_ZEROED(&all.edges, workers, "packed partitions"));
    TD_TRY(TD_NEW_ZEROED(&all.sources, workers, "packed partitions"));
    TD_TRY(TD_NEW(&at, count, "packed partitions"));
    all.at = at;
    TD_TRY(make_room(self, &all, workers));
    TD_TRY(pack_all(self, &all, at));
    if (b->near_bytes > 0) TD_TRY(td_stream_copy(job->stream, b->memory, b->packed_words, b->near_bytes, TD_TO_DEVICE));
    if (count > 0)
        TD_TRY(td_stream_copy(job->stream, (void *)(uintptr_t)self->gpu->args.paths.packs, all.packs,
                              count * sizeof *all.packs, TD_TO_DEVICE));
    TD_TRY(td_stream_synchronize(job->stream));
done:
    for (int i = 0; i < workers; i++) {
        if (all.edges != NULL) td_free(all.edges[i]);
        if (all.sources != NULL) td_free(all.sources[i]);
    }
    td_free(all.edges);
    td_free(all.sources);
    td_free(all.packs);
    td_free(at);
    return status;
}

uint64_t td_paths_pack_host_bytes(const td_paths_job *self)
{
    const td_paths_batches *b = self->gpu->batches;
    return b->packed_bytes + (uint64_t)self->paths.partitions * (sizeof(td_path_pack) + 2 * ID + sizeof(uint64_t));
}

void td_paths_close_packs(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    if (b->packed_seen != NULL) td_device_unpin(self->gpu->job.device, b->packed_words);
    td_free(b->packed_words);
    td_free(b->sources);
    td_free(b->targets);
}
