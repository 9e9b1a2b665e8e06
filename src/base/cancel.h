/* Requests to stop, set by Ctrl-C or another thread and looked at between chunks: one for the process and one for every
 * account (account.h). A thread stops for the process's and for its own account's. Setting one is async-signal-safe. */
#ifndef TD_BASE_CANCEL_H
#define TD_BASE_CANCEL_H

#include "base/status.h"

struct td_account;
void td_cancel_account(struct td_account *account, bool on);
bool td_cancel_requested(void); /* td_cancel_request and td_cancel_clear are in tandem.h */
td_status td_cancel_check(void); /* TD_CANCELLED with a message, or TD_OK */

/* Between the two calls td_cancel_check of this account's threads returns TD_OK, even if a cancel was requested: for a
 * run that must reach a state to resume from, where it asks td_cancel_requested. */
void td_cancel_hold(void);
void td_cancel_release(void);

/* From here on the calling thread's checks find nothing: for a thread whose work is short and must be whole. */
void td_cancel_ignore(void);

#endif
