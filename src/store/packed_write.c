/* Writing a graph in memory as a packed file: workers take runs of blocks and write
 * them directly from the graph's arrays; only data that is not in memory in the file's
 * form (degrees, the padded end of a section) passes through a buffer. */
#include "base/alloc.h"
#include "base/log.h"
#include "store/packed_file.h"
#include "store/packed_out.h"
#include "store/vertex_names.h"

#include <stdatomic.h>
#include <string.h>

typedef struct writing {
    const td_graph *graph;
    const char *path;
    td_packed_info info;
    const void *sources[TD_SECTIONS]; /* arrays to be written as they are; NULL for degrees */
    td_page *out_pages, *in_pages;
    uint64_t blocks;
    char *buffers; /* room for a run for each worker */
    uint64_t run_bytes;
    td_packed_out *out;
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

/* The run's bytes with padding: in place if possible, else in the buffer. */
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
        TD_CHECK(run_bytes(self, &run, self->buffers + (uint64_t)worker * self->run_bytes, &data));
        TD_CHECK(td_packed_out_put(self->out, run.kind, run.begin, data, run.padded));
        number += run.blocks;
        td_progress("writing blocks", atomic_fetch_add(&self->done, run.blocks) + run.blocks, self->blocks);
    }
    return TD_OK;
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
        [TD_SECTION_NAMES] = graph->names != NULL ? graph->names->text : NULL,
    };
    memcpy(self->sources, sources, sizeof sources);
    self->blocks = td_packed_first_block(&self->info, TD_SECTION_CHECKSUMS);
    self->run_bytes = td_packed_longest_run(&self->info);
    return TD_NEW(&self->buffers, (uint64_t)td_pool_threads(pool) * self->run_bytes, "write buffers");
}

td_status td_packed_write_striped(const td_graph *graph, const char *path, const char *directories, td_pool *pool)
{
    td_status status = TD_OK;
    writing self = {.graph = graph, .path = path};
    TD_TRY(td_packed_out_create(&self.out, path, directories));
    TD_TRY(prepare(&self, pool));
    TD_TRY(td_packed_out_place(self.out, &self.info, true));
    TD_TRY(td_pool_for(pool, self.blocks, TD_RUN_BLOCKS, write_blocks, &self));
    TD_TRY(td_packed_out_commit(self.out));
done:
    td_progress_end();
    td_packed_out_close(self.out);
    td_free(self.out_pages);
    td_free(self.in_pages);
    td_free(self.buffers);
    return status;
}

td_status td_packed_write(const td_graph *graph, const char *path, td_pool *pool)
{
    return td_packed_write_striped(graph, path, NULL, pool);
}
