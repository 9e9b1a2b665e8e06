/* The facts about a graph, as a line of text and as JSON keys, alike in every
 * command. */
#ifndef TD_CLI_GRAPH_TEXT_H
#define TD_CLI_GRAPH_TEXT_H

#include "base/json.h"
#include "tandem.h"

enum { TD_GRAPH_TEXT = 192 };

/* "4,039 vertices, 88,234 edges, weights u8 1..100, symmetric". Returns `text`. */
char *td_graph_text(char text[TD_GRAPH_TEXT], const td_graph *graph);

/* "u8 1..100", "f32 -0.5..1", "none". Returns `text`. */
char *td_weights_text(char text[TD_GRAPH_TEXT], const td_graph *graph);

/* vertices, edges, weights and their range, symmetric */
void td_graph_json(td_json *json, const td_graph *graph);

/* A 64-bit value as 16 hexadecimal digits: JSON numbers cannot hold it exactly. */
void td_json_hex(td_json *json, const char *key, uint64_t value);

/* peak_memory (allocated by Tandem), peak_resident (charged by the system, mapped files
 * included), edge_bytes and peak_over_edges. */
/* How a graph was read; nothing if its file is a .tg. */
void td_reading_json(td_json *json, const td_reading *reading);

void td_memory_json(td_json *json, const td_graph *graph, uint64_t peak);

/* The size of the edges as a plain array: two 32-bit ends per directed edge, and 32 bits of
 * weight if there are weights. */
uint64_t td_edge_bytes(const td_graph *graph);

#endif
