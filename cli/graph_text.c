#include "graph_text.h"

#include "base/machine.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>

char *td_weights_text(char text[TD_GRAPH_TEXT], const td_graph *graph)
{
    double lowest, highest;
    if (!td_graph_weight_range(graph, &lowest, &highest)) snprintf(text, TD_GRAPH_TEXT, "none");
    else snprintf(text, TD_GRAPH_TEXT, "%s %.9g..%.9g", td_graph_weights(graph), lowest, highest);
    return text;
}

static bool has_weights(const td_graph *graph)
{
    double lowest, highest;
    return td_graph_weight_range(graph, &lowest, &highest);
}

char *td_graph_text(char text[TD_GRAPH_TEXT], const td_graph *graph)
{
    char count[TD_NUMBER_BYTES], edge_count[TD_NUMBER_BYTES], weights[TD_GRAPH_TEXT];
    uint32_t vertices = td_graph_vertices(graph);
    uint64_t edges = td_graph_edges(graph);
    snprintf(text, TD_GRAPH_TEXT, "%s %s, %s edge%s, %s%.80s%s", td_format_count(count, vertices),
             vertices == 1 ? "vertex" : "vertices", td_format_count(edge_count, edges), edges == 1 ? "" : "s",
             has_weights(graph) ? "weights " : "no weights", has_weights(graph) ? td_weights_text(weights, graph) : "",
             td_graph_symmetric(graph) ? ", symmetric" : "");
    return text;
}

void td_graph_json(td_json *json, const td_graph *graph)
{
    double lowest, highest;
    td_json_u64(json, "vertices", td_graph_vertices(graph));
    td_json_u64(json, "edges", td_graph_edges(graph));
    td_json_string(json, "weights", td_graph_weights(graph));
    if (td_graph_weight_range(graph, &lowest, &highest)) {
        td_json_real(json, "weight_min", lowest);
        td_json_real(json, "weight_max", highest);
    }
    td_json_bool(json, "symmetric", td_graph_symmetric(graph));
}

void td_reading_json(td_json *json, const td_reading *reading)
{
    if (reading->format == NULL) return;
    td_json_object(json, "reading");
    td_json_string(json, "format", reading->format);
    if (reading->compression != NULL) {
        td_json_string(json, "compression", reading->compression);
        td_json_string(json, "decoder", reading->decoder);
        td_json_u64(json, "content_bytes", reading->content_bytes);
        td_json_u64(json, "members", reading->members);
        td_json_u64(json, "parallel_members", reading->parallel_members);
    }
    td_json_real(json, "read_seconds", reading->read_seconds);
    td_json_real(json, "build_seconds", reading->build_seconds);
    td_json_bool(json, "weights_dropped", reading->weights_dropped);
    td_json_end_object(json);
}

void td_json_hex(td_json *json, const char *key, uint64_t value)
{
    char text[TD_NUMBER_BYTES];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    td_json_string(json, key, text);
}

uint64_t td_edge_bytes(const td_graph *graph)
{
    return td_graph_edges(graph) * (has_weights(graph) ? 12 : 8);
}

void td_memory_json(td_json *json, const td_graph *graph, uint64_t peak)
{
    uint64_t edges = td_edge_bytes(graph), resident = td_machine_peak_resident();
    td_json_u64(json, "peak_memory", peak);
    if (resident > 0) td_json_u64(json, "peak_resident", resident); /* ru_maxrss counts what was there before exec, too */
    td_json_u64(json, "edge_bytes", edges);
    if (edges > 0) td_json_real(json, "peak_over_edges", (double)peak / (double)edges);
}
