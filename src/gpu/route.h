/* Routes between GPUs that share a graph. Two GPUs without a link copy through host memory, or through a third GPU that has
 * links to both, whichever is faster by the links' rates. */
#ifndef TD_GPU_ROUTE_H
#define TD_GPU_ROUTE_H

#include "gpu/exchange.h"

enum { TD_GPU_RELAY_BYTES = 1 << 20 }; /* of a relay's buffer */

/* Rates of the copies between all GPUs, as their links say or, where they do not, as measured. A measurement takes so many
 * bytes of each GPU's memory, at most 32 MiB, and leaves nothing there. */
td_status td_gpu_measure_links(td_gpu_exchange *exchange, const uint64_t *bytes);

/* Declares the buffer of a GPU that may relay. */
td_status td_gpu_routes_declare(td_gpu_exchange *exchange, int gpu, td_gpu_job *job); /* its job, or one that measures */

/* Chooses the routes. */
td_status td_gpu_routes_open(td_gpu_exchange *exchange);
void td_gpu_routes_close(td_gpu_exchange *exchange);

/* Queues a copy into GPU `to`, in its stream's order; what the source holds must be complete by then. */
td_status td_gpu_copy_between(td_gpu_exchange *exchange, int to, void *target, int from, const void *source,
                              uint64_t bytes);

/* A range of bytes of an array that every GPU has, and the GPU whose bytes are valid. */
typedef struct td_gpu_range {
    int owner;
    uint64_t first, bytes;
} td_gpu_range;

/* Queues copies of the owners' ranges to all other GPUs, array[i] of GPU i, over all links at the same time. GPUs without a
 * link take a range from the relay, once it has arrived there. All streams must wait for each other before
 * (td_stream_wait); afterwards each waits for the copies into its own GPU. Adds the bytes to exchange->bytes. */
td_status td_gpu_spread(td_gpu_exchange *exchange, char *const *array, const td_gpu_range *ranges, int count);

#endif
