/* The API: what a refused request names is a call or a field of tandem.h, not an option of the tool. */
#include "map.h"

typedef struct refused {
    const char *program;
    td_request request;
    td_status status;
    const char *names;
} refused;

static const refused requests[] = {
    {"sssp", {0}, TD_USAGE, "td_request.source"},
    {"wcc", {.engine = "cpu", .devices = "emu"}, TD_USAGE, "td_request.engine resident"},
    {"wcc", {.devices = "cpu:2"}, TD_USAGE, "td_session_create"},
    {"wcc", {.devices = "abacus"}, TD_USAGE, "td_request.devices abacus"},
    {"wcc", {.engine = "resident", .devices = "emu", .gpu_edges = 8}, TD_NO_MEMORY, "td_request.gpu_edges"},
    {"wcc", {.engine = "resident", .devices = "emu", .gpu_memory = 64}, TD_NO_MEMORY, "under td_request.gpu_memory"},
    {"wcc", {.engine = "stream", .devices = "emu", .gpu_memory = 64}, TD_NO_MEMORY, "raise td_request.gpu_memory"},
    {"wcc", {.checkpoint = "/nowhere/at/all"}, TD_USAGE, "td_request.checkpoint /nowhere"},
    {"wcc", {.resume = "/nowhere/at/all"}, TD_USAGE, "td_request.resume /nowhere"},
};

TEST(a_refusal_names_calls_and_fields_of_the_api)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        td_request request = requests[i].request;
        td_result *result = NULL;
        request.size = sizeof request;
        CHECK_STATUS(td_session_run(session, graph, requests[i].program, &request, &result), requests[i].status);
        CHECK_CONTAINS(td_last_message(), requests[i].names);
        if (strstr(td_last_message(), " --") != NULL) TEST_FAIL("it speaks of the tool: %s", td_last_message());
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_budget_that_is_too_small_names_the_call_that_sets_it)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_result *result = NULL;
    td_memory_set_budget(td_memory_held() + 64);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_NO_MEMORY);
    td_memory_set_budget(0);
    CHECK_CONTAINS(td_last_message(), "td_memory_set_budget");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_plan_says_why_in_the_words_of_the_api)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_request request = {.size = sizeof request, .devices = "emu"};
    td_plan *plan = NULL;
    CHECK_OK(td_session_plan(session, graph, "wcc", &request, &plan));
    CHECK_STR(td_plan_why(plan), "a GPU is among td_request.devices");
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
