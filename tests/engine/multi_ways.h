/* The ways the multi engine has of running a row of the table, on whatever GPUs: mode x direction x partition x how work
 * is stolen and updates are exchanged x ownership x shapes of launches. Half of them use the GPUs and the fragments on
 * them that the run before left. Every iteration's edges add up. */
#ifndef TD_TEST_MULTI_WAYS_H
#define TD_TEST_MULTI_WAYS_H

#include "engine/multi/multi.h"
#include "engine/table.h"

#include "layout/partition_metis.h"

static const char *const multi_directions[] = {"auto", "push", "pull"};
static const char *const multi_partitions[] = {"seg", "random multi.seed=5", "seg", "metis", "random"};
/* Thresholds of 0 steal wherever the loads differ at all. */
static const char *const multi_sharings[] = {
    "multi.t1=0 multi.t2=0",
    "multi.stealing=off multi.loop_edges=0",
    "multi.t1=0 multi.t2=0 multi.cost=uniform",
    "multi.exchange=copies",
    "multi.t1=0 multi.t2=0 multi.t3=1000",
    "", /* as they are */
    "multi.stealing=off multi.exchange=copies",
};
static const char *const multi_owners[] = {"", "multi.ownership=off"};
static const char *const multi_shapes[] = {"", "multi.high_degree=32"};
enum { MULTI_WAYS = 2 * 3 * 5 * 7 * 2 * 2 * 2 };

typedef struct multi_way {
    td_mode mode;
    const char *direction, *partition, *sharing, *owners, *shape;
    bool keeps;
} multi_way;

static inline multi_way multi_way_number(int number)
{
    return (multi_way){.mode = number % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC,
                       .direction = multi_directions[number / 2 % 3],
                       .partition = multi_partitions[number / 6 % 5],
                       .sharing = multi_sharings[number / 30 % 7],
                       .owners = multi_owners[number / 210 % 2],
                       .shape = multi_shapes[number / 420 % 2],
                       .keeps = number / 840 % 2 == 0};
}

static inline bool multi_way_allowed(const row *of, multi_way *one, const td_run_options *options)
{
    const td_program *program = program_of(of->program);
    const td_program_info *info = program->info;
    bool automatic = strcmp(one->direction, "auto") == 0,
         delta = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0;
    bool numbered = !info->renumbers || (info->vertex_values && options->has_iterations);
    if (of->sync_only && one->mode == TD_MODE_ASYNC) return false;
    if (strcmp(one->partition, "metis") == 0 && td_metis_check() != TD_OK) one->partition = "random";
    if (numbered && strcmp(one->partition, "seg") != 0) return false;
    if (strstr(one->sharing, "t3") != NULL && one->owners[0] != '\0') return false;
    if (info->kind == TD_KIND_SWEEP || delta) return automatic;
    return program->cpu[0].fused || strcmp(one->direction, "push") != 0;
}

/* Adds the settings that change anything about the program. */
static inline void multi_add_settings(char *text, size_t room, const td_program *program, const char *words)
{
    char copy[320], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char key[64];
        const char *name = strchr(word, '.') + 1;
        size_t used = strlen(text);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(name, "="), name);
        if (td_multi_engine.uses(program, key)) snprintf(text + used, room - used, " %s", word);
    }
}

/* Every GPU's edges, as its kernels count them, are together the active edges: those of pushes and of sums over all
 * lists. A first-hit pull scans fewer, sweeps skip some. */
static inline void multi_check_edges(const subject *about, const td_run *run, uint32_t gpus)
{
    bool fused = run->program->cpu->fused, gas = run->program->info->kind == TD_KIND_GAS;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        bool pull = strcmp(row->direction, "pull") == 0;
        if (gas && (pull ? !fused : true) && row->edges != row->active_edges)
            SUBJECT_FAIL(about, "iteration %u (%s) has %" PRIu64 " active edges, %" PRIu64 " were processed",
                         row->number, row->direction, row->active_edges, row->edges);
        if (gas && row->edges_stolen > row->edges && !(pull && fused))
            SUBJECT_FAIL(about, "iteration %u (%s): %" PRIu64 " edges stolen of %" PRIu64, row->number, row->direction,
                         row->edges_stolen, row->edges);
        if (row->gpus < 1 || row->gpus > gpus)
            SUBJECT_FAIL(about, "iteration %u: %u of %u GPUs took part", row->number, row->gpus, gpus);
    }
}

/* GPUs of one memory may take vertices from a common queue: with stealing and loops, in half of the ways. */
static inline const char *multi_queue_of(const char *devices, const multi_way *one)
{
    bool slices = strncmp(devices, "cuda", 4) == 0 || strstr(devices, "slices") != NULL;
    bool may = strstr(one->sharing, "off") == NULL && strstr(one->sharing, "copies") == NULL;
    return slices && may && one->keeps ? "multi.loop_queue=common" : "";
}

static inline td_run *multi_run_on(table_place *place, const char *devices, subject *about, int number)
{
    const row *of = about->row;
    multi_way one = multi_way_number(number);
    char words[320], settings[320] = "", text[512];
    td_run_options options = table_options(of, about->graph);
    if (!multi_way_allowed(of, &one, &options)) return NULL;
    snprintf(words, sizeof words, "multi.direction=%s multi.partition=%s %s %s %s %s", one.direction, one.partition,
             one.sharing, one.owners, one.shape, multi_queue_of(devices, &one));
    multi_add_settings(settings, sizeof settings, program_of(of->program), words);
    snprintf(about->how, sizeof about->how, "%s, %s,%s%s", devices, one.mode == TD_MODE_ASYNC ? "async" : "sync",
             settings, one.keeps ? ", kept" : "");
    options.pool = place->pool;
    options.mode = one.mode;
    options.engine = "multi";
    options.devices = devices;
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, one.keeps);
    td_run *run = NULL;
    if (try_run(&run, of->program, about->graph, options, table_settings(text, sizeof text, of, "multi", settings)) != TD_OK)
        SUBJECT_FAIL(about, "%s", td_last_message());
    if (strcmp(run->engine, "multi") != 0) SUBJECT_FAIL(about, "it ran on the engine %s", run->engine);
    multi_check_edges(about, run, TD_FRAGMENTS);
    return run;
}

static inline td_run *multi_run_way(void *context, subject *about, int number)
{
    table_place *place = context;
    return multi_run_on(place, place->devices, about, number);
}

/* Several machines in turn. */
typedef struct multi_places {
    table_place place; /* the first member, for table_leave */
    const char *machine[4];
    int machines;
} multi_places;

static inline td_run *multi_run_in_turn(void *context, subject *about, int number)
{
    multi_places *self = context;
    return multi_run_on(&self->place, self->machine[number % self->machines], about, number / self->machines);
}

#endif
