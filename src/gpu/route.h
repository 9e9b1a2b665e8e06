/* Routes between GPUs that share a graph. Two GPUs without a link copy through host memory, or through a third GPU that has
 * links to both, whichever is faster by the links' rates. */
#ifndef TD_GPU_ROUTE_H
#define TD_GPU_ROUTE_H

#include "gpu/exchange.h"

enum { TD_GPU_RELAY_BYTES = 1 << 20 }; /* of the buffer of a GPU in between */

/* Bytes per second of a copy, as the link says or, where it does not, as measured; 0: there is no way. */
td_status td_gpu_link_rate(td_device *from, td_device *to, td_stream *on_to, double *rate);

/* Declares the buffer of a GPU that may be in between. */
td_status td_gpu_routes_declare(td_gpu_exchange *exchange, int gpu);

/* Chooses the routes. */
td_status td_gpu_routes_open(td_gpu_exchange *exchange);
void td_gpu_routes_close(td_gpu_exchange *exchange);

/* Queues a copy into GPU `to`, in its stream's order; what the source holds must be complete by then. */
td_status td_gpu_copy_between(td_gpu_exchange *exchange, int to, void *target, int from, const void *source,
                              uint64_t bytes);

#endif
