/* Building a packed graph that does not fit memory.
 *
 * Edges flow from a reader or a generator into buckets on disk (spill.h), come
 * back sorted by source and then target, and go to the file as rows; on the way
 * they are put into buckets once more, by target, for the in-adjacency. The file
 * has the bytes that td_graph_build and td_packed_write would give.
 */
#ifndef TD_STORE_EXTERNAL_H
#define TD_STORE_EXTERNAL_H

#include "store/builder.h"
#include "store/packed.h"

typedef struct td_external_settings {
    const char *path;              /* the .tg */
    const char *stripes;           /* directories, "a,b,c", or NULL */
    const char *temporary;         /* directory of temporary files; NULL: that of the path */
    const td_build_options *build;
    uint64_t memory;               /* what the process may hold in memory, all in all */
    uint64_t expected_edges;       /* of the source, 0: unknown; the disk is looked at before the work */
    const td_packed *ids_of;       /* a graph whose original ids the vertices of a declared list keep, or NULL */
    uint64_t most;                 /* tests: no buffer or sort larger than this; 0: as memory allows */
    td_pool *pool;
} td_external_settings;

typedef struct td_external_report {
    td_packed_info info;      /* of the file written */
    uint64_t edges_read;      /* given by the source */
    uint64_t temporary_bytes; /* written to temporary files */
    double fill_seconds, out_seconds, in_seconds, finish_seconds;
} td_external_report;

/* Fills the list and delivers every chunk of it. */
typedef td_status (*td_edge_source_fn)(void *context, td_edge_list *edges, td_pool *pool);

/* `name` is for messages. TD_NO_MEMORY names the least memory that suffices. */
td_status td_external_build(const td_external_settings *settings, const char *name, td_edge_source_fn source,
                            void *context, td_external_report *report);

/* The least memory for a build with so many threads, and about how much it writes to temporary files
 * when memory is short. */
uint64_t td_external_least(int threads);
uint64_t td_external_temporary(const td_packed_info *info);

/* And besides for edges that name vertices by ids, as those of text do, up to this one. */
uint64_t td_external_ids_temporary(const td_packed_info *info, uint64_t highest);

#endif
