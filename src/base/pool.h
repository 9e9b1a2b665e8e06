/* A persistent thread pool. The caller is worker 0; the others wait between
 * jobs, spinning briefly before they sleep, because an iteration over a small
 * frontier lasts microseconds. On machines with several memory nodes workers are
 * bound to one each (numa.h), all but the caller's own thread. One job runs at a time; a job started from
 * inside a job runs on the calling worker alone. Workers work for the account of the job's caller (account.h). */
#ifndef TD_BASE_POOL_H
#define TD_BASE_POOL_H

#include "base/status.h"

typedef struct td_pool td_pool;

/* threads <= 0: as many as this process may use. */
td_status td_pool_create(td_pool **out, int threads);
void td_pool_destroy(td_pool *pool);
int td_pool_threads(const td_pool *pool); /* NULL counts as one; inside a job: one */

/* Calls `work` once on every worker and waits for all. Returns the failure of
 * the lowest worker that failed, with its message. A NULL pool is one worker. */
typedef td_status (*td_worker_fn)(void *context, int worker, int workers);
td_status td_pool_run(td_pool *pool, td_worker_fn work, void *context);

/* Hands out [0, count) in chunks of `grain`, in ascending order, to whichever
 * worker is free. After a failure or a cancel no further chunk is handed out;
 * the failure returned is that of the lowest chunk that failed, whatever the
 * timing. A single chunk is processed by the caller, and no worker wakes. */
typedef td_status (*td_range_fn)(void *context, uint64_t begin, uint64_t end, int worker);
td_status td_pool_for(td_pool *pool, uint64_t count, uint64_t grain, td_range_fn work, void *context);

/* The same, with chunk boundaries that the caller's tables know: worker w of n
 * owns [td_share(count, w, n), td_share(count, w + 1, n)). */
static inline uint64_t td_share(uint64_t count, int worker, int workers)
{
    return (uint64_t)((unsigned __int128)count * (unsigned)worker / (unsigned)workers);
}

#endif
