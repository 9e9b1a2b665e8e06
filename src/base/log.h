/* Diagnostics for people, on stderr; results never pass here. The progress line
 * is drawn on a terminal only, ten times a second at most, and is wiped before
 * any other line. All of it may be called from any thread. */
#ifndef TD_BASE_LOG_H
#define TD_BASE_LOG_H

#include "base/status.h"

typedef enum td_log_level { TD_LOG_QUIET, TD_LOG_WARN, TD_LOG_INFO, TD_LOG_DEBUG } td_log_level;

void td_log_set_level(td_log_level level); /* TD_LOG_INFO at start */
td_log_level td_log_get_level(void);
void td_warn(const char *format, ...) TD_PRINTF(1, 2);  /* "tandem: warning: ..." */
void td_info(const char *format, ...) TD_PRINTF(1, 2);  /* "tandem: ..." */
void td_debug(const char *format, ...) TD_PRINTF(1, 2);

/* A hook instead of stderr, for the library's users; NULL restores stderr. It is
 * called by one thread at a time and must not log itself; once this returns, the
 * hook that stood before is called no more. */
typedef void (*td_log_sink)(void *context, td_log_level level, const char *line);
void td_log_set_sink(td_log_sink sink, void *context);

/* td_progress("reading", done, total): total 0 when unknown. Values are in
 * whatever the words say. td_progress_end() wipes the line. */
void td_progress(const char *what, uint64_t done, uint64_t total);
void td_progress_text(const char *format, ...) TD_PRINTF(1, 2);
void td_progress_end(void);
bool td_progress_visible(void);

#endif
