/* A look at a graph: degrees and counts, its sections as a packed file, and the memory that building, loading and running
 * on it takes. */
#include "api/session.h"

#include "base/mapping.h"
#include "planner/needs.h"
#include "store/build_bytes.h"
#include "store/external.h"
#include "store/graph_stats.h"
#include "store/packed.h"
#include "store/paged.h"

#include <string.h>

static void describe_ids(const td_graph *graph, td_graph_counts *out)
{
    out->ids = graph->ids == NULL ? TD_IDS_RANGE : graph->ids_sorted ? TD_IDS_ASCENDING : TD_IDS_UNORDERED;
    if (graph->vertices == 0) return;
    out->lowest_id = out->highest_id = td_graph_id(graph, 0);
    if (out->ids != TD_IDS_UNORDERED) out->highest_id = td_graph_id(graph, graph->vertices - 1);
    for (uint32_t v = 1; v < graph->vertices && out->ids == TD_IDS_UNORDERED; v++) {
        uint64_t id = td_graph_id(graph, v);
        if (id < out->lowest_id) out->lowest_id = id;
        if (id > out->highest_id) out->highest_id = id;
    }
}

static td_status count(const td_graph *graph, bool every_edge, td_pool *pool, td_graph_counts *out)
{
    td_graph_stats stats;
    TD_CHECK(every_edge ? td_graph_stats_collect(graph, pool, &stats) : td_graph_stats_degrees(graph, pool, &stats));
    *out = (td_graph_counts){.average_degree = stats.average_degree, .sinks = stats.sinks, .has_in = stats.has_in,
                             .sources = stats.sources, .isolated = stats.isolated, .in = stats.in, .out = stats.out,
                             .counted = every_edge, .loops = stats.loops, .parallel = stats.parallel};
    describe_ids(graph, out);
    return TD_OK;
}

td_status td_graph_count(td_session *session, const td_graph *graph, bool every_edge, td_graph_counts *out)
{
    td_graph_counts found;
    TD_CHECK(every_edge ? td_need_graph(graph) : td_need(graph, "the graph"));
    if (every_edge && graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk; open it with TD_PLACE_MEMORY to count them",
                       graph->name);
    TD_CHECK(td_session_enter(session));
    td_status status = count(graph, every_edge, session->pool, &found);
    if (graph->mapping != NULL) status = td_mapping_check(graph->mapping, status);
    td_session_leave(session);
    return status == TD_OK ? td_struct_give(out, &found, sizeof found, "td_graph_counts") : status;
}

static td_packed_info file_of(const td_graph *graph)
{
    return graph->paged != NULL ? *td_paged_describe(graph->paged) : td_packed_plan(graph);
}

_Static_assert((int)TD_SECTIONS <= (int)TD_SECTION_MOST, "room for every section");

static void list_sections(const td_packed_info *file, td_packed_facts *out)
{
    for (int i = 0; i < TD_SECTIONS; i++) {
        if (file->sections[i].element == 0) continue;
        out->section[out->sections].name = td_section_name((td_section_kind)i);
        out->section[out->sections++].bytes = file->sections[i].bytes;
    }
}

td_status td_graph_packed(td_session *session, const td_graph *graph, td_packed_facts *out)
{
    td_build_options plain = {0};
    td_graph_counts ids = {0};
    TD_CHECK(td_need(session, "the session"));
    TD_CHECK(td_need(graph, "the graph"));
    td_packed_info file = file_of(graph);
    describe_ids(graph, &ids);
    td_packed_facts found = {
        .bytes = file.file_bytes, .load = td_packed_graph_bytes(&file),
        .build = (uint64_t)td_inside_rebuilt(&file, &plain),
        .build_least = td_outside_bytes(td_pool_threads(session->pool)), .temporary = td_external_temporary(&file),
        .temporary_ids = td_external_ids_temporary(&file, ids.highest_id)};
    list_sections(&file, &found);
    return td_struct_give(out, &found, sizeof found, "td_packed_facts");
}

td_status td_graph_run_needs(td_session *session, const td_graph *graph, const char *name, td_run_needs *out)
{
    const td_program *program = name != NULL ? td_program_named(name) : NULL;
    td_run_needs found = {0};
    TD_CHECK(td_need(graph, "the graph"));
    if (program == NULL) return td_fail(TD_NOT_FOUND, "there is no program '%s'", name != NULL ? name : "NULL");
    td_packed_info file = file_of(graph);
    TD_CHECK(td_session_enter(session));
    td_status status = td_needs_find(&found, program, graph, &file, session->pool);
    td_session_leave(session);
    return status == TD_OK ? td_struct_give(out, &found, sizeof found, "td_run_needs") : status;
}
