/* The dependencies of paths by definition: an explicit graph with an edge from every path that enters a vertex to every
 * path that leaves it, its strongly connected components by a recursive Tarjan, and layers by longest chains. Shares no
 * code with src/layout. */
#ifndef TD_TEST_PATHS_REFERENCE_H
#define TD_TEST_PATHS_REFERENCE_H

#include "layout/paths.h"
#include "programs/graphs.h"

/* A path as the reference sees it. */
typedef struct ref_path {
    uint32_t *vertices;
    uint64_t count; /* of vertices */
    uint32_t group, partition;
    bool repeats;   /* has a vertex twice */
} ref_path;

typedef struct ref_list {
    uint32_t *items;
    uint64_t count, room;
} ref_list;

typedef struct reference {
    ref_path *paths;
    uint32_t count;
    ref_list *next;             /* paths: those that it precedes, without itself; each once */
    ref_list *writers, *readers; /* vertices: paths, each once */
    uint32_t vertices;
    uint32_t *component, components; /* paths: numbered against the order of dependencies */
    uint32_t *members;          /* components: paths */
    bool *cyclic;               /* components */
    uint32_t *layer;            /* components */
    /* Tarjan */
    uint32_t *number, *low, *stack, stacked, visited;
} reference;

static inline void ref_add(ref_list *list, uint32_t item)
{
    if (list->count > 0 && list->items[list->count - 1] == item) return;
    if (list->count == list->room) {
        list->room = 2 * list->room + 4;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        CHECK(list->items != NULL);
    }
    list->items[list->count++] = item;
}

static inline bool ref_has(const ref_list *list, uint32_t item)
{
    for (uint64_t i = 0; i < list->count; i++)
        if (list->items[i] == item) return true;
    return false;
}

static inline void ref_visit(reference *self, uint32_t p)
{
    self->number[p] = self->low[p] = ++self->visited;
    self->stack[self->stacked++] = p;
    for (uint64_t i = 0; i < self->next[p].count; i++) {
        uint32_t q = self->next[p].items[i];
        if (self->number[q] == 0) ref_visit(self, q);
        if (self->component[q] == UINT32_MAX && self->low[q] < self->low[p]) self->low[p] = self->low[q];
    }
    if (self->low[p] != self->number[p]) return;
    uint32_t q;
    do {
        q = self->stack[--self->stacked];
        self->component[q] = self->components;
        self->members[self->components]++;
        if (self->paths[q].repeats) self->cyclic[self->components] = true;
    } while (q != p);
    if (self->members[self->components] > 1) self->cyclic[self->components] = true;
    self->components++;
}

static inline bool ref_repeats(const ref_path *path)
{
    for (uint64_t i = 0; i < path->count; i++)
        for (uint64_t j = 0; j < i; j++)
            if (path->vertices[i] == path->vertices[j]) return true;
    return false;
}

static inline void *ref_new(uint64_t count, size_t bytes)
{
    void *block = calloc(count + 1, bytes);
    CHECK(block != NULL);
    return block;
}

static inline void ref_read_paths(reference *self, const td_paths *paths)
{
    self->paths = ref_new(paths->paths, sizeof *self->paths);
    for (uint32_t k = 0; k < paths->partitions; k++)
        for (uint32_t p = 0; p < paths->partition[k].paths; p++) {
            const td_path_partition *partition = &paths->partition[k];
            ref_path *path = &self->paths[self->count++];
            uint64_t begin = td_path_begin(paths, partition, p);
            path->vertices = paths->vertices + begin;
            path->count = td_path_end(paths, partition, p) - begin;
            path->group = partition->group;
            path->partition = k;
            path->repeats = ref_repeats(path);
        }
    CHECK_EQ(self->count, paths->paths);
}

/* The pairs of paths that meet at a vertex: the reference is only made where they are not too many. */
static inline uint64_t ref_pairs(const td_graph *graph)
{
    uint64_t pairs = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) pairs += td_degree(&graph->in, v) * td_degree(&graph->out, v);
    return pairs;
}

static inline void ref_find_layers(reference *self)
{
    for (uint32_t c = self->components; c-- > 0;) /* from the first in the order of dependencies */
        for (uint32_t p = 0; p < self->count; p++) {
            if (self->component[p] != c) continue;
            for (uint64_t i = 0; i < self->next[p].count; i++) {
                uint32_t other = self->component[self->next[p].items[i]];
                if (other != c && self->layer[other] < self->layer[c] + 1) self->layer[other] = self->layer[c] + 1;
            }
        }
}

static inline reference ref_make(const td_paths *paths)
{
    reference self = {.vertices = paths->graph_vertices};
    uint64_t count = paths->paths;
    ref_read_paths(&self, paths);
    self.next = ref_new(count, sizeof *self.next);
    self.writers = ref_new(self.vertices, sizeof *self.writers);
    self.readers = ref_new(self.vertices, sizeof *self.readers);
    for (uint32_t p = 0; p < count; p++)
        for (uint64_t i = 0; i < self.paths[p].count; i++) {
            if (i > 0) ref_add(&self.writers[self.paths[p].vertices[i]], p);
            if (i + 1 < self.paths[p].count) ref_add(&self.readers[self.paths[p].vertices[i]], p);
        }
    for (uint32_t p = 0; p < count; p++) /* ascending, so that ref_add would drop repeated ones of one vertex */
        for (uint64_t i = 1; i < self.paths[p].count; i++) {
            const ref_list *readers = &self.readers[self.paths[p].vertices[i]];
            for (uint64_t j = 0; j < readers->count; j++)
                if (readers->items[j] != p) ref_add(&self.next[p], readers->items[j]);
        }
    self.component = ref_new(count, sizeof *self.component);
    self.members = ref_new(count, sizeof *self.members);
    self.cyclic = ref_new(count, sizeof *self.cyclic);
    self.layer = ref_new(count, sizeof *self.layer);
    self.number = ref_new(count, sizeof *self.number);
    self.low = ref_new(count, sizeof *self.low);
    self.stack = ref_new(count, sizeof *self.stack);
    for (uint32_t p = 0; p < count; p++) self.component[p] = UINT32_MAX;
    for (uint32_t p = 0; p < count; p++)
        if (self.number[p] == 0) ref_visit(&self, p);
    return self;
}

static inline void ref_free(reference *self)
{
    for (uint32_t p = 0; p < self->count; p++) free(self->next[p].items);
    for (uint32_t v = 0; v < self->vertices; v++) {
        free(self->writers[v].items);
        free(self->readers[v].items);
    }
    void *blocks[] = {self->paths, self->next, self->writers, self->readers, self->component, self->members,
                      self->cyclic, self->layer, self->number, self->low, self->stack};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

#endif
