/* A radix sort of edges into an adjacency.
 *
 * Vertices are divided into buckets of 2^shift consecutive numbers. First the edges are
 * scattered by the bucket of their target. Then every target bucket, in order, is sorted
 * by target inside the cache and scattered by the bucket of the source. Finally every
 * source bucket is placed, stably, into its rows, which are then sorted by target. The
 * in-adjacency is made from the rows in the same way: scatter by target, place. Every
 * scatter goes through line buffers (scatter.h), every other access stays inside one
 * bucket.
 *
 * Work is divided into *strips*, whose bounds depend on the data; each strip counts its
 * records first, so that it knows its places in every bucket, and workers take strips in
 * any order. The result is the same for any number of threads.
 */
#include "store/builder.h"

#include "base/cancel.h"
#include "base/log.h"
#include "store/builder_steps.h"
#include "store/scatter.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    MOST_BUCKETS = 2048,          /* line buffers of all buckets stay in the second-level cache */
    RECORDS_PER_BUCKET = 1 << 16, /* half a megabyte */
    ROWS_PER_BUCKET = 1 << 20,    /* bounds a worker's counts when vertices are many and edges few */
    STRIPS_PER_WORKER = 4,
};
#define LARGEST_COPY (UINT64_C(1) << 19) /* records; a larger bucket is ordered in place */

/* Records in buckets: bucket b is [start[b], start[b + 1]). */
typedef struct bucketed {
    uint64_t *records;
    uint32_t *weights;
    uint64_t *start;
} bucketed;

typedef struct build {
    td_edge_list *list;
    td_pool *pool;
    uint32_t vertices;
    bool mirror, drop_loops, weighted;
    uint32_t shift;
    uint64_t buckets;
    uint64_t strips;
    uint64_t *bounds; /* [strips + 1]: bounds of the strips, in the items of the pass */
    uint64_t *places; /* [strip][bucket]: counts, then positions */
    uint64_t *chunk_start;
    const td_adjacency *rows; /* source of a transposing pass */
    bucketed from, to;
    bucketed spare; /* memory of a finished pass, reused to save page faults */
    td_adjacency *made;
    _Atomic uint64_t next_strip;
} build;

static void bucketed_clear(bucketed *set)
{
    td_free(set->records);
    td_free(set->weights);
    td_free(set->start);
    *set = (bucketed){0};
}

static void choose_buckets(build *job, uint64_t edges)
{
    uint64_t most = edges / RECORDS_PER_BUCKET + 1, least = job->vertices / ROWS_PER_BUCKET + 1;
    if (most < least) most = least;
    if (most > MOST_BUCKETS) most = MOST_BUCKETS;
    job->shift = 0;
    uint64_t last = job->vertices == 0 ? 0 : job->vertices - 1;
    while ((last >> job->shift) + 1 > most) job->shift++;
    job->buckets = (last >> job->shift) + 1;
}

static uint64_t *places_of(const build *job, uint64_t strip) { return job->places + strip * job->buckets; }

/* Each strip of a pass processes its part twice: to count and to scatter. `scatter` is
 * NULL while counting. */
typedef td_status (*strip_fn)(build *job, uint64_t strip, uint64_t *counts, td_scatter *scatter);

typedef struct pass {
    build *job;
    strip_fn work;
    bool counting;
} pass;

static td_status run_strips(void *context, int worker, int workers)
{
    (void)worker, (void)workers;
    pass *self = context;
    build *job = self->job;
    td_status status = TD_OK;
    td_scatter scatter = {0};
    if (!self->counting) TD_TRY(td_scatter_create(&scatter, job->buckets, job->to.records, job->to.weights));
    for (uint64_t strip; (strip = job->next_strip++) < job->strips;) {
        TD_TRY(td_cancel_check());
        if (self->counting) {
            TD_TRY(self->work(job, strip, places_of(job, strip), NULL));
            continue;
        }
        for (uint64_t b = 0; b < job->buckets; b++) td_scatter_begin(&scatter, b, places_of(job, strip)[b]);
        TD_TRY(self->work(job, strip, NULL, &scatter));
        td_scatter_end(&scatter, job->buckets);
    }
done:
    td_scatter_destroy(&scatter);
    return status;
}

/* Turns counts into positions, bucket by bucket, strip by strip. */
static uint64_t lay_out(build *job)
{
    uint64_t position = 0;
    for (uint64_t b = 0; b < job->buckets; b++) {
        job->to.start[b] = position;
        for (uint64_t s = 0; s < job->strips; s++) {
            uint64_t count = places_of(job, s)[b];
            places_of(job, s)[b] = position;
            position += count;
        }
    }
    job->to.start[job->buckets] = position;
    return position;
}

static td_status make_records(build *job, uint64_t records)
{
    if (job->spare.records != NULL && td_block_bytes(job->spare.records) >= records * sizeof *job->spare.records) {
        job->to.records = job->spare.records;
        job->to.weights = job->spare.weights;
        job->spare = (bucketed){0};
        return TD_OK;
    }
    TD_CHECK(TD_NEW(&job->to.records, records, "edges in buckets"));
    return job->weighted ? TD_NEW(&job->to.weights, records, "weights in buckets") : TD_OK;
}

/* One pass: counts, allocates job->to, scatters. */
static td_status scatter_pass(build *job, strip_fn work)
{
    td_status status = TD_OK;
    TD_TRY(TD_NEW_ZEROED(&job->places, job->strips * job->buckets, "bucket counts"));
    TD_TRY(TD_NEW(&job->to.start, job->buckets + 1, "bucket bounds"));
    job->next_strip = 0;
    TD_TRY(td_pool_run(job->pool, run_strips, &(pass){job, work, true}));
    uint64_t records = lay_out(job);
    TD_TRY(make_records(job, records));
    job->next_strip = 0;
    TD_TRY(td_pool_run(job->pool, run_strips, &(pass){job, work, false}));
done:
    td_free(job->places);
    job->places = NULL;
    return status;
}

static inline void emit(const build *job, uint64_t *counts, td_scatter *scatter, uint32_t first, uint32_t second,
                        uint32_t weight, bool weighted)
{
    uint64_t bucket = first >> job->shift;
    if (counts != NULL)
        counts[bucket]++;
    else
        td_scatter_put(scatter, bucket, td_record(first, second), weight, weighted);
}

/* Pass 1: the list, by target. A strip is a range of edge positions. */
static inline void scatter_chunk(const build *job, const td_edge_chunk *chunk, uint64_t begin, uint64_t end,
                                 uint64_t *counts, td_scatter *scatter, bool weighted)
{
    for (uint64_t e = begin; e < end; e++) {
        uint32_t source = chunk->ends[2 * e], target = chunk->ends[2 * e + 1];
        uint32_t weight = weighted ? chunk->weights[e] : 0;
        if (source == target && job->drop_loops) continue;
        emit(job, counts, scatter, target, source, weight, weighted);
        if (job->mirror && source != target) emit(job, counts, scatter, source, target, weight, weighted);
    }
}

static td_status list_strip(build *job, uint64_t strip, uint64_t *counts, td_scatter *scatter)
{
    uint64_t begin = job->bounds[strip], end = job->bounds[strip + 1];
    for (uint64_t c = 0; c < job->list->chunk_count; c++) {
        uint64_t first = job->chunk_start[c], last = job->chunk_start[c + 1];
        if (last <= begin || first >= end) continue;
        uint64_t from = begin > first ? begin - first : 0, to = (end < last ? end : last) - first;
        if (job->weighted && counts == NULL)
            scatter_chunk(job, job->list->chunks[c], from, to, counts, scatter, true);
        else
            scatter_chunk(job, job->list->chunks[c], from, to, counts, scatter, false);
    }
    return TD_OK;
}

/* Sorts one bucket by the low bits of `first`: out of place if a copy fits the cache,
 * else by swapping along the cycles of the permutation. */
static void order_by_copy(const bucketed *set, uint64_t begin, uint64_t end, uint32_t mask, uint64_t *next,
                          uint64_t *records, uint32_t *weights)
{
    for (uint64_t i = begin; i < end; i++) {
        uint64_t to = next[td_record_first(set->records[i]) & mask]++;
        records[to] = set->records[i];
        if (weights != NULL) weights[to] = set->weights[i];
    }
}

static void order_by_cycles(bucketed *set, uint64_t begin, uint32_t rows, uint64_t *next, const uint64_t *stop)
{
    uint32_t mask = rows - 1;
    for (uint32_t row = 0; row < rows; row++)
        while (next[row] < stop[row]) {
            uint64_t at = begin + next[row];
            uint32_t home = td_record_first(set->records[at]) & mask;
            uint64_t to = begin + next[home]++;
            if (home == row) continue;
            uint64_t record = set->records[to];
            set->records[to] = set->records[at];
            set->records[at] = record;
            if (set->weights == NULL) continue;
            uint32_t weight = set->weights[to];
            set->weights[to] = set->weights[at];
            set->weights[at] = weight;
        }
}

/* Counts a bucket's records by row: next[row] = records in rows below. */
static void count_rows(const bucketed *set, uint64_t begin, uint64_t end, uint32_t rows, uint64_t *next)
{
    memset(next, 0, rows * sizeof *next);
    for (uint64_t i = begin; i < end; i++) next[td_record_first(set->records[i]) & (rows - 1)]++;
    uint64_t position = 0;
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t count = next[row];
        next[row] = position;
        position += count;
    }
}

typedef struct scratch {
    uint64_t *next, *stop, *records;
    uint32_t *weights;
} scratch;

/* Buffers for buckets first .. last - 1: as large as the largest that is copied. */
static td_status scratch_create(scratch *s, const build *job, uint64_t first, uint64_t last)
{
    uint32_t rows = 1u << job->shift;
    uint64_t most = 1;
    for (uint64_t b = first; b < last; b++) {
        uint64_t count = job->from.start[b + 1] - job->from.start[b];
        if (count > most && count <= LARGEST_COPY) most = count;
    }
    TD_CHECK(TD_NEW(&s->next, rows, "row counts"));
    TD_CHECK(TD_NEW(&s->stop, rows, "row counts"));
    TD_CHECK(TD_NEW(&s->records, most, "bucket copy"));
    if (job->weighted) TD_CHECK(TD_NEW(&s->weights, most, "bucket copy"));
    return TD_OK;
}

static void scratch_destroy(scratch *s)
{
    td_free(s->next);
    td_free(s->stop);
    td_free(s->records);
    td_free(s->weights);
}

/* Pass 2: target buckets in order, by source. A strip is a range of buckets. */
static inline void turn_records(const build *job, const uint64_t *records, const uint32_t *weights, uint64_t count,
                                td_scatter *scatter, bool weighted)
{
    for (uint64_t i = 0; i < count; i++)
        emit(job, NULL, scatter, td_record_second(records[i]), td_record_first(records[i]), weighted ? weights[i] : 0,
             weighted);
}

static void turn_bucket(build *job, uint64_t bucket, scratch *s, td_scatter *scatter)
{
    uint32_t rows = 1u << job->shift;
    uint64_t begin = job->from.start[bucket], end = job->from.start[bucket + 1], count = end - begin;
    const uint64_t *records = s->records;
    const uint32_t *weights = s->weights;
    if (count == 0) return;
    count_rows(&job->from, begin, end, rows, s->next);
    if (count <= LARGEST_COPY) {
        order_by_copy(&job->from, begin, end, rows - 1, s->next, s->records, s->weights);
    } else {
        memcpy(s->stop, s->next + 1, (rows - 1) * sizeof *s->stop);
        s->stop[rows - 1] = count;
        order_by_cycles(&job->from, begin, rows, s->next, s->stop);
        records = job->from.records + begin;
        weights = job->weighted ? job->from.weights + begin : NULL;
    }
    if (job->weighted)
        turn_records(job, records, weights, count, scatter, true);
    else
        turn_records(job, records, weights, count, scatter, false);
}

static td_status bucket_strip(build *job, uint64_t strip, uint64_t *counts, td_scatter *scatter)
{
    td_status status = TD_OK;
    scratch s = {0};
    uint64_t first = job->bounds[strip], last = job->bounds[strip + 1];
    if (counts != NULL) {
        for (uint64_t i = job->from.start[first]; i < job->from.start[last]; i++)
            counts[td_record_second(job->from.records[i]) >> job->shift]++;
        return TD_OK;
    }
    TD_TRY(scratch_create(&s, job, first, last));
    for (uint64_t b = first; b < last; b++) turn_bucket(job, b, &s, scatter);
done:
    scratch_destroy(&s);
    return status;
}

/* Pass 4: rows of an adjacency, by target. A strip is a range of vertices. */
static inline void scatter_rows(const build *job, uint64_t begin, uint64_t end, uint64_t *counts, td_scatter *scatter,
                                bool weighted)
{
    const uint32_t *weights = job->rows->weights;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = job->rows->offsets[v]; e < job->rows->offsets[v + 1]; e++)
            emit(job, counts, scatter, job->rows->targets[e], (uint32_t)v, weighted ? weights[e] : 0, weighted);
}

static td_status row_strip(build *job, uint64_t strip, uint64_t *counts, td_scatter *scatter)
{
    if (job->weighted && counts == NULL)
        scatter_rows(job, job->bounds[strip], job->bounds[strip + 1], counts, scatter, true);
    else
        scatter_rows(job, job->bounds[strip], job->bounds[strip + 1], counts, scatter, false);
    return TD_OK;
}

/* Passes 3 and 5: buckets into rows, keeping the order of records within a row. */
static td_status place_bucket(void *context, uint64_t begin_bucket, uint64_t end_bucket, int worker)
{
    (void)worker;
    build *job = context;
    uint32_t rows = 1u << job->shift;
    uint64_t *next = NULL;
    TD_CHECK(TD_NEW(&next, rows, "row counts"));
    for (uint64_t b = begin_bucket; b < end_bucket; b++) {
        uint64_t begin = job->from.start[b], end = job->from.start[b + 1];
        uint64_t first = b << job->shift;
        uint32_t *targets = job->made->targets + begin, *weights = job->made->weights;
        count_rows(&job->from, begin, end, rows, next);
        for (uint64_t row = 0; row < rows && first + row < job->vertices; row++)
            job->made->offsets[first + row] = begin + next[row];
        for (uint64_t i = begin; i < end; i++) {
            uint64_t to = next[td_record_first(job->from.records[i]) & (rows - 1)]++;
            targets[to] = td_record_second(job->from.records[i]);
            if (weights != NULL) weights[begin + to] = job->from.weights[i];
        }
    }
    td_free(next);
    return TD_OK;
}

static td_status place_rows(build *job, td_adjacency *made)
{
    uint64_t edges = job->from.start[job->buckets];
    TD_CHECK(TD_NEW(&made->offsets, (uint64_t)job->vertices + 1, "vertex offsets"));
    TD_CHECK(TD_NEW(&made->targets, edges, "edge targets"));
    if (job->weighted) TD_CHECK(td_new_bytes(&made->weights, edges, sizeof(uint32_t), "edge weights"));
    made->offsets[job->vertices] = edges;
    job->made = made;
    return td_pool_for(job->pool, job->buckets, 1, place_bucket, job);
}

/* Strips of about equal weight: `start` ascends from 0 to the whole over n items. */
static td_status cut_strips(build *job, const uint64_t *start, uint64_t n)
{
    TD_CHECK(TD_RESIZE(&job->bounds, job->strips + 1, "strip bounds"));
    uint64_t at = 0;
    for (uint64_t s = 0; s <= job->strips; s++) {
        uint64_t low = at, high = n, goal = td_share(start[n], (int)s, (int)job->strips);
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (start[middle] < goal) low = middle + 1;
            else high = middle;
        }
        job->bounds[s] = at = low;
    }
    job->bounds[job->strips] = n;
    return TD_OK;
}

static td_status cut_list(build *job)
{
    td_edge_list *list = job->list;
    TD_CHECK(TD_NEW(&job->chunk_start, list->chunk_count + 1, "chunk positions"));
    uint64_t position = 0;
    for (uint64_t c = 0; c < list->chunk_count; c++) {
        job->chunk_start[c] = position;
        if (list->chunks[c] != NULL) position += list->chunks[c]->count;
    }
    job->chunk_start[list->chunk_count] = position;
    TD_CHECK(TD_RESIZE(&job->bounds, job->strips + 1, "strip bounds"));
    for (uint64_t s = 0; s <= job->strips; s++) job->bounds[s] = td_share(position, (int)s, (int)job->strips);
    return TD_OK;
}

static void next_pass(build *job)
{
    bucketed_clear(&job->from);
    job->from = job->to;
    job->to = (bucketed){0};
}

static void drop_chunks(td_edge_list *list)
{
    for (uint64_t c = 0; c < list->chunk_count; c++)
        if (list->chunks[c] != NULL) td_chunk_clear(list->chunks[c]);
}

/* Sorts the list into rows. */
static td_status sort_list(build *job, td_adjacency *out)
{
    td_progress_text("building: scattering edges");
    TD_CHECK(cut_list(job));
    TD_CHECK(scatter_pass(job, list_strip));
    drop_chunks(job->list);
    next_pass(job);
    td_progress_text("building: ordering edges");
    TD_CHECK(cut_strips(job, job->from.start, job->buckets));
    TD_CHECK(scatter_pass(job, bucket_strip));
    next_pass(job);
    td_progress_text("building: out-adjacency");
    TD_CHECK(place_rows(job, out));
    td_free(job->from.start);
    job->spare = job->from;
    job->spare.start = NULL;
    job->from = (bucketed){0};
    return TD_OK;
}

static td_status transpose(build *job, const td_adjacency *out, td_adjacency *in)
{
    td_progress_text("building: in-adjacency");
    job->rows = out;
    TD_CHECK(cut_strips(job, out->offsets, job->vertices));
    TD_CHECK(scatter_pass(job, row_strip));
    next_pass(job);
    TD_CHECK(place_rows(job, in));
    bucketed_clear(&job->from);
    return TD_OK;
}

static td_status build_rows(build *job, td_graph *graph, const td_build_options *options, bool real)
{
    td_rows rows = {job->vertices, 0, real, job->pool};
    TD_CHECK(sort_list(job, &graph->out));
    if (job->mirror || options->out_only) bucketed_clear(&job->spare);
    rows.edges = graph->out.offsets[job->vertices];
    if (job->weighted) TD_CHECK(td_rows_order_parallel(&rows, &graph->out));
    if (options->dedup) TD_CHECK(td_rows_dedup(&rows, &graph->out));
    graph->edges = rows.edges;
    if (job->mirror) {
        graph->symmetric = true;
        graph->in = graph->out;
    } else if (!options->out_only) {
        TD_CHECK(transpose(job, &graph->out, &graph->in));
        if (job->weighted) TD_CHECK(td_rows_order_parallel(&rows, &graph->in));
        TD_CHECK(td_graph_fold_symmetric(graph, job->pool));
    }
    if (options->attach_weights) return td_graph_attach_weights(graph, options, job->pool);
    return job->weighted ? td_graph_settle_weights(graph, real, job->list->table, job->pool) : TD_OK;
}

td_status td_edges_prepare(td_edge_list *list, const td_build_options *options)
{
    bool kept = !options->drop_weights && !options->attach_weights;
    list->columns = options->columns;
    list->unweighted = !kept;
    list->floats = kept && options->weights_as == TD_WEIGHT_F32;
    return kept && options->weights_as == TD_WEIGHT_F64 ? td_edges_use_doubles(list) : TD_OK;
}

td_status td_graph_build(td_graph **out, td_edge_list *list, const td_build_options *options, td_pool *pool)
{
    static const td_build_options none;
    if (options == NULL) options = &none;
    td_status status = TD_OK;
    bool real = false;
    td_graph *graph = NULL;
    build job = {.list = list, .pool = pool, .mirror = list->mirror || options->symmetrize,
                 .drop_loops = options->drop_loops,
                 .weighted = list->weighted && !options->drop_weights && !options->attach_weights};
    job.strips = (uint64_t)td_pool_threads(pool) * STRIPS_PER_WORKER;
    TD_TRY(TD_NEW_ZEROED(&graph, 1, "graph"));
    if (list->name != NULL) TD_TRY(td_string_copy(&graph->name, list->name, "graph name"));
    if (job.weighted) TD_TRY(td_edges_settle_weights(list, pool, &real));
    TD_TRY(td_edges_compact(list, pool, &graph->ids, &graph->id_base, &graph->vertices));
    graph->ids_sorted = true;
    graph->names = list->names;
    list->names = NULL;
    job.vertices = graph->vertices;
    choose_buckets(&job, td_edges_count(list) * (job.mirror ? 2 : 1));
    TD_TRY(build_rows(&job, graph, options, real));
    TD_TRY(td_graph_share_pattern(graph));
    *out = graph;
    graph = NULL;
done:
    td_progress_end();
    drop_chunks(list);
    bucketed_clear(&job.from);
    bucketed_clear(&job.to);
    bucketed_clear(&job.spare);
    td_free(job.places);
    td_free(job.bounds);
    td_free(job.chunk_start);
    td_graph_destroy(graph);
    return status;
}

td_status td_graph_complete(td_graph *graph, bool real, td_pool *pool)
{
    td_status status = TD_OK;
    td_rows rows = {graph->vertices, graph->edges, real, pool};
    build job = {.pool = pool, .vertices = graph->vertices, .weighted = graph->out.weights != NULL,
                 .strips = (uint64_t)td_pool_threads(pool) * STRIPS_PER_WORKER};
    choose_buckets(&job, graph->edges);
    TD_TRY(transpose(&job, &graph->out, &graph->in));
    if (job.weighted) TD_TRY(td_rows_order_parallel(&rows, &graph->in));
    TD_TRY(td_graph_fold_symmetric(graph, pool));
    if (job.weighted) TD_TRY(td_graph_settle_weights(graph, real, NULL, pool));
    TD_TRY(td_graph_share_pattern(graph));
done:
    td_progress_end();
    bucketed_clear(&job.from);
    bucketed_clear(&job.to);
    bucketed_clear(&job.spare);
    td_free(job.places);
    td_free(job.bounds);
    return status;
}
