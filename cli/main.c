/* The tool's entry: finds the command, parses its line, runs it, and turns its
 * status into one message and an exit status (0, 1 failed, 2 wrong usage).
 *
 * The first Ctrl-C asks the command to stop between two chunks of work; the
 * second one ends the process at once. Neither leaves a partial file. */
#include "command.h"
#include "names.h"
#include "standard_input.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/isa.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPTION(...) TD_OPTION(td_common, __VA_ARGS__)

const td_arg_option td_common_options[] = {
    OPTION("threads", COUNT, threads, "N", "worker threads (default: all available)", .least = 1, .most = 1024),
    OPTION("memory", MEMORY, memory_given, "SIZE",
           "limit on memory: 4G, 512M, or a share such as 25%: of the file for `run` on a .tg, else of the machine's "
           "memory (default: nine tenths of the free memory); limits of 9M and more are obeyed, smaller ones may be exceeded"),
    OPTION("json", TARGET, json, "[FILE]", "the report as JSON, to FILE or to standard output"),
    OPTION("quiet", FLAG, quiet, NULL, "print only warnings and errors", .letter = 'q', .excludes = "verbose"),
    OPTION("verbose", FLAG, verbose, NULL, "print more", .letter = 'v'),
    OPTION("help", FLAG, help, NULL, "this page", .letter = 'h'),
    {0},
};

const td_command *const td_commands[] = {
    &td_cmd_gen, &td_cmd_convert, &td_cmd_reorder, &td_cmd_prepare, &td_cmd_info, &td_cmd_run, &td_cmd_plan,
    &td_cmd_report, &td_cmd_devices, &td_cmd_calibrate, &td_cmd_bench, &td_cmd_help, NULL,
};

const td_command *td_command_named(const char *name)
{
    for (int i = 0; td_commands[i] != NULL; i++)
        if (strcmp(td_commands[i]->name, name) == 0) return td_commands[i];
    return NULL;
}

const char *td_command_name(const void *unused, int index)
{
    (void)unused;
    return td_commands[index] != NULL ? td_commands[index]->name : NULL;
}

td_arg_spec td_command_spec(const td_command *command)
{
    return (td_arg_spec){.tables = {command->options, command->shared, td_common_options},
                         .positional = command->positional,
                         .least = command->least,
                         .most = command->most};
}

td_status td_common_session(const td_common *common, td_session **out)
{
    return td_session_open(&(td_session_options){.size = sizeof(td_session_options), .threads = (int)common->threads,
                                                 .names = td_tool_names}, out);
}

static void on_signal(int number)
{
    (void)number;
    if (td_cancel_requested()) {
        td_outfile_abort_all();
        _exit(1);
    }
    td_cancel_request();
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue; /* nohup */
        sigaction(signals[i], &action, NULL);
    }
}

/* Without --memory the budget is nine tenths of the free memory: a graph that is too
 * large then gets an error message instead of being killed by the system. */
static uint64_t budget_of(const td_common *common)
{
    return common->memory != 0 ? common->memory : td_machine_memory_free() / 10 * 9;
}

static void apply(const td_common *common)
{
    td_log_set_level(common->quiet ? TD_LOG_WARN : common->verbose ? TD_LOG_DEBUG : TD_LOG_INFO);
    if (common->memory != 0) td_memory_set_limit(common->memory); /* with the process itself */
    else td_memory_set_budget(budget_of(common));
}

static td_status run_command(const td_command *command, int argc, char **argv)
{
    td_status status = TD_OK;
    td_args args = {NULL, 0};
    td_arg_spec spec = td_command_spec(command);
    char *settings = NULL;
    TD_CHECK(TD_NEW_ZEROED(&settings, command->settings_bytes, "settings"));
    if (command->defaults != NULL) memcpy(settings, command->defaults, command->settings_bytes);
    TD_TRY(td_args_parse(&spec, argc, argv, settings, &args));
    const td_common *common = (const td_common *)settings;
    if (common->help) {
        bool topic = command->help_topic != NULL && args.count > 0;
        if (!topic || !command->help_topic(args.words[0])) td_help_command(command);
    } else {
        apply(common);
        TD_TRY(command->run(&args, settings));
    }
done:
    td_args_free(&spec, settings, &args);
    td_free(settings);
    return status;
}

static td_status unknown_command(const char *word)
{
    if (word[0] == '-')
        return td_fail(TD_USAGE, "'%s' is not a command; the command comes first, options after it", word);
    if (td_program_summary(word) != NULL)
        return td_fail(TD_USAGE, "unknown command '%s'; it is a program: tandem run %s FILE", word, word);
    return td_fail_unknown("command", word, NULL, td_command_name, NULL);
}

/* Runs the command line: a command, or one of --version and --help. */
static td_status run_word(int argc, char **argv)
{
    if (argc < 2) {
        td_help_overview();
        return td_fail(TD_USAGE, "no command given");
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("tandem %s\n", td_version());
        return TD_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
    const td_command *command = td_command_named(word);
    if (command == NULL) return unknown_command(word);
    return run_command(command, argc - 2, argv + 2);
}

static td_status flush_results(void)
{
    if (fflush(stdout) != 0) return td_fail_errno(TD_IO, errno, "cannot write standard output");
    return ferror(stdout) ? td_fail(TD_IO, "cannot write standard output; is its disk full?") : TD_OK;
}

/* The help pages for wrong usage: those of the refusal's topics, or the command's own. */
static void print_pages(const char *word)
{
    const char *topics = td_last_refusal()->topics;
    bool known = word != NULL && td_command_named(word) != NULL;
    if (topics[0] == '\0') fprintf(stderr, "; see 'tandem help%s%s'", known ? " " : "", known ? word : "");
    for (const char *at = topics; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        fprintf(stderr, "%s'tandem help %.*s'", at == topics ? "; see " : " and ", (int)length, at);
        at += length;
    }
}

static int report(td_status status, const char *word)
{
    td_progress_end();
    if (status == TD_OK) return 0;
    td_standard_input_name();
    fprintf(stderr, "tandem: %s", td_last_message());
    if (status == TD_USAGE) print_pages(word);
    fprintf(stderr, "\n");
    return status == TD_USAGE ? 2 : 1;
}

/* Occupies the descriptors 0 to 2 if the process was started without them, so that no file opened later becomes its
 * standard output or error. Reading or writing such a descriptor fails. */
static void hold_standard_files(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0) _exit(1);
}

uint64_t td_tool_began;

int main(int argc, char **argv)
{
    td_tool_began = td_clock_ns();
    hold_standard_files();
    setlocale(LC_CTYPE, "");
    catch_signals();
    /* Of what a command does outside of a session: its messages name the tool's options. */
    static td_account account = {.names = td_tool_names, .references = 1, .huge_pages = true};
    (void)td_account_enter(&account);
    td_status status = td_isa_check();
    if (status == TD_OK) status = run_word(argc, argv);
    if (status == TD_OK) status = flush_results();
    int exit_status = report(status, argc > 1 ? argv[1] : NULL);
    td_standard_input_close();
    return exit_status;
}
