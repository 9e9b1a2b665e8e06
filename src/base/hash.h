/* Checksums: XXH64 (seed 0), written from its specification. Fast enough to
 * check a file while it is read, and printable by other people's tools. */
#ifndef TD_BASE_HASH_H
#define TD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t td_hash64(const void *data, size_t bytes);

#endif
