/* Decompression of a file in memory: gzip (any number of members, so
 * BGZF too), zstd (any number of frames) and xz (any number of streams), all
 * through one call. A library that was missing at build time gives an error. */
#ifndef TD_STORE_DECODER_H
#define TD_STORE_DECODER_H

#include "base/status.h"

typedef struct td_decoder td_decoder;

/* Whether these are the first bytes of something compressed, by its magic. */
bool td_decoder_recognises(const void *data, size_t bytes);

/* `path` is for messages; the caller owns it and the data. */
td_status td_decoder_create(td_decoder **out, const void *data, size_t bytes, const char *path);
void td_decoder_destroy(td_decoder *decoder);

/* Fills `into`; *got is less than `room` only at the end of the content. */
td_status td_decoder_read(td_decoder *decoder, char *into, size_t room, size_t *got);

uint64_t td_decoder_bytes(const td_decoder *decoder); /* of memory that it takes, known after the first read */
uint64_t td_decoder_position(const td_decoder *decoder); /* compressed bytes consumed */

#endif
