/* What options are called in messages: by the names that the thread's account has, by the tool's where it has none. */
#include "test.h"

#include "api/session.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/words.h"

static char logged[256];

static void keep_line(void *context, td_log_level level, const char *line)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

static td_account *library(void)
{
    static td_account account = {.words = td_library_words, .references = 1};
    return &account;
}

TEST(options_have_the_tools_names_where_the_account_has_none)
{
    td_fail(TD_USAGE, "--memory allows more than %d", 3);
    CHECK_STR(td_last_message(), "--memory allows more than 3");
    CHECK_STR(td_word("--devices"), "--devices");
}

static td_status fail_on_all(void *context, int worker, int workers)
{
    (void)context, (void)workers;
    return worker == 1 ? td_fail(TD_USAGE, "--devices") : TD_OK;
}

TEST(workers_use_the_words_of_the_account_that_they_work_for)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_account *before = td_account_enter(library());
    td_status status = td_pool_run(pool, fail_on_all, NULL);
    (void)td_account_enter(before);
    CHECK_EQ(status, TD_USAGE);
    CHECK_STR(td_last_message(), "td_request.devices");
    CHECK_EQ(td_pool_run(pool, fail_on_all, NULL), TD_USAGE);
    CHECK_STR(td_last_message(), "--devices");
    td_pool_destroy(pool);
}

TEST(more_memory_is_allowed_by_the_call_whose_budget_leaves_least)
{
    td_account *before = td_account_enter(library());
    CHECK_STR(td_word("--memory"), "td_memory_set_budget");
    library()->budget = 1 << 20;
    CHECK_STR(td_word("--memory"), "td_session_set_budget");
    td_memory_set_budget(1);
    const char *word = td_word("--memory");
    td_memory_set_budget(0);
    library()->budget = 0;
    CHECK_STR(word, "td_memory_set_budget");
    (void)td_account_enter(before);
    CHECK_STR(td_word("--memory"), "--memory");
}

TEST(the_librarys_names_replace_them_in_messages_and_in_the_log)
{
    (void)td_account_enter(library());
    td_fail(TD_USAGE, "--memory allows %s, --gpu-memory %d%%", "more", 3);
    CHECK_STR(td_last_message(), "td_memory_set_budget allows more, td_request.gpu_memory 3%");
    td_fail_context(TD_USAGE, "raise --gpu-edges");
    CHECK(strncmp(td_last_message(), "raise td_request.gpu_edges: td_memory", 37) == 0);
    td_fail_errno(TD_IO, 2, "--checkpoint %s", "x");
    CHECK_STR(td_last_message(), "td_request.checkpoint x: No such file or directory");
    CHECK_STR(td_word("--sync"), "TD_MODE_SYNC");
    td_log_set_sink(keep_line, NULL);
    td_warn("of --devices %s", "emu");
    td_log_set_sink(NULL, NULL);
    CHECK_STR(logged, "of td_request.devices emu");
}

TEST(what_the_user_wrote_and_commands_in_quotes_stay)
{
    (void)td_account_enter(library());
    td_fail(TD_IO, "cannot open '%s'", "--memory");
    CHECK_STR(td_last_message(), "cannot open '--memory'");
    td_fail(TD_IO, "its vertices' --weights: 'tandem convert --weights 1:100', or --weights");
    CHECK_STR(td_last_message(), "its vertices' td_graph_options.weights: 'tandem convert --weights 1:100', or "
                                 "td_graph_options.weights");
    td_fail(TD_IO, "'tandem --memory and no end");
    CHECK_STR(td_last_message(), "'tandem td_memory_set_budget and no end");
    td_fail(TD_IO, "--memories, --, --mem and -- --memory-");
    CHECK_STR(td_last_message(), "--memories, --, --mem and -- --memory-");
}

TEST(a_format_that_would_not_fit_is_left_alone)
{
    char buffer[16];
    const char *format = "0123456789 --memory %d";
    (void)td_account_enter(library());
    CHECK(td_words_in(format, buffer, sizeof buffer) == format);
    CHECK_STR(td_words_in("--sync!", buffer, sizeof buffer), "TD_MODE_SYNC!");
    CHECK(td_words_in("--sync, 45", buffer, sizeof buffer) != buffer);
}

TEST_MAIN
