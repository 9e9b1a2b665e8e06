/* The packed graph file, .tg: what a graph looks like on disk.
 *
 * A 4 KiB header (magic, version, byte order, counts, weight kind and range,
 * a build id, the section table, its own checksum), then sections aligned to 4 KiB: out- and
 * in-adjacency (offsets, targets, weights each; `in` absent when symmetric),
 * out-degrees, original ids, the page directories, and the checksums: one
 * XXH64 per 64 KiB block of the file, so that a reader of single pages checks
 * what it reads and can name the block that is broken. docs/format.md has it all.
 *
 * The page directory cuts each adjacency into runs of consecutive vertices with
 * at most 2^20 edges and 2^18 vertices (a heavier vertex is a page of its own):
 * first vertex, first edge, and a 1024-bit summary of which ranges of
 * vertices occur at the other end, so that a page that holds no active
 * neighbour is not read at all.
 */
#ifndef TD_STORE_PACKED_H
#define TD_STORE_PACKED_H

#include "store/graph.h"

#define TD_PACKED_BLOCK 65536u

/* Written to a temporary name beside `path`, synced and renamed. */
td_status td_packed_write(const td_graph *graph, const char *path, td_pool *pool);

/* Maps the file: milliseconds whatever its size; nothing but the header is read
 * and checked. The arrays are read-only. */
td_status td_packed_map(td_graph **out, const char *path);

/* Reads the file into memory (huge pages), checking every block. */
td_status td_packed_load(td_graph **out, const char *path, td_pool *pool);

/* Verifies every byte of the file and every claim of td_graph_check. */
td_status td_packed_check(const char *path, td_pool *pool);

#endif
