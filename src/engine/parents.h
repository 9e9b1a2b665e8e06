/* Parents after a run of a minimum that a kernel could not tell: those over edges that hand a value on as it is. */
#ifndef TD_ENGINE_PARENTS_H
#define TD_ENGINE_PARENTS_H

#include "engine/run.h"

/* Completes run->parents of vertices that took their value over a free edge (weight zero, or too small to move
 * a float): such chains are followed from their solved ends along `list`, the edges that values flow. */
td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const uint32_t *values);

#endif
