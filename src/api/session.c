#include "api/session.h"

#include "base/alloc.h"
#include "base/isa.h"
#include "base/words.h"

#include <string.h>

enum { MOST_STRUCT_BYTES = 4096 }; /* beyond this a size was never set */

uint64_t td_memory_held(void) { return td_memory().now; }
uint64_t td_memory_peak(void) { return td_memory().peak; }

td_status td_need(const void *pointer, const char *what)
{
    return pointer != NULL ? TD_OK : td_fail(TD_INVALID, "%s is NULL", what);
}

td_status td_session_create(int threads, td_session **out)
{
    td_status status = TD_OK;
    td_session *session = NULL;
    td_words_of_library(); /* the tool opens no session */
    TD_CHECK(td_need(out, "the place for the session"));
    if (threads < 0)
        return td_fail(TD_INVALID, "%d threads asked for; allowed are 0 (as many as there are) and more", threads);
    TD_CHECK(td_isa_check());
    TD_CHECK(TD_NEW_ZEROED(&session, 1, "session"));
    atomic_flag_clear(&session->at_work);
    TD_TRY(td_pool_create(&session->pool, threads));
    *out = session;
    session = NULL;
done:
    td_free(session);
    return status;
}

void td_session_destroy(td_session *session)
{
    if (session == NULL) return;
    td_cache_release(&session->cache);
    td_pool_destroy(session->pool);
    td_free(session);
}

int td_session_threads(const td_session *session) { return session != NULL ? td_pool_threads(session->pool) : 0; }

td_status td_session_enter(td_session *session)
{
    TD_CHECK(td_need(session, "the session"));
    if (!atomic_flag_test_and_set(&session->at_work)) return TD_OK;
    return td_fail(TD_USAGE, "the session is at work: it takes one call at a time, and none from its callbacks");
}

void td_session_leave(td_session *session) { atomic_flag_clear(&session->at_work); }

td_status td_struct_size(const void *given, const char *name, size_t *size)
{
    memcpy(size, given, sizeof *size);
    if (*size >= sizeof *size && *size <= MOST_STRUCT_BYTES) return TD_OK;
    return td_fail(TD_INVALID, "%s.size is %zu; set it to sizeof(%s)", name, *size, name);
}

td_status td_struct_take(void *out, size_t bytes, const void *given, const char *name)
{
    size_t size;
    if (given == NULL) return TD_OK;
    TD_CHECK(td_struct_size(given, name, &size));
    for (size_t i = bytes; i < size; i++)
        if (((const char *)given)[i] != 0)
            return td_fail(TD_UNSUPPORTED,
                           "this %s is from a later version of Tandem and asks for something unknown here", name);
    memcpy(out, given, size < bytes ? size : bytes);
    return TD_OK;
}
