/* Text formatted by many workers and written in order.
 *
 * Workers take stretches of the items in ascending order, format each into their own
 * buffer, and write it when all earlier stretches are written. The text does not depend
 * on the number of threads. */
#ifndef TD_BASE_LINES_H
#define TD_BASE_LINES_H

#include "base/outfile.h"
#include "base/pool.h"

/* Formats the items [begin, end) at `at`; returns the end of the text. */
typedef char *(*td_lines_fn)(const void *context, uint64_t begin, uint64_t end, char *at);

/* Appends the text of `count` items to the file, each of at most `item_bytes`
 * characters; `what` is for the progress line. */
td_status td_lines_write(td_outfile *file, td_pool *pool, uint64_t count, size_t item_bytes, td_lines_fn print,
                         const void *context, const char *what);

#endif
