/* Running a program by an engine. */
#ifndef TD_ENGINE_ENGINE_H
#define TD_ENGINE_ENGINE_H

#include "run/run.h"

/* Checks the request against the program and the graph, prepares parameters and inputs, and runs. On failure *out is
 * untouched. */
td_status td_run_program(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
