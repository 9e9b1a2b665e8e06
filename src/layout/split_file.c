#include "layout/split_file.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sums.h"
#include "layout/lists_file.h"

#include <stdio.h>
#include <string.h>

enum { GRAIN = 1024 };

/* Raised when the hot order, the order within lists, or the meaning of a section changes. */
#define SPLIT_VERSION 1u

typedef struct meta {
    uint32_t version, bytes; /* of this struct */
    uint32_t vertices, weight_kind, symmetric, zero;
    uint64_t edges;
} meta;

char *td_split_layout_name(char name[TD_SIDECAR_NAME], bool both, bool weighted)
{
    snprintf(name, TD_SIDECAR_NAME, "coop-hot%s%s", both ? "-both" : "", weighted ? "-weights" : "");
    return name;
}

static void write_key(char key[TD_SIDECAR_KEY], const td_graph *graph, bool weighted)
{
    snprintf(key, TD_SIDECAR_KEY, "version=%u order=hot weights=%s symmetric=%s", SPLIT_VERSION,
             weighted ? td_weight_name(graph->weights) : "none", graph->symmetric ? "yes" : "no");
}

/* Writing. */

static int list_parts(td_sidecar_part *parts, const td_split *split, const meta *counts)
{
    uint64_t n = counts->vertices, edges = counts->edges, weight = split->weight_bytes;
    int count = 0;
    parts[count++] = (td_sidecar_part){"meta", counts, sizeof *counts};
    parts[count++] = (td_sidecar_part){"order", split->order, n * sizeof(uint32_t)};
    parts[count++] = (td_sidecar_part){"within", split->within, (n + 1) * sizeof(uint64_t)};
    parts[count++] = (td_sidecar_part){"out", split->push.rest.targets, edges * sizeof(uint32_t)};
    if (weight > 0) parts[count++] = (td_sidecar_part){"out weights", split->push.rest.weights, edges * weight};
    if (split->same) return count;
    parts[count++] = (td_sidecar_part){"in", split->pull.rest.targets, edges * sizeof(uint32_t)};
    if (weight > 0) parts[count++] = (td_sidecar_part){"in weights", split->pull.rest.weights, edges * weight};
    return count;
}

td_status td_split_save(const td_graph *graph, bool both, bool weighted, char where[TD_SIDECAR_PATH],
                        double both_seconds[2], td_pool *pool)
{
    td_status status = TD_OK;
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    td_split_request request = {.order = TD_ORDER_HOT, .weighted = weighted, .both = both, .pushes = true, .pulls = true,
                                .keeps_within = true};
    td_host_memory memory = {0};
    td_split split = {0};
    td_sidecar_part parts[7];
    uint64_t start = td_clock_ns();
    TD_TRY(td_split_make(&split, graph, &request, &memory, pool));
    both_seconds[0] = td_seconds_since(start);
    meta counts = {.version = SPLIT_VERSION, .bytes = sizeof counts, .vertices = graph->vertices, .edges = split.edges,
                   .weight_kind = weighted ? graph->weights : TD_WEIGHT_NONE, .symmetric = graph->symmetric};
    int count = list_parts(parts, &split, &counts);
    td_sidecar_id id = {graph->name, graph->build_id, td_split_layout_name(name, both, weighted)};
    write_key(key, graph, weighted);
    start = td_clock_ns();
    TD_TRY(td_sidecar_write(&id, key, parts, count, where, pool));
    both_seconds[1] = td_seconds_since(start);
done:
    td_split_free(&split);
    return status;
}

/* Opening. */

static td_status check_meta(const td_sidecar *file, const td_graph *graph, bool both, bool weighted)
{
    meta counts = {0};
    const char *path = td_sidecar_file(file);
    TD_CHECK(td_sidecar_read(file, "meta", &counts, sizeof counts, NULL));
    if (counts.version != SPLIT_VERSION || counts.bytes != sizeof counts)
        return td_fail(TD_UNSUPPORTED, "%s has version %u of split lists; this Tandem has %u. Prepare it again", path,
                       counts.version, SPLIT_VERSION);
    uint32_t kind = weighted ? (uint32_t)graph->weights : TD_WEIGHT_NONE;
    if (counts.vertices == graph->vertices && counts.edges == graph->edges * (both ? 2 : 1) &&
        counts.weight_kind == kind && counts.symmetric == graph->symmetric)
        return TD_OK;
    return td_fail(TD_CORRUPT, "%s does not have the counts of its graph; prepare it again", path);
}

static td_status open_one(td_sidecar **out, const td_graph *graph, bool both, bool weighted)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    td_sidecar_id id = {graph->name, graph->build_id, td_split_layout_name(name, both, weighted)};
    TD_TRY(td_sidecar_open(&file, &id));
    write_key(key, graph, weighted);
    if (strcmp(td_sidecar_key(file), key) != 0)
        TD_TRY(td_fail(TD_NOT_FOUND, "%s was prepared with other settings (%s)", td_sidecar_file(file), td_sidecar_key(file)));
    TD_TRY(check_meta(file, graph, both, weighted));
    *out = file;
    file = NULL;
done:
    td_sidecar_close(file);
    return status;
}

td_status td_split_open(td_sidecar **out, const td_graph *graph, const td_split_request *request)
{
    if (!td_graph_has_file(graph))
        return td_fail(TD_NOT_FOUND, "the graph is not one of a .tg file in memory, so nothing is prepared for it");
    if (request->order != TD_ORDER_HOT || request->extract != TD_EXTRACT_VERTEXEDGE)
        return td_fail(TD_NOT_FOUND, "lists are prepared for coop.order=hot and coop.extract=vertexedge");
    td_status status = open_one(out, graph, request->both, request->weighted);
    if (status == TD_OK || request->weighted || graph->weights == TD_WEIGHT_NONE) return status;
    td_failure first;
    td_failure_keep(&first);
    if (open_one(out, graph, request->both, true) == TD_OK) return TD_OK;
    td_failure_set(&first);
    return status;
}

/* Reading. */

static td_status corrupt(const td_sidecar *file, const char *what)
{
    return td_fail(TD_CORRUPT, "%s: %s; prepare it again", td_sidecar_file(file), what);
}

typedef struct ordering {
    const td_split *split;
    const td_sidecar *file;
    const uint64_t *within;
} ordering;

static td_status find_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *self = context;
    const td_split *split = self->split;
    for (uint64_t i = begin; i < end; i++) {
        if (split->order[i] >= split->vertices) return corrupt(self->file, "the order has a number that is no vertex");
        __atomic_store_n(&split->place[split->order[i]], (uint32_t)i, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

static td_status check_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *self = context;
    const td_split *split = self->split;
    bool fine = true;
    for (uint64_t i = begin; i < end; i++) fine &= split->place[split->order[i]] == i;
    return fine ? TD_OK : corrupt(self->file, "the order has a vertex twice");
}

/* The order must have every vertex once, because numbers index all arrays of a run. */
static td_status read_order(td_split *split, const td_sidecar *file, td_host_memory *memory, td_pool *pool)
{
    uint64_t n = split->vertices;
    TD_CHECK(td_host_declare(memory, &split->order, n, sizeof *split->order, "order of vertices"));
    TD_CHECK(td_host_declare(memory, &split->place, n, sizeof *split->place, "new numbers of vertices"));
    if (memory->measures) return TD_OK;
    TD_CHECK(td_sidecar_read(file, "order", split->order, n * sizeof *split->order, pool));
    ordering self = {.split = split, .file = file};
    TD_CHECK(td_pool_for(pool, n, GRAIN, find_places, &self));
    return td_pool_for(pool, n, GRAIN, check_places, &self);
}

static td_status check_within(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *self = context;
    bool fine = true;
    for (uint64_t i = begin; i < end; i++) fine &= self->within[i] <= self->within[i + 1];
    return fine ? TD_OK : corrupt(self->file, "the edges of the order's prefixes do not ascend");
}

static td_status read_inside(td_split *split, const td_sidecar *file, uint64_t most, td_host_memory *memory,
                             td_pool *pool)
{
    td_status status = TD_OK;
    uint64_t n = split->vertices, *within = NULL;
    TD_CHECK(td_host_declare(memory, &within, n + 1, sizeof *within, "edges of every prefix"));
    if (memory->measures) goto done;
    TD_TRY(td_sidecar_read(file, "within", within, (n + 1) * sizeof *within, pool));
    ordering self = {split, file, within};
    TD_TRY(td_pool_for(pool, n, GRAIN, check_within, &self));
    if (within[0] != 0 || within[n] != split->edges)
        TD_TRY(corrupt(file, "the whole order has not the edges of the graph"));
    split->inside = td_split_prefix(within, split->vertices, most);
    split->hot_edges = within[split->inside];
done:
    td_host_undeclare(memory, &within, n + 1, sizeof *within);
    return status;
}

/* Lists by the new numbers are cut as they are read, twice: first every list is divided, then both parts are filled. What
 * has been read is checked each time, because the file may have changed in between; it is never whole in memory. */
typedef struct cutting {
    const td_split *split;
    uint64_t *offsets;  /* of the whole lists, and their number of edges */
    td_split_lists to;
    const td_graph *graph;
    const td_sidecar *file;
    bool both, in;      /* which lists */
    uint32_t *ends[2];  /* first and last target of every block, */
    uint64_t block;     /* which has so many */
} cutting;

enum { BLOCK = 1 << 16 }; /* bytes that td_sidecar_take hands on at a time */

/* Number of the list that has an edge. */
static uint64_t list_of(const cutting *self, uint64_t edge)
{
    uint64_t low = 0, high = self->split->vertices;
    while (low < high) { /* the first that ends behind the edge */
        uint64_t middle = low + (high - low) / 2;
        if (self->offsets[middle + 1] > edge) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Places where a target is followed by a lower one. Lists are sorted if there are as many as between two lists. */
static uint64_t count_descents(const uint32_t *targets, uint64_t count)
{
    uint32_t descents = 0;
    for (uint64_t e = 1; e < count; e++) descents += targets[e - 1] > targets[e];
    return descents;
}

/* How many of sorted targets are hot. */
static uint64_t count_hot(const cutting *self, uint64_t number, const uint32_t *targets, uint64_t count)
{
    uint64_t low = 0, high = count;
    if (number >= self->split->inside) return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (targets[middle] < self->split->inside) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* A list may go on in the next block, which another worker has. */
static void count_parts(const cutting *self, uint64_t number, bool whole, uint64_t hot, uint64_t rest)
{
    uint64_t *of_hot = self->to.hot.offsets + number + 1, *of_rest = self->to.rest.offsets + number + 1;
    if (whole) {
        *of_hot = hot;
        *of_rest = rest;
        return;
    }
    __atomic_fetch_add(of_hot, hot, __ATOMIC_RELAXED);
    __atomic_fetch_add(of_rest, rest, __ATOMIC_RELAXED);
}

static td_status divide_block(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const cutting *self = context;
    const uint32_t *targets = data;
    uint64_t edge = at / sizeof *targets, count = bytes / sizeof *targets, end = edge + count;
    TD_CHECK(td_lists_check_targets(targets, count, UINT32_MAX, self->split->vertices));
    self->ends[0][edge / self->block] = targets[0];
    self->ends[1][edge / self->block] = targets[count - 1];
    uint64_t descents = count_descents(targets, count);
    for (uint64_t i = list_of(self, edge); edge < end; i++) {
        uint64_t last = self->offsets[i + 1] < end ? self->offsets[i + 1] : end, length = last - edge;
        uint64_t hot = count_hot(self, i, targets, length);
        count_parts(self, i, length == self->offsets[i + 1] - self->offsets[i], hot, length - hot);
        targets += length;
        edge = last;
        descents -= length > 0 && edge < end && targets[-1] > targets[0]; /* an empty list ends where the one before did */
    }
    return descents == 0 ? TD_OK : corrupt(self->file, "a list is not sorted");
}

/* The order of targets at the seams of blocks. */
static td_status check_seams(const cutting *self)
{
    for (uint64_t b = 1; b * self->block < self->split->edges; b++) {
        uint64_t edge = b * self->block, list = list_of(self, edge);
        if (self->offsets[list] < edge && self->ends[1][b - 1] > self->ends[0][b])
            return corrupt(self->file, "a list is not sorted");
    }
    return TD_OK;
}

/* Copies a block of elements of this size to where their parts of the lists are. */
static void place_block(const cutting *self, uint64_t at, const char *data, uint64_t bytes, uint64_t size, char *hot, char *rest)
{
    uint64_t edge = at / size, end = edge + bytes / size;
    for (uint64_t i = list_of(self, edge); edge < end; i++) {
        const uint64_t *of_hot = self->to.hot.offsets + i, *of_rest = self->to.rest.offsets + i;
        uint64_t last = self->offsets[i + 1] < end ? self->offsets[i + 1] : end;
        uint64_t from = edge - self->offsets[i], to = last - self->offsets[i], cut = of_hot[1] - of_hot[0];
        uint64_t inside = (to < cut ? to : cut) - (from < cut ? from : cut);
        if (inside > 0) memcpy(hot + (of_hot[0] + from) * size, data, inside * size);
        if (to - from > inside)
            memcpy(rest + (of_rest[0] + from + inside - cut) * size, data + inside * size, (to - from - inside) * size);
        data += (to - from) * size;
        edge = last;
    }
}

static td_status place_targets(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const cutting *self = context;
    TD_CHECK(td_lists_check_targets(data, bytes / sizeof(uint32_t), UINT32_MAX, self->split->vertices));
    place_block(self, at, data, bytes, sizeof(uint32_t), (char *)self->to.hot.targets, (char *)self->to.rest.targets);
    return TD_OK;
}

static td_status place_weights(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const cutting *self = context;
    uint64_t size = self->split->weight_bytes;
    TD_CHECK(td_lists_check_weights(self->graph, data, bytes / size));
    place_block(self, at, data, bytes, size, self->to.hot.weights, self->to.rest.weights);
    return TD_OK;
}

static td_status declare_edges(td_adjacency *list, uint64_t edges, size_t weight, td_host_memory *memory)
{
    TD_CHECK(td_host_declare(memory, &list->targets, edges, sizeof(uint32_t), "lists cut in two"));
    return weight == 0 ? TD_OK : td_host_declare(memory, &list->weights, edges, weight, "lists cut in two");
}

static td_status find_lengths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const cutting *self = context;
    const td_adjacency *list = self->in ? &self->graph->in : &self->graph->out;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = self->split->order[i];
        self->offsets[i + 1] = td_degree(list, v) + (self->both ? td_degree(&self->graph->in, v) : 0);
    }
    return TD_OK;
}

static td_status divide(cutting *self, td_pool *pool)
{
    const td_split *split = self->split;
    uint64_t n = split->vertices;
    TD_CHECK(td_pool_for(pool, n, GRAIN, find_lengths, self));
    TD_CHECK(td_sum_up(self->offsets, n, pool));
    TD_CHECK(td_sidecar_take(self->file, self->in ? "in" : "out", split->edges * sizeof(uint32_t), divide_block, self, pool));
    TD_CHECK(check_seams(self));
    TD_CHECK(td_sum_up(self->to.hot.offsets, n, pool));
    TD_CHECK(td_sum_up(self->to.rest.offsets, n, pool));
    if (self->to.hot.offsets[n] == split->hot_edges) return TD_OK;
    return corrupt(self->file, "the hot part is not as large as stated");
}

static td_status place(cutting *self, td_host_memory *memory, td_pool *pool)
{
    const td_split *split = self->split;
    uint64_t n = split->vertices, weight = split->weight_bytes;
    TD_CHECK(declare_edges(&self->to.hot, self->to.hot.offsets[n], weight, memory));
    TD_CHECK(declare_edges(&self->to.rest, self->to.rest.offsets[n], weight, memory));
    TD_CHECK(td_sidecar_take(self->file, self->in ? "in" : "out", split->edges * sizeof(uint32_t), place_targets, self,
                             pool));
    if (weight == 0) return TD_OK;
    return td_sidecar_take(self->file, self->in ? "in weights" : "out weights", split->edges * weight, place_weights, self,
                           pool);
}

static td_status read_lists(const td_split *split, const td_sidecar *file, const td_graph *graph, bool both, bool in,
                            td_split_lists *out, td_host_memory *memory, td_pool *pool)
{
    td_status status = TD_OK;
    uint64_t n = split->vertices, block = BLOCK / sizeof(uint32_t), blocks = (split->edges + block - 1) / block;
    cutting self = {.split = split, .graph = graph, .file = file, .both = both, .in = in, .block = block};
    TD_TRY(td_host_declare_zeroed(memory, &self.to.hot.offsets, n + 1, sizeof(uint64_t), "lists cut in two"));
    TD_TRY(td_host_declare_zeroed(memory, &self.to.rest.offsets, n + 1, sizeof(uint64_t), "lists cut in two"));
    TD_TRY(td_host_declare(memory, &self.offsets, n + 1, sizeof(uint64_t), "lists of a layout"));
    for (int i = 0; i < 2; i++)
        TD_TRY(td_host_declare(memory, &self.ends[i], blocks, sizeof(uint32_t), "ends of blocks"));
    if (memory->measures) {
        TD_TRY(declare_edges(&self.to.hot, split->edges, split->weight_bytes, memory));
    } else {
        TD_TRY(divide(&self, pool));
        TD_TRY(place(&self, memory, pool));
    }
    *out = self.to;
    self.to = (td_split_lists){0};
done:
    for (int i = 0; i < 2; i++) td_host_undeclare(memory, &self.ends[i], blocks, sizeof(uint32_t));
    td_host_undeclare(memory, &self.offsets, n + 1, sizeof(uint64_t));
    td_lists_free(&self.to.hot);
    td_lists_free(&self.to.rest);
    return status;
}

td_status td_split_read(td_split *out, const td_sidecar *file, const td_graph *graph, const td_split_request *request,
                        td_host_memory *memory, td_pool *pool)
{
    td_status status = TD_OK;
    td_split split = {.vertices = graph->vertices, .edges = graph->edges * (request->both ? 2 : 1)};
    split.same = graph->symmetric || request->both || !request->pushes || !request->pulls;
    split.weight_bytes = request->weighted ? td_weight_bytes(graph->weights) : 0;
    bool in = !request->pushes && !graph->symmetric && !request->both; /* the only list is that of pulls */
    TD_TRY(read_order(&split, file, memory, pool));
    TD_TRY(read_inside(&split, file, request->room / (sizeof(uint32_t) + split.weight_bytes), memory, pool));
    TD_TRY(read_lists(&split, file, graph, request->both, in, &split.push, memory, pool));
    if (split.same) split.pull = split.push;
    else TD_TRY(read_lists(&split, file, graph, false, true, &split.pull, memory, pool));
    TD_TRY(td_split_find_degrees(&split, graph, memory, pool));
    *out = split;
    split = (td_split){0};
done:
    td_split_free(&split);
    return status;
}
