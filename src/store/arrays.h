/* Edges from the arrays of other programs, of any type of number (td_array in tandem.h).
 *
 * Numbers are converted block by block, so that the inner loops have one type each: ids to 64 bits, weights to what a
 * chunk of edges takes. */
#ifndef TD_STORE_ARRAYS_H
#define TD_STORE_ARRAYS_H

#include "store/builder.h"

/* "targets", and the text of its type: "int32". */
const char *td_type_name(td_type type);
bool td_type_real(td_type type);
bool td_type_signed(td_type type); /* an integer that may be negative */
size_t td_type_bytes(td_type type);

/* TD_INVALID unless the array is there (or `count` is 0), is aligned and has integers, or any known type of number. */
td_status td_array_check_ids(const td_array *array, uint64_t count, const char *name);
td_status td_array_check_weights(const td_array *array);

enum { TD_ARRAY_BLOCK = 2048 }; /* numbers converted at a time */

/* Copies `count` ids from `begin` on; a negative one is TD_INVALID, with its place. */
td_status td_array_ids(const td_array *array, const char *name, uint64_t begin, uint64_t count, uint64_t *to);

/* Sets the weights of the last `count` edges of a chunk, from `begin` on in the array. */
td_status td_array_put_weights(const td_array *array, uint64_t begin, uint64_t count, td_edge_chunk *chunk);

/* All edges of arrays, in chunks. */
td_status td_arrays_list(const td_edge_arrays *arrays, td_edge_list *list, td_pool *pool);

/* A graph from rows; see td_graph_from_csr. */
td_status td_graph_from_rows(td_graph **out, const td_csr *rows, const td_build_options *options, td_pool *pool);

#endif
