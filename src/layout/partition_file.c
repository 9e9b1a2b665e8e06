#include "layout/partition_file.h"

#include "base/alloc.h"
#include "layout/lists_file.h"

#include <stdio.h>
#include <string.h>

enum { GRAIN = 1 << 12 };

/* Raised when a section changes, or what a partitioner makes of the same wish. */
#define PARTITION_VERSION 2u

typedef struct meta {
    uint32_t version, bytes; /* of this struct */
    uint32_t vertices, parts;
    uint64_t edges;          /* of the graph */
    uint32_t first[TD_FRAGMENTS + 1], zero;
    td_fragment_entries entries;
} meta;

/* The lists whose entries count, as td_partition_make chooses them. */
static void choose_lists(const td_graph *graph, const td_partition_wish *wish, bool *out, bool *in)
{
    bool all = !wish->out && !wish->in, has_in = graph->in.offsets != NULL;
    *out = graph->symmetric || wish->out || all;
    *in = !graph->symmetric && (wish->in || (all && has_in));
}

static const char *lists_of(const td_graph *graph, const td_partition_wish *wish)
{
    bool out, in;
    choose_lists(graph, wish, &out, &in);
    return out && in ? "both" : in ? "in" : "out";
}

char *td_partition_layout_name(char name[TD_SIDECAR_NAME], const td_graph *graph, const td_partition_wish *wish)
{
    snprintf(name, TD_SIDECAR_NAME, "multi-%s-%d-%s", td_partition_name(wish->kind), wish->parts, lists_of(graph, wish));
    return name;
}

static void write_key(char key[TD_SIDECAR_KEY], const td_graph *graph, const td_partition_wish *wish)
{
    int used = snprintf(key, TD_SIDECAR_KEY, "version=%u partition=%s parts=%d seed=%llu lists=%s shares=", PARTITION_VERSION,
                        td_partition_name(wish->kind), wish->parts, (unsigned long long)wish->seed, lists_of(graph, wish));
    if (wish->weights == NULL) snprintf(key + used, TD_SIDECAR_KEY - (size_t)used, "equal");
    for (int k = 0; wish->weights != NULL && k < wish->parts; k++)
        used += snprintf(key + used, TD_SIDECAR_KEY - (size_t)used, "%s%.17g", k > 0 ? "," : "", wish->weights[k]);
}

static td_status corrupt(const td_sidecar *file, const char *what)
{
    return td_fail(TD_CORRUPT, "%s: %s; prepare it again", td_sidecar_file(file), what);
}

/* Entries of the fragments' lists: the plan's figures for a GPU follow from them. */

typedef struct counting {
    const td_partition *partition;
    const td_adjacency *list;
    uint64_t *entries; /* of every fragment */
} counting;

static td_status count_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const counting *self = context;
    const td_partition *partition = self->partition;
    for (int k = 0; k < partition->parts; k++) {
        uint64_t from = partition->first[k] > begin ? partition->first[k] : begin, sum = 0;
        uint64_t to = partition->first[k + 1] < end ? partition->first[k + 1] : end;
        for (uint64_t i = from; i < to; i++) sum += td_degree(self->list, partition->order[i]);
        if (from < to) __atomic_fetch_add(&self->entries[k], sum, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

static td_status count_entries(const td_partition *partition, const td_graph *graph, const td_partition_wish *wish,
                               td_pool *pool, td_fragment_entries *out)
{
    bool lists[2];
    const counting counts[2] = {{partition, &graph->out, out->out}, {partition, &graph->in, out->in}};
    *out = (td_fragment_entries){0};
    choose_lists(graph, wish, &lists[0], &lists[1]);
    for (int l = 0; l < 2; l++)
        if (lists[l]) TD_CHECK(td_pool_for(pool, partition->vertices, GRAIN, count_some, (void *)(uintptr_t)&counts[l]));
    return TD_OK;
}

/* Opening. */

/* Boundaries as partition.h promises them: bitmaps of GPUs are divided there. */
static td_status check_boundaries(const td_sidecar *file, const meta *counts)
{
    const uint32_t *first = counts->first;
    uint32_t parts = counts->parts;
    if (first[0] != 0 || first[parts] != counts->vertices)
        return corrupt(file, "the fragments do not cover the vertices");
    for (uint32_t k = 0; k < parts; k++) {
        if (first[k] > first[k + 1]) return corrupt(file, "the fragments' beginnings do not ascend");
        if (first[k] % TD_FRAGMENT_ALIGN != 0) return corrupt(file, "a fragment begins within a word of a bitmap");
    }
    return TD_OK;
}

/* The sums of the entries are those of the graph; which vertices have them is checked with the order. */
static td_status check_entries(const td_sidecar *file, const td_graph *graph, const td_partition_wish *wish,
                               const meta *counts)
{
    bool lists[2];
    const uint64_t *entries[2] = {counts->entries.out, counts->entries.in};
    choose_lists(graph, wish, &lists[0], &lists[1]);
    for (int l = 0; l < 2; l++) {
        uint64_t left = lists[l] ? graph->edges : 0;
        for (int k = 0; k < TD_FRAGMENTS; k++) {
            if (entries[l][k] > left) return corrupt(file, "its fragments have more edges than the graph");
            left -= entries[l][k];
        }
        if (left > 0) return corrupt(file, "its fragments have fewer edges than the graph");
    }
    return TD_OK;
}

static td_status read_meta(const td_sidecar *file, const td_graph *graph, const td_partition_wish *wish, meta *counts)
{
    const char *path = td_sidecar_file(file);
    TD_CHECK(td_sidecar_read(file, "meta", counts, sizeof *counts, NULL));
    if (counts->version != PARTITION_VERSION || counts->bytes != sizeof *counts)
        return td_fail(TD_UNSUPPORTED, "%s has version %u of partitions; this Tandem has %u. Prepare it again", path,
                       counts->version, PARTITION_VERSION);
    if (counts->vertices != graph->vertices || counts->edges != graph->edges || counts->parts != (uint32_t)wish->parts)
        return td_fail(TD_CORRUPT, "%s does not have the counts of its graph; prepare it again", path);
    TD_CHECK(check_boundaries(file, counts));
    return check_entries(file, graph, wish, counts);
}

static td_status open_file(td_sidecar **out, const td_graph *graph, const td_partition_wish *wish, meta *counts)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    td_sidecar_id id = {graph->name, graph->build_id, name};
    if (wish->kind == TD_PARTITION_SEG || wish->parts < 1 || wish->parts > TD_FRAGMENTS || !td_graph_has_file(graph))
        return td_fail(TD_NOT_FOUND, "partitions with numbers of their own are prepared, of .tg files in memory");
    td_partition_layout_name(name, graph, wish);
    TD_TRY(td_sidecar_open(&file, &id));
    write_key(key, graph, wish);
    if (strcmp(td_sidecar_key(file), key) != 0)
        TD_TRY(td_fail(TD_NOT_FOUND, "%s was prepared with other settings (%s)", td_sidecar_file(file), td_sidecar_key(file)));
    TD_TRY(read_meta(file, graph, wish, counts));
    *out = file;
    file = NULL;
done:
    td_sidecar_close(file);
    return status;
}

td_status td_partition_find(const td_graph *graph, const td_partition_wish *wish, td_fragment_entries *entries,
                            uint32_t first[TD_FRAGMENTS + 1])
{
    td_sidecar *file = NULL;
    meta counts = {0};
    TD_CHECK(open_file(&file, graph, wish, &counts));
    td_sidecar_close(file);
    *entries = counts.entries;
    memcpy(first, counts.first, sizeof counts.first);
    return TD_OK;
}

/* Reading. The order must have every vertex once, because numbers index all arrays of a run. */

typedef struct ordering {
    const td_partition *partition;
    const td_sidecar *file;
} ordering;

static td_status find_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *self = context;
    const td_partition *partition = self->partition;
    for (uint64_t i = begin; i < end; i++) {
        if (partition->order[i] >= partition->vertices) return corrupt(self->file, "the order has a vertex that is none");
        __atomic_store_n(&partition->place[partition->order[i]], (uint32_t)i, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

static td_status check_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *self = context;
    const td_partition *partition = self->partition;
    bool fine = true;
    for (uint64_t i = begin; i < end; i++) fine &= partition->place[partition->order[i]] == i;
    return fine ? TD_OK : corrupt(self->file, "the order has a vertex twice");
}

td_status td_partition_load(td_partition *out, const td_graph *graph, const td_partition_wish *wish, td_pool *pool)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    td_partition partition = {.parts = wish->parts, .vertices = graph->vertices};
    td_fragment_entries entries;
    meta counts = {0};
    uint64_t n = graph->vertices;
    TD_TRY(open_file(&file, graph, wish, &counts));
    memcpy(partition.first, counts.first, sizeof partition.first);
    TD_TRY(TD_NEW(&partition.order, n, "order of vertices"));
    TD_TRY(TD_NEW(&partition.place, n, "new numbers of vertices"));
    TD_TRY(td_sidecar_read(file, "order", partition.order, n * sizeof *partition.order, pool));
    ordering self = {&partition, file};
    TD_TRY(td_pool_for(pool, n, GRAIN, find_places, &self));
    TD_TRY(td_pool_for(pool, n, GRAIN, check_places, &self));
    TD_TRY(count_entries(&partition, graph, wish, pool, &entries));
    if (memcmp(&entries, &counts.entries, sizeof entries) != 0)
        TD_TRY(corrupt(file, "its fragments do not have the edges that it states"));
    *out = partition;
    partition = (td_partition){0};
done:
    td_partition_free(&partition);
    td_sidecar_close(file);
    return status;
}

/* Writing. */

td_status td_partition_save(const td_partition *partition, const td_graph *graph, const td_partition_wish *wish,
                            char where[TD_SIDECAR_PATH], td_pool *pool)
{
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    meta counts = {.version = PARTITION_VERSION, .bytes = sizeof counts, .vertices = graph->vertices,
                   .parts = (uint32_t)partition->parts, .edges = graph->edges};
    if (!td_graph_has_file(graph))
        return td_fail(TD_NOT_FOUND, "the graph is not one of a .tg file in memory, so nothing is prepared for it");
    if (partition->order == NULL)
        return td_fail(TD_NOT_FOUND, "%s of %d fragments are ranges of this graph's own numbers, which are found at once: "
                       "there is nothing to prepare", td_partition_name(wish->kind), partition->parts);
    memcpy(counts.first, partition->first, sizeof counts.first);
    TD_CHECK(count_entries(partition, graph, wish, pool, &counts.entries));
    td_sidecar_part parts[] = {{"meta", &counts, sizeof counts},
                               {"order", partition->order, (uint64_t)graph->vertices * sizeof *partition->order}};
    td_sidecar_id id = {graph->name, graph->build_id, td_partition_layout_name(name, graph, wish)};
    write_key(key, graph, wish);
    return td_sidecar_write(&id, key, parts, 2, where, pool);
}
