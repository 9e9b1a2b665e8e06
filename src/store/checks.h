/* Lists of a mapped graph, for code that copies them in any case, block by block, and checks the copy (gpu/transfer.c),
 * and for code that reads every target once and checks that it is a vertex (cpu/mapped.c). All else reads
 * copies in memory: offsets, ids and names are copied when the file is opened, lists when td_checks_lists is first
 * called. Checksums are those of what was copied, never of the mapping: a file that is overwritten in place afterwards
 * would lead anywhere.
 *
 * A graph with checks is for the runs that it was opened for: other code that reads its lists calls td_checks_lists
 * first. */
#ifndef TD_STORE_CHECKS_H
#define TD_STORE_CHECKS_H

#include "store/packed.h"

typedef struct td_checks td_checks;

/* Maps a packed file, and copies and checks its offsets, ids and names. */
td_status td_packed_map_unchecked(td_graph **out, const char *path, td_pool *pool);
/* Whether the page cache has its targets, by a sample; true if that cannot be found out. */
bool td_packed_is_cached(const char *path);
void td_packed_assume_cached(int pages); /* for tests: of the 64 in the sample; -1: the kernel is asked */
void td_checks_destroy(td_checks *checks); /* NULL is fine */

/* Copies all targets, and the weights where they are asked for, into memory, checked, once: the graph has the copies
 * from then on. A graph without checks has passed them. Any thread. */
td_status td_checks_lists(const td_graph *graph, bool weights, td_pool *pool);

/* Whether `array`, of targets or weights, is in the mapping, so that a copy of it must be checked. */
bool td_checks_pending(const td_graph *graph, const void *array);

/* Bytes of its lists that are in the mapping: of targets, of weights. The pattern of a graph has no weights. */
uint64_t td_checks_pending_targets(const td_graph *graph);
uint64_t td_checks_pending_weights(const td_graph *graph);

/* Copies numbers first .. first + count - 1 of a list's targets, unchecked, without a page of the mapping. They may be
 * anything; zeros if they cannot be read. */
void td_checks_peek(const td_graph *graph, const uint32_t *targets, uint64_t first, uint32_t *into, uint64_t count);

/* Releases the pages of the mapping with lists that have been read there (mapping.h), of vertices begin .. end - 1. */
void td_checks_release(const td_graph *graph, const td_adjacency *adjacency, uint64_t begin, uint64_t end);

/* Fails because of a target that is no vertex, read in the mapping; or because the file was written to meanwhile. */
td_status td_checks_wild(const td_graph *graph, td_section_kind kind, uint64_t edge, uint32_t target);

/* If so, replaces it by a checked copy in memory, which the graph owns. */
td_status td_checks_copy(const td_graph *graph, const void **array, td_pool *pool);

/* Reads bytes at .. at + bytes - 1 of such an array from the file into `into`, and checks what it has read. `at` is a
 * multiple of TD_CHECKS_BLOCK, and so is `bytes` but at the end of the array, where up to 4 KiB of zeros that belong to its
 * last block are written behind it. */
enum { TD_CHECKS_BLOCK = 1 << 16 };
td_status td_checks_read(const td_graph *graph, const void *array, uint64_t at, void *into, uint64_t bytes);

/* Bytes that were checked so far, for tests. */
uint64_t td_checks_done(const td_graph *graph);

#endif
