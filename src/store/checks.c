#include "store/checks.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/mapping.h"
#include "store/packed_file.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(TD_CHECKS_BLOCK == TD_PACKED_BLOCK, "a block has one checksum");

struct td_checks {
    td_graph *graph;                 /* the graph of the file; its pattern shares the lists */
    td_packed *packed;               /* its header and checksums */
    void *sections[TD_SECTIONS];     /* copies in memory, or parts of the mapping */
    atomic_bool copied[TD_SECTIONS];
    pthread_mutex_t lock;            /* of a section that is being copied */
    _Atomic uint64_t bytes;
};

void td_checks_destroy(td_checks *checks)
{
    if (checks == NULL) return;
    for (int kind = 0; kind < TD_SECTIONS; kind++)
        if (checks->copied[kind]) td_free(checks->sections[kind]);
    td_packed_close(checks->packed);
    pthread_mutex_destroy(&checks->lock);
    td_free(checks);
}

uint64_t td_checks_done(const td_graph *graph) { return graph->checks != NULL ? graph->checks->bytes : 0; }

static const char *data_of(const td_checks *checks, td_section_kind kind)
{
    return checks->graph->mapping->base + checks->packed->info.sections[kind].offset;
}

/* Whole sections, which all workers read, and check where they are in memory: a file that changes later changes nothing
 * of them. */

static bool is_list(td_section_kind kind)
{
    return kind == TD_SECTION_OUT_TARGETS || kind == TD_SECTION_IN_TARGETS || kind == TD_SECTION_OUT_WEIGHTS ||
           kind == TD_SECTION_IN_WEIGHTS;
}

/* Gives the graph a copy. Other threads may upload the list meanwhile, from the mapping: it stays, and they check what
 * they copy. */
static void attach_list(td_checks *checks, td_section_kind kind)
{
    td_graph *graph = checks->graph, *pattern = graph->pattern;
    void *copy = checks->sections[kind];
    bool out = kind == TD_SECTION_OUT_TARGETS || kind == TD_SECTION_OUT_WEIGHTS;
    td_adjacency *of[] = {out ? &graph->out : &graph->in, out && graph->symmetric ? &graph->in : NULL,
                          out && pattern != NULL ? &pattern->out : NULL, out && pattern != NULL ? &pattern->in : NULL};
    bool targets = kind == TD_SECTION_OUT_TARGETS || kind == TD_SECTION_IN_TARGETS;
    for (int i = 0; i < 4; i++) {
        if (of[i] != NULL && targets) of[i]->targets = copy;
        else if (of[i] != NULL && i < 2) of[i]->weights = copy; /* the pattern has none */
    }
}

static td_status read_section(td_checks *checks, td_section_kind kind, td_pool *pool)
{
    void *copy = NULL;
    td_account *before = td_account_enter(td_account_of(checks->graph));
    td_status status = td_packed_section(checks->packed, kind, &copy, pool);
    (void)td_account_enter(before);
    status = td_mapping_check(checks->graph->mapping, status);
    if (status != TD_OK) {
        td_free(copy);
        return status;
    }
    checks->bytes += td_packed_padded(checks->packed->info.sections[kind].bytes);
    checks->sections[kind] = copy;
    if (is_list(kind)) attach_list(checks, kind);
    checks->copied[kind] = true;
    return TD_OK;
}

static td_status copy_section(td_checks *checks, td_section_kind kind, td_pool *pool)
{
    td_status status = TD_OK;
    if (checks->packed->info.sections[kind].bytes == 0 || checks->copied[kind]) return TD_OK;
    pthread_mutex_lock(&checks->lock);
    if (!checks->copied[kind]) status = read_section(checks, kind, pool);
    pthread_mutex_unlock(&checks->lock);
    return status;
}

td_status td_checks_lists(const td_graph *graph, bool weights, td_pool *pool)
{
    td_checks *checks = graph->checks;
    if (checks == NULL) return TD_OK;
    TD_CHECK(copy_section(checks, TD_SECTION_OUT_TARGETS, pool));
    TD_CHECK(copy_section(checks, TD_SECTION_IN_TARGETS, pool));
    if (!weights) return TD_OK;
    TD_CHECK(copy_section(checks, TD_SECTION_OUT_WEIGHTS, pool));
    return copy_section(checks, TD_SECTION_IN_WEIGHTS, pool);
}

/* Piece by piece. */

static td_section_kind kind_of(const td_checks *checks, const void *array)
{
    for (td_section_kind kind = 0; checks != NULL && kind < TD_SECTIONS; kind++)
        if (is_list(kind) && checks->packed->info.sections[kind].element != 0 && array == data_of(checks, kind))
            return kind;
    return TD_SECTIONS;
}

bool td_checks_pending(const td_graph *graph, const void *array)
{
    return kind_of(graph->checks, array) != TD_SECTIONS;
}

static uint64_t pending_bytes(const td_graph *graph, bool weights)
{
    bool two = graph->in.offsets != NULL && graph->in.offsets != graph->out.offsets;
    const td_adjacency *of[] = {&graph->out, two ? &graph->in : NULL};
    uint64_t bytes = 0;
    for (int i = 0; i < 2 && of[i] != NULL; i++)
        if (td_checks_pending(graph, weights ? of[i]->weights : of[i]->targets))
            bytes += graph->edges * (weights ? td_weight_bytes(graph->weights) : sizeof(uint32_t));
    return bytes;
}

uint64_t td_checks_pending_targets(const td_graph *graph) { return pending_bytes(graph, false); }

uint64_t td_checks_pending_weights(const td_graph *graph) { return pending_bytes(graph, true); }

void td_checks_peek(const td_graph *graph, const uint32_t *targets, uint64_t first, uint32_t *into, uint64_t count)
{
    td_failure before;
    td_section_kind kind = kind_of(graph->checks, targets);
    if (kind == TD_SECTIONS) {
        td_mapping_read(graph->mapping, targets + first, into, count * sizeof *into);
        return;
    }
    td_failure_keep(&before);
    if (td_packed_read(graph->checks->packed, kind, first * sizeof *into, into, count * sizeof *into) != TD_OK)
        memset(into, 0, count * sizeof *into);
    td_failure_set(&before);
}

void td_checks_release(const td_graph *graph, const td_adjacency *adjacency, uint64_t begin, uint64_t end)
{
    if (graph->checks == NULL) return;
    const char *weights = adjacency->weights;
    uint64_t first = adjacency->offsets[begin], after = adjacency->offsets[end], weight = td_weight_bytes(graph->weights);
    if (first >= after || after > graph->edges) return;
    td_mapping_release(graph->mapping, adjacency->targets + first, adjacency->targets + after);
    if (weights != NULL) td_mapping_release(graph->mapping, weights + first * weight, weights + after * weight);
}

td_status td_checks_wild(const td_graph *graph, td_section_kind kind, uint64_t edge, uint32_t target)
{
    td_status status = td_fail(TD_CORRUPT, "%s: number %" PRIu64 " of its %s is %" PRIu32 "; the graph has %" PRIu32
                               " vertices; 'tandem info --check' checks the whole file", graph->mapping->path, edge,
                               td_section_name(kind), target, graph->vertices);
    return td_mapping_check(graph->mapping, status);
}

static td_status read_piece(td_checks *checks, td_section_kind kind, uint64_t at, void *into, uint64_t bytes)
{
    uint64_t length = checks->packed->info.sections[kind].bytes;
    if (at + bytes >= length) bytes = td_packed_padded(length) - at;
    atomic_fetch_add_explicit(&checks->bytes, bytes, memory_order_relaxed);
    TD_CHECK(td_packed_read(checks->packed, kind, at, into, bytes));
    return td_packed_verify_content(checks->packed, kind, at / TD_PACKED_BLOCK, into, bytes);
}

td_status td_checks_read(const td_graph *graph, const void *array, uint64_t at, void *into, uint64_t bytes)
{
    return td_mapping_check(graph->mapping, read_piece(graph->checks, kind_of(graph->checks, array), at, into, bytes));
}

td_status td_checks_copy(const td_graph *graph, const void **array, td_pool *pool)
{
    td_section_kind kind = kind_of(graph->checks, *array);
    if (kind == TD_SECTIONS) return TD_OK;
    TD_CHECK(copy_section(graph->checks, kind, pool));
    *array = graph->checks->sections[kind];
    return TD_OK;
}

/* The page cache. */

/* Counts the pages of a sample that are resident. */
static int count_cached(char *base, uint64_t pages, uint64_t page, int sample)
{
    int cached = 0;
    for (int i = 0; i < sample; i++) {
        unsigned char state = 1; /* what cannot be found out counts as there */
        (void)mincore(base + td_share(pages, i, sample) * page, page, &state);
        cached += state & 1;
    }
    return cached;
}

static int assumed = -1;

void td_packed_assume_cached(int pages) { assumed = pages; }

bool td_packed_is_cached(const char *path)
{
    enum { SAMPLE = 64, ENOUGH = 60 };
    td_packed *packed = NULL;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (td_packed_open(&packed, path) != TD_OK) return true; /* opening it again explains why */
    const td_section *targets = &packed->info.sections[TD_SECTION_OUT_TARGETS];
    uint64_t begin = targets->offset / page * page;
    uint64_t pages = (targets->offset + targets->bytes - begin + page - 1) / page;
    char *base = pages == 0 ? MAP_FAILED : mmap(NULL, pages * page, PROT_READ, MAP_SHARED, packed->files[0].fd,
                                                (off_t)begin);
    int there = base == MAP_FAILED ? SAMPLE : count_cached(base, pages, page, SAMPLE);
    if (base != MAP_FAILED) munmap(base, pages * page);
    td_packed_close(packed);
    return (assumed >= 0 ? assumed : there) >= ENOUGH;
}

/* Opening. */

static td_status copy_names(td_checks *checks, td_pool *pool)
{
    td_graph *graph = checks->graph;
    TD_CHECK(copy_section(checks, TD_SECTION_NAMES, pool));
    char *text = checks->sections[TD_SECTION_NAMES];
    checks->copied[TD_SECTION_NAMES] = false; /* the names own it */
    checks->sections[TD_SECTION_NAMES] = NULL;
    return td_packed_attach_names(graph, checks->packed, text, false);
}

static td_status copy_vertices(td_checks *checks, td_pool *pool)
{
    static const td_section_kind kinds[] = {TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS, TD_SECTION_IDS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) TD_CHECK(copy_section(checks, kinds[i], pool));
    td_packed_attach(checks->graph, checks->sections);
    if (checks->packed->info.name_bytes > 0) TD_CHECK(copy_names(checks, pool));
    return td_graph_check_vertices(checks->graph, pool);
}

/* Takes the packed file, also on failure. */
static td_status open_checks(td_graph *graph, td_packed *packed)
{
    td_status status = TD_NEW_ZEROED(&graph->checks, 1, "checks of a mapped graph");
    if (status != TD_OK) {
        td_packed_close(packed);
        return status;
    }
    td_checks *checks = graph->checks;
    *checks = (td_checks){.graph = graph, .packed = packed};
    pthread_mutex_init(&checks->lock, NULL);
    for (int kind = 0; kind <= TD_SECTION_IN_WEIGHTS; kind++)
        if (packed->info.sections[kind].element != 0)
            checks->sections[kind] = (void *)(uintptr_t)data_of(checks, (td_section_kind)kind);
    return td_packed_load_checksums(packed);
}

td_status td_packed_map_unchecked(td_graph **out, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    td_packed *packed = NULL;
    TD_TRY(td_packed_open(&packed, path));
    TD_TRY(td_packed_new_graph(&graph, packed));
    TD_TRY(td_packed_map_file(graph, packed));
    td_packed *taken = packed;
    packed = NULL;
    TD_TRY(open_checks(graph, taken));
    TD_TRY(copy_vertices(graph->checks, pool));
    TD_TRY(td_graph_share_pattern(graph)); /* which has the checks, too */
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    td_packed_close(packed);
    return status;
}
