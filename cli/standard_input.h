/* A graph from standard input, named "-". Readers look at a file more than once and from several threads, which a pipe
 * does not allow: what comes from one is copied to a file without a name first, and read from there. */
#ifndef TD_CLI_STANDARD_INPUT_H
#define TD_CLI_STANDARD_INPUT_H

#include "base/status.h"

/* If *path is "-" or "/dev/stdin", it becomes one that can be read like any file. A copy lies in `directory`; NULL:
 * beside `output`, or where temporary files are if that is NULL or no file either. */
td_status td_standard_input_take(const char **path, const char *directory, const char *output);

/* A path as it is shown: the one that was made here is "standard input". */
const char *td_shown_path(const char *path);

/* Puts the same words for it into the last message. */
void td_standard_input_name(void);

void td_standard_input_close(void);

#endif
