/* Opening a graph whose edges stay in the file, and cutting it into pages. */
#include "base/account.h"
#include "base/alloc.h"
#include "store/paged_inside.h"

#include <inttypes.h>
#include <string.h>

enum { SCAN_EDGES = 1 << 18, SCAN_LEAST = 1 << 14 }; /* edges per page when all edges are scanned once */
static const uint64_t SCAN_ROOM = 64 << 20;          /* memory for such a scan without a budget */

static td_status make_section(td_paged *self, int index, td_section_kind kind, void **place)
{
    td_paged_section *section = &self->sections[index];
    const td_section *of = &self->packed->info.sections[kind];
    section->kind = kind;
    section->element = of->element;
    if (of->element == 0) return TD_OK;
    uint64_t words = td_bitmap_words(td_section_blocks(of));
    void *space = NULL;
    section->space_bytes = td_packed_padded(of->bytes);
    TD_CHECK(td_space_create(&space, section->space_bytes, td_section_name(kind)));
    section->space = space;
    TD_CHECK(TD_NEW_ZEROED(&section->there, words, "map of blocks"));
    TD_CHECK(TD_NEW_ZEROED(&section->asked, words, "map of blocks"));
    *place = section->space;
    return TD_OK;
}

static td_status check_ascent(const td_graph *graph, const td_adjacency *list, const char *which)
{
    bool wrong = list->offsets[0] != 0 || list->offsets[graph->vertices] != graph->edges;
    for (uint64_t v = 0; v < graph->vertices; v++) wrong |= list->offsets[v] > list->offsets[v + 1];
    if (!wrong) return TD_OK;
    return td_fail(TD_CORRUPT, "%s: its %s do not ascend from 0 to %" PRIu64, graph->name, which, graph->edges);
}

static td_status read_vertices(td_paged *self, td_graph *graph, td_pool *pool)
{
    void *of[TD_SECTIONS] = {NULL};
    static const td_section_kind kinds[] = {TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS, TD_SECTION_IDS,
                                            TD_SECTION_NAMES};
    td_status status = TD_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == TD_OK; i++)
        status = td_packed_section(self->packed, kinds[i], &of[kinds[i]], pool);
    td_packed_attach(graph, of);
    td_status named = td_packed_attach_names(graph, self->packed, of[TD_SECTION_NAMES], false);
    TD_CHECK(status == TD_OK ? named : status);
    TD_CHECK(check_ascent(graph, &graph->out, "out offsets"));
    if (graph->in.offsets != NULL) TD_CHECK(check_ascent(graph, &graph->in, "in offsets"));
    return TD_OK;
}

static td_status make_spaces(td_paged *self, td_graph *graph)
{
    void *weights = NULL, *targets = NULL;
    TD_CHECK(make_section(self, 0, TD_SECTION_OUT_TARGETS, &targets));
    TD_CHECK(make_section(self, 1, TD_SECTION_OUT_WEIGHTS, &weights));
    graph->out.targets = targets;
    graph->out.weights = weights;
    weights = targets = NULL;
    TD_CHECK(make_section(self, 2, TD_SECTION_IN_TARGETS, &targets));
    TD_CHECK(make_section(self, 3, TD_SECTION_IN_WEIGHTS, &weights));
    graph->in.targets = targets;
    graph->in.weights = weights;
    if (graph->symmetric) graph->in = graph->out;
    return TD_OK;
}

td_status td_paged_open(td_graph **out, const char *path, td_pool *pool, const td_reader_options *options)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    td_paged *self = NULL;
    td_packed *packed = NULL;
    TD_CHECK(td_packed_open(&packed, path));
    TD_TRY(td_packed_new_graph(&graph, packed));
    TD_TRY(TD_NEW_ZEROED(&self, 1, "paged graph"));
    graph->paged = self;
    self->graph = graph;
    self->packed = packed;
    packed = NULL;
    for (int i = 0; i < TD_PAGED_READS; i++) {
        self->reads[i].next = self->free_reads;
        self->free_reads = &self->reads[i];
    }
    TD_TRY(read_vertices(self, graph, pool));
    TD_TRY(make_spaces(self, graph));
    TD_TRY(td_graph_share_pattern(graph));
    td_paged_start_spares(self);
    TD_TRY(td_loop_create(&self->loop));
    TD_TRY(td_loop_reserve(self->loop, 2 * TD_PAGED_READS));
    TD_TRY(td_page_reader_create(&self->reader, self->packed, self->loop, options));
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    td_packed_close(packed);
    return status;
}

void td_paged_close(td_paged *self, td_graph *graph)
{
    if (self == NULL) return;
    td_page_reader_destroy(self->reader); /* first: ends all writes to the spaces */
    self->reader = NULL;
    while (self->sets != NULL) td_page_set_destroy(self->sets);
    td_paged_drop_all(self);
    for (int i = 0; i < 4; i++) {
        td_paged_section *section = &self->sections[i];
        td_space_destroy(section->space, section->space_bytes);
        td_free(section->there);
        td_free(section->asked);
    }
    graph->out.targets = graph->in.targets = NULL;
    graph->out.weights = graph->in.weights = NULL;
    td_paged_end_measure(self);
    td_loop_destroy(self->loop);
    td_packed_close(self->packed);
    td_account_release(self->payer);
    td_free(self);
}

uint64_t td_paged_open_bytes(const td_packed_info *info)
{
    uint64_t checksums = td_packed_padded(info->sections[TD_SECTION_CHECKSUMS].bytes);
    return info->sections[TD_SECTION_OUT_OFFSETS].bytes + info->sections[TD_SECTION_IN_OFFSETS].bytes +
           info->sections[TD_SECTION_IDS].bytes + td_packed_names_bytes(info) + checksums + checksums / 32 + sizeof(td_paged);
}

td_status td_paged_directory(td_paged *self, bool in, td_page **out, uint64_t *count, td_pool *pool)
{
    return td_packed_pages(self->packed, in, out, count, pool);
}

static td_status read_block(const td_paged *self, td_section_kind kind, uint64_t block, char *into)
{
    uint64_t begin = block * TD_PACKED_BLOCK, padded = td_packed_padded(self->packed->info.sections[kind].bytes);
    uint64_t bytes = padded - begin < TD_PACKED_BLOCK ? padded - begin : TD_PACKED_BLOCK;
    TD_CHECK(td_packed_read(self->packed, kind, begin, into, bytes));
    return td_packed_verify_content(self->packed, kind, block, into, bytes);
}

td_status td_paged_read(const td_paged *self, bool weights, uint64_t first, uint64_t count, void *into)
{
    td_status status = TD_OK;
    td_section_kind kind = weights ? TD_SECTION_OUT_WEIGHTS : TD_SECTION_OUT_TARGETS;
    uint64_t element = self->packed->info.sections[kind].element, at = first * element, end = at + count * element;
    char *block = NULL;
    TD_CHECK(TD_NEW(&block, TD_PACKED_BLOCK, "a block of edges"));
    for (char *to = into; at < end;) {
        uint64_t from = at % TD_PACKED_BLOCK,
                 bytes = end - at < TD_PACKED_BLOCK - from ? end - at : TD_PACKED_BLOCK - from;
        TD_TRY(read_block(self, kind, at / TD_PACKED_BLOCK, block));
        memcpy(to, block + from, bytes);
        at += bytes;
        to += bytes;
    }
done:
    td_free(block);
    return status;
}

td_page_reader *td_paged_reader(td_paged *self) { return self->reader; }
const td_packed_info *td_paged_describe(const td_paged *self) { return &self->packed->info; }

/* Pages. */

static uint64_t edges_between(const td_graph *graph, unsigned lists, uint64_t begin, uint64_t end)
{
    uint64_t edges = 0;
    if (lists & TD_LIST_OUT) edges += graph->out.offsets[end] - graph->out.offsets[begin];
    if (lists & TD_LIST_IN) edges += graph->in.offsets[end] - graph->in.offsets[begin];
    return edges;
}

/* The last word of vertices that still fits a page from `first` on. */
static uint64_t page_end(const td_graph *graph, unsigned lists, uint64_t edges, uint64_t first)
{
    uint64_t words = td_bitmap_words(graph->vertices), low = first / 64 + 1, high = words;
#define END(word) ((word) * 64 < graph->vertices ? (word) * 64 : graph->vertices)
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (edges_between(graph, lists, first, END(middle)) <= edges) low = middle;
        else high = middle - 1;
    }
    return END(low);
#undef END
}

static td_status cut(td_page_set *set, uint64_t edges)
{
    uint64_t room = edges_between(set->graph, set->lists, 0, set->graph->vertices) / (edges + 1) * 2 + 16, count = 0;
    TD_CHECK(TD_NEW(&set->pages, room, "pages"));
    for (uint64_t v = 0; v < set->graph->vertices;) {
        if (count == room) TD_CHECK(TD_RESIZE(&set->pages, room *= 2, "pages"));
        uint64_t end = page_end(set->graph, set->lists, edges, v);
        set->pages[count++] = (td_held_page){.begin = (uint32_t)v, .end = (uint32_t)end};
        v = end;
    }
    set->count = (uint32_t)count;
    for (uint32_t p = 0; p < set->count; p++) {
        uint64_t bytes = td_page_bytes(set, p, TD_WITH_WEIGHTS);
        if (bytes > set->largest) set->largest = bytes;
    }
    return TD_OK;
}

td_status td_page_set_create(td_page_set **out, const td_graph *graph, unsigned lists, uint64_t edges)
{
    td_page_set *set = NULL;
    TD_CHECK(TD_NEW_ZEROED(&set, 1, "pages"));
    set->graph = graph;
    set->lists = graph->symmetric ? TD_LIST_OUT : lists;
    td_status status = cut(set, edges);
    if (status != TD_OK) {
        td_free(set->pages);
        td_free(set);
        return status;
    }
    if (graph->paged != NULL) {
        set->next = graph->paged->sets;
        graph->paged->sets = set;
    }
    *out = set;
    return TD_OK;
}

void td_page_set_destroy(td_page_set *set)
{
    if (set == NULL) return;
    td_paged *paged = set->graph->paged;
    if (paged != NULL) {
        td_paged_drop_set(paged, set);
        td_page_set **at = &paged->sets;
        while (*at != set) at = &(*at)->next;
        *at = set->next;
    }
    td_free(set->pages);
    td_free(set);
}

uint64_t td_page_edges(const td_page_set *set, uint32_t page)
{
    return edges_between(set->graph, set->lists, set->pages[page].begin, set->pages[page].end);
}

uint64_t td_page_bytes(const td_page_set *set, uint32_t page, unsigned needs)
{
    const td_paged *paged = set->graph->paged;
    uint64_t bytes = 0;
    for (int i = 0; paged != NULL && i < 4; i++) {
        const td_paged_section *section = &paged->sections[i];
        if (!td_section_needed(section, set->lists, needs)) continue;
        td_blocks blocks = td_page_blocks(set->graph, section, &set->pages[page]);
        bytes += (blocks.end - blocks.first) * TD_PACKED_BLOCK;
    }
    return bytes;
}

/* Everything once. */

typedef struct scan {
    td_range_fn work;
    void *context;
    const uint64_t *map; /* the vertices to process; NULL: all */
    td_pool *pool;
    uint64_t grain, base;
} scan;

static td_status scan_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    const scan *self = context;
    return self->work(self->context, self->base + begin, self->base + end, worker);
}

static uint64_t scan_room(void)
{
    td_memory_stats memory = td_memory();
    uint64_t left = memory.budget > memory.now ? (memory.budget - memory.now) / 2 : 0;
    return memory.budget == 0 ? SCAN_ROOM : left;
}

static uint64_t scan_edges(const td_graph *graph)
{
    uint64_t edges = scan_room() / 8 / (sizeof(uint32_t) + td_weight_bytes(graph->weights));
    return edges > SCAN_EDGES ? SCAN_EDGES : edges < SCAN_LEAST ? SCAN_LEAST : edges;
}

static bool concerns(const scan *self, const td_held_page *page)
{
    for (uint64_t w = page->begin / 64; self->map != NULL && w < td_bitmap_words(page->end); w++)
        if (self->map[w] != 0) return true;
    return self->map == NULL;
}

static td_status scan_page(scan *self, const td_held_page *page)
{
    self->base = page->begin;
    do {
        TD_CHECK(td_pool_for(self->pool, page->end - page->begin, self->grain, scan_range, self));
    } while (self->map != NULL && concerns(self, page));
    return TD_OK;
}

static td_status scan_pages(scan *self, td_page_set *set, unsigned needs)
{
    td_paged *paged = set->graph->paged;
    td_status status = TD_OK;
    uint32_t *order = NULL, count = 0;
    TD_CHECK(TD_NEW(&order, set->count, "order of pages"));
    for (uint32_t p = 0; p < set->count; p++)
        if (concerns(self, &set->pages[p])) order[count++] = p;
    TD_TRY(td_paged_set_room(paged, scan_room() > 2 * set->largest ? scan_room() : 2 * set->largest));
    TD_TRY(td_paged_begin(paged, &(td_page_pass){.set = set, .needs = needs, .order = order, .count = count}));
    for (uint32_t i = 0; i < count; i++) {
        TD_TRY(td_paged_wait(paged, i));
        TD_TRY(scan_page(self, &set->pages[order[i]]));
        TD_TRY(td_paged_leave(paged, i, 0));
    }
done:
    td_free(order);
    return status;
}

static td_status scan_graph(scan *self, const td_graph *graph, unsigned lists, unsigned needs)
{
    td_page_set *set = NULL;
    TD_CHECK(td_page_set_create(&set, graph, lists, scan_edges(graph)));
    td_status status = scan_pages(self, set, needs);
    td_page_set_destroy(set);
    return status;
}

td_status td_graph_for_vertices(const td_graph *graph, unsigned lists, unsigned needs, td_pool *pool, uint64_t grain,
                                td_range_fn work, void *context)
{
    scan self = {.work = work, .context = context, .pool = pool, .grain = grain};
    if (graph->paged == NULL) return td_pool_for(pool, graph->vertices, grain, work, context);
    return scan_graph(&self, graph, lists, needs);
}

td_status td_paged_for_marked(const td_graph *graph, unsigned lists, unsigned needs, const uint64_t *map, td_pool *pool,
                              uint64_t grain, td_range_fn work, void *context)
{
    scan self = {.work = work, .context = context, .map = map, .pool = pool, .grain = grain};
    return scan_graph(&self, graph, lists, needs);
}
