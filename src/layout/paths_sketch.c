/* The DAG sketch: paths and edges of every component, and layers. Dependencies lead through vertices, so layers are found
 * along the graph's edges and the dependency graph is never built. A component that has paths is one layer before the
 * paths that begin at its vertices; a vertex that no path passes through is ready when the last path into it is done. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

/* Counts of one component, added up while successive edges belong to it. */
typedef struct tally {
    uint32_t component;
    uint64_t paths, edges, crossing;
} tally;

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
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
            uint32_t source = in->targets[k], component = td_path_component(job, k, source, (uint32_t)v);
            if (component == TD_NO_VERTEX) continue;
            if (component != here.component) flush(&job->sketch, &here, component);
            here.edges++;
            here.crossing += of[source] != of[v];
            here.paths += td_edge_last(&job->passes, k, (uint32_t)v);
        }
    flush(&job->sketch, &here, TD_NO_VERTEX);
    return TD_OK;
}

/* The first layer in which all paths from other components into this one are done. */
static uint32_t layer_of(const td_path_job *job, uint32_t component)
{
    const td_adjacency *in = &job->graph->in;
    const td_path_components *components = &job->components;
    uint32_t layer = 0;
    for (uint32_t i = components->first[component]; i < components->first[component + 1]; i++) {
        uint32_t v = components->order[i];
        for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
            uint32_t source = in->targets[k], other = components->of[source];
            if (other == component) continue;
            uint32_t done = job->sketch.ready[other] + (td_path_component(job, k, source, v) == TD_NO_VERTEX);
            if (done > layer) layer = done;
        }
    }
    return layer;
}

static void find_layers(td_path_job *job)
{
    td_path_sketch *sketch = &job->sketch;
    for (uint32_t c = job->components.count; c-- > 0;) {
        sketch->ready[c] = layer_of(job, c) + (sketch->paths[c] > 0);
        if (sketch->ready[c] > sketch->layers) sketch->layers = sketch->ready[c];
    }
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
    TD_CHECK(TD_NEW(&sketch->ready, count, "layers of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->paths, count, "paths of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->edges, count, "edges of components"));
    TD_CHECK(TD_NEW_ZEROED(&sketch->crossing, count, "edges into and out of components"));
    TD_CHECK(td_pool_for(job->pool, job->graph->vertices, TD_PATH_GRAIN, count_edges, job));
    find_layers(job);
    describe(job);
    return TD_OK;
}
