/* Parents after a run of a minimum that a kernel could not tell: those over edges that hand a value on as it is. */
#ifndef TD_RUN_PARENTS_H
#define TD_RUN_PARENTS_H

#include "run/run.h"

/* Completes run->parents of vertices that took their value over a free edge (weight zero, or too small to move
 * a float): such chains are followed from their solved ends along `list`, the edges that values flow. */
td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const uint32_t *values);

/* For lists of which only some are at hand: how many neighbours one vertex solves, and how many vertices are open. */
uint64_t td_run_solve_parents_of(td_run *run, const td_adjacency *list, const uint32_t *values, uint32_t u);
uint64_t td_run_parents_open(const td_run *run, const uint32_t *values);

#endif
