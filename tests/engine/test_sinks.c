/* Sinks once on engines with a GPU: vertices without out-edges receive when all other values are final. Values are those
 * of the cpu engine; fewer edges are processed where a vertex pushes more than once or a pull looks at a sink again. */
#include "engine/ways.h"

#include "store/sinks.h"

typedef struct request {
    const char *program, *engine, *settings;
} request;

static td_run_options options_of(const request *it, const td_graph *graph, td_pool *pool)
{
    bool coop = strcmp(it->engine, "coop") == 0;
    return (td_run_options){.engine = it->engine, .devices = strcmp(it->engine, "cpu") == 0 ? NULL : narrow_gpu(),
                            .gpu_edges = coop ? 0.4 : 0, .pool = pool, .has_source = true, .source = busiest(graph)};
}

static td_run *run_request(const request *it, const td_graph *graph, bool parents, bool defer, td_pool *pool)
{
    char settings[256];
    td_run_options options = options_of(it, graph, pool);
    options.parents = parents;
    snprintf(settings, sizeof settings, "%s %s.sinks=%s", it->settings, it->engine, defer ? "defer" : "now");
    return run_of(it->program, graph, options, settings);
}

static uint64_t active_in(const td_run *run)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < run->row_count; i++)
        if (strcmp(run->rows[i].direction, "sinks") != 0) sum += run->rows[i].active_vertices;
    return sum;
}

static uint64_t reached_sinks(const td_graph *graph, const td_run *run)
{
    uint64_t sinks = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        sinks += td_degree(&graph->out, v) == 0 && run->parents[v] != TD_NO_VERTEX;
    return sinks;
}

static void check_same(const td_graph *graph, const td_run *a, const td_run *b, const request *it)
{
    size_t bytes = a->kind == TD_VALUE_U32 || a->kind == TD_VALUE_F32 ? 4 : 8;
    if (memcmp(a->values, b->values, graph->vertices * bytes) != 0)
        TEST_FAIL("%s on %s with %s: values differ with sinks deferred", it->program, it->engine, it->settings);
}

/* Weights of both kinds; graphs with sinks of all sorts, without any, and with nothing else. */
TEST(values_and_parents_are_those_of_the_cpu_engine)
{
    static const char *const graphs[] = {"directed star", "tree", "web", "rmat 10", "dag", "mostly isolated",
                                         "grid 30x40"};
    static const request requests[] = {
        {"bfs", "resident", ""}, {"bfs", "resident", "resident.direction=pull"},
        {"bfs", "resident", "resident.direction=push resident.balance=iwb"}, {"sssp", "resident", ""},
        {"sssp", "resident", "resident.direction=pull"}, {"sssp", "resident", "resident.direction=push"},
        {"sssp", "resident", "resident.high_degree=32"}, {"bfs", "coop", "coop.invoke=always"},
        {"sssp", "coop", "coop.invoke=always"}, {"sssp", "coop", ""},
    };
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
            const request *it = &requests[i];
            td_graph *graph = test_graph(test_graph_named(graphs[g]), i % 2 == 0 ? TEST_U16 : TEST_F32, pool);
            request cpu = {it->program, "cpu", ""};
            td_run *wanted = run_request(&cpu, graph, false, false, pool);
            td_run *run = run_request(it, graph, true, true, pool);
            check_same(graph, wanted, run, it);
            for (uint32_t v = 0; v < graph->vertices; v++) {
                bool reached = ((const uint32_t *)wanted->values)[v] != TD_UNREACHED;
                if (strcmp(it->program, "bfs") == 0) CHECK_EQ(run->parents[v] != TD_NO_VERTEX, reached);
            }
            td_run_destroy(run);
            td_run_destroy(wanted);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

/* Random edges among 256 vertices, each of which leads to eight sinks too. A vertex that pushes again, because a shorter
 * distance comes late, pushes to its sinks again. How often that happens depends on the order of the threads, which is
 * another one on the graph without sinks, but most edges lead to sinks. */
static td_graph *graph_of_sinks(void)
{
    enum { INNER = 256, INNER_EDGES = 4 * INNER, SINKS = 512, EDGES = INNER_EDGES + 8 * INNER };
    static uint32_t ends[EDGES][2], weights[EDGES];
    for (uint32_t e = 0; e < EDGES; e++) {
        bool inner = e < INNER_EDGES;
        ends[e][0] = inner ? (uint32_t)td_random_below(td_random_at(3, e), INNER) : e % INNER;
        ends[e][1] = (uint32_t)td_random_below(td_random_at(4, e), inner ? INNER : SINKS) + (inner ? 0 : INNER);
        weights[e] = 1 + (uint32_t)td_random_below(td_random_at(5, e), 1000);
    }
    return test_graph_of(INNER + SINKS, (const uint32_t(*)[2])ends, weights, EDGES, false);
}

TEST(a_deferred_sink_is_in_no_frontier_and_receives_once)
{
    static const request fewer_edges[] = {
        {"sssp", "resident", "resident.delta=1000000"}, {"sssp", "resident", "resident.direction=push"},
        {"bfs", "resident", "resident.direction=pull"}, {"sssp", "coop", "coop.invoke=always coop.delta=1000000"},
    };
    static const request fewer_active[] = {{"bfs", "resident", "resident.direction=push"},
                                           {"bfs", "coop", "coop.invoke=always"}};
    td_graph *graph = graph_of_sinks();
    for (size_t i = 0; i < sizeof fewer_edges / sizeof *fewer_edges; i++) {
        const request *it = &fewer_edges[i];
        td_run *now = run_request(it, graph, false, false, NULL), *deferred = run_request(it, graph, false, true, NULL);
        check_same(graph, now, deferred, it);
        if (deferred->edges_processed >= now->edges_processed)
            TEST_FAIL("%s on %s with %s: %" PRIu64 " edges with sinks deferred, %" PRIu64 " otherwise", it->program,
                      it->engine, it->settings, deferred->edges_processed, now->edges_processed);
        CHECK_STR(deferred->rows[deferred->row_count - 1].direction, "sinks");
        CHECK(deferred->converged);
        td_run_destroy(now);
        td_run_destroy(deferred);
    }
    for (size_t i = 0; i < sizeof fewer_active / sizeof *fewer_active; i++) {
        const request *it = &fewer_active[i];
        td_run *now = run_request(it, graph, true, false, NULL), *deferred = run_request(it, graph, true, true, NULL);
        uint64_t sinks = reached_sinks(graph, deferred);
        CHECK(sinks > 0);
        CHECK_EQ(sinks, reached_sinks(graph, now));
        CHECK_EQ(active_in(deferred) + sinks, active_in(now));
        td_run_destroy(now);
        td_run_destroy(deferred);
    }
    td_graph_destroy(graph);
}

/* Every edge is in one of the two parts. */
TEST(a_graph_is_divided_by_where_its_edges_lead)
{
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U16, pool);
    const td_graph *kept, *again;
    CHECK_OK(td_graph_without_sinks(graph, pool, &kept));
    CHECK_OK(td_graph_without_sinks(graph, pool, &again));
    CHECK(again == kept);
    CHECK(kept != graph);
    CHECK(kept->tails->edges > 0);
    CHECK_EQ(kept->edges + kept->tails->edges, graph->edges);
    CHECK_OK(td_graph_check(kept, pool));
    for (uint64_t e = 0; e < kept->edges; e++) CHECK(td_degree(&graph->out, kept->out.targets[e]) > 0);
    for (uint64_t e = 0; e < kept->tails->edges; e++) CHECK_EQ(td_degree(&graph->out, kept->tails->out.targets[e]), 0);
    td_graph_destroy(graph);
    graph = test_graph(test_graph_named("grid 30x40"), TEST_U16, pool);
    CHECK_OK(td_graph_without_sinks(graph, pool, &kept));
    CHECK(kept == graph);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(requests_that_cannot_defer_are_refused)
{
    static const struct {
        const char *program, *engine, *why;
        td_mode mode;
        uint32_t iterations;
    } cases[] = {
        {"labels", "resident", "both ways", TD_MODE_DEFAULT, 0}, {"kcore", "resident", "both ways", TD_MODE_DEFAULT, 0},
        {"bfs", "resident", "asynchronous", TD_MODE_ASYNC, 0},
        {"bfs", "resident", "iteration limit", TD_MODE_DEFAULT, 3},
        {"labels", "coop", "both ways", TD_MODE_DEFAULT, 0},     {"sssp", "coop", "iteration limit", TD_MODE_DEFAULT, 3},
    };
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U16, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        request it = {cases[i].program, cases[i].engine, ""};
        td_run *run = NULL;
        char settings[64];
        td_run_options options = options_of(&it, graph, NULL);
        options.has_source = program_of(it.program)->info->needs_source;
        options.mode = cases[i].mode;
        options.has_iterations = cases[i].iterations > 0;
        options.iterations = cases[i].iterations;
        snprintf(settings, sizeof settings, "%s.sinks=defer", it.engine);
        CHECK_STATUS(try_run(&run, it.program, graph, options, settings), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), cases[i].why);
    }
    refuse_setting("resident", "pagerank", "resident.sinks=defer", "pagerank");
    td_graph_destroy(graph);
    for (int i = 0; td_programs[i] != NULL; i++) { /* nor does the help list them */
        if (td_programs[i]->cpu[TD_WEIGHT_NONE].view != TD_VIEW_BOTH) continue;
        CHECK(!td_engine_named("coop")->uses(td_programs[i], "sinks"));
        CHECK(!td_engine_named("resident")->uses(td_programs[i], "sinks"));
    }
}

TEST(the_plan_states_the_lists_on_the_device)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U16, NULL);
    request it = {"sssp", "resident", ""};
    td_run *now = run_request(&it, graph, false, false, NULL), *deferred = run_request(&it, graph, false, true, NULL);
    for (int i = 0; i < 2; i++) {
        const td_device_row *row = &(i == 0 ? now : deferred)->devices.of[0].row;
        CHECK(row->peak > 0);
        CHECK_EQ(row->peak, row->graph + row->program);
    }
    td_run_destroy(now);
    td_run_destroy(deferred);
    td_graph_destroy(graph);
}

TEST(failing_allocations_leave_nothing_behind)
{
    static const request requests[] = {{"sssp", "resident", ""}, {"sssp", "coop", "coop.invoke=always"}};
    uint64_t held = td_memory().now;
    for (int i = 0; i < 2; i++) {
        td_status status = TD_NO_MEMORY;
        for (uint64_t n = 1; status == TD_NO_MEMORY; n += n < 40 ? 1 : 7) {
            td_graph *graph = test_graph(test_graph_named("tree"), TEST_U16, NULL);
            td_run *run = NULL;
            char settings[128];
            td_run_options options = options_of(&requests[i], graph, NULL);
            snprintf(settings, sizeof settings, "%s %s.sinks=defer", requests[i].settings, requests[i].engine);
            td_settings given = settings_from(settings);
            options.settings = &given;
            td_alloc_fail_at(n);
            status = td_run_program(&run, program_of(requests[i].program), graph, &options);
            td_alloc_fail_at(0);
            td_run_destroy(run);
            td_settings_clear(&given);
            td_graph_destroy(graph);
            CHECK_EQ(td_memory().now, held);
        }
        CHECK_EQ(status, TD_OK);
    }
}

TEST_MAIN
