#include "run/sweep.h"

#include "base/alloc.h"
#include "base/random.h"
#include "base/sort.h"
#include "store/checks.h"

#include <stdlib.h>

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
    double weights[PARTS];
    bool copies; /* the forest's edges out of the file */
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

/* Copies an edge of the forest out of the mapped file, which a GPU has read: a copy of all lists takes longer than all the
 * rest of the run. The file may have changed meanwhile, so that a target is read once, and is a vertex. */
static td_status copy_edge(const td_run *run, uint64_t i)
{
    const td_graph *graph = run->graph;
    uint64_t edge = run->edges[i];
    uint32_t target = __atomic_load_n(&graph->out.targets[edge], __ATOMIC_RELAXED);
    if (target >= graph->vertices) return td_checks_wild(graph, TD_SECTION_OUT_TARGETS, edge, target);
    run->forest[i] = (td_forest_edge){target, td_weight_at(graph, &graph->out, edge)};
    return TD_OK;
}

static td_status end_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    gathering *self = context;
    const td_run *run = self->run;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t last = td_share(run->edge_count, (int)part + 1, PARTS);
        for (uint64_t i = td_share(run->edge_count, (int)part, PARTS); i < last; i++) {
            if (self->copies || run->forest == NULL) td_run_fetch_edge(run, i);
            if (self->copies) TD_CHECK(copy_edge(run, i));
            self->weights[part] += td_run_forest_edge(run, i).weight;
        }
        uint64_t first = td_share(run->edge_count, (int)part, PARTS);
        if (self->copies && first < last)
            td_checks_release_edges(run->graph, &run->graph->out, run->edges[first], run->edges[last - 1]);
    }
    return TD_OK;
}

td_status td_sweep_end_forest(td_run *run, td_pool *pool)
{
    gathering self = {.run = run, .copies = td_checks_pending(run->graph, run->graph->out.targets)};
    TD_CHECK(td_sweep_sort_edges(run, pool));
    if (self.copies) TD_CHECK(TD_NEW(&run->forest, run->edge_count + 1, "edges of the forest"));
    TD_CHECK(td_pool_for(pool, PARTS, parts_at_a_time(run->edge_count), end_edges, &self));
    run->total_weight = 0;
    for (int part = 0; part < PARTS; part++) run->total_weight += self.weights[part];
    return TD_OK;
}
