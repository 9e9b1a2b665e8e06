/* Batches: every result is that of a run of its own, whatever shares the search, and what sharing saves. */
#include "engine/batches.h"

#include "base/alloc.h"

TEST(levels_of_a_batch_on_the_cpu_are_those_of_single_runs)
{
    static const batch_way ways[] = {
        {"bfs", "cpu", NULL, {NULL}},
        {"bfs", "cpu", NULL, {"cpu.batch=bits"}},
        {"bfs", "cpu", NULL, {"cpu.batch=bits", "cpu.direction=push", "cpu.high_degree=3", "cpu.serial=0"}},
        {"bfs", "cpu", NULL, {"cpu.batch=bits", "cpu.direction=pull", "cpu.serial=0"}},
        {"bfs", "cpu", NULL, {"cpu.batch=single"}},
        {"sssp", "cpu", NULL, {NULL}},
    };
    td_session *sessions[] = {session_of(1), session_of(2)};
    for (int g = 1; g < TEST_GRAPHS; g++)
        for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
            td_batch_facts facts;
            if (test_graphs[g].vertices > 2100) continue;
            td_graph *graph = test_graph(g, TEST_U8, NULL);
            unsigned turn = (unsigned)g + w;
            check_batch(sessions[turn % 2], graph, &ways[w], counts[turn % COUNTS], &facts, NULL);
            td_graph_destroy(graph);
        }
    td_session_destroy(sessions[0]);
    td_session_destroy(sessions[1]);
}

TEST(levels_of_a_batch_on_a_gpu_are_those_of_single_runs)
{
    static const batch_way ways[] = {
        {"bfs", "resident", "emu", {"resident.batch=bits"}},
        {"bfs", "resident", "emu", {"resident.batch=bits", "resident.direction=push", "resident.high_degree=32"}},
        {"bfs", "resident", "emu", {"resident.batch=bits", "resident.direction=pull"}},
        {"bfs", "resident", "emu@unchecked", {"resident.batch=single"}},
        {"sssp", "stream", "emu@unchecked", {NULL}},
        {"bfs", "hybrid", NULL, {NULL}},
    };
    static const char *const graphs[] = {"single vertex", "directed path", "star", "two components",
                                         "uniform, sparse ids"};
    td_session *session = session_of(2);
    for (unsigned g = 0; g < sizeof graphs / sizeof *graphs; g++)
        for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
            td_batch_facts facts;
            uint64_t count = w < 3 ? counts[(g + w) % COUNTS] : 5;
            td_graph *graph = test_graph(test_graph_named(graphs[g]), TEST_U8, NULL);
            check_batch(session, graph, &ways[w], count, &facts, NULL);
            CHECK_EQ(facts.at_once > 1, w < 3 && count > 1);
            td_graph_destroy(graph);
        }
    td_session_destroy(session);
}

/* A graph of few levels: the searches share nearly all their edges. A path shares nothing but the frontiers of sources
 * that meet. */
TEST(a_shared_search_processes_fewer_edges)
{
    static const batch_way bits[] = {{"bfs", "cpu", NULL, {"cpu.batch=bits"}},
                               {"bfs", "resident", "emu@unchecked", {"resident.batch=bits"}}},
                     single[] = {{"bfs", "cpu", NULL, {"cpu.batch=single"}},
                                 {"bfs", "resident", "emu@unchecked", {"resident.batch=single"}}};
    td_session *session = session_of(2);
    td_graph *graph = test_graph(test_graph_named("rmat 10, clean"), TEST_UNWEIGHTED, NULL);
    for (int e = 0; e < 2; e++) {
        td_batch_facts shared, apart;
        uint64_t alone;
        check_batch(session, graph, &single[e], 64, &apart, &alone);
        CHECK_EQ(apart.edges_processed, alone);
        CHECK_EQ(apart.searches, 64);
        CHECK_EQ(apart.at_once, 1);
        CHECK_EQ(apart.words, 0);
        check_batch(session, graph, &bits[e], 64, &shared, NULL);
        CHECK(shared.edges_processed * 2 < alone);
        CHECK_EQ(shared.searches, 1);
        CHECK_EQ(shared.at_once, 64);
        CHECK(shared.words > 0 && shared.words < 64 * graph->vertices);
        check_batch(session, graph, &bits[e], 130, &shared, NULL);
        CHECK_EQ(shared.searches, 3);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* A pull ends when it has found every source that can still come, and does not wait for one whose search has ended: the
 * first source has no edges. */
TEST(a_pull_waits_only_for_sources_that_can_still_come)
{
    static const batch_way ways[] = {{"bfs", "cpu", NULL, {"cpu.direction=pull"}},
                               {"bfs", "resident", "emu", {"resident.direction=pull", "resident.batch=bits"}}};
    static const uint32_t ends[][2] = {{1, 2}, {1, 3}, {1, 4}, {2, 5}, {3, 5}, {4, 5}, {5, 6}, {6, 7}};
    static const uint64_t ids[] = {100, 101}, edges[] = {8, 3, 2, 1, 0};
    td_session *session = session_of(1);
    td_graph *graph = test_graph_of(8, ends, NULL, 8, false);
    for (int w = 0; w < 2; w++) {
        td_plan *plan = plan_of(session, graph, &ways[w], ids, 2);
        td_batch *batch = NULL;
        td_result *result = NULL;
        CHECK_OK(td_batch_create(session, plan, &batch));
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK_EQ(td_result_iterations(result), 5);
        for (uint32_t i = 0; i < 5; i++) CHECK_EQ(td_result_iteration(result, i)->edges, edges[i]);
        td_batch_destroy(batch);
        td_plan_destroy(plan);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* On a grid nearly every search has its frontier for itself: the first group stops, the other sources run alone. */
TEST(searches_that_share_little_are_given_up)
{
    static const batch_way automatic = {"bfs", "cpu", NULL, {NULL}}, always = {"bfs", "cpu", NULL, {"cpu.batch=bits"}};
    td_session *session = session_of(1);
    td_batch_facts facts;
    uint64_t alone, ids[20];
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_UNWEIGHTED, NULL);
    CHECK_OK(td_graph_draw(session, graph, 20, 1, ids));
    check_batch_from(session, graph, &automatic, ids, 20, &facts, &alone);
    CHECK_EQ(facts.at_once, 1);
    CHECK_EQ(facts.searches, 21);
    if (facts.edges_processed <= alone || facts.edges_processed >= 2 * alone)
        TEST_FAIL("%" PRIu64 " edges, and single runs process %" PRIu64, facts.edges_processed, alone);
    check_batch_from(session, graph, &always, ids, 20, &facts, NULL);
    CHECK_EQ(facts.at_once, 32);
    CHECK_EQ(facts.searches, 1);
    td_graph_destroy(graph);
    graph = test_graph(test_graph_named("rmat 10, clean"), TEST_UNWEIGHTED, NULL);
    CHECK_OK(td_graph_draw(session, graph, 20, 1, ids));
    check_batch_from(session, graph, &automatic, ids, 20, &facts, NULL);
    CHECK_EQ(facts.searches, 1);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(levels_beyond_the_planes_that_a_plan_counts)
{
    enum { LENGTH = 700 }; /* ten planes */
    static uint32_t ends[LENGTH - 1][2];
    static const batch_way ways[] = {{"bfs", "cpu", NULL, {"cpu.batch=bits"}},
                               {"bfs", "resident", "emu@unchecked", {"resident.batch=bits"}}};
    for (uint32_t v = 0; v + 1 < LENGTH; v++) ends[v][0] = v, ends[v][1] = v + 1;
    td_session *session = session_of(2);
    td_graph *graph = test_graph_of(LENGTH, (const uint32_t(*)[2])ends, NULL, LENGTH - 1, true);
    for (int w = 0; w < 2; w++) {
        td_batch_facts facts;
        check_batch(session, graph, &ways[w], 9, &facts, NULL);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_limit_on_iterations_holds_in_a_batch)
{
    td_session *session = session_of(1);
    td_graph *graph = test_graph(test_graph_named("path"), TEST_UNWEIGHTED, NULL);
    const uint64_t ids[] = {1, 50, 100};
    const char *settings[] = {"cpu.batch=bits", NULL};
    td_request request = {.size = sizeof request, .sources = ids, .source_count = 3, .has_iterations = true,
                          .iterations = 4, .engine = "cpu", .settings = settings};
    td_plan *plan = NULL;
    td_batch *batch = NULL;
    td_result *result = NULL;
    td_summary sum = {.size = sizeof sum};
    CHECK_OK(td_session_plan(session, graph, "bfs", &request, &plan));
    CHECK_OK(td_batch_create(session, plan, &batch));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK_OK(td_result_summarise(session, result, &sum));
        CHECK_EQ(sum.reached, i == 0 ? 5 : 9);
        CHECK_EQ(sum.highest, 4);
        CHECK(!td_result_converged(result));
    }
    td_batch_destroy(batch);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(parents_come_from_single_runs)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    const uint64_t ids[] = {10, 20};
    td_request request = {.size = sizeof request, .sources = ids, .source_count = 2, .parents = true, .engine = "cpu"};
    td_plan *plan = NULL;
    td_batch *batch = NULL;
    td_result *result = NULL;
    CHECK_OK(td_session_plan(session, graph, "bfs", &request, &plan));
    CHECK_OK(td_batch_create(session, plan, &batch));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK(td_result_parents(result) != NULL);
        uint32_t source = vertex_of(graph, ids[i]);
        CHECK_EQ(td_result_parents(result)[source], source);
    }
    td_batch_destroy(batch);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(more_than_65536_sources)
{
    enum { SOURCES = 70000 };
    td_session *session = session_of(2);
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_UNWEIGHTED, NULL);
    uint64_t *ids = malloc(SOURCES * sizeof *ids), reached = 0, again = 0;
    for (uint64_t i = 0; i < SOURCES; i++) ids[i] = i % 127;
    td_plan *plan = plan_of(session, graph, &(batch_way){"bfs", "cpu", NULL, {NULL}}, ids, SOURCES);
    td_batch *batch = NULL;
    td_result *result = NULL;
    CHECK_OK(td_batch_create(session, plan, &batch));
    for (uint64_t i = 0; i < SOURCES; i++) {
        td_summary sum = {.size = sizeof sum};
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK_EQ(td_result_u32(result)[i % 127], 0);
        if (i >= 127 && i < SOURCES - 127) continue;
        CHECK_OK(td_result_summarise(session, result, &sum));
        *(i < 127 ? &reached : &again) += sum.reached;
    }
    CHECK_EQ(reached, again);
    CHECK_EQ(reached, 64 * 1 + 32 * 3 + 16 * 7 + 8 * 15 + 4 * 31 + 2 * 63 + 127);
    td_batch_destroy(batch);
    td_plan_destroy(plan);
    free(ids);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Refusals. */

static void check_refused(td_request request, const char *program, td_status wanted, const char *words)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_plan *plan = NULL;
    request.size = sizeof request;
    CHECK_STATUS(td_session_plan(session, graph, program, &request, &plan), wanted);
    CHECK_CONTAINS(td_last_message(), words);
    CHECK(plan == NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(requests_that_are_no_batch_are_refused)
{
    static const uint64_t ids[] = {10, 20, 99};
    static const char *const set[] = {"cpu.batch=single", NULL};
    check_refused((td_request){.sources = ids, .source_count = 3}, "bfs", TD_NOT_FOUND,
                  "td_request.sources, number 3 of 3: ");
    check_refused((td_request){.sources = ids}, "bfs", TD_USAGE, "td_request.sources: there are none");
    check_refused((td_request){.source_count = 2}, "bfs", TD_INVALID, "sources is NULL, and source_count is 2");
    check_refused((td_request){.sources = ids, .source_count = 2, .has_source = true}, "bfs", TD_USAGE,
                  "give one of them");
    check_refused((td_request){.sources = ids, .source_count = 2}, "wcc", TD_USAGE, "wcc does not");
    check_refused((td_request){.sources = ids, .source_count = 2, .checkpoint = "x"}, "bfs", TD_USAGE,
                  "a checkpoint is the state of one run");
    check_refused((td_request){.sources = ids, .source_count = 2, .resume = "x"}, "sssp", TD_USAGE,
                  "a checkpoint is the state of one run");
    check_refused((td_request){.has_source = true, .source = 10, .settings = set, .engine = "cpu"}, "bfs", TD_USAGE,
                  "the setting 'batch' is for td_request.sources");
    check_refused((td_request){.sources = ids, .source_count = 2, .settings = set, .engine = "cpu"}, "sssp", TD_USAGE,
                  "'cpu.batch' has no effect on sssp; it is for bfs");
}

TEST(a_plan_of_a_batch_and_one_of_a_run_are_not_mistaken)
{
    td_session *session = session_of(1), *other = session_of(1);
    td_graph *graph = map_of(session);
    const uint64_t ids[] = {10, 20};
    td_request batch_request = {.size = sizeof batch_request, .sources = ids, .source_count = 2},
               request = {.size = sizeof request, .has_source = true, .source = 10};
    td_plan *plan = NULL, *single = NULL;
    td_result *result = NULL;
    td_batch *batch = NULL;
    CHECK_OK(td_session_plan(session, graph, "bfs", &batch_request, &plan));
    CHECK_OK(td_session_plan(session, graph, "bfs", &request, &single));
    CHECK_STATUS(td_plan_run(session, plan, &result), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "td_batch_create");
    CHECK_STATUS(td_session_run(session, graph, "bfs", &batch_request, &result), TD_USAGE);
    CHECK_STATUS(td_batch_create(session, single, &batch), TD_USAGE);
    CHECK_STATUS(td_batch_create(other, plan, &batch), TD_INVALID);
    CHECK_STATUS(td_batch_create(session, NULL, &batch), TD_INVALID);
    CHECK_OK(td_batch_create(session, plan, &batch));
    CHECK_STATUS(td_batch_next(other, batch, &result), TD_INVALID);
    CHECK_STATUS(td_batch_next(session, NULL, &result), TD_INVALID);
    CHECK_STATUS(td_batch_next(session, batch, NULL), TD_INVALID);
    td_batch_destroy(batch);
    td_batch_destroy(NULL);
    td_plan_destroy(plan);
    td_plan_destroy(single);
    td_graph_destroy(graph);
    td_session_destroy(session);
    td_session_destroy(other);
}

/* Faults. */

/* The budget that leaves so many bytes beside the graph. */
static void allow(td_session *session, uint64_t bytes)
{
    uint64_t held;
    CHECK_OK(td_session_memory(session, &held, NULL));
    CHECK_OK(td_session_set_budget(session, held + bytes));
}

TEST(little_memory_makes_words_narrower_and_then_names_the_least)
{
    uint64_t ids[64];
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_batch *batch = NULL;
    td_result *result = NULL;
    static uint64_t from[20000], to[20000];
    for (uint64_t i = 0; i < 20000; i++) from[i] = i, to[i] = (i * 7919 + 1) % 20000;
    td_edges edges = {.size = sizeof edges, .count = 20000, .sources = from, .targets = to, .vertices = 20000};
    td_graph_options options = {.size = sizeof options, .symmetrize = true};
    CHECK_OK(td_graph_from_edges(session, &edges, &options, &graph));
    choose_sources(graph, 64, ids);
    uint32_t before = 64, seen = 0;
    for (uint64_t bytes = 6 << 20; bytes > 300000; bytes -= bytes / 8) {
        allow(session, bytes);
        td_plan *plan = plan_of(session, graph, &(batch_way){"bfs", "cpu", NULL, {"cpu.batch=bits"}}, ids, 64);
        td_batch_facts facts = {.size = sizeof facts};
        CHECK_OK(td_batch_create(session, plan, &batch));
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK_OK(td_batch_describe(batch, &facts));
        CHECK(facts.at_once <= before);
        CHECK_EQ(td_plan_counter(plan, "batch_at_once"), facts.at_once > 1 ? facts.at_once : 0);
        CHECK(td_plan_fits(plan));
        seen |= facts.at_once;
        before = facts.at_once;
        td_batch_destroy(batch);
        td_plan_destroy(plan);
        CHECK_OK(td_session_set_budget(session, 0));
    }
    CHECK_EQ(seen, 64 | 32 | 16 | 8 | 1);
    allow(session, 100000);
    td_plan *plan = plan_of(session, graph, &(batch_way){"bfs", "cpu", NULL, {NULL}}, ids, 64);
    CHECK(!td_plan_fits(plan));
    CHECK_OK(td_batch_create(session, plan, &batch));
    CHECK_STATUS(td_batch_next(session, batch, &result), TD_NO_MEMORY);
    CHECK(td_last_refusal()->minimum_known);
    CHECK_OK(td_session_set_budget(session, td_last_refusal()->needed));
    CHECK_OK(td_batch_next(session, batch, &result));
    td_batch_destroy(batch);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Levels below 16 take four of the eight planes that plans count. */
/* A setting that shared searches do not have makes the batch one of single searches, unless it asks for shared ones. */
TEST(settings_of_single_searches_are_not_lost_in_a_batch)
{
    static const char *const of_single[] = {"resident.balance=warp", "resident.tiny=4", "resident.small=64",
                                            "resident.rounds=3"};
    uint64_t ids[20];
    td_graph *graph = test_graph(test_graph_named("small world"), TEST_UNWEIGHTED, NULL);
    td_session *session = session_of(2);
    choose_sources(graph, 20, ids);
    for (int s = 0; s < 4; s++)
        for (int asks = 0; asks < 2; asks++) {
            batch_way single = {"bfs", "resident", "emu@unchecked", {of_single[s], asks ? "resident.batch=bits" : NULL}};
            td_plan *plan = plan_of(session, graph, &single, ids, 20);
            CHECK_EQ(td_plan_counter(plan, "batch_at_once") > 0, asks);
            td_plan_destroy(plan);
        }
    batch_way shared = {"bfs", "resident", "emu@unchecked", {NULL}};
    td_plan *plan = plan_of(session, graph, &shared, ids, 20);
    CHECK(td_plan_counter(plan, "batch_at_once") > 0);
    td_plan_destroy(plan);
    td_session_destroy(session);
    td_graph_destroy(graph);
}

TEST(a_plan_states_the_memory_of_a_shared_search)
{
    static const batch_way ways[] = {{"bfs", "cpu", NULL, {NULL}},
                               {"bfs", "resident", "emu@unchecked", {"resident.batch=bits"}}};
    uint64_t ids[64];
    td_graph *graph = test_graph(test_graph_named("rmat 14, clean"), TEST_UNWEIGHTED, NULL);
    choose_sources(graph, 64, ids);
    for (int w = 0; w < 2; w++) {
        td_session *session = session_of(2);
        td_plan *plan = plan_of(session, graph, &ways[w], ids, 64);
        td_batch *batch = NULL;
        td_result *result = NULL;
        td_plan_memory host = {.size = sizeof host};
        td_device_row row = {.size = sizeof row};
        uint64_t peak;
        CHECK_OK(td_plan_memory_row(plan, 0, &host));
        CHECK_OK(td_batch_create(session, plan, &batch));
        for (int i = 0; i < 64; i++) CHECK_OK(td_batch_next(session, batch, &result));
        CHECK_OK(td_session_memory(session, NULL, &peak));
        if (peak > host.program + (64 << 10) || peak < host.program / 2)
            TEST_FAIL("%s takes %" PRIu64 " bytes, and the plan states %" PRIu64, ways[w].engine, peak, host.program);
        CHECK_OK(td_result_device_row(result, 0, &row));
        CHECK(row.peak <= row.graph + row.program + (64 << 10) && row.peak > (row.graph + row.program) / 2);
        td_batch_destroy(batch);
        td_plan_destroy(plan);
        td_session_destroy(session);
    }
    td_graph_destroy(graph);
}

typedef struct stopping {
    int left;
} stopping;

static bool stop_soon(void *context, const td_iteration *row)
{
    (void)row;
    return ((stopping *)context)->left-- > 0;
}

static void check_cancelled(const char *engine, const char *devices, const char *setting)
{
    uint64_t ids[130];
    td_session *session = session_of(2);
    td_graph *graph = test_graph(test_graph_named("path"), TEST_UNWEIGHTED, NULL);
    stopping at = {.left = 1};
    const char *settings[] = {setting, NULL};
    td_request request = {.size = sizeof request, .sources = ids, .source_count = choose_sources(graph, 130, ids),
                          .progress = stop_soon, .progress_context = &at, .engine = engine, .devices = devices,
                          .settings = settings};
    td_plan *plan = NULL;
    td_batch *batch = NULL;
    td_result *result = NULL;
    CHECK_OK(td_session_plan(session, graph, "bfs", &request, &plan));
    CHECK_OK(td_batch_create(session, plan, &batch));
    CHECK_STATUS(td_batch_next(session, batch, &result), TD_CANCELLED);
    CHECK(result == NULL);
    at.left = 250; /* the first search has up to 200 iterations, and the batch is cancelled in its second */
    uint64_t done = 0;
    td_status status = TD_OK;
    while ((status = td_batch_next(session, batch, &result)) == TD_OK && result != NULL) done++;
    CHECK_STATUS(status, TD_CANCELLED);
    CHECK(done > 0 && done < 130);
    td_batch_facts facts = {.size = sizeof facts};
    CHECK_OK(td_batch_describe(batch, &facts));
    CHECK_EQ(facts.done, done);
    at.left = INT32_MAX;
    while (td_batch_next(session, batch, &result) == TD_OK && result != NULL) done++;
    CHECK_EQ(done, 130);
    td_batch_destroy(batch);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_cancelled_batch_continues_where_it_was)
{
    check_cancelled("cpu", NULL, "cpu.batch=bits");
    check_cancelled("resident", "emu@unchecked", "resident.batch=bits");
}

/* Plans, runs and reads a batch; the nth allocation fails, for every n until one gets through. */
static void check_allocations(const char *engine, const char *devices, const char *setting)
{
    td_session *session = session_of(2);
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_UNWEIGHTED, NULL);
    uint64_t ids[20], nth = 1;
    const char *settings[] = {setting, NULL};
    td_request request = {.size = sizeof request, .sources = ids, .source_count = choose_sources(graph, 20, ids),
                          .engine = engine, .devices = devices, .settings = settings};
    for (;; nth++) {
        td_plan *plan = NULL;
        td_batch *batch = NULL;
        td_result *result = NULL;
        td_alloc_fail_at(nth);
        td_status status = td_session_plan(session, graph, "bfs", &request, &plan);
        if (status == TD_OK) status = td_batch_create(session, plan, &batch);
        for (int i = 0; i < 20 && status == TD_OK; i++) status = td_batch_next(session, batch, &result);
        td_alloc_fail_at(0);
        if (status != TD_OK && batch != NULL) { /* the same batch goes on */
            CHECK(td_last_message()[0] != '\0');
            while (td_batch_next(session, batch, &result) == TD_OK && result != NULL) {}
            td_batch_facts facts = {.size = sizeof facts};
            CHECK_OK(td_batch_describe(batch, &facts));
            CHECK_EQ(facts.done, 20);
        }
        td_batch_destroy(batch);
        td_plan_destroy(plan);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    CHECK(nth > 10);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(any_failing_allocation_of_a_batch_is_an_error_that_can_be_repaired)
{
    check_allocations("cpu", NULL, "cpu.batch=bits");
    check_allocations("resident", "emu@unchecked", "resident.batch=bits");
}

/* Drawing. */

TEST(drawn_sources_depend_on_the_graph_and_the_seed_alone)
{
    uint64_t first[100], again[100], other[100];
    td_graph *graph = test_graph(test_graph_named("uniform, sparse ids"), TEST_UNWEIGHTED, NULL);
    td_session *one = session_of(1), *four = session_of(4);
    CHECK_OK(td_graph_draw(one, graph, 100, 5, first));
    CHECK_OK(td_graph_draw(four, graph, 100, 5, again));
    CHECK_OK(td_graph_draw(four, graph, 100, 6, other));
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
    CHECK_OK(td_graph_draw(four, graph, 10, 5, other)); /* the first of more */
    CHECK(memcmp(first, other, 10 * sizeof *first) == 0);
    for (int i = 0; i < 100; i++) {
        uint32_t v = vertex_of(graph, first[i]);
        CHECK(td_graph_degree(graph, v) > 0);
        for (int j = 0; j < i; j++) CHECK(first[i] != first[j]);
    }
    td_graph_destroy(graph);
    graph = test_graph(test_graph_named("directed star"), TEST_UNWEIGHTED, NULL);
    CHECK_OK(td_graph_draw(one, graph, 1, 1, first));
    CHECK_EQ(first[0], 1);
    CHECK_STATUS(td_graph_draw(one, graph, 2, 1, first), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "2 sources are to be drawn, and 1 vertices have out-edges");
    CHECK_STATUS(td_graph_draw(one, graph, 70, 1, first), TD_INVALID);
    td_graph_destroy(graph);
    td_session_destroy(one);
    td_session_destroy(four);
}

TEST_MAIN
