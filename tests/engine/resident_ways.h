/* The ways the resident engine has of running a row of the table, on whatever
 * device: mode x direction x balance x how a pull adds up x shapes of launches;
 * some searches defer their sinks.
 * Half of them use a device and a graph on it that the run before left. */
#ifndef TD_TEST_RESIDENT_WAYS_H
#define TD_TEST_RESIDENT_WAYS_H

#include "engine/table.h"

static const char *const resident_directions[] = {"auto", "push", "pull"};
static const char *const resident_balances[] = {"warp", "thread", "cta", "iwb"};
static const char *const resident_gathers[] = {
    "gather=rows",
    "gather=shards resident.replication=auto",
    "gather=rows",
    "gather=shards resident.replication=1",
    "gather=shards resident.replication=4",
    "gather=shards resident.replication=32",
    "gather=rows",
    "gather=shards resident.replication=8",
};
static const char *const resident_shapes[] = {
    "", /* as they are */
    "resident.high_degree=32 resident.small=0 resident.tiny=0",
    "resident.rounds=1",
    "resident.high_degree=32 resident.small=64 resident.tiny=8 resident.rounds=3",
    "resident.small=32 resident.tiny=0 resident.rounds=2",
};
enum { RESIDENT_WAYS = 2 * 3 * 4 * 8 * 5 * 2 };

typedef struct resident_way {
    td_mode mode;
    const char *direction, *balance, *gather, *shape;
    bool keeps;
} resident_way;

static inline resident_way resident_way_number(int number)
{
    return (resident_way){.mode = number % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC,
                          .direction = resident_directions[number / 2 % 3],
                          .balance = resident_balances[number / 6 % 4],
                          .gather = resident_gathers[number / 24 % 8],
                          .shape = resident_shapes[number / 192 % 5],
                          .keeps = number / 960 % 2 == 0};
}

static inline bool resident_way_allowed(const row *of, const resident_way *one)
{
    const td_program *program = program_of(of->program);
    bool automatic = strcmp(one->direction, "auto") == 0,
         delta = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0;
    if (of->sync_only && one->mode == TD_MODE_ASYNC) return false;
    if (program->info->kind == TD_KIND_SWEEP || delta) return automatic;
    return program->cpu[0].fused || strcmp(one->direction, "push") != 0;
}

/* Core numbers in one launch, in a third of the ways of kcore: these have neither direction nor balance. */
static inline bool resident_cores_way(char *out, size_t room, const row *of, int number)
{
    static const char *const ways[] = {
        "resident.kcore=peel", "resident.kcore=histogram",
        "resident.kcore=peel resident.high_degree=32 resident.small=0 resident.window=1 resident.buffer=0",
        "resident.kcore=histogram resident.high_degree=32 resident.small=64 resident.rounds=3",
        "resident.kcore=peel resident.rounds=1 resident.small=32 resident.window=3 resident.buffer=2",
        "resident.kcore=auto",
    };
    bool peels = program_of(of->program)->cpu[0].schedule == TD_SCHEDULE_PEEL;
    if (peels && number / 2 % 3 == 0) snprintf(out, room, "%s", ways[number / 6 % 6]);
    return peels && number / 2 % 3 == 0;
}

static inline td_run *resident_run_way(void *context, subject *about, int number)
{
    table_place *place = context;
    const row *of = about->row;
    resident_way one = resident_way_number(number);
    char settings[320], text[512];
    if (!resident_way_allowed(of, &one)) return NULL;
    bool defers = program_of(of->program)->info->needs_source && of->iterations == 0 && one.mode == TD_MODE_SYNC &&
                  number / 2 % 5 == 0;
    snprintf(settings, sizeof settings, "resident.direction=%s resident.balance=%s resident.%s %s%s", one.direction,
             one.balance, one.gather, one.shape, defers ? " resident.sinks=defer" : "");
    (void)resident_cores_way(settings, sizeof settings, of, number);
    snprintf(about->how, sizeof about->how, "%s, %s, %s%s", place->devices,
             one.mode == TD_MODE_ASYNC ? "async" : "sync", settings, one.keeps ? ", kept" : "");
    td_run_options options = table_options(of, about->graph);
    options.pool = place->pool;
    options.mode = one.mode;
    options.engine = "resident";
    options.devices = place->devices;
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, one.keeps);
    td_run *run = run_of(of->program, about->graph, options,
                         table_settings(text, sizeof text, of, "resident", settings));
    if (strcmp(run->engine, "resident") != 0) SUBJECT_FAIL(about, "it ran on the engine %s", run->engine);
    return run;
}

#endif
