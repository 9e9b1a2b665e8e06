/* The JSON report of a command, written once it has succeeded: whole or not at
 * all, to a file or to standard output. */
#ifndef TD_CLI_REPORT_H
#define TD_CLI_REPORT_H

#include "base/json.h"
#include "command.h"

typedef struct td_report {
    td_json json;
    const char *target;
    char *text; /* what was written so far */
    size_t bytes;
} td_report;

/* True if standard output is free for text: there is no report, or it goes to a file. */
bool td_report_leaves_stdout(const td_common *common);

/* Opens the report's one object, with the version, the command and the threads in it. */
td_status td_report_begin(td_report *report, const char *target, const char *command, int threads);

/* Ends the object and writes it. After a failure, call it with that status: it then
 * writes nothing and returns the status. */
td_status td_report_end(td_report *report, td_status status);

/* The same, but hands the text over, which the caller frees with free(), instead of writing it. */
td_status td_report_take(td_report *report, td_status status, char **text);

/* Whether two paths name one file, however they are written, and even if it does not exist yet. */
bool td_same_place(const char *a, const char *b);

/* Refuses a --json that would overwrite `path`, the file the command reads or writes. */
td_status td_report_check_target(const td_common *common, const char *path);

#endif
