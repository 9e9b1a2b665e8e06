/* The ways the paths engine has of running a row of the table: variants x settings, on cores or on whatever GPU. Half of
 * the runs on a GPU take the decomposition that a run before left. */
#ifndef TD_TEST_PATHS_WAYS_H
#define TD_TEST_PATHS_WAYS_H

#include "engine/table.h"

static const char *const paths_variants[] = {"paths.variant=full", "paths.variant=w", "paths.variant=t"};
static const char *const paths_settings[] = {
    "", "paths.acyclic=on", "paths.merge=free", "paths.merge=off paths.depth=1", "paths.layers=off",
    "paths.priority=off", "paths.partition_edges=32 paths.acyclic=on", "paths.balance=off", "paths.partition=off",
    "paths.share=1", "paths.share=0.01 paths.partition_edges=40",
};
/* Of GPUs, beside these. */
static const char *const paths_gpu_settings[] = {
    "", "paths.proxy=1", "paths.proxy=0 paths.steal=off", "paths.loop=off", "paths.proxy=2 paths.pack=off",
    "paths.walk=lanes", "paths.dense=0 paths.proxy=2", "paths.walk=lanes paths.pack=off", "paths.dense=0.2",
    "paths.walk=lanes paths.loop=off paths.proxy=0",
    "paths.loop=off paths.proxy=2", "paths.streams=2 paths.batch_edges=40",
    "paths.streams=3 paths.batch_edges=100 paths.prefetch=off paths.proxy=1",
    "paths.streams=4 paths.batch_edges=64 paths.evict=oldest paths.steal=off",
    /* Packed partitions: a percentage of them on the GPU. */
    "30% ", "0% paths.loop=off paths.proxy=2", "60% paths.steal=off", "99% paths.layers=on",
};
enum {
    PATHS_SETTINGS = sizeof paths_settings / sizeof *paths_settings,
    PATHS_GPU_SETTINGS = sizeof paths_gpu_settings / sizeof *paths_gpu_settings,
    PATHS_WAYS = 3 * PATHS_SETTINGS, /* on cores */
    PATHS_GPU_WAYS = PATHS_WAYS * PATHS_GPU_SETTINGS * 2,
};

/* The settings of a way; false: the row, or the variant, has no such run. */
static inline bool paths_way_text(char *text, size_t bytes, const row *of, int number, const char *more)
{
    int variant = number % 3;
    const char *settings = paths_settings[number / 3 % PATHS_SETTINGS];
    bool priority = strncmp(settings, "paths.share", 11) == 0 || strcmp(settings, "paths.balance=off") == 0 ||
                    strcmp(settings, "paths.priority=off") == 0;
    if (of->engine != NULL || of->iterations > 0 || (variant > 0 && priority)) return false;
    if (variant == 2 && (settings[0] != 0 || (more[0] != 0 && strcmp(more, "paths.loop=off") != 0))) return false;
    snprintf(text, bytes, "%s %s %s %s", paths_variants[variant], settings, more, of->settings);
    return true;
}

/* Programs whose values flow one way and add up, or whose least counts. */
static inline bool paths_can_pack(const subject *about)
{
    const char *name = about->row->program;
    return strcmp(name, "bfs") == 0 || strcmp(name, "sssp") == 0 || strcmp(name, "pagerank") == 0 ||
           strcmp(name, "adsorption") == 0 || (about->graph->symmetric && strcmp(name, "kcore") != 0);
}

static inline td_run *paths_run_gpu_way(void *context, subject *about, int number)
{
    table_place *place = context;
    char text[400];
    int rest = number / PATHS_WAYS, part = -1;
    const char *settings = paths_gpu_settings[rest % PATHS_GPU_SETTINGS];
    if (strchr(settings, '%') != NULL) {
        part = atoi(settings);
        settings = strchr(settings, ' ') + 1;
        if (number % 3 == 2 || !paths_can_pack(about)) return NULL; /* the variant without paths, batches */
        if (settings[0] != 0 && strstr(paths_settings[number / 3 % PATHS_SETTINGS], "layers") != NULL) settings = "";
    }
    if (!paths_way_text(text, sizeof text, about->row, number, settings)) return NULL;
    td_run_options options = table_options(about->row, about->graph);
    if (part >= 0) options.gpu_edges = part > 0 ? part / 100.0 : 1e-9;
    options.pool = place->pool;
    options.engine = "paths";
    options.devices = place->devices;
    bool keeps = rest / PATHS_GPU_SETTINGS == 0;
    snprintf(about->how, sizeof about->how, "%s, %s, %d%%%s", place->devices, text, part, keeps ? ", kept" : "");
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, keeps);
    return run_of(about->row->program, about->graph, options, text);
}

/* Settings of several GPUs, beside those of one. */
static const char *const paths_several_settings[] = {
    "", "paths.rounds=1 paths.walk=lanes", "paths.affinity=off", "paths.sort=off paths.rounds=16", "paths.loop=off",
    "paths.exchange=copies", "paths.early=on", "paths.streams=2 paths.batch_edges=64", "paths.steal=off paths.proxy=1",
    "paths.loop=off paths.early=on paths.walk=lanes", "paths.early=off",
};
enum {
    PATHS_SEVERAL_SETTINGS = sizeof paths_several_settings / sizeof *paths_several_settings,
    PATHS_SEVERAL_WAYS = PATHS_WAYS * PATHS_SEVERAL_SETTINGS * 2,
};

/* Small partitions, so that all GPUs have some. */
static inline td_run *paths_run_several_way(void *context, subject *about, int number)
{
    table_place *place = context;
    char text[500], more[200];
    int rest = number / PATHS_WAYS;
    const char *first = paths_settings[number / 3 % PATHS_SETTINGS];
    bool sized = strstr(first, "partition_edges") != NULL;
    bool early = strstr(paths_several_settings[rest % PATHS_SEVERAL_SETTINGS], "early") != NULL;
    snprintf(more, sizeof more, "%s%s", paths_several_settings[rest % PATHS_SEVERAL_SETTINGS],
             sized ? "" : " paths.partition_edges=8");
    if (early && strstr(first, "layers=off") != NULL) return NULL; /* no effect */
    if (number % 3 == 2 || !paths_way_text(text, sizeof text, about->row, number, more)) return NULL;
    td_run_options options = table_options(about->row, about->graph);
    options.pool = place->pool;
    options.engine = "paths";
    options.devices = place->devices;
    bool keeps = rest / PATHS_SEVERAL_SETTINGS == 0;
    snprintf(about->how, sizeof about->how, "%s, %s%s", place->devices, text, keeps ? ", kept" : "");
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, keeps);
    return run_of(about->row->program, about->graph, options, text);
}

#endif
