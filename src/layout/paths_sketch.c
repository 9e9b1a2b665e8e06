/* The DAG sketch: paths and edges of every component, and layers. Dependencies lead through vertices, so layers are
 * found along the graph's edges and the dependency graph is never built. A component that has paths is one layer
 * before the paths that begin at its vertices; a vertex that no path passes through is ready when the last path into
 * it is done. Components are taken in rounds, those whose predecessors are all known together; the vertices of a large
 * one are divided among the workers, and a round of little work needs no other worker. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

/* Counts of one component, added up while successive edges belong to it. */
typedef struct tally {
    uint32_t component;
    uint64_t paths, edges, crossing;
} tally;

enum { LARGE = 1 << 11, FEW = 1 << 10, ROUND_GRAIN = 64 };

static void add(uint64_t *to, uint64_t count)
{
    if (count > 0) __atomic_fetch_add(to, count, __ATOMIC_RELAXED);
}

static void flush(td_path_sketch *sketch, tally *self, uint32_t component)
{
    if (self->component != TD_NO_VERTEX) {
        add(&sketch->paths[self->component], self->paths);
        add(&sketch->edges[self->component], self->edges);
        add(&sketch->crossing[self->component], self->crossing);
    }
    *self = (tally){.component = component};
}

static td_status count_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_path_job *job = context;
    const td_adjacency *in = &job->graph->in;
    const uint32_t *of = job->components.of;
    tally here = {.component = TD_NO_VERTEX};
    for (uint64_t v = begin; v < end; v++) {
        uint64_t waiting = 0;
        for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
            uint32_t source = in->targets[k], component = td_path_component(job, k, source, (uint32_t)v);
            waiting += of[source] != of[v];
            if (component == TD_NO_VERTEX) continue;
            if (component != here.component) flush(&job->sketch, &here, component);
            here.edges++;
            here.crossing += of[source] != of[v];
            here.paths += td_edge_last(&job->passes, k, (uint32_t)v);
        }
        add(&job->sketch.waiting[of[v]], waiting);
    }
    flush(&job->sketch, &here, TD_NO_VERTEX);
    return TD_OK;
}

/* Rounds. */

typedef struct rounds {
    td_path_job *job;
    uint32_t *now, *next; /* components whose predecessors are all known */
    uint64_t count;       /* of next, atomically */
    uint32_t large;       /* the component whose vertices are divided */
} rounds;

static void raise(uint32_t *to, uint32_t value)
{
    uint32_t seen = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(to, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}

/* The layer in which all paths from other components into the vertex are done; loose ones are counted by layer. */
static uint32_t layer_of(td_path_job *job, uint32_t v)
{
    const td_adjacency *in = &job->graph->in;
    const uint32_t *of = job->components.of;
    uint32_t layer = 0, run = 0;
    uint64_t loose = 0; /* successive ones of layer `run` */
    for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
        uint32_t source = in->targets[k], done = job->sketch.ready[of[source]];
        if (of[source] == of[v]) continue;
        if (td_path_component(job, k, source, v) == TD_NO_VERTEX) {
            if (done != run) {
                add(&job->sketch.loose[run], loose);
                loose = 0;
            }
            run = done++;
            loose++;
        }
        if (done > layer) layer = done;
    }
    add(&job->sketch.loose[run], loose);
    return layer;
}

/* Edges out of the vertex no longer keep others waiting. */
static void release(rounds *self, uint32_t v)
{
    const td_adjacency *out = &self->job->graph->out;
    const uint32_t *of = self->job->components.of;
    for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
        uint32_t other = of[out->targets[e]];
        if (other == of[v]) continue;
        if (__atomic_sub_fetch(&self->job->sketch.waiting[other], 1, __ATOMIC_ACQ_REL) == 0)
            self->next[__atomic_fetch_add(&self->count, 1, __ATOMIC_RELAXED)] = other;
    }
}

static td_status layer_members(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    rounds *self = context;
    for (uint64_t i = begin; i < end; i++)
        raise(&self->job->sketch.ready[self->large], layer_of(self->job, self->job->components.order[i]));
    return TD_OK;
}

static td_status release_members(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    rounds *self = context;
    for (uint64_t i = begin; i < end; i++) release(self, self->job->components.order[i]);
    return TD_OK;
}

typedef struct members {
    rounds *of;
    uint32_t first;
    td_range_fn work;
} members;

static td_status shift(void *context, uint64_t begin, uint64_t end, int worker)
{
    const members *self = context;
    return self->work(self->of, self->first + begin, self->first + end, worker);
}

/* A component, by the workers of the pool. ready[c] is 0 before. */
static td_status take(rounds *self, uint32_t c, td_pool *pool)
{
    const td_path_components *components = &self->job->components;
    uint32_t first = components->first[c], count = components->first[c + 1] - first;
    if (pool == NULL) {
        for (uint32_t i = first; i < first + count; i++) {
            uint32_t layer = layer_of(self->job, components->order[i]);
            if (layer > self->job->sketch.ready[c]) self->job->sketch.ready[c] = layer;
        }
        self->job->sketch.ready[c] += self->job->sketch.paths[c] > 0;
        for (uint32_t i = first; i < first + count; i++) release(self, components->order[i]);
        return TD_OK;
    }
    self->large = c;
    TD_CHECK(td_pool_for(pool, count, TD_PATH_GRAIN, shift, &(members){self, first, layer_members}));
    self->job->sketch.ready[c] += self->job->sketch.paths[c] > 0;
    return td_pool_for(pool, count, TD_PATH_GRAIN, shift, &(members){self, first, release_members});
}

static bool is_large(const td_path_job *job, uint32_t c)
{
    return job->components.first[c + 1] - job->components.first[c] >= LARGE;
}

static td_status take_small(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    rounds *self = context;
    for (uint64_t i = begin; i < end; i++)
        if (!is_large(self->job, self->now[i])) TD_CHECK(take(self, self->now[i], NULL));
    return TD_OK;
}

static td_status take_round(rounds *self, uint64_t count)
{
    td_pool *pool = count < FEW ? NULL : self->job->pool;
    TD_CHECK(td_pool_for(pool, count, ROUND_GRAIN, take_small, self));
    for (uint64_t i = 0; i < count; i++)
        if (is_large(self->job, self->now[i])) TD_CHECK(take(self, self->now[i], self->job->pool));
    return TD_OK;
}

static td_status find_layers(td_path_job *job)
{
    td_status status = TD_OK;
    td_path_sketch *sketch = &job->sketch;
    rounds self = {.job = job};
    TD_TRY(TD_NEW(&self.now, job->components.count, "components in turn"));
    TD_TRY(TD_NEW(&self.next, job->components.count, "components in turn"));
    for (uint32_t c = 0; c < job->components.count; c++)
        if (sketch->waiting[c] == 0) self.next[self.count++] = c;
    while (self.count > 0) {
        uint32_t *now = self.next;
        uint64_t count = self.count;
        self.next = self.now;
        self.now = now;
        self.count = 0;
        TD_TRY(take_round(&self, count));
    }
    for (uint32_t c = 0; c < job->components.count; c++)
        if (sketch->ready[c] > sketch->layers) sketch->layers = sketch->ready[c];
done:
    td_free(self.now);
    td_free(self.next);
    return status;
}

static void describe(td_path_job *job)
{
    const td_path_components *components = &job->components;
    td_path_stats *stats = &job->paths.stats;
    uint64_t inside = 0;
    stats->layers = job->sketch.layers;
    for (uint32_t c = 0; c < components->count; c++) {
        uint64_t paths = job->sketch.paths[c], members = components->first[c + 1] - components->first[c];
        bool cyclic = td_component_cyclic(job, c);
        inside += paths;
        stats->components += paths > 0;
        stats->cyclic += cyclic;
        stats->once_vertices += cyclic ? 0 : members;
        stats->once_paths += cyclic ? 0 : paths;
        if (paths <= stats->giant_paths) continue;
        stats->giant_paths = paths;
        stats->giant_vertices = members;
    }
    if (stats->giant_paths == 0) stats->giant_paths = job->paths.paths > 0; /* paths of one edge each, alone */
    stats->components += job->paths.paths - inside;
    stats->once_paths += job->paths.paths - inside;
}

td_status td_paths_layers(td_path_job *job)
{
    td_path_sketch *sketch = &job->sketch;
    uint32_t count = job->components.count;
    TD_CHECK(TD_NEW_ZEROED(&sketch->ready, count, "layers of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->waiting, count, "edges between components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->paths, count, "paths of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->edges, count, "edges of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->crossing, count, "edges into and out of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->loose, 2 * (uint64_t)count + 1, "paths of layers")); /* a component adds two layers at most */
    TD_CHECK(td_pool_for(job->pool, job->graph->vertices, TD_PATH_GRAIN, count_edges, job));
    TD_CHECK(find_layers(job));
    describe(job);
    return TD_OK;
}
