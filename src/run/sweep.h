/* Common to sweeps on all engines: the largest component from sampled labels, and a forest's edges in order. */
#ifndef TD_RUN_SWEEP_H
#define TD_RUN_SWEEP_H

#include "run/run.h"

/* The i-th sampled vertex, the same for every engine. */
uint32_t td_sweep_drawn(const td_graph *graph, uint64_t i);

/* The most frequent label; sorts the labels. */
uint32_t td_sweep_commonest(uint32_t *labels, uint64_t count);

/* Sorts edge numbers; sorts those of a run's forest. */
void td_sweep_sort(uint64_t *edges, uint64_t count);
void td_sweep_sort_edges(td_run *run);

/* Sorts the forest's edges and computes their total weight. */
void td_sweep_end_forest(td_run *run);

#endif
