/* A graph from another program's compressed sparse rows.
 *
 * Rows that are in order become the out-adjacency as they are: an array is taken without a copy where its type is the
 * stored one and the caller allows it, or else converted. Rows out of order, options that change the graph and integer
 * weights below 0 go through the builder, edge by edge. */
#include "store/arrays.h"
#include "store/builder_steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 1 << 14, EDGES_AT_A_TIME = 1 << 18 }; /* vertices, edges of a piece of work */

typedef struct reading {
    const td_csr *rows;
    uint64_t *offsets; /* as a graph has them: the caller's, or a copy */
    td_edge_list *list;
    uint32_t *targets; /* converted, */
    uint32_t *weights; /* integers or the bits of floats */
    const uint32_t *checked; /* the targets to check */
    atomic_bool unordered, parallel, below;
} reading;

/* Offsets. */

static td_status read_offsets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *self = context;
    return td_array_ids(&self->rows->offsets, "offsets", begin, end - begin, self->offsets + begin);
}

static td_status check_offsets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const reading *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (self->offsets[v] > self->offsets[v + 1] || self->offsets[v + 1] > self->rows->edges)
            return td_fail(TD_INVALID, "offsets[%" PRIu64 "] is %" PRIu64 ", behind %" PRIu64
                           "; offsets ascend to the number of edges, %" PRIu64, v + 1, self->offsets[v + 1],
                           self->offsets[v], self->rows->edges);
    return TD_OK;
}

static bool is_word(td_type type) { return type == TD_TYPE_U64 || type == TD_TYPE_I64; }
static bool is_half(td_type type) { return type == TD_TYPE_U32 || type == TD_TYPE_I32; }

static td_status take_offsets(reading *self, td_graph *graph, td_pool *pool)
{
    const td_csr *rows = self->rows;
    graph->borrowed.offsets = rows->release != NULL && is_word(rows->offsets.type);
    if (graph->borrowed.offsets) graph->out.offsets = (uint64_t *)rows->offsets.data;
    else TD_CHECK(TD_NEW(&graph->out.offsets, rows->vertices + 1, "vertex offsets"));
    self->offsets = graph->out.offsets;
    if (!graph->borrowed.offsets) TD_CHECK(td_pool_for(pool, rows->vertices + 1, BLOCK, read_offsets, self));
    if (self->offsets[0] != 0 || self->offsets[rows->vertices] != rows->edges)
        return td_fail(TD_INVALID, "offsets run from %" PRIu64 " to %" PRIu64 "; they run from 0 to the number of edges, "
                       "%" PRIu64, self->offsets[0], self->offsets[rows->vertices], rows->edges);
    return td_pool_for(pool, rows->vertices, BLOCK, check_offsets, self);
}

/* Targets. */

static td_status beyond(const reading *self, uint64_t edge, int64_t target)
{
    return td_fail(TD_INVALID, "targets[%" PRIu64 "] is %" PRId64 "; there are %" PRIu64 " vertices", edge, target,
                   self->rows->vertices);
}

static td_status read_targets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *self = context;
    uint64_t ids[TD_ARRAY_BLOCK];
    for (uint64_t at = begin, count; at < end; at += count) {
        count = end - at < TD_ARRAY_BLOCK ? end - at : TD_ARRAY_BLOCK;
        TD_CHECK(td_array_ids(&self->rows->targets, "targets", at, count, ids));
        for (uint64_t i = 0; i < count; i++) {
            if (ids[i] >= self->rows->vertices) return beyond(self, at + i, (int64_t)ids[i]);
            self->targets[at + i] = (uint32_t)ids[i];
        }
    }
    return TD_OK;
}

/* Whether targets are vertices, and lists in order. */
static td_status check_list(reading *self, uint64_t begin, uint64_t end)
{
    const uint32_t *targets = self->checked;
    bool narrow = self->rows->targets.type == TD_TYPE_I32;
    uint32_t highest = 0;
    bool unordered = false, parallel = false;
    for (uint64_t e = begin; e < end; e++) highest = targets[e] > highest ? targets[e] : highest;
    for (uint64_t e = begin + 1; e < end; e++) {
        unordered |= targets[e] < targets[e - 1];
        parallel |= targets[e] == targets[e - 1];
    }
    if (unordered) self->unordered = true;
    if (parallel) self->parallel = true;
    if (end == begin || (highest < self->rows->vertices && !(narrow && highest >> 31))) return TD_OK;
    while (targets[begin] != highest) begin++;
    return beyond(self, begin, narrow ? (int32_t)highest : (int64_t)highest);
}

static td_status check_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *self = context;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(check_list(self, self->offsets[v], self->offsets[v + 1]));
    return TD_OK;
}

static td_status take_targets(reading *self, td_graph *graph, td_pool *pool)
{
    const td_csr *rows = self->rows;
    graph->borrowed.targets = rows->release != NULL && is_half(rows->targets.type) && rows->edges > 0;
    if (graph->borrowed.targets) graph->out.targets = (uint32_t *)rows->targets.data;
    else TD_CHECK(TD_NEW(&graph->out.targets, rows->edges, "edge targets"));
    self->checked = self->targets = graph->out.targets;
    if (!graph->borrowed.targets) TD_CHECK(td_pool_for(pool, rows->edges, EDGES_AT_A_TIME, read_targets, self));
    return td_pool_for(pool, rows->vertices, BLOCK, check_lists, self);
}

/* Weights: real ones as 32-bit floats, integers as 32-bit integers. The chunk lends its rules for numbers. */

static td_status read_weights(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *self = context;
    td_edge_chunk part = {.weights = self->weights + begin, .count = end - begin, .weighted = true,
                          .real = td_type_real(self->rows->weights.type)};
    bool real = part.real;
    TD_CHECK(td_array_put_weights(&self->rows->weights, begin, end - begin, &part));
    if (part.real != real) self->below = true; /* a negative integer */
    return TD_OK;
}

static td_status check_finite(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const float *weights = ((const reading *)context)->rows->weights.data;
    for (uint64_t e = begin; e < end; e++)
        if (!isfinite(weights[e]))
            return td_fail(TD_INVALID, "weights[%" PRIu64 "] is %g; weights are finite", e, (double)weights[e]);
    return TD_OK;
}

static td_status take_weights(reading *self, td_graph *graph, td_pool *pool)
{
    const td_csr *rows = self->rows;
    graph->borrowed.weights = rows->release != NULL && rows->weights.type == TD_TYPE_F32 && !self->parallel;
    if (graph->borrowed.weights) {
        graph->out.weights = (void *)rows->weights.data;
        return td_pool_for(pool, rows->edges, EDGES_AT_A_TIME, check_finite, self);
    }
    TD_CHECK(td_new_bytes(&graph->out.weights, rows->edges, sizeof(uint32_t), "edge weights"));
    self->weights = graph->out.weights;
    return td_pool_for(pool, rows->edges, EDGES_AT_A_TIME, read_weights, self);
}

/* Rows edge by edge, for the builder. */

static td_status list_rows(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const reading *self = context;
    const td_csr *rows = self->rows;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(self->list, begin / BLOCK, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, self->offsets[end] - self->offsets[begin], self->list->weighted));
    for (uint64_t v = begin; v < end; v++) {
        uint64_t first = self->offsets[v], count = self->offsets[v + 1] - first;
        for (uint64_t e = 0; e < count; e++) TD_CHECK(td_chunk_put(chunk, v, self->targets[first + e]));
        if (self->list->weighted) TD_CHECK(td_array_put_weights(&rows->weights, first, count, chunk));
    }
    return TD_OK;
}

static td_status build_copy(reading *self, td_graph **out, const td_build_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    TD_CHECK(td_edges_create(&self->list, NULL));
    TD_TRY(td_edges_prepare(self->list, options));
    self->list->weighted = self->rows->weights.data != NULL && !options->drop_weights;
    self->list->declared = true;
    self->list->vertices = self->rows->vertices;
    TD_TRY(td_pool_for(pool, self->rows->vertices, BLOCK, list_rows, self));
    TD_TRY(td_graph_build(out, self->list, options, pool));
done:
    td_edges_destroy(self->list);
    return status;
}

/* The out-adjacency; *as_it_is: it can stay. */
static td_status take_rows(reading *self, td_graph *graph, const td_build_options *options, td_pool *pool,
                           bool *as_it_is)
{
    td_build_options rest = *options;
    rest.drop_weights = false;
    TD_CHECK(take_offsets(self, graph, pool));
    TD_CHECK(take_targets(self, graph, pool));
    *as_it_is = !self->unordered && !td_build_options_change(&rest);
    if (!*as_it_is || self->rows->weights.data == NULL || options->drop_weights) return TD_OK;
    TD_CHECK(take_weights(self, graph, pool));
    *as_it_is = !self->below;
    return TD_OK;
}

static td_status complete(reading *self, td_graph *graph, td_pool *pool)
{
    bool real = graph->out.weights != NULL && td_type_real(self->rows->weights.type);
    td_rows rows = {graph->vertices, graph->edges, real, pool};
    if (self->parallel && graph->out.weights != NULL) TD_CHECK(td_rows_order_parallel(&rows, &graph->out));
    return td_graph_complete(graph, real, pool);
}

td_status td_graph_from_rows(td_graph **out, const td_csr *rows, const td_build_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    bool as_it_is = false;
    td_graph *graph = NULL;
    reading self = {.rows = rows};
    TD_CHECK(TD_NEW_ZEROED(&graph, 1, "graph"));
    *graph = (td_graph){.vertices = (uint32_t)rows->vertices, .edges = rows->edges, .ids_sorted = true};
    TD_TRY(take_rows(&self, graph, options, pool, &as_it_is));
    if (as_it_is) {
        TD_TRY(complete(&self, graph, pool));
        *out = graph;
        graph = NULL;
    } else {
        TD_TRY(build_copy(&self, out, options, pool));
    }
done:
    td_graph_destroy(graph);
    return status;
}
