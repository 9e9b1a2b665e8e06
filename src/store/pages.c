#include "store/pages.h"

#include "base/alloc.h"
#include "base/bitmap.h"

/* The end of the page that starts at `first`. */
static uint32_t page_end(const uint64_t *offsets, uint32_t vertices, uint32_t first)
{
    uint64_t limit = offsets[first] + TD_PAGE_EDGES;
    uint32_t low = first + 1; /* a page has at least one vertex */
    uint32_t high = vertices - first < TD_PAGE_VERTICES ? vertices : first + TD_PAGE_VERTICES;
    while (low < high) { /* the last end with offsets[end] <= limit */
        uint32_t middle = low + (high - low + 1) / 2;
        if (offsets[middle] <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t td_pages_count(const td_adjacency *adjacency, uint32_t vertices)
{
    uint64_t count = 0;
    for (uint32_t v = 0; v < vertices; v = page_end(adjacency->offsets, vertices, v)) count++;
    return count;
}

/* At most `count` pages: the offsets of a mapped file may have become zeros since they were counted. */
static void cut(td_page *pages, uint64_t count, const uint64_t *offsets, uint32_t vertices)
{
    for (uint32_t v = 0; v < vertices && count > 0; pages++, count--) {
        uint32_t end = page_end(offsets, vertices, v);
        *pages = (td_page){.first_edge = offsets[v], .edges = offsets[end] - offsets[v], .first_vertex = v,
                           .vertices = end - v};
        v = end;
    }
}

/* Collects bytes and packs them into bits at the end: byte stores are independent of each other. */
static void summarise(td_page *page, const uint32_t *targets, uint64_t factor)
{
    uint8_t seen[TD_SUMMARY_BITS] = {0};
    for (uint64_t e = page->first_edge; e < page->first_edge + page->edges; e++)
        seen[td_summary_bit(targets[e], factor)] = 1;
    for (unsigned bit = 0; bit < TD_SUMMARY_BITS; bit++)
        if (seen[bit]) td_bit_set(page->summary, bit);
}

typedef struct summary_job {
    const td_graph *graph; /* mapped, or NULL */
    const td_adjacency *adjacency;
    td_page *pages;
    const uint32_t *targets;
    uint64_t factor;
} summary_job;

static td_status summarise_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    summary_job *job = context;
    for (uint64_t p = begin; p < end; p++) {
        const td_page *page = &job->pages[p];
        summarise(&job->pages[p], job->targets, job->factor);
        if (job->graph != NULL)
            td_graph_let_go(job->graph, job->adjacency, page->first_vertex, (uint64_t)page->first_vertex + page->vertices);
    }
    return TD_OK;
}

static td_status make(td_page **out, uint64_t *count, const td_graph *graph, const td_adjacency *adjacency,
                      uint32_t vertices, td_pool *pool)
{
    td_page *pages = NULL;
    uint64_t number = td_pages_count(adjacency, vertices);
    TD_CHECK(TD_NEW_ZEROED(&pages, number, "page directory"));
    cut(pages, number, adjacency->offsets, vertices);
    summary_job job = {graph, adjacency, pages, adjacency->targets, td_summary_factor(vertices)};
    td_status status = td_pool_for(pool, number, 1, summarise_range, &job);
    if (status != TD_OK) {
        td_free(pages);
        return status;
    }
    *out = pages;
    *count = number;
    return TD_OK;
}

td_status td_pages_make(td_page **out, uint64_t *count, const td_adjacency *adjacency, uint32_t vertices,
                        td_pool *pool)
{
    return make(out, count, NULL, adjacency, vertices, pool);
}

td_status td_pages_make_mapped(td_page **out, uint64_t *count, const td_graph *graph, const td_adjacency *adjacency,
                               td_pool *pool)
{
    return make(out, count, graph, adjacency, graph->vertices, pool);
}
