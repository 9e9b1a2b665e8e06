/* Compressed targets in a file beside their graph (layout/lists_file.h): groups one after the other, which every division
 * into subgraphs of whole groups has in common. A run puts the table of each subgraph before its groups. */
#ifndef TD_GPU_LINK_FILE_H
#define TD_GPU_LINK_FILE_H

#include "gpu/link_list.h"
#include "layout/lists_file.h"

/* Compresses the targets of a list, of which `edges` and `targets` are set, into arrays that the caller frees. Returns
 * TD_NOT_FOUND if they hardly shrink. */
typedef struct td_link_groups {
    uint16_t *lengths; /* words of every group */
    uint32_t *words;
    uint64_t word_count;
} td_link_groups;
td_status td_link_make_groups(td_link_groups *out, const td_link_list *list, td_pool *pool);
void td_link_free_groups(td_link_groups *groups);

/* Reads the compressed targets of a list whose shift and subgraphs are set, 2^shift at least TD_COMPRESS_GROUP, and
 * checks that every target is a vertex. Nothing is left after a failure. */
td_status td_link_read_compressed(td_link_list *list, const td_sidecar *file, uint64_t words, uint32_t vertices,
                                  td_host_memory *memory, td_device *device, td_pool *pool);

#endif
