/* A finished graph back into edges, so that the builder's options apply to
 * packed files as to any other input. Each worker lists the rows of a block of
 * vertices; the graph is gone before the build begins. */
#include "store/builder.h"

#include <string.h>

enum { BLOCK = 1 << 14 }; /* vertices per chunk */

typedef struct listing {
    const td_graph *graph;
    td_edge_list *list;
} listing;

static void put_weight(const td_graph *graph, td_edge_chunk *chunk, uint64_t edge)
{
    double weight = td_weight_at(graph, &graph->out, edge);
    if (graph->weights == TD_WEIGHT_F32)
        td_chunk_weight_real(chunk, (float)weight);
    else
        td_chunk_weight_integer(chunk, false, (uint32_t)weight);
}

static td_status list_rows(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const listing *job = context;
    const td_graph *graph = job->graph;
    const uint64_t *offsets = graph->out.offsets;
    bool weighted = graph->weights != TD_WEIGHT_NONE;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->list, begin / BLOCK, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, offsets[end] - offsets[begin], weighted));
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = offsets[v]; e < offsets[v + 1]; e++) {
            TD_CHECK(td_chunk_put(chunk, v, graph->out.targets[e]));
            if (weighted) put_weight(graph, chunk, e);
        }
    return TD_OK;
}

static td_status copy_ids(const td_graph *graph, uint64_t **ids)
{
    if (graph->ids == NULL) return TD_OK;
    TD_CHECK(TD_NEW(ids, graph->vertices, "original ids"));
    memcpy(*ids, graph->ids, graph->vertices * sizeof **ids);
    return TD_OK;
}

td_status td_graph_rebuild(td_graph **graph, const td_build_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_graph *old = *graph, *built = NULL;
    uint64_t *ids = NULL;
    bool ids_sorted = old->ids_sorted;
    td_build_options rest = *options;
    rest.symmetrize = options->symmetrize && !old->symmetric;
    *graph = NULL;
    TD_TRY(td_edges_create(&list, old->name));
    list->declared = true;
    list->vertices = old->vertices;
    list->id_base = old->id_base;
    list->weighted = old->weights != TD_WEIGHT_NONE;
    listing job = {old, list};
    TD_TRY(td_pool_for(pool, old->vertices, BLOCK, list_rows, &job));
    TD_TRY(copy_ids(old, &ids));
    td_graph_destroy(old);
    old = NULL;
    TD_TRY(td_graph_build(&built, list, &rest, pool));
    built->ids = ids;
    built->ids_sorted = ids_sorted;
    ids = NULL;
    *graph = built;
done:
    td_edges_destroy(list);
    td_graph_destroy(old);
    td_free(ids);
    return status;
}
