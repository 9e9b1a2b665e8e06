/* A worker's buckets for priority scheduling: a window of consecutive priorities,
 * and one bucket for all priorities beyond it, which is distributed when the window
 * moves. An entry is a vertex and a tag of the value it had when it was added: the entry is
 * stale when the vertex has a better value. */
#ifndef TD_KERNELS_CPU_BUCKETS_H
#define TD_KERNELS_CPU_BUCKETS_H

#include "base/alloc.h"

#include <string.h>

enum { TD_BUCKET_WINDOW = 1024 };

typedef struct td_bucket {
    uint64_t *entries; /* vertex in the high half, td_bucket_tag of the value in the low half */
    uint64_t count, room;
} td_bucket;

typedef struct td_buckets {
    _Alignas(64) uint64_t base; /* priority of window[0] */
    td_bucket window[TD_BUCKET_WINDOW];
    td_bucket beyond;
    uint64_t lowest_beyond; /* the lowest priority in `beyond` */
    td_bucket current;      /* taken out of the window; all workers empty it */
    td_bucket own;          /* taken out of the window; this worker alone empties it (fusion) */
    td_bucket high_degree;  /* entries of high-degree vertices, whose edges all workers share */
} td_buckets;

/* The tag of a value: itself, or the two halves of one of 8 bytes folded. Values with the same tag are told apart no
 * more: a stale entry may then be processed with the vertex's present value, which is superfluous and does no harm. */
static inline uint32_t td_bucket_tag(uint64_t value, size_t bytes)
{
    return bytes > sizeof(uint32_t) ? (uint32_t)(value ^ value >> 32) : (uint32_t)value;
}

static inline td_status td_bucket_grow(td_bucket *bucket, uint64_t needed)
{
    uint64_t room = bucket->room * 2 > needed ? bucket->room * 2 : needed;
    if (room < 64) room = 64;
    TD_CHECK(TD_RESIZE(&bucket->entries, room, "buckets"));
    bucket->room = room;
    return TD_OK;
}

static inline td_status td_bucket_put(td_bucket *bucket, uint64_t entry)
{
    if (__builtin_expect(bucket->count == bucket->room, 0)) TD_CHECK(td_bucket_grow(bucket, bucket->count + 1));
    bucket->entries[bucket->count++] = entry;
    return TD_OK;
}

static inline td_status td_buckets_put(td_buckets *buckets, uint64_t priority, uint64_t entry)
{
    if (__builtin_expect(priority - buckets->base < TD_BUCKET_WINDOW, 1))
        return td_bucket_put(&buckets->window[priority - buckets->base], entry);
    if (priority < buckets->lowest_beyond) buckets->lowest_beyond = priority;
    return td_bucket_put(&buckets->beyond, entry);
}

/* The lowest priority at or above `from` with an entry; UINT64_MAX: none. */
static inline uint64_t td_buckets_lowest(const td_buckets *buckets, uint64_t from)
{
    for (uint64_t i = from - buckets->base; i < TD_BUCKET_WINDOW; i++)
        if (buckets->window[i].count > 0) return buckets->base + i;
    return buckets->beyond.count > 0 ? buckets->lowest_beyond : UINT64_MAX;
}

/* Takes a bucket out of the window and leaves an empty one in its place. */
static inline void td_bucket_take(td_bucket *bucket, td_bucket *out)
{
    td_bucket empty = *out;
    *out = *bucket;
    *bucket = empty;
    bucket->count = 0;
}

static inline void td_buckets_destroy(td_buckets *buckets)
{
    for (int i = 0; i < TD_BUCKET_WINDOW; i++) td_free(buckets->window[i].entries);
    td_free(buckets->beyond.entries);
    td_free(buckets->current.entries);
    td_free(buckets->own.entries);
    td_free(buckets->high_degree.entries);
}

#endif
