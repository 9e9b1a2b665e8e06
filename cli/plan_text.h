/* The planner's table: engines with time per phase, memory, refusals, the choice and what would change it. */
#ifndef TD_CLI_PLAN_TEXT_H
#define TD_CLI_PLAN_TEXT_H

#include "base/json.h"
#include "tandem.h"

void td_estimates_print(const td_estimates *estimates); /* to standard output */
void td_estimates_json(td_json *json, const td_estimates *estimates); /* keys of the open object */

#endif
