/* A graph whose edges stay in a packed file, and the cache of edges in memory.
 *
 * Offsets and ids are in memory. Targets and weights have a reserved range of addresses
 * (a space, base/alloc.h) in which only the blocks that were read have memory: kernels
 * read a list like that of a graph in memory.
 *
 * Edges are read and dropped by pages: runs of vertices, whole words of 64, with their
 * lists. The caller announces the pages of a pass (td_paged_begin), so that reads run
 * ahead of the work in the same order. It waits for a page (td_paged_wait), uses it, and
 * leaves it with a value (td_paged_leave): the benefit of having it in the next pass.
 * Pages of higher value stay while there is room; among equal values those already in
 * memory stay, so that a cycle over more pages than fit has some hits.
 *
 * One thread makes all these calls; they do nothing for a graph in memory.
 */
#ifndef TD_STORE_PAGED_H
#define TD_STORE_PAGED_H

#include "store/page_reader.h"

typedef struct td_paged td_paged;

/* Opens the file and reads all but its edges. */
td_status td_paged_open(td_graph **out, const char *path, td_pool *pool, const td_reader_options *options);
void td_paged_close(td_paged *paged, td_graph *graph); /* by td_graph_destroy */

/* Memory that an open graph takes, without edges. */
uint64_t td_paged_open_bytes(const td_packed_info *info);

/* The lists of a page that a pass needs. */
enum { TD_LIST_OUT = 1, TD_LIST_IN = 2, TD_LIST_BOTH = 3, TD_WITH_WEIGHTS = 4 };

/* Vertices begin..end - 1 with their lists of one direction or both. */
typedef struct td_held_page {
    uint32_t begin, end;
    uint8_t state;    /* paged.c */
    bool due;         /* the current pass still needs it */
    bool whole;       /* set by the caller: the pass reads all its lists, also outside `only` */
    uint32_t pending; /* reads in flight */
    double value;
} td_held_page;

/* The division of a graph into pages, for one kind of pass. */
typedef struct td_page_set {
    const td_graph *graph;
    unsigned lists;
    td_held_page *pages;
    uint32_t count;
    uint64_t largest; /* bytes of a page */
    struct td_page_set *next;
} td_page_set;

/* Pages of about `edges` edges, at least one word of vertices. A symmetric graph has only `out` lists. */
td_status td_page_set_create(td_page_set **out, const td_graph *graph, unsigned lists, uint64_t edges);
void td_page_set_destroy(td_page_set *set); /* drops its pages; NULL is fine */

uint64_t td_page_edges(const td_page_set *set, uint32_t page);
uint64_t td_page_bytes(const td_page_set *set, uint32_t page, unsigned needs); /* bytes of all blocks it touches */

/* A pass: pages in the order of their use. With `only`, a bitmap of vertices, a page is read
 * by single blocks if less than the share `part` of its blocks has lists of these vertices. */
typedef struct td_page_pass {
    td_page_set *set;
    unsigned needs;        /* TD_WITH_WEIGHTS or 0 */
    const uint32_t *order;
    uint32_t count;
    const uint64_t *only;
    double part;
} td_page_pass;

td_status td_paged_begin(td_paged *paged, const td_page_pass *pass);
td_status td_paged_wait(td_paged *paged, uint32_t place); /* a place of the order, not left yet */
bool td_paged_is_whole(const td_paged *paged, const td_page_set *set, uint32_t page); /* all its targets are there */
td_status td_paged_leave(td_paged *paged, uint32_t place, double value);

/* Limit on the bytes of edges in memory, at least twice the largest page of every set in use; drops pages of the lowest
 * value. */
td_status td_paged_set_room(td_paged *paged, uint64_t bytes);

typedef struct td_paged_counts {
    uint64_t hits, misses, parts; /* pages found in memory, pages read, and those of the latter read by blocks */
    uint64_t reads, bytes;        /* of the reader */
    uint64_t evictions;           /* pages dropped from memory: those that others displaced, and those that found no room */
    double wait_seconds;          /* time spent only waiting for the disk */
    uint64_t held;                /* bytes of edges in memory */
    uint64_t reused;              /* bytes read into memory of dropped edges */
} td_paged_counts;
td_paged_counts td_paged_count(td_paged *paged);

/* The ratio of sequential to random read speed, measured once; 1 to 64. */
td_status td_paged_measure(td_paged *paged, double *ratio);

/* The file's directory of pages (pages.h), freed by the caller with td_free. */
td_status td_paged_directory(td_paged *paged, bool in, td_page **out, uint64_t *count, td_pool *pool);

td_page_reader *td_paged_reader(td_paged *paged);
const td_packed_info *td_paged_describe(const td_paged *paged);

/* Reads and checks edges first..first + count - 1 of the out-lists: their targets, or their weights as stored. Any
 * thread, also during a pass. */
td_status td_paged_read(const td_paged *paged, bool weights, uint64_t first, uint64_t count, void *into);

/* td_pool_for over the vertices of any graph, page by page if its edges are on disk. Ranges are then whole words of
 * 64 vertices, if `grain` is a multiple of 64. */
td_status td_graph_for_vertices(const td_graph *graph, unsigned lists, unsigned needs, td_pool *pool, uint64_t grain,
                                td_range_fn work, void *context);

/* For a graph on disk: processes every page with vertices in the map until it has none; `work` removes vertices from
 * the map and may add others. */
td_status td_paged_for_marked(const td_graph *graph, unsigned lists, unsigned needs, const uint64_t *map, td_pool *pool,
                              uint64_t grain, td_range_fn work, void *context);

#endif
