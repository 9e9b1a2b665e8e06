/* Checking results without an engine.
 *
 * Each verifier takes the graph and the arrays of a program's result and checks
 * claims that only a correct result fulfils, in the manner of GAPBS and Graph500;
 * the claims are listed at the top of the program's file. TD_OK, or TD_VERIFY
 * with one message: the program, the claim that fails, where (original ids) and
 * the values seen. Any other status means that the check itself failed (no memory,
 * invalid parameters of a claim, a missing in-adjacency).
 *
 * Arrays are indexed by vertex number. An unweighted graph counts as one whose
 * weights are all 1. `pool` may be NULL. The undirected view of a symmetric
 * graph has its out-lists; of any other graph, out- and in-lists together, so
 * that u -> v and v -> u are two parallel edges there.
 */
#ifndef TD_PROGRAMS_VERIFY_H
#define TD_PROGRAMS_VERIFY_H

#include "store/graph.h"

/* Results in floats are compared with a replay in doubles within this, relative
 * (LDBC Graphalytics' rule), plus a bound on float rounding (replay.h). */
#define TD_RESULT_TOLERANCE 1e-4

/* An unreached vertex has the level UINT32_MAX and the parent TD_NO_VERTEX; the
 * source is its own parent. `parents` may be NULL. */
td_status td_verify_bfs(const td_graph *graph, uint32_t source, const uint32_t *levels, const uint32_t *parents,
                        td_pool *pool);

/* The same for distances of any kind; unreached is TD_UNREACHED, TD_UNREACHED_U64 or INFINITY. Integer distances need
 * integer weights (or none); weights must not be negative. *bound (may be NULL): the largest relative error of a result
 * that passes, 0 for integers. */
td_status td_verify_sssp(const td_graph *graph, uint32_t source, td_value_kind kind, const void *distances,
                         const uint32_t *parents, td_pool *pool, double *bound);
static inline td_status td_verify_sssp_u32(const td_graph *graph, uint32_t source, const uint32_t *distances,
                                           const uint32_t *parents, td_pool *pool)
{
    return td_verify_sssp(graph, source, TD_VALUE_U32, distances, parents, pool, NULL);
}
static inline td_status td_verify_sssp_f32(const td_graph *graph, uint32_t source, const float *distances,
                                           const uint32_t *parents, td_pool *pool)
{
    return td_verify_sssp(graph, source, TD_VALUE_F32, distances, parents, pool, NULL);
}

/* A vertex's label is the smallest vertex number in its component of the undirected view. */
td_status td_verify_wcc(const td_graph *graph, const uint32_t *labels, td_pool *pool);

/* rank'[v] = (1 - damping) p[v] + damping (sum over in-edges rank[u] / out-degree[u]  [+ p[v] * mass of the sinks]),
 * from rank = p. Parallel edges and loops count as edges; weights do not matter. */
typedef struct td_pagerank_claim {
    double damping;
    bool spread_dangling;   /* the bracket; without it the sinks' mass is lost, as in GAP */
    const double *personal; /* p; sums to 1; NULL: 1 / vertices */
    uint32_t iterations;    /* synchronous ones; 0: run until the tolerance was met */
    double tolerance;       /* the L1 norm of an iteration's change */
} td_pagerank_claim;

td_status td_verify_pagerank(const td_graph *graph, const float *ranks, const td_pagerank_claim *claim, td_pool *pool);
td_status td_verify_pagerank_f64(const td_graph *graph, const double *ranks, const td_pagerank_claim *claim,
                                 td_pool *pool);

/* `edges` are positions in the out-adjacency, in any order. Edges are ordered by
 * (weight, position), which makes the minimum spanning forest unique. Of a
 * symmetric graph only positions with source < target stand for an edge. */
td_status td_verify_mst(const td_graph *graph, const uint64_t *edges, uint64_t count, double total_weight,
                        td_pool *pool);

/* Core numbers of the undirected view: parallel edges count each, loops not at
 * all. in_degree_only: a vertex stays in the k-core while it has k in-edges
 * from vertices of the core. */
td_status td_verify_kcore(const td_graph *graph, const uint32_t *cores, bool in_degree_only, td_pool *pool);

/* score'[v] = injection seed[v] + continuation (sum over in-edges w score[u]) / (sum over in-edges w), the
 * quotient being 0 where the denominator is; the rest is abandoned. From score = seeds. */
typedef struct td_adsorption_claim {
    double injection, continuation; /* probabilities; the rest is abandonment */
    const double *seeds;
    uint32_t iterations; /* synchronous ones; 0: run until the tolerance was met */
    double tolerance;    /* the largest change of any score in an iteration */
} td_adsorption_claim;

td_status td_verify_adsorption(const td_graph *graph, const float *scores, const td_adsorption_claim *claim,
                               td_pool *pool);

typedef enum td_activation { TD_ACTIVATION_TANH, TD_ACTIVATION_SIGMOID, TD_ACTIVATION_RELU } td_activation;

/* value'[v] = activation(sum over in-edges w value[u]) from 0; a vertex with an input keeps it. */
typedef struct td_nn_claim {
    td_activation activation;
    const double *inputs; /* NaN: none */
    uint32_t iterations;  /* synchronous ones; 0: run to a fixpoint */
    double tolerance;     /* the largest change of any value at the fixpoint; 0 in acyclic networks */
} td_nn_claim;

td_status td_verify_nn(const td_graph *graph, const float *values, const td_nn_claim *claim, td_pool *pool);

/* u'[i] = u[i] + step * sum over neighbours w (u[j] - u[i]), in the undirected view. */
typedef struct td_heat_claim {
    const double *initial;
    double step;
    uint32_t iterations;
} td_heat_claim;

td_status td_verify_heat(const td_graph *graph, const float *values, const td_heat_claim *claim, td_pool *pool);

/* Weights are resistances, all above zero. */
typedef struct td_circuit_claim {
    const double *held; /* the voltage a vertex is held at; NaN: free */
    double tolerance;   /* of a vertex's net current over the sum of its conductances, in volts */
} td_circuit_claim;

td_status td_verify_circuit(const td_graph *graph, const double *volts, const td_circuit_claim *claim, td_pool *pool);

#endif
