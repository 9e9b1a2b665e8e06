#include "planner/plan.h"

#include "base/size.h"
#include "engine/cpu.h"

#include <stdio.h>
#include <string.h>

const td_engine td_engines[] = {
    {"cpu", "all cores on a graph in memory: edge-balanced pull, notify-pull and push, chosen every iteration", "cpu",
     td_cpu_settings},
    {0},
};

const td_engine *td_engine_named(const char *name)
{
    for (const td_engine *engine = td_engines; engine->name != NULL; engine++)
        if (strcmp(engine->name, name) == 0) return engine;
    return NULL;
}

static td_status check_engine(const char *name)
{
    char names[256] = "auto";
    if (name == NULL || strcmp(name, "auto") == 0 || td_engine_named(name) != NULL) return TD_OK;
    for (const td_engine *engine = td_engines; engine->name != NULL; engine++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", engine->name);
    }
    return td_fail(TD_USAGE, "unknown engine '%s'; there are %s", name, names);
}

static td_status check_devices(const char *devices)
{
    for (const char *at = devices; at != NULL && *at != '\0';) {
        int length = (int)strcspn(at, ",");
        if (length != 3 || strncmp(at, "cpu", 3) != 0)
            return td_fail(TD_USAGE, "--devices %s: there is no device '%.*s'; this build has cpu", devices, length,
                           at);
        at += length;
        at += *at == ',';
    }
    return TD_OK;
}

td_status td_plan_check(const char *engine, const char *devices)
{
    TD_CHECK(check_engine(engine));
    return check_devices(devices);
}

void td_plan_make(td_plan *out, const char *engine, const td_graph *graph)
{
    char size[TD_NUMBER_BYTES];
    *out = (td_plan){.asked = engine != NULL && strcmp(engine, "auto") != 0};
    out->engine = out->asked ? td_engine_named(engine) : &td_engines[0];
    if (out->asked) snprintf(out->why, sizeof out->why, "asked for");
    else
        snprintf(out->why, sizeof out->why,
                 "the graph (%s) is in memory, and this build has no engine for other devices",
                 td_format_size(size, td_graph_bytes(graph)));
}
