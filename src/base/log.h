/* Diagnostics on stderr; results are not written here. The progress line is drawn on
 * a terminal only, at most ten times a second, and is erased before any other line.
 * All functions may be called from any thread. */
#ifndef TD_BASE_LOG_H
#define TD_BASE_LOG_H

#include "base/status.h"

/* td_log_set_level (TD_LOG_WARN at start) and td_log_set_sink are in tandem.h. Once
 * td_log_set_sink returns, the previous sink is not called any more. */
td_log_level td_log_get_level(void);

/* Edits every line before it is shown, e.g. to replace internal paths; NULL: none. */
typedef void (*td_log_editor)(char *text, size_t bytes);
void td_log_set_editor(td_log_editor editor);

void td_warn(const char *format, ...) TD_PRINTF(1, 2);  /* "tandem: warning: ..." */
void td_info(const char *format, ...) TD_PRINTF(1, 2);  /* "tandem: ..." */
void td_debug(const char *format, ...) TD_PRINTF(1, 2);

/* td_progress("reading, bytes", done, total): total 0 when unknown; `what` names the unit.
 * td_progress_end() erases the line. */
void td_progress(const char *what, uint64_t done, uint64_t total);
void td_progress_text(const char *format, ...) TD_PRINTF(1, 2);
void td_progress_end(void);
bool td_progress_visible(void);

#endif
