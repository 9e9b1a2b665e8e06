/* Graphs stored as compressed rows: where each vertex's row ends, the targets of all
 * rows, and perhaps their weights. Rows are checked, then their edges are put into
 * chunks, both in parallel. Numbers are little endian and need no alignment. */
#ifndef TD_STORE_ROWS_H
#define TD_STORE_ROWS_H

#include "store/edges.h"
#include "store/input.h"

typedef enum td_row_weight {
    TD_ROW_NONE,
    TD_ROW_UNSIGNED, /* of 1, 2, 4 or 8 bytes */
    TD_ROW_SIGNED,   /* of 4 bytes */
    TD_ROW_REAL,     /* of 4 or 8 bytes */
} td_row_weight;

typedef struct td_rows {
    const char *path;                   /* for messages */
    const td_input *input;
    const uint8_t *file;                /* its first byte, for positions in messages */
    uint64_t vertices, edges;
    const uint8_t *ends;                /* one 64-bit edge number per vertex */
    const uint8_t *targets, *weights;
    unsigned target_bytes, target_step; /* 4 or 8; from one target to the next */
    unsigned weight_bytes, weight_step;
    td_row_weight weight;
    const char *other_weights, *other_format; /* for messages: another kind of weights, and its format; or NULL */
} td_rows;

td_status td_rows_read(const td_rows *rows, td_edge_list *edges, td_pool *pool);

#endif
