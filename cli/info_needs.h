/* What runs on a graph would need, for `tandem info`. */
#ifndef TD_CLI_INFO_NEEDS_H
#define TD_CLI_INFO_NEEDS_H

#include "base/json.h"
#include "store/packed.h"

/* One line per program: memory with the graph loaded, on a GPU that holds it, and from disk: the least, and what an
 * iteration over all edges reads under a quarter of the file. */
td_status td_print_needs(const td_graph *graph, const td_packed_info *file, td_pool *pool);
td_status td_needs_json(td_json *json, const td_graph *graph, const td_packed_info *file, td_pool *pool);

#endif
