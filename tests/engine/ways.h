/* What the engine's tests share: programs run with settings given as text, in
 * all the ways the cpu engine has. */
#ifndef TD_TEST_WAYS_H
#define TD_TEST_WAYS_H

#include "programs/graphs.h"
#include "programs/reference.h"

#include "base/setting.h"
#include "cpu/cpu.h"
#include "engine/engine.h"
#include "planner/plan.h"

/* One pool of each number of threads. */
static const int way_threads[] = {1, 2, 8};
enum { WAY_THREADS = 3 };

typedef struct pools {
    td_pool *of[WAY_THREADS];
} pools;

static inline pools make_pools(void)
{
    pools made = {0};
    for (int i = 0; i < WAY_THREADS; i++) CHECK_OK(td_pool_create(&made.of[i], way_threads[i]));
    return made;
}

static inline void destroy_pools(pools *made)
{
    for (int i = 0; i < WAY_THREADS; i++) td_pool_destroy(made->of[i]);
}

/* Emulated GPUs as a file describes them: what --devices calls them. */
static inline const char *emulated(const char *file, const char *text)
{
    static char devices[600];
    const char *path = test_path(file);
    test_write_file(path, text, strlen(text));
    snprintf(devices, sizeof devices, "emu@%s", path);
    return devices;
}

/* A GPU on which four blocks run at once: a launch of all that there are takes a quarter of the built-in one's time
 * here, and is as hard on kernels. */
static inline const char *narrow_gpu(void)
{
    return emulated("narrow.topology", "gpus 1\nmultiprocessors 1\nresident-threads 1024\ncluster 2\n");
}

/* Settings from one text, separated by blanks. */
static inline td_settings settings_from(const char *text)
{
    td_settings settings = {0};
    char copy[1024], *save = NULL;
    CHECK(strlen(text) < sizeof copy);
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        CHECK_OK(td_settings_add(&settings, word));
    return settings;
}

static inline const td_program *program_of(const char *name)
{
    const td_program *program = td_program_named(name);
    if (program == NULL) TEST_FAIL("there is no program %s", name);
    return program;
}

/* Runs with the settings' text added to `options`. */
static inline td_status try_run(td_run **out, const char *program, const td_graph *graph, td_run_options options,
                                const char *settings_text)
{
    td_settings settings = settings_from(settings_text);
    options.settings = &settings;
    td_status status = td_run_program(out, program_of(program), graph, &options);
    td_settings_clear(&settings);
    return status;
}

static inline td_run *run_of(const char *program, const td_graph *graph, td_run_options options, const char *settings)
{
    td_run *run = NULL;
    td_status status = try_run(&run, program, graph, options, settings);
    if (status != TD_OK)
        TEST_FAIL("%s with '%s': %s: %s", program, settings, td_status_name(status), td_last_message());
    return run;
}

/* A vertex with as many out-edges as any: searches from it go far. */
static inline uint32_t busiest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

/* One way to run. */
typedef struct way {
    int threads; /* index into way_threads */
    td_mode mode;
    const char *direction, *stealing;
} way;

enum { WAYS = WAY_THREADS * 2 * 4 * 4 };

static inline way way_number(int number)
{
    static const char *const directions[] = {"auto", "pull", "notify", "push"};
    static const char *const stealings[] = {"none", "donate", "vertex", "edge"};
    way one = {.threads = number % WAY_THREADS};
    number /= WAY_THREADS;
    one.mode = number % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC;
    one.direction = directions[number / 2 % 4];
    one.stealing = stealings[number / 8];
    return one;
}

/* The engine does not take this setting for the program, and says so in these words. */
static inline void refuse_setting(const char *engine, const char *program, const char *setting, const char *words)
{
    td_settings settings = settings_from(setting);
    td_status status = td_plan_check_settings(td_engine_named(engine), program_of(program), &settings);
    if (status != TD_USAGE) TEST_FAIL("%s with %s gives %s", program, setting, td_status_name(status));
    CHECK_CONTAINS(td_last_message(), words);
    td_settings_clear(&settings);
}

#endif
