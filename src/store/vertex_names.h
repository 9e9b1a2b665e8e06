/* Names of vertices, for graphs whose files name vertices by words.
 *
 * The names of a graph are distinct and in ascending order of their bytes; the id of a vertex (td_graph_id) is the
 * position of its name, so that an order of vertices moves ids and never names. In a packed file they are one section:
 * the names one after the other, each with a zero behind it. */
#ifndef TD_STORE_VERTEX_NAMES_H
#define TD_STORE_VERTEX_NAMES_H

#include "store/graph.h"

#define TD_NAME_BYTES 1024u /* the longest name, without its zero */

typedef struct td_vertex_names {
    uint64_t count;
    uint64_t bytes;    /* of the text */
    uint64_t *offsets; /* count + 1, into the text */
    char *text;
    uint64_t longest;  /* bytes of the longest name */
    bool mapped;       /* the text belongs to a file mapping */
} td_vertex_names;

/* Takes the text (also on failure, unless it is mapped) and finds its `count` names. TD_CORRUPT if there are fewer or
 * more, if one is empty or too long, or if they do not ascend; `path` is for the message. */
td_status td_vertex_names_take(td_vertex_names **out, char *text, uint64_t bytes, uint64_t count, bool mapped,
                               const char *path);
void td_vertex_names_destroy(td_vertex_names *names); /* NULL is fine */

/* The names of a graph that is about to be destroyed, for the one that replaces it; NULL if it has none. */
td_status td_vertex_names_hand_over(td_graph *from, td_vertex_names **out);

uint64_t td_vertex_names_bytes(const td_vertex_names *names); /* in memory; NULL: 0 */

/* The position of a name, or of the first one behind it if *found becomes false. */
uint64_t td_vertex_names_search(const td_vertex_names *names, const char *name, size_t length, bool *found);

/* The name of a vertex; NULL if the graph has none. */
const char *td_vertex_name(const td_graph *graph, uint32_t vertex);
td_status td_vertex_named(const td_graph *graph, const char *name, uint32_t *vertex); /* TD_NOT_FOUND */

/* The vertex of a text that a user gave: its name in a graph that has names, otherwise its id. TD_INVALID: no number. */
td_status td_vertex_of_text(const td_graph *graph, const char *text, uint32_t *vertex);

/* Prints a vertex by its name or id, or an id of the graph. A name with blanks, separators or quotes is put in quotes,
 * as the readers understand it. Returns the end; td_print_room is the most that one takes. */
char *td_print_vertex(char *at, const td_graph *graph, uint32_t vertex);
char *td_print_id(char *at, const td_graph *graph, uint64_t id);
size_t td_print_room(const td_graph *graph);

#endif
