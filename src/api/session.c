#include "api/session.h"

#include "base/mapping.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/isa.h"
#include "store/checks.h"

#include <string.h>

enum { MOST_STRUCT_BYTES = 8192 }; /* beyond this a size was never set */

uint64_t td_memory_held(void) { return td_account_memory(td_account_process()).now; }
uint64_t td_memory_peak(void) { return td_account_memory(td_account_process()).peak; }

void td_memory_restart_peak(void)
{
    td_account *process = td_account_process();
    process->peak = process->now;
}

td_status td_need(const void *pointer, const char *what)
{
    return pointer != NULL ? TD_OK : td_fail(TD_INVALID, "%s is NULL", what);
}

td_status td_need_graph(const td_graph *graph)
{
    TD_CHECK(td_need_run_graph(graph));
    return td_checks_lists(graph, true, NULL);
}

td_status td_need_run_graph(const td_graph *graph)
{
    TD_CHECK(td_need(graph, "the graph"));
    if (!graph->unverified) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "the edges of %s are mapped and were not verified; open it with TD_PLACE_MEMORY, or "
                   "with td_graph_options.check", graph->name);
}

/* A session is charged to its own account, like what it makes. */
static td_status open_session(td_account *account, int threads, td_session **out)
{
    td_session *session = NULL;
    TD_CHECK(TD_NEW_ZEROED(&session, 1, "session"));
    atomic_flag_clear(&session->at_work);
    session->account = account;
    td_status status = td_pool_create(&session->pool, threads);
    if (status != TD_OK) td_free(session);
    else *out = session;
    return status;
}

td_status td_session_create(int threads, td_session **out)
{
    return td_session_open(&(td_session_options){.size = sizeof(td_session_options), .threads = threads}, out);
}

td_status td_session_open(const td_session_options *given, td_session **out)
{
    td_account *account = NULL;
    td_session_options options = {.names = td_api_names};
    TD_CHECK(td_need(out, "the place for the session"));
    TD_CHECK(td_struct_take(&options, sizeof options, given, "td_session_options"));
    if (options.names == NULL) options.names = td_api_names;
    if (options.threads < 0)
        return td_fail(TD_INVALID, "%d threads requested; 0 (one per available processor) or more are allowed",
                       options.threads);
    TD_CHECK(td_isa_check());
    TD_CHECK(td_account_create(&account, options.names));
    td_account *before = td_account_enter(account);
    td_status status = open_session(account, options.threads, out);
    (void)td_account_enter(before);
    if (status != TD_OK) td_account_release(account);
    return status;
}

void td_session_destroy(td_session *session)
{
    if (session == NULL) return;
    td_account *account = session->account;
    td_devices_warmed(&session->warming);
    td_cache_release(&session->cache);
    td_pool_destroy(session->pool);
    td_free(session);
    td_account_release(account);
}

int td_session_threads(const td_session *session) { return session != NULL ? td_pool_threads(session->pool) : 0; }

td_status td_session_enter(td_session *session)
{
    TD_CHECK(td_need(session, "the session"));
    if (!atomic_flag_test_and_set(&session->at_work)) {
        session->outer = td_account_enter(session->account);
        td_mapping_forget();
        return TD_OK;
    }
    return td_fail(TD_USAGE, "the session is at work: it takes one call at a time, and none from its callbacks");
}

void td_session_leave(td_session *session)
{
    (void)td_account_enter(session->outer);
    atomic_flag_clear(&session->at_work);
}

td_pool *td_session_builders(const td_session *session, uint64_t vertices, uint64_t edges)
{
    enum { ALONE = 4096 };
    return vertices < ALONE && edges < ALONE ? NULL : session->pool;
}

td_status td_session_set_budget(td_session *session, uint64_t bytes)
{
    TD_CHECK(td_need(session, "the session"));
    session->account->budget = bytes;
    return TD_OK;
}

td_status td_session_memory(const td_session *session, uint64_t *now, uint64_t *peak)
{
    TD_CHECK(td_need(session, "the session"));
    td_memory_stats memory = td_account_memory(session->account);
    if (now != NULL) *now = memory.now;
    if (peak != NULL) *peak = memory.peak;
    return TD_OK;
}

void td_session_cancel(td_session *session)
{
    if (session != NULL) td_cancel_account(session->account, true);
}

void td_session_cancel_clear(td_session *session)
{
    if (session != NULL) td_cancel_account(session->account, false);
}

static td_status read_size(const void *given, const char *name, size_t *size)
{
    memcpy(size, given, sizeof *size);
    if (*size >= sizeof *size && *size <= MOST_STRUCT_BYTES) return TD_OK;
    return td_fail(TD_INVALID, "%s.size is %zu; set it to sizeof(%s)", name, *size, name);
}

td_status td_struct_give(void *out, const void *found, size_t bytes, const char *name)
{
    size_t size;
    TD_CHECK(td_need(out, name));
    TD_CHECK(read_size(out, name, &size));
    size_t more = size < bytes ? size : bytes;
    memcpy((char *)out + sizeof size, (const char *)found + sizeof size, more - sizeof size);
    return TD_OK;
}

td_status td_struct_take(void *out, size_t bytes, const void *given, const char *name)
{
    size_t size;
    if (given == NULL) return TD_OK;
    TD_CHECK(read_size(given, name, &size));
    for (size_t i = bytes; i < size; i++)
        if (((const char *)given)[i] != 0)
            return td_fail(TD_UNSUPPORTED,
                           "this %s is from a later version of Tandem and asks for something unknown here", name);
    memcpy(out, given, size < bytes ? size : bytes);
    return TD_OK;
}
