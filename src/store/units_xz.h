/* The blocks of an xz file, from the indexes at the ends of its streams (The .xz File Format, 2 to 4). */
#ifndef TD_STORE_UNITS_XZ_H
#define TD_STORE_UNITS_XZ_H

#include "base/status.h"

typedef struct td_xz_block {
    size_t begin, end; /* in the file, padding included */
    size_t unpadded;   /* bytes without padding */
    size_t content;    /* bytes when decoded */
    int check;         /* the kind of checksum */
} td_xz_block;

typedef struct td_xz_blocks td_xz_blocks;

/* *out is NULL if the file is not made of whole streams, or liblzma is missing. */
td_status td_xz_blocks_read(td_xz_blocks **out, const uint8_t *data, size_t bytes);
void td_xz_blocks_free(td_xz_blocks *blocks); /* NULL is fine */

const td_xz_block *td_xz_block_at(const td_xz_blocks *blocks, uint64_t index); /* NULL behind the last one */
size_t td_xz_largest(const td_xz_blocks *blocks);           /* content of a block */
uint64_t td_xz_decoder_bytes(const td_xz_blocks *blocks);   /* memory to decode the first block */

/* *whole: the block is as the index says, and its checksum is right. */
td_status td_xz_block_decode(const td_xz_block *block, const uint8_t *data, char *into, bool *whole);

#endif
