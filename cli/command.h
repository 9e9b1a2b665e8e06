/* A command of the tool: a table entry that main and help read.
 *
 * A command's settings struct begins with td_common, which every command has;
 * the rest is its own. main parses the command line into it and calls `run`.
 */
#ifndef TD_CLI_COMMAND_H
#define TD_CLI_COMMAND_H

#include "args.h"

#include <stddef.h>

typedef struct td_common {
    uint64_t threads; /* 0: one per available processor */
    union {
        td_arg_memory memory_given;
        uint64_t memory; /* its bytes: the budget; 0: nine tenths of the free memory */
    };
    const char *json; /* a file, "-" for standard output, NULL: no JSON */
    bool quiet, verbose, help;
} td_common;

extern const td_arg_option td_common_options[];

typedef struct td_command {
    const char *name;
    const char *summary;    /* one line */
    const char *positional; /* "IN", "KIND|NAME", ... */
    const char *details;    /* paragraphs for the help, or NULL */
    const char *examples;   /* command lines, one per line, or NULL */
    const td_arg_option *options; /* its own options */
    const td_arg_option *shared;  /* td_build_settings_options, or NULL */
    int least, most;        /* number of positional arguments */
    size_t settings_bytes;
    const void *defaults;   /* the settings before parsing, or NULL: all zero */
    td_status (*run)(const td_args *args, void *settings);
    bool (*help_topic)(const char *word); /* a page for --help WORD; false if there is none; or NULL */
} td_command;

extern const td_command td_cmd_gen, td_cmd_convert, td_cmd_reorder, td_cmd_prepare, td_cmd_info, td_cmd_run,
    td_cmd_plan, td_cmd_report, td_cmd_devices, td_cmd_calibrate, td_cmd_bench, td_cmd_help;

extern const td_command *const td_commands[]; /* ends with NULL */
const td_command *td_command_named(const char *name);
const char *td_command_name(const void *unused, int index); /* a td_candidate_fn */
td_arg_spec td_command_spec(const td_command *command);

void td_help_command(const td_command *command);
void td_help_overview(void);

/* Opens a session with the threads of --threads, whose messages name the tool's options. */
extern uint64_t td_tool_began; /* when the tool started, by td_clock_ns */

td_status td_common_session(const td_common *common, td_session **out);

#endif
