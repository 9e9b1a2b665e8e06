/* Divides [0, count) among workers: per-worker queues with stealing (CGgraph,
 * section 4.3). Every worker starts with an equal run of units and takes from its
 * head; an idle worker visits the others' runs clockwise. */
#ifndef TD_BASE_SHARE_H
#define TD_BASE_SHARE_H

#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum td_stealing {
    TD_STEAL_NONE,   /* every worker processes its own run */
    TD_STEAL_DONATE, /* a busy worker gives half of its remaining run to an idle one */
    TD_STEAL_VERTEX, /* an idle worker takes one grain from the tail of another's run */
    TD_STEAL_EDGE,   /* the same, and workers share the edges of high-degree vertices */
} td_stealing;

typedef struct td_run_of_units {
    _Alignas(64) _Atomic uint64_t bounds; /* begin in the high half, end in the low half */
    /* Since the creation: times that this worker took units of another's run, times that it was given some, units taken
     * while `counts_pieces`, ns that it waited for the others. */
    uint64_t steals, gifts, pieces, idle;
    uint64_t ended;       /* ns: when it found no more units */
} td_run_of_units;

typedef struct td_share_out {
    td_run_of_units *runs;
    int workers;
    td_stealing stealing;
    uint32_t grain;
    uint64_t first;       /* the first unit; added to every unit handed out */
    bool closed;          /* too little work for stealing */
    bool counts_pieces;   /* units are pieces of long lists */
    _Atomic int idle;
    pthread_mutex_t lock; /* guards the gift */
    uint64_t gift;        /* bounds of a donated run; empty: none */
} td_share_out;

td_status td_share_out_create(td_share_out *share, int workers, td_stealing stealing);
void td_share_out_destroy(td_share_out *share);

/* Divides `count` units (below 2^32), handed out `grain` at a time. The caller does it
 * before the workers start, so that the run of a worker that wakes late can be stolen. */
void td_share_out_deal(td_share_out *share, uint64_t count, uint32_t grain);

/* Gives all units to worker 0, which works alone. */
void td_share_out_deal_one(td_share_out *share, uint64_t count);

/* The next units for this worker; false when there are none for it. */
bool td_share_out_take(td_share_out *share, int worker, uint64_t *begin, uint64_t *end);

/* A worker has ended; all have: their idle time is counted. */
void td_share_out_end(td_share_out *share, int worker);
void td_share_out_close(td_share_out *share);

#endif
