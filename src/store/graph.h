/* A graph in memory: adjacency in compressed rows, both ways.
 *
 * Vertices are numbered 0..vertices-1 (32-bit), edge positions are 64-bit.
 * Every list is sorted by target, parallel edges by weight. A symmetric graph
 * has one adjacency: `in` holds the same pointers as `out`. The arrays belong
 * to the graph; they are anonymous memory after a build or a load and part of
 * a read-only file mapping after td_packed_map.
 *
 * td_graph_destroy and td_graph_find are in tandem.h.
 *
 * Original ids: vertex v was called ids[v] in the input, or id_base + v when
 * `ids` is NULL. Every output uses them. Their ascending order is the graph's
 * own numbering: builders number vertices by it, and a reordered graph keeps the
 * ids and with them that order. Defaults, names of groups and ties follow it, so that
 * they do not depend on the order in memory.
 */
#ifndef TD_STORE_GRAPH_H
#define TD_STORE_GRAPH_H

#include "base/pool.h"
#include "base/status.h"

#include <pthread.h>

#define TD_MAX_VERTICES UINT64_C(0xfffffffe) /* 2^32-2 */

/* kind, name, bytes per edge */
#define TD_WEIGHT_LIST(X) X(NONE, "none", 0) X(U8, "u8", 1) X(U16, "u16", 2) X(U32, "u32", 4) X(F32, "f32", 4) \
    X(F64, "f64", 8)

typedef enum td_weight_kind {
#define TD_WEIGHT_CODE(code, name, bytes) TD_WEIGHT_##code,
    TD_WEIGHT_LIST(TD_WEIGHT_CODE)
#undef TD_WEIGHT_CODE
} td_weight_kind;

typedef struct td_adjacency {
    uint64_t *offsets; /* vertices + 1 */
    uint32_t *targets; /* edges */
    void *weights;     /* edges of the graph's weight kind, or NULL */
} td_adjacency;

/* Which arrays are another owner's, who is told when the graph is destroyed. */
typedef struct td_borrowed {
    bool offsets, targets, weights; /* of the out-adjacency */
    bool all;                       /* both adjacencies, the ids and the names */
    bool names;
    void (*release)(void *context); /* NULL: nobody is told */
    void *context;
} td_borrowed;

struct td_graph {
    uint32_t vertices;
    uint64_t edges; /* directed edges stored in `out` */
    bool symmetric;
    td_weight_kind weights;
    double weight_min, weight_max; /* 0, 0 without weights or edges */
    td_adjacency out, in;          /* `in`: targets are the sources */
    uint64_t id_base;
    uint64_t *ids;   /* NULL: id_base + v */
    bool ids_sorted; /* ascending, so that a search can bisect */
    struct td_vertex_names *names; /* of the vertices, by id (vertex_names.h); NULL: ids are all they have */
    char *name;      /* where it came from, for messages; may be NULL */
    struct td_mapping *mapping; /* the file mapping that contains the arrays, or NULL */
    bool unverified; /* of a mapping: only offsets and ids have been checked, so that a target may be any number */
    struct td_checks *checks; /* of a mapping: lists are checked when they are first used (checks.h); NULL: all are */
    struct td_paged *paged; /* the edges stay in a file (paged.h); NULL: they are in memory */
    bool pattern_symmetric;   /* symmetric except for its weights: has both directions of every edge */
    struct td_graph *pattern; /* if so, the graph without weights, which is symmetric; shares all arrays */
    struct td_graph *simple;  /* td_graph_simple, once it has been built; owns its arrays */
    struct td_graph *kept;    /* td_graph_without_sinks, likewise */
    struct td_graph *tails;   /* of such a graph: the edges that it lacks, as out-lists */
    struct td_graph *ranked;  /* td_graph_ranked, likewise */
    const struct td_graph *ranks_of; /* of such a graph: the one whose weights are ranked; */
    double *distinct;                /* and its distinct weights, by rank */
    uint64_t build_id; /* of the packed file that was loaded unchanged; 0: none */
    td_borrowed borrowed;
    td_reading reading; /* with a `format` if it was read from a file other than a .tg */
};

const char *td_weight_name(td_weight_kind kind);
size_t td_weight_bytes(td_weight_kind kind);

static inline uint64_t td_graph_id(const td_graph *graph, uint32_t vertex)
{
    return graph->ids != NULL ? graph->ids[vertex] : graph->id_base + vertex;
}

static inline uint64_t td_degree(const td_adjacency *adjacency, uint32_t vertex)
{
    return adjacency->offsets[vertex + 1] - adjacency->offsets[vertex];
}

/* The vertex whose out-list holds this edge, by bisection; and the same from a vertex on that is not behind it, which is
 * fast if it is close. */
uint32_t td_edge_source(const td_graph *graph, uint64_t edge);
uint32_t td_edge_source_from(const td_graph *graph, uint64_t edge, uint32_t from);

/* Whether weights of the kind are reals; the others are integers. */
static inline bool td_weight_real(td_weight_kind kind) { return kind >= TD_WEIGHT_F32; }

/* One weight as a number, for printing and tests. Not for inner loops. */
double td_weight_at(const td_graph *graph, const td_adjacency *adjacency, uint64_t edge);

/* True if the vertices are not in the order of their ids. */
static inline bool td_graph_reordered(const td_graph *graph) { return graph->ids != NULL && !graph->ids_sorted; }

/* The first and last vertex by the graph's own numbering; the last other than `except`, unless that is the only one. */
uint32_t td_graph_first(const td_graph *graph);
uint32_t td_graph_last_but(const td_graph *graph, uint32_t except);

/* Ranks of vertices in the graph's own numbering. `order` and `spare` have room for all vertices;
 * order[i] becomes the vertex of rank i. */
void td_graph_own_order(const td_graph *graph, uint32_t *order, uint32_t *spare);

/* Creates `pattern` if the graph is pattern_symmetric, or updates it after a change of arrays or ids. */
td_status td_graph_share_pattern(td_graph *graph);

/* The graph for a program that does not use weights: symmetric if only the weights differ between the two directions.
 * It lives as long as the graph. */
const td_graph *td_graph_without_weights(const td_graph *graph);

/* Releases the pages of a mapped graph's lists of vertices begin .. end - 1, where memory is short (mapping.h). */
void td_graph_let_go(const td_graph *graph, const td_adjacency *adjacency, uint64_t begin, uint64_t end);

/* Bytes of all arrays together. */
uint64_t td_graph_bytes(const td_graph *graph);

/* The claims every graph keeps: offsets ascending from 0 to edges, targets
 * below vertices, lists sorted, weights finite and within the range stated,
 * `in` the transpose of `out` (by degree and by an order-free digest). Fails
 * with TD_CORRUPT naming the first claim that does not hold. */
td_status td_graph_check(const td_graph *graph, td_pool *pool);

/* The parts of it that are about offsets and ids alone. */
td_status td_graph_check_vertices(const td_graph *graph, td_pool *pool);

/* A checksum of the graph itself (counts, ids, lists, weights as values): equal for
 * equal graphs, independent of the file format and the number of threads. */
td_status td_graph_digest(const td_graph *graph, td_pool *pool, uint64_t *digest);

/* A callback before a graph is destroyed, for caches of data derived from it. Any thread. */
typedef struct td_graph_watch {
    const td_graph *graph; /* NULL: inactive */
    void (*gone)(struct td_graph_watch *watch); /* called after the watch has ended */
    const struct td_graph_user *user;           /* that must be idle when it is called; NULL: at any time */
    struct td_graph_watch *next;
} td_graph_watch;
void td_graph_watch_begin(td_graph_watch *watch, const td_graph *graph, const struct td_graph_user *user,
                          void (*gone)(td_graph_watch *watch));
void td_graph_watch_end(td_graph_watch *watch); /* may have ended already, or never begun */

/* A thread at work with what was derived from several graphs: another thread that destroys one of them waits for it. */
typedef struct td_graph_user {
    bool at_work;
    pthread_t thread;
} td_graph_user;
void td_graph_user_begin(td_graph_user *user);
void td_graph_user_end(td_graph_user *user); /* may be idle already */

#endif
