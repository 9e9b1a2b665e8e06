/* Layouts that a run makes by itself, for the runs to come. */
#ifndef TD_PLANNER_LAYOUTS_H
#define TD_PLANNER_LAYOUTS_H

#include "engine/engine.h"

/* Seconds, and bytes of the layout. */
typedef struct td_layout_costs {
    double runs;    /* earlier ones, of as many processes */
    double prepare; /* what each of them took to prepare */
    double load;    /* of the graph's own lists, which a prepared run does not read */
    double bytes;
    double slower;  /* td_case_slower */
} td_layout_costs;
bool td_layout_pays(const td_layout_costs *costs);

/* Whether a layout pays for runs like the plan's, by their history; TD_NOT_FOUND with the reason: it does not. */
td_status td_plan_check_layout(const td_plan *plan);

/* Makes the layout that runs of the plan would read, if the setting `prepared` of its engine asks for it, or leaves it
 * to the cost and it pays. TD_NOT_FOUND with the reason: none is made. */
td_status td_plan_make_layout(const td_plan *plan, td_prepared_file *out);

#endif
