/* Memory that a program would need on a graph, by each way of running it, without planning a run. */
#ifndef TD_PLANNER_NEEDS_H
#define TD_PLANNER_NEEDS_H

#include "run/run.h"
#include "store/packed.h"

/* Of a graph in memory, on disk or mapped; file: its packed file, existing or not. TD_UNSUPPORTED if the program cannot
 * run on it. */
td_status td_needs_find(td_run_needs *out, const td_program *program, const td_graph *graph,
                        const td_packed_info *file, td_pool *pool);

#endif
