/* Sections of prepared layouts in pieces, for callers that divide the work among threads themselves. */
#ifndef TD_STORE_SIDECAR_PIECE_H
#define TD_STORE_SIDECAR_PIECE_H

#include "store/sidecar.h"

enum { TD_SIDECAR_BLOCK = 1 << 16 }; /* bytes that have one checksum */

/* Reads and checks `bytes` bytes from `at` on, by the calling thread, of a section of exactly `whole` bytes. Both are
 * multiples of TD_SIDECAR_BLOCK but for the section's end. */
td_status td_sidecar_read_piece(const td_sidecar *sidecar, const char *part, uint64_t whole, uint64_t at, void *into,
                                uint64_t bytes, td_sidecar_check check, const void *context);

#endif
