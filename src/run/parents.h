/* Parents that a kernel could not find: those along edges of length 0, over which a value is copied. */
#ifndef TD_RUN_PARENTS_H
#define TD_RUN_PARENTS_H

#include "run/run.h"

/* Completes run->parents of vertices that got their value along an edge of length 0 (weight zero, or too small to
 * change a distance): chains of such edges are followed from their solved ends along `list`, in the direction of
 * values. `values`: of the program's kind, 4 or 8 bytes each. */
td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const void *values);

/* For lists that are only partly in memory: solves the neighbours of one vertex; returns how many. */
uint64_t td_run_solve_parents_of(td_run *run, const td_adjacency *list, const void *values, uint32_t u);
uint64_t td_run_parents_open(const td_run *run, const void *values);

uint64_t td_run_unreached(const td_run *run); /* the bits of a value that means it */

#endif
