/* What the files of the API share: the session, and how they read and fill the structs of
 * callers. */
#ifndef TD_API_SESSION_H
#define TD_API_SESSION_H

#include "base/account.h"
#include "base/pool.h"
#include "base/names.h"
#include "device/warm.h"
#include "run/run.h"

#include <stdatomic.h>

struct td_session {
    td_pool *pool;
    td_account *account; /* for memory, cancelling and names in the messages of what it does */
    td_account *outer;   /* of the calling thread, during a call */
    td_warming warming; /* contexts of GPUs that a run will need */
    td_cache cache; /* GPUs and layouts on them, between runs */
    atomic_flag at_work;
};

extern const td_option_name td_api_names[]; /* names.c */

/* Every call that uses the workers stands between these two; td_session_enter
 * refuses a session that is NULL or at work. In between the calling thread works
 * for the session's account. */
td_status td_session_enter(td_session *session);
void td_session_leave(td_session *session);

/* The workers for building a graph of so many vertices and edges; NULL, the calling thread alone, where a build takes less
 * time than waking workers does, which is milliseconds on a busy machine. */
td_pool *td_session_builders(const td_session *session, uint64_t vertices, uint64_t edges);

/* Copies a caller's struct, whose first member is its size, over the defaults in
 * `out`: an older caller's is shorter, a newer one's may be longer if it asks for
 * nothing that is unknown here. `given` NULL leaves the defaults. */
td_status td_struct_take(void *out, size_t bytes, const void *given, const char *name);

/* Fills a caller's struct, whose first member says how much of it the caller knows, from `found`. */
td_status td_struct_give(void *out, const void *found, size_t bytes, const char *name);

/* TD_INVALID if a pointer that has to be there is NULL. */
td_status td_need(const void *pointer, const char *what);

/* TD_INVALID without a graph, TD_UNSUPPORTED for one whose targets were not verified (TD_PLACE_MAPPED). */
td_status td_need_graph(const td_graph *graph);
td_status td_need_run_graph(const td_graph *graph); /* for a run, which checks the lists that it reads */

#endif
