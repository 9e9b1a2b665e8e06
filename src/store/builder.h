/* From edges to a graph, in parallel, by counting.
 *
 * The list is scattered into buckets of neighbouring vertices that fit the
 * cache, and each bucket is finished inside it: a radix sort by target, then
 * by source, that never writes at random over the whole array (see builder.c).
 */
#ifndef TD_STORE_BUILDER_H
#define TD_STORE_BUILDER_H

#include "store/edges.h"
#include "store/graph.h"

typedef struct td_build_options {
    bool symmetrize; /* adds the reverse of every edge */
    bool dedup;      /* keeps one edge per pair, the lightest */
    bool drop_loops;
    bool drop_weights;
    bool attach_weights; /* random, from weight_seed and the two ends, equal in both directions */
    bool weight_real;    /* floats in [low, high) instead of integers in [low, high] */
    double weight_low, weight_high;
    td_weight_kind weights_as; /* TD_WEIGHT_F32, TD_WEIGHT_F64: what weights are stored as; TD_WEIGHT_NONE: as they are */
    uint64_t weight_seed;
    bool out_only;       /* no in-adjacency (GAP comparisons, writers) */
    const char *columns; /* for the reader: td_edge_list.columns */
} td_build_options;

/* Whether the options change a graph that is built already. */
static inline bool td_build_options_change(const td_build_options *options)
{
    return options->symmetrize || options->dedup || options->drop_loops || options->drop_weights ||
           options->attach_weights || options->out_only || options->weights_as != TD_WEIGHT_NONE;
}

/* Parses "lo:hi" (integers, or reals if either has a point or exponent), "f32" or "f64". */
td_status td_parse_weights(const char *text, td_build_options *options);

/* Prepares a list for edges that will be built with these options: its columns, and what its weights become. */
td_status td_edges_prepare(td_edge_list *list, const td_build_options *options);

/* Consumes the list's chunks, also on failure; the caller still owns the list. */
td_status td_graph_build(td_graph **out, td_edge_list *list, const td_build_options *options, td_pool *pool);

/* The undirected graph of distinct neighbours: every edge in both directions, once, without loops and weights. Built when
 * it is first asked for; the graph keeps it. */
td_status td_graph_simple(const td_graph *graph, td_pool *pool, const td_graph **out);

/* Completes a graph that has its out-adjacency, in order, with 32-bit weights or none: adds the in-adjacency, or finds
 * that it is symmetric, and settles the weights. The out-adjacency's targets and real weights are only read. */
td_status td_graph_complete(td_graph *graph, bool real, td_pool *pool);

/* Replaces a graph by one with the options applied (rebuild.c); vertices and
 * original ids stay. A symmetric graph is not symmetrised again. On failure
 * destroys *graph and sets it to NULL. */
td_status td_graph_rebuild(td_graph **graph, const td_build_options *options, td_pool *pool);

/* Delivers a graph's edges chunk by chunk, for td_external_build; releases the pages of a mapped graph after
 * reading them. The vertices are declared; the caller handles their original ids. */
td_status td_graph_deliver(const td_graph *graph, td_edge_list *edges, td_pool *pool);

/* Renumbers a graph: vertex v becomes place[v]; `place` is a permutation. Original ids
 * stay with their vertices. On failure destroys *graph and sets it to NULL. */
td_status td_graph_renumber(td_graph **graph, const uint32_t *place, td_pool *pool);

#endif
