/* What the tests of prepared layouts share, on an emulated GPU and on a real one: graphs in files, their layouts, and runs
 * with and without. */
#ifndef TD_TEST_PREPARED_SCENE_H
#define TD_TEST_PREPARED_SCENE_H

#include "engine/ways.h"

#include "run/result.h"
#include "store/gen.h"
#include "store/packed.h"

#include <math.h>

__attribute__((constructor)) static void choose_cache(void) { setenv("XDG_CACHE_HOME", test_folder(), 1); }

static const char *prepared_devices = "emu:1@unchecked"; /* a GPU's name in its tests */
static const td_engine *const engines[] = {&td_stream_engine, &td_coop_engine};

/* With some tens of edges for every vertex, so that a quarter of them fills slots and a prefix. */
typedef struct shape {
    int scale;
    bool symmetric, real, wide;
} shape;

static const shape both_ways = {11, true, false, false}, one_way = {11, false, false, false};
static const shape real_weights = {10, true, true, false}, wide_weights = {10, true, true, true}; /* f32; f64 */

static inline void write_file(const char *name, const shape *of)
{
    td_gen_spec spec = {.kind = "rmat", .seed = 7, .scale = (uint32_t)of->scale, .degree = 24, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_low = of->real ? 0.5 : 1, .weight_high = of->real ? 9.5 : 100,
                              .weight_real = of->real, .symmetrize = of->symmetric, .dedup = of->symmetric};
    td_graph *made = NULL;
    CHECK_OK(td_graph_generate(&made, &spec, &build, NULL));
    if (of->wide) CHECK_OK(td_graph_rebuild(&made, &(td_build_options){.weights_as = TD_WEIGHT_F64}, NULL));
    CHECK_OK(td_packed_write(made, test_path(name), NULL));
    td_graph_destroy(made);
}

static inline td_graph *load_file(const char *name)
{
    td_graph *graph = NULL;
    CHECK_OK(td_packed_load(&graph, test_path(name), NULL));
    return graph;
}

/* Makes the layout of a program; false: its runs read nothing but the graph. */
static inline bool prepare(const td_graph *graph, const td_engine *engine, const td_program *program, td_pool *pool)
{
    td_run_options options = {.pool = pool};
    td_prepared_file *file = NULL;
    const td_graph *seen = NULL;
    CHECK_OK(TD_NEW_ZEROED(&file, 1, "layout"));
    CHECK_OK(td_graph_for(&seen, program, graph, &options));
    td_status status = engine->make_layout(program, seen, &options, file);
    td_free(file);
    CHECK(status == TD_OK || status == TD_NOT_FOUND);
    CHECK_EQ(td_prepared_has(seen, engine, program, &options), status == TD_OK);
    return status == TD_OK;
}

static inline td_run_options options_for(const td_engine *engine, const td_graph *graph, const td_program *program)
{
    td_run_options options = {.engine = engine->name, .devices = prepared_devices, .gpu_edges = 0.25,
                              .has_source = program->info->needs_source, .source = busiest(graph)};
    if (program->cpu[0].measure != TD_MEASURE_NONE) options.has_iterations = true, options.iterations = 3;
    return options;
}

static inline uint64_t digest_of(const td_run *run)
{
    td_run_summary summary;
    CHECK_OK(td_run_summarise(run, NULL, &summary));
    return summary.digest;
}

/* Layouts that the run read. */
static inline uint64_t read_by(const td_run *run)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, "prepared") == 0) return run->work[i].value;
    return 0;
}

static inline td_run *run_with(const td_engine *engine, const td_graph *graph, const td_program *program, const char *settings)
{
    return run_of(program->info->name, graph, options_for(engine, graph, program), settings);
}

/* Whether the program would run on the engine itself with these edges on the GPU. */
static inline bool stays(const td_run *run, const td_engine *engine) { return strcmp(run->engine, engine->name) == 0; }

/* Reals on a GPU are sums in the order in which its threads came. */
static inline bool is_same(const td_run *a, const td_run *b)
{
    td_run_summary one, two;
    CHECK_OK(td_run_summarise(a, NULL, &one));
    CHECK_OK(td_run_summarise(b, NULL, &two));
    if (strncmp(prepared_devices, "emu", 3) == 0 || td_value_is_whole(a->kind)) return one.digest == two.digest;
    return one.reached == two.reached && fabs(one.sum - two.sum) <= 1e-6 * fabs(one.sum);
}

/* Some subjects need other settings: coop asks for close neighbours and for frontiers of some size. */
static inline void compare(const td_engine *engine, const td_graph *graph, const td_program *program, int number, int *used)
{
    bool coop = engine == &td_coop_engine;
    char on[64] = "", off[96];
    if (coop) snprintf(on, sizeof on, "coop.order=hot coop.invoke=always");
    snprintf(off, sizeof off, "%s %s.prepared=off", on, engine->name);
    if (engine->uses != NULL && !engine->uses(program, "prepared")) return;
    td_run *with = run_with(engine, graph, program, on), *without = run_with(engine, graph, program, off);
    if (!is_same(with, without))
        TEST_FAIL("%s by %s on graph %d: other values with prepared layouts", program->info->name, engine->name, number);
    CHECK_EQ(with->iterations, without->iterations);
    CHECK_EQ(read_by(without), 0);
    if (stays(with, engine)) *used += read_by(with) > 0;
    td_run_destroy(with);
    td_run_destroy(without);
}

static inline void prepare_all(const td_graph *graph, td_pool *pool)
{
    for (int e = 0; e < 2; e++)
        for (int p = 0; td_programs[p] != NULL; p++)
            if (strcmp(td_programs[p]->info->name, "circuit") != 0) (void)prepare(graph, engines[e], td_programs[p], pool);
}

#endif
