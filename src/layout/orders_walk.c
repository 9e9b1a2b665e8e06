/* Breadth-first orders: hot (CGgraph, section 4.2) and reverse Cuthill-McKee.
 *
 * The finder of a vertex is its first neighbour in the previous level. A level is sorted by the
 * place of the finder, then by number, or by degree and number. So its sequence depends on the
 * graph alone, and all workers can build a large level together: every edge offers its target
 * the place of its source, the lowest offer remains, and the vertices found are sorted by it.
 * One thread walks small levels, in the same sequence.
 */
#include "layout/orders.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/fetch.h"

#include <stdatomic.h>
#include <string.h>

enum {
    GRAIN = 1 << 15,       /* vertices or edges per chunk */
    LISTS = 32,            /* lists per chunk */
    LONG = 1 << 16,        /* edges: workers share a longer list */
    LEVEL = 1 << 15,       /* edges: one thread walks smaller levels, */
    VERTICES_PER_EDGE = 8, /* and levels with fewer edges than vertices / 8, because workers scan all vertices */
    FEW = 32,              /* vertices sorted by insertion */
    AHEAD = 8,             /* prefetch distance in places or targets */
    WALKS = 5,             /* limit on walks to find an end of a component */
};

#define UNFOUND UINT32_MAX

typedef struct part_of_list {
    const uint32_t *targets;
    uint64_t edges;
    uint32_t offer;
} part_of_list;

typedef struct walk {
    const td_graph *graph;
    td_sorter *sorter;
    const td_adjacency *ways[2]; /* out-edges, and in-edges if a walk goes both ways */
    uint32_t *degrees;           /* sorts by ascending degree; NULL: by number alone */
    uint32_t *finder;            /* 1 + the place of the vertex's finder; for a root its own place */
    uint32_t *order, *sinks;     /* sinks: receives vertices without out-edges; may be NULL */
    uint64_t used, sink_count;
    uint64_t level, depth;       /* the last walk: begin of its last level, number of levels */
    _Atomic uint64_t edges;      /* edges of the level being built */
    uint64_t begin, end;         /* the previous level */
    part_of_list *longs;
    _Atomic uint64_t long_count;
    td_blocks blocks;            /* of all vertices */
} walk;

static inline uint64_t edges_of(const walk *self, uint32_t v)
{
    uint64_t edges = td_degree(self->ways[0], v);
    return self->ways[1] == NULL ? edges : edges + td_degree(self->ways[1], v);
}

static inline bool is_sink(const walk *self, uint32_t v)
{
    return self->sinks != NULL && td_degree(&self->graph->out, v) == 0;
}

/* By one thread. */

static void append(walk *self, uint32_t v)
{
    if (is_sink(self, v)) {
        self->sinks[self->sink_count++] = v;
        return;
    }
    self->order[self->used++] = v;
    uint64_t edges = atomic_load_explicit(&self->edges, memory_order_relaxed) + edges_of(self, v);
    atomic_store_explicit(&self->edges, edges, memory_order_relaxed);
}

static inline uint64_t by_degree(const walk *self, uint32_t v) { return (uint64_t)self->degrees[v] << 32 | v; }

static void insert_by_degree(const walk *self, uint32_t *list, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint32_t one = list[i];
        uint64_t word = by_degree(self, one), j = i;
        for (; j > 0 && by_degree(self, list[j - 1]) > word; j--) list[j] = list[j - 1];
        list[j] = one;
    }
}

static td_status sort_by_degree(const walk *self, uint32_t *list, uint64_t count)
{
    td_sorter *sorter = self->sorter;
    if (count <= FEW) {
        insert_by_degree(self, list, count);
        return TD_OK;
    }
    for (uint64_t i = 0; i < count; i++) sorter->words[i] = by_degree(self, list[i]);
    TD_CHECK(td_radix_sort(&sorter->words, &sorter->spare, count, 0, 7, sorter->counts, sorter->pool));
    for (uint64_t i = 0; i < count; i++) list[i] = (uint32_t)sorter->words[i];
    return TD_OK;
}

static void find_by(walk *self, const td_adjacency *way, uint64_t place)
{
    uint32_t v = self->order[place];
    for (uint64_t e = way->offsets[v]; e < way->offsets[v + 1]; e++) {
        uint32_t u = way->targets[e];
        if (self->finder[u] != UNFOUND) continue;
        self->finder[u] = (uint32_t)place + 1;
        append(self, u);
    }
}

/* Prefetches for the vertices ahead in three stages: the offset, the list, the finders of its first targets. */
static void fetch_ahead(const walk *self, uint64_t place)
{
    const td_adjacency *out = self->ways[0];
    if (place + 3 * AHEAD >= self->used) return;
    td_fetch(&out->offsets[self->order[place + 3 * AHEAD]]);
    td_fetch(&out->targets[out->offsets[self->order[place + 2 * AHEAD]]]);
    uint32_t soon = self->order[place + AHEAD];
    uint64_t begin = out->offsets[soon], end = out->offsets[soon + 1];
    for (uint64_t e = begin; e < end && e < begin + AHEAD; e++) {
        td_fetch(&self->finder[out->targets[e]]);
        td_fetch(&out->offsets[out->targets[e]]);
    }
}

static td_status find_alone(walk *self)
{
    for (uint64_t place = self->begin; place < self->end; place++) {
        uint64_t first = self->used;
        fetch_ahead(self, place);
        find_by(self, self->ways[0], place);
        if (self->ways[1] != NULL) find_by(self, self->ways[1], place);
        if (self->degrees != NULL) TD_CHECK(sort_by_degree(self, self->order + first, self->used - first));
    }
    return TD_OK;
}

/* By all workers. */

static void offer(const walk *self, const uint32_t *targets, uint64_t count, uint32_t place)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *finder = &self->finder[targets[i]], now = __atomic_load_n(finder, __ATOMIC_RELAXED);
        while (place < now &&
               !__atomic_compare_exchange_n(finder, &now, place, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    }
}

static void offer_list(walk *self, const td_adjacency *way, uint64_t place)
{
    uint32_t v = self->order[place];
    const uint32_t *targets = way->targets + way->offsets[v];
    uint64_t edges = td_degree(way, v);
    if (edges <= LONG) offer(self, targets, edges, (uint32_t)place + 1);
    else self->longs[self->long_count++] = (part_of_list){targets, edges, (uint32_t)place + 1};
}

static td_status offer_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    for (uint64_t place = self->begin + begin; place < self->begin + end; place++) {
        offer_list(self, self->ways[0], place);
        if (self->ways[1] != NULL) offer_list(self, self->ways[1], place);
    }
    return TD_OK;
}

typedef struct long_offer {
    const walk *self;
    part_of_list list;
} long_offer;

static td_status offer_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const long_offer *job = context;
    offer(job->self, job->list.targets + begin, end - begin, job->list.offer);
    return TD_OK;
}

static td_status offer_all(walk *self)
{
    td_pool *pool = self->sorter->pool;
    self->long_count = 0;
    TD_CHECK(td_pool_for(pool, self->end - self->begin, LISTS, offer_lists, self));
    for (uint64_t i = 0; i < self->long_count; i++) {
        long_offer job = {self, self->longs[i]};
        TD_CHECK(td_pool_for(pool, job.list.edges, GRAIN, offer_part, &job));
    }
    return TD_OK;
}

/* Classes of vertices to sort by: found in this level, sinks found in this level, all others. */
enum { FOUND, SINK, OLD };

static inline int class_of(const walk *self, uint32_t v)
{
    uint32_t finder = self->finder[v];
    if (finder <= self->begin || finder > self->end) return OLD;
    return is_sink(self, v) ? SINK : FOUND;
}

static td_status count_found(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    uint64_t *mine = td_block_counts(&self->blocks, begin), edges = 0;
    memset(mine, 0, sizeof(td_counts));
    for (uint64_t v = begin; v < end; v++) {
        int class = class_of(self, (uint32_t)v);
        mine[class]++;
        if (class == FOUND) edges += edges_of(self, (uint32_t)v);
    }
    atomic_fetch_add(&self->edges, edges);
    return TD_OK;
}

static td_status take_found(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    const uint32_t *keys = self->degrees != NULL ? self->degrees : self->finder;
    uint64_t *next = td_block_counts(&self->blocks, begin);
    for (uint64_t v = begin; v < end; v++) {
        int class = class_of(self, (uint32_t)v);
        if (class != OLD) self->sorter->words[next[class]++] = (uint64_t)keys[v] << 32 | v;
    }
    return TD_OK;
}

static td_status key_by_finder(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    uint64_t *words = self->sorter->words;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)words[i];
        words[i] = (uint64_t)self->finder[v] << 32 | v;
    }
    return TD_OK;
}

typedef struct taking {
    const uint64_t *words;
    uint32_t *to;
} taking;

static td_status take_words(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const taking *self = context;
    for (uint64_t i = begin; i < end; i++) self->to[i] = (uint32_t)self->words[i];
    return TD_OK;
}

/* Sorts the vertices at [first, first + count) by finder and appends them. */
static td_status append_sorted(walk *self, uint64_t first, uint64_t count, uint32_t *to)
{
    td_sorter *sorter = self->sorter;
    uint64_t *words = sorter->words + first, *spare = sorter->spare + first;
    TD_CHECK(td_radix_sort(&words, &spare, count, 4, 7, sorter->counts, sorter->pool));
    taking job = {words, to};
    return td_pool_for(sorter->pool, count, GRAIN, take_words, &job);
}

static td_status find_together(walk *self)
{
    td_sorter *sorter = self->sorter;
    TD_CHECK(offer_all(self));
    TD_CHECK(td_blocks_each(&self->blocks, count_found, self));
    td_blocks_place(&self->blocks);
    uint64_t found = sorter->counts[0][SINK], sinks = sorter->counts[0][OLD] - found;
    TD_CHECK(td_blocks_each(&self->blocks, take_found, self));
    if (self->degrees != NULL) {
        TD_CHECK(td_radix_sort(&sorter->words, &sorter->spare, found, 4, 7, sorter->counts, sorter->pool));
        TD_CHECK(td_pool_for(sorter->pool, found, GRAIN, key_by_finder, self));
    }
    TD_CHECK(append_sorted(self, 0, found, self->order + self->used));
    if (sinks > 0) TD_CHECK(append_sorted(self, found, sinks, self->sinks + self->sink_count));
    self->used += found;
    self->sink_count += sinks;
    return TD_OK;
}

/* Walks. */

static bool for_all(const walk *self, uint64_t edges)
{
    bool many = edges >= LEVEL && edges >= self->graph->vertices / VERTICES_PER_EDGE;
    return many && td_pool_threads(self->sorter->pool) > 1;
}

static td_status walk_from(walk *self, uint32_t root)
{
    self->finder[root] = (uint32_t)self->used;
    self->depth = 0;
    self->level = self->end = self->used;
    self->edges = 0;
    append(self, root);
    while (self->end < self->used) {
        uint64_t edges = self->edges;
        TD_CHECK(td_cancel_check());
        self->level = self->begin = self->end;
        self->end = self->used;
        self->edges = 0;
        self->depth++;
        TD_CHECK(for_all(self, edges) ? find_together(self) : find_alone(self));
    }
    return TD_OK;
}

static td_status find_nobody(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    for (uint64_t v = begin; v < end; v++) self->finder[v] = UNFOUND;
    return TD_OK;
}

static td_status start(walk *self)
{
    const td_graph *graph = self->graph;
    uint64_t edges = self->ways[1] == NULL ? graph->edges : 2 * graph->edges;
    TD_CHECK(TD_NEW(&self->finder, graph->vertices, "finders of vertices"));
    TD_CHECK(TD_NEW(&self->longs, edges / LONG, "long lists"));
    self->blocks = td_blocks_of(graph->vertices, self->sorter->counts, self->sorter->pool);
    return td_pool_for(self->sorter->pool, graph->vertices, GRAIN, find_nobody, self);
}

static void finish(walk *self)
{
    td_free(self->finder);
    td_free(self->longs);
    td_free(self->sinks);
    td_free(self->degrees);
}

/* Walks from the remaining vertex of highest in-degree, until none remains; vertices without out-edges come last. */
td_status td_order_hot(const td_graph *graph, td_sorter *sorter, uint32_t *order)
{
    td_status status = TD_OK;
    uint32_t *roots = NULL;
    walk self = {.graph = graph, .sorter = sorter, .ways = {&graph->out}, .order = order};
    TD_TRY(TD_NEW(&roots, graph->vertices, "order of vertices"));
    TD_TRY(TD_NEW(&self.sinks, graph->vertices, "vertices without out-edges"));
    TD_TRY(start(&self));
    TD_TRY(td_order_by_heat(graph, sorter, roots));
    for (uint64_t i = 0; i < graph->vertices; i++)
        if (self.finder[roots[i]] == UNFOUND) TD_TRY(walk_from(&self, roots[i]));
    memcpy(order + self.used, self.sinks, self.sink_count * sizeof *order);
done:
    finish(&self);
    td_free(roots);
    return status;
}

static void forget(walk *self, uint64_t first)
{
    while (self->used > first) self->finder[self->order[--self->used]] = UNFOUND;
}

static uint32_t lightest_of_last_level(const walk *self)
{
    uint32_t best = self->order[self->level];
    for (uint64_t i = self->level; i < self->used; i++)
        if (by_degree(self, self->order[i]) < by_degree(self, best)) best = self->order[i];
    return best;
}

/* Walks from an end of the component (George and Liu): a vertex farthest from the root
 * becomes the next root, as long as that gives more levels. */
static td_status walk_from_end(walk *self, uint32_t root)
{
    uint64_t first = self->used, depth = 0;
    TD_CHECK(walk_from(self, root));
    for (int walks = 1; walks < WALKS && self->depth > depth && self->depth > 1; walks++) {
        uint32_t farthest = lightest_of_last_level(self);
        depth = self->depth;
        forget(self, first);
        TD_CHECK(walk_from(self, farthest));
    }
    return TD_OK;
}

static td_status sum_degrees(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    walk *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = edges_of(self, (uint32_t)v);
        self->degrees[v] = degree < UINT32_MAX ? (uint32_t)degree : UINT32_MAX;
    }
    return TD_OK;
}

static void reverse(uint32_t *order, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        uint32_t one = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = one;
    }
}

/* Walks along edges of either direction. Without in-adjacency it walks along out-edges only and from the root itself,
 * because the farthest vertex need not lead back. */
td_status td_order_rcm(const td_graph *graph, td_sorter *sorter, uint32_t *order)
{
    td_status status = TD_OK;
    uint32_t *roots = NULL;
    bool both = !graph->symmetric && graph->in.offsets != NULL, ends = graph->symmetric || both;
    walk self = {.graph = graph, .sorter = sorter, .ways = {&graph->out, both ? &graph->in : NULL}, .order = order};
    TD_TRY(TD_NEW(&roots, graph->vertices, "order of vertices"));
    TD_TRY(TD_NEW(&self.degrees, graph->vertices, "degrees"));
    TD_TRY(start(&self));
    TD_TRY(td_pool_for(sorter->pool, graph->vertices, GRAIN, sum_degrees, &self));
    TD_TRY(td_order_by_key(graph, self.degrees, sorter, roots));
    for (uint64_t i = 0; i < graph->vertices; i++)
        if (self.finder[roots[i]] == UNFOUND)
            TD_TRY(ends ? walk_from_end(&self, roots[i]) : walk_from(&self, roots[i]));
    reverse(order, graph->vertices);
done:
    finish(&self);
    td_free(roots);
    return status;
}
