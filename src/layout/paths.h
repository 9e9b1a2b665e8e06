/* A graph as disjoint directed paths (DiGraph, section 3.2.1): every edge is on exactly one path, a path is a walk
 * along edges, and one thread processes a path in order, so that a new value travels its whole length in one round.
 *
 * Decomposition. A bounded depth-first search, part by part, highest-degree successor first; then paths are joined
 * head to tail. A path *passes through* a vertex that it enters and leaves; such a vertex is an inner vertex of the
 * path.
 *
 * Dependencies. Path p precedes path q if p enters a vertex that q leaves (an edge of p ends where an edge of q
 * begins). The strongly connected components of this relation, contracted, are the DAG sketch; the layer of a
 * component is the length of the longest chain of components before it. A component is *cyclic* if it has several
 * paths, or a path with a repeated vertex; a path that is a component of its own and has no repeated vertex is
 * *once-only*: processed after its predecessors are final, it never has to be processed again.
 *
 * Storage. Paths are stored layer after layer. Within a layer, paths that are dispatched together are a *group*: a
 * cyclic component that fills a partition, or all smaller cyclic components of the layer, or all once-only paths of
 * the layer. No path of a group precedes a path of another group of the same layer. A group is divided into
 * *partitions*, the work of one warp, and a partition into 32 *lanes*, the work of one thread. All arrays are flat and
 * can be copied to a device as they are.
 *
 * The result depends on the graph and the options alone, not on the number of workers. */
#ifndef TD_LAYOUT_PATHS_H
#define TD_LAYOUT_PATHS_H

#include "store/graph.h"
#include "store/sidecar.h"

enum {
    TD_PATH_LANES = 32,             /* threads of a warp, which takes a partition */
    TD_PATH_DEPTH = 16,             /* D_MAX of the paper */
    TD_PATH_PARTITION_EDGES = 1024, /* default: 32 for each lane */
    TD_PATH_HOT = 128,              /* default of `hot`: docs/lab/paths.md */
};

typedef enum td_path_merge {
    TD_PATHS_MERGE_ON,   /* joined where that does not run through an inner vertex of another path: at most one path
                          * passes through a vertex */
    TD_PATHS_MERGE_OFF,  /* as the search left them */
    TD_PATHS_MERGE_FREE, /* joined wherever an end and a beginning meet */
    TD_PATHS_MERGES,
} td_path_merge;

typedef struct td_path_options {
    uint32_t depth;           /* of the search, in edges; at least 1 */
    td_path_merge merge;
    bool acyclic;             /* cut where joining would put paths on a cycle of dependencies that is none of the graph:
                               * the sketch's cycles are the graph's own. Implies one pass through a vertex */
    bool partition;           /* connected and hot paths share partitions; false: paths by their first vertex */
    bool pack;                /* lanes have equally many edges; false: equally many paths */
    double hot;               /* a path is hot if the mean degree (in and out) of its vertices is at least so many times
                               * the graph's mean */
    uint64_t longest;         /* edges of a joined path; 0: no limit */
    uint32_t partition_edges; /* wanted; a longer path is a partition of its own */
} td_path_options;

td_path_options td_path_defaults(void);

/* The work of a warp: paths first_path .. first_path + paths - 1. Its paths are contiguous in the tables, and so are
 * the paths of a lane. */
typedef struct td_path_partition {
    uint64_t first_path;  /* 64 bits: a graph may have more than 2^32 paths */
    uint64_t first_entry; /* in `vertices` */
    uint32_t paths, entries;
    uint32_t group;
    uint32_t hot_paths;   /* of them; they come first in their group, not in the partition */
    float degree;         /* mean degree (in and out) of the vertices of its entries */
    uint32_t most_entries; /* of a lane: the rounds of a warp */
} td_path_partition;

enum {
    TD_GROUP_CYCLIC = 1, /* processed until nothing changes; otherwise once is enough */
    TD_GROUP_ONE = 2,    /* one component alone */
};

typedef struct td_path_group {
    uint32_t layer, flags;
    uint32_t first_partition, partitions;
    uint64_t paths, hot_paths, edges;
    uint64_t components;
} td_path_group;

/* What is known of the decomposition, for reports. */
typedef struct td_path_stats {
    uint64_t paths, edges;
    uint64_t bound;          /* fewest paths that any decomposition into disjoint paths has */
    uint64_t bound_one_pass; /* fewest with at most one pass through a vertex */
    uint64_t longest;        /* edges of a path */
    uint64_t most_vertices;  /* of a path: N_max of the priority */
    double most_degree;      /* largest mean degree of a path's vertices: D_max of the priority */
    uint64_t hot_paths, hot_edges;
    uint64_t parts;          /* of the search */
    uint64_t found;          /* paths after the search, before joining */
    uint64_t components, cyclic; /* of the dependency graph; those that are cyclic */
    uint64_t giant_paths;        /* of the component with most paths, */
    uint64_t giant_vertices;     /* and the vertices that its paths pass through or that lie between them */
    uint32_t layers;
    uint64_t once_vertices;  /* vertices that need one update: on no cycle of the sketch */
    uint64_t once_paths;
    double lane_balance;     /* edges over 32 times the edges of the longest lane, over all partitions: 1 is even */
    double seconds_paths, seconds_sketch, seconds_store;
    uint64_t peak;           /* bytes allocated at a time while it was made, the result included */
} td_path_stats;

typedef struct td_paths {
    td_path_options options;
    uint64_t build_id;      /* of the graph's file; 0: of none */
    uint32_t graph_vertices;
    uint64_t edges, paths, entries; /* entries == edges + paths */
    td_weight_kind weight_kind;

    /* Paths: entry after entry; two successive entries of a path are an edge. */
    uint32_t *vertices; /* entries (E_idx) */
    void *weights;      /* edges of weight_kind, or NULL (E_val): the weight of the edge between entries i and i + 1 of
                         * path p is number i - p, because every path before has one edge less than entries */
    uint32_t *starts;   /* paths (PTable): the first entry of a path, counted from its partition's first_entry */

    /* Lane l of partition k has the paths lanes[33 * k + l] .. lanes[33 * k + l + 1] - 1, counted from first_path. */
    uint32_t *lanes;    /* (TD_PATH_LANES + 1) * partitions */
    td_path_partition *partition; /* in the order of their groups */
    uint32_t partitions;

    td_path_group *group; /* ascending layers; within a layer: components alone, then small ones, then once-only paths */
    uint32_t groups;
    uint32_t *layer_group; /* layers + 1: the first group of a layer */
    uint32_t layers;

    /* The partitions that read a vertex (have an edge that begins there), for activating them when it changes:
     * readers[reader_offsets[v]] .. ascending, each once. */
    uint64_t *reader_offsets; /* graph_vertices + 1 */
    uint32_t *readers;

    /* The sketch. Nodes are the groups and, from `groups` on, hubs: a hub stands for a vertex that many groups write and
     * many groups read, so that their product is not stored. Successors of a group through a hub are direct ones. */
    uint32_t hubs;
    uint64_t *next_offsets, *before_offsets; /* groups + hubs + 1 */
    uint32_t *next, *before;                 /* successors and predecessors, ascending, each once */

    td_path_stats stats;
    void *block; /* the arrays are parts of it (a section of a file); NULL: each is a block of its own */
} td_paths;

/* Decomposes the graph, which must be in memory and have its in-adjacency. On failure *out is untouched. Memory is
 * charged to the calling thread's account. */
td_status td_paths_make(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool);
void td_paths_free(td_paths *paths);

/* The options as text: the key of a prepared layout. Returns `text`. */
#define TD_PATHS_LAYOUT "paths"
enum { TD_PATHS_KEY = 256 };
char *td_paths_key(char text[TD_PATHS_KEY], const td_path_options *options);

/* Writes the decomposition of a .tg (its path) beside it; `where` receives the file's path. */
td_status td_paths_save(const td_paths *paths, const char *graph, char where[TD_SIDECAR_PATH], td_pool *pool);

/* Reads it again. TD_NOT_FOUND: there is none with these options, or the graph is no .tg in memory. */
td_status td_paths_load(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool);

/* Takes the decomposition from the file beside the graph if it is there, of this build of the graph and of these
 * options; otherwise makes it. *prepared (may be NULL) says which. */
td_status td_paths_open(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool,
                        bool *prepared);

uint64_t td_paths_bytes(const td_paths *paths);

/* Distinct pairs of a partition and a vertex on its paths, which is what a GPU loads beside the edges, and of a
 * partition and a vertex that it writes, which is what it sends. */
td_status td_paths_replicas(const td_paths *paths, td_pool *pool, uint64_t *replicas, uint64_t *written);

/* Checks that the tables lead nowhere outside; TD_CORRUPT names the first claim that does not hold. td_paths_check also
 * checks that the paths have the graph's edges and weights, by a checksum. */
td_status td_paths_check_shape(const td_paths *paths, td_pool *pool);
td_status td_paths_check(const td_paths *paths, const td_graph *graph, td_pool *pool);

/* The first entry of a path of partition k, and behind its last. `path` counts from the partition's first. */
static inline uint64_t td_path_begin(const td_paths *paths, const td_path_partition *partition, uint32_t path)
{
    return partition->first_entry + paths->starts[partition->first_path + path];
}

static inline uint64_t td_path_end(const td_paths *paths, const td_path_partition *partition, uint32_t path)
{
    uint32_t end = path + 1 < partition->paths ? paths->starts[partition->first_path + path + 1] : partition->entries;
    return partition->first_entry + end;
}

/* The index into `weights` of the edge from an entry of a path to the next. `path` counts from the partition's first. */
static inline uint64_t td_path_edge(const td_path_partition *partition, uint32_t path, uint64_t entry)
{
    return entry - (partition->first_path + path);
}

#endif
