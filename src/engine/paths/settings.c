/* The switches of the paths engine. */
#include "engine/paths/paths.h"

#include "layout/paths_settings.h"

#include <stdio.h>
#include <string.h>

enum {
    SET_VARIANT = TD_PATH_SETTINGS, SET_LAYERS, SET_PRIORITY, SET_SHARE, SET_BALANCE, SET_PROXY, SET_STEAL, SET_LOOP,
    SET_STREAMS, SET_BATCH, SET_PREFETCH, SET_EVICT, SET_AFFINITY, SET_SORT, SET_EARLY,
    SET_ROUNDS, SET_EXCHANGE, SET_NEAR, SET_WALK, SET_DENSE,
    SETTINGS,
};

const td_setting td_paths_setting_table[] = {
    TD_PATH_SETTING_ROWS,
    [SET_VARIANT] = {"variant", TD_SETTING_CHOICE, 0, 0, 0, "full|w|t",
                     "full; w: without priority; t: without paths, plain asynchronous vertices"},
    [SET_LAYERS] = {"layers", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                    "processes paths layer by layer, each group until it is final; off: all at once, by default where several "
                    "GPUs run a program of real numbers, and on a GPU with more warps than a layer has partitions"},
    [SET_PRIORITY] = {"priority", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                      "partitions with many marked paths of high degree first, and small changes wait"},
    [SET_SHARE] = {"share", TD_SETTING_NUMBER, 0.2, 0.001, 1, NULL,
                   "priority: a round applies the vertices with the largest changes, which hold this share of all changes; "
                   "smaller changes wait for further deposits; 1 by default where paths stay at the host"},
    [SET_BALANCE] = {"balance", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                     "priority: when nearly all changes that a group's vertices want have one sign, multiplies their "
                     "values by the factor that makes the changes add up to 0 (PageRank, adsorption); off by default "
                     "where paths stay at the host"},
    [SET_PROXY] = {"proxy", TD_SETTING_WHOLE, 32, 0, 4e9, NULL,
                   "GPUs: in-degree from which the deposits of a warp at a vertex are gathered in shared memory until its "
                   "partition ends; 0: never, which is the default of paths.walk=warp"},
    [SET_STEAL] = {"steal", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                   "GPUs: a warp that is free takes the next partition; off: warps take turns"},
    [SET_LOOP] = {"loop", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                  "GPUs: a launch runs rounds until a decision of the host is due; off: a launch for every step of a "
                  "round"},
    [SET_STREAMS] = {"streams", TD_SETTING_WHOLE, 0, 0, 64, NULL,
                     "GPUs: paths stay in host memory, and this number of batches of them is on the GPU at a time, each "
                     "with a stream; 0: all paths are on the GPU if they fit, otherwise packed partitions, a part of which is on the "
                     "GPU, or up to 8 batches"},
    [SET_BATCH] = {"batch_edges", TD_SETTING_WHOLE, 0, 0, 4e18, NULL,
                   "GPUs: approximate maximum of edges in a batch; 0: as many as the memory has room for"},
    [SET_PREFETCH] = {"prefetch", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                      "GPUs: the batch that is needed next is copied while another is walked"},
    [SET_EVICT] = {"evict", TD_SETTING_CHOICE, 0, 0, 0, "successors|oldest",
                   "GPUs: the batch with the fewest active direct successors makes way; oldest: the one not used for "
                   "longest"},
    [SET_AFFINITY] = {"affinity", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                      "several GPUs: a partition is on the GPU that has most of the vertices it reads and writes; off: "
                      "every GPU has consecutive ones"},
    [SET_SORT] = {"sort", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                  "several GPUs: messages are sent in the order of the paths that they are for; off: of their vertices"},
    [SET_EARLY] = {"early", TD_SETTING_CHOICE, 0, 0, 0, "off|on",
                   "GPUs: warps that a group leaves idle walk partitions of later groups, those with the fewest active "
                   "predecessors first. Several GPUs, programs of whole numbers: groups of all layers are walked at once "
                   "(the default there)"},
    [SET_ROUNDS] = {"rounds", TD_SETTING_WHOLE, 4, 1, 256, NULL,
                    "several GPUs: rounds that a launch walks at most before the GPUs exchange messages"},
    [SET_EXCHANGE] = {"exchange", TD_SETTING_CHOICE, 0, 0, 0, "auto|copies",
                      "several GPUs: auto lets kernels read messages in the memory of the GPU that sends them where they "
                      "can; copies copies them first"},
    [SET_NEAR] = {"near", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                  "priority: sssp applies the vertices up to a bound of distance first, which rises when none of them is "
                  "left"},
    [SET_WALK] = {"walk", TD_SETTING_CHOICE, 0, 0, 0, "warp|lanes",
                  "GPUs: warp: the lanes of a warp take marked paths as they come, deposit the sum of what they bring for a "
                  "vertex, and mark paths together; lanes: every lane walks the paths of its part of the partition, by default "
                  "where values flow both ways, for core numbers and in batches of paths at the host"},
    [SET_DENSE] = {"dense", TD_SETTING_NUMBER, 1, 0, 1, NULL,
                   "GPUs, paths.walk=warp, programs of real numbers: a round walks all paths of a group, and marks none, "
                   "if the vertices that it will apply have more than this part of the group's edges; 1: never"},
    [SETTINGS] = {0},
};

td_status td_paths_read_settings(const td_settings *settings, td_paths_settings *out)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "paths", td_paths_setting_table, set, NULL));
    *out = (td_paths_settings){.variant = (td_paths_variant)set[SET_VARIANT], .layout = td_path_options_of(set),
                               .layers = set[SET_LAYERS] == 1, .share = set[SET_SHARE], .proxy = (uint64_t)set[SET_PROXY],
                               .steal = set[SET_STEAL] == 1, .loop = set[SET_LOOP] == 1,
                               .streams = (uint32_t)set[SET_STREAMS], .batch_edges = (uint64_t)set[SET_BATCH],
                               .prefetch = set[SET_PREFETCH] == 1, .evict_oldest = set[SET_EVICT] == 1,
                               .affinity = set[SET_AFFINITY] == 1, .sort = set[SET_SORT] == 1,
                               .early = set[SET_EARLY] == 1, .rounds = (uint32_t)set[SET_ROUNDS],
                               .copies = set[SET_EXCHANGE] == 1, .warp = set[SET_WALK] == 0,
                               .dense = set[SET_DENSE]};
    out->priority = set[SET_PRIORITY] == 1 && out->variant == TD_PATHS_FULL;
    out->balance = set[SET_BALANCE] == 1 && out->priority;
    out->near = set[SET_NEAR] == 1 && out->priority;
    return TD_OK;
}

/* The variant without paths has two settings. */
bool td_paths_setting_applies(const td_settings *settings, const char *name)
{
    td_paths_settings set;
    if (td_paths_read_settings(settings, &set) != TD_OK) return true;
    if (strcmp(name, "variant") == 0 || strcmp(name, "loop") == 0) return true;
    if (set.variant == TD_PATHS_T) return false;
    if (!td_path_setting_matters(&set.layout, name)) return false;
    if (strcmp(name, "share") == 0 || strcmp(name, "balance") == 0 || strcmp(name, "near") == 0) return set.priority;
    if (strcmp(name, "early") == 0) return set.layers;
    if (strcmp(name, "dense") == 0) return set.warp && set.loop && set.streams == 0;
    if (strcmp(name, "walk") == 0) return set.streams == 0;
    if (strcmp(name, "rounds") == 0) return set.loop && set.streams == 0;
    return strcmp(name, "priority") != 0 || set.variant == TD_PATHS_FULL;
}

/* Refuses settings of GPUs: a core walks whole partitions, and has all paths in its memory. */
td_status td_paths_check_cores(const td_settings *settings)
{
    static const char *const keys[] = {"paths.pack", "paths.proxy", "paths.steal", "paths.loop", "paths.streams",
                                       "paths.batch_edges", "paths.prefetch", "paths.evict", "paths.affinity",
                                       "paths.sort", "paths.early", "paths.rounds", "paths.exchange",
                                       "paths.walk", "paths.dense"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (settings != NULL && td_settings_given(settings, keys[i]))
            return td_fail(TD_USAGE, "%s is about the threads of a GPU, and has no effect on the CPU's cores; {devices} "
                                     "names a GPU (cuda:0), or an emulated one (emu)", keys[i]);
    return TD_OK;
}

/* Refuses settings of several GPUs on one. */
td_status td_paths_check_several(const td_settings *settings, bool several)
{
    static const char *const keys[] = {"paths.affinity", "paths.sort", "paths.rounds", "paths.exchange"};
    for (size_t i = 0; !several && settings != NULL && i < sizeof keys / sizeof *keys; i++)
        if (td_settings_given(settings, keys[i]))
            return td_fail(TD_USAGE, "%s has no effect: one GPU has all paths; {devices} names several (cuda:0,cuda:1, "
                                     "cuda:0/4, emu:4)", keys[i]);
    return TD_OK;
}

/* Refuses settings of batches where all paths are on the GPU, and of rounds inside a launch where they are not. */
td_status td_paths_check_batches(const td_settings *settings, bool batched, bool packed)
{
    static const char *const keys[] = {"paths.batch_edges", "paths.prefetch", "paths.evict"};
    if (settings == NULL) return TD_OK;
    if (batched && !packed && td_settings_given(settings, "paths.loop"))
        return td_fail(TD_USAGE, "paths.loop has no effect: the paths stay at the host, and every walk of a batch is a "
                                 "launch");
    if (batched && td_settings_given(settings, "paths.walk"))
        return td_fail(TD_USAGE, "paths.walk has no effect: the paths stay at the host, where lanes walk in batches, and "
                                 "warps packed partitions");
    if (batched && td_settings_given(settings, "paths.early"))
        return td_fail(TD_USAGE, "paths.early has no effect: the paths stay at the host, where batches are copied in the "
                                 "order of their layers, and packed partitions have none");
    for (size_t i = 0; !batched && i < sizeof keys / sizeof *keys; i++)
        if (td_settings_given(settings, keys[i]))
            return td_fail(TD_USAGE, "%s has no effect: all paths are on the GPU; paths.streams=N keeps them at the "
                                     "host", keys[i]);
    return TD_OK;
}

/* Refuses settings that have no effect beside the others. */
td_status td_paths_check_settings(const td_settings *settings)
{
    td_paths_settings set;
    TD_CHECK(td_paths_read_settings(settings, &set));
    if (set.variant != TD_PATHS_T) TD_CHECK(td_path_settings_check(settings, &set.layout));
    for (int i = 0; i < SETTINGS; i++) {
        char key[64];
        const char *name = td_paths_setting_table[i].name;
        snprintf(key, sizeof key, "paths.%s", name);
        if (td_settings_given(settings, key) && !td_paths_setting_applies(settings, name))
            return td_fail(TD_USAGE, "%s has no effect: %s", key,
                           strcmp(name, "early") == 0 && set.variant != TD_PATHS_T
                               ? "with paths.layers=off all paths are walked at once"
                           : (strcmp(name, "rounds") == 0 || strcmp(name, "walk") == 0) && set.variant != TD_PATHS_T
                               ? "every round is a launch where paths.loop=off, or where paths stay at the host"
                           : strcmp(name, "dense") == 0 && set.variant != TD_PATHS_T
                               ? "it is about rounds inside a launch of paths.walk=warp"
                           : strcmp(name, "share") == 0 || strcmp(name, "balance") == 0 || strcmp(name, "near") == 0
                               ? "it is a part of the priority, which the variant or paths.priority=off leaves out"
                               : "the variant does without it");
    }
    return TD_OK;
}
