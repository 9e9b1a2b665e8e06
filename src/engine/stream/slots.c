#include "engine/stream/slots.h"

#include "base/alloc.h"

td_status td_slots_make(td_slots *slots, uint32_t count)
{
    *slots = (td_slots){0};
    TD_CHECK(TD_NEW_ZEROED(&slots->slots, count, "slots for subgraphs"));
    slots->count = count;
    for (uint32_t i = 0; i < count; i++) slots->slots[i].subgraph = slots->slots[i].owner = TD_NO_SUBGRAPH;
    return TD_OK;
}

void td_slots_free(td_slots *slots)
{
    td_free(slots->slots);
    td_free(slots->place);
    td_free(slots->own);
    *slots = (td_slots){0};
}

td_status td_slots_serve(td_slots *slots, const void *list, uint32_t subgraphs)
{
    if (slots->list == list && slots->subgraphs == subgraphs) return TD_OK;
    slots->list = NULL;
    TD_CHECK(TD_RESIZE(&slots->place, subgraphs, "places of subgraphs"));
    TD_CHECK(TD_RESIZE(&slots->own, subgraphs, "places of subgraphs"));
    for (uint32_t i = 0; i < subgraphs; i++) slots->place[i] = slots->own[i] = TD_NO_SLOT;
    for (uint32_t i = 0; i < slots->count; i++) {
        slots->slots[i].subgraph = TD_NO_SUBGRAPH;
        if (slots->slots[i].owner != TD_NO_SUBGRAPH) slots->own[slots->slots[i].owner] = i;
    }
    slots->list = list;
    slots->subgraphs = subgraphs;
    return TD_OK;
}

void td_slots_begin(td_slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++) slots->slots[i].level = 1;
}

/* Whether a is evicted before b. */
static bool yields(const td_slot *a, const td_slot *b)
{
    if (a->level != b->level) return a->level > b->level;
    return a->used > b->used;
}

static uint32_t find_victim(const td_slots *slots)
{
    uint32_t best = TD_NO_SLOT;
    for (uint32_t i = 0; i < slots->count; i++) {
        const td_slot *slot = &slots->slots[i];
        if (slot->busy || slot->owner != TD_NO_SUBGRAPH) continue;
        if (slot->subgraph == TD_NO_SUBGRAPH) return i;
        if (best == TD_NO_SLOT || yields(slot, &slots->slots[best])) best = i;
    }
    return best;
}

uint32_t td_slots_take(td_slots *slots, uint32_t subgraph)
{
    uint32_t found = slots->own[subgraph] != TD_NO_SLOT ? slots->own[subgraph] : find_victim(slots);
    if (found == TD_NO_SLOT) return TD_NO_SLOT;
    td_slot *slot = &slots->slots[found];
    if (slot->subgraph != TD_NO_SUBGRAPH) {
        slots->place[slot->subgraph] = TD_NO_SLOT;
        slots->evictions++;
    }
    slot->subgraph = subgraph;
    slot->level = 1;
    slots->place[subgraph] = found;
    td_slots_use(slots, found);
    return found;
}

void td_slots_use(td_slots *slots, uint32_t slot)
{
    slots->slots[slot].busy = true;
    slots->slots[slot].used = ++slots->uses;
}

void td_slots_done(td_slots *slots, uint32_t slot)
{
    slots->slots[slot].busy = false;
    slots->slots[slot].level++;
}

void td_slots_forget(td_slots *slots, uint32_t slot)
{
    td_slot *it = &slots->slots[slot];
    if (it->subgraph != TD_NO_SUBGRAPH) slots->place[it->subgraph] = TD_NO_SLOT;
    it->subgraph = TD_NO_SUBGRAPH;
    it->busy = false;
}

uint32_t td_slots_next(const td_slots *slots, uint32_t most)
{
    uint32_t best = TD_NO_SLOT;
    for (uint32_t i = 0; i < slots->count; i++) {
        const td_slot *slot = &slots->slots[i];
        if (slot->busy || slot->subgraph == TD_NO_SUBGRAPH || slot->level > most) continue;
        if (best == TD_NO_SLOT || slot->level < slots->slots[best].level) best = i;
    }
    return best;
}
