/* The report of a run for other programs: the keys of the JSON report and the events of the trace, the same for every
 * engine (docs/guide/programs.md lists them). */
#ifndef TD_PLANNER_REPORT_H
#define TD_PLANNER_REPORT_H

#include "base/json.h"
#include "engine/engine.h"
#include "run/result.h"

/* One step of the whole command, on the clock of td_clock_ns. */
typedef struct td_span {
    const char *name; /* NULL: no such step */
    uint64_t began;   /* ns */
    double seconds;
} td_span;

typedef struct td_run_report {
    const td_run *run; /* the last repetition */
    const td_run_summary *summary;
    const td_run_options *options;
    const td_plan *plan;
    const char *claims;                    /* verified claims; NULL: not asked for */
    const double *each;                    /* seconds of processing, of every repetition */
    uint64_t repeats;
    double median;                         /* median of `each` */
    td_span start, load, reorder, planning, earlier, run_span, summarise, verify, output;
    const struct td_estimates *expected; /* estimates before the run; NULL: none */
    uint64_t load_peak, run_peak; /* peak memory while loading and reordering, and while running */
} td_run_report;

/* Adds keys to the open object. */
void td_run_report_json(td_json *json, const td_run_report *report);

/* Adds the key "traceEvents" to the open object: complete events and counters in microseconds since the first phase began
 * (Chrome's trace event format), a track for the steps, for every lane of the engine and for every device. */
void td_run_trace_json(td_json *json, const td_run_report *report);

#endif
