/* Synchronous means synchronous: after a number of iterations with --sync, values are those of that many iterations from
 * the first values, on every engine and in every direction that takes the request. */
#include "engine/ways.h"

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

static void check(const td_graph *graph, const char *program, const char *engine, const char *settings, td_pool *pool)
{
    bool labels = strcmp(program, "labels") == 0;
    for (uint32_t iterations = 1; iterations < 6; iterations += 2) {
        td_run_options options = {.engine = engine, .devices = strcmp(engine, "cpu") == 0 ? NULL : "emu@unchecked",
                                  .pool = pool, .mode = TD_MODE_SYNC, .has_iterations = true, .iterations = iterations,
                                  .has_source = !labels, .source = labels ? 0 : busiest(graph)};
        if (strcmp(engine, "stream") == 0) options.gpu_edges = 0.25;
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
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    for (int g = 0; g < 2; g++)
        for (int p = 0; p < 2; p++) {
            td_graph *graph = test_graph(test_graph_named(graphs[g]), TEST_U16, pool);
            for (int s = 0; s < 4; s++) check(graph, programs[p], "cpu", cpu[s], s % 2 == 0 ? pool : NULL);
            for (int s = 0; s < 3; s++) check(graph, programs[p], "resident", resident[s], NULL);
            for (int s = 0; s < 4; s++) check(graph, programs[p], "stream", stream[s], pool);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

TEST(engines_that_cannot_promise_that_refuse)
{
    static const struct {
        const char *engine, *devices;
        double gpu_edges;
    } places[] = {{"coop", "emu@unchecked", 0.4}, {"hybrid", NULL, 0},
                  {"multi", "emu:2@unchecked", 0}};
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_U16, NULL);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        td_run *run = NULL;
        td_run_options options = {.engine = places[i].engine, .devices = places[i].devices, .has_source = true,
                                  .gpu_edges = places[i].gpu_edges, .mode = TD_MODE_SYNC, .has_iterations = true,
                                  .iterations = 3};
        CHECK_STATUS(try_run(&run, "sssp", graph, options, ""), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "use engine cpu or resident");
        options.mode = TD_MODE_DEFAULT;
        td_run_destroy(run_of("sssp", graph, options, ""));
    }
    td_graph_destroy(graph);
}

TEST_MAIN
