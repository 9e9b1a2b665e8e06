/* Scattering records into many buckets with write combining.
 *
 * Each bucket has a buffer of one cache line, which is written when it is full, so
 * that the scatter writes 64 bytes at a time instead of missing the cache for each
 * record. A record is two vertex numbers and, in weighted
 * builds, a weight in a second array. Several writers fill disjoint parts of
 * the same buckets; a line shared at a boundary is written in part by each.
 */
#ifndef TD_STORE_SCATTER_H
#define TD_STORE_SCATTER_H

#include "base/alloc.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { TD_LINE = 8 }; /* records in 64 bytes */

/* `first` is the vertex the bucket goes by, `second` the other end. */
static inline uint64_t td_record(uint32_t first, uint32_t second) { return (uint64_t)first << 32 | second; }
static inline uint32_t td_record_first(uint64_t record) { return (uint32_t)(record >> 32); }
static inline uint32_t td_record_second(uint64_t record) { return (uint32_t)record; }

typedef struct td_bucket_line {
    uint64_t records[TD_LINE];
} td_bucket_line;

typedef struct td_scatter {
    uint64_t *records; /* the destination, all buckets */
    uint32_t *weights; /* or NULL */
    uint64_t *next;    /* per bucket: where its next record goes */
    uint64_t *start;   /* per bucket: where this writer's part begins */
    td_bucket_line *lines;
    uint32_t (*light)[TD_LINE]; /* the weights' lines */
} td_scatter;

static inline td_status td_scatter_create(td_scatter *scatter, uint64_t buckets, uint64_t *records, uint32_t *weights)
{
    *scatter = (td_scatter){.records = records, .weights = weights};
    TD_CHECK(TD_NEW(&scatter->next, buckets, "scatter cursors"));
    TD_CHECK(TD_NEW(&scatter->start, buckets, "scatter cursors"));
    TD_CHECK(TD_NEW(&scatter->lines, buckets, "scatter lines"));
    if (weights != NULL) TD_CHECK(TD_NEW(&scatter->light, buckets, "scatter lines"));
    return TD_OK;
}

static inline void td_scatter_destroy(td_scatter *scatter)
{
    td_free(scatter->next);
    td_free(scatter->start);
    td_free(scatter->lines);
    td_free(scatter->light);
}

static inline void td_scatter_begin(td_scatter *scatter, uint64_t bucket, uint64_t position)
{
    scatter->next[bucket] = scatter->start[bucket] = position;
}

/* Stores 64 bytes without caching them: they are not read again soon. */
static inline void td_store_line(void *to, const void *from)
{
#if defined(__SSE2__)
    for (int i = 0; i < 4; i++) _mm_stream_si128((__m128i *)to + i, _mm_load_si128((const __m128i *)from + i));
#else
    memcpy(to, from, 64);
#endif
}

/* Writes the records of the bucket's line below `end` (exclusive). */
static inline void td_scatter_flush(td_scatter *scatter, uint64_t bucket, uint64_t end)
{
    uint64_t line = (end - 1) & ~(uint64_t)(TD_LINE - 1);
    uint64_t begin = scatter->start[bucket] > line ? scatter->start[bucket] : line;
    if (begin == line && end == line + TD_LINE)
        td_store_line(scatter->records + line, &scatter->lines[bucket]);
    else
        memcpy(scatter->records + begin, &scatter->lines[bucket].records[begin - line],
               (end - begin) * sizeof(uint64_t));
    if (scatter->weights != NULL)
        memcpy(scatter->weights + begin, &scatter->light[bucket][begin - line], (end - begin) * sizeof(uint32_t));
}

static inline void td_scatter_put(td_scatter *scatter, uint64_t bucket, uint64_t record, uint32_t weight, bool weighted)
{
    uint64_t position = scatter->next[bucket]++, slot = position % TD_LINE;
    scatter->lines[bucket].records[slot] = record;
    if (weighted) scatter->light[bucket][slot] = weight;
    if (slot == TD_LINE - 1) td_scatter_flush(scatter, bucket, position + 1);
}

static inline void td_scatter_end(td_scatter *scatter, uint64_t buckets)
{
    for (uint64_t b = 0; b < buckets; b++)
        if (scatter->next[b] % TD_LINE != 0 && scatter->next[b] > scatter->start[b])
            td_scatter_flush(scatter, b, scatter->next[b]);
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
