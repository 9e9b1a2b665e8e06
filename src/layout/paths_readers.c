/* Which partitions read a vertex, and which groups precede which. Groups depend on each other through vertices: the
 * groups that write a vertex precede those that read it. Where both are many, the pairs are not stored; a hub stands
 * for the vertex between them. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "layout/radix.h"

#include <stdlib.h>
#include <string.h>

/* Distinct vertices of a partition. */
typedef struct vertex_set {
    uint32_t *slots; /* vertex + 1; 0: empty */
    uint64_t room;   /* a power of two */
    uint64_t allocated;
} vertex_set;

/* Empties the set for so many elements. */
static td_status clear_set(vertex_set *set, uint64_t elements)
{
    uint64_t room = 64;
    while (room < 2 * elements) room *= 2;
    if (room > set->allocated) {
        TD_CHECK(TD_RESIZE(&set->slots, room, "set of vertices"));
        set->allocated = room;
    }
    set->room = room;
    memset(set->slots, 0, room * sizeof *set->slots);
    return TD_OK;
}

/* True if the vertex was not in the set. */
static bool put(vertex_set *set, uint32_t vertex)
{
    uint64_t at = (vertex * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (set->room - 1);
    while (set->slots[at] != 0) {
        if (set->slots[at] == vertex + 1) return false;
        at = (at + 1) & (set->room - 1);
    }
    set->slots[at] = vertex + 1;
    return true;
}

enum { AHEAD = 16 }; /* vertices for which a prefetch is under way */

/* Readers are counted first: the vertices that a partition reads are listed, in its place among the edges, and counted
 * by vertex. Then they are placed by these lists. */
typedef struct reading {
    td_path_job *job;
    uint64_t *cursor; /* vertices: readers counted, then placed */
    uint32_t *listed; /* edges: the distinct vertices that a partition reads, where its edges begin */
    uint32_t *count;  /* partitions: vertices listed */
} reading;

static void list_partition(const reading *self, uint32_t k, vertex_set *set)
{
    const td_paths *paths = &self->job->paths;
    const td_path_partition *partition = &paths->partition[k];
    uint32_t *listed = self->listed + (partition->first_entry - partition->first_path), count = 0;
    uint64_t begin = partition->first_entry;
    for (uint32_t p = 0; p < partition->paths; p++) {
        uint64_t end = td_path_end(paths, partition, p);
        for (uint64_t i = begin; i + 1 < end; i++)
            if (put(set, paths->vertices[i])) listed[count++] = paths->vertices[i];
        begin = end;
    }
    for (uint32_t i = 0; i < count; i++) __atomic_fetch_add(&self->cursor[listed[i]], 1, __ATOMIC_RELAXED);
    self->count[k] = count;
}

static td_status list_partitions(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_status status = TD_OK;
    const reading *self = context;
    vertex_set set = {0};
    for (uint64_t k = begin; k < end; k++) {
        TD_TRY(clear_set(&set, self->job->paths.partition[k].entries));
        list_partition(self, (uint32_t)k, &set);
    }
done:
    td_free(set.slots);
    return status;
}

static td_status place_partitions(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const reading *self = context;
    const td_paths *paths = &self->job->paths;
    for (uint64_t k = begin; k < end; k++) {
        const uint32_t *listed = self->listed + (paths->partition[k].first_entry - paths->partition[k].first_path);
        for (uint32_t i = 0; i < self->count[k]; i++) {
            if (i + AHEAD < self->count[k]) __builtin_prefetch(&self->cursor[listed[i + AHEAD]], 1);
            paths->readers[__atomic_fetch_add(&self->cursor[listed[i]], 1, __ATOMIC_RELAXED)] = (uint32_t)k;
        }
    }
    return TD_OK;
}

static int compare(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static bool sorted(const uint32_t *numbers, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (numbers[i - 1] > numbers[i]) return false;
    return true;
}

static void sort_numbers(uint32_t *numbers, uint64_t count)
{
    if (count > 24) {
        if (sorted(numbers, count)) return;
        qsort(numbers, count, sizeof *numbers, compare);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint32_t number = numbers[i];
        uint64_t at = i;
        for (; at > 0 && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static td_status sort_readers(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_paths *paths = context;
    for (uint64_t v = begin; v < end; v++)
        sort_numbers(paths->readers + paths->reader_offsets[v], paths->reader_offsets[v + 1] - paths->reader_offsets[v]);
    return TD_OK;
}

static td_status find_readers(td_path_job *job)
{
    td_status status = TD_OK;
    td_paths *paths = &job->paths;
    uint64_t vertices = paths->graph_vertices, sum = 0;
    reading self = {.job = job};
    TD_TRY(TD_NEW_ZEROED(&self.cursor, vertices, "readers of vertices"));
    TD_TRY(TD_NEW(&self.listed, paths->edges, "vertices that partitions read"));
    TD_TRY(TD_NEW(&self.count, paths->partitions, "vertices that partitions read"));
    TD_TRY(TD_NEW(&paths->reader_offsets, vertices + 1, "readers of vertices"));
    TD_TRY(td_pool_for(job->pool, paths->partitions, 16, list_partitions, &self));
    for (uint64_t v = 0; v < vertices; v++) {
        paths->reader_offsets[v] = sum;
        sum += self.cursor[v];
        self.cursor[v] = paths->reader_offsets[v];
    }
    paths->reader_offsets[vertices] = sum;
    TD_TRY(TD_NEW(&paths->readers, sum, "partitions that read vertices"));
    TD_TRY(td_pool_for(job->pool, paths->partitions, 16, place_partitions, &self));
    TD_TRY(td_pool_for(job->pool, vertices, TD_PATH_GRAIN, sort_readers, paths));
done:
    td_free(self.cursor);
    td_free(self.listed);
    td_free(self.count);
    return status;
}

/* Replicas. */

typedef struct counting {
    const td_paths *paths;
    uint64_t sum, written; /* atomically */
} counting;

static td_status count_replicas(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_status status = TD_OK;
    counting *self = context;
    vertex_set set = {0};
    for (uint64_t k = begin; k < end; k++) {
        const td_path_partition *partition = &self->paths->partition[k];
        uint64_t distinct = 0;
        TD_TRY(clear_set(&set, partition->entries));
        for (uint32_t i = 0; i < partition->entries; i++)
            distinct += put(&set, self->paths->vertices[partition->first_entry + i]);
        __atomic_fetch_add(&self->sum, distinct, __ATOMIC_RELAXED);
        TD_TRY(clear_set(&set, partition->entries));
        distinct = 0;
        for (uint32_t p = 0; p < partition->paths; p++)
            for (uint64_t i = td_path_begin(self->paths, partition, p) + 1; i < td_path_end(self->paths, partition, p); i++)
                distinct += put(&set, self->paths->vertices[i]);
        __atomic_fetch_add(&self->written, distinct, __ATOMIC_RELAXED);
    }
done:
    td_free(set.slots);
    return status;
}

td_status td_paths_replicas(const td_paths *paths, td_pool *pool, uint64_t *replicas, uint64_t *written)
{
    counting self = {.paths = paths};
    TD_CHECK(td_pool_for(pool, paths->partitions, 16, count_replicas, &self));
    *replicas = self.sum;
    *written = self.written;
    return TD_OK;
}

/* The sketch. Links are words: the node before in the upper half, the node behind in the lower. */

enum { CACHE = 1 << 12, LINK_VERTICES = 1 << 14 };

typedef struct links {
    uint64_t *words;
    uint64_t count, room;
    uint32_t hubs;
} links;

typedef struct linking {
    td_path_job *job;
    const uint32_t *group_of; /* components */
    const uint32_t *once;     /* layers: the group of once-only paths */
    uint64_t chunks;
    links *of_chunk;          /* hubs are numbered by chunk, and by graph in the end */
} linking;

/* What one chunk of vertices collects. */
typedef struct scratch {
    links *out;
    uint32_t *writers, *readers;
    uint64_t writer_room, reader_room;
    uint64_t seen[CACHE]; /* links found lately: most vertices link the same groups */
} scratch;

static td_status add_link(scratch *self, uint64_t word, bool remember)
{
    uint64_t *seen = &self->seen[(word * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CACHE];
    links *out = self->out;
    if (remember && *seen == word) return TD_OK;
    if (remember) *seen = word;
    if (out->count == out->room) {
        out->room = 2 * out->room + 64;
        TD_CHECK(TD_RESIZE(&out->words, out->room, "links between groups"));
    }
    out->words[out->count++] = word;
    return TD_OK;
}

static uint32_t group_of_edge(const linking *self, uint64_t k, uint32_t source, uint32_t target)
{
    const td_path_job *job = self->job;
    uint32_t component = td_path_component(job, k, source, target);
    if (component != TD_NO_VERTEX) return self->group_of[component];
    return self->once[job->sketch.ready[job->components.of[source]]];
}

static uint64_t unique(uint32_t *numbers, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
    return kept;
}

static td_status reserve(uint32_t **array, uint64_t *room, uint64_t count)
{
    if (count <= *room) return TD_OK;
    uint64_t more = count + count / 2 + 64;
    TD_CHECK(TD_RESIZE(array, more, "groups at a vertex"));
    *room = more;
    return TD_OK;
}

static td_status find_writers(const linking *self, scratch *here, uint32_t v, uint64_t *count)
{
    const td_adjacency *in = &self->job->graph->in;
    uint64_t found = 0;
    TD_CHECK(reserve(&here->writers, &here->writer_room, td_degree(in, v)));
    for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
        uint32_t group = group_of_edge(self, k, in->targets[k], v);
        if (found == 0 || here->writers[found - 1] != group) here->writers[found++] = group;
    }
    sort_numbers(here->writers, found);
    *count = unique(here->writers, found);
    return TD_OK;
}

/* Partitions are in the order of their groups. */
static td_status find_reading(const linking *self, scratch *here, uint32_t v, uint64_t *count)
{
    const td_paths *paths = &self->job->paths;
    uint64_t begin = paths->reader_offsets[v], end = paths->reader_offsets[v + 1];
    TD_CHECK(reserve(&here->readers, &here->reader_room, end - begin));
    for (uint64_t i = begin; i < end; i++) here->readers[i - begin] = paths->partition[paths->readers[i]].group;
    *count = unique(here->readers, end - begin);
    return TD_OK;
}

static uint64_t link_word(uint64_t before, uint64_t behind) { return before << 32 | behind; }

/* A hub of a chunk has the number 2^31 + its number in the chunk. */
#define HUB UINT64_C(0x80000000)

static td_status link_by_hub(scratch *here, uint64_t writers, uint64_t readers)
{
    uint64_t hub = HUB + here->out->hubs++;
    for (uint64_t i = 0; i < writers; i++) TD_CHECK(add_link(here, link_word(here->writers[i], hub), false));
    for (uint64_t i = 0; i < readers; i++) TD_CHECK(add_link(here, link_word(hub, here->readers[i]), false));
    return TD_OK;
}

static td_status link_vertex(const linking *self, scratch *here, uint32_t v)
{
    uint64_t writers = 0, readers = 0;
    TD_CHECK(find_reading(self, here, v, &readers));
    if (readers == 0) return TD_OK;
    TD_CHECK(find_writers(self, here, v, &writers));
    if (writers > 1 && readers > 1 && writers * readers > 2 * (writers + readers))
        return link_by_hub(here, writers, readers);
    for (uint64_t i = 0; i < writers; i++)
        for (uint64_t j = 0; j < readers; j++)
            if (here->writers[i] != here->readers[j])
                TD_CHECK(add_link(here, link_word(here->writers[i], here->readers[j]), true));
    return TD_OK;
}

static td_status link_chunks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_status status = TD_OK;
    const linking *self = context;
    scratch *here = NULL;
    TD_TRY(TD_NEW_ZEROED(&here, 1, "groups at a vertex"));
    for (uint64_t chunk = begin; chunk < end; chunk++) {
        uint64_t first = chunk * LINK_VERTICES, behind = first + LINK_VERTICES;
        here->out = &self->of_chunk[chunk];
        memset(here->seen, 0xff, sizeof here->seen);
        for (uint64_t v = first; v < behind && v < self->job->graph->vertices; v++)
            TD_TRY(link_vertex(self, here, (uint32_t)v));
    }
done:
    if (here != NULL) {
        td_free(here->writers);
        td_free(here->readers);
    }
    td_free(here);
    return status;
}

/* Hubs of all chunks one after the other, behind the groups. */
static uint64_t renumbered(uint64_t node, uint64_t hubs_before)
{
    return node >= HUB ? node - HUB + hubs_before : node;
}

static td_status gather_links(const linking *self, links *all)
{
    uint64_t hubs = self->job->paths.groups;
    for (uint64_t c = 0; c < self->chunks; c++) all->room += self->of_chunk[c].count;
    TD_CHECK(TD_NEW(&all->words, all->room, "links between groups"));
    for (uint64_t c = 0; c < self->chunks; c++) {
        const links *chunk = &self->of_chunk[c];
        for (uint64_t i = 0; i < chunk->count; i++)
            all->words[all->count++] = link_word(renumbered(chunk->words[i] >> 32, hubs),
                                                 renumbered(chunk->words[i] & UINT32_MAX, hubs));
        hubs += chunk->hubs;
        if (hubs >= HUB) return td_fail(TD_LIMIT, "the sketch of the graph's paths has more than %u nodes", 1u << 31);
    }
    all->hubs = (uint32_t)(hubs - self->job->paths.groups);
    return TD_OK;
}

static int bytes_for(uint64_t largest)
{
    int bytes = 1;
    while (largest >>= 8) bytes++;
    return bytes;
}

/* Sorts the links, drops repeated ones, and makes lists of their lower halves. */
static td_status list_links(links *all, uint64_t nodes, uint64_t **offsets, uint32_t **targets, td_pool *pool)
{
    td_status status = TD_OK;
    uint64_t *spare = NULL, kept = 0;
    td_counts *counts = NULL;
    TD_TRY(TD_NEW(&spare, all->count, "links in order"));
    TD_TRY(TD_NEW(&counts, TD_MOST_BLOCKS, "counts of links"));
    TD_TRY(td_radix_sort(&all->words, &spare, all->count, 0, bytes_for(nodes) - 1, counts, pool));
    TD_TRY(td_radix_sort(&all->words, &spare, all->count, 4, 3 + bytes_for(nodes), counts, pool));
    for (uint64_t i = 0; i < all->count; i++)
        if (kept == 0 || all->words[kept - 1] != all->words[i]) all->words[kept++] = all->words[i];
    all->count = kept;
    TD_TRY(TD_NEW_ZEROED(offsets, nodes + 1, "links of groups"));
    TD_TRY(TD_NEW(targets, kept, "links of groups"));
    for (uint64_t i = 0; i < kept; i++) {
        (*offsets)[(all->words[i] >> 32) + 1]++;
        (*targets)[i] = (uint32_t)all->words[i];
    }
    for (uint64_t n = 0; n < nodes; n++) (*offsets)[n + 1] += (*offsets)[n];
done:
    td_free(spare);
    td_free(counts);
    return status;
}

static void turn_round(links *all)
{
    for (uint64_t i = 0; i < all->count; i++) all->words[i] = all->words[i] << 32 | all->words[i] >> 32;
}

static td_status make_lists(td_path_job *job, links *all)
{
    td_paths *paths = &job->paths;
    uint64_t nodes = (uint64_t)paths->groups + all->hubs;
    paths->hubs = all->hubs;
    TD_CHECK(list_links(all, nodes, &paths->next_offsets, &paths->next, job->pool));
    turn_round(all);
    return list_links(all, nodes, &paths->before_offsets, &paths->before, job->pool);
}

static td_status find_links(td_path_job *job)
{
    td_status status = TD_OK;
    linking self = {.job = job, .group_of = job->group_of, .once = job->once_group};
    links all = {0};
    self.chunks = (uint64_t)job->graph->vertices / LINK_VERTICES + 1;
    TD_TRY(TD_NEW_ZEROED(&self.of_chunk, self.chunks, "links between groups"));
    TD_TRY(td_pool_for(job->pool, self.chunks, 1, link_chunks, &self));
    TD_TRY(gather_links(&self, &all));
    TD_TRY(make_lists(job, &all));
done:
    for (uint64_t c = 0; self.of_chunk != NULL && c < self.chunks; c++) td_free(self.of_chunk[c].words);
    td_free(self.of_chunk);
    td_free(all.words);
    return status;
}

td_status td_paths_readers(td_path_job *job)
{
    TD_CHECK(find_readers(job));
    return find_links(job);
}
