/* Messages refer to options by neutral names in braces; the face of the thread's account says what they are called, and
 * the refusal says which option the message is about. */
#include "test.h"

#include "api/session.h"
#include "base/log.h"
#include "base/names.h"
#include "base/pool.h"

#include <errno.h>

static char logged[256];

static void keep_line(void *context, td_log_level level, const char *line)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

static td_account *library(void)
{
    static td_account account = {.names = td_api_names, .references = 1};
    return &account;
}

/* A face as a binding for another language would have it. */
static const td_option_name keywords[] = {{"memory", "memory="}, {"gpu_memory", "gpu_memory="}, {NULL, NULL}};

TEST(options_keep_their_neutral_names_without_a_face)
{
    td_fail(TD_USAGE, "{memory} allows more than %d, {gpu_memory} less", 3);
    CHECK_STR(td_last_message(), "memory allows more than 3, gpu_memory less");
    CHECK_STR(td_named("devices"), "devices");
}

static td_status fail_on_all(void *context, int worker, int workers)
{
    (void)context, (void)workers;
    return worker == 1 ? td_fail(TD_USAGE, "{devices}") : TD_OK;
}

TEST(workers_use_the_names_of_the_account_that_they_work_for)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_account *before = td_account_enter(library());
    td_status status = td_pool_run(pool, fail_on_all, NULL);
    (void)td_account_enter(before);
    CHECK_EQ(status, TD_USAGE);
    CHECK_STR(td_last_message(), "td_request.devices");
    CHECK_STR(td_last_refusal()->option, "devices");
    CHECK_EQ(td_pool_run(pool, fail_on_all, NULL), TD_USAGE);
    CHECK_STR(td_last_message(), "devices");
    td_pool_destroy(pool);
}

TEST(more_memory_is_allowed_by_the_call_whose_budget_leaves_least)
{
    td_account *before = td_account_enter(library());
    CHECK_STR(td_named("memory"), "td_memory_set_budget");
    library()->budget = 1 << 20;
    CHECK_STR(td_named("memory"), "td_session_set_budget");
    td_memory_set_budget(1);
    const char *name = td_named("memory");
    td_memory_set_budget(0);
    library()->names = keywords; /* a face that does not tell the two apart */
    const char *keyword = td_named("memory");
    library()->names = td_api_names;
    library()->budget = 0;
    CHECK_STR(name, "td_memory_set_budget");
    CHECK_STR(keyword, "memory=");
    (void)td_account_enter(before);
    CHECK_STR(td_named("memory"), "memory");
}

TEST(the_faces_names_stand_in_messages_and_in_the_log)
{
    (void)td_account_enter(library());
    td_fail(TD_USAGE, "{memory} allows %s, {gpu_memory} %d%%", "more", 3);
    CHECK_STR(td_last_message(), "td_memory_set_budget allows more, td_request.gpu_memory 3%");
    td_fail_context(TD_USAGE, "raise {gpu_edges}");
    CHECK(strncmp(td_last_message(), "raise td_request.gpu_edges: td_memory", 37) == 0);
    td_fail_add(TD_USAGE, "; or {engine} cpu");
    CHECK_CONTAINS(td_last_message(), "3%; or td_request.engine cpu");
    td_fail_errno(TD_IO, ENOENT, "{checkpoint} %s", "x");
    CHECK_STR(td_last_message(), "td_request.checkpoint x: No such file or directory");
    CHECK_STR(td_named("sync"), "TD_MODE_SYNC");
    td_log_set_sink(keep_line, NULL);
    td_warn("of {devices} %s", "emu");
    td_log_set_sink(NULL, NULL);
    CHECK_STR(logged, "of td_request.devices emu");
}

TEST(what_the_user_wrote_stays)
{
    (void)td_account_enter(library());
    td_fail(TD_IO, "cannot open '%s', {format} decides", "{memory}--memory");
    CHECK_STR(td_last_message(), "cannot open '{memory}--memory', td_graph_options.format decides");
    CHECK_STR(td_last_refusal()->option, "format");
    td_fail(TD_IO, "{}, {Memory}, {memory, {{memory}} and {");
    CHECK_STR(td_last_message(), "{}, {Memory}, {memory, {td_memory_set_budget} and {");
    td_fail(TD_IO, "--memory");
    CHECK_STR(td_last_message(), "--memory");
}

TEST(a_text_that_would_not_fit_is_left_alone)
{
    char buffer[16];
    const char *text = "0123456789 {memory} %d";
    (void)td_account_enter(library());
    CHECK(td_names_in(text, buffer, sizeof buffer) == text);
    CHECK_STR(td_names_in("{sync}!", buffer, sizeof buffer), "TD_MODE_SYNC!");
    CHECK(td_names_in("{sync}, 45", buffer, sizeof buffer) != buffer);
    CHECK(td_names_in("{sync}{sync}", buffer, sizeof buffer) != buffer);
    const char *plain = "no option";
    CHECK(td_names_in(plain, buffer, sizeof buffer) == plain);
}

TEST(a_refusal_names_the_option_that_would_change_the_outcome)
{
    td_refusal memory = {.resource = TD_RESOURCE_PROCESS_BUDGET}, gpu = {.resource = TD_RESOURCE_DEVICE_MEMORY};
    td_fail(TD_USAGE, "%s: {devices} and {engine}", "x");
    CHECK_STR(td_last_refusal()->option, "devices");
    td_fail(TD_IO, "nothing to choose");
    CHECK_STR(td_last_refusal()->option, "");
    td_fail_add(TD_IO, ", but {format}");
    CHECK_STR(td_last_refusal()->option, "format");
    td_refuse(&memory, "{engine} hybrid needs less"); /* what is short counts, not what else would do */
    CHECK_STR(td_last_refusal()->option, "memory");
    td_fail_context(TD_NO_MEMORY, "{devices} emu");
    CHECK_STR(td_last_refusal()->option, "memory");
    td_refuse(&gpu, "the GPU is full");
    CHECK_STR(td_last_refusal()->option, "gpu_memory");
}

TEST(an_error_of_the_system_says_which_resource_is_short)
{
    static const struct {
        int error;
        td_resource resource;
    } cases[] = {{ENOMEM, TD_RESOURCE_SYSTEM_MEMORY}, {EMFILE, TD_RESOURCE_FILES}, {ENFILE, TD_RESOURCE_FILES},
                 {ENOSPC, TD_RESOURCE_DISK}, {EDQUOT, TD_RESOURCE_DISK}, {ENOENT, TD_RESOURCE_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_fail_errno(TD_IO, cases[i].error, "x");
        CHECK_EQ(td_last_refusal()->resource, cases[i].resource);
    }
}

TEST(a_thread_that_cannot_be_started_is_a_refusal)
{
    CHECK_EQ(td_refuse_thread(EAGAIN, 17, "cannot start thread %d", 17), TD_NO_MEMORY);
    CHECK_STR(td_last_message(), "cannot start thread 17: Resource temporarily unavailable");
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_THREADS);
    CHECK_EQ(td_last_refusal()->needed, 17);
    CHECK_STR(td_last_refusal()->option, "threads");
}

TEST(topics_belong_to_the_failure_at_hand)
{
    CHECK_EQ(td_see("cpu", td_see("heat", td_fail(TD_USAGE, "x"))), TD_USAGE);
    CHECK_STR(td_last_refusal()->topics, "heat cpu");
    for (int i = 0; i < 100; i++) (void)td_see("stream", TD_USAGE);
    CHECK(strlen(td_last_refusal()->topics) < sizeof td_last_refusal()->topics);
    td_fail(TD_USAGE, "y");
    CHECK_STR(td_last_refusal()->topics, "");
    CHECK_OK(td_see("cpu", TD_OK));
    CHECK_STR(td_last_refusal()->topics, "");
}

TEST_MAIN
