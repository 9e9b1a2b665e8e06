/* One process-wide request to stop, set by Ctrl-C or a progress callback and
 * looked at between chunks. Setting it is async-signal-safe. */
#ifndef TD_BASE_CANCEL_H
#define TD_BASE_CANCEL_H

#include "base/status.h"

bool td_cancel_requested(void); /* td_cancel_request and td_cancel_clear are in tandem.h */
td_status td_cancel_check(void); /* TD_CANCELLED with a message, or TD_OK */

/* Between the two the check finds nothing, whatever was requested: for whoever has to reach a state that can be kept
 * and looks at td_cancel_requested there. */
void td_cancel_hold(void);
void td_cancel_release(void);

/* From here on the calling thread's checks find nothing: for a thread whose work is short and must be whole. */
void td_cancel_ignore(void);

#endif
