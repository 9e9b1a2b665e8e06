/* Sinks once (CGgraph, section 4.2): a vertex without out-edges is read by no other, so that its value is computed once,
 * when all others are final. */
#ifndef TD_RUN_SINKS_H
#define TD_RUN_SINKS_H

#include "run/run.h"

/* Whether a run may defer sinks; `engine`: whose setting 'sinks' asks for it. */
td_status td_run_check_sinks(const char *engine, const td_program *program, const td_run_options *options, bool async);

/* The graph on which a search defers its sinks: without the edges that lead to them, which are its `tails`. The graph
 * itself if it has none, or if only its counts are known. */
td_status td_run_graph_without_sinks(const td_graph *graph, const td_run_options *options, const td_graph **out);

#endif
