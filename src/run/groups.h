/* Names of groups. Programs whose values are vertices name a group by its first vertex in the graph's own numbering,
 * independent of the numbers that an engine or order used in the run. */
#ifndef TD_RUN_GROUPS_H
#define TD_RUN_GROUPS_H

#include "run/run.h"

/* Called after the engine: replaces the labels in `values` by the numbers of these vertices. Labels of an unfinished
 * run are ranks; each becomes the vertex of that rank. Values of other programs are unchanged. */
td_status td_run_name_groups(td_run *run, td_pool *pool);
uint64_t td_run_names_bytes(const td_run *run); /* that it takes meanwhile */

#endif
