/* A concurrent set of 64-bit ids with a known limit. */
#ifndef TD_STORE_ID_SET_H
#define TD_STORE_ID_SET_H

#include "base/alloc.h"
#include "base/random.h"

#include <stdatomic.h>

/* Open addressing, at most half full. The largest id marks an empty place and
 * is kept aside. */
typedef struct td_id_set {
    _Atomic uint64_t *places;
    uint64_t mask;
    atomic_bool has_largest;
} td_id_set;

static inline td_status td_id_set_create(td_id_set *set, uint64_t limit)
{
    uint64_t *places = NULL, count = 16;
    while (count < 2 * limit) count *= 2;
    TD_CHECK(TD_NEW(&places, count, "set of vertex ids"));
    for (uint64_t i = 0; i < count; i++) places[i] = UINT64_MAX;
    set->places = (_Atomic uint64_t *)places;
    set->mask = count - 1;
    set->has_largest = false;
    return TD_OK;
}

static inline void td_id_set_free(td_id_set *set) { td_free((void *)set->places); }

/* False if the set had it already. */
static inline bool td_id_set_add(td_id_set *set, uint64_t id)
{
    if (id == UINT64_MAX) return !atomic_exchange(&set->has_largest, true);
    for (uint64_t at = td_mix64(id) & set->mask;; at = (at + 1) & set->mask) {
        uint64_t there = atomic_load_explicit(&set->places[at], memory_order_relaxed);
        if (there == UINT64_MAX && atomic_compare_exchange_strong(&set->places[at], &there, id)) return true;
        if (there == id) return false;
    }
}

static inline bool td_id_set_has(const td_id_set *set, uint64_t id)
{
    if (id == UINT64_MAX) return set->has_largest;
    for (uint64_t at = td_mix64(id) & set->mask;; at = (at + 1) & set->mask) {
        uint64_t there = atomic_load_explicit(&set->places[at], memory_order_relaxed);
        if (there == id) return true;
        if (there == UINT64_MAX) return false;
    }
}

#endif
