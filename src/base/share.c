#include "base/share.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <sched.h>

static uint64_t pack(uint64_t begin, uint64_t end) { return begin << 32 | end; }
static uint64_t first(uint64_t bounds) { return bounds >> 32; }
static uint64_t last(uint64_t bounds) { return bounds & UINT32_MAX; }

td_status td_share_out_create(td_share_out *share, int workers, td_stealing stealing)
{
    share->workers = workers;
    share->stealing = stealing;
    share->grain = 1;
    pthread_mutex_init(&share->lock, NULL);
    return TD_NEW_ZEROED(&share->runs, (uint64_t)workers, "work queues");
}

void td_share_out_destroy(td_share_out *share)
{
    if (share->runs == NULL) return;
    pthread_mutex_destroy(&share->lock);
    td_free(share->runs);
    share->runs = NULL;
}

void td_share_out_deal(td_share_out *share, uint64_t count, uint32_t grain)
{
    share->grain = grain;
    share->closed = count <= (uint64_t)share->workers;
    share->idle = 0;
    share->gift = 0;
    for (int w = 0; w < share->workers; w++)
        atomic_store_explicit(&share->runs[w].bounds,
                              pack(td_share(count, w, share->workers), td_share(count, w + 1, share->workers)),
                              memory_order_relaxed);
}

void td_share_out_deal_one(td_share_out *share, uint64_t count)
{
    share->grain = UINT32_MAX;
    share->closed = true;
    share->idle = share->workers - 1;
    share->gift = 0;
    for (int w = 0; w < share->workers; w++)
        atomic_store_explicit(&share->runs[w].bounds, w == 0 ? pack(0, count) : 0, memory_order_relaxed);
}

static bool take_head(td_share_out *share, td_run_of_units *run, uint64_t *begin, uint64_t *end)
{
    uint64_t bounds = atomic_load_explicit(&run->bounds, memory_order_relaxed);
    while (first(bounds) < last(bounds)) {
        uint64_t stop = first(bounds) + share->grain < last(bounds) ? first(bounds) + share->grain : last(bounds);
        if (atomic_compare_exchange_weak_explicit(&run->bounds, &bounds, pack(stop, last(bounds)), memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *begin = first(bounds);
            *end = stop;
            return true;
        }
    }
    return false;
}

static bool take_tail(td_share_out *share, td_run_of_units *run, uint64_t *begin, uint64_t *end)
{
    uint64_t bounds = atomic_load_explicit(&run->bounds, memory_order_relaxed);
    while (first(bounds) < last(bounds)) {
        uint64_t left = last(bounds) - first(bounds);
        uint64_t start = left > share->grain ? last(bounds) - share->grain : first(bounds);
        if (atomic_compare_exchange_weak_explicit(&run->bounds, &bounds, pack(first(bounds), start),
                                                  memory_order_relaxed, memory_order_relaxed)) {
            *begin = start;
            *end = last(bounds);
            return true;
        }
    }
    return false;
}

static bool steal(td_share_out *share, int worker, uint64_t *begin, uint64_t *end)
{
    for (int i = 1; i < share->workers; i++)
        if (take_tail(share, &share->runs[(worker + i) % share->workers], begin, end)) {
            share->runs[worker].steals++;
            return true;
        }
    return false;
}

/* Donates the upper half of the worker's run if another worker is idle and no donation is pending. */
static void donate(td_share_out *share, td_run_of_units *run)
{
    pthread_mutex_lock(&share->lock);
    uint64_t bounds = run->bounds;
    if (first(share->gift) >= last(share->gift) && last(bounds) - first(bounds) >= 2 * (uint64_t)share->grain) {
        uint64_t middle = first(bounds) + (last(bounds) - first(bounds)) / 2;
        run->bounds = pack(first(bounds), middle);
        share->gift = pack(middle, last(bounds));
    }
    pthread_mutex_unlock(&share->lock);
}

static bool accept_gift(td_share_out *share, td_run_of_units *run)
{
    pthread_mutex_lock(&share->lock);
    uint64_t gift = share->gift;
    bool given = first(gift) < last(gift);
    if (given) {
        share->gift = 0;
        run->bounds = gift;
        run->gifts++;
    }
    pthread_mutex_unlock(&share->lock);
    return given;
}

/* An idle worker waits until it receives a donation or all workers are idle. */
static bool wait_for_gift(td_share_out *share, td_run_of_units *run)
{
    share->idle++;
    while (share->idle < share->workers) {
        if (accept_gift(share, run)) {
            share->idle--;
            return true;
        }
        sched_yield();
    }
    return accept_gift(share, run); /* the last worker to finish may have donated */
}

static bool take(td_share_out *share, int worker, uint64_t *begin, uint64_t *end)
{
    td_run_of_units *run = &share->runs[worker];
    if (share->stealing == TD_STEAL_DONATE) {
        if (atomic_load_explicit(&share->idle, memory_order_relaxed) > 0) donate(share, run);
        return take_head(share, run, begin, end) ||
               (wait_for_gift(share, run) && take_head(share, run, begin, end));
    }
    if (take_head(share, run, begin, end)) return true;
    return share->stealing >= TD_STEAL_VERTEX && !share->closed && steal(share, worker, begin, end);
}

bool td_share_out_take(td_share_out *share, int worker, uint64_t *begin, uint64_t *end)
{
    if (!take(share, worker, begin, end)) return false;
    if (share->counts_pieces) share->runs[worker].pieces += *end - *begin;
    *begin += share->first;
    *end += share->first;
    return true;
}

void td_share_out_end(td_share_out *share, int worker) { share->runs[worker].ended = td_clock_ns(); }

void td_share_out_close(td_share_out *share)
{
    uint64_t now = td_clock_ns();
    for (int w = 0; w < share->workers; w++) share->runs[w].idle += now - share->runs[w].ended;
}
