/* Graphs in the API: opened, built from arrays, looked at, saved. */
#include "api/session.h"

#include "base/alloc.h"
#include "planner/plan.h"
#include "store/builder.h"
#include "store/formats/format.h"
#include "store/paged.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { EDGES_AT_A_TIME = 1 << 20 };

static td_status take_options(const td_graph_options *given, td_graph_options *options, td_build_options *build)
{
    *options = (td_graph_options){0};
    TD_CHECK(td_struct_take(options, sizeof *options, given, "td_graph_options"));
    *build = (td_build_options){.symmetrize = options->symmetrize, .dedup = options->dedup,
                                .drop_loops = options->drop_loops, .drop_weights = options->drop_weights,
                                .weight_seed = options->weight_seed};
    if (options->weights == NULL) return TD_OK;
    if (options->drop_weights)
        return td_fail(TD_USAGE, "weights are to be attached (%s) and dropped", options->weights);
    return td_parse_weight_range(options->weights, build);
}

static td_status stays_on_disk(const char *path, const td_graph_options *options, const td_build_options *build,
                               bool *on_disk)
{
    const td_format *format = options->format != NULL ? td_format_named(options->format) : NULL;
    bool asked = options->edges == TD_PLACE_DISK, changes = td_build_options_change(build);
    *on_disk = false;
    if (options->edges < TD_PLACE_DEFAULT || options->edges > TD_PLACE_DISK)
        return td_fail(TD_INVALID, "td_graph_options.edges is %d, which is no place", (int)options->edges);
    if (options->edges == TD_PLACE_MEMORY) return TD_OK;
    if (options->format == NULL) TD_CHECK(td_format_detect(path, &format));
    if (asked && format != &td_format_tg)
        return td_fail(TD_USAGE,
                       "%s is no .tg, whose edges could stay on disk; 'tandem convert' makes one, in little memory",
                       path);
    if (asked && changes)
        return td_fail(TD_USAGE,
                       "the edges of %s are to stay on disk and to be changed; 'tandem convert' changes them, in "
                       "little memory", path);
    *on_disk = asked;
    return asked || changes || format != &td_format_tg ? TD_OK : td_plan_exceeds_memory(path, on_disk);
}

static td_status open_file(td_session *session, const char *path, const td_graph_options *options,
                           const td_build_options *build, td_graph **out)
{
    bool on_disk;
    TD_CHECK(stays_on_disk(path, options, build, &on_disk));
    if (on_disk) return td_paged_open(out, path, session->pool, NULL);
    return td_graph_read(out, path, options->format, build, session->pool);
}

td_status td_graph_open(td_session *session, const char *path, const td_graph_options *given, td_graph **out)
{
    td_graph_options options;
    td_build_options build;
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = take_options(given, &options, &build);
    if (status == TD_OK) status = open_file(session, path, &options, &build, out);
    td_session_leave(session);
    return status;
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
    TD_CHECK(take_options(given_options, &options, &built));
    if (options.format != NULL)
        return td_fail(TD_USAGE, "td_graph_options.format is '%s', but edges have no format", options.format);
    if (options.edges == TD_PLACE_DISK)
        return td_fail(TD_USAGE, "td_graph_options.edges: edges from arrays are in memory");
    return build(session->pool, &edges, &built, out);
}

td_status td_graph_from_edges(td_session *session, const td_edges *edges, const td_graph_options *options,
                              td_graph **out)
{
    TD_CHECK(td_need(edges, "td_edges"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = from_edges(session, edges, options, out);
    td_session_leave(session);
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
    TD_CHECK(td_need(graph, "the graph"));
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_session_enter(session));
    td_status status = save(graph, path, format, session->pool);
    td_session_leave(session);
    return status;
}

uint32_t td_graph_vertices(const td_graph *graph) { return graph->vertices; }
uint64_t td_graph_edges(const td_graph *graph) { return graph->edges; }
bool td_graph_symmetric(const td_graph *graph) { return graph->symmetric; }
const char *td_graph_weights(const td_graph *graph) { return td_weight_name(graph->weights); }

uint64_t td_graph_vertex_id(const td_graph *graph, uint32_t vertex)
{
    return vertex < graph->vertices ? td_graph_id(graph, vertex) : UINT64_MAX;
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
    TD_CHECK(td_need(graph, "the graph"));
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
    if (vertex >= graph->vertices || graph->paged != NULL) return NULL;
    *count = td_degree(&graph->out, vertex);
    if (first != NULL) *first = graph->out.offsets[vertex];
    return graph->out.targets + graph->out.offsets[vertex];
}

static td_status read_edge(const td_graph *graph, uint64_t number, td_edge *out)
{
    uint32_t target, weight;
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
    if (number >= graph->edges)
        return td_fail(TD_INVALID, "there is no edge %" PRIu64 "; the graph has %" PRIu64, number, graph->edges);
    td_account *before = td_account_enter(td_account_of(graph));
    td_status status = read_edge(graph, number, out);
    (void)td_account_enter(before);
    return status;
}
