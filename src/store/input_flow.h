/* Decoding a compressed file and cutting its content into pieces of whole lines, for td_input_pieces. */
#ifndef TD_STORE_INPUT_FLOW_H
#define TD_STORE_INPUT_FLOW_H

#include "store/input.h"

typedef struct td_flow_settings {
    size_t size;   /* of a piece, unless a line is longer */
    uint64_t skip; /* bytes of the content that are no piece's */
    td_piece_fn read;
    void *context;
} td_flow_settings;

td_status td_flow_read(const td_input *input, td_pool *pool, const td_flow_settings *settings, td_decoding *decoding,
                       uint64_t *pieces);

static inline uint64_t td_count_lines(const char *text, const char *end)
{
    uint64_t lines = 0;
    for (; text < end; text++) lines += *text == '\n';
    return lines;
}

#endif
