/* Synchronous means synchronous: after a number of iterations, unless they are asynchronous, values are those of that many
 * iterations from the first values, on every engine and in every direction that takes the request. */
#include "engine/ways.h"

#include <math.h>

static uint32_t weight_at(const td_graph *graph, uint64_t edge)
{
    return graph->weights == TD_WEIGHT_NONE ? 0 : (uint32_t)td_weight_at(graph, &graph->out, edge);
}

/* One iteration from `now`: sssp relaxes forward, labels take the lower of both ends. */
static void step(const td_graph *graph, bool labels, const uint32_t *now, uint32_t *next)
{
    memcpy(next, now, graph->vertices * sizeof *next);
    for (uint32_t u = 0; u < graph->vertices; u++)
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t v = graph->out.targets[e], sent = labels ? now[u] : now[u] + weight_at(graph, e);
            if ((labels || now[u] != TD_UNREACHED) && sent < next[v]) next[v] = sent;
            if (labels && now[v] < next[u]) next[u] = now[v];
        }
}

static uint32_t *expect(const td_graph *graph, bool labels, uint32_t source, uint32_t iterations)
{
    uint32_t *values = NULL, *next = NULL;
    CHECK_OK(TD_NEW(&values, graph->vertices, "values"));
    CHECK_OK(TD_NEW(&next, graph->vertices, "values"));
    for (uint32_t v = 0; v < graph->vertices; v++) values[v] = labels ? v : v == source ? 0 : TD_UNREACHED;
    for (uint32_t i = 0; i < iterations; i++) {
        step(graph, labels, values, next);
        uint32_t *keep = values;
        values = next;
        next = keep;
    }
    td_free(next);
    return values;
}

/* A number of iterations is one of synchronous ones whether that is said (1, 5) or not (3). */
static void check(const td_graph *graph, const char *program, const char *engine, const char *settings, td_pool *pool)
{
    bool labels = strcmp(program, "labels") == 0;
    for (uint32_t iterations = 1; iterations < 6; iterations += 2) {
        td_run_options options = {.engine = engine, .devices = strcmp(engine, "cpu") == 0 ? NULL : "emu@unchecked",
                                  .pool = pool, .mode = iterations == 3 ? TD_MODE_DEFAULT : TD_MODE_SYNC,
                                  .has_iterations = true, .iterations = iterations,
                                  .has_source = !labels, .source = labels ? 0 : busiest(graph)};
        if (strcmp(engine, "stream") == 0 || strcmp(engine, "coop") == 0) options.gpu_edges = 0.25;
        if (strcmp(engine, "multi") == 0) options.devices = strstr(settings, "shared") != NULL ? "emu:2@slices" : "emu:3@unchecked";
        if (strcmp(engine, "hybrid") == 0 && strstr(settings, "use=gpu") == NULL) options.devices = NULL;
        td_run *run = run_of(program, graph, options, settings);
        uint32_t *wanted = expect(graph, labels, options.source, iterations);
        for (uint32_t v = 0; v < graph->vertices; v++)
            if (((const uint32_t *)run->values)[v] != wanted[v])
                TEST_FAIL("%s by %s %s after %u: vertex %u has %u, not %u", program, engine, settings, iterations, v,
                          ((const uint32_t *)run->values)[v], wanted[v]);
        td_free(wanted);
        td_run_destroy(run);
    }
}

TEST(so_many_iterations_give_the_same_values_everywhere)
{
    static const char *const graphs[] = {"grid 30x40", "rmat 10"}, *const programs[] = {"sssp", "labels"};
    static const char *const cpu[] = {"", "cpu.direction=pull", "cpu.direction=push", "cpu.direction=notify"};
    static const char *const resident[] = {"", "resident.direction=pull", "resident.direction=push"};
    static const char *const stream[] = {"stream.subgraph=512", "stream.subgraph=512 stream.small=0",
                                         "stream.subgraph=512 stream.variant=lvsp",
                                         "stream.subgraph=512 stream.variant=scaph"};
    static const char *const coop[] = {"coop.invoke=always", "coop.invoke=always coop.link=off coop.balance=cta"};
    static const char *const hybrid[] = {"", "hybrid.page=512", "hybrid.page=512 hybrid.use=gpu"};
    static const char *const multi[] = {"multi.direction=push multi.t1=0 multi.t2=0", "multi.direction=pull", "multi.t3=1000",
                                        "multi.values=shared"};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    for (int g = 0; g < 2; g++)
        for (int p = 0; p < 2; p++) {
            td_graph *graph = test_graph(test_graph_named(graphs[g]), TEST_U16, pool);
            for (int s = 0; s < 4; s++) check(graph, programs[p], "cpu", cpu[s], s % 2 == 0 ? pool : NULL);
            for (int s = 0; s < 3; s++) check(graph, programs[p], "resident", resident[s], NULL);
            for (int s = 0; s < 4; s++) check(graph, programs[p], "stream", stream[s], pool);
            for (int s = 0; s < 2; s++) check(graph, programs[p], "coop", coop[s], pool);
            for (int s = 0; s < 3; s++) check(graph, programs[p], "hybrid", hybrid[s], pool);
            for (int s = 0; s < 4; s++) check(graph, programs[p], "multi", multi[s], pool);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

TEST(engines_that_cannot_promise_that_refuse)
{
    td_run *run = NULL;
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_U16, NULL);
    td_run_options options = {.engine = "paths", .has_source = true, .mode = TD_MODE_SYNC, .has_iterations = true, .iterations = 3};
    CHECK_STATUS(try_run(&run, "sssp", graph, options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "the engine paths has no iterations");
    td_graph_destroy(graph);
}

/* Every program on every engine: so many synchronous iterations give the values of the cpu engine, or are refused. */
typedef struct place {
    const char *engine, *devices, *settings;
    double gpu_edges;
} place;

static const place places[] = {
    {"cpu", NULL, "cpu.direction=pull", 0},
    {"cpu", NULL, "cpu.direction=push", 0},
    {"cpu", NULL, "cpu.direction=notify", 0},
    {"resident", "emu@unchecked", "", 0},
    {"resident", "emu@unchecked", "resident.direction=pull", 0},
    {"resident", "emu@unchecked", "resident.direction=push", 0},
    {"stream", "emu@unchecked", "stream.subgraph=4K", 0.3},
    {"stream", "emu@unchecked", "stream.subgraph=4K stream.variant=lbase", 0.3},
    {"coop", "emu@unchecked", "coop.invoke=always", 0.3},
    {"hybrid", NULL, "hybrid.page=4K", 0},
    {"hybrid", "emu@unchecked", "hybrid.page=4K hybrid.use=gpu", 0},
    {"multi", "emu:2@unchecked", "", 0},
    {"paths", NULL, "", 0},
};

static double value_of(const td_run *run, uint32_t v)
{
    switch (run->kind) {
    case TD_VALUE_U32: return ((const uint32_t *)run->values)[v];
    case TD_VALUE_F32: return ((const float *)run->values)[v];
    case TD_VALUE_U64: return (double)((const uint64_t *)run->values)[v];
    default: return ((const double *)run->values)[v];
    }
}

static void compare(const td_run *run, const td_run *wanted, const place *where, uint32_t iterations)
{
    for (uint32_t v = 0; v < wanted->graph->vertices; v++) {
        double seen = value_of(run, v), value = value_of(wanted, v);
        if (seen == value || fabs(seen - value) <= 2e-5 * fabs(value) + 1e-7) continue;
        TEST_FAIL("%s by %s %s after %u: vertex %u has %g, not %g", wanted->program->info->name, where->engine,
                  where->settings, iterations, v, seen, value);
    }
}

TEST(every_program_gives_those_values_or_refuses)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore", "pagerank", "adsorption", "heat", "circuit",
                                           "nn"};
    enum { PUSHES = 1 << 1 | 1 << 5, PATHS = 1 << 12 }; /* bits of `places` */
    static const uint32_t refusals[] = {PATHS, PATHS, PATHS, PATHS, PUSHES | PATHS, PUSHES | PATHS,
                                        PUSHES | PATHS, PUSHES | PATHS, PUSHES | PATHS};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U16, NULL);
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        uint32_t refused = 0;
        for (uint32_t iterations = 1; iterations <= 3; iterations++) {
            td_run_options options = {.engine = "cpu", .mode = TD_MODE_SYNC, .has_iterations = true,
                                      .iterations = iterations, .source = busiest(graph),
                                      .has_source = program_of(programs[p])->info->needs_source};
            td_run *wanted = run_of(programs[p], graph, options, "");
            for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                td_run *run = NULL;
                options.engine = places[i].engine;
                options.devices = places[i].devices;
                options.gpu_edges = places[i].gpu_edges;
                td_status status = try_run(&run, programs[p], graph, options, places[i].settings);
                if (status == TD_OK) compare(run, wanted, &places[i], iterations);
                else if (status != TD_USAGE)
                    TEST_FAIL("%s by %s %s: %s", programs[p], places[i].engine, places[i].settings, td_last_message());
                if (status != TD_OK && iterations == 1) refused |= UINT32_C(1) << i;
                td_run_destroy(run);
            }
            td_run_destroy(wanted);
        }
        if (refused != refusals[p]) TEST_FAIL("%s: refused are %x, not %x", programs[p], refused, refusals[p]);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
