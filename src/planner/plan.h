/* The planner: which engine does the work, and why. */
#ifndef TD_PLANNER_PLAN_H
#define TD_PLANNER_PLAN_H

#include "base/setting.h"
#include "store/graph.h"

typedef struct td_engine {
    const char *name, *summary;
    const char *device;         /* what it needs: "cpu" */
    const td_setting *settings; /* keys are "<engine>.<name>" */
} td_engine;

extern const td_engine td_engines[]; /* ends with a NULL name */
const td_engine *td_engine_named(const char *name); /* NULL if there is none */

/* What was asked for: an engine's name, "auto" or NULL; devices separated by
 * commas, or NULL for all there are. TD_USAGE naming those that exist. */
td_status td_plan_check(const char *engine, const char *devices);

enum { TD_PLAN_TEXT = 192 };

typedef struct td_plan {
    const td_engine *engine;
    bool asked;             /* the user named the engine */
    char why[TD_PLAN_TEXT]; /* in words */
} td_plan;

/* After td_plan_check, once the graph is known. */
void td_plan_make(td_plan *out, const char *engine, const td_graph *graph);

#endif
