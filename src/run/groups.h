/* Names of groups. Programs whose values are vertices call a group by the vertex of
 * it that comes first in the graph's own numbering, whatever number an engine or an
 * order of vertices gave it during the run. */
#ifndef TD_RUN_GROUPS_H
#define TD_RUN_GROUPS_H

#include "run/run.h"

/* When the engine is done: what it left in `values` becomes the numbers of these vertices. Of labels under way, which
 * are ranks, every one becomes the vertex of that rank. Other programs' values stay. */
td_status td_run_name_groups(td_run *run, td_pool *pool);

#endif
