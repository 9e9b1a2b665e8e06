/* Filling a list from a seed: fixed pieces on any number of threads, the
 * renumbering of vertices, and the checks of size that all kinds share. */
#include "store/gen_fill.h"

#include "base/log.h"
#include "base/names.h"
#include "store/shuffle.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Exceeds any machine's memory, and keeps sums of counts from wrapping. */
#define MOST_EDGES (UINT64_C(1) << 48)
enum { MOST_SCALE = 31 };

typedef struct filling {
    const td_gen_job *job;
    td_edge_list *edges;
    uint64_t grain;
    td_shuffle shuffle;
    _Atomic uint64_t done;
} filling;

/* A power of two needs no cycle walking, so that the loop vectorises. */
static void shuffle_ends(const td_shuffle *shuffle, uint32_t *ends, uint64_t count)
{
    td_shuffle local = *shuffle;
    if (local.count - 1 == local.mask)
        for (uint64_t i = 0; i < count; i++) ends[i] = td_shuffle_turn(&local, ends[i]);
    else
        for (uint64_t i = 0; i < count; i++) ends[i] = td_shuffle_at(&local, ends[i]);
}

static td_status fill_piece(void *context, uint64_t begin, uint64_t end, int worker)
{
    filling *self = context;
    const td_gen_job *job = self->job;
    td_edge_chunk *chunk = NULL;
    TD_CHECK(td_edges_chunk(self->edges, begin / self->grain, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, job->room != NULL ? job->room(job, begin, end) : end - begin, job->weighted));
    job->emit(job, begin, end, chunk);
    if (job->spec->shuffle) shuffle_ends(&self->shuffle, chunk->ends, 2 * chunk->count);
    uint64_t before = atomic_fetch_add(&self->done, end - begin);
    td_progress("generating", before + (end - begin), job->items);
    return td_edges_deliver(self->edges, chunk, worker);
}

td_status td_gen_fill(const td_gen_job *job, td_edge_list *edges, td_pool *pool)
{
    filling self = {.job = job, .edges = edges, .grain = job->grain != 0 ? job->grain : TD_GEN_GRAIN,
                    .shuffle = td_shuffle_of(td_gen_stream(job->spec, 0), (uint32_t)job->vertices)};
    edges->declared = true;
    edges->vertices = job->vertices;
    edges->id_base = 0;
    edges->weighted = job->weighted;
    edges->mirror = job->mirror;
    td_status status = td_pool_for(pool, job->items, self.grain, fill_piece, &self);
    td_progress_end();
    return status;
}

td_status td_gen_area(const td_gen_spec *spec, const char *names, uint64_t a, uint64_t b, uint64_t *vertices)
{
    char named[256];
    if (__builtin_mul_overflow(a, b, vertices) || *vertices > TD_MAX_VERTICES)
        return td_fail(TD_LIMIT, "%s: %s ask for %llu x %llu vertices, at most 2^32-2 are supported", spec->kind,
                       td_names_in(names, named, sizeof named), (unsigned long long)a, (unsigned long long)b);
    return TD_OK;
}

td_status td_gen_edge_limit(const td_gen_spec *spec, const char *names, uint64_t edges)
{
    char named[256];
    if (edges <= MOST_EDGES) return TD_OK;
    return td_fail(TD_LIMIT, "%s: %s ask for %llu edges, at most 2^48 are supported", spec->kind,
                   td_names_in(names, named, sizeof named), (unsigned long long)edges);
}

td_status td_gen_vertices(const td_gen_spec *spec, uint64_t *vertices)
{
    if (spec->scale != 0 && spec->vertices != 0)
        return td_fail(TD_USAGE, "%s: {scale} and {vertices} exclude each other", spec->kind);
    if (spec->scale == 0 && spec->vertices == 0)
        return strcmp(spec->kind, "rmat") == 0
                   ? td_fail(TD_USAGE, "%s: its size is missing; give {scale} (vertices as a power of two)", spec->kind)
                   : td_fail(TD_USAGE, "%s: its size is missing; give {scale} (vertices as a power of two) or {vertices}",
                             spec->kind);
    if (spec->scale > MOST_SCALE)
        return td_fail(TD_LIMIT, "%s: {scale} %llu is above %d (at most 2^32-2 vertices are supported)", spec->kind,
                       (unsigned long long)spec->scale, MOST_SCALE);
    if (spec->vertices > TD_MAX_VERTICES)
        return td_fail(TD_LIMIT, "%s: {vertices} %llu is above 2^32-2, the most that are supported", spec->kind,
                       (unsigned long long)spec->vertices);
    *vertices = spec->scale != 0 ? UINT64_C(1) << spec->scale : spec->vertices;
    return TD_OK;
}

td_status td_gen_edges(const td_gen_spec *spec, uint64_t vertices, double degree, uint64_t *edges)
{
    if (!(spec->degree >= 0)) return td_fail(TD_INVALID, "%s: {degree} %g is below 0", spec->kind, spec->degree);
    double count = (double)vertices * (spec->degree != 0 ? spec->degree : degree);
    if (count > (double)MOST_EDGES)
        return td_fail(TD_LIMIT, "%s: {degree} %g asks for %.0f edges, at most 2^48 are supported", spec->kind,
                       spec->degree, count);
    *edges = (uint64_t)count;
    return TD_OK;
}

td_status td_gen_whole_degree(const td_gen_spec *spec, uint64_t default_degree, uint64_t *degree)
{
    if (!(spec->degree >= 0) || spec->degree > (double)TD_MAX_VERTICES || floor(spec->degree) != spec->degree)
        return td_fail(TD_INVALID, "%s: {degree} %g is not a whole number from 1 to 2^32-2", spec->kind, spec->degree);
    *degree = spec->degree != 0 ? (uint64_t)spec->degree : default_degree;
    return TD_OK;
}
