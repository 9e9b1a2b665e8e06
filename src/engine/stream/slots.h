/* Slots: device memory for whole subgraphs, and which of them is where.
 *
 * Scaph's queue of k levels (section 4.2): a subgraph that has arrived, or is still there when an iteration begins, is
 * on level 1; every time it has been processed it drops a level. What is processed next is on the smallest level, what
 * makes way on the largest, and there the one used last, so that going round and round over more subgraphs than there
 * are slots leaves most of them where they are. A slot may also be for one subgraph alone: then that is there to
 * stay. */
#ifndef TD_ENGINE_STREAM_SLOTS_H
#define TD_ENGINE_STREAM_SLOTS_H

#include "base/status.h"

#define TD_NO_SLOT UINT32_MAX
#define TD_NO_SUBGRAPH UINT32_MAX

typedef struct td_slot {
    void *targets, *weights; /* device memory */
    uint32_t subgraph;       /* of the list below; TD_NO_SUBGRAPH: empty */
    uint32_t owner;          /* the one that it is for; TD_NO_SUBGRAPH: any that has no slot of its own */
    uint32_t level;
    bool busy;               /* being copied to or gone over */
    uint64_t used;           /* when last, as a number that grows */
    uint64_t asked;          /* when what it is busy with was queued, by the device's clock */
} td_slot;

typedef struct td_slots {
    td_slot *slots;
    uint32_t count;
    uint32_t *place;         /* of every subgraph: the slot that it is in, or TD_NO_SLOT */
    uint32_t *own;           /* of every subgraph: the slot that is its own, or TD_NO_SLOT */
    uint32_t subgraphs;
    const void *list;        /* whose subgraphs they are */
    uint64_t uses, evictions;
} td_slots;

/* All of them for any subgraph; who makes them may name owners before they serve. */
td_status td_slots_make(td_slots *slots, uint32_t count);
void td_slots_free(td_slots *slots);

/* From now on they hold subgraphs of this list; what they held of another is forgotten. */
td_status td_slots_serve(td_slots *slots, const void *list, uint32_t subgraphs);

/* An iteration begins: whatever is there is on level 1. */
void td_slots_begin(td_slots *slots);

/* A slot for a subgraph that is not there: its own, an empty one, or the one that makes way; TD_NO_SLOT where all are
 * busy. It is busy until td_slots_done. */
uint32_t td_slots_take(td_slots *slots, uint32_t subgraph);
void td_slots_use(td_slots *slots, uint32_t slot);
void td_slots_done(td_slots *slots, uint32_t slot); /* processed once more: it drops a level */
void td_slots_forget(td_slots *slots, uint32_t slot); /* what it holds is not what it should be */

/* The slot to go over again: idle, on the smallest level up to `most`; TD_NO_SLOT: none. */
uint32_t td_slots_next(const td_slots *slots, uint32_t most);

#endif
