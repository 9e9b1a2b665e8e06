/* Memory that runs on a graph need, for `tandem info`. */
#ifndef TD_CLI_INFO_NEEDS_H
#define TD_CLI_INFO_NEEDS_H

#include "base/json.h"
#include "tandem.h"

/* Prints one line per program: memory with the graph loaded; memory on a GPU with the graph loaded; from disk, the
 * minimum of memory, and the bytes that an iteration over all edges reads with --memory 25%. */
td_status td_print_needs(td_session *session, const td_graph *graph);
td_status td_needs_json(td_json *json, td_session *session, const td_graph *graph);

#endif
