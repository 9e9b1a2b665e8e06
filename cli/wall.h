/* The wall clock of `tandem run`, from the start of the process until everything is freed, as phases and a rest. */
#ifndef TD_CLI_WALL_H
#define TD_CLI_WALL_H

#include "base/json.h"
#include "tandem.h"

typedef struct td_wall {
    double seconds;    /* all of it */
    double processing; /* of the last run */
    const td_report_facts *phases;
    const td_result_facts *run;
    const td_phase *report, *close; /* making the report and the trace; freeing everything */
    const td_estimates *expected;   /* before the run, or NULL */
    const char *engine;             /* that ran */
} td_wall;

void td_wall_show(const td_wall *wall);                /* a line on standard error; if verbose, what was expected */
void td_wall_json(td_json *json, const td_wall *wall); /* the key "wall", which adds to "times" */

#endif
