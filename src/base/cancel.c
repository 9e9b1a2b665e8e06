#include "base/cancel.h"

#include <stdatomic.h>

static atomic_bool requested;
static atomic_int holds;
static _Thread_local bool ignores;

void td_cancel_request(void) { atomic_store_explicit(&requested, true, memory_order_relaxed); }
void td_cancel_clear(void) { atomic_store_explicit(&requested, false, memory_order_relaxed); }
bool td_cancel_requested(void) { return atomic_load_explicit(&requested, memory_order_relaxed); }

void td_cancel_hold(void) { atomic_fetch_add_explicit(&holds, 1, memory_order_relaxed); }
void td_cancel_release(void) { atomic_fetch_sub_explicit(&holds, 1, memory_order_relaxed); }

void td_cancel_ignore(void) { ignores = true; }

td_status td_cancel_check(void)
{
    if (ignores) return TD_OK;
    bool held = atomic_load_explicit(&holds, memory_order_relaxed) > 0;
    return td_cancel_requested() && !held ? td_fail(TD_CANCELLED, "interrupted") : TD_OK;
}
