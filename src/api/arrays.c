/* Graphs from the arrays of other programs, and the arrays of a graph. */
#include "api/open.h"

#include "base/alloc.h"
#include "store/arrays.h"

static td_status take_options(const td_graph_options *given, td_build_options *built)
{
    td_graph_options options;
    TD_CHECK(td_graph_options_take(given, &options, built));
    if (options.format != NULL)
        return td_fail(TD_USAGE, "td_graph_options.format is '%s', but arrays have no format", options.format);
    if (options.columns != NULL) return td_fail(TD_USAGE, "td_graph_options.columns: arrays have no columns");
    if (options.edges == TD_PLACE_DISK || options.edges == TD_PLACE_MAPPED)
        return td_fail(TD_USAGE, "td_graph_options.edges: edges from arrays are in memory");
    if (options.check)
        return td_fail(TD_USAGE, "td_graph_options.check is for files; arrays are checked in any case: leave it out");
    return TD_OK;
}

static td_status from_arrays(td_session *session, const td_edge_arrays *given, const td_graph_options *options,
                             td_graph **out)
{
    td_status status = TD_OK;
    td_edge_arrays arrays = {0};
    td_build_options built;
    td_edge_list *list = NULL;
    TD_CHECK(td_struct_take(&arrays, sizeof arrays, given, "td_edge_arrays"));
    TD_CHECK(td_array_check_ids(&arrays.sources, arrays.count, "td_edge_arrays.sources"));
    TD_CHECK(td_array_check_ids(&arrays.targets, arrays.count, "td_edge_arrays.targets"));
    TD_CHECK(td_array_check_weights(&arrays.weights));
    TD_CHECK(take_options(options, &built));
    td_pool *builders = td_session_builders(session, arrays.vertices, arrays.count);
    TD_CHECK(td_edges_create(&list, NULL));
    TD_TRY(td_edges_prepare(list, &built));
    TD_TRY(td_arrays_list(&arrays, list, builders));
    TD_TRY(td_graph_build(out, list, &built, builders));
done:
    td_edges_destroy(list);
    return status;
}

td_status td_graph_from_arrays(td_session *session, const td_edge_arrays *edges, const td_graph_options *options,
                               td_graph **out)
{
    TD_CHECK(td_need(edges, "td_edge_arrays"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = from_arrays(session, edges, options, out);
    td_session_leave(session);
    return status;
}

static td_status check_rows(const td_csr *rows)
{
    if (rows->vertices > TD_MAX_VERTICES)
        return td_fail(TD_LIMIT, "td_csr.vertices is %llu, at most 2^32-2 are supported",
                       (unsigned long long)rows->vertices);
    TD_CHECK(td_array_check_ids(&rows->offsets, 1, "td_csr.offsets"));
    TD_CHECK(td_array_check_ids(&rows->targets, rows->edges, "td_csr.targets"));
    return td_array_check_weights(&rows->weights);
}

/* Whether the graph keeps an array of the caller's; if so, it tells the caller when it ends. */
static void lend(td_graph *graph, const td_csr *rows)
{
    td_borrowed *borrowed = &graph->borrowed;
    if (borrowed->offsets || borrowed->targets || borrowed->weights) {
        borrowed->release = rows->release;
        borrowed->context = rows->context;
    } else if (rows->release != NULL) {
        rows->release(rows->context);
    }
}

static td_status from_csr(td_session *session, const td_csr *given, const td_graph_options *options, td_graph **out)
{
    td_csr rows = {0};
    td_build_options built;
    TD_CHECK(td_struct_take(&rows, sizeof rows, given, "td_csr"));
    TD_CHECK(check_rows(&rows));
    TD_CHECK(take_options(options, &built));
    TD_CHECK(td_graph_from_rows(out, &rows, &built, td_session_builders(session, rows.vertices, rows.edges)));
    lend(*out, &rows);
    return TD_OK;
}

td_status td_graph_from_csr(td_session *session, const td_csr *rows, const td_graph_options *options, td_graph **out)
{
    TD_CHECK(td_need(rows, "td_csr"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = from_csr(session, rows, options, out);
    td_session_leave(session);
    return status;
}

static td_status reversed(const td_graph *graph, td_graph **out)
{
    td_graph *made = NULL;
    if (graph->paged != NULL || graph->in.offsets == NULL)
        return td_fail(TD_UNSUPPORTED, "a graph without in-adjacency, or with its edges on disk, cannot be reversed "
                       "without a copy");
    TD_CHECK(TD_NEW_ZEROED(&made, 1, "reversed graph"));
    *made = *graph;
    made->out = graph->in;
    made->in = graph->out;
    made->name = NULL;
    made->checks = NULL; /* its lists have passed them; the mapping stays the owner's */
    made->pattern = made->simple = made->kept = NULL;
    made->build_id = 0;
    made->borrowed = (td_borrowed){.all = true};
    td_status status = td_graph_share_pattern(made);
    if (status != TD_OK) td_graph_destroy(made);
    else *out = made;
    return status;
}

td_status td_graph_reversed(td_session *session, const td_graph *graph, td_graph **out)
{
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = reversed(graph, out);
    td_session_leave(session);
    return status;
}

static td_array weights_of(const td_graph *graph, const td_adjacency *adjacency)
{
    static const td_type types[] = {[TD_WEIGHT_U8] = TD_TYPE_U8, [TD_WEIGHT_U16] = TD_TYPE_U16,
                                      [TD_WEIGHT_U32] = TD_TYPE_U32, [TD_WEIGHT_F32] = TD_TYPE_F32, [TD_WEIGHT_F64] = TD_TYPE_F64};
    return (td_array){.data = adjacency->weights, .type = types[graph->weights]};
}

td_status td_graph_describe_parts(const td_graph *graph, td_graph_parts *out)
{
    TD_CHECK(td_need_graph(graph));
    const td_borrowed *borrowed = &graph->borrowed;
    td_graph_parts parts = {.ids = graph->ids, .first_id = graph->id_base};
    if (graph->paged == NULL) {
        parts.offsets = graph->out.offsets;
        parts.targets = graph->out.targets;
        parts.weights = weights_of(graph, &graph->out);
        parts.in_offsets = graph->in.offsets;
        parts.in_targets = graph->in.targets;
        parts.in_weights = weights_of(graph, &graph->in);
        parts.borrows_offsets = borrowed->offsets || borrowed->all;
        parts.borrows_targets = borrowed->targets || borrowed->all;
        parts.borrows_weights = (borrowed->weights || borrowed->all) && graph->out.weights != NULL;
    }
    return td_struct_give(out, &parts, sizeof parts, "td_graph_parts");
}
