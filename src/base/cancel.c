#include "base/cancel.h"

#include "base/account.h"

static _Thread_local bool ignores;

static bool is_cancelled(td_account *account)
{
    return atomic_load_explicit(&account->cancelled, memory_order_relaxed);
}

void td_cancel_account(td_account *account, bool on)
{
    atomic_store_explicit(&account->cancelled, on, memory_order_relaxed);
}

void td_cancel_request(void) { td_cancel_account(td_account_process(), true); }
void td_cancel_clear(void) { td_cancel_account(td_account_process(), false); }
bool td_cancel_requested(void) { return is_cancelled(td_account_process()) || is_cancelled(td_account_current()); }

void td_cancel_hold(void) { atomic_fetch_add_explicit(&td_account_current()->holds, 1, memory_order_relaxed); }
void td_cancel_release(void) { atomic_fetch_sub_explicit(&td_account_current()->holds, 1, memory_order_relaxed); }

void td_cancel_ignore(void) { ignores = true; }

td_status td_cancel_check(void)
{
    if (ignores) return TD_OK;
    bool held = atomic_load_explicit(&td_account_current()->holds, memory_order_relaxed) > 0;
    return td_cancel_requested() && !held ? td_fail(TD_CANCELLED, "interrupted") : TD_OK;
}
