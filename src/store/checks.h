/* Lists of a mapped graph whose blocks are checked when they are first used: by all workers together, or block by block
 * by code that copies them anyway (gpu/upload.c). Offsets, ids and names are checked when the file is opened.
 *
 * A graph with checks is for the runs that it was opened for: code that reads its lists calls td_checks_lists first. */
#ifndef TD_STORE_CHECKS_H
#define TD_STORE_CHECKS_H

#include "store/packed.h"

typedef struct td_checks td_checks;

/* Maps a packed file and checks its offsets, ids and names. */
td_status td_packed_map_unchecked(td_graph **out, const char *path, td_pool *pool);
void td_checks_destroy(td_checks *checks); /* NULL is fine */

/* Checks all targets, and the weights where they are asked for, once. A graph without checks has passed them. */
td_status td_checks_lists(const td_graph *graph, bool weights, td_pool *pool);

/* Whether `array`, of targets or weights, has blocks to be checked. */
bool td_checks_pending(const td_graph *graph, const void *array);

/* Checks the blocks of `array` from byte `at` on, in a copy of them; `at` is a multiple of TD_CHECKS_BLOCK, and so is
 * `bytes` but at the end of the array. td_checks_bytes: bytes to copy for that, with zeros behind the array's end that
 * belong to its last block; they are in the mapping. */
enum { TD_CHECKS_BLOCK = 1 << 16 };
uint64_t td_checks_bytes(const td_graph *graph, const void *array, uint64_t at, uint64_t bytes);
td_status td_checks_piece(const td_graph *graph, const void *array, uint64_t at, const void *copy, uint64_t bytes);
void td_checks_passed(const td_graph *graph, const void *array); /* all of its pieces have */

/* Bytes that were checked so far, for tests. */
uint64_t td_checks_done(const td_graph *graph);

#endif
