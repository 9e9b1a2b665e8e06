/* Partitions of a graph, for `tandem info --partition`. */
#ifndef TD_CLI_INFO_PARTITION_H
#define TD_CLI_INFO_PARTITION_H

#include "base/json.h"
#include "command.h"

/* Refuses what --partition cannot mean, before the graph is read. */
td_status td_info_check_partition(const char *text);

td_status td_info_partition(td_session *session, const td_graph *graph, const char *text, td_partition_info *out);
void td_print_partition(const td_partition_info *info, const char *text, const td_graph *graph);
void td_partition_json(td_json *json, const td_partition_info *info, const char *text);

#endif
