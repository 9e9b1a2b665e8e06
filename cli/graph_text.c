#include "graph_text.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

char *td_weights_text(char text[TD_GRAPH_TEXT], const td_graph *graph)
{
    if (graph->weights == TD_WEIGHT_NONE) snprintf(text, TD_GRAPH_TEXT, "none");
    else
        snprintf(text, TD_GRAPH_TEXT, "%s %.9g..%.9g", td_weight_name(graph->weights), graph->weight_min,
                 graph->weight_max);
    return text;
}

char *td_graph_text(char text[TD_GRAPH_TEXT], const td_graph *graph)
{
    char vertices[TD_NUMBER_BYTES], edges[TD_NUMBER_BYTES], weights[TD_GRAPH_TEXT];
    snprintf(text, TD_GRAPH_TEXT, "%s %s, %s edge%s, %s%.80s%s", td_format_count(vertices, graph->vertices),
             graph->vertices == 1 ? "vertex" : "vertices", td_format_count(edges, graph->edges),
             graph->edges == 1 ? "" : "s", graph->weights == TD_WEIGHT_NONE ? "no weights" : "weights ",
             graph->weights == TD_WEIGHT_NONE ? "" : td_weights_text(weights, graph),
             graph->symmetric ? ", symmetric" : "");
    return text;
}

void td_graph_json(td_json *json, const td_graph *graph)
{
    td_json_u64(json, "vertices", graph->vertices);
    td_json_u64(json, "edges", graph->edges);
    td_json_string(json, "weights", td_weight_name(graph->weights));
    if (graph->weights != TD_WEIGHT_NONE) {
        td_json_real(json, "weight_min", graph->weight_min);
        td_json_real(json, "weight_max", graph->weight_max);
    }
    td_json_bool(json, "symmetric", graph->symmetric);
}

void td_json_hex(td_json *json, const char *key, uint64_t value)
{
    char text[TD_NUMBER_BYTES];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    td_json_string(json, key, text);
}

uint64_t td_edge_bytes(const td_graph *graph)
{
    return graph->edges * (graph->weights == TD_WEIGHT_NONE ? 8 : 12);
}

void td_memory_json(td_json *json, const td_graph *graph, uint64_t peak)
{
    struct rusage usage;
    uint64_t edges = td_edge_bytes(graph);
    td_json_u64(json, "peak_memory", peak);
    if (getrusage(RUSAGE_SELF, &usage) == 0) td_json_u64(json, "peak_resident", (uint64_t)usage.ru_maxrss * 1024);
    td_json_u64(json, "edge_bytes", edges);
    if (edges > 0) td_json_real(json, "peak_over_edges", (double)peak / (double)edges);
}
