/* Shared by spill.c, which fills a spill, and spill_run.c, which empties it. */
#ifndef TD_STORE_SPILL_FILE_H
#define TD_STORE_SPILL_FILE_H

#include "base/tempfile.h"
#include "store/spill.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct td_segment {
    uint64_t offset; /* in the temporary file */
    uint32_t count;
    bool real;
} td_segment;

typedef struct td_spill_bucket {
    pthread_mutex_t lock;
    uint64_t count; /* in segments and buffer */
    uint64_t lowest, highest; /* keys without the base */
    uint32_t filled; /* records in the buffer */
    td_segment *segments;
    uint64_t segment_count, segment_room;
} td_spill_bucket;

/* A worker's batch of keys. */
typedef struct td_spill_batch {
    uint64_t *keys;
    uint32_t *weights;
    uint32_t *starts; /* by bucket */
} td_spill_batch;

struct td_spill {
    td_spill_shape shape;
    uint32_t shift;  /* key >> shift is the bucket */
    uint64_t buckets;
    uint32_t key_bytes, record_bytes, segment_records;
    uint64_t segment_bytes;
    char *buffers; /* segment_bytes for each bucket */
    td_spill_bucket *bucket;
    td_spill_batch *batches; /* by worker */
    int workers;
    td_tempfile *file; /* made when the first buffer is full */
    pthread_mutex_t file_lock;
    pthread_rwlock_t kind; /* read-locked by puts, write-locked while weights become floats */
    atomic_bool real, inexact;
};

static inline char *td_spill_buffer(const td_spill *spill, uint64_t bucket)
{
    return spill->buffers + bucket * spill->segment_bytes;
}

/* A record has as few bytes as the bucket's range allows: the low bytes of the key, then the
 * weight. Keys are copied 8 bytes at a time, so that a buffer needs slack after the last record. */
enum { TD_RECORD_SLACK = 8 };

static inline uint32_t td_weight_as_float(uint32_t weight, bool *inexact)
{
    float value = (float)weight;
    uint32_t bits;
    if ((double)value != (double)weight) *inexact = true;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
