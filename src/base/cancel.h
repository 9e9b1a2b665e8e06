/* One process-wide request to stop, set by Ctrl-C or a progress callback and
 * looked at between chunks. Setting it is async-signal-safe. */
#ifndef TD_BASE_CANCEL_H
#define TD_BASE_CANCEL_H

#include "base/status.h"

void td_cancel_request(void);
void td_cancel_clear(void);
bool td_cancel_requested(void);
td_status td_cancel_check(void); /* TD_CANCELLED with a message, or TD_OK */

#endif
