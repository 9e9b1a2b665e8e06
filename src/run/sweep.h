/* Common to sweeps on all engines: the largest component from sampled labels, and a forest's edges in order. */
#ifndef TD_RUN_SWEEP_H
#define TD_RUN_SWEEP_H

#include "run/run.h"

/* The i-th sampled vertex, the same for every engine. */
uint32_t td_sweep_drawn(const td_graph *graph, uint64_t i);

/* The most frequent label; sorts the labels. */
uint32_t td_sweep_commonest(uint32_t *labels, uint64_t count);

/* The weight of an edge of a list in ordered bits; `weights` are the list's, of the graph's kind, or NULL. */
uint32_t td_sweep_ordered_weight(const td_graph *graph, const void *weights, uint64_t e);

/* Adds an edge to the run's forest for every vertex for which `edge` has one (not UINT64_MAX), in the order of vertices. */
typedef uint64_t (*td_sweep_edge_fn)(const void *context, uint32_t vertex);
td_status td_sweep_collect(td_run *run, td_sweep_edge_fn edge, const void *context, td_pool *pool);

/* Sorts the edges of the run's forest. */
td_status td_sweep_sort_edges(td_run *run, td_pool *pool);

/* Computes the forest's total weight. Before, `fill` provides edges first .. last - 1 of run->forest, on any worker; NULL:
 * they are there already, or in the graph's lists. */
typedef void (*td_sweep_fill_fn)(td_run *run, uint64_t first, uint64_t last);
td_status td_sweep_sum_forest(td_run *run, td_pool *pool, td_sweep_fill_fn fill);

/* Sorts the forest's edges, whose lists are in memory, and computes their total weight. */
td_status td_sweep_end_forest(td_run *run, td_pool *pool);

#endif
