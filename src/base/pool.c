#include "base/pool.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/machine.h"
#include "base/numa.h"
#include "base/pause.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 4000, MAX_THREADS = 1024 };

typedef struct worker {
    _Alignas(64) struct td_pool *pool;
    pthread_t thread;
    int index;
    td_status status;
    td_failure failure;
} worker;

struct td_pool {
    int threads, started;
    int spins; /* 0 when there are more workers than cores */
    worker *workers;
    td_worker_fn work;
    void *context;
    td_account *account; /* of the caller, for which the workers work */
    bool evicts;         /* likewise */
    bool stopping;
    _Alignas(64) _Atomic uint32_t job;   /* counts jobs; workers wait for it to change */
    _Alignas(64) _Atomic uint32_t busy;  /* workers not yet done with this job */
    _Alignas(64) _Atomic uint32_t sleeping;
};

static _Thread_local bool inside_job;

/* Waits until *word is no longer `old`, and returns what it became. Whoever is
 * about to sleep counts itself first and looks again, so that the other side,
 * which writes the word first and looks at the count then, need not make a
 * system call when nobody sleeps. */
static uint32_t wait_change(td_pool *pool, _Atomic uint32_t *word, uint32_t old)
{
    int spins = pool->spins;
    uint32_t now;
    for (int i = 0; i < spins; i++) {
        now = atomic_load_explicit(word, memory_order_acquire);
        if (now != old) return now;
        td_pause();
    }
    atomic_fetch_add(&pool->sleeping, 1);
    while ((now = atomic_load(word)) == old) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    atomic_fetch_sub(&pool->sleeping, 1);
    return now;
}

static void wake_all(td_pool *pool, _Atomic uint32_t *word)
{
    if (atomic_load(&pool->sleeping) > 0) syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void do_share(worker *self)
{
    td_pool *pool = self->pool;
    inside_job = true;
    self->status = pool->work(pool->context, self->index, pool->threads);
    inside_job = false;
    if (self->status != TD_OK) td_failure_keep(&self->failure);
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    td_pool *pool = self->pool;
    uint32_t seen = 0;
    td_numa_bind(td_numa_here(), self->index, pool->threads);
    for (;;) {
        seen = wait_change(pool, &pool->job, seen);
        if (pool->stopping) return NULL;
        td_account_stand_in(pool->account, pool->evicts);
        do_share(self);
        td_account_help(NULL);
        if (atomic_fetch_sub(&pool->busy, 1) == 1) wake_all(pool, &pool->busy);
    }
}

static void start_job(td_pool *pool)
{
    atomic_store_explicit(&pool->busy, (uint32_t)pool->started, memory_order_relaxed);
    atomic_fetch_add(&pool->job, 1);
    wake_all(pool, &pool->job);
}

td_status td_pool_create(td_pool **out, int threads)
{
    td_status status = TD_OK;
    td_pool *pool = NULL;
    int cores = td_machine_usable();
    if (threads <= 0) threads = cores;
    td_refusal most = {.resource = TD_RESOURCE_THREADS, .needed = (uint64_t)threads, .allowed = MAX_THREADS};
    if (threads > MAX_THREADS)
        return td_refuse_as(TD_LIMIT, &most, "%d threads requested, at most %d are supported", threads, MAX_THREADS);
    TD_CHECK(TD_NEW_ZEROED(&pool, 1, "thread pool"));
    pool->threads = threads;
    pool->spins = threads <= cores ? SPINS : 0;
    TD_TRY(TD_NEW_ZEROED(&pool->workers, (uint64_t)threads, "workers"));
    for (int i = 0; i < threads; i++) {
        worker *self = &pool->workers[i];
        self->pool = pool;
        self->index = i;
        if (i == 0) continue;
        int error = pthread_create(&self->thread, NULL, worker_main, self);
        if (error != 0) TD_TRY(td_refuse_thread(error, (uint64_t)threads, "cannot start thread %d of %d", i + 1, threads));
        pool->started++;
    }
    *out = pool;
    pool = NULL;
done:
    td_pool_destroy(pool);
    return status;
}

void td_pool_destroy(td_pool *pool)
{
    if (pool == NULL) return;
    pool->stopping = true;
    start_job(pool);
    for (int i = 1; i <= pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    td_free(pool->workers);
    td_free(pool);
}

int td_pool_threads(const td_pool *pool) { return pool == NULL || inside_job ? 1 : pool->threads; }

td_status td_pool_run(td_pool *pool, td_worker_fn work, void *context)
{
    if (pool == NULL || pool->threads == 1 || inside_job) return work(context, 0, 1);
    pool->work = work;
    pool->context = context;
    pool->account = td_account_current();
    pool->evicts = td_account_evicts();
    start_job(pool);
    do_share(&pool->workers[0]);
    uint32_t left;
    while ((left = atomic_load_explicit(&pool->busy, memory_order_acquire)) != 0)
        wait_change(pool, &pool->busy, left);
    for (int i = 0; i < pool->threads; i++) {
        if (pool->workers[i].status == TD_OK) continue;
        td_failure_set(&pool->workers[i].failure);
        return pool->workers[i].status;
    }
    return TD_OK;
}

typedef struct chunked {
    uint64_t count, grain;
    td_range_fn work;
    void *context;
    _Atomic uint64_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t failed_at;
    td_status status;
    td_failure failure;
} chunked;

static void record_failure(chunked *job, uint64_t begin, td_status status)
{
    pthread_mutex_lock(&job->lock);
    if (begin < job->failed_at) {
        job->failed_at = begin;
        job->status = status;
        td_failure_keep(&job->failure);
    }
    pthread_mutex_unlock(&job->lock);
    job->stop = true;
}

static td_status take_chunks(void *context, int worker, int workers)
{
    (void)workers;
    chunked *job = context;
    while (!job->stop) {
        uint64_t begin = atomic_fetch_add_explicit(&job->next, job->grain, memory_order_relaxed);
        if (begin >= job->count) break;
        uint64_t end = job->count - begin < job->grain ? job->count : begin + job->grain;
        td_status status = td_cancel_check();
        if (status == TD_OK) status = job->work(job->context, begin, end, worker);
        if (status != TD_OK) record_failure(job, begin, status);
    }
    return TD_OK;
}

/* The only chunk of a loop, on the caller: waking the workers would take many times as long as a small chunk. It is a
 * job all the same, so that loops started inside it run on this worker alone. */
static td_status do_only_chunk(uint64_t count, td_range_fn work, void *context)
{
    TD_CHECK(td_cancel_check());
    bool outer = inside_job;
    inside_job = true;
    td_status status = work(context, 0, count, 0);
    inside_job = outer;
    return status;
}

td_status td_pool_for(td_pool *pool, uint64_t count, uint64_t grain, td_range_fn work, void *context)
{
    if (count == 0) return TD_OK;
    if (grain == 0) grain = 1;
    if (grain >= count) return do_only_chunk(count, work, context); /* otherwise the counter passes `count` by less than
                                                                      * `count` for each worker: no wrapping */
    chunked job = {.count = count, .grain = grain, .work = work, .context = context,
                   .lock = PTHREAD_MUTEX_INITIALIZER, .failed_at = UINT64_MAX};
    TD_CHECK(td_pool_run(pool, take_chunks, &job));
    if (job.status != TD_OK) td_failure_set(&job.failure);
    return job.status;
}
