/* Names of files that belong together (x.graph, x.properties, x.offsets). */
#ifndef TD_STORE_PATHS_H
#define TD_STORE_PATHS_H

#include "base/status.h"

/* A new string, freed by td_free. */
td_status td_path_print(char **out, const char *format, ...) TD_PRINTF(2, 3);

bool td_path_exists(const char *path); /* as a regular file */

/* The length of `path` without the first of these suffixes that it ends with,
 * or of all of it. The list ends with NULL; suffixes carry their dots. */
int td_path_stem(const char *path, const char *const *suffixes);

/* The length of the folder part with its slash, 0 if there is none. */
int td_path_folder(const char *path);

#endif
