/* A partition with a numbering of its own in the file beside its graph (store/sidecar.h), so that METIS, or the drawing of
 * a random order, is not repeated by every process. It holds the order of the vertices and the fragments' beginnings; the
 * numbers of the vertices follow from the order. Ranges of the graph's own numbers (seg) are found from its offsets at
 * once and have no file. */
#ifndef TD_LAYOUT_PARTITION_FILE_H
#define TD_LAYOUT_PARTITION_FILE_H

#include "layout/partition.h"
#include "store/sidecar.h"

/* The name of the layout that serves a wish: "multi-metis-8-out". The seed and the weights are in its key, so that a
 * layout with others takes its place. */
char *td_partition_layout_name(char name[TD_SIDECAR_NAME], const td_graph *graph, const td_partition_wish *wish);

/* Entries of every fragment's lists; 0 for lists that do not count. A symmetric graph has `out` alone. */
typedef struct td_fragment_entries {
    uint64_t out[TD_FRAGMENTS], in[TD_FRAGMENTS];
} td_fragment_entries;

/* Whether the layout is there, whole as far as its header and its boundaries tell, and made as the wish says: the
 * fragments' beginnings, and the entries that it states, which only td_partition_load compares with the graph.
 * TD_NOT_FOUND: there is none, or it was made otherwise. */
td_status td_partition_find(const td_graph *graph, const td_partition_wish *wish, td_fragment_entries *entries,
                            uint32_t first[TD_FRAGMENTS + 1]);

/* What td_partition_make makes with `ranges_only`, from the file. TD_CORRUPT also for fragments without the entries that
 * the file states. Allocates 8 bytes per vertex. On
 * failure *out is untouched. */
td_status td_partition_load(td_partition *out, const td_graph *graph, const td_partition_wish *wish, td_pool *pool);

/* Writes a partition that was made by the wish. TD_NOT_FOUND: it has the graph's own numbers. */
td_status td_partition_save(const td_partition *partition, const td_graph *graph, const td_partition_wish *wish,
                            char where[TD_SIDECAR_PATH], td_pool *pool);

#endif
