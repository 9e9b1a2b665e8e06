/* Pages about runs, as files. */
#ifndef TD_CLI_PAGE_FILE_H
#define TD_CLI_PAGE_FILE_H

#include "command.h"

enum { TD_PAGE_FILES = 16 }; /* reports on one page */

/* Reads reports and writes the page about them; "-": standard output. */
td_status td_page_write_files(const char *const *paths, int count, const char *target);

/* Writes the page about one report, whose text is given. */
td_status td_page_write_text(const char *name, const char *json, const char *target);

#endif
