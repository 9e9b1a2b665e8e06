/* What making a graph file took, as text and as JSON keys. */
#ifndef TD_CLI_MADE_TEXT_H
#define TD_CLI_MADE_TEXT_H

#include "base/json.h"

/* Of a file that was built out of memory. */
void td_show_out_of_memory(const td_made *made);
void td_json_out_of_memory(td_json *json, const td_made *made);

#endif
