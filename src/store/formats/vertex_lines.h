/* Texts in which line i holds the neighbours of vertex i (METIS, WebGraph ASCII).
 *
 * A worker does not know the vertex of the first line of its piece: it numbers lines
 * from 0, and when the lines of all pieces are counted, the sources of every piece are
 * shifted. If chunks are consumed at once (td_edge_list.take), the lines are counted
 * first instead.
 */
#ifndef TD_STORE_VERTEX_LINES_H
#define TD_STORE_VERTEX_LINES_H

#include "store/edges.h"
#include "store/input.h"

typedef struct td_vertex_lines {
    uint64_t skip;          /* bytes of the header */
    uint64_t vertices;      /* as many lines are needed; blank ones may follow */
    unsigned first_id;      /* 0 or 1 */
    unsigned vertex_fields; /* numbers to skip at the start of each line */
    bool weighted;          /* an integer weight after each neighbour */
    bool comments;          /* lines that start with % do not count */
} td_vertex_lines;

td_status td_vertex_lines_read(const td_vertex_lines *form, td_input *input, td_edge_list *edges, td_pool *pool);

#endif
