/* Weights of 64-bit floats while a graph is built.
 *
 * Chunks, buckets and temporary files hold weights of 32 bits. For 64-bit floats these are codes: while edges are read, the
 * table gives every distinct weight a code, in any order and by all workers; once all are known, it ranks them. Ranks are
 * ordered as the weights are, so that parallel edges are sorted, and the lightest of them kept, as with integers. The
 * last step of a builder replaces ranks by weights.
 */
#ifndef TD_STORE_WEIGHT_TABLE_H
#define TD_STORE_WEIGHT_TABLE_H

#include "base/pool.h"
#include "base/status.h"

typedef struct td_weight_table td_weight_table;

td_status td_weight_table_create(td_weight_table **out);
void td_weight_table_destroy(td_weight_table *table); /* NULL is fine */

/* The code of a finite weight. Any thread, until weights are ranked. Never fails: lack of memory, or of codes, is the
 * table's state, which td_weight_table_check and td_weight_table_rank return. */
uint32_t td_weight_code(td_weight_table *table, double weight);
td_status td_weight_table_check(td_weight_table *table);

/* Ranks all weights; from here on codes can be turned into ranks and these into weights. A second call does nothing. */
td_status td_weight_table_rank(td_weight_table *table, td_pool *pool);
uint32_t td_weight_rank(const td_weight_table *table, uint32_t code);
double td_weight_of_rank(const td_weight_table *table, uint32_t rank);

/* Memory for each distinct weight, at most, while they are ranked. */
enum { TD_WEIGHT_TABLE_BYTES = 40 };

#endif
