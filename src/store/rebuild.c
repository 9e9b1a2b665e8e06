/* Converts a graph back to edges, so that the builder's options apply to packed files
 * as to any other input. Each worker lists the rows of a block of vertices; the graph
 * is destroyed before the build begins. */
#include "store/builder.h"

#include "base/log.h"
#include "base/mapping.h"
#include "store/vertex_names.h"

#include <math.h>
#include <pthread.h>
#include <sys/mman.h>

enum { BLOCK = 1 << 14 }; /* vertices per chunk */

typedef struct listing {
    const td_graph *graph;
    td_edge_list *list;
    const uint32_t *place; /* new numbers of the vertices, or NULL */
} listing;

static td_status put_weight(const td_graph *graph, td_edge_chunk *chunk, uint64_t edge)
{
    double weight = td_weight_at(graph, &graph->out, edge);
    if (!td_weight_real(graph->weights))
        td_chunk_weight_integer(chunk, false, (uint32_t)weight);
    else if (td_chunk_holds(chunk, weight))
        td_chunk_weight_double(chunk, weight);
    else
        return td_fail(TD_LIMIT, "%s has the weight %.17g, which no 32-bit float holds: it would become %s",
                       graph->name != NULL ? graph->name : "the graph", weight, fabs(weight) < 1 ? "0" : "infinite");
    return TD_OK;
}

static td_status list_rows(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const listing *job = context;
    const td_graph *graph = job->graph;
    const uint64_t *offsets = graph->out.offsets;
    bool weighted = job->list->weighted;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->list, begin / BLOCK, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, offsets[end] - offsets[begin], weighted));
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = offsets[v]; e < offsets[v + 1]; e++) {
            uint32_t target = graph->out.targets[e];
            if (job->list->mirror && target < v) continue;
            TD_CHECK(job->place == NULL ? td_chunk_put(chunk, v, target)
                                        : td_chunk_put(chunk, job->place[v], job->place[target]));
            if (weighted) TD_CHECK(put_weight(graph, chunk, e));
        }
    return TD_OK;
}

enum { EDGES_AT_A_TIME = 1 << 17 };

/* The vertex with this edge: the first whose row ends behind it. */
static uint64_t source_of(const td_graph *graph, uint64_t edge)
{
    uint64_t low = 0, high = graph->vertices - 1; /* in bounds even for offsets that became zeros */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (graph->out.offsets[middle + 1] > edge) high = middle;
        else low = middle + 1;
    }
    return low;
}

static void let_go(const td_graph *graph, const void *array, uint64_t element, uint64_t begin, uint64_t end)
{
    enum { PAGE = 4096 };
    uintptr_t from = ((uintptr_t)array + begin * element + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t to = ((uintptr_t)array + end * element) & ~(uintptr_t)(PAGE - 1);
    if (td_mapping_holds(graph->mapping, array) && from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

static td_status deliver_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    const listing *job = context;
    const td_graph *graph = job->graph;
    const uint64_t *offsets = graph->out.offsets;
    bool weighted = job->list->weighted;
    uint64_t first = source_of(graph, begin), source = first;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->list, begin / EDGES_AT_A_TIME, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, end - begin, weighted));
    for (uint64_t e = begin; e < end; e++) {
        while (source + 1 < graph->vertices && offsets[source + 1] <= e) source++;
        uint32_t target = graph->out.targets[e];
        if (job->list->mirror && target < source) continue;
        TD_CHECK(td_chunk_put(chunk, source, target));
        if (weighted) TD_CHECK(put_weight(graph, chunk, e));
    }
    let_go(graph, offsets, sizeof *offsets, first, source);
    let_go(graph, graph->out.targets, 4, begin, end);
    if (weighted) let_go(graph, graph->out.weights, td_weight_bytes(graph->weights), begin, end);
    td_progress("reading edges", begin, graph->edges);
    return td_edges_deliver(job->list, chunk, worker);
}

static td_status describe(td_edge_list *list, const td_graph *graph)
{
    list->declared = true;
    list->vertices = graph->vertices;
    list->id_base = graph->id_base;
    list->weighted = graph->weights != TD_WEIGHT_NONE && !list->unweighted;
    list->mirror = graph->symmetric; /* one direction represents both */
    return list->weighted && graph->weights == TD_WEIGHT_F64 && !list->floats ? td_edges_use_doubles(list) : TD_OK;
}

td_status td_graph_deliver(const td_graph *graph, td_edge_list *edges, td_pool *pool)
{
    listing job = {.graph = graph, .list = edges};
    TD_CHECK(describe(edges, graph));
    return td_pool_for(pool, graph->edges, EDGES_AT_A_TIME, deliver_range, &job);
}

static td_status id_of(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const listing *job = context;
    for (uint64_t v = begin; v < end; v++)
        job->list->listed[job->place == NULL ? v : job->place[v]] = td_graph_id(job->graph, (uint32_t)v);
    return TD_OK;
}

/* Permutes the ids; the list owns them until the graph is built. */
static td_status copy_ids(listing *job, td_pool *pool)
{
    if (job->graph->ids == NULL && job->place == NULL) return TD_OK;
    TD_CHECK(TD_NEW(&job->list->listed, job->graph->vertices, "original ids"));
    return td_pool_for(pool, job->graph->vertices, BLOCK, id_of, job);
}

static td_status list_graph(listing *job, td_edge_list **list, const td_graph *graph, const td_build_options *options,
                            td_pool *pool)
{
    TD_CHECK(td_edges_create(list, graph->name));
    job->list = *list;
    TD_CHECK(td_edges_prepare(*list, options));
    TD_CHECK(describe(*list, graph));
    TD_CHECK(td_pool_for(pool, graph->vertices, BLOCK, list_rows, job));
    return copy_ids(job, pool);
}

/* Replaces *graph by a graph built from its edges, renumbered if `place` is given. */
static td_status replace(td_graph **graph, const uint32_t *place, const td_build_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_graph *old = *graph, *built = NULL;
    bool ids_sorted = old->ids_sorted && place == NULL;
    listing job = {.graph = old, .place = place};
    *graph = NULL;
    TD_TRY(list_graph(&job, &list, old, options, pool));
    TD_TRY(td_vertex_names_hand_over(old, &list->names));
    td_graph_destroy(old);
    old = NULL;
    TD_TRY(td_graph_build(&built, list, options, pool));
    built->ids = list->listed;
    built->ids_sorted = ids_sorted || list->listed == NULL;
    list->listed = NULL;
    TD_TRY(td_graph_share_pattern(built)); /* with the ids */
    *graph = built;
    built = NULL;
done:
    td_graph_destroy(built);
    td_edges_destroy(list);
    td_graph_destroy(old);
    return status;
}

static td_status build_simple(const td_graph *graph, td_pool *pool, td_graph **out)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_graph *built = NULL;
    listing job = {.graph = graph};
    const td_build_options options = {.symmetrize = true, .dedup = true, .drop_loops = true, .drop_weights = true};
    TD_TRY(list_graph(&job, &list, graph, &options, pool));
    TD_TRY(td_graph_build(&built, list, &options, pool));
    built->ids = list->listed;
    built->ids_sorted = graph->ids_sorted || list->listed == NULL;
    built->names = graph->names;
    built->borrowed.names = true;
    list->listed = NULL;
    *out = built;
done:
    td_edges_destroy(list);
    return status;
}

td_status td_graph_simple(const td_graph *graph, td_pool *pool, const td_graph **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    td_status status = TD_OK;
    td_graph **kept = &((td_graph *)(uintptr_t)graph)->simple; /* a cache: the graph itself does not change */
    if (graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "%s: its edges stay on disk, and the graph of distinct neighbours is built in "
                       "memory; use 'tandem convert --symmetrize --dedup --drop-loops' first", graph->name);
    pthread_mutex_lock(&lock);
    if (*kept == NULL) status = build_simple(graph, pool, kept);
    *out = *kept;
    pthread_mutex_unlock(&lock);
    return status;
}

td_status td_graph_rebuild(td_graph **graph, const td_build_options *options, td_pool *pool)
{
    return replace(graph, NULL, options, pool);
}

td_status td_graph_renumber(td_graph **graph, const uint32_t *place, td_pool *pool)
{
    td_build_options options = {.out_only = (*graph)->in.offsets == NULL};
    return replace(graph, place, &options, pool);
}
