/* The switches of the paths engine. */
#include "engine/paths/paths.h"

#include <string.h>

enum {
    SET_VARIANT, SET_DEPTH, SET_MERGE, SET_ACYCLIC, SET_PARTITION, SET_PACK, SET_HOT, SET_PARTITION_EDGES, SET_LAYERS,
    SET_PRIORITY, SET_SHARE, SET_STEAL, SETTINGS,
};

const td_setting td_paths_setting_table[] = {
    [SET_VARIANT] = {"variant", TD_SETTING_CHOICE, 0, 0, 0, "full|w|t",
                     "full; w: without priority; t: without paths, plain asynchronous vertices"},
    [SET_DEPTH] = {"depth", TD_SETTING_WHOLE, TD_PATH_DEPTH, 1, 1e6, NULL,
                   "edges that the search for a path follows; paths are joined afterwards"},
    [SET_MERGE] = {"merge", TD_SETTING_CHOICE, TD_PATHS_MERGE_ON, 0, 0, "on|off|free",
                   "paths are joined head to tail. on: at most one path passes through a vertex; free: any number"},
    [SET_ACYCLIC] = {"acyclic", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                     "paths are cut where they would depend on each other in a cycle that the graph does not have"},
    [SET_PARTITION] = {"partition", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                       "connected and hot paths share partitions; off: paths by their first vertex"},
    [SET_PACK] = {"pack", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                  "threads of a warp get equally many edges; off: equally many paths"},
    [SET_HOT] = {"hot", TD_SETTING_NUMBER, 0, 0, 1e9, NULL,
                 "a path is hot if the mean degree of its vertices is so many times the graph's; 0: the layout's default"},
    [SET_PARTITION_EDGES] = {"partition_edges", TD_SETTING_WHOLE, TD_PATH_PARTITION_EDGES, 32, 1 << 20, NULL,
                             "edges of a partition, which one warp or worker walks"},
    [SET_LAYERS] = {"layers", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                    "paths are processed layer by layer, each group until it is final; off: all at once"},
    [SET_PRIORITY] = {"priority", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                      "partitions with many active paths of high degree first, and small changes wait"},
    [SET_SHARE] = {"share", TD_SETTING_NUMBER, 0.5, 0.01, 1, NULL,
                   "priority: vertices with the largest changes, which hold this share of all changes, are applied in a "
                   "round; smaller changes wait for further deposits"},
    [SET_STEAL] = {"steal", TD_SETTING_CHOICE, 0, 0, 0, "on|off", "idle workers take partitions of others"},
    [SETTINGS] = {0},
};

td_status td_paths_read_settings(const td_settings *settings, td_paths_settings *out)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "paths", td_paths_setting_table, set, NULL));
    *out = (td_paths_settings){.variant = (td_paths_variant)set[SET_VARIANT], .layout = td_path_defaults(),
                               .layers = set[SET_LAYERS] == 0, .share = set[SET_SHARE], .steal = set[SET_STEAL] == 0};
    out->priority = set[SET_PRIORITY] == 0 && out->variant == TD_PATHS_FULL;
    out->layout.depth = (uint32_t)set[SET_DEPTH];
    out->layout.merge = (td_path_merge)set[SET_MERGE];
    out->layout.acyclic = set[SET_ACYCLIC] == 0;
    out->layout.partition = set[SET_PARTITION] == 0;
    out->layout.pack = set[SET_PACK] == 0;
    if (set[SET_HOT] > 0) out->layout.hot = set[SET_HOT];
    out->layout.partition_edges = (uint32_t)set[SET_PARTITION_EDGES];
    return TD_OK;
}

/* Of the variant without paths only stealing is left. */
bool td_paths_setting_applies(const td_settings *settings, const char *name)
{
    td_paths_settings set;
    if (td_paths_read_settings(settings, &set) != TD_OK) return true;
    if (strcmp(name, "variant") == 0 || strcmp(name, "steal") == 0) return true;
    if (set.variant == TD_PATHS_T) return false;
    if (strcmp(name, "share") == 0) return set.priority;
    return strcmp(name, "priority") != 0 || set.variant == TD_PATHS_FULL;
}
