/* Slots: device memory for whole subgraphs.
 *
 * Scaph's priority queue with k levels (section 4.2): a subgraph that has arrived, or is in a slot when an iteration
 * begins, is on level 1 and drops a level whenever it has been processed. The next subgraph to process has the lowest
 * level. The one to evict has the highest level and, among those, was used last: a cyclic scan over more subgraphs than
 * slots then leaves most subgraphs in place. A slot can be reserved for one subgraph, which is never evicted. */
#ifndef TD_ENGINE_STREAM_SLOTS_H
#define TD_ENGINE_STREAM_SLOTS_H

#include "base/status.h"

#define TD_NO_SLOT UINT32_MAX
#define TD_NO_SUBGRAPH UINT32_MAX

typedef struct td_slot {
    void *targets, *weights; /* device memory */
    uint32_t subgraph;       /* number in `list`; TD_NO_SUBGRAPH: empty */
    uint32_t owner;          /* the subgraph it is reserved for; TD_NO_SUBGRAPH: any without a slot of its own */
    uint32_t level;
    bool busy;               /* a copy to it or a launch over it is in flight */
    uint64_t used;           /* time of the last use, as an increasing number */
    uint64_t asked;          /* when its copy or launch was queued, by the device's clock */
} td_slot;

typedef struct td_slots {
    td_slot *slots;
    uint32_t count;
    uint32_t *place;         /* slot of every subgraph, or TD_NO_SLOT */
    uint32_t *own;           /* reserved slot of every subgraph, or TD_NO_SLOT */
    uint32_t subgraphs;
    const void *list;        /* the list that the subgraphs are of */
    uint64_t uses, evictions;
} td_slots;

/* Makes slots that are not reserved; the caller may set owners before td_slots_serve. */
td_status td_slots_make(td_slots *slots, uint32_t count);
void td_slots_free(td_slots *slots);

/* Uses the slots for subgraphs of this list; subgraphs of another list are dropped. */
td_status td_slots_serve(td_slots *slots, const void *list, uint32_t subgraphs);

/* Begins an iteration: all subgraphs in slots are on level 1. */
void td_slots_begin(td_slots *slots);

/* Takes a slot for a subgraph that has none: its reserved slot, an empty one, or one whose subgraph is evicted;
 * TD_NO_SLOT if all are busy. It stays busy until td_slots_done. */
uint32_t td_slots_take(td_slots *slots, uint32_t subgraph);
void td_slots_use(td_slots *slots, uint32_t slot);
void td_slots_done(td_slots *slots, uint32_t slot); /* processed once more: drops a level */
void td_slots_forget(td_slots *slots, uint32_t slot); /* its contents are invalid */

/* The idle slot to reprocess: on the lowest level up to `most`; TD_NO_SLOT: none. */
uint32_t td_slots_next(const td_slots *slots, uint32_t most);

#endif
