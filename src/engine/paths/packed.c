/* Packed partitions (kernels/gpu/path_packed.h). Paths that stay at the host are mostly single edges, and a path's
 * entries, beginning and mirrors take five times the bytes of an edge's. So the edges of a partition are stored sorted by
 * their second vertices, with the places of their first ones in a list, all numbers in as few bits as their block of 32
 * needs, and mirrors are those of a partition and a vertex, on the GPU. As many partitions as there is room for are on the
 * GPU too; walks read the others in the host's memory, those that are marked alone, so that rounds need no look of the
 * host. */
#include "engine/paths/batches.h"

#include "base/alloc.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

enum { ID = sizeof(uint32_t), ALIGNED = 16, GRAIN = 16 };
#define FLAG UINT32_C(0x80000000)

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

static uint64_t edges_of(const td_path_partition *of) { return of->entries - of->paths; }

static uint64_t count_mirrors(const td_paths_batches *b, const td_path_partition *of, uint32_t k)
{
    return b->chained[k] ? edges_of(of) : 2 * (uint64_t)b->sources[k];
}

/* Edges of the longest path. */
static uint64_t longest_of(const td_paths *p, const td_path_partition *of)
{
    uint64_t most = 0;
    for (uint32_t path = 0; path < of->paths; path++) {
        uint64_t edges = td_path_end(p, of, path) - td_path_begin(p, of, path) - 1;
        if (edges > most) most = edges;
    }
    return most;
}

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

static uint32_t width_of(uint64_t value)
{
    uint32_t width = 0;
    while (value >> width != 0) width++;
    return width;
}

static uint64_t blocks_of(uint64_t count) { return (count + TD_PATH_BLOCK - 1) / TD_PATH_BLOCK; }

/* Words of a list whose numbers have so many bits. */
static uint64_t list_words(uint64_t count, uint32_t width)
{
    uint64_t blocks = blocks_of(count);
    return 2 * blocks + (blocks + 3) / 4 + blocks * width;
}

/* Bytes of a packed partition, at most. */
static uint64_t pack_bytes(const td_paths_job *self, uint32_t k)
{
    const td_path_partition *of = &self->paths.partition[k];
    const td_paths_batches *b = self->gpu->batches;
    uint64_t edges = edges_of(of), weight = td_gpu_weight_bytes(&self->gpu->job);
    uint32_t vertex = width_of(self->cpu.graph->vertices);
    if (b->chained[k])
        return aligned(list_words(of->entries, vertex + TD_PATH_CHAIN_BITS) * ID) + aligned(edges * weight);
    uint64_t words = list_words(b->sources[k], vertex) + list_words(b->targets[k], vertex) +
        list_words(edges, width_of(b->sources[k]));
    return aligned(words * ID) + aligned(edges * weight);
}

/* Values that flow back along paths, and counts instead of sums, are walked in batches. */
bool td_paths_can_pack(const td_paths_job *self)
{
    static const char *const keys[] = {"paths.batch_edges", "paths.prefetch", "paths.evict"};
    const td_settings *settings = self->options->settings;
    for (size_t i = 0; settings != NULL && i < sizeof keys / sizeof *keys; i++)
        if (td_settings_given(settings, keys[i])) return false;
    if (self->steps.state.back || self->cpu.kernels->schedule == TD_SCHEDULE_PEEL) return false;
    return self->set.streams == 0 && self->cpu.graph->vertices < FLAG;
}

static uint64_t most_edges(const td_paths_job *self)
{
    uint64_t most = 1;
    for (uint32_t k = 0; k < self->paths.partitions; k++)
        if (edges_of(&self->paths.partition[k]) > most) most = edges_of(&self->paths.partition[k]);
    return most;
}

/* Places in a partition's words have 32 bits. */
enum { PACKED_EDGES = 1 << 26 };

static bool may_pack(const td_paths_job *self, const td_device *device)
{
    if (most_edges(self) > PACKED_EDGES) return false;
    if (self->gpu->post != NULL || !device->properties.reads_host || !td_paths_can_pack(self)) return false;
    return self->gpu->batches->place_count < UINT32_MAX / 2;
}

/* In lists a value goes one edge on in a walk, along a chain as far as its path goes; but lists take fewer bytes where
 * paths are short. */
static td_status count_some_targets(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_paths_job *self = context;
    td_paths_batches *b = self->gpu->batches;
    bool numbers = self->cpu.graph->vertices < FLAG >> TD_PATH_CHAIN_BITS;
    (void)worker;
    for (uint64_t k = begin; k < end; k++) {
        b->targets[k] = (uint32_t)bound_targets(&self->paths, &self->paths.partition[k]);
        b->chained[k] = numbers && longest_of(&self->paths, &self->paths.partition[k]) >= TD_PATH_CHAIN;
    }
    return TD_OK;
}

static td_status count_words(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    b->packed_bytes = b->mirrors = b->chains = 0;
    TD_CHECK(td_pool_for(self->options->pool, self->paths.partitions, GRAIN, count_some_targets, self));
    for (uint32_t k = 0; k < self->paths.partitions; k++) {
        b->packed_bytes += pack_bytes(self, k);
        b->mirrors += count_mirrors(b, &self->paths.partition[k], k);
        b->chains += b->chained[k];
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
    TD_CHECK(TD_NEW_ZEROED(&b->chained, self->paths.partitions, "packed partitions"));
    TD_CHECK(td_paths_count_sources(self, b->sources));
    TD_CHECK(count_words(self));
    b->packed = b->mirrors <= UINT32_MAX;
    return TD_OK;
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

/* Of all packed partitions: a bound until they are packed. */
static uint64_t words_of(const td_paths_batches *b) { return b->packs != NULL ? b->words_bytes : b->packed_bytes; }

void td_paths_shape_packs(td_paths_job *self, uint64_t left)
{
    td_paths_batches *b = self->gpu->batches;
    double cap = self->options->gpu_edges, allowed = cap <= 1 ? cap * (double)words_of(b) : cap;
    if (cap > 0 && allowed < (double)left) left = (uint64_t)allowed;
    b->pool_bytes = left < words_of(b) ? left / ALIGNED * ALIGNED : words_of(b);
}

/* Packing. */

typedef struct edge {
    uint64_t key; /* its second vertex, then its first */
    uint64_t number;
} edge;

typedef struct packing {
    td_paths_job *self;
    edge **edges;       /* of a worker */
    uint32_t **numbers;
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

/* Writes a list; returns the words behind it. Numbers have their flags in the highest bit. */
static uint32_t *write_list(const uint32_t *numbers, uint32_t count, uint32_t *out)
{
    uint32_t blocks = (uint32_t)blocks_of(count), *packed = out + 2 * blocks + (blocks + 3) / 4;
    uint8_t *widths = (uint8_t *)(out + 2 * blocks);
    memset(widths, 0, (blocks + 3) / 4 * ID);
    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t *block = numbers + b * TD_PATH_BLOCK;
        uint32_t length = count - b * TD_PATH_BLOCK < TD_PATH_BLOCK ? count - b * TD_PATH_BLOCK : TD_PATH_BLOCK;
        uint32_t least = UINT32_MAX, most = 0, flags = 0;
        for (uint32_t i = 0; i < length; i++) {
            uint32_t number = block[i] & ~FLAG;
            if (number < least) least = number;
            if (number > most) most = number;
            flags |= block[i] / FLAG << i;
        }
        uint32_t width = width_of(most - least);
        out[b] = least;
        out[blocks + b] = flags;
        widths[b] = (uint8_t)width;
        memset(packed, 0, width * ID);
        for (uint32_t i = 0; i < length && width > 0; i++) {
            uint64_t bits = (uint64_t)((block[i] & ~FLAG) - least) << (i * width & 31u);
            packed[i * width / 32] |= (uint32_t)bits;
            if (bits >> 32 != 0) packed[i * width / 32 + 1] |= (uint32_t)(bits >> 32);
        }
        packed += width;
    }
    return packed;
}

/* The vertices that edges enter, flagged where their home path is in the partition. */
static uint32_t list_targets(const td_paths_job *self, uint32_t k, const edge *edges, uint32_t count, uint32_t *out)
{
    const uint32_t *home = self->gpu->batches->home;
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t w = (uint32_t)(edges[i].key >> 32);
        if (i == 0 || w != (uint32_t)(edges[i - 1].key >> 32)) out[distinct++] = home[w] == k ? w | FLAG : w;
    }
    return distinct;
}

/* Flags the vertices that edges leave whose home path is in the partition, and that none of its edges enters. */
static void flag_sources(const td_paths_job *self, uint32_t k, const uint32_t *targets, uint32_t entered,
                         uint32_t *sources, uint32_t count)
{
    for (uint32_t i = 0, t = 0; i < count; i++) { /* ascending, both */
        while (t < entered && (targets[t] & ~FLAG) < sources[i]) t++;
        bool enters = t < entered && (targets[t] & ~FLAG) == sources[i];
        if (self->gpu->batches->home[sources[i]] == k && !enters) sources[i] |= FLAG;
    }
}

static void number_edges(const edge *edges, uint32_t count, const uint32_t *sources, uint32_t distinct, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count || edges[i + 1].key >> 32 != edges[i].key >> 32;
        out[i] = number_of(sources, distinct, (uint32_t)edges[i].key) | (last ? FLAG : 0);
    }
}

static void write_weights(const td_paths_job *self, const edge *edges, uint32_t count, char *out)
{
    uint64_t weight = td_gpu_weight_bytes(&self->gpu->job);
    for (uint32_t i = 0; weight > 0 && i < count; i++)
        memcpy(out + i * weight, (const char *)self->paths.weights + edges[i].number * weight, weight);
}

/* How many edges leave a vertex; `sources`: those of all edges, ascending. */
static uint32_t count_source(const uint32_t *sources, uint32_t count, uint32_t v)
{
    uint32_t at = number_of(sources, count, v), begin = at;
    while (at < count && sources[at] == v) at++;
    return at - begin;
}

static uint32_t list_leaving(const td_paths *p, const td_path_partition *of, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t path = 0; path < of->paths; path++)
        for (uint64_t e = td_path_begin(p, of, path); e + 1 < td_path_end(p, of, path); e++) out[count++] = p->vertices[e];
    qsort(out, count, sizeof *out, by_vertex);
    return count;
}

static void list_chain(const td_paths_job *self, uint32_t k, const uint32_t *sources, uint32_t count, uint32_t *out)
{
    const td_paths *p = &self->paths;
    const td_path_partition *of = &p->partition[k];
    uint32_t first = 32 * self->index.first_word[k];
    for (uint32_t path = 0; path < of->paths; path++)
        for (uint64_t begin = td_path_begin(p, of, path), e = begin, end = td_path_end(p, of, path); e < end; e++) {
            uint32_t v = p->vertices[e], home = self->index.home[v] - first; /* of no path here: beyond the last */
            bool alone = e + 1 < end && count_source(sources, count, v) == 1;
            *out++ = v << TD_PATH_CHAIN_BITS | (e == begin ? TD_PATH_CHAIN_BEGINS : 0) | (alone ? TD_PATH_CHAIN_ALONE : 0) |
                     (home > path && home < of->paths ? TD_PATH_CHAIN_LATER : 0) | (home == path ? FLAG : 0);
        }
}

static void write_chain_weights(const td_paths_job *self, uint32_t k, char *out)
{
    uint64_t weight = td_gpu_weight_bytes(&self->gpu->job);
    if (weight > 0)
        memcpy(out, (const char *)self->paths.weights + td_paths_first_edge(self, k) * weight,
               edges_of(&self->paths.partition[k]) * weight);
}

/* Puts a partition as a chain. */
static void pack_chain(packing *all, uint32_t k, uint32_t *numbers)
{
    const td_paths_job *self = all->self;
    const td_path_partition *of = &self->paths.partition[k];
    td_paths_batches *b = self->gpu->batches;
    uint32_t *words = (uint32_t *)(void *)(b->packed_words + b->at[k]);
    uint32_t count = list_leaving(&self->paths, of, numbers);
    td_path_pack pack = {.first = b->packs[k].first, .edges = count, .paths = of->paths, .entries = of->entries};
    list_chain(self, k, numbers, count, numbers + count);
    pack.end = (uint32_t)(write_list(numbers + count, of->entries, words) - words);
    write_chain_weights(self, k, (char *)words + aligned(pack.end * ID));
    b->bytes_of[k] = aligned(pack.end * ID) + aligned(count * td_gpu_weight_bytes(&self->gpu->job));
    b->packs[k] = pack;
}

static void pack_lists(packing *all, uint32_t k, edge *edges, uint32_t *numbers)
{
    const td_paths_job *self = all->self;
    const td_path_partition *of = &self->paths.partition[k];
    td_paths_batches *b = self->gpu->batches;
    uint32_t *words = (uint32_t *)(void *)(b->packed_words + b->at[k]), *next;
    uint32_t count = list_edges(&self->paths, of, edges), *sources = numbers, *targets = numbers + count;
    uint32_t *places = targets + count, distinct = list_sources(edges, count, sources);
    uint32_t entered = list_targets(self, k, edges, count, targets);
    number_edges(edges, count, sources, distinct, places);
    flag_sources(self, k, targets, entered, sources, distinct);
    td_path_pack pack = {.first = b->packs[k].first, .sources = distinct, .targets = entered, .edges = count,
                         .paths = of->paths};
    pack.targets_at = (uint32_t)((next = write_list(sources, distinct, words)) - words);
    pack.edges_at = (uint32_t)((next = write_list(targets, entered, next)) - words);
    pack.end = (uint32_t)(write_list(places, count, next) - words);
    write_weights(self, edges, count, (char *)words + aligned(pack.end * ID));
    b->bytes_of[k] = aligned(pack.end * ID) + aligned(count * td_gpu_weight_bytes(&self->gpu->job));
    b->packs[k] = pack;
}

static td_status pack_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    packing *all = context;
    for (uint64_t k = begin; k < end; k++) {
        if (all->self->gpu->batches->chained[k]) pack_chain(all, (uint32_t)k, all->numbers[worker]);
        else pack_lists(all, (uint32_t)k, all->edges[worker], all->numbers[worker]);
    }
    return TD_OK;
}

static td_status make_room(packing *all, int workers)
{
    uint64_t most = most_edges(all->self);
    TD_CHECK(TD_NEW_ZEROED(&all->edges, workers, "packed partitions"));
    TD_CHECK(TD_NEW_ZEROED(&all->numbers, workers, "packed partitions"));
    for (int i = 0; i < workers; i++) {
        TD_CHECK(TD_NEW(&all->edges[i], most, "packed partitions"));
        TD_CHECK(TD_NEW(&all->numbers[i], 3 * most, "packed partitions"));
    }
    return TD_OK;
}

static void free_room(packing *all, int workers)
{
    for (int i = 0; i < workers; i++) {
        if (all->edges != NULL) td_free(all->edges[i]);
        if (all->numbers != NULL) td_free(all->numbers[i]);
    }
    td_free(all->edges);
    td_free(all->numbers);
}

static td_status make_tables(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    uint32_t first = 0, count = self->paths.partitions;
    TD_CHECK(TD_NEW_ZEROED(&b->packs, (uint64_t)count + 1, "packed partitions"));
    TD_CHECK(TD_NEW(&b->at, (uint64_t)count + 1, "packed partitions"));
    TD_CHECK(TD_NEW_ZEROED(&b->bytes_of, (uint64_t)count + 1, "packed partitions"));
    b->at[0] = 0;
    for (uint32_t k = 0; k < count; k++) {
        b->packs[k].first = first;
        b->at[k + 1] = b->at[k] + pack_bytes(self, k);
        first += (uint32_t)count_mirrors(b, &self->paths.partition[k], k);
    }
    return TD_OK;
}

td_status td_paths_pack_words(td_paths_job *self)
{
    int workers = td_pool_threads(self->cpu.pool);
    td_paths_batches *b = self->gpu->batches;
    packing all = {.self = self};
    TD_CHECK(make_tables(self));
    td_status status = make_room(&all, workers);
    if (status == TD_OK) status = td_pool_for(self->cpu.pool, self->paths.partitions, GRAIN, pack_some, &all);
    free_room(&all, workers);
    for (uint32_t k = 0; k < self->paths.partitions; k++) b->words_bytes += b->bytes_of[k];
    return status;
}

/* As many partitions as there is room for go to the GPU, the first ones: they come first in the words, too. */
static td_status place(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    bool full = false;
    for (uint32_t k = 0; k < self->paths.partitions; k++) {
        td_path_pack *pack = &b->packs[k];
        const char *seen = (const char *)b->packed_seen + b->at[k];
        full |= b->near_bytes + b->bytes_of[k] > b->pool_bytes;
        pack->far = full;
        if (!full) {
            seen = b->memory + b->near_bytes;
            memmove(b->packed_words + b->near_bytes, b->packed_words + b->at[k], b->bytes_of[k]);
            b->near_bytes += b->bytes_of[k];
            b->residents++;
        }
        pack->words = (const uint32_t *)(const void *)seen;
        pack->weights = seen + aligned(pack->end * ID);
    }
    if (b->near_bytes == 0) return TD_OK;
    return td_stream_copy(self->gpu->job.stream, b->memory, b->packed_words, b->near_bytes, TD_TO_DEVICE);
}

td_status td_paths_open_packs(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    uint64_t count = self->paths.partitions;
    TD_CHECK(place(self));
    if (count > 0)
        TD_CHECK(td_stream_copy(self->gpu->job.stream, (void *)(uintptr_t)self->gpu->args.paths.packs, b->packs,
                                count * sizeof *b->packs, TD_TO_DEVICE));
    return td_stream_synchronize(self->gpu->job.stream);
}

uint64_t td_paths_pack_host_bytes(const td_paths_job *self)
{
    const td_paths_batches *b = self->gpu->batches;
    uint64_t workers = (uint64_t)td_pool_threads(self->options->pool);
    uint64_t room = workers * (most_edges(self) * (sizeof(edge) + 3 * ID) + 2 * sizeof(void *)); /* while they are packed */
    return b->packed_bytes + room + ((uint64_t)self->paths.partitions + 1) * (sizeof(td_path_pack) + 2 * ID + sizeof(bool) +
                                                                         2 * sizeof(uint64_t));
}

void td_paths_close_packs(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    if (b->packed_seen != NULL) td_device_unpin(self->gpu->job.device, b->packed_words);
    td_free(b->packed_words);
    td_free(b->sources);
    td_free(b->targets);
    td_free(b->chained);
    td_free(b->packs);
    td_free(b->at);
    td_free(b->bytes_of);
}
