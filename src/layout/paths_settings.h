/* The settings of the decomposition, `paths.NAME=VALUE`: rows of a table, for the engine that has more of them and for
 * `tandem prepare`. A table that begins with TD_PATH_SETTING_ROWS has their numbers in the order of td_path_setting. */
#ifndef TD_LAYOUT_PATHS_SETTINGS_H
#define TD_LAYOUT_PATHS_SETTINGS_H

#include "base/setting.h"
#include "layout/paths.h"

#include <string.h>

typedef enum td_path_setting {
    TD_PATH_SET_DEPTH,
    TD_PATH_SET_MERGE,
    TD_PATH_SET_ACYCLIC,
    TD_PATH_SET_PARTITION,
    TD_PATH_SET_PACK,
    TD_PATH_SET_HOT,
    TD_PATH_SET_LONGEST,
    TD_PATH_SET_PARTITION_EDGES,
    TD_PATH_SETTINGS,
} td_path_setting;

#define TD_PATH_SETTING_ROWS                                                                                            \
    {"depth", TD_SETTING_WHOLE, TD_PATH_DEPTH, 1, 1 << 20, NULL, "maximum edges between a root and the end of a path"},  \
    {"merge", TD_SETTING_CHOICE, TD_PATHS_MERGE_ON, 0, 0, "on|off|free", "joins paths head to tail: where at most one "  \
     "path passes through a vertex, never, or wherever ends meet"},                                                      \
    {"acyclic", TD_SETTING_CHOICE, 0, 0, 0, "off|on", "cuts paths so that dependencies have only the graph's own cycles"}, \
    {"partition", TD_SETTING_CHOICE, 1, 0, 0, "off|on", "hot paths, and paths of one component, share partitions"},     \
    {"pack", TD_SETTING_CHOICE, 1, 0, 0, "off|on", "gives the threads of a warp equally many edges, not paths"},        \
    {"hot", TD_SETTING_NUMBER, TD_PATH_HOT, 0, 1e12, NULL, "mean degree from which a path is hot, in multiples of the graph's"},   \
    {"longest", TD_SETTING_WHOLE, 0, 0, 1e15, NULL, "most edges of a joined path; 0: no limit"},                        \
    {"partition_edges", TD_SETTING_WHOLE, TD_PATH_PARTITION_EDGES, 1, (1 << 30) - 1, NULL, "edges of a partition, which a warp takes"}

static inline td_path_options td_path_options_of(const double *numbers)
{
    return (td_path_options){
        .depth = (uint32_t)numbers[TD_PATH_SET_DEPTH],
        .merge = (td_path_merge)numbers[TD_PATH_SET_MERGE],
        .acyclic = numbers[TD_PATH_SET_ACYCLIC] != 0,
        .partition = numbers[TD_PATH_SET_PARTITION] != 0,
        .pack = numbers[TD_PATH_SET_PACK] != 0,
        .hot = numbers[TD_PATH_SET_HOT],
        .longest = (uint64_t)numbers[TD_PATH_SET_LONGEST],
        .partition_edges = (uint32_t)numbers[TD_PATH_SET_PARTITION_EDGES],
    };
}

/* Whether a setting of the decomposition has an effect beside the others: cut paths are neither searched nor joined. */
static inline bool td_path_setting_matters(const td_path_options *options, const char *name)
{
    return !options->acyclic || (strcmp(name, "merge") != 0 && strcmp(name, "depth") != 0);
}

/* Refuses those that are given all the same. */
static inline td_status td_path_settings_check(const td_settings *settings, const td_path_options *options)
{
    static const char *const keys[] = {"paths.merge", "paths.depth"};
    for (int i = 0; i < 2; i++)
        if (settings != NULL && td_settings_given(settings, keys[i]) && !td_path_setting_matters(options, keys[i] + 6))
            return td_fail(TD_USAGE, "%s has no effect beside paths.acyclic=on, which finds and cuts paths in its own way",
                           keys[i]);
    return TD_OK;
}

#endif
