#include "run/result.h"

#include "base/alloc.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { VERTICES_AT_A_TIME = 1 << 14 };

bool td_run_value(const td_run *run, uint32_t vertex, double *value)
{
    if (run->kind == TD_VALUE_F64 || run->kind == TD_VALUE_F32) {
        *value = run->kind == TD_VALUE_F64 ? ((const double *)run->values)[vertex]
                                           : (double)((const float *)run->values)[vertex];
        return !(run->program->info->real_follows_weights && *value == (double)INFINITY);
    }
    if (run->kind == TD_VALUE_U64) {
        uint64_t wide = ((const uint64_t *)run->values)[vertex];
        *value = (double)wide;
        return wide != TD_UNREACHED_U64;
    }
    uint32_t whole = ((const uint32_t *)run->values)[vertex];
    *value = whole;
    return whole != TD_UNREACHED;
}

/* A distance has one digest with 32 and with 64 bits, unreached ones too. */
static uint64_t wide_bits(uint64_t distance) { return distance == TD_UNREACHED_U64 ? TD_UNREACHED : distance; }

/* The part of a value in the digest: its bits, or the original id that it refers to. */
static uint64_t value_bits(const td_run *run, uint32_t vertex)
{
    if (run->kind == TD_VALUE_F64) {
        uint64_t bits;
        memcpy(&bits, (const double *)run->values + vertex, sizeof bits);
        return bits;
    }
    if (run->kind == TD_VALUE_U64) return wide_bits(((const uint64_t *)run->values)[vertex]);
    uint32_t word = ((const uint32_t *)run->values)[vertex];
    return run->program->info->vertex_values ? td_graph_id(run->graph, word) : word;
}

/* One worker sums a range of vertices, and the caller adds the ranges in order, so that real sums do not depend on the
 * number of threads. */
typedef struct summing {
    const td_run *run;
    td_run_summary *parts;
} summing;

static td_status summarise_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const summing *self = context;
    td_run_summary part = {.lowest = (double)INFINITY, .highest = -(double)INFINITY};
    for (uint64_t v = begin; v < end; v++) {
        double value;
        part.digest += td_random_at(td_graph_id(self->run->graph, (uint32_t)v), value_bits(self->run, (uint32_t)v));
        if (!td_run_value(self->run, (uint32_t)v, &value)) continue;
        part.reached++;
        part.sum += value;
        part.lowest = fmin(part.lowest, value);
        part.highest = fmax(part.highest, value);
    }
    self->parts[begin / VERTICES_AT_A_TIME] = part;
    return TD_OK;
}

td_named_edge td_run_named_edge(const td_run *run, uint64_t i)
{
    td_forest_edge of = td_run_forest_edge(run, i);
    uint64_t source = td_graph_id(run->graph, td_edge_source(run->graph, run->edges[i]));
    uint64_t target = td_graph_id(run->graph, of.target);
    bool turned = run->graph->symmetric && source > target;
    return (td_named_edge){turned ? target : source, turned ? source : target, of.weight};
}

static uint64_t digest_edges(const td_run *run)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < run->edge_count; i++) {
        td_named_edge edge = td_run_named_edge(run, i);
        uint64_t bits;
        memcpy(&bits, &edge.weight, sizeof bits);
        digest += td_random_at(td_random_at(edge.source, edge.target), bits);
    }
    return digest;
}

typedef struct counting {
    const uint32_t *names;
    uint32_t *sizes;
} counting;

static td_status count_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const counting *self = context;
    for (uint64_t v = begin; v < end;) { /* consecutive vertices are mostly in one group: one atomic for all of them */
        uint64_t first = v;
        for (v++; v < end && self->names[v] == self->names[first]; v++) {}
        __atomic_fetch_add(&self->sizes[self->names[first]], (uint32_t)(v - first), __ATOMIC_RELAXED);
    }
    return TD_OK;
}

/* sizes[v]: the vertices of the group that v names. */
static td_status count_groups(const td_run *run, td_pool *pool, uint32_t **sizes)
{
    uint32_t *counts = NULL;
    TD_CHECK(TD_NEW_ZEROED(&counts, run->graph->vertices, "sizes of groups"));
    counting self = {run->values, counts};
    td_status status = td_pool_for(pool, run->graph->vertices, VERTICES_AT_A_TIME, count_part, &self);
    if (status == TD_OK) *sizes = counts;
    else td_free(counts);
    return status;
}

static td_status summarise_groups(const td_run *run, td_pool *pool, td_run_summary *out)
{
    uint32_t *sizes = NULL;
    TD_CHECK(count_groups(run, pool, &sizes));
    for (uint32_t v = 0; v < run->graph->vertices; v++) {
        out->groups += sizes[v] > 0;
        if (sizes[v] > out->largest) out->largest = sizes[v];
    }
    td_free(sizes);
    return TD_OK;
}

td_status td_run_summarise(const td_run *run, td_pool *pool, td_run_summary *out)
{
    td_status status = TD_OK;
    td_run_summary whole = {.lowest = (double)INFINITY, .highest = -(double)INFINITY};
    uint64_t count = (uint64_t)run->graph->vertices / VERTICES_AT_A_TIME + 1;
    summing self = {run, NULL};
    TD_CHECK(TD_NEW_ZEROED(&self.parts, count, "summary"));
    TD_TRY(td_pool_for(pool, run->graph->vertices, VERTICES_AT_A_TIME, summarise_part, &self));
    for (uint64_t i = 0; i < count; i++) {
        if (self.parts[i].reached > 0) {
            whole.lowest = fmin(whole.lowest, self.parts[i].lowest);
            whole.highest = fmax(whole.highest, self.parts[i].highest);
        }
        whole.reached += self.parts[i].reached;
        whole.sum += self.parts[i].sum;
        whole.digest += self.parts[i].digest;
    }
    if (whole.reached == 0) whole.lowest = whole.highest = 0;
    if (run->edges != NULL) whole.digest = digest_edges(run);
    if (run->program->info->vertex_values) TD_TRY(summarise_groups(run, pool, &whole));
    *out = whole;
done:
    td_free(self.parts);
    return status;
}

/* The top vertices so far, as a heap with the lowest on top. */
typedef struct best {
    td_top *rows;
    uint64_t count, most;
    const td_graph *graph;
} best;

/* Among equal values, the vertex that is first in the graph's own numbering is better. */
static bool worse(const best *self, td_top a, td_top b)
{
    if (a.value != b.value) return a.value < b.value;
    return td_graph_id(self->graph, a.vertex) > td_graph_id(self->graph, b.vertex);
}

static void sink(best *self, uint64_t at)
{
    td_top row = self->rows[at];
    for (uint64_t child; (child = 2 * at + 1) < self->count; at = child) {
        if (child + 1 < self->count && worse(self, self->rows[child + 1], self->rows[child])) child++;
        if (!worse(self, self->rows[child], row)) break;
        self->rows[at] = self->rows[child];
    }
    self->rows[at] = row;
}

static void offer(best *self, td_top row)
{
    if (self->count == self->most) {
        if (!worse(self, self->rows[0], row)) return;
        self->rows[0] = row;
        sink(self, 0);
        return;
    }
    uint64_t at = self->count++;
    for (; at > 0 && worse(self, row, self->rows[(at - 1) / 2]); at = (at - 1) / 2) self->rows[at] = self->rows[(at - 1) / 2];
    self->rows[at] = row;
}

/* Removes the lowest repeatedly, which sorts them, best first. */
static void put_in_order(best *self)
{
    uint64_t all = self->count;
    while (self->count > 0) {
        td_top worst = self->rows[0];
        self->rows[0] = self->rows[--self->count];
        if (self->count > 0) sink(self, 0);
        self->rows[self->count] = worst;
    }
    self->count = all;
}

td_status td_run_top(const td_run *run, td_pool *pool, uint64_t most, td_top **out, uint64_t *count)
{
    uint32_t vertices = run->graph->vertices, *sizes = NULL;
    td_status status = TD_OK;
    best self = {.most = most < vertices ? most : vertices, .graph = run->graph};
    if (run->program->info->vertex_values) TD_TRY(count_groups(run, pool, &sizes));
    TD_TRY(TD_NEW(&self.rows, self.most, "best vertices"));
    for (uint32_t v = 0; v < vertices && self.most > 0; v++) {
        td_top row = {.vertex = v};
        if (sizes != NULL) row.value = sizes[v];
        if (sizes != NULL ? sizes[v] > 0 : td_run_value(run, v, &row.value)) offer(&self, row);
    }
    put_in_order(&self);
    *out = self.rows;
    *count = self.count;
done:
    td_free(sizes);
    return status;
}
