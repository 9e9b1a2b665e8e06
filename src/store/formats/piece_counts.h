/* A count for each piece of a text, set by the worker that reads the piece; then the
 * prefix sums: the number of the line, or word, with which each piece starts. */
#ifndef TD_STORE_PIECE_COUNTS_H
#define TD_STORE_PIECE_COUNTS_H

#include "base/status.h"

#include <pthread.h>

typedef struct td_piece_counts {
    pthread_mutex_t lock; /* guards the rest while pieces are read */
    uint64_t *counts;     /* by the piece's index */
    uint64_t room;
} td_piece_counts;

#define TD_PIECE_COUNTS_NONE {PTHREAD_MUTEX_INITIALIZER, NULL, 0}

td_status td_piece_counts_put(td_piece_counts *table, uint64_t index, uint64_t count);

/* Returns the sum of all. */
uint64_t td_piece_counts_sum(td_piece_counts *table);

void td_piece_counts_free(td_piece_counts *table);

#endif
