/* Graphs in the API: built from arrays, read, renumbered, saved. */
#include "api/open.h"

#include "base/mapping.h"
#include "base/alloc.h"
#include "layout/reorder.h"
#include "store/formats/format.h"
#include "store/paged.h"
#include "store/vertex_names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { EDGES_AT_A_TIME = 1 << 20 };

td_status td_graph_reading(const td_graph *graph, td_reading *out)
{
    TD_CHECK(td_need(graph, "the graph"));
    if (graph->reading.format == NULL) return td_fail(TD_NOT_FOUND, "the graph was not read from a text");
    return td_struct_give(out, &graph->reading, sizeof graph->reading, "td_reading");
}

typedef struct copying {
    const td_edges *edges;
    td_edge_list *list;
} copying;

static td_status put_weight(const td_edges *edges, td_edge_chunk *chunk, uint64_t i)
{
    if (edges->whole_weights != NULL) {
        td_chunk_weight_integer(chunk, false, edges->whole_weights[i]);
        return TD_OK;
    }
    float weight = edges->real_weights[i];
    if (!isfinite(weight))
        return td_fail(TD_INVALID,
                       "edge %" PRIu64 ", from %" PRIu64 " to %" PRIu64 ", has the weight %g; weights are finite", i,
                       edges->sources[i], edges->targets[i], (double)weight);
    td_chunk_weight_real(chunk, weight);
    return TD_OK;
}

static td_status copy_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const copying *self = context;
    const td_edges *edges = self->edges;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(self->list, begin / EDGES_AT_A_TIME, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, end - begin, self->list->weighted));
    for (uint64_t i = begin; i < end; i++) {
        TD_CHECK(td_chunk_put(chunk, edges->sources[i], edges->targets[i]));
        if (self->list->weighted) TD_CHECK(put_weight(edges, chunk, i));
    }
    return TD_OK;
}

static td_status build(td_pool *pool, const td_edges *edges, const td_build_options *options, td_graph **out)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    TD_CHECK(td_edges_create(&list, NULL));
    TD_TRY(td_edges_prepare(list, options));
    list->weighted = edges->whole_weights != NULL || edges->real_weights != NULL;
    list->declared = edges->vertices > 0;
    list->vertices = edges->vertices;
    copying self = {edges, list};
    TD_TRY(td_pool_for(pool, edges->count, EDGES_AT_A_TIME, copy_edges, &self));
    TD_TRY(td_graph_build(out, list, options, pool));
done:
    td_edges_destroy(list);
    return status;
}

static td_status from_edges(td_session *session, const td_edges *given, const td_graph_options *given_options,
                            td_graph **out)
{
    td_edges edges = {0};
    td_graph_options options;
    td_build_options built;
    TD_CHECK(td_struct_take(&edges, sizeof edges, given, "td_edges"));
    if (edges.count > 0) TD_CHECK(td_need(edges.sources, "td_edges.sources"));
    if (edges.count > 0) TD_CHECK(td_need(edges.targets, "td_edges.targets"));
    if (edges.whole_weights != NULL && edges.real_weights != NULL)
        return td_fail(TD_USAGE, "td_edges has both whole and real weights; give one of them, or none");
    TD_CHECK(td_graph_options_take(given_options, &options, &built));
    if (options.format != NULL)
        return td_fail(TD_USAGE, "td_graph_options.format is '%s', but edges have no format", options.format);
    if (options.columns != NULL) return td_fail(TD_USAGE, "td_graph_options.columns: edges from arrays have no columns");
    if (options.edges == TD_PLACE_DISK || options.edges == TD_PLACE_MAPPED)
        return td_fail(TD_USAGE, "td_graph_options.edges: edges from arrays are in memory");
    TD_CHECK(build(td_session_builders(session, edges.vertices, edges.count), &edges, &built, out));
    return options.check ? td_graph_check(*out, session->pool) : TD_OK;
}

td_status td_graph_from_edges(td_session *session, const td_edges *edges, const td_graph_options *options,
                              td_graph **out)
{
    TD_CHECK(td_need(edges, "td_edges"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_graph *graph = NULL;
    td_status status = from_edges(session, edges, options, &graph);
    td_session_leave(session);
    if (status == TD_OK) *out = graph;
    else td_graph_destroy(graph);
    return status;
}

/* Edges on disk are copied block by block. */
static td_status save(const td_graph *graph, const char *path, const char *name, td_pool *pool)
{
    const td_format *format;
    if (graph->paged == NULL) return td_graph_write(graph, path, name, pool);
    TD_CHECK(td_format_for_output(path, name, &format));
    if (format == &td_format_tg) return td_packed_copy(graph->name, path, NULL, pool);
    return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk, and can be written as .tg only, not as %s; "
                   "opened with TD_PLACE_MEMORY it can", graph->name, format->name);
}

td_status td_graph_save(td_session *session, const td_graph *graph, const char *path, const char *format)
{
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_session_enter(session));
    td_status status = save(graph, path, format, session->pool);
    if (graph->mapping != NULL) status = td_mapping_check(graph->mapping, status);
    td_session_leave(session);
    return status;
}

td_status td_graph_save_striped(td_session *session, const td_graph *graph, const char *path, const char *directories)
{
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(directories, "the list of directories"));
    TD_CHECK(td_session_enter(session));
    td_status status = graph->paged != NULL ? td_packed_copy(graph->name, path, directories, session->pool)
                                            : td_packed_write_striped(graph, path, directories, session->pool);
    td_session_leave(session);
    return status;
}

uint32_t td_graph_vertices(const td_graph *graph) { return graph->vertices; }
uint64_t td_graph_edges(const td_graph *graph) { return graph->edges; }
bool td_graph_symmetric(const td_graph *graph) { return graph->symmetric; }
const char *td_graph_weights(const td_graph *graph) { return td_weight_name(graph->weights); }

bool td_graph_weight_range(const td_graph *graph, double *lowest, double *highest)
{
    if (graph->weights == TD_WEIGHT_NONE) return false;
    *lowest = graph->weight_min;
    *highest = graph->weight_max;
    return true;
}

td_status td_graph_set_order(td_session *session, td_graph **graph, const char *name, uint64_t seed)
{
    td_order order;
    TD_CHECK(td_need(graph, "the place of the graph"));
    TD_CHECK(td_need_graph(*graph));
    TD_CHECK(td_need(name, "the order"));
    TD_CHECK(td_order_named(name, &order));
    if ((*graph)->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk; open it with TD_PLACE_MEMORY to renumber it",
                       (*graph)->name);
    TD_CHECK(td_session_enter(session));
    td_status status = order != TD_ORDER_NONE ? td_graph_reorder(graph, order, seed, session->pool) : TD_OK;
    td_session_leave(session);
    return status;
}

td_status td_graph_digest_of(td_session *session, const td_graph *graph, uint64_t *digest)
{
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(digest, "the place for the digest"));
    if (graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk; open it with TD_PLACE_MEMORY for its digest",
                       graph->name);
    TD_CHECK(td_session_enter(session));
    td_status status = td_graph_digest(graph, session->pool, digest);
    td_session_leave(session);
    return status;
}

uint64_t td_graph_vertex_id(const td_graph *graph, uint32_t vertex)
{
    return vertex < graph->vertices ? td_graph_id(graph, vertex) : UINT64_MAX;
}

bool td_graph_has_names(const td_graph *graph) { return graph != NULL && graph->names != NULL; }

const char *td_graph_vertex_name(const td_graph *graph, uint32_t vertex)
{
    return graph != NULL ? td_vertex_name(graph, vertex) : NULL;
}

td_status td_graph_find_name(const td_graph *graph, const char *name, uint32_t *vertex)
{
    TD_CHECK(td_need(graph, "the graph"));
    TD_CHECK(td_need(name, "the name"));
    TD_CHECK(td_need(vertex, "the place for the vertex"));
    return td_vertex_named(graph, name, vertex);
}

bool td_graph_on_disk(const td_graph *graph) { return graph->paged != NULL; }

uint64_t td_graph_degree(const td_graph *graph, uint32_t vertex)
{
    return vertex < graph->vertices ? td_degree(&graph->out, vertex) : 0;
}

static td_status read_targets(const td_graph *graph, uint32_t vertex, uint32_t *targets)
{
    uint64_t first = graph->out.offsets[vertex], count = td_degree(&graph->out, vertex);
    if (count == 0) return TD_OK;
    TD_CHECK(td_need(targets, "the array of targets"));
    if (graph->paged != NULL) return td_paged_read(graph->paged, false, first, count, targets);
    memcpy(targets, graph->out.targets + first, count * sizeof *targets);
    return TD_OK;
}

/* Calls without a session work for the account that the graph is charged to. */
td_status td_graph_read_targets(const td_graph *graph, uint32_t vertex, uint32_t *targets)
{
    TD_CHECK(td_need_graph(graph));
    if (vertex >= graph->vertices)
        return td_fail(TD_INVALID, "there is no vertex number %" PRIu32 "; the graph has %" PRIu32, vertex,
                       graph->vertices);
    td_account *before = td_account_enter(td_account_of(graph));
    td_status status = read_targets(graph, vertex, targets);
    (void)td_account_enter(before);
    return status;
}

const uint32_t *td_graph_targets(const td_graph *graph, uint32_t vertex, uint64_t *count, uint64_t *first)
{
    *count = 0;
    if (vertex >= graph->vertices || graph->paged != NULL || td_need_graph(graph) != TD_OK) return NULL;
    *count = td_degree(&graph->out, vertex);
    if (first != NULL) *first = graph->out.offsets[vertex];
    return graph->out.targets + graph->out.offsets[vertex];
}

static td_status read_edge(const td_graph *graph, uint64_t number, td_edge *out)
{
    uint32_t target;
    double weight; /* room for a weight of any kind */
    td_adjacency list = graph->out;
    uint64_t at = number;
    if (graph->paged != NULL) {
        TD_CHECK(td_paged_read(graph->paged, false, number, 1, &target));
        if (graph->weights != TD_WEIGHT_NONE) TD_CHECK(td_paged_read(graph->paged, true, number, 1, &weight));
        list = (td_adjacency){.targets = &target, .weights = &weight};
        at = 0;
    }
    *out = (td_edge){.source = td_edge_source(graph, number), .target = list.targets[at], .weight = 1};
    if (graph->weights != TD_WEIGHT_NONE) out->weight = td_weight_at(graph, &list, at);
    return TD_OK;
}

td_status td_graph_edge(const td_graph *graph, uint64_t number, td_edge *out)
{
    TD_CHECK(td_need_graph(graph));
    if (number >= graph->edges)
        return td_fail(TD_INVALID, "there is no edge %" PRIu64 "; the graph has %" PRIu64, number, graph->edges);
    td_account *before = td_account_enter(td_account_of(graph));
    td_status status = read_edge(graph, number, out);
    (void)td_account_enter(before);
    return status;
}
