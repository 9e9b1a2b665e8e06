/* Units: parts of a compressed file that can be decoded independently of each other.
 *
 * A unit is a run of whole gzip members, zstd frames or xz blocks. Where units begin and end depends on the file alone:
 *
 *   gzip  the size that a BGZF block states in its header; for other files, the next bytes that look like the header of
 *         a member
 *   zstd  the headers of a frame's blocks
 *   xz    the index at the end of every stream
 *
 * None of this is trusted. A unit counts only if decoding it from its first byte ends exactly at its last one; as the
 * first unit begins with the file, the units before a wrong one are what a sequential decoder would have produced. From
 * the wrong one on the caller uses a sequential decoder (td_units_resume), which decides what the file holds. */
#ifndef TD_STORE_UNITS_H
#define TD_STORE_UNITS_H

#include "store/decoder.h"

typedef struct td_unit {
    size_t begin, end; /* in the file */
    size_t room;       /* most bytes of content that it may have */
    uint64_t members;  /* members, frames or blocks */
    uint64_t first;    /* xz: its first block */
} td_unit;

typedef struct td_units td_units;

/* *out is NULL if the file does not begin with two units of at most `most` bytes of content, or in xz any block has
 * more. Small neighbours are joined up to `group` bytes of content. The caller owns data and path. */
td_status td_units_open(td_units **out, const void *data, size_t bytes, const char *path, size_t group, size_t most);
void td_units_close(td_units *units); /* NULL is fine */

uint64_t td_units_decoder_bytes(const td_units *units); /* of memory that a worker's decoder takes */

/* Content of the largest unit, as far as that is known: of gzip and zstd those of the first two. Units of more than
 * `most` are not found from here on. */
uint64_t td_units_largest(const td_units *units);
void td_units_limit(td_units *units, size_t most);

/* The next unit. False: what follows has none, up to the end of the file. One thread at a time. */
bool td_units_next(td_units *units, td_unit *unit);
size_t td_units_position(const td_units *units); /* where the units found so far end; at the file's end: all is found */

/* A sequential decoder for what follows byte `begin` of the file, where a unit begins or the last one ends, and with it
 * byte `content` of the content. */
td_status td_units_resume(const td_units *units, size_t begin, uint64_t content, td_decoder **out);

/* A worker's own decoder. */
typedef struct td_unit_decoder td_unit_decoder;
td_status td_unit_decoder_create(td_unit_decoder **out, const td_units *units);
void td_unit_decoder_destroy(td_unit_decoder *decoder); /* NULL is fine */

/* Decodes the unit into `into`, which has its room. *whole: its content ended exactly at its end. */
td_status td_unit_decode(td_unit_decoder *decoder, const td_unit *unit, char *into, size_t *got, bool *whole);

#endif
