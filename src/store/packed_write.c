/* Writing a packed file: workers take runs of blocks, hash them and put them at
 * their place straight from the graph's arrays; only what is not in memory as
 * the file has it (degrees, the end of a section) passes through a buffer. The
 * checksums and then the header come last, since they hold hashes of the rest. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/outfile.h"
#include "store/packed_file.h"

#include <stdatomic.h>
#include <string.h>

typedef struct writing {
    const td_graph *graph;
    const char *path;
    td_packed_info info;
    const void *sources[TD_SECTIONS]; /* arrays to be written as they are; NULL for degrees */
    td_page *out_pages, *in_pages;
    uint64_t *checksums; /* with room for the zeros behind them */
    uint64_t blocks;
    char *buffers; /* TD_RUN_BYTES for each worker */
    td_outfile *file;
    _Atomic uint64_t done;
} writing;

static td_status fill_degrees(const writing *self, const td_run *run, uint32_t *degrees)
{
    const td_adjacency *adjacency = run->kind == TD_SECTION_OUT_DEGREES ? &self->graph->out : &self->graph->in;
    uint64_t first = run->begin / sizeof *degrees, count = run->bytes / sizeof *degrees;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t degree = td_degree(adjacency, (uint32_t)(first + i));
        if (degree > UINT32_MAX)
            return td_fail(TD_LIMIT, "cannot write %s: vertex %llu has %llu edges; a packed graph allows %u",
                           self->path, (unsigned long long)td_graph_id(self->graph, (uint32_t)(first + i)),
                           (unsigned long long)degree, UINT32_MAX);
        degrees[i] = (uint32_t)degree;
    }
    return TD_OK;
}

/* The run's bytes with their filling zeros: in place where that is possible, else in the buffer. */
static td_status run_bytes(const writing *self, const td_run *run, char *buffer, const char **data)
{
    const char *source = self->sources[run->kind];
    *data = buffer;
    if (source != NULL && run->bytes == run->padded) {
        *data = source + run->begin;
        return TD_OK;
    }
    memset(buffer + run->bytes, 0, run->padded - run->bytes);
    if (source == NULL) return fill_degrees(self, run, (uint32_t *)buffer);
    memcpy(buffer, source + run->begin, run->bytes);
    return TD_OK;
}

static td_status write_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    writing *self = context;
    for (uint64_t number = begin; number < end;) {
        td_run run = td_packed_run(&self->info, number, end);
        const char *data;
        TD_CHECK(run_bytes(self, &run, self->buffers + (uint64_t)worker * TD_RUN_BYTES, &data));
        for (uint64_t i = 0; i < run.blocks; i++) {
            uint64_t at = i * TD_PACKED_BLOCK, left = run.padded - at;
            self->checksums[number + i] = td_hash64(data + at, left < TD_PACKED_BLOCK ? left : TD_PACKED_BLOCK);
        }
        TD_CHECK(td_outfile_write_at(self->file, run.offset, data, run.padded));
        number += run.blocks;
        td_progress("writing blocks", atomic_fetch_add(&self->done, run.blocks) + run.blocks, self->blocks);
    }
    return TD_OK;
}

static void fill_header(const writing *self, td_disk_header *header)
{
    const td_packed_info *info = &self->info;
    uint64_t checksum_bytes = td_packed_padded(info->sections[TD_SECTION_CHECKSUMS].bytes);
    *header = (td_disk_header){
        .byte_order = TD_PACKED_BYTE_ORDER,
        .version = TD_PACKED_VERSION,
        .header_bytes = sizeof *header,
        .block_bytes = TD_PACKED_BLOCK,
        .file_bytes = info->file_bytes,
        .vertices = info->vertices,
        .edges = info->edges,
        .flags = (info->symmetric ? TD_PACKED_SYMMETRIC : 0u) | (info->has_in ? TD_PACKED_HAS_IN : 0u) |
                 (info->has_ids ? TD_PACKED_HAS_IDS : 0u) | (info->ids_sorted ? TD_PACKED_IDS_SORTED : 0u),
        .weights = (uint32_t)info->weights,
        .weight_min = info->weight_min,
        .weight_max = info->weight_max,
        .id_base = info->id_base,
        .checksums_hash = td_hash64(self->checksums, checksum_bytes),
    };
    memcpy(header->magic, TD_PACKED_MAGIC, sizeof header->magic);
    for (uint32_t kind = 0; kind < TD_SECTIONS; kind++) {
        const td_section *section = &info->sections[kind];
        if (section->element == 0) continue;
        header->sections[header->section_count++] =
            (td_disk_section){kind + 1, section->element, section->offset, section->bytes};
    }
    header->build_id = td_hash64(header, sizeof *header);
    header->header_hash = td_hash64(header, offsetof(td_disk_header, header_hash));
}

static td_status prepare(writing *self, td_pool *pool)
{
    const td_graph *graph = self->graph;
    uint64_t out_pages = 0, in_pages = 0;
    self->info = td_packed_plan(graph);
    bool in = self->info.has_in && !self->info.symmetric;
    TD_CHECK(td_pages_make(&self->out_pages, &out_pages, &graph->out, graph->vertices, pool));
    if (in) TD_CHECK(td_pages_make(&self->in_pages, &in_pages, &graph->in, graph->vertices, pool));
    const void *sources[TD_SECTIONS] = {
        [TD_SECTION_OUT_OFFSETS] = graph->out.offsets, [TD_SECTION_OUT_TARGETS] = graph->out.targets,
        [TD_SECTION_OUT_WEIGHTS] = graph->out.weights, [TD_SECTION_IN_OFFSETS] = graph->in.offsets,
        [TD_SECTION_IN_TARGETS] = graph->in.targets,   [TD_SECTION_IN_WEIGHTS] = graph->in.weights,
        [TD_SECTION_IDS] = graph->ids,                 [TD_SECTION_OUT_PAGES] = self->out_pages,
        [TD_SECTION_IN_PAGES] = self->in_pages,
    };
    memcpy(self->sources, sources, sizeof sources);
    const td_section *checksums = &self->info.sections[TD_SECTION_CHECKSUMS];
    self->blocks = checksums->bytes / sizeof *self->checksums;
    TD_CHECK(TD_NEW_ZEROED(&self->checksums, td_packed_padded(checksums->bytes) / 8, "checksums"));
    return TD_NEW(&self->buffers, (uint64_t)td_pool_threads(pool) * TD_RUN_BYTES, "write buffers");
}

td_status td_packed_write(const td_graph *graph, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    td_disk_header header;
    writing self = {.graph = graph, .path = path};
    TD_TRY(td_outfile_create(&self.file, path, TD_OUT_BINARY));
    TD_TRY(prepare(&self, pool));
    TD_TRY(td_outfile_reserve(self.file, self.info.file_bytes));
    TD_TRY(td_pool_for(pool, self.blocks, TD_RUN_BLOCKS, write_blocks, &self));
    const td_section *checksums = &self.info.sections[TD_SECTION_CHECKSUMS];
    TD_TRY(td_outfile_write_at(self.file, checksums->offset, self.checksums, td_packed_padded(checksums->bytes)));
    fill_header(&self, &header);
    TD_TRY(td_outfile_write_at(self.file, 0, &header, sizeof header));
    TD_TRY(td_outfile_commit(self.file));
done:
    td_progress_end();
    td_outfile_close(self.file);
    td_free(self.out_pages);
    td_free(self.in_pages);
    td_free(self.checksums);
    td_free(self.buffers);
    return status;
}
