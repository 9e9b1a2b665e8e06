/* The API: sessions side by side, each with its own budget, its own request to stop and its own cache; and refusals
 * that a caller can act on. */
#include "map.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MIB = 1 << 20, VERTICES = 20000, DEGREE = 10 };

/* A graph of some MB: every vertex has edges to vertices all over. */
static uint64_t from[VERTICES * DEGREE], to[VERTICES * DEGREE];
static uint32_t weights[VERTICES * DEGREE];

static const td_edges city_edges = {.size = sizeof city_edges, .count = VERTICES * DEGREE, .sources = from,
                                    .targets = to, .whole_weights = weights, .vertices = VERTICES};

__attribute__((constructor)) static void make_city(void)
{
    uint64_t random = 1;
    for (uint64_t i = 0; i < VERTICES * DEGREE; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        from[i] = i / DEGREE;
        to[i] = (random >> 33) % VERTICES;
        weights[i] = 1 + (uint32_t)(random >> 60);
    }
}

static td_graph *city_of(td_session *session)
{
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &city_edges, NULL, &graph));
    return graph;
}

static uint64_t held_by(const td_session *session)
{
    uint64_t now = 0;
    CHECK_OK(td_session_memory(session, &now, NULL));
    return now;
}

static const char *gpu = "emu"; /* of runs on other engines than cpu */

static td_status run(td_session *session, const td_graph *graph, const char *engine, td_result **out)
{
    td_request request = {.size = sizeof request, .has_source = true, .source = 17, .engine = engine,
                          .devices = strcmp(engine, "cpu") == 0 ? NULL : gpu};
    return td_session_run(session, graph, "sssp", &request, out);
}

/* Memory. */

typedef struct worker {
    td_session *session;
    td_status status;
    char message[256];
} worker;

static void *build_often(void *argument)
{
    worker *self = argument;
    for (int i = 0; i < 10; i++) {
        td_graph *graph = NULL;
        self->status = td_graph_from_edges(self->session, &city_edges, NULL, &graph);
        if (self->status != TD_OK) snprintf(self->message, sizeof self->message, "%s", td_last_message());
        if (self->status != TD_OK && td_last_refusal()->resource != TD_RESOURCE_SESSION_BUDGET)
            self->status = TD_INTERNAL;
        td_graph_destroy(graph);
        if (self->status != TD_OK) break;
    }
    return NULL;
}

TEST(of_two_sessions_at_work_only_the_one_with_the_small_budget_is_refused)
{
    worker workers[2] = {{.session = session_of(2)}, {.session = session_of(2)}};
    pthread_t threads[2];
    CHECK_OK(td_session_set_budget(workers[0].session, held_by(workers[0].session) + MIB));
    CHECK_OK(td_session_set_budget(workers[1].session, held_by(workers[1].session) + 64 * MIB));
    for (int i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, build_often, &workers[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK_EQ(workers[0].status, TD_NO_MEMORY);
    CHECK_CONTAINS(workers[0].message, "td_session_set_budget");
    CHECK_EQ(workers[1].status, TD_OK);
    for (int i = 0; i < 2; i++) td_session_destroy(workers[i].session);
}

static void *destroy_graph(void *graph)
{
    td_graph_destroy(graph);
    return NULL;
}

TEST(a_graph_is_its_sessions_until_any_thread_destroys_it_also_after_the_session)
{
    uint64_t before = td_memory_held();
    td_session *session = session_of(2), *other = session_of(1);
    uint64_t empty = held_by(session), elsewhere = held_by(other), peak;
    td_graph *first = city_of(session), *second = city_of(session);
    pthread_t thread;
    CHECK(held_by(session) > empty + 2 * MIB);
    CHECK_EQ(held_by(other), elsewhere);
    CHECK_OK(td_session_memory(session, NULL, &peak));
    CHECK(peak >= held_by(session));
    CHECK_EQ(pthread_create(&thread, NULL, destroy_graph, first), 0);
    pthread_join(thread, NULL);
    CHECK(held_by(session) > empty + MIB && held_by(session) < empty + 4 * MIB);
    td_session_destroy(session);
    CHECK(td_memory_held() > before + MIB);
    td_result *result = NULL;
    CHECK_OK(run(other, second, "cpu", &result)); /* it is still there */
    td_result_destroy(result);
    td_graph_destroy(second);
    CHECK_EQ(held_by(other), elsewhere);
    td_session_destroy(other);
    CHECK_EQ(td_memory_held(), before);
}

TEST(the_budget_of_the_process_applies_to_all_sessions)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    CHECK_OK(td_session_set_budget(session, held_by(session) + 64 * MIB));
    td_memory_set_budget(td_memory_held() + MIB);
    td_status status = td_graph_from_edges(session, &city_edges, NULL, &graph);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_PROCESS_BUDGET);
    CHECK_CONTAINS(td_last_message(), "td_memory_set_budget");
    td_session_destroy(session);
}

/* Edges on disk: whoever runs pays for the pages, whoever opened the graph. */
TEST(a_graph_on_disk_runs_within_the_budget_of_the_session_that_runs_it)
{
    td_session *one = session_of(1), *two = session_of(1);
    td_graph *graph = city_of(one);
    const char *path = test_path("city.tg");
    CHECK_OK(td_graph_save(one, graph, path, NULL));
    td_graph_destroy(graph);
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_DISK};
    CHECK_OK(td_graph_open(one, path, &options, &graph));
    td_result *results[3] = {NULL};
    CHECK_OK(run(one, graph, "hybrid", &results[0]));
    uint64_t held = held_by(one);
    CHECK_OK(td_session_set_budget(one, held + 1024)); /* nothing more can be charged to it */
    CHECK_OK(td_session_set_budget(two, held_by(two) + 24 * MIB));
    CHECK_OK(run(two, graph, "hybrid", &results[1]));
    CHECK_EQ(held_by(one), held);
    CHECK_OK(td_session_set_budget(one, 0));
    td_session_destroy(two);
    CHECK_OK(run(one, graph, "hybrid", &results[2]));
    for (int i = 1; i < 3; i++)
        CHECK(memcmp(td_result_u32(results[0]), td_result_u32(results[i]), VERTICES * sizeof(uint32_t)) == 0);
    for (int i = 0; i < 3; i++) td_result_destroy(results[i]);
    td_graph_destroy(graph);
    td_session_destroy(one);
}

/* Stopping. */

typedef struct runner {
    td_session *session;
    td_graph *graph;
    uint32_t iterations;
    atomic_bool runs, *may_go_on;
    td_status status;
    td_result *result;
} runner;

/* Waits in the first iteration until the request to stop has been made. */
static bool wait_there(void *context, const td_iteration *row)
{
    runner *self = context;
    atomic_store(&self->runs, true);
    while (row->number == 0 && !atomic_load(self->may_go_on)) usleep(1000);
    return true;
}

static void *run_ranks(void *argument)
{
    runner *self = argument;
    td_request request = {.size = sizeof request, .has_iterations = true, .iterations = self->iterations,
                          .progress = wait_there, .progress_context = self};
    self->status = td_session_run(self->session, self->graph, "pagerank", &request, &self->result);
    return NULL;
}

TEST(cancelling_one_of_two_sessions_at_work_leaves_the_other_its_right_result)
{
    atomic_bool may_go_on = true;
    runner runners[2], wanted = {.session = session_of(2), .iterations = 30, .may_go_on = &may_go_on};
    pthread_t threads[2];
    wanted.graph = city_of(wanted.session);
    run_ranks(&wanted);
    CHECK_EQ(wanted.status, TD_OK);
    may_go_on = false;
    for (int i = 0; i < 2; i++) {
        runners[i] = (runner){.session = session_of(2), .iterations = i == 0 ? 100000 : 30, .may_go_on = &may_go_on};
        runners[i].graph = city_of(runners[i].session);
        CHECK_EQ(pthread_create(&threads[i], NULL, run_ranks, &runners[i]), 0);
    }
    while (!atomic_load(&runners[0].runs) || !atomic_load(&runners[1].runs)) usleep(1000);
    td_session_cancel(runners[0].session);
    may_go_on = true;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK_EQ(runners[0].status, TD_CANCELLED);
    CHECK_EQ(runners[1].status, TD_OK);
    CHECK_EQ(td_result_iterations(runners[1].result), td_result_iterations(wanted.result));
    for (uint32_t v = 0; v < VERTICES; v++) {
        float one = td_result_f32(runners[1].result)[v], two = td_result_f32(wanted.result)[v];
        if (!(one - two <= 1e-5f * two && two - one <= 1e-5f * two)) TEST_FAIL("vertex %u has %g, not %g", v, one, two);
    }
    CHECK_STATUS(run(runners[0].session, runners[0].graph, "cpu", &runners[0].result), TD_CANCELLED);
    td_session_cancel_clear(runners[0].session);
    CHECK_OK(run(runners[0].session, runners[0].graph, "cpu", &runners[0].result));
    td_session_cancel(NULL);
    td_session_cancel_clear(NULL);
    runner *all[] = {&runners[0], &runners[1], &wanted};
    for (int i = 0; i < 3; i++) {
        td_result_destroy(all[i]->result);
        td_graph_destroy(all[i]->graph);
        td_session_destroy(all[i]->session);
    }
}

/* What a session caches. */

/* Runs on an emulated GPU and returns how many bytes stay cached. */
static uint64_t fill_cache(td_session *session, const td_graph *graph)
{
    uint64_t before = held_by(session);
    td_result *result = NULL;
    CHECK_OK(run(session, graph, "resident", &result));
    td_result_destroy(result);
    return held_by(session) - before;
}

static void give_room_to_a_run(void)
{
    td_session *session = session_of(1), *plain = session_of(1);
    td_graph *graph = city_of(session);
    td_result *wanted = NULL, *result = NULL;
    uint64_t without = held_by(plain), peak, held;
    CHECK_OK(run(plain, graph, "cpu", &wanted));
    CHECK_OK(td_session_memory(plain, NULL, &peak));
    uint64_t takes = peak - without; /* what a run on the CPU takes */
    held = held_by(session);
    uint64_t cached = fill_cache(session, graph);
    CHECK(cached > MIB);
    CHECK_OK(td_session_set_budget(session, held + takes + cached / 2));
    CHECK_OK(run(session, graph, "cpu", &result));
    CHECK(memcmp(td_result_u32(wanted), td_result_u32(result), VERTICES * sizeof(uint32_t)) == 0);
    td_result_destroy(result); /* in a build without the watch it is larger than half of what was cached */
    CHECK(held_by(session) < held + cached / 2);
    td_result_destroy(wanted);
    td_graph_destroy(graph);
    td_session_destroy(session);
    td_session_destroy(plain);
}

TEST(a_run_that_needs_the_room_gets_what_the_run_before_cached) { give_room_to_a_run(); }

/* Without the watch's memory, the stacks of its threads are most of what an emulated GPU has. */
TEST(stacks_of_emulated_threads_make_way_between_launches)
{
    gpu = "emu:1@unchecked";
    give_room_to_a_run();
    gpu = "emu";
}

TEST(a_plan_makes_room_before_it_says_whether_it_fits)
{
    td_session *session = session_of(1);
    td_graph *graph = city_of(session);
    td_request request = {.size = sizeof request, .has_source = true, .source = 17, .engine = "cpu"};
    td_plan *plan = NULL;
    td_plan_memory host = {.size = sizeof host};
    CHECK_OK(td_session_plan(session, graph, "sssp", &request, &plan));
    CHECK_OK(td_plan_memory_row(plan, 0, &host));
    td_plan_destroy(plan);
    uint64_t cached = fill_cache(session, graph);
    CHECK(cached > host.program);
    CHECK_OK(td_session_set_budget(session, held_by(session) + host.program / 2));
    CHECK_OK(td_session_plan(session, graph, "sssp", &request, &plan));
    CHECK(td_plan_fits(plan));
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_graph_that_needs_the_room_gets_what_a_run_cached_and_the_next_run_caches_anew)
{
    td_session *session = session_of(2), *plain = session_of(2);
    uint64_t empty = held_by(plain), peak;
    td_graph_destroy(city_of(plain));
    CHECK_OK(td_session_memory(plain, NULL, &peak));
    uint64_t takes = peak - empty; /* what building the graph takes at its peak */
    td_graph *graph = city_of(session);
    uint64_t cached = fill_cache(session, graph), held = held_by(session);
    td_graph_destroy(city_of(session));
    CHECK_EQ(held_by(session), held); /* without a budget nothing goes */
    CHECK_OK(td_session_set_budget(session, held - cached / 2 + takes));
    td_graph *second = city_of(session);
    td_graph_destroy(second);
    CHECK(held_by(session) < held - cached / 2); /* it went */
    CHECK_OK(td_session_set_budget(session, 0));
    CHECK(fill_cache(session, graph) > MIB);
    td_graph_destroy(graph);
    td_session_destroy(session);
    td_session_destroy(plain);
}

/* The layout in use is not what makes way: a run fails, or it is right. */
TEST(under_any_budget_a_run_on_what_is_cached_is_right_or_refused)
{
    td_session *session = session_of(1);
    td_graph *graph = city_of(session);
    td_result *wanted = NULL, *result = NULL;
    CHECK_OK(run(session, graph, "cpu", &wanted));
    int refused = 0, done = 0;
    for (uint64_t more = 0; more < 12; more += 2) {
        CHECK_OK(td_session_set_budget(session, 0));
        (void)fill_cache(session, graph);
        CHECK_OK(td_session_set_budget(session, held_by(session) + (UINT64_C(65536) << more)));
        td_status status = run(session, graph, more % 4 == 0 ? "resident" : "stream", &result);
        refused += status == TD_NO_MEMORY;
        done += status == TD_OK;
        if (status != TD_OK) continue;
        CHECK(memcmp(td_result_u32(wanted), td_result_u32(result), VERTICES * sizeof(uint32_t)) == 0);
        td_result_destroy(result);
    }
    if (refused == 0 || done == 0) TEST_FAIL("%d refused, %d done", refused, done);
    CHECK_EQ(refused + done, 6);
    td_result_destroy(wanted);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Refusals. */

TEST(a_caller_raises_the_budget_to_what_is_needed_and_tries_again)
{
    td_session *session = session_of(1);
    td_graph *graph = city_of(session);
    td_result *result = NULL;
    CHECK_OK(td_session_set_budget(session, held_by(session) + 65536));
    td_status status = TD_NO_MEMORY;
    int tries = 0;
    while (tries < 2 && status == TD_NO_MEMORY) {
        const td_refusal *refusal = td_last_refusal();
        if (tries > 0) CHECK_EQ(refusal->resource, TD_RESOURCE_SESSION_BUDGET);
        if (tries > 0) CHECK(refusal->minimum_known && refusal->needed > refusal->allowed);
        if (tries > 0) CHECK_OK(td_session_set_budget(session, refusal->needed));
        status = run(session, graph, "cpu", &result);
        tries++;
    }
    CHECK_OK(status);
    CHECK_EQ(tries, 2);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_caller_raises_what_a_request_allows_of_a_gpu_and_tries_again)
{
    td_session *session = session_of(1);
    td_graph *graph = city_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .engine = "resident", .devices = "emu", .gpu_memory = 4096,
                          .gpu_edges = 4096, .has_source = true, .source = 17};
    CHECK_STATUS(td_session_run(session, graph, "sssp", &request, &result), TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_DEVICE_EDGES);
    CHECK_EQ(td_last_refusal()->allowed, 4096);
    CHECK(strncmp(td_last_refusal()->device, "emu", 3) == 0);
    request.gpu_edges = (double)td_last_refusal()->needed;
    CHECK_STATUS(td_session_run(session, graph, "sssp", &request, &result), TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_DEVICE_MEMORY);
    CHECK(td_last_refusal()->needed > td_last_refusal()->allowed);
    request.gpu_memory = td_last_refusal()->needed;
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    td_result_destroy(result);
    request.source = VERTICES + 7;
    CHECK_STATUS(td_session_run(session, graph, "sssp", &request, &result), TD_NOT_FOUND);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_NONE);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_run_from_disk_says_how_much_is_enough_and_that_is_enough)
{
    td_session *session = session_of(1);
    td_graph *graph = city_of(session);
    const char *path = test_path("city.tg");
    CHECK_OK(td_graph_save(session, graph, path, NULL));
    td_graph_destroy(graph);
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_DISK};
    CHECK_OK(td_graph_open(session, path, &options, &graph));
    CHECK_OK(td_session_set_budget(session, held_by(session) + 65536));
    td_result *result = NULL;
    CHECK_STATUS(run(session, graph, "hybrid", &result), TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_SESSION_BUDGET);
    CHECK(td_last_refusal()->minimum_known);
    CHECK_CONTAINS(td_last_message(), "needs at least td_session_set_budget");
    CHECK_OK(td_session_set_budget(session, td_last_refusal()->needed));
    CHECK_OK(run(session, graph, "hybrid", &result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(calls_without_a_session_are_refused)
{
    uint64_t now;
    CHECK_STATUS(td_session_set_budget(NULL, 1), TD_INVALID);
    CHECK_STATUS(td_session_memory(NULL, &now, NULL), TD_INVALID);
}

TEST_MAIN
