/* Numbers as people write them: 4G, 512M, 64K, 1.5G, 25%, and back. */
#ifndef TD_BASE_SIZE_H
#define TD_BASE_SIZE_H

#include "base/status.h"

/* K, M, G, T are powers of 1024; an optional B or iB may follow. */
td_status td_parse_size(const char *text, uint64_t *out);

/* A size, or a percentage of `whole`. */
td_status td_parse_size_or_share(const char *text, uint64_t whole, uint64_t *out);

/* Decimal integers and reals, with nothing before or after them. */
td_status td_parse_u64(const char *text, uint64_t *out);
td_status td_parse_double(const char *text, double *out);

/* "1.5 GiB", "12,345,678". Return `buffer`. */
#define TD_NUMBER_BYTES 32
char *td_format_size(char buffer[TD_NUMBER_BYTES], uint64_t bytes);
char *td_format_least(char buffer[TD_NUMBER_BYTES], uint64_t bytes); /* rounded up, for minimums */
char *td_format_count(char buffer[TD_NUMBER_BYTES], uint64_t count);

#endif
