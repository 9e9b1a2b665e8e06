/* The ways the stream engine has of running a row of the table, on whatever device:
 * how much of the edges the device may hold x variant x how low value crosses x
 * order and beginnings of lists x shapes of launches x mode. */
#ifndef TD_TEST_STREAM_WAYS_H
#define TD_TEST_STREAM_WAYS_H

#include "engine/stream/stream.h"
#include "engine/table.h"

static const double stream_caps[] = {0.05, 0.25, 0.6, 1};
static const char *const stream_variants[] = {"full", "full", "hvsp", "lvsp", "hbase", "lbase", "full"};
static const char *const stream_lows[] = {"auto", "direct", "extract", "whole"};
static const char *const stream_lists[] = {
    "",
    "stream.prefix=0",
    "stream.prefix=0.5 stream.list_order=stored",
    "stream.prefix=1 stream.list_order=hot",
    "stream.prefix=0.3 stream.list_order=light",
};
static const char *const stream_shapes[] = {
    "stream.subgraph=128",
    "stream.subgraph=256 stream.small=0 stream.high_degree=32 stream.survivors=off stream.compress=off stream.pack=off",
    "stream.subgraph=4K stream.small=0 stream.rules=paper stream.levels=2 stream.compress=on",
    "stream.small=64 stream.rules=paper stream.repeats=2",
};
enum { STREAM_WAYS = 4 * 7 * 4 * 5 * 4 * 2 * 2 };

typedef struct stream_way {
    double cap;
    const char *variant, *low, *lists, *shape;
    td_mode mode;
    bool keeps;
} stream_way;

static inline stream_way stream_way_number(int number)
{
    return (stream_way){.cap = stream_caps[number % 4], .variant = stream_variants[number / 4 % 7],
                        .low = stream_lows[number / 28 % 4],
                        .lists = stream_lists[number / 112 % 5], .shape = stream_shapes[number / 560 % 4],
                        .mode = number / 2240 % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC, .keeps = number / 4480 % 2 == 0};
}

/* The words of `settings` that the program's runs look at, and that change something beside those before them. */
static inline void stream_settings_used_in(char *out, size_t room, const td_program *program, td_mode mode,
                                           const char *settings)
{
    char words[512], *rest = NULL;
    td_settings together = {0};
    out[0] = 0;
    snprintf(words, sizeof words, "%s", settings);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char name[64];
        size_t used = strlen(out);
        if (strncmp(word, "stream.", 7) != 0) { /* the program's own */
            snprintf(out + used, room - used, " %s", word);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 7, "="), word + 7);
        if (!td_streaming_uses_in(program, mode, name)) continue;
        CHECK_OK(td_settings_add(&together, word));
        if (td_streaming_check_settings(&together) == TD_OK) snprintf(out + used, room - used, " %s", word);
        else td_free(together.keys[--together.count]), td_free(together.values[together.count]);
    }
    td_settings_clear(&together);
}

static inline void stream_settings_used(char *out, size_t room, const td_program *program, const char *settings)
{
    stream_settings_used_in(out, room, program, TD_MODE_SYNC, settings);
}

/* The settings as options take them. */
static inline void stream_settings_of(td_settings *out, const char *text)
{
    char words[512], *rest = NULL;
    *out = (td_settings){0};
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        CHECK_OK(td_settings_add(out, word));
}

/* Whether a run takes these settings together. */
static inline bool stream_takes(const td_program *program, const td_run_options *options, const char *text)
{
    td_settings settings;
    td_run_options with = *options;
    stream_settings_of(&settings, text);
    with.settings = &settings;
    bool takes = td_streaming_check_request(program, &with) == TD_OK;
    td_settings_clear(&settings);
    return takes;
}

/* Small graphs have little to share out: the least that is enough. */
static inline void stream_raise_cap(const td_program *program, const td_graph *graph, td_run_options *options,
                                    const char *text)
{
    td_settings settings;
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    stream_settings_of(&settings, text);
    td_run_options with = *options;
    with.settings = &settings;
    while (with.gpu_edges < 1 && td_streaming_plan(program, graph, &with, UINT64_C(1) << 40, &bytes,
                                                &shape) != TD_OK) with.gpu_edges *= 1.5;
    bool ranked = program->info->kind == TD_KIND_SWEEP && graph->weights == TD_WEIGHT_F64; /* a forest: 8 bytes an edge, */
    if (ranked) with.gpu_edges *= 2;                                                       /* not 12 (store/ranks.h) */
    options->gpu_edges = with.gpu_edges < 1 ? with.gpu_edges : 1;
    td_settings_clear(&settings);
}

/* A copy, a launch and their events for each subgraph in each of up to hundreds of iterations: what more than these would
 * show, fewer show in a fraction of the minutes. */
static inline bool has_too_many_subgraphs(const td_graph *graph, const stream_way *one)
{
    enum { MOST_SUBGRAPHS = 1024 };
    static const struct { const char *setting; uint64_t bytes; } sizes[] = {
        {"stream.subgraph=128", 128}, {"stream.subgraph=256", 256}, {"stream.subgraph=4K", 4096}};
    for (int i = 0; i < 3; i++)
        if (strncmp(one->shape, sizes[i].setting, strlen(sizes[i].setting)) == 0)
            return graph->edges * sizeof(uint32_t) / sizes[i].bytes > MOST_SUBGRAPHS;
    return false;
}

static inline td_run *stream_run_way(void *context, subject *about, int number)
{
    table_place *place = context;
    const row *of = about->row;
    const td_program *program = program_of(of->program);
    stream_way one = stream_way_number(number);
    char all[320], settings[320], text[512], with_rows[512];
    if (of->sync_only && one.mode == TD_MODE_ASYNC) return NULL;
    if (has_too_many_subgraphs(about->graph, &one)) return NULL;
    snprintf(all, sizeof all, "stream.variant=%s stream.activity=%s stream.low=%s %s %s", one.variant,
             number / 112 % 2 == 0 ? "on" : "off", one.low, one.lists, one.shape);
    bool peels = program->cpu[0].schedule == TD_SCHEDULE_PEEL && strcmp(one.variant, "full") == 0 && number % 3 > 0;
    if (peels) /* in one launch */
        snprintf(all, sizeof all, "stream.kcore=peel stream.subgraph=128 stream.high_degree=%d stream.small=%d %s",
                 number % 3 == 1 ? 32 : 256, number % 3 == 1 ? 0 : 64, one.lists);
    stream_settings_used_in(settings, sizeof settings, program, one.mode, all);
    td_run_options options = table_options(of, about->graph);
    options.pool = place->pool;
    options.mode = one.mode;
    options.engine = "stream";
    options.devices = place->devices;
    options.gpu_edges = one.cap;
    table_settings(with_rows, sizeof with_rows, of, "stream", settings);
    stream_settings_used_in(text, sizeof text, program, one.mode, with_rows);
    if (!stream_takes(program, &options, text)) return NULL;
    stream_raise_cap(program, about->graph, &options, text);
    if (options.gpu_edges >= 1 && one.cap < 1) return NULL; /* two subgraphs hold everything: nothing would cross */
    snprintf(about->how, sizeof about->how, "%s, %s, %.0f%% of the edges,%s%s", place->devices,
             one.mode == TD_MODE_ASYNC ? "async" : "sync",
             100 * options.gpu_edges, settings, one.keeps ? ", kept" : "");
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, one.keeps);
    td_run *run = run_of(of->program, about->graph, options, text);
    if (strcmp(run->engine, "stream") != 0) SUBJECT_FAIL(about, "it ran on the engine %s", run->engine);
    return run;
}

/* A machine scaled down with its subgraphs, so that copying one of 2 KiB takes as many launches as one of 32 MB does
 * on a real machine, and a GPU that is faster than its link by far. */
static const char small_machine[] = "gpus 1\nmultiprocessors 1\nresident-threads 256\n"
                              "launch 1ns\nfinish 1ns\ngrid-barrier 1ns\n"
                              "memory-rate 500TB/s\noperation-rate 32T/s\natomic-rate 4T/s\n"
                              "host-link each 12GB/s 12GB/s 1ns\nhost-gather 8GB/s\ncheck off\n";

static inline const char *small_machine_path(void) { return emulated("small.topology", small_machine); }

#endif
