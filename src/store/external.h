/* Building a packed graph that does not fit memory.
 *
 * Edges from a reader or a generator go to buckets on disk (spill.h), are read back
 * sorted by source and target, and are written to the file as rows; at the same time
 * they go to buckets by target, for the in-adjacency. The file has the same bytes as
 * td_graph_build and td_packed_write give.
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
    uint64_t memory;               /* limit on the memory of the whole process */
    uint64_t expected_edges;       /* of the source, to check the disk space first; 0: unknown */
    const td_packed *ids_of;       /* a graph whose original ids the vertices of a declared list keep, or NULL */
    uint64_t most;                 /* for tests: limit on a buffer or sort; 0: as memory allows */
    struct td_edge_list **whole;   /* not NULL: edges stay in memory as long as they can be built there; if all do, they
                                    * are handed over here, and no file is written */
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

/* `name` is for messages. The message of TD_NO_MEMORY states the minimum. */
td_status td_external_build(const td_external_settings *settings, const char *name, td_edge_source_fn source,
                            void *context, td_external_report *report);

/* The minimum of memory for a build with `threads` threads, and the approximate size of its temporary files
 * when memory is short. */
uint64_t td_external_least(int threads);
uint64_t td_external_temporary(const td_packed_info *info);

/* The additional size if edges name vertices by ids, as in text files, up to `highest`. */
uint64_t td_external_ids_temporary(const td_packed_info *info, uint64_t highest);

#endif
