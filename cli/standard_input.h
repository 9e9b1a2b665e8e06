/* A graph from standard input, named "-". Readers read a file more than once and from several threads, which a pipe
 * does not allow: a pipe is copied to an unnamed temporary file first. */
#ifndef TD_CLI_STANDARD_INPUT_H
#define TD_CLI_STANDARD_INPUT_H

#include "base/status.h"

/* If *path is "-", "/dev/stdin" or a process substitution (/dev/fd/63), replaces it by a path that can be read like any file. A copy is in `directory`;
 * NULL: in the folder of `output`, or of temporary files if that is NULL or not a file. */
td_status td_standard_input_take(const char **path, const char *directory, const char *output);

/* A path for messages: "standard input" for the path made here. */
const char *td_shown_path(const char *path);

/* Replaces the path made here by "standard input" in the last message. */
void td_standard_input_name(void);

void td_standard_input_close(void);

#endif
