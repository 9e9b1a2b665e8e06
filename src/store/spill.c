/* Filling: a worker first sorts its batch by bucket, inside the cache, then appends
 * each bucket's part to the bucket's buffer, under the bucket's lock. */
#include "store/spill.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "store/spill_file.h"

enum { BATCH = 1 << 16, MOST_BUCKETS = 1024, LEAST_BUCKETS = 16 };
#define SEGMENT (UINT64_C(256) << 10) /* minimum of bytes per read and write, if memory allows */

/* Chooses as many buckets as can have buffers of SEGMENT bytes; then divides the memory among the buffers. */
static void choose_buckets(td_spill *spill)
{
    const td_spill_shape *shape = &spill->shape;
    uint64_t most = MOST_BUCKETS;
    while (most > LEAST_BUCKETS && most * SEGMENT > shape->memory) most /= 2;
    uint32_t bits = 0;
    while (UINT64_C(1) << bits < most) bits++;
    if (bits > shape->key_bits) bits = shape->key_bits;
    spill->shift = shape->key_bits - bits;
    spill->buckets = UINT64_C(1) << bits;
    spill->key_bytes = shape->open ? 8 : (spill->shift + 7) / 8;
    spill->record_bytes = spill->key_bytes + (shape->weighted ? 4 : 0);
    spill->segment_bytes = shape->memory / spill->buckets / 4096 * 4096;
    if (spill->segment_bytes > 4 * SEGMENT) spill->segment_bytes = 4 * SEGMENT;
    if (spill->segment_bytes < 4096) spill->segment_bytes = 4096;
    uint64_t records = (spill->segment_bytes - TD_RECORD_SLACK) / (spill->record_bytes > 0 ? spill->record_bytes : 1);
    spill->segment_records = (uint32_t)records;
}

static td_status make_batches(td_spill *spill)
{
    TD_CHECK(TD_NEW_ZEROED(&spill->batches, (uint64_t)spill->workers, "batches"));
    for (int i = 0; i < spill->workers; i++) {
        TD_CHECK(TD_NEW(&spill->batches[i].keys, BATCH, "batch of keys"));
        if (spill->shape.weighted) TD_CHECK(TD_NEW(&spill->batches[i].weights, BATCH, "batch of weights"));
        TD_CHECK(TD_NEW(&spill->batches[i].starts, spill->buckets + 1, "batch"));
    }
    return TD_OK;
}

static void free_batches(td_spill *spill)
{
    for (int i = 0; spill->batches != NULL && i < spill->workers; i++) {
        td_free(spill->batches[i].keys);
        td_free(spill->batches[i].weights);
        td_free(spill->batches[i].starts);
    }
    td_free(spill->batches);
    spill->batches = NULL;
}

td_status td_spill_create(td_spill **out, const td_spill_shape *shape)
{
    td_status status = TD_OK;
    td_spill *spill = NULL;
    TD_CHECK(TD_NEW_ZEROED(&spill, 1, "spill"));
    spill->shape = *shape;
    spill->workers = shape->workers;
    pthread_mutex_init(&spill->file_lock, NULL);
    pthread_rwlock_init(&spill->kind, NULL);
    choose_buckets(spill);
    TD_TRY(TD_NEW_ZEROED(&spill->bucket, spill->buckets, "buckets"));
    for (uint64_t b = 0; b < spill->buckets; b++) {
        pthread_mutex_init(&spill->bucket[b].lock, NULL);
        spill->bucket[b].lowest = UINT64_MAX;
    }
    void *buffers = NULL;
    TD_TRY(td_new_pages(&buffers, spill->buckets * spill->segment_bytes, "buffers of buckets"));
    spill->buffers = buffers;
    TD_TRY(make_batches(spill));
    *out = spill;
    spill = NULL;
done:
    td_spill_destroy(spill);
    return status;
}

void td_spill_destroy(td_spill *spill)
{
    if (spill == NULL) return;
    for (uint64_t b = 0; spill->bucket != NULL && b < spill->buckets; b++) {
        pthread_mutex_destroy(&spill->bucket[b].lock);
        td_free(spill->bucket[b].segments);
    }
    free_batches(spill);
    td_free(spill->bucket);
    td_free(spill->buffers);
    td_tempfile_close(spill->file);
    pthread_mutex_destroy(&spill->file_lock);
    pthread_rwlock_destroy(&spill->kind);
    td_free(spill);
}

static td_status need_file(td_spill *spill)
{
    pthread_mutex_lock(&spill->file_lock);
    td_status status = spill->file != NULL ? TD_OK : td_tempfile_create(&spill->file, spill->shape.directory);
    pthread_mutex_unlock(&spill->file_lock);
    return status;
}

/* The bucket's lock is held. */
static td_status flush(td_spill *spill, uint64_t number)
{
    td_spill_bucket *bucket = &spill->bucket[number];
    if (bucket->filled == 0) return TD_OK;
    if (bucket->segment_count == bucket->segment_room) {
        uint64_t room = 2 * bucket->segment_room + 16;
        TD_CHECK(TD_RESIZE(&bucket->segments, room, "segments of a bucket"));
        bucket->segment_room = room;
    }
    TD_CHECK(td_cancel_check());
    TD_CHECK(need_file(spill));
    td_segment segment = {.count = bucket->filled, .real = spill->real};
    TD_CHECK(td_tempfile_append(spill->file, td_spill_buffer(spill, number),
                                (uint64_t)bucket->filled * spill->record_bytes, &segment.offset));
    bucket->segments[bucket->segment_count++] = segment;
    bucket->filled = 0;
    return TD_OK;
}

static td_status flush_all(td_spill *spill)
{
    for (uint64_t b = 0; b < spill->buckets; b++) TD_CHECK(flush(spill, b));
    return TD_OK;
}

/* The step as a constant, so that the copy is a handful of moves. */
static inline void pack(char *to, const uint64_t *keys, const uint32_t *weights, uint32_t count, uint32_t key_bytes,
                        uint32_t record_bytes)
{
    for (uint32_t i = 0; i < count; i++, to += record_bytes) {
        memcpy(to, &keys[i], sizeof *keys);
        if (weights != NULL) memcpy(to + key_bytes, &weights[i], sizeof *weights);
    }
}

static td_status append(td_spill *spill, uint64_t number, const uint64_t *keys, const uint32_t *weights,
                        uint64_t count)
{
    td_spill_bucket *bucket = &spill->bucket[number];
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t i = 0; i < count; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    td_status status = TD_OK;
    pthread_mutex_lock(&bucket->lock);
    if (low < bucket->lowest) bucket->lowest = low;
    if (high > bucket->highest) bucket->highest = high;
    while (count > 0) {
        uint32_t room = spill->segment_records - bucket->filled, now = count < room ? (uint32_t)count : room;
        char *to = td_spill_buffer(spill, number) + (uint64_t)bucket->filled * spill->record_bytes;
        pack(to, keys, weights, now, spill->key_bytes, spill->record_bytes);
        bucket->filled += now;
        bucket->count += now;
        keys += now;
        if (weights != NULL) weights += now;
        count -= now;
        if (bucket->filled == spill->segment_records) TD_TRY(flush(spill, number));
    }
done:
    pthread_mutex_unlock(&bucket->lock);
    return status;
}

static inline uint64_t bucket_of(const td_spill *spill, uint64_t key)
{
    uint64_t bucket = spill->shift < 64 ? key >> spill->shift : 0;
    return bucket < spill->buckets ? bucket : spill->buckets - 1;
}

static td_status put_batch(td_spill *spill, const uint64_t *keys, const uint32_t *weights, uint64_t count,
                           bool make_float, int worker)
{
    td_spill_batch *batch = &spill->batches[worker];
    uint64_t base = spill->shape.base;
    bool inexact = false;
    memset(batch->starts, 0, (spill->buckets + 1) * sizeof *batch->starts);
    for (uint64_t i = 0; i < count; i++) batch->starts[bucket_of(spill, keys[i] - base) + 1]++;
    for (uint64_t b = 0; b < spill->buckets; b++) batch->starts[b + 1] += batch->starts[b];
    for (uint64_t i = 0; i < count; i++) {
        uint32_t at = batch->starts[bucket_of(spill, keys[i] - base)]++;
        batch->keys[at] = keys[i] - base;
        if (weights != NULL) batch->weights[at] = make_float ? td_weight_as_float(weights[i], &inexact) : weights[i];
    }
    if (inexact) spill->inexact = true;
    for (uint64_t b = 0, begin = 0; b < spill->buckets; begin = batch->starts[b++]) {
        uint64_t end = batch->starts[b]; /* moved on to where the next bucket starts */
        if (end > begin)
            TD_CHECK(append(spill, b, batch->keys + begin, weights != NULL ? batch->weights + begin : NULL,
                            end - begin));
    }
    return TD_OK;
}

/* Flushes buffered integer weights, which must not be mixed with floats. */
static td_status turn_real(td_spill *spill)
{
    td_status status = TD_OK;
    pthread_rwlock_wrlock(&spill->kind);
    if (!spill->real) status = flush_all(spill);
    spill->real = true;
    pthread_rwlock_unlock(&spill->kind);
    return status;
}

td_status td_spill_put(td_spill *spill, const uint64_t *keys, const uint32_t *weights, uint64_t count, bool real,
                        int worker)
{
    td_status status = TD_OK;
    if (real && weights != NULL && !spill->real) TD_CHECK(turn_real(spill));
    pthread_rwlock_rdlock(&spill->kind);
    for (uint64_t at = 0; at < count && status == TD_OK; at += BATCH)
        status = put_batch(spill, keys + at, weights != NULL ? weights + at : NULL,
                           count - at < BATCH ? count - at : BATCH, spill->real && !real, worker);
    pthread_rwlock_unlock(&spill->kind);
    return status;
}

td_status td_spill_finish(td_spill *spill)
{
    free_batches(spill);
    if (spill->file == NULL) return TD_OK;
    TD_CHECK(flush_all(spill));
    td_free(spill->buffers);
    spill->buffers = NULL;
    return TD_OK;
}

uint64_t td_spill_count(const td_spill *spill)
{
    uint64_t count = 0;
    for (uint64_t b = 0; b < spill->buckets; b++) count += spill->bucket[b].count;
    return count;
}

void td_spill_range(const td_spill *spill, uint64_t *lowest, uint64_t *highest)
{
    *lowest = UINT64_MAX;
    *highest = 0;
    for (uint64_t b = 0; b < spill->buckets; b++) {
        const td_spill_bucket *bucket = &spill->bucket[b];
        if (bucket->count == 0) continue;
        if (bucket->lowest + spill->shape.base < *lowest) *lowest = bucket->lowest + spill->shape.base;
        if (bucket->highest + spill->shape.base > *highest) *highest = bucket->highest + spill->shape.base;
    }
}

bool td_spill_real(const td_spill *spill) { return spill->real; }
bool td_spill_inexact(const td_spill *spill) { return spill->inexact; }

uint64_t td_spill_spilled(const td_spill *spill)
{
    return spill->file != NULL ? td_tempfile_bytes(spill->file) : 0;
}
