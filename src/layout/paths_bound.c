/* The fewest paths. A path begins with an edge that continues none: at a vertex with more out- than in-edges, at least
 * as often as there are more. Where no vertex of a weakly connected part has more, the part is a closed walk (Euler),
 * which is one path. With one pass through a vertex, every vertex that has in- and out-edges saves one path, except
 * that a part which is a single cycle keeps one. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

typedef struct bounding {
    td_path_job *job;
    uint32_t *parent;      /* of balanced vertices: union and find; smaller numbers are above */
    uint8_t *open;         /* roots: a vertex of the part is not balanced */
    uint8_t *branched;     /* roots: a vertex of the part has several in-edges */
    uint64_t excess;       /* out-edges beyond in-edges, */
    uint64_t passable;     /* and vertices with both, atomically */
    uint64_t balanced;     /* vertices with equally many, of which there are some */
} bounding;

static td_status count_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    bounding *self = context;
    uint64_t excess = 0, passable = 0, balanced = 0;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)i;
        uint64_t out = td_degree(&self->job->graph->out, v), in = td_degree(&self->job->graph->in, v);
        excess += out > in ? out - in : 0;
        passable += out > 0 && in > 0;
        balanced += out > 0 && out == in;
        self->parent[v] = v;
    }
    __atomic_fetch_add(&self->excess, excess, __ATOMIC_RELAXED);
    __atomic_fetch_add(&self->passable, passable, __ATOMIC_RELAXED);
    __atomic_fetch_add(&self->balanced, balanced, __ATOMIC_RELAXED);
    return TD_OK;
}

static uint32_t find(uint32_t *parent, uint32_t v)
{
    for (;;) {
        uint32_t above = __atomic_load_n(&parent[v], __ATOMIC_RELAXED);
        if (above == v) return v;
        uint32_t further = __atomic_load_n(&parent[above], __ATOMIC_RELAXED);
        if (further != above) __atomic_compare_exchange_n(&parent[v], &above, further, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        v = further;
    }
}

/* The larger root goes below the smaller one. */
static void unite(uint32_t *parent, uint32_t one, uint32_t other)
{
    for (;;) {
        one = find(parent, one);
        other = find(parent, other);
        if (one == other) return;
        uint32_t below = one > other ? one : other, above = one > other ? other : one;
        if (__atomic_compare_exchange_n(&parent[below], &below, above, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

static td_status unite_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    bounding *self = context;
    const td_adjacency *out = &self->job->graph->out;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
            uint32_t target = out->targets[e];
            if (__atomic_load_n(&self->parent[v], __ATOMIC_RELAXED) != __atomic_load_n(&self->parent[target], __ATOMIC_RELAXED))
                unite(self->parent, (uint32_t)v, target);
        }
    return TD_OK;
}

static td_status mark_parts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    bounding *self = context;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)i, root = find(self->parent, v);
        uint64_t out = td_degree(&self->job->graph->out, v), in = td_degree(&self->job->graph->in, v);
        if (out != in || out == 0) __atomic_store_n(&self->open[root], 1, __ATOMIC_RELAXED);
        if (in > 1) __atomic_store_n(&self->branched[root], 1, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

static td_status find_parts(bounding *self, td_path_stats *stats)
{
    uint32_t vertices = self->job->graph->vertices;
    td_pool *pool = self->job->pool;
    TD_CHECK(TD_NEW_ZEROED(&self->open, vertices, "parts of the graph"));
    TD_CHECK(TD_NEW_ZEROED(&self->branched, vertices, "parts of the graph"));
    TD_CHECK(td_pool_for(pool, vertices, TD_PATH_GRAIN, unite_edges, self));
    TD_CHECK(td_pool_for(pool, vertices, TD_PATH_GRAIN, mark_parts, self));
    for (uint32_t v = 0; v < vertices; v++) {
        if (self->parent[v] != v || self->open[v]) continue;
        stats->bound++;
        stats->bound_one_pass += !self->branched[v];
    }
    return TD_OK;
}

td_status td_paths_bound(td_path_job *job)
{
    td_status status = TD_OK;
    bounding self = {.job = job};
    td_path_stats *stats = &job->paths.stats;
    TD_TRY(TD_NEW(&self.parent, job->graph->vertices, "parts of the graph"));
    TD_TRY(td_pool_for(job->pool, job->graph->vertices, TD_PATH_GRAIN, count_vertices, &self));
    stats->bound = self.excess;
    stats->bound_one_pass = job->graph->edges - self.passable;
    if (self.balanced > 0) TD_TRY(find_parts(&self, stats));
done:
    td_free(self.parent);
    td_free(self.open);
    td_free(self.branched);
    return status;
}
