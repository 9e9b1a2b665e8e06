/* Inside of the decomposition into paths: what its steps share. paths_search.c and paths_join.c decide which edges
 * follow each other, paths_order.c does so for acyclic dependencies, paths_components.c and paths_sketch.c find the
 * order of paths, paths_place.c stores them, paths_readers.c links partitions and groups, paths_bound.c computes the
 * bounds.
 *
 * An edge is known by its place in the in-adjacency: edge k ends at the vertex whose list holds k and begins at
 * in.targets[k]. Of parallel edges each has a place of its own. */
#ifndef TD_LAYOUT_PATHS_INSIDE_H
#define TD_LAYOUT_PATHS_INSIDE_H

#include "base/bitmap.h"
#include "layout/paths.h"

#define TD_NO_EDGE UINT64_MAX
#define TD_NONE_BEFORE UINT32_MAX

/* Which edges follow each other. With one pass through a vertex that is a pair of edges per vertex; with more it is an
 * edge per edge. */
typedef struct td_path_passes {
    uint64_t *enters, *leaves; /* vertices: the edges by which a path enters and leaves; TD_NO_EDGE: no path passes */
    uint32_t *to;              /* vertices: the end of `leaves` */
    uint32_t *before;          /* edges: the edge before on the path or TD_NONE_BEFORE; NULL: one pass, as above */
    uint64_t *followed;        /* bitmap of edges that have an edge behind; with `before` */
    uint32_t *place;           /* out-edges: their places in the in-adjacency; with `before` */
} td_path_passes;

/* The components of the dependency graph, as those of vertices: paths that pass through vertices of a component belong
 * to it, and so do paths of one edge between two of its vertices. A path of one edge between two components is a
 * component of its own ("loose"). */
typedef struct td_path_components {
    uint32_t count;
    uint32_t *of;       /* vertices: the component; numbered by their smallest vertices */
    uint32_t *order;    /* vertices, component after component from 0 */
    uint32_t *first;    /* count + 1: into `order` */
} td_path_components;

typedef struct td_path_sketch {
    uint32_t *ready;    /* components: the layer of paths that begin there; the component's own paths are one before */
    uint64_t *paths;    /* components: their paths; 0: a vertex alone, through which none passes */
    uint64_t *edges;    /* components: edges of their paths */
    uint64_t *crossing; /* components: those of them with an end outside */
    uint64_t *waiting;  /* components: edges from others whose layer is not known; 0 in the end */
    uint64_t *loose;    /* layers: paths of one edge between two components */
    uint32_t layers;
} td_path_sketch;

typedef struct td_path_job {
    const td_graph *graph;
    td_path_options options;
    td_pool *pool;
    uint32_t *degree;   /* vertices: in and out, saturated */
    const uint32_t *within; /* vertices: only edges between two with the same number are searched and joined; NULL: all */
    td_path_passes passes;
    td_path_components components;
    td_path_sketch sketch;
    uint32_t *group_of;   /* components: the group of their paths, if they have any */
    uint32_t *once_group; /* layers: the group of once-only paths, if there is one */
    td_paths paths;       /* the result */
} td_path_job;

enum { TD_PATH_GRAIN = 1 << 12 }; /* vertices of a chunk of work */

static inline bool td_passed(const td_path_passes *passes, uint32_t vertex)
{
    return passes->enters[vertex] != TD_NO_EDGE;
}

/* The edge before edge k, which begins at `source`, on its path. */
static inline uint64_t td_edge_before(const td_path_passes *passes, uint64_t k, uint32_t source)
{
    if (passes->before != NULL) return passes->before[k] != TD_NONE_BEFORE ? passes->before[k] : TD_NO_EDGE;
    return passes->leaves[source] == k ? passes->enters[source] : TD_NO_EDGE;
}

/* Whether edge k, which ends at `target`, is the last of its path. */
static inline bool td_edge_last(const td_path_passes *passes, uint64_t k, uint32_t target)
{
    return passes->before != NULL ? !td_bit_get(passes->followed, k) : passes->enters[target] != k;
}

/* Whether the edge may be joined with others by the search. */
static inline bool td_edge_counts(const td_path_job *job, uint32_t source, uint32_t target)
{
    return job->within == NULL || job->within[source] == job->within[target];
}

/* The component of the path that has edge k; TD_NO_VERTEX: a path of this edge alone, between two components. */
static inline uint32_t td_path_component(const td_path_job *job, uint64_t k, uint32_t source, uint32_t target)
{
    uint32_t one = job->components.of[source], other = job->components.of[target];
    if (one == other || td_edge_before(&job->passes, k, source) != TD_NO_EDGE) return one;
    return td_edge_last(&job->passes, k, target) ? TD_NO_VERTEX : other;
}

/* Whether a component of paths is cyclic: it has several, or one that comes back to a vertex. A path that does not has
 * an edge into the component, an edge out of it, and between them each vertex once. */
static inline bool td_component_cyclic(const td_path_job *job, uint32_t component)
{
    const td_path_sketch *sketch = &job->sketch;
    uint64_t members = job->components.first[component + 1] - job->components.first[component];
    if (sketch->paths[component] == 0) return false;
    return sketch->paths[component] > 1 || sketch->crossing[component] != 2 || sketch->edges[component] != members + 1;
}

/* The layer of a component's paths. */
static inline uint32_t td_component_layer(const td_path_job *job, uint32_t component)
{
    return job->sketch.ready[component] - 1;
}

/* The place of the first edge from source to target, which must be one, in the in-adjacency. */
uint64_t td_edge_place(const td_graph *graph, uint32_t source, uint32_t target);

td_status td_paths_search(td_path_job *job);     /* passes of the bounded search */
td_status td_paths_join(td_path_job *job);       /* further passes, head to tail */
td_status td_paths_shorten(td_path_job *job);    /* cuts joined paths that are longer than allowed */
td_status td_paths_join_free(td_path_job *job);  /* the same without the rule of one pass */
td_status td_paths_order(td_path_job *job);      /* instead: passes that keep dependencies acyclic */
td_status td_paths_bound(td_path_job *job);

/* The components of the graph, or of its paths' dependencies: then the edges inside a path (neither its first nor its
 * last) go both ways, because all vertices that a path passes through belong together. */
td_status td_path_components_find(td_path_components *out, const td_path_job *job, bool of_paths);
void td_path_components_free(td_path_components *components);
td_status td_paths_layers(td_path_job *job);
td_status td_paths_place(td_path_job *job);

/* Where the paths of a bucket begin, of all paths and entries; the next bucket's beginning is its end. */
typedef struct td_path_bucket {
    uint64_t paths, entries;
} td_path_bucket;

/* Sorts the paths of each bucket by their first vertices. `starts` has the entries of paths, not their beginnings. */
td_status td_paths_by_first(td_path_job *job, const td_path_bucket *buckets, uint32_t count);
td_status td_paths_readers(td_path_job *job);

#endif
