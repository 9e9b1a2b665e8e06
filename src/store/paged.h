/* A graph whose edges stay in a packed file, and the part of them that is in memory.
 *
 * Offsets and ids are in memory. Targets and weights have the addresses that
 * they would have if they were (a space, base/alloc.h), but only the blocks that were
 * read are there: a kernel walks a list without knowing where it came from.
 *
 * Edges come and go by pages: runs of vertices, whole words of 64, with their lists. What a
 * pass over pages needs is told beforehand (td_paged_begin), so that reads run
 * ahead of the work in its order; a page is waited for (td_paged_wait), used, and
 * left with its value (td_paged_leave): what it is worth to have it at the next
 * pass. Pages of higher value stay while there is room, and of equal ones those that are there
 * already: a cycle over more pages than fit keeps some and not none.
 *
 * One thread calls all of this; the same calls on a graph in memory do nothing.
 */
#ifndef TD_STORE_PAGED_H
#define TD_STORE_PAGED_H

#include "store/page_reader.h"

typedef struct td_paged td_paged;

/* Opens the file and reads all but its edges. */
td_status td_paged_open(td_graph **out, const char *path, td_pool *pool, const td_reader_options *options);
void td_paged_close(td_paged *paged, td_graph *graph); /* by td_graph_destroy */

/* What opening holds in memory. */
uint64_t td_paged_open_bytes(const td_packed_info *info);

/* What is needed of a page. */
enum { TD_LIST_OUT = 1, TD_LIST_IN = 2, TD_LIST_BOTH = 3, TD_WITH_WEIGHTS = 4 };

/* Vertices begin..end, lists of a direction or of both. */
typedef struct td_held_page {
    uint32_t begin, end;
    uint8_t state;    /* paged.c */
    bool due;         /* the pass under way still needs it */
    bool whole;       /* the caller's: all of it will be looked at, whatever the pass is about */
    uint32_t pending; /* reads under way */
    double value;
} td_held_page;

/* How a graph is cut for a kind of pass. */
typedef struct td_page_set {
    const td_graph *graph;
    unsigned lists;
    td_held_page *pages;
    uint32_t count;
    uint64_t largest; /* bytes of a page */
    struct td_page_set *next;
} td_page_set;

/* Pages of about so many edges, at least one word of vertices. A symmetric graph has one list, `out`. */
td_status td_page_set_create(td_page_set **out, const td_graph *graph, unsigned lists, uint64_t edges);
void td_page_set_destroy(td_page_set *set); /* drops what it holds; NULL is fine */

uint64_t td_page_edges(const td_page_set *set, uint32_t page);
uint64_t td_page_bytes(const td_page_set *set, uint32_t page, unsigned needs); /* of the whole blocks it touches */

/* A pass: pages in the order of their use. With `only`, a bitmap of vertices, a page of
 * which fewer than `part` of the blocks hold a list of those is read by blocks. */
typedef struct td_page_pass {
    td_page_set *set;
    unsigned needs;        /* TD_WITH_WEIGHTS or 0 */
    const uint32_t *order;
    uint32_t count;
    const uint64_t *only;
    double part;
} td_page_pass;

td_status td_paged_begin(td_paged *paged, const td_page_pass *pass);
td_status td_paged_wait(td_paged *paged, uint32_t place); /* of the order; any that was not left yet */
bool td_paged_is_whole(const td_paged *paged, const td_page_set *set, uint32_t page); /* all its targets are there */
td_status td_paged_leave(td_paged *paged, uint32_t place, double value);

/* Bytes that edges may take, at least twice the largest page of every set in use; what there is of less value goes. */
td_status td_paged_set_room(td_paged *paged, uint64_t bytes);

typedef struct td_paged_counts {
    uint64_t hits, misses, parts; /* pages that were there, that had to be read, of these by blocks */
    uint64_t reads, bytes;        /* of the reader */
    uint64_t evictions;
    double wait_seconds;          /* with nothing to do but wait for the disk */
    uint64_t held;                /* bytes of edges in memory now */
    uint64_t reused;              /* bytes read into memory of edges that had gone */
} td_paged_counts;
td_paged_counts td_paged_count(td_paged *paged);

/* Sequential over random read speed, measured once; 1 to 64. */
td_status td_paged_measure(td_paged *paged, double *ratio);

/* The file's directory of pages (pages.h), freed by the caller with td_free. */
td_status td_paged_directory(td_paged *paged, bool in, td_page **out, uint64_t *count, td_pool *pool);

td_page_reader *td_paged_reader(td_paged *paged);
const td_packed_info *td_paged_describe(const td_paged *paged);

/* Edges first..first + count of the out-lists, read now and checked: their targets, or their weights as they are
 * stored. Any thread, and besides a pass. */
td_status td_paged_read(const td_paged *paged, bool weights, uint64_t first, uint64_t count, void *into);

/* td_pool_for over the vertices of any graph, page by page where its edges are on disk. Ranges are then whole words of
 * 64 vertices, if `grain` is. */
td_status td_graph_for_vertices(const td_graph *graph, unsigned lists, unsigned needs, td_pool *pool, uint64_t grain,
                                td_range_fn work, void *context);

/* Of a graph on disk: pages with vertices in the map only, each until it has none: `work` takes them out, and may put
 * others in. */
td_status td_paged_for_marked(const td_graph *graph, unsigned lists, unsigned needs, const uint64_t *map, td_pool *pool,
                              uint64_t grain, td_range_fn work, void *context);

#endif
