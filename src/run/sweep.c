#include "run/sweep.h"

#include "base/random.h"

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

static int by_edge(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void td_sweep_sort(uint64_t *edges, uint64_t count)
{
    if (count > 0) qsort(edges, count, sizeof *edges, by_edge);
}

void td_sweep_sort_edges(td_run *run) { td_sweep_sort(run->edges, run->edge_count); }

void td_sweep_end_forest(td_run *run)
{
    td_sweep_sort_edges(run);
    run->total_weight = 0;
    for (uint64_t i = 0; i < run->edge_count; i++)
        run->total_weight += td_weight_at(run->graph, &run->graph->out, run->edges[i]);
}
