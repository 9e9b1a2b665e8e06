/* Numbering the vertices of a list that does not fit memory.
 *
 * The edges are kept in a temporary file while their ids are sorted; then every
 * distinct id gets its number, in ascending order, and the edges are read again with
 * numbers instead of ids. Only a map of the ids must fit memory: 1.5 bits for each
 * number between the lowest and the highest, or 8 bytes for each id, whichever is
 * less.
 */
#ifndef TD_STORE_EXTERNAL_IDS_H
#define TD_STORE_EXTERNAL_IDS_H

#include "base/tempfile.h"
#include "store/edges.h"

typedef struct td_external_ids td_external_ids;

/* `memory`: for the buffers while ids are collected. */
td_status td_external_ids_create(td_external_ids **out, const td_edge_list *list, const char *directory,
                                 uint64_t memory, td_pool *pool, int workers);
void td_external_ids_destroy(td_external_ids *ids); /* NULL is fine */

/* Any worker. Keeps weights only if `weighted`. */
td_status td_external_ids_take(td_external_ids *ids, const td_edge_chunk *chunk, bool weighted, int worker);

/* Numbers the ids after the last chunk, within `memory` bytes; on TD_NO_MEMORY *least is the memory that is missing. */
td_status td_external_ids_number(td_external_ids *ids, uint64_t memory, uint64_t *least);

uint64_t td_external_ids_count(const td_external_ids *ids);
bool td_external_ids_consecutive(const td_external_ids *ids); /* then the ids need not be kept */
uint64_t td_external_ids_lowest(const td_external_ids *ids);

/* Passes on all edges with numbers instead of ids, some at a time, on all workers. */
typedef td_status (*td_numbered_fn)(void *context, const uint32_t *ends, const uint32_t *weights, bool real,
                                    uint64_t count, int worker);
td_status td_external_ids_replay(td_external_ids *ids, td_numbered_fn take, void *context);

/* Frees the edges and the map; the sorted ids stay readable. */
void td_external_ids_forget(td_external_ids *ids);
td_status td_external_ids_read(const td_external_ids *ids, uint64_t first, uint64_t count, uint64_t *into);

uint64_t td_external_ids_spilled(const td_external_ids *ids); /* bytes written to disk */

#endif
