/* Figures of a decomposition into paths, for `tandem info --paths` and `tandem prepare`, and the list of prepared
 * layouts. */
#ifndef TD_CLI_INFO_PATHS_H
#define TD_CLI_INFO_PATHS_H

#include "command.h"

#include "base/json.h"

/* The settings of --set as the API takes them; freed by td_free. */
td_status td_settings_list(const td_arg_pairs *set, const char ***out);

td_status td_info_paths(const td_graph *graph, const td_arg_pairs *set, const td_common *common, td_paths_info *out);
void td_print_paths(const td_paths_info *info, const td_graph *graph);
void td_paths_json(td_json *json, const td_paths_info *info, const td_graph *graph);

/* Nothing is printed where nothing is prepared. */
void td_print_prepared(const char *path);
void td_prepared_json(td_json *json, const char *path);
void td_prepared_entry_json(td_json *json, const td_prepared *entry);

#endif
