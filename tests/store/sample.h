/* Random graphs for the store's tests: loops, parallel edges and isolated
 * vertices are in all of them. */
#ifndef TD_SAMPLE_H
#define TD_SAMPLE_H

#include "test.h"

#include "base/random.h"
#include "store/builder.h"

typedef struct sample {
    uint32_t vertices;
    uint64_t edges; /* before mirroring */
    td_weight_kind weights;
    bool symmetric, sparse_ids, out_only;
    uint64_t id_base; /* when the ids are not sparse */
    uint64_t seed;
} sample;

static inline uint64_t sample_id(const sample *spec, uint64_t vertex)
{
    return spec->sparse_ids ? vertex * 1000003 + 7 : vertex;
}

static inline void sample_weight(const sample *spec, td_edge_chunk *chunk, uint64_t edge)
{
    uint64_t random = td_random_at(spec->seed + 1, edge);
    static const uint32_t largest[] = {[TD_WEIGHT_U8] = 255, [TD_WEIGHT_U16] = 65535, [TD_WEIGHT_U32] = UINT32_MAX};
    if (spec->weights == TD_WEIGHT_F64)
        td_chunk_weight_double(chunk, td_random_unit(random) * 1e300 - 5e299);
    else if (spec->weights == TD_WEIGHT_F32)
        td_chunk_weight_real(chunk, (float)(td_random_unit(random) * 1e3 - 500));
    else if (edge == 0)
        td_chunk_weight_integer(chunk, false, largest[spec->weights]); /* so that no narrower kind will do */
    else
        td_chunk_weight_integer(chunk, false, (uint32_t)td_random_below(random, largest[spec->weights]));
}

/* Every eighth vertex stays isolated, one edge in 16 is a loop, one in 16 is the edge before it again. */
static inline td_status sample_fill(const sample *spec, td_edge_chunk *chunk)
{
    bool weighted = spec->weights != TD_WEIGHT_NONE;
    uint64_t source = 0, target = 0;
    TD_CHECK(td_chunk_reserve(chunk, spec->edges, weighted));
    for (uint64_t e = 0; e < spec->edges; e++) {
        uint64_t random = td_random_at(spec->seed, e), kind = e == 0 ? 2 : random % 16;
        if (kind != 1) source = td_random_below(td_mix64(random), spec->vertices) | 1;
        if (kind != 1) target = td_random_below(td_mix64(random + 1), spec->vertices) | 1;
        if (kind == 0) target = source;
        if (source % 8 == 7) source -= 2;
        if (target % 8 == 7) target -= 2;
        if (source >= spec->vertices || target >= spec->vertices) source = target = 0;
        TD_CHECK(td_chunk_put(chunk, sample_id(spec, source), sample_id(spec, target)));
        if (weighted) sample_weight(spec, chunk, e);
    }
    return TD_OK;
}

static inline td_status sample_list_vertices(const sample *spec, td_edge_list *list)
{
    TD_CHECK(TD_NEW(&list->listed, spec->vertices, "vertices"));
    list->listed_count = spec->vertices;
    for (uint64_t v = 0; v < spec->vertices; v++) list->listed[v] = sample_id(spec, v);
    return TD_OK;
}

/* The edges in one chunk. */
static inline td_status sample_list(td_edge_list **out, sample spec)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_edge_chunk *chunk;
    TD_TRY(td_edges_create(&list, "sample"));
    if (spec.weights == TD_WEIGHT_F64) TD_TRY(td_edges_use_doubles(list));
    list->weighted = spec.weights != TD_WEIGHT_NONE;
    list->mirror = spec.symmetric;
    list->declared = !spec.sparse_ids;
    list->vertices = spec.vertices;
    list->id_base = spec.id_base;
    TD_TRY(td_edges_chunk(list, 0, &chunk));
    TD_TRY(sample_fill(&spec, chunk));
    if (spec.sparse_ids) TD_TRY(sample_list_vertices(&spec, list));
    *out = list;
    list = NULL;
done:
    td_edges_destroy(list);
    return status;
}

static inline td_status sample_try(td_graph **out, sample spec, td_pool *pool)
{
    td_edge_list *list = NULL;
    td_build_options options = {.out_only = spec.out_only};
    TD_CHECK(sample_list(&list, spec));
    td_status status = td_graph_build(out, list, &options, pool);
    td_edges_destroy(list);
    return status;
}

static inline td_graph *sample_graph(sample spec)
{
    td_graph *graph = NULL;
    CHECK_OK(sample_try(&graph, spec, NULL));
    return graph;
}

static inline uint64_t digest_of(const td_graph *graph)
{
    uint64_t digest = 0;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    return digest;
}

#endif
