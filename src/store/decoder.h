/* Decompression of a file in memory: gzip (any number of members, so
 * BGZF too), zstd (any number of frames) and xz (any number of streams), all
 * through one call. A library that was missing at build time gives an error. gzip is decoded by ISA-L where that is
 * found, by zlib elsewhere. */
#ifndef TD_STORE_DECODER_H
#define TD_STORE_DECODER_H

#include "base/status.h"

typedef struct td_decoder td_decoder;

/* Whether these are the first bytes of something compressed, by its magic. */
bool td_decoder_recognises(const void *data, size_t bytes);

/* How they are compressed ("gzip", "zstd", "xz") and which library decodes that ("ISA-L", "zlib", "libzstd", "liblzma");
 * NULL: not at all, or none does. */
const char *td_decoder_format_of(const void *data, size_t bytes);
const char *td_decoder_library_of(const void *data, size_t bytes);

/* What TANDEM_DECODER in the environment asks for, by words separated by commas, for tests and comparisons. */
typedef struct td_decoder_choice {
    bool sequential; /* one thread decodes, whatever the file */
    bool zlib;       /* gzip by zlib where ISA-L is found, too */
} td_decoder_choice;
td_status td_decoder_chosen(td_decoder_choice *out);

/* `path` is for messages; the caller owns it and the data. Decodes from byte `begin` on: 0, or where a gzip member or a
 * zstd frame begins or the last one has ended. */
td_status td_decoder_create(td_decoder **out, const void *data, size_t bytes, const char *path, size_t begin);
void td_decoder_destroy(td_decoder *decoder);

/* Fills `into`; *got is less than `room` only at the end of the content. */
td_status td_decoder_read(td_decoder *decoder, char *into, size_t room, size_t *got);

uint64_t td_decoder_bytes(const td_decoder *decoder); /* of memory that it takes, known after the first read */
uint64_t td_decoder_members(const td_decoder *decoder); /* gzip members or zstd frames that have ended; 0: xz */
uint64_t td_decoder_position(const td_decoder *decoder); /* compressed bytes consumed */

/* Memory for the libraries, charged to the calling thread's account; where the libraries are compiled in. */
void *td_zlib_new(void *opaque, unsigned count, unsigned element);
void td_zlib_free(void *opaque, void *block);
void *td_xz_new(void *opaque, size_t count, size_t element);
void td_xz_free(void *opaque, void *block);

#endif
