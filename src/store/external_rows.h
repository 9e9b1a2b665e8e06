/* Writes sorted edges to the sections of one adjacency: offsets, targets, weights, and
 * the page directory with its summaries, which alone stays in memory. */
#ifndef TD_STORE_EXTERNAL_ROWS_H
#define TD_STORE_EXTERNAL_ROWS_H

#include "base/tempfile.h"
#include "store/builder.h"
#include "store/packed_out.h"

/* An edge as one key: the row's vertex in the upper bits, the other end in the lower. */
static inline uint64_t td_edge_key(uint32_t row, uint32_t target, uint32_t bits)
{
    return (uint64_t)row << bits | target;
}

static inline uint32_t td_key_target(uint64_t key, uint32_t bits)
{
    return (uint32_t)(key & ((UINT64_C(1) << bits) - 1));
}

typedef struct td_external_rows {
    td_packed_out *out;
    const char *path;               /* for messages */
    const td_build_options *draw;   /* weights are drawn; or NULL */
    uint32_t vertices, bits;
    bool dedup, in;
    bool weighted, real;            /* weights come with the edges */
    const td_weight_table *ranks;   /* these are ranks of 64-bit floats; or NULL */
    td_weight_kind kind;            /* of the weights written; 32 bits while it is not known */
    const char *spool_directory;    /* weights go to a temporary file there until their place is known; or NULL */
    td_tempfile *spool;
    td_page *pages;
    uint64_t page_count, page_room;
    double lowest, highest;         /* of the weights */
    uint64_t edges;                 /* written so far */
    struct {                        /* private */
        td_section_stream offsets, targets, weights;
        char *spool_buffer;
        uint32_t spool_filled;
        uint64_t next_row, row_start, last_key, summary_factor;
        bool any;
        td_page page;               /* the one being filled */
        uint32_t first[TD_SUMMARY_BITS], last[TD_SUMMARY_BITS]; /* 1 + the row that set the bit */
    } state;
} td_external_rows;

/* The caller fills in the fields above `spool`. */
td_status td_external_rows_open(td_external_rows *rows);
td_status td_external_rows_put(td_external_rows *rows, const uint64_t *keys, const uint32_t *weights, uint64_t count);
td_status td_external_rows_end(td_external_rows *rows);

/* Copies the spooled weights to their section, once their kind and the layout are fixed. */
td_status td_external_rows_place_weights(td_external_rows *rows);

/* Writes the section of degrees, from the offsets written before. */
td_status td_external_rows_degrees(td_external_rows *rows);
void td_external_rows_close(td_external_rows *rows); /* any time after the struct was zeroed */

#endif
