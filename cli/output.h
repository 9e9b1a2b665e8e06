/* The output file of a command, checked before the work begins. */
#ifndef TD_CLI_OUTPUT_H
#define TD_CLI_OUTPUT_H

#include "base/json.h"
#include "command.h"

/* Refuses a missing -o, a format that cannot be written, a place that cannot be
 * written to, and a --json that would go to the same place. `format` may be NULL. */
td_status td_output_check(const td_common *common, const char *path, const char *format);

/* The same for a graph whose edges are to be striped over `directories`, which may be NULL. */
td_status td_output_check_temporary(const char *directory_or_null);
td_status td_output_check_stripes(const char *path, const char *format, const char *directories);

/* Refuses a place that cannot be written to. */
td_status td_place_check(const char *path);

/* TD_USAGE if both names lead to the same file. */
td_status td_output_spares(const char *input, const char *option, const char *output);

/* TD_USAGE unless `name` is NULL or a format's. */
td_status td_format_check(const char *name);

/* The written file as text, "g.tg: 184.0 MiB, checksum 0123456789abcdef", and as JSON keys. The checksum is that of
 * 'tandem info'; only packed graphs have one. */
enum { TD_WRITTEN_TEXT = 4200 };
char *td_written_text(char text[TD_WRITTEN_TEXT], const char *path);
void td_written_json(td_json *json, const char *path);

uint64_t td_graph_file_bytes(const char *path); /* with the stripes of a packed graph; 0 if there is no such file */

#endif
