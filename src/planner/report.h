/* What a run did, for other programs: the keys of the JSON report and the events
 * of the trace, the same for every engine (docs/guide/programs.md lists them). */
#ifndef TD_PLANNER_REPORT_H
#define TD_PLANNER_REPORT_H

#include "base/json.h"
#include "engine/engine.h"
#include "run/result.h"

/* One step of the whole command, on the clock of td_clock_ns. */
typedef struct td_span {
    const char *name; /* NULL: there was none */
    uint64_t began;   /* ns */
    double seconds;
} td_span;

typedef struct td_run_report {
    const td_run *run; /* the last one, if it was repeated */
    const td_run_summary *summary;
    const td_run_options *options;
    const td_plan *plan;
    const char *claims;                    /* verified; NULL: it was not asked for */
    const double *each;                    /* seconds of processing, of every repetition */
    uint64_t repeats;
    double median;                         /* of them */
    td_span load, reorder, run_span, verify, output;
    uint64_t load_peak, run_peak; /* most bytes held while loading and reordering, and while running */
} td_run_report;

/* Keys of the object that is open. */
void td_run_report_json(td_json *json, const td_run_report *report);

/* The key "traceEvents" of the object that is open: complete events in
 * microseconds since loading began (Chrome's trace event format). */
void td_run_trace_json(td_json *json, const td_run_report *report);

#endif
