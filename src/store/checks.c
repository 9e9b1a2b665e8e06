#include "store/checks.h"

#include "base/alloc.h"
#include "base/mapping.h"
#include "store/packed_file.h"

#include <stdatomic.h>

_Static_assert(TD_CHECKS_BLOCK == TD_PACKED_BLOCK, "a block has one checksum");

struct td_checks {
    td_packed *packed;               /* its header and checksums */
    atomic_bool passed[TD_SECTIONS]; /* sections whose blocks have been checked */
    _Atomic uint64_t bytes;
};

void td_checks_destroy(td_checks *checks)
{
    if (checks == NULL) return;
    td_packed_close(checks->packed);
    td_free(checks);
}

uint64_t td_checks_done(const td_graph *graph) { return graph->checks != NULL ? graph->checks->bytes : 0; }

static const char *data_of(const td_graph *graph, td_section_kind kind)
{
    return graph->mapping->base + graph->checks->packed->info.sections[kind].offset;
}

/* One section, by all workers. */

typedef struct section_check {
    const td_graph *graph;
    td_section_kind kind;
} section_check;

static td_status check_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const section_check *self = context;
    td_checks *checks = self->graph->checks;
    uint64_t padded = td_packed_padded(checks->packed->info.sections[self->kind].bytes);
    uint64_t at = begin * TD_PACKED_BLOCK, last = end * TD_PACKED_BLOCK < padded ? end * TD_PACKED_BLOCK : padded;
    atomic_fetch_add_explicit(&checks->bytes, last - at, memory_order_relaxed);
    return td_packed_verify_content(checks->packed, self->kind, begin, data_of(self->graph, self->kind) + at,
                                    last - at);
}

static td_status check_section(const td_graph *graph, td_section_kind kind, td_pool *pool)
{
    section_check self = {graph, kind};
    const td_section *section = &graph->checks->packed->info.sections[kind];
    if (section->element == 0 || graph->checks->passed[kind]) return TD_OK;
    td_status status = td_pool_for(pool, td_section_blocks(section), TD_RUN_BLOCKS, check_blocks, &self);
    TD_CHECK(td_mapping_check(graph->mapping, status)); /* zeros in place of a file's end have wrong checksums */
    graph->checks->passed[kind] = true;
    return TD_OK;
}

td_status td_checks_lists(const td_graph *graph, bool weights, td_pool *pool)
{
    if (graph->checks == NULL) return TD_OK;
    TD_CHECK(check_section(graph, TD_SECTION_OUT_TARGETS, pool));
    TD_CHECK(check_section(graph, TD_SECTION_IN_TARGETS, pool));
    if (!weights) return TD_OK;
    TD_CHECK(check_section(graph, TD_SECTION_OUT_WEIGHTS, pool));
    return check_section(graph, TD_SECTION_IN_WEIGHTS, pool);
}

/* Piece by piece. */

static td_section_kind kind_of(const td_graph *graph, const void *array)
{
    static const td_section_kind kinds[] = {TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS, TD_SECTION_OUT_WEIGHTS,
                                            TD_SECTION_IN_WEIGHTS};
    for (size_t i = 0; graph->checks != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (graph->checks->packed->info.sections[kinds[i]].element != 0 && array == data_of(graph, kinds[i]))
            return kinds[i];
    return TD_SECTIONS;
}

bool td_checks_pending(const td_graph *graph, const void *array)
{
    td_section_kind kind = kind_of(graph, array);
    return kind != TD_SECTIONS && !graph->checks->passed[kind];
}

uint64_t td_checks_bytes(const td_graph *graph, const void *array, uint64_t at, uint64_t bytes)
{
    const td_section *section = &graph->checks->packed->info.sections[kind_of(graph, array)];
    return at + bytes < section->bytes ? bytes : td_packed_padded(section->bytes) - at;
}

td_status td_checks_piece(const td_graph *graph, const void *array, uint64_t at, const void *copy, uint64_t bytes)
{
    td_checks *checks = graph->checks;
    atomic_fetch_add_explicit(&checks->bytes, bytes, memory_order_relaxed);
    td_section_kind kind = kind_of(graph, array);
    return td_mapping_check(graph->mapping, td_packed_verify_content(checks->packed, kind, at / TD_PACKED_BLOCK, copy,
                                                                     bytes));
}

void td_checks_passed(const td_graph *graph, const void *array)
{
    td_section_kind kind = kind_of(graph, array);
    if (kind != TD_SECTIONS) graph->checks->passed[kind] = true;
}

/* Opening. */

static td_status check_vertices(td_graph *graph, td_pool *pool)
{
    static const td_section_kind kinds[] = {TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS, TD_SECTION_IDS,
                                            TD_SECTION_NAMES};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) TD_CHECK(check_section(graph, kinds[i], pool));
    return td_mapping_check(graph->mapping, td_graph_check_vertices(graph, pool));
}

static td_status open_checks(td_graph *graph, td_packed *packed)
{
    td_status status = TD_NEW_ZEROED(&graph->checks, 1, "checks of a mapped graph");
    if (status != TD_OK) {
        td_packed_close(packed);
        return status;
    }
    graph->checks->packed = packed;
    return td_packed_load_checksums(packed);
}

td_status td_packed_map_unchecked(td_graph **out, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    td_packed *packed = NULL;
    TD_CHECK(td_packed_map(&graph, path));
    TD_TRY(td_packed_open(&packed, path));
    TD_TRY(open_checks(graph, packed));
    if (graph->build_id != packed->info.build_id) TD_TRY(td_fail(TD_IO, "%s was replaced while it was opened", path));
    TD_TRY(check_vertices(graph, pool));
    TD_TRY(td_graph_share_pattern(graph)); /* which has the checks, too */
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    return status;
}
