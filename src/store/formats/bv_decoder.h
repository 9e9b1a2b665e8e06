/* The lists of a BVGraph, one after the other.
 *
 * Boldi and Vigna, "The WebGraph Framework I: Compression Techniques". The list of
 * a vertex is its outdegree, then (if the window is not 0) the distance back to the
 * vertex whose list it copies from, with the lengths of the blocks that are alternately
 * copied and skipped, then intervals of consecutive successors, then the residuals as
 * gaps. The decoder keeps the lists of the last `window` vertices.
 */
#ifndef TD_STORE_BV_DECODER_H
#define TD_STORE_BV_DECODER_H

#include "store/edges.h"
#include "store/formats/bits.h"

/* The values of the properties file. The limit on chains of references ("maxrefcount") is not needed here. */
typedef struct td_bv_shape {
    uint64_t vertices, arcs;
    uint32_t window;
    uint32_t min_interval; /* 0: no intervals */
    uint32_t parameter;    /* zeta's k, Golomb's modulus */
    td_code outdegrees, blocks, residuals, references, block_counts, offsets;
} td_bv_shape;

typedef struct td_bv_decoder td_bv_decoder;

/* Reads `bytes` of `data`, which outlive the decoder; `path` is for messages. `offsets` are
 * the first bits of all lists and the end of the last, or NULL. */
td_status td_bv_decoder_create(td_bv_decoder **out, const td_bv_shape *shape, const char *path, const void *data,
                               uint64_t bytes, const uint64_t *offsets);
void td_bv_decoder_destroy(td_bv_decoder *decoder);

/* Moves to a vertex; needs offsets unless it is the next one. */
td_status td_bv_decoder_seek(td_bv_decoder *decoder, uint64_t vertex);

/* Appends the arcs of the next `count` vertices to the chunk. */
td_status td_bv_decoder_run(td_bv_decoder *decoder, uint64_t count, td_edge_chunk *chunk);

uint64_t td_bv_decoder_bit(const td_bv_decoder *decoder); /* where the next list starts */

#endif
