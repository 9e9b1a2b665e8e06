#include "run/sweep.h"

#include "base/alloc.h"
#include "base/random.h"
#include "base/sort.h"
#include "store/checks.h"

#include <stdlib.h>
#include <string.h>

uint32_t td_sweep_drawn(const td_graph *graph, uint64_t i)
{
    return (uint32_t)td_random_below(td_random_at(1, i), graph->vertices);
}

static int by_label(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t td_sweep_commonest(uint32_t *labels, uint64_t count)
{
    uint32_t best = 0;
    uint64_t longest = 0;
    qsort(labels, count, sizeof *labels, by_label);
    for (uint64_t i = 0, run; i < count; i = run) {
        for (run = i; run < count && labels[run] == labels[i]; run++) {}
        if (run - i <= longest) continue;
        longest = run - i;
        best = labels[i];
    }
    return best;
}

uint32_t td_sweep_ordered_weight(const td_graph *graph, const void *weights, uint64_t e)
{
    switch (weights == NULL ? TD_WEIGHT_NONE : graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)weights)[e];
    case TD_WEIGHT_U16: return ((const uint16_t *)weights)[e];
    case TD_WEIGHT_U32: return ((const uint32_t *)weights)[e];
    case TD_WEIGHT_F32: return td_ordered_bits(((const float *)weights)[e]);
    default: return 1;
    }
}

/* Forests: every step is divided into ranges that depend on the data alone, and ranges are added in order. */

enum { PARTS = 256, FEW = 4096 }; /* of the vertices, or of the edges; so few of them are one worker's */

static uint64_t parts_at_a_time(uint64_t items) { return items < FEW ? PARTS : 1; }

typedef struct gathering {
    td_run *run;
    td_sweep_edge_fn edge;
    const void *context;
    uint64_t places[PARTS + 1]; /* where each part's edges begin */
} gathering;

static td_status count_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    gathering *self = context;
    uint64_t vertices = self->run->graph->vertices;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t count = 0, last = td_share(vertices, (int)part + 1, PARTS);
        for (uint64_t v = td_share(vertices, (int)part, PARTS); v < last; v++)
            count += self->edge(self->context, (uint32_t)v) != UINT64_MAX;
        self->places[part + 1] = count;
    }
    return TD_OK;
}

static td_status place_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const gathering *self = context;
    uint64_t vertices = self->run->graph->vertices;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t *into = self->run->edges + self->places[part], last = td_share(vertices, (int)part + 1, PARTS);
        for (uint64_t v = td_share(vertices, (int)part, PARTS); v < last; v++) {
            uint64_t edge = self->edge(self->context, (uint32_t)v);
            if (edge != UINT64_MAX) *into++ = edge;
        }
    }
    return TD_OK;
}

td_status td_sweep_collect(td_run *run, td_sweep_edge_fn edge, const void *context, td_pool *pool)
{
    gathering self = {.run = run, .edge = edge, .context = context, .places = {run->edge_count}};
    uint64_t grain = parts_at_a_time(run->graph->vertices);
    TD_CHECK(td_pool_for(pool, PARTS, grain, count_edges, &self));
    for (int part = 0; part < PARTS; part++) self.places[part + 1] += self.places[part];
    TD_CHECK(td_pool_for(pool, PARTS, grain, place_edges, &self));
    run->edge_count = self.places[PARTS];
    return TD_OK;
}

td_status td_sweep_sort_edges(td_run *run, td_pool *pool)
{
    return td_sort_distinct(run->edges, run->edge_count, run->graph->edges, pool);
}

/* Edges of the forest are copied out of a file whose lists a GPU has read, in windows that are read as they come: a forest has
 * edges in nearly every page of a list, and a page of a mapping takes the kernel longer than its bytes. The file may have
 * changed meanwhile, so that a target is looked at. */

enum { WINDOW = 1 << 16 };

typedef struct window {
    const char *array;
    uint64_t begin, end, last; /* bytes of the array: of the window, none at first; where the part's edges end */
    char *room;                /* NULL: the array is in memory */
} window;

/* Where bytes at .. at + bytes - 1 of the array are. Later calls are for later bytes. */
static td_status read_at(window *self, const td_graph *graph, uint64_t at, uint64_t bytes, const char **out)
{
    *out = self->array + at;
    if (self->room == NULL) return TD_OK;
    if (at + bytes > self->end) {
        uint64_t left = self->last - at;
        self->begin = at;
        self->end = at + (left < WINDOW ? left : WINDOW);
        TD_CHECK(td_checks_fetch(graph, self->array, at, self->room, self->end - at));
    }
    *out = self->room + (at - self->begin);
    return TD_OK;
}

static window window_of(const td_graph *graph, const void *array, uint64_t last, char *room)
{
    bool pending = array != NULL && td_checks_pending(graph, array);
    return (window){.array = array, .last = last, .room = pending ? room : NULL};
}

/* `rooms`: of every worker, for a window of targets and one of weights. */
static td_status copy_edges(const void *rooms, td_run *run, uint64_t first, uint64_t last, int worker)
{
    const td_graph *graph = run->graph;
    uint64_t entry = graph->out.weights == NULL ? 0 : td_weight_bytes(graph->weights), edges;
    char *room = (char *)(uintptr_t)rooms + (uint64_t)worker * 2 * WINDOW;
    if (first == last) return TD_OK;
    edges = run->edges[last - 1] + 1; /* to the last one's end */
    window targets = window_of(graph, graph->out.targets, edges * sizeof(uint32_t), room);
    window weights = window_of(graph, graph->out.weights, edges * entry, room + WINDOW);
    for (uint64_t i = first, from = 0; i < last; i++) {
        uint64_t edge = run->edges[i];
        const char *target, *weight = NULL;
        td_forest_edge *of = &run->forest[i];
        TD_CHECK(read_at(&targets, graph, edge * sizeof(uint32_t), sizeof(uint32_t), &target));
        if (entry > 0) TD_CHECK(read_at(&weights, graph, edge * entry, entry, &weight));
        memcpy(&of->target, target, sizeof(uint32_t));
        if (of->target >= graph->vertices) return td_checks_wild(graph, TD_SECTION_OUT_TARGETS, edge, of->target);
        td_adjacency one = {.weights = (void *)(uintptr_t)weight};
        of->weight = td_weight_at(graph, &one, 0);
        from = of->source = td_edge_source_from(graph, edge, (uint32_t)from);
    }
    return TD_OK;
}

typedef struct ending {
    td_run *run;
    td_sweep_fill_fn fill;
    const void *context;
    double weights[PARTS];
} ending;

/* Sums are local: those of several workers would share cache lines. */
static td_status end_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    ending *self = context;
    td_run *run = self->run;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t first = td_share(run->edge_count, (int)part, PARTS), last = td_share(run->edge_count, (int)part + 1, PARTS);
        if (self->fill != NULL) TD_CHECK(self->fill(self->context, run, first, last, worker));
        double sum = 0;
        for (uint64_t i = first; i < last; i++) {
            if (run->forest == NULL) td_run_fetch_edge(run, i);
            sum += run->forest != NULL ? run->forest[i].weight : td_run_edge_weight(run, i);
        }
        self->weights[part] = sum;
    }
    return TD_OK;
}

td_status td_sweep_sum_forest(td_run *run, td_pool *pool, td_sweep_fill_fn fill, const void *context)
{
    ending self = {.run = run, .fill = fill, .context = context};
    TD_CHECK(td_pool_for(pool, PARTS, parts_at_a_time(run->edge_count), end_edges, &self));
    run->total_weight = 0;
    for (int part = 0; part < PARTS; part++) run->total_weight += self.weights[part];
    return TD_OK;
}

uint64_t td_sweep_copy_bytes(int workers) { return (uint64_t)workers * 2 * WINDOW; }

td_status td_sweep_end_forest(td_run *run, td_pool *pool)
{
    char *rooms;
    TD_CHECK(td_sweep_sort_edges(run, pool));
    if (!td_checks_pending(run->graph, run->graph->out.targets)) return td_sweep_sum_forest(run, pool, NULL, NULL);
    TD_CHECK(TD_NEW(&run->forest, run->edge_count + 1, "edges of the forest"));
    TD_CHECK(TD_NEW(&rooms, td_sweep_copy_bytes(td_pool_threads(pool)), "windows of lists"));
    td_status status = td_sweep_sum_forest(run, pool, copy_edges, rooms);
    td_free(rooms);
    return status;
}
