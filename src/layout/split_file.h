/* A graph in the order that the coop engine splits it by, in a file beside it (store/sidecar.h): the order, the edges
 * within every prefix of it, and all lists by the new numbers, sorted. No part depends on the GPU's memory: a run finds
 * the hot part by bisection over the sums, and cuts every list where its first cold number is. */
#ifndef TD_LAYOUT_SPLIT_FILE_H
#define TD_LAYOUT_SPLIT_FILE_H

#include "layout/split.h"
#include "store/sidecar.h"

/* The name of the layout that serves a request: "coop-hot-both-weights". */
char *td_split_layout_name(char name[TD_SIDECAR_NAME], bool both, bool weighted);

/* Opens the layout for a request that asks for the hot order and edges between hot vertices; one with weights serves a
 * request without. TD_NOT_FOUND: there is none, or it was made otherwise. */
td_status td_split_open(td_sidecar **out, const td_graph *graph, const td_split_request *request);

/* What td_split_make makes, from the file. NULL where arrays are measured. */
td_status td_split_read(td_split *out, const td_sidecar *file, const td_graph *graph, const td_split_request *request,
                        td_host_memory *memory, td_pool *pool);

/* Makes the layout and writes it; both_seconds: of making and of writing. */
td_status td_split_save(const td_graph *graph, bool both, bool weighted, char where[TD_SIDECAR_PATH],
                        double both_seconds[2], td_pool *pool);

#endif
