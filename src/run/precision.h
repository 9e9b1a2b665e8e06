/* Which instance of a program runs: values of 4 or of 8 bytes (docs/design/precision.md). */
#ifndef TD_RUN_PRECISION_H
#define TD_RUN_PRECISION_H

#include "run/run.h"

typedef enum td_precision { TD_PRECISION_AUTO, TD_PRECISION_SINGLE, TD_PRECISION_DOUBLE } td_precision;

/* The tolerance from which on ranks of 4 bytes reach it: the sum of the roundings of all ranks is about 6e-8. */
#define TD_SINGLE_TOLERANCE 1e-7

/* The same of 8 bytes, rounded up. */
#define TD_DOUBLE_TOLERANCE 1e-15

/* The instance for this graph and request; `program` itself if it has one instance. */
td_status td_program_for(const td_program **out, const td_program *program, const td_graph_facts *facts,
                         const td_run_options *options);

/* Whether a run of this instance that found its values too small is repeated with values of 8 bytes. */
bool td_program_widens(const td_program *program, const td_run_options *options);

#endif
