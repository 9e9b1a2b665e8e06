#include "device/cpu/rates.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/machine.h"
#include "base/random.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define STREAM_BYTES (128 * MIB) /* larger than every cache */
#define MOST_READS (UINT64_C(1) << 22)
enum { PASSES = 5 };

static const uint64_t ranges[TD_GATHER_RANGES] = {32 * MIB, 128 * MIB, 1024 * MIB};

typedef struct arrays {
    uint64_t *from, *to; /* `words` each */
    uint32_t *indices;   /* below 2 * words: 4-byte values */
    uint64_t words, reads;
    uint64_t sink;       /* receives the values read, so that reads are not optimised away */
} arrays;

/* Each worker touches its share first, so that its pages are on its NUMA node. */
static td_status fill(void *context, int worker, int workers)
{
    arrays *a = context;
    uint64_t begin = td_share(a->words, worker, workers), end = td_share(a->words, worker + 1, workers);
    for (uint64_t i = begin; i < end; i++) a->from[i] = i;
    if (a->to != NULL) memset(a->to + begin, 0, (end - begin) * sizeof *a->to);
    if (a->indices == NULL) return TD_OK;
    end = td_share(a->reads, worker + 1, workers);
    for (uint64_t i = td_share(a->reads, worker, workers); i < end; i++)
        a->indices[i] = (uint32_t)td_random_below(td_random_at(1, i), 2 * a->words);
    return TD_OK;
}

static td_status copy(void *context, int worker, int workers)
{
    arrays *a = context;
    uint64_t begin = td_share(a->words, worker, workers), end = td_share(a->words, worker + 1, workers);
    memcpy(a->to + begin, a->from + begin, (end - begin) * sizeof *a->to);
    return TD_OK;
}

static td_status read_all(void *context, int worker, int workers)
{
    arrays *a = context;
    uint64_t sums[8] = {0}, end = td_share(a->words, worker + 1, workers), i = td_share(a->words, worker, workers);
    for (; i + 8 <= end; i += 8)
        for (int k = 0; k < 8; k++) sums[k] += a->from[i + (uint64_t)k];
    for (int k = 0; k < 8; k++) __atomic_fetch_add(&a->sink, sums[k], __ATOMIC_RELAXED);
    return TD_OK;
}

static td_status gather(void *context, int worker, int workers)
{
    arrays *a = context;
    const uint32_t *values = (const uint32_t *)(const void *)a->from;
    uint64_t sum = 0, end = td_share(a->reads, worker + 1, workers);
    for (uint64_t i = td_share(a->reads, worker, workers); i < end; i++) {
        uint32_t value;
        memcpy(&value, &values[a->indices[i]], sizeof value);
        sum += value;
    }
    __atomic_fetch_add(&a->sink, sum, __ATOMIC_RELAXED);
    return TD_OK;
}

/* The shortest of several passes, in seconds. */
static td_status time_best(td_pool *pool, td_worker_fn work, arrays *a, double *seconds)
{
    *seconds = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        TD_CHECK(td_cancel_check());
        uint64_t start = td_clock_ns();
        TD_CHECK(td_pool_run(pool, work, a));
        double took = td_seconds_since(start);
        if (pass == 0 || took < *seconds) *seconds = took;
    }
    return TD_OK;
}

static void release(arrays *a)
{
    td_free(a->from);
    td_free(a->to);
    td_free(a->indices);
}

static td_status measure_streams(td_pool *pool, uint64_t bytes, td_cpu_rates *out)
{
    td_status status = TD_OK;
    arrays a = {.words = bytes / sizeof *a.from};
    double seconds;
    TD_TRY(TD_NEW(&a.from, a.words, "memory to measure"));
    TD_TRY(TD_NEW(&a.to, a.words, "memory to measure"));
    TD_TRY(td_pool_run(pool, fill, &a));
    TD_TRY(time_best(pool, copy, &a, &seconds));
    out->copy = 2 * (double)bytes / seconds;
    TD_TRY(time_best(pool, read_all, &a, &seconds));
    out->read = (double)bytes / seconds;
done:
    release(&a);
    return status;
}

static td_status measure_gather(td_pool *pool, uint64_t range, bool huge, double *rate)
{
    td_status status = TD_OK;
    arrays a = {.words = range / sizeof *a.from, .reads = range / 64 < MOST_READS ? range / 64 : MOST_READS};
    double seconds;
    bool before = td_huge_pages_on();
    td_huge_pages(huge);
    TD_TRY(TD_NEW(&a.from, a.words, "memory to measure"));
    TD_TRY(TD_NEW(&a.indices, a.reads, "memory to measure"));
    TD_TRY(td_pool_run(pool, fill, &a));
    TD_TRY(time_best(pool, gather, &a, &seconds));
    *rate = (double)a.reads / seconds;
done:
    td_huge_pages(before);
    release(&a);
    return status;
}

td_status td_cpu_measure(td_pool *pool, uint64_t largest, td_cpu_rates *out)
{
    uint64_t available = td_machine_memory_free();
    if (largest > available / 4) largest = available / 4;
    *out = (td_cpu_rates){.threads = td_pool_threads(pool)};
    TD_CHECK(measure_streams(pool, largest < STREAM_BYTES ? largest : STREAM_BYTES, out));
    for (int i = 0; i < TD_GATHER_RANGES && ranges[i] <= largest; i++) {
        td_gather_rate *rate = &out->gather[out->gather_count++];
        rate->range = ranges[i];
        TD_CHECK(measure_gather(pool, ranges[i], false, &rate->small_pages));
        TD_CHECK(measure_gather(pool, ranges[i], true, &rate->huge_pages));
    }
    return TD_OK;
}
