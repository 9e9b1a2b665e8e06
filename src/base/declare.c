#include "base/declare.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <string.h>

static td_status add_up(td_host_memory *memory, uint64_t count, uint64_t bytes, const char *what)
{
    uint64_t total, sum;
    if (__builtin_mul_overflow(count, bytes, &total) || __builtin_add_overflow(memory->bytes, total, &sum))
        return td_fail(TD_NO_MEMORY, "%s: %" PRIu64 " elements of %" PRIu64 " bytes are more than any memory holds",
                       what, count, bytes);
    td_host_hold(memory, total);
    return TD_OK;
}

/* What was not allocated is not held. */
static td_status put(td_host_memory *memory, void *slot, void *made, td_status status, uint64_t bytes)
{
    if (status == TD_OK) memcpy(slot, &made, sizeof made);
    else td_host_let_go(memory, bytes);
    return status;
}

td_status td_host_declare(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes, const char *what)
{
    void *made = NULL;
    TD_CHECK(add_up(memory, count, bytes, what));
    if (memory->measures) return TD_OK;
    td_status status = td_new_bytes(&made, count, bytes, what);
    return put(memory, slot, made, status, count * bytes);
}

td_status td_host_declare_zeroed(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes, const char *what)
{
    void *made = NULL;
    TD_CHECK(add_up(memory, count, bytes, what));
    if (memory->measures) return TD_OK;
    td_status status = td_new_zeroed_bytes(&made, count, bytes, what);
    return put(memory, slot, made, status, count * bytes);
}

td_status td_host_declare_pages(td_host_memory *memory, void *slot, uint64_t bytes, const char *what)
{
    void *made = NULL;
    TD_CHECK(add_up(memory, bytes, 1, what));
    if (memory->measures) return TD_OK;
    td_status status = td_new_pages(&made, bytes, what);
    return put(memory, slot, made, status, bytes);
}

void td_host_undeclare(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes)
{
    void *array;
    td_host_let_go(memory, count * bytes);
    if (memory->measures) return;
    memcpy(&array, slot, sizeof array);
    td_free(array);
    array = NULL;
    memcpy(slot, &array, sizeof array);
}
