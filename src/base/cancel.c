#include "base/cancel.h"

#include <stdatomic.h>

static atomic_bool requested;

void td_cancel_request(void) { atomic_store_explicit(&requested, true, memory_order_relaxed); }
void td_cancel_clear(void) { atomic_store_explicit(&requested, false, memory_order_relaxed); }
bool td_cancel_requested(void) { return atomic_load_explicit(&requested, memory_order_relaxed); }

td_status td_cancel_check(void)
{
    return td_cancel_requested() ? td_fail(TD_CANCELLED, "interrupted") : TD_OK;
}
