/* How paths are divided into batches, and what the host keeps of them. */
#include "engine/paths/batches.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/names.h"
#include "base/size.h"

enum { ID = sizeof(uint32_t), WANTED_SLOTS = 8, LEAST_SLOTS = 2, ALIGNED = 16, READERS_GRAIN = 1 << 12 };

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

uint64_t td_paths_first_edge(const td_paths_job *self, uint32_t k)
{
    const td_paths *p = &self->paths;
    return k < p->partitions ? p->partition[k].first_entry - p->partition[k].first_path : p->edges;
}

td_paths_batch_parts td_paths_parts_of(const td_paths_job *self, uint32_t first, uint32_t end)
{
    const td_paths *p = &self->paths;
    const td_gpu_job *job = &self->gpu->job;
    const td_path_partition *from = &p->partition[first];
    uint64_t entries = (end < p->partitions ? p->partition[end].first_entry : p->entries) - from->first_entry;
    uint64_t paths = (end < p->partitions ? p->partition[end].first_path : p->paths) - from->first_path;
    uint64_t edges = td_paths_first_edge(self, end) - td_paths_first_edge(self, first);
    uint64_t message = job->traits->message_bytes;
    td_paths_batch_parts at = {.entries = 0};
    at.starts = aligned(entries * ID);
    at.lanes = at.starts + aligned(paths * ID);
    at.weights = at.lanes + aligned((uint64_t)(end - first) * (TD_PATH_LANES + 1) * ID);
    at.sent = at.weights + aligned(edges * td_gpu_weight_bytes(job));
    at.sent_back = at.sent + aligned(edges * message);
    at.end = at.sent_back + (self->steps.state.back ? aligned(edges * message) : 0);
    return at;
}

static uint64_t bytes_of(const td_paths_job *self, uint32_t first, uint32_t end)
{
    return td_paths_parts_of(self, first, end).end;
}

/* Slots. */

static td_status too_small(uint64_t fixed, uint64_t least, uint32_t slots, uint64_t room, const td_device *device)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    td_refusal refusal = td_device_refusal(device, fixed + slots * least, room);
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "the engine paths needs %s on %s for vertices and %u batches of paths of %s each, and %s are "
                     "free%s%s; a smaller paths.partition_edges makes smaller batches possible",
                     td_format_size(a, fixed + slots * least), device->name, slots, td_format_size(b, least),
                     td_format_size(c, room), device->budget > 0 ? " under " : "",
                     device->budget > 0 ? td_named("gpu_memory") : "");
}

td_status td_paths_shape_batches(td_paths_job *self, uint64_t fixed, uint64_t room)
{
    td_paths_batches *b = self->gpu->batches;
    const td_paths *p = &self->paths;
    uint64_t least = ALIGNED, whole = p->partitions > 0 ? bytes_of(self, 0, p->partitions) : ALIGNED;
    uint64_t left = room > fixed ? room - fixed : 0;
    double cap = self->options->gpu_edges, allowed = cap <= 1 ? cap * (double)whole : cap;
    if (b->packed) return td_paths_shape_packs(self, left), TD_OK;
    if (cap > 0 && allowed < (double)left) left = (uint64_t)allowed;
    for (uint32_t k = 0; k < p->partitions; k++)
        if (bytes_of(self, k, k + 1) > least) least = bytes_of(self, k, k + 1);
    b->slots = self->set.streams > 0 ? self->set.streams : WANTED_SLOTS;
    while (self->set.streams == 0 && b->slots > LEAST_SLOTS && left / b->slots < least) b->slots--;
    b->slot_bytes = left / b->slots;
    if (self->set.batch_edges > 0 && p->edges > 0) {
        double wanted = (double)whole / (double)p->edges * (double)self->set.batch_edges;
        if (wanted < (double)b->slot_bytes) b->slot_bytes = wanted > (double)least ? (uint64_t)wanted : least;
    }
    if (b->slot_bytes > whole) b->slot_bytes = whole;
    b->slot_bytes = b->slot_bytes / ALIGNED * ALIGNED;
    return b->slot_bytes >= least ? TD_OK : too_small(fixed, least, b->slots, room, self->gpu->job.memory.device);
}

/* Cuts before the partition that no longer fits. */
static uint32_t cut(const td_paths_job *self, td_paths_batch *out)
{
    uint32_t count = 0, first = 0;
    for (uint32_t k = 1; k <= self->paths.partitions; k++) {
        if (k < self->paths.partitions && bytes_of(self, first, k + 1) <= self->gpu->batches->slot_bytes) continue;
        if (out != NULL) out[count] = (td_paths_batch){.first = first, .end = k, .slot = -1};
        count++;
        first = k;
    }
    return count;
}

/* The partitions that read a vertex: those of its paths, each once. */

static uint64_t list_readers(const td_paths_job *self, uint32_t v, uint32_t *out)
{
    const td_paths_index *index = &self->index;
    uint64_t count = 0;
    uint32_t k = 0;
    for (uint64_t i = index->place_offsets[v]; i < index->place_offsets[v + 1]; i++) {
        uint32_t word = index->places[i] / 32;
        if (count > 0 && word < index->first_word[k + 1]) continue;
        k = td_paths_partition_of(self, index->places[i]);
        if (out != NULL) out[count] = k;
        count++;
    }
    return count;
}

static td_status count_some_readers(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_paths_job *self = context;
    td_paths_batches *b = self->gpu->batches;
    uint64_t sum = 0, most = 0, before = __atomic_load_n(&b->most_places, __ATOMIC_RELAXED);
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t count = list_readers(self, (uint32_t)v, NULL);
        sum += count;
        if (count > most) most = count;
    }
    __atomic_fetch_add(&b->place_count, sum, __ATOMIC_RELAXED);
    while (before < most &&
           !__atomic_compare_exchange_n(&b->most_places, &before, most, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    return TD_OK;
}

td_status td_paths_count_readers(td_paths_job *self)
{
    self->gpu->batches->place_count = self->gpu->batches->most_places = 0;
    return td_pool_for(self->options->pool, self->cpu.graph->vertices, READERS_GRAIN, count_some_readers, self);
}

typedef struct source_count {
    const td_paths_job *self;
    uint32_t *sources;
} source_count;

static td_status count_some_sources(void *context, uint64_t begin, uint64_t end, int worker)
{
    const source_count *count = context;
    const td_paths_index *index = &count->self->index;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t k = UINT32_MAX;
        for (uint64_t i = index->place_offsets[v]; i < index->place_offsets[v + 1]; i++) {
            if (k != UINT32_MAX && index->places[i] / 32 < index->first_word[k + 1]) continue;
            k = td_paths_partition_of(count->self, index->places[i]);
            __atomic_fetch_add(&count->sources[k], 1, __ATOMIC_RELAXED);
        }
    }
    return TD_OK;
}

td_status td_paths_count_sources(const td_paths_job *self, uint32_t *sources)
{
    source_count count = {self, sources};
    return td_pool_for(self->options->pool, self->cpu.graph->vertices, READERS_GRAIN, count_some_sources, &count);
}

/* A vertex's readers are counted where the next one's begin; sums follow. */
static td_status number_some_readers(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_paths_job *self = context;
    (void)worker;
    for (uint64_t v = begin; v < end; v++)
        self->gpu->batches->place_offsets[v + 1] = list_readers(self, (uint32_t)v, NULL);
    return TD_OK;
}

static td_status fill_some_readers(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_paths_job *self = context;
    td_paths_batches *b = self->gpu->batches;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t home = self->index.home[v];
        (void)list_readers(self, (uint32_t)v, b->places + b->place_offsets[v]);
        b->home[v] = home == UINT32_MAX ? UINT32_MAX : td_paths_partition_of(self, home);
    }
    return TD_OK;
}

static td_status fill_readers(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    uint64_t n = self->cpu.graph->vertices;
    b->place_offsets[0] = 0;
    TD_CHECK(td_pool_for(self->cpu.pool, n, READERS_GRAIN, number_some_readers, self));
    for (uint64_t v = 0; v < n; v++) b->place_offsets[v + 1] += b->place_offsets[v];
    return td_pool_for(self->cpu.pool, n, READERS_GRAIN, fill_some_readers, self);
}

/* The batches that read what a batch writes: the vertices that its paths enter, both ways all of them. */
static uint32_t batch_at(const td_paths_batches *b, uint32_t partition)
{
    uint32_t low = 0, high = b->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (b->batch[middle].first <= partition) low = middle;
        else high = middle - 1;
    }
    return low;
}

static td_status find_successors(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    const td_paths *p = &self->paths;
    uint64_t n = self->cpu.graph->vertices, words = td_bitmap_words(b->count), *seen;
    TD_CHECK(TD_NEW(&seen, td_bitmap_words(n) + 1, "vertices of batches"));
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t *to = b->successors + i * words;
        for (uint64_t w = 0; w < td_bitmap_words(n); w++) seen[w] = 0;
        for (uint32_t k = b->batch[i].first; k < b->batch[i].end; k++) {
            const td_path_partition *of = &p->partition[k];
            for (uint64_t e = of->first_entry; e < of->first_entry + of->entries; e++) {
                uint32_t v = p->vertices[e];
                if (td_bit_get(seen, v)) continue;
                td_bit_set(seen, v);
                for (uint64_t r = b->place_offsets[v]; r < b->place_offsets[v + 1]; r++)
                    td_bit_set(to, batch_at(b, b->places[r]));
            }
        }
    }
    td_free(seen);
    return TD_OK;
}

/* Memory. */

uint64_t td_paths_batch_host_bytes(const td_paths_job *self)
{
    const td_paths_batches *b = self->gpu->batches;
    uint64_t n = self->cpu.graph->vertices, message = self->gpu->job.traits->message_bytes;
    uint64_t mirrors = self->paths.edges * message * (self->steps.state.back ? 2 : 1);
    if (b->packed) return td_paths_pack_host_bytes(self) + (n + 1) * sizeof(uint64_t) + n * ID + b->place_count * ID;
    uint64_t count = cut(self, NULL), maps = count * (count / 64 + 2) * sizeof(uint64_t);
    uint64_t readers = (n + 1) * sizeof(uint64_t) + n * ID + b->place_count * ID;
    return mirrors + readers + n / 8 + maps + count * sizeof *b->batch;
}

static td_status allocate_readers(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    uint64_t n = self->cpu.graph->vertices;
    TD_CHECK(TD_NEW(&b->place_offsets, n + 1, "partitions that read vertices"));
    TD_CHECK(TD_NEW(&b->places, b->place_count, "partitions that read vertices"));
    return TD_NEW(&b->home, n, "partitions of vertices");
}

static td_status allocate(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    uint64_t message = self->gpu->job.traits->message_bytes;
    b->count = cut(self, NULL);
    b->words = (self->paths.partitions + 31) / 32;
    TD_CHECK(TD_NEW(&b->batch, b->count, "batches of paths"));
    TD_CHECK(TD_NEW_ZEROED(&b->successors, b->count * td_bitmap_words(b->count), "successors of batches"));
    TD_CHECK(TD_NEW_ZEROED(&b->active, td_bitmap_words(b->count) + 1, "marked batches"));
    TD_CHECK(TD_NEW_ZEROED(&b->marks, (uint64_t)b->words + 1, "marks of partitions"));
    TD_CHECK(td_new_bytes(&b->sent, self->paths.edges, message, "mirrors of edges"));
    if (self->steps.state.back) TD_CHECK(td_new_bytes(&b->sent_back, self->paths.edges, message, "mirrors of edges"));
    return TD_OK;
}

static td_status send(td_gpu_job *job, const void *to, const void *from, uint64_t bytes)
{
    return td_stream_copy(job->stream, (void *)(uintptr_t)to, from, bytes, TD_TO_DEVICE);
}

/* What crosses the link: the mirrors and, unless they are parts of a prepared file, the tables of the paths. */
static int list_crossing(const td_paths_job *self, void **arrays, uint64_t *bytes)
{
    const td_paths *p = &self->paths;
    const td_paths_batches *b = self->gpu->batches;
    uint64_t mirrors = p->edges * self->gpu->job.traits->message_bytes;
    void *all[] = {b->sent, b->sent_back, p->vertices, p->starts, p->lanes, p->weights};
    uint64_t sizes[] = {mirrors, self->steps.state.back ? mirrors : 0, p->entries * ID, p->paths * ID,
                        (uint64_t)p->partitions * (TD_PATH_LANES + 1) * ID,
                        p->edges * td_gpu_weight_bytes(&self->gpu->job)};
    int count = p->block == NULL ? 6 : 2;
    for (int i = 0; i < count; i++) {
        arrays[i] = all[i];
        bytes[i] = sizes[i];
    }
    return count;
}

uint64_t td_paths_pinned_bytes(const td_paths_job *self)
{
    void *arrays[6];
    uint64_t bytes[6], sum = 0;
    if (self->gpu->batches == NULL) return 0;
    if (self->gpu->batches->packed) return self->gpu->batches->packed_bytes;
    for (int i = 0, count = list_crossing(self, arrays, bytes); i < count; i++) sum += bytes[i];
    return sum;
}

/* Memory that cannot be pinned is copied more slowly. */
static void pin(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    void *arrays[6], *seen;
    uint64_t bytes[6];
    td_failure before;
    td_failure_keep(&before);
    for (int i = 0, count = list_crossing(self, arrays, bytes); i < count; i++) {
        if (bytes[i] == 0 || td_device_pin(self->gpu->job.device, arrays[i], bytes[i], &seen) != TD_OK) continue;
        b->pinned[i] = arrays[i];
        b->pinned_bytes += bytes[i];
    }
    td_failure_set(&before);
}

static td_status open_slots(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_paths_batches *b = self->gpu->batches;
    TD_CHECK(allocate(self));
    (void)cut(self, b->batch);
    TD_CHECK(find_successors(self));
    pin(self);
    for (uint32_t i = 0; i < b->slots; i++) {
        b->slot[i].batch = -1;
        b->slot[i].memory = b->memory + i * b->slot_bytes;
        TD_CHECK(td_stream_open(job->device, &b->slot[i].stream));
    }
    return TD_OK;
}

td_status td_paths_list_readers(td_paths_job *self)
{
    TD_CHECK(allocate_readers(self));
    TD_CHECK(fill_readers(self));
    return self->gpu->batches->packed ? td_paths_pack_words(self) : TD_OK;
}

td_status td_paths_open_batches(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_paths_batches *b = self->gpu->batches;
    const td_path_state *s = &self->gpu->args.paths;
    uint64_t n = job->graph->vertices;
    TD_CHECK(b->packed ? td_paths_open_packs(self) : open_slots(self));
    TD_CHECK(send(job, s->place_offsets, b->place_offsets, (n + 1) * sizeof(uint64_t)));
    TD_CHECK(send(job, s->places, b->places, b->place_count * ID));
    TD_CHECK(send(job, s->home_partition, b->home, n * ID));
    return td_stream_synchronize(job->stream);
}

void td_paths_close_batches(td_paths_job *self)
{
    td_paths_batches *b = self->gpu->batches;
    if (b == NULL) return;
    for (uint32_t i = 0; i < TD_PATHS_SLOTS; i++) td_stream_close(b->slot[i].stream);
    for (int i = 0; i < 6; i++) td_device_unpin(self->gpu->job.device, b->pinned[i]);
    td_paths_close_packs(self);
    td_free(b->batch);
    td_free(b->successors);
    td_free(b->active);
    td_free(b->marks);
    td_free(b->sent);
    td_free(b->sent_back);
    td_free(b->place_offsets);
    td_free(b->places);
    td_free(b->home);
    td_free(b);
    self->gpu->batches = NULL;
}
