/* The API as it is misused or stopped: wrong calls, callbacks, several sessions, memory that ends, the log. */
#include "map.h"

#include <pthread.h>

/* Wrong calls. */

TEST(structs_without_their_size_are_refused)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session), *other = NULL;
    td_result *result = NULL;
    td_request request = {0};
    td_graph_options options = {0};
    td_edges edges = {0};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_request)");
    CHECK_STATUS(td_graph_from_edges(session, &map_edges, &options, &other), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_graph_options)");
    CHECK_STATUS(td_graph_from_edges(session, &edges, NULL, &other), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_edges)");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* An older program's request is shorter, a newer one's longer. */
TEST(structs_of_other_versions_are_taken_where_they_ask_for_nothing_unknown)
{
    struct {
        td_request request;
        uint64_t later;
    } newer = {.request = {.size = sizeof newer, .has_iterations = true, .iterations = 2}};
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    CHECK_OK(td_session_run(session, graph, "pagerank", &newer.request, &result));
    CHECK_EQ(td_result_iterations(result), 2);
    td_result_destroy(result);
    result = NULL;
    newer.later = 1;
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &newer.request, &result), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "later version");
    newer.request.size = offsetof(td_request, mode);
    newer.request.mode = (td_mode)99; /* not looked at */
    CHECK_OK(td_session_run(session, graph, "pagerank", &newer.request, &result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(wrong_calls_are_refused_with_words)
{
    static const char *const unknown[] = {"pagerank.dampnig=0.5", NULL}, *const foreign[] = {"heat.step=1", NULL};
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_request request = {.size = sizeof request};
    CHECK_STATUS(td_session_run(NULL, graph, "wcc", NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, NULL, "wcc", NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, NULL, NULL, &result), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, NULL), TD_INVALID);
    CHECK_STATUS(td_session_run(session, graph, "frobnicate", NULL, &result), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "pagerank");
    CHECK_STATUS(td_session_run(session, graph, "bfs", NULL, &result), TD_USAGE);
    request.has_source = true;
    request.source = 11;
    CHECK_STATUS(td_session_run(session, graph, "bfs", &request, &result), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "11");
    request = (td_request){.size = sizeof request, .engine = "steam"};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_USAGE);
    request = (td_request){.size = sizeof request, .settings = unknown};
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "pagerank.damping");
    request.settings = foreign;
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_USAGE);
    request = (td_request){.size = sizeof request, .mode = (td_mode)7};
    CHECK_STATUS(td_session_run(session, graph, "wcc", &request, &result), TD_INVALID);
    request = (td_request){.size = sizeof request, .mode = TD_MODE_ASYNC};
    CHECK_STATUS(td_session_run(session, graph, "heat", &request, &result), TD_USAGE);
    CHECK(result == NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Cancelling and callbacks. */

typedef struct watcher {
    td_session *session;
    const td_graph *graph;
    td_session *other;
    uint32_t calls, most;
    td_status inner;
} watcher;

static bool watch(void *context, const td_iteration *row)
{
    watcher *self = context;
    self->calls = row->number + 1;
    return self->calls < self->most;
}

TEST(a_callback_can_cancel)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    watcher self = {.most = 3};
    td_request request = {.size = sizeof request, .progress = watch, .progress_context = &self};
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_CANCELLED);
    CHECK_EQ(self.calls, 3);
    CHECK(result == NULL);
    self.most = UINT32_MAX;
    CHECK_OK(td_session_run(session, graph, "pagerank", &request, &result));
    CHECK_EQ(self.calls, td_result_iterations(result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_request_to_cancel_holds_until_it_is_cleared)
{
    td_session *session = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_cancel_request();
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_CANCELLED);
    CHECK_STATUS(td_session_run(session, graph, "pagerank", NULL, &result), TD_CANCELLED);
    td_cancel_clear();
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static bool call_back(void *context, const td_iteration *row)
{
    watcher *self = context;
    td_result *result = NULL;
    (void)row;
    self->inner = td_session_run(self->session, self->graph, "wcc", NULL, &result);
    if (self->inner != TD_USAGE) return false;
    self->inner = td_session_run(self->other, self->graph, "wcc", NULL, &result);
    td_result_destroy(result);
    return true;
}

TEST(a_callback_may_use_another_session_but_not_its_own)
{
    td_session *session = session_of(2), *other = session_of(2);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    watcher self = {.session = session, .other = other, .graph = graph, .inner = TD_INTERNAL};
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .progress = call_back,
                          .progress_context = &self};
    CHECK_OK(td_session_run(session, graph, "sssp", &request, &result));
    CHECK_EQ(self.inner, TD_OK);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
    td_session_destroy(other);
}

/* Several sessions at once, each with its own threads and messages. */
static void *work_alone(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument;
    td_session *session = NULL;
    td_graph *graph = NULL;
    if (td_session_create(2, &session) != TD_OK) return "no session";
    if (td_graph_from_edges(session, &map_edges, NULL, &graph) != TD_OK) return "no graph";
    for (int round = 0; round < 50; round++) {
        td_result *result = NULL;
        td_request request = {.size = sizeof request, .has_source = true, .source = 1000 + number};
        char id[32];
        snprintf(id, sizeof id, "%d", (int)(1000 + number));
        if (td_session_run(session, graph, "sssp", &request, &result) != TD_NOT_FOUND) return "a wrong status";
        if (strstr(td_last_message(), id) == NULL) return "somebody else's message";
        request.source = 10;
        if (td_session_run(session, graph, "sssp", &request, &result) != TD_OK) return "no result";
        if (td_result_u32(result)[5] != 9) return "a wrong result";
        td_result_destroy(result);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
    return NULL;
}

TEST(sessions_of_several_threads_do_not_disturb_each_other)
{
    pthread_t threads[3];
    for (uint64_t i = 0; i < 3; i++) CHECK_EQ(pthread_create(&threads[i], NULL, work_alone, (void *)(uintptr_t)i), 0);
    const char *first = NULL;
    for (int i = 0; i < 3; i++) {
        void *outcome;
        pthread_join(threads[i], &outcome);
        if (outcome != NULL) first = outcome;
    }
    if (first != NULL) TEST_FAIL("%s", first);
}

/* Memory and log. */

/* All of it, from the session to the saved result, with every allocation failing in turn. */
static td_status whole_story(const char *path)
{
    td_status status = TD_OK;
    td_session *session = NULL;
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_plan *plan = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .parents = true};
    uint32_t vertices[3];
    double values[3];
    uint64_t count;
    char *text = NULL;
    td_file_options file = {.size = sizeof file, .order = "random", .order_seed = 3};
    td_graph_options whole = {.size = sizeof whole, .edges = TD_PLACE_MEMORY}; /* on disk it could not be renumbered */
    TD_TRY(td_session_create(2, &session));
    TD_TRY(td_graph_from_edges(session, &map_edges, NULL, &graph));
    TD_TRY(td_graph_save(session, graph, path, "tg"));
    td_graph_destroy(graph);
    graph = NULL;
    TD_TRY(td_graph_open(session, path, NULL, &graph));
    td_graph_destroy(graph);
    graph = NULL;
    TD_TRY(td_request_check(session, "sssp", &request));
    TD_TRY(td_file_convert(session, path, test_path("story.el"), NULL, &file, NULL, NULL));
    TD_TRY(td_graph_open_for(session, path, &whole, "sssp", &request, &graph));
    TD_TRY(td_graph_set_order(session, &graph, "hot", 1));
    TD_TRY(td_session_plan(session, graph, "sssp", &request, &plan));
    TD_TRY(td_plan_run(session, plan, &result));
    TD_TRY(td_report_json(session, plan, result, NULL, &text));
    td_text_free(text);
    td_result_destroy(result);
    result = NULL;
    TD_TRY(td_session_run(session, graph, "sssp", &request, &result));
    TD_TRY(td_result_verify(session, result));
    TD_TRY(td_result_top(session, result, 3, vertices, values, &count));
    TD_TRY(td_result_save(session, result, path, NULL));
done:
    td_plan_destroy(plan);
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
    return status;
}

TEST(any_failing_allocation_is_an_error_and_leaves_nothing_behind)
{
    uint64_t held = td_memory_held(), nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = whole_story(test_path("story"));
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory_held(), held);
        if (status == TD_OK) break;
        if (status != TD_NO_MEMORY) TEST_FAIL("allocation %" PRIu64 ": %s", nth, td_last_message());
    }
    CHECK(nth > 20);
}

TEST(the_budget_is_kept)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_memory_set_budget(td_memory_held() + 64);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "budget");
    td_memory_set_budget(0);
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    CHECK(td_memory_peak() >= td_memory_held());
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static void collect(void *context, td_log_level level, const char *line)
{
    char *kept = context;
    if (level == TD_LOG_WARN) snprintf(kept, 256, "%s", line);
}

TEST(warnings_go_to_the_sink)
{
    char line[256] = "";
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &map_edges, NULL, &graph));
    td_log_set_sink(collect, line);
    td_status status = td_graph_save(session, graph, test_path("map.sg"), NULL); /* holds neither weights nor ids */
    td_log_set_sink(NULL, NULL);
    CHECK_EQ(status, TD_OK);
    CHECK_CONTAINS(line, "map.sg");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
