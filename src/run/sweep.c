#include "run/sweep.h"

#include "base/alloc.h"
#include "base/random.h"
#include "base/sort.h"

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

typedef struct ending {
    td_run *run;
    td_sweep_fill_fn fill;
    double weights[PARTS];
} ending;

/* Sums are local: those of several workers would share cache lines. */
static td_status end_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    ending *self = context;
    td_run *run = self->run;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t first = td_share(run->edge_count, (int)part, PARTS), last = td_share(run->edge_count, (int)part + 1, PARTS);
        if (self->fill != NULL) self->fill(run, first, last);
        double sum = 0;
        for (uint64_t i = first; i < last; i++) {
            if (run->forest == NULL) td_run_fetch_edge(run, i);
            sum += run->forest != NULL ? run->forest[i].weight : td_run_edge_weight(run, i);
        }
        self->weights[part] = sum;
    }
    return TD_OK;
}

td_status td_sweep_sum_forest(td_run *run, td_pool *pool, td_sweep_fill_fn fill)
{
    ending self = {.run = run, .fill = fill};
    TD_CHECK(td_pool_for(pool, PARTS, parts_at_a_time(run->edge_count), end_edges, &self));
    run->total_weight = 0;
    for (int part = 0; part < PARTS; part++) run->total_weight += self.weights[part];
    return TD_OK;
}

td_status td_sweep_end_forest(td_run *run, td_pool *pool)
{
    TD_CHECK(td_sweep_sort_edges(run, pool));
    return td_sweep_sum_forest(run, pool, NULL);
}
