/* Building out of memory, inside: one build, which external.c fills with edges, and external_sort.c sorts and writes. */
#ifndef TD_STORE_EXTERNAL_BUILD_H
#define TD_STORE_EXTERNAL_BUILD_H

#include "base/account.h"
#include "store/external.h"
#include "store/external_ids.h"
#include "store/external_rows.h"
#include "store/spill.h"

#include <limits.h>
#include <stdatomic.h>

enum { TD_EXTERNAL_BATCH = 1 << 15 }; /* edges turned into keys at a time */
#define TD_EXTERNAL_STREAM_BYTES (UINT64_C(8) << 20) /* buffers for sections and pages */

typedef struct td_external_batch {
    uint64_t *keys;
    uint32_t *weights;
} td_external_batch;

typedef struct td_external {
    const td_external_settings *settings;
    td_edge_list *list;
    td_external_report *report;
    td_packed_out *out;
    char directory[PATH_MAX];
    uint64_t usable; /* limit on td_memory().now */
    int workers;
    pthread_mutex_t hold_lock; /* guards the chunks in memory, and is taken before the other */
    pthread_mutex_t lock; /* guards what follows */
    bool begun;
    td_status begin_status; /* how that went, for every worker that comes with a chunk */
    td_failure begin_failure;
    bool mirror, weighted;
    atomic_bool fraction, inexact, rounded;
    uint32_t vertices, bits;
    td_external_batch *batches; /* by worker */
    td_external_ids *ids; /* for a list whose vertices are not declared */
    td_spill *by_source, *by_target;
    td_external_rows out_rows, in_rows;
    uint64_t total; /* keys of the current sort */
    uint64_t last_key; /* the previous key, to drop duplicates */
    bool any;
    bool holding;         /* chunks are kept in memory; what follows is about them, guarded by hold_lock */
    td_edge_chunk *held;
    uint64_t held_count, held_room, held_edges, held_bytes, lowest, highest;
} td_external;

/* external.c: memory that is left; the bytes, or as many as the settings allow; buckets for keys; the workers' buffers. */
uint64_t td_external_left(const td_external *self);
uint64_t td_external_bounded(const td_external *self, uint64_t bytes);
td_status td_external_new_spill(td_external *self, uint64_t memory, const td_weight_table *codes, td_spill **out);
void td_external_free_batches(td_external *self);

/* external_sort.c, in this order: out-lists, which fill the buckets of the in-lists; in-lists; what follows the lists. */
td_status td_external_sort_out(td_external *self);
td_status td_external_sort_in(td_external *self);
td_status td_external_finish(td_external *self);

#endif
