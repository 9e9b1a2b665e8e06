/* Reading a packed file with its checksums: workers take runs of blocks, read them to
 * their place, hash them, and check that offsets and targets stay inside the graph
 * while the block is in the cache, so that a loaded graph is safe to use even if the
 * file is malicious. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapping.h"
#include "store/packed_file.h"
#include "store/packed_out.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

typedef struct reading {
    td_packed *packed;
    void *into[TD_SECTIONS]; /* destinations; NULL: only checked */
    uint64_t first, blocks;  /* the blocks to read */
    td_packed_out *copy;     /* receives checked blocks, or NULL */
    char *buffers;           /* a run per worker; if one section is kept, for its padded end */
    uint64_t buffer_count;
    uint64_t run_bytes;
    _Atomic uint64_t done;
} reading;

td_status td_packed_load_checksums(td_packed *packed)
{
    const td_section *section = &packed->info.sections[TD_SECTION_CHECKSUMS];
    uint64_t padded = td_packed_padded(section->bytes), *checksums = NULL;
    uint64_t at = td_packed_locate(&packed->info, TD_SECTION_CHECKSUMS, 0).offset;
    if (packed->checksums != NULL) return TD_OK;
    TD_CHECK(TD_NEW(&checksums, padded / 8, "checksums"));
    td_status status = td_packed_read(packed, TD_SECTION_CHECKSUMS, 0, checksums, padded);
    if (status == TD_OK && td_hash64(checksums, padded) != packed->checksums_hash)
        status = td_fail(TD_CORRUPT, "%s is damaged: its checksums (bytes %" PRIu64 " to %" PRIu64
                         ") do not fit their own", packed->path, at, at + padded - 1);
    if (status != TD_OK) {
        td_free(checksums);
        return status;
    }
    packed->checksums = checksums;
    return TD_OK;
}

td_status td_packed_verify(const td_packed *packed, td_section_kind kind, uint64_t first_block, const void *data,
                           uint64_t bytes)
{
    const uint64_t *checksums = packed->checksums + td_packed_first_block(&packed->info, kind) + first_block;
    for (uint64_t at = 0; at < bytes; at += TD_PACKED_BLOCK, checksums++) {
        uint64_t length = bytes - at < TD_PACKED_BLOCK ? bytes - at : TD_PACKED_BLOCK;
        uint64_t seen = td_hash64((const char *)data + at, length);
        if (seen == *checksums) continue;
        uint64_t block = first_block + at / TD_PACKED_BLOCK;
        td_packed_spot spot = td_packed_locate(&packed->info, kind, block * TD_PACKED_BLOCK);
        return td_fail(TD_CORRUPT, "%s is damaged: block %" PRIu64 " of its %s (bytes %" PRIu64 " to %" PRIu64
                       ") has checksum %016" PRIx64 ", not %016" PRIx64, packed->files[spot.file].path, block,
                       td_section_name(kind), spot.offset, spot.offset + length - 1, seen, *checksums);
    }
    return TD_OK;
}

static td_status bad_offset(const td_packed *packed, td_section_kind kind, uint64_t position, uint64_t offset)
{
    return td_fail(TD_CORRUPT, "%s: number %" PRIu64 " of its %s is %" PRIu64 ": they must ascend from 0 to %" PRIu64,
                   packed->path, position, td_section_name(kind), offset, packed->info.edges);
}

/* Checks within a run; check_seams checks between runs. */
static td_status check_offsets(const td_packed *packed, const td_run *run, const uint64_t *offsets)
{
    uint64_t count = run->bytes / 8, wrong = 0;
    for (uint64_t i = 1; i < count; i++) wrong += offsets[i] < offsets[i - 1];
    if (wrong == 0 && offsets[count - 1] <= packed->info.edges) return TD_OK;
    uint64_t at = 1;
    while (at < count && offsets[at] >= offsets[at - 1]) at++;
    if (at == count) at = count - 1; /* they ascend, but exceed the number of edges */
    return bad_offset(packed, run->kind, run->begin / 8 + at, offsets[at]);
}

static td_status check_targets(const td_packed *packed, const td_run *run, const uint32_t *targets)
{
    uint64_t count = run->bytes / 4, at = 0;
    uint32_t vertices = packed->info.vertices, wrong = 0;
    for (uint64_t i = 0; i < count; i++) wrong |= targets[i] >= vertices; /* fewer instructions than a maximum */
    if (wrong == 0) return TD_OK;
    while (targets[at] < vertices) at++;
    return td_fail(TD_CORRUPT, "%s: number %" PRIu64 " of its %s is %" PRIu32 "; the graph has %" PRIu32 " vertices",
                   packed->path, run->begin / 4 + at, td_section_name(run->kind), targets[at], packed->info.vertices);
}

static td_status check_content(const td_packed *packed, const td_run *run, const void *data)
{
    switch (run->kind) {
    case TD_SECTION_OUT_OFFSETS:
    case TD_SECTION_IN_OFFSETS: return check_offsets(packed, run, data);
    case TD_SECTION_OUT_TARGETS:
    case TD_SECTION_IN_TARGETS: return check_targets(packed, run, data);
    default: return TD_OK;
    }
}

td_status td_packed_verify_content(const td_packed *packed, td_section_kind kind, uint64_t first_block,
                                   const void *data, uint64_t bytes)
{
    uint64_t begin = first_block * TD_PACKED_BLOCK, rest = packed->info.sections[kind].bytes - begin;
    td_run run = {.kind = kind, .begin = begin, .bytes = rest < bytes ? rest : bytes};
    TD_CHECK(td_packed_verify(packed, kind, first_block, data, bytes));
    return check_content(packed, &run, data);
}

/* Reads a run to its destination, or to a buffer if it has none or is padded. */
static td_status read_run(reading *self, const td_run *run, int worker)
{
    td_packed *packed = self->packed;
    char *place = self->into[run->kind] == NULL ? NULL : (char *)self->into[run->kind] + run->begin;
    char *buffer = self->buffers + (uint64_t)worker % self->buffer_count * self->run_bytes;
    char *data = place == NULL || run->padded != run->bytes ? buffer : place;
    TD_CHECK(td_packed_read(packed, run->kind, run->begin, data, run->padded));
    TD_CHECK(td_packed_verify(packed, run->kind, run->begin / TD_PACKED_BLOCK, data, run->padded));
    TD_CHECK(check_content(packed, run, data));
    if (place != NULL && data != place) memcpy(place, data, run->bytes);
    return self->copy != NULL ? td_packed_out_put(self->copy, run->kind, run->begin, data, run->padded) : TD_OK;
}

static td_status read_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    reading *self = context;
    for (uint64_t number = self->first + begin; number < self->first + end;) {
        td_run run = td_packed_run(&self->packed->info, number, self->first + end);
        TD_CHECK(read_run(self, &run, worker));
        number += run.blocks;
        td_progress("reading blocks", atomic_fetch_add(&self->done, run.blocks) + run.blocks, self->blocks);
    }
    return TD_OK;
}

uint64_t td_packed_load_bytes(const td_packed_info *info, const td_pool *pool)
{
    return info->sections[TD_SECTION_CHECKSUMS].bytes + (uint64_t)td_pool_threads(pool) * td_packed_longest_run(info);
}

static td_status read_all(reading *self, td_pool *pool)
{
    TD_CHECK(td_packed_load_checksums(self->packed));
    uint64_t longest = td_packed_longest_run(&self->packed->info), all = self->blocks * TD_PACKED_BLOCK;
    self->run_bytes = all < longest ? all : longest;
    if (self->buffer_count == 0) self->buffer_count = (uint64_t)td_pool_threads(pool);
    TD_CHECK(TD_NEW(&self->buffers, self->buffer_count * self->run_bytes, "read buffers"));
    td_status status = td_pool_for(pool, self->blocks, TD_RUN_BLOCKS, read_blocks, self);
    td_progress_end();
    td_free(self->buffers);
    return status;
}

/* A run may begin with any block, so every block's first offset is compared with the previous one. */
static td_status check_seams(const td_packed *packed, td_section_kind kind, const uint64_t *offsets)
{
    uint64_t vertices = packed->info.vertices, step = TD_PACKED_BLOCK / 8;
    if (offsets == NULL) return TD_OK;
    if (offsets[0] != 0) return bad_offset(packed, kind, 0, offsets[0]);
    for (uint64_t v = step; v <= vertices; v += step)
        if (offsets[v] < offsets[v - 1]) return bad_offset(packed, kind, v, offsets[v]);
    if (offsets[vertices] != packed->info.edges) return bad_offset(packed, kind, vertices, offsets[vertices]);
    return TD_OK;
}

static bool kept_in_memory(td_section_kind kind)
{
    return kind <= TD_SECTION_IN_WEIGHTS || kind == TD_SECTION_IDS || kind == TD_SECTION_NAMES;
}

static td_status load_sections(reading *self, td_pool *pool)
{
    const td_packed_info *info = &self->packed->info;
    for (td_section_kind kind = 0; kind < TD_SECTIONS; kind++) {
        const td_section *section = &info->sections[kind];
        if (section->element == 0 || !kept_in_memory(kind)) continue;
        uint64_t count = section->bytes / section->element;
        TD_CHECK(td_new_bytes(&self->into[kind], count, section->element, td_section_name(kind)));
    }
    TD_CHECK(read_all(self, pool));
    TD_CHECK(check_seams(self->packed, TD_SECTION_OUT_OFFSETS, self->into[TD_SECTION_OUT_OFFSETS]));
    return check_seams(self->packed, TD_SECTION_IN_OFFSETS, self->into[TD_SECTION_IN_OFFSETS]);
}

td_status td_packed_load(td_graph **out, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_packed *packed = NULL;
    td_graph *graph = NULL;
    reading self = {0};
    TD_TRY(td_packed_open(&packed, path));
    self.packed = packed;
    self.blocks = td_packed_first_block(&packed->info, TD_SECTION_CHECKSUMS);
    TD_TRY(td_packed_new_graph(&graph, packed));
    TD_TRY(load_sections(&self, pool));
    char *names = self.into[TD_SECTION_NAMES];
    td_packed_attach(graph, self.into);
    memset(self.into, 0, sizeof self.into); /* the graph owns them */
    TD_TRY(td_packed_attach_names(graph, packed, names, false));
    TD_TRY(td_graph_share_pattern(graph));
    *out = graph;
    graph = NULL;
done:
    if (status != TD_OK)
        for (int kind = 0; kind < TD_SECTIONS; kind++) td_free(self.into[kind]);
    td_graph_destroy(graph);
    td_packed_close(packed);
    return status;
}

/* The checksums of a section include the zeros that follow it in the mapping. */
static td_status verify_vertices(td_packed *packed, const td_graph *graph)
{
    static const td_section_kind kinds[] = {TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS, TD_SECTION_IDS,
                                            TD_SECTION_NAMES};
    TD_CHECK(td_packed_load_checksums(packed));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const td_section *section = &packed->info.sections[kinds[i]];
        if (section->element == 0) continue;
        uint64_t padded = td_packed_padded(section->bytes);
        const char *data = graph->mapping->base + section->offset;
        for (uint64_t at = 0; at < padded; at += TD_RUN_BYTES) {
            uint64_t bytes = padded - at < TD_RUN_BYTES ? padded - at : TD_RUN_BYTES;
            TD_CHECK(td_packed_verify(packed, kinds[i], at / TD_PACKED_BLOCK, data + at, bytes));
            td_mapping_let_go(graph->mapping, data + at, data + at + bytes);
        }
    }
    return TD_OK;
}

td_status td_packed_map_checked(td_graph **out, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_packed *packed = NULL;
    td_graph *graph = NULL;
    TD_TRY(td_packed_open(&packed, path));
    TD_TRY(td_packed_map(&graph, path));
    TD_TRY(td_mapping_check(graph->mapping, verify_vertices(packed, graph)));
    TD_TRY(td_graph_check_vertices(graph, pool));
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    td_packed_close(packed);
    return status;
}

td_status td_packed_copy(const char *from, const char *path, const char *directories, td_pool *pool)
{
    td_status status = TD_OK;
    reading self = {0};
    TD_TRY(td_packed_open(&self.packed, from));
    self.blocks = td_packed_first_block(&self.packed->info, TD_SECTION_CHECKSUMS);
    TD_TRY(td_packed_out_create(&self.copy, path, directories));
    TD_TRY(td_packed_out_place(self.copy, &self.packed->info, true));
    TD_TRY(read_all(&self, pool));
    TD_TRY(td_packed_out_commit(self.copy));
done:
    td_packed_out_close(self.copy);
    td_packed_close(self.packed);
    return status;
}

td_status td_packed_verify_all(const char *path, td_pool *pool)
{
    reading self = {0};
    TD_CHECK(td_packed_open(&self.packed, path));
    self.blocks = td_packed_first_block(&self.packed->info, TD_SECTION_CHECKSUMS);
    td_status status = read_all(&self, pool);
    td_packed_close(self.packed);
    return status;
}

td_status td_packed_section(td_packed *packed, td_section_kind kind, void **out, td_pool *pool)
{
    const td_section *section = &packed->info.sections[kind];
    *out = NULL;
    if (section->element == 0) return TD_OK;
    reading self = {.packed = packed, .first = td_packed_first_block(&packed->info, kind),
                    .blocks = td_section_blocks(section), .buffer_count = 1};
    TD_CHECK(td_new_bytes(&self.into[kind], section->bytes / section->element, section->element,
                          td_section_name(kind)));
    td_status status = read_all(&self, pool);
    if (status == TD_OK) *out = self.into[kind];
    if (status != TD_OK) td_free(self.into[kind]);
    return status;
}

static td_status check_directory(const td_packed *packed, td_section_kind kind, const td_page *pages, uint64_t count)
{
    uint64_t vertex = 0, edge = 0;
    for (uint64_t p = 0; p < count; p++) {
        if (pages[p].first_vertex != vertex || pages[p].first_edge != edge || pages[p].vertices == 0 ||
            pages[p].edges > packed->info.edges - edge)
            return td_fail(TD_CORRUPT, "%s: entry %" PRIu64 " of its %s does not follow the one before", packed->path,
                           p, td_section_name(kind));
        vertex += pages[p].vertices;
        edge += pages[p].edges;
    }
    if (vertex != packed->info.vertices || edge != packed->info.edges)
        return td_fail(TD_CORRUPT, "%s: its %s cover %" PRIu64 " vertices and %" PRIu64 " edges, not %" PRIu32
                       " and %" PRIu64, packed->path, td_section_name(kind), vertex, edge, packed->info.vertices,
                       packed->info.edges);
    return TD_OK;
}

td_status td_packed_pages(td_packed *packed, bool in, td_page **out, uint64_t *count, td_pool *pool)
{
    td_section_kind kind = in && !packed->info.symmetric ? TD_SECTION_IN_PAGES : TD_SECTION_OUT_PAGES;
    uint64_t number = packed->info.sections[kind].bytes / sizeof **out;
    void *pages;
    if (in && !packed->info.has_in) return td_fail(TD_NOT_FOUND, "%s has no in-adjacency", packed->path);
    TD_CHECK(td_packed_section(packed, kind, &pages, pool));
    td_status status = check_directory(packed, kind, pages, number);
    if (status != TD_OK) {
        td_free(pages);
        return status;
    }
    *out = pages;
    *count = number;
    return TD_OK;
}

typedef struct comparison {
    const td_packed *packed;
    const td_adjacency *adjacency;
    const uint32_t *degrees;
    td_section_kind kind;
    const td_mapping *mapping;
} comparison;

static td_status compare_degrees(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const comparison *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (self->degrees[v] != td_degree(self->adjacency, (uint32_t)v))
            return td_fail(TD_CORRUPT, "%s: number %" PRIu64 " of its %s is %" PRIu32 ", its offsets say %" PRIu64,
                           self->packed->path, v, td_section_name(self->kind), self->degrees[v],
                           td_degree(self->adjacency, (uint32_t)v));
    td_mapping_let_go(self->mapping, self->degrees + begin, self->degrees + end);
    td_mapping_let_go(self->mapping, self->adjacency->offsets + begin, self->adjacency->offsets + end);
    return TD_OK;
}

/* Checks that the data derived from an adjacency (degrees, page directory) is what the
 * writer would write. The blocks have passed their checksums, so the mapping is trusted. */
static td_status check_derived(td_packed *packed, const td_graph *graph, bool in, td_pool *pool)
{
    td_status status = TD_OK;
    td_page *made = NULL, *stored = NULL;
    uint64_t made_count, stored_count;
    comparison degrees = {.packed = packed, .adjacency = in ? &graph->in : &graph->out,
                          .kind = in ? TD_SECTION_IN_DEGREES : TD_SECTION_OUT_DEGREES, .mapping = graph->mapping};
    degrees.degrees = (const void *)(graph->mapping->base + packed->info.sections[degrees.kind].offset);
    TD_TRY(td_pool_for(pool, graph->vertices, 65536, compare_degrees, &degrees));
    TD_TRY(td_pages_make_mapped(&made, &made_count, graph, degrees.adjacency, pool));
    TD_TRY(td_packed_pages(packed, in, &stored, &stored_count, pool));
    for (uint64_t p = 0; p < made_count || p < stored_count; p++)
        if (p >= made_count || p >= stored_count || memcmp(&made[p], &stored[p], sizeof *made) != 0)
            TD_TRY(td_fail(TD_CORRUPT, "%s: entry %" PRIu64 " of its %s does not describe its edges", packed->path, p,
                           td_section_name(in ? TD_SECTION_IN_PAGES : TD_SECTION_OUT_PAGES)));
done:
    td_free(made);
    td_free(stored);
    return status;
}

td_status td_packed_check(const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_graph *graph = NULL;
    reading self = {0};
    TD_TRY(td_packed_open(&self.packed, path));
    self.blocks = td_packed_first_block(&self.packed->info, TD_SECTION_CHECKSUMS);
    TD_TRY(read_all(&self, pool));
    TD_TRY(td_packed_map(&graph, path));
    TD_TRY(td_graph_check(graph, pool));
    TD_TRY(check_derived(self.packed, graph, false, pool));
    if (graph->in.offsets != NULL && !graph->symmetric) TD_TRY(check_derived(self.packed, graph, true, pool));
done:
    if (graph != NULL) status = td_mapping_check(graph->mapping, status);
    td_graph_destroy(graph);
    td_packed_close(self.packed);
    return status;
}
