/* What sweeps have in common on every engine: the largest component found from labels drawn at random, and a forest's
 * edges in order. */
#ifndef TD_RUN_SWEEP_H
#define TD_RUN_SWEEP_H

#include "run/run.h"

/* The i-th vertex drawn, the same for every engine. */
uint32_t td_sweep_drawn(const td_graph *graph, uint64_t i);

/* The commonest of the labels, which are sorted for it. */
uint32_t td_sweep_commonest(uint32_t *labels, uint64_t count);

/* Edge numbers in ascending order; the same of a run's forest. */
void td_sweep_sort(uint64_t *edges, uint64_t count);
void td_sweep_sort_edges(td_run *run);

/* The forest's edges in ascending order, and what they weigh together. */
void td_sweep_end_forest(td_run *run);

#endif
