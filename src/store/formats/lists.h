/* Writes whole adjacency lists to chunks, for the formats that store adjacency lists. */
#ifndef TD_STORE_LISTS_H
#define TD_STORE_LISTS_H

#include "store/edges.h"

#define TD_LIST_CHUNK (UINT64_C(1) << 17) /* edges per chunk, about: gives enough chunks for all workers */

/* Makes room for `more` edges; grows by half at least. */
static inline td_status td_chunk_need(td_edge_chunk *chunk, uint64_t more, bool weighted)
{
    if (__builtin_expect(chunk->room - chunk->count >= more, 1)) return TD_OK;
    uint64_t room = chunk->count + more, grown = chunk->room + chunk->room / 2;
    return td_chunk_reserve(chunk, room > grown ? room : grown, weighted);
}

/* One vertex's targets, all ids below 2^32; there must be room. */
static inline void td_chunk_put_list(td_edge_chunk *chunk, uint32_t source, const uint32_t *targets, uint64_t count)
{
    uint32_t *ends = chunk->ends + 2 * chunk->count;
    for (uint64_t i = 0; i < count; i++) {
        ends[2 * i] = source;
        ends[2 * i + 1] = targets[i];
    }
    chunk->count += count;
}

#endif
