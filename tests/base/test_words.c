/* What options are called in messages: by the tool's names until a program uses the library, then by the library's. */
#include "test.h"

#include "base/log.h"
#include "base/words.h"

static char logged[256];

static void keep_line(void *context, td_log_level level, const char *line)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

TEST(options_have_the_tools_names_until_the_librarys_are_wanted)
{
    td_fail(TD_USAGE, "--memory allows more than %d", 3);
    CHECK_STR(td_last_message(), "--memory allows more than 3");
    CHECK(td_message_names("--memory"));
    CHECK(!td_message_names("--gpu-memory"));
    CHECK_STR(td_word("--devices"), "--devices");
}

TEST(the_librarys_names_replace_them_in_messages_and_in_the_log)
{
    td_words_of_library();
    td_fail(TD_USAGE, "--memory allows %s, --gpu-memory %d%%", "more", 3);
    CHECK_STR(td_last_message(), "td_memory_set_budget allows more, td_request.gpu_memory 3%");
    CHECK(td_message_names("--gpu-memory"));
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
    td_words_of_library();
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
    td_words_of_library();
    CHECK(td_words_in(format, buffer, sizeof buffer) == format);
    CHECK_STR(td_words_in("--sync!", buffer, sizeof buffer), "TD_MODE_SYNC!");
    CHECK(td_words_in("--sync, 45", buffer, sizeof buffer) != buffer);
}

TEST_MAIN
