/* Several reads in flight from one thread: io_uring, if the build found liburing and the kernel allows it. */
#ifndef TD_STORE_RING_H
#define TD_STORE_RING_H

#include "base/status.h"

typedef struct td_ring td_ring;

/* NULL if io_uring is not available: the caller then reads with pread. */
td_ring *td_ring_create(unsigned depth);
void td_ring_destroy(td_ring *ring); /* NULL is fine; no read may be in flight */

/* False: it could not be queued. */
bool td_ring_read(td_ring *ring, int file, void *into, uint64_t bytes, uint64_t offset, void *tag);

/* Waits for a read to end; its bytes, or a negative errno value. */
int64_t td_ring_wait(td_ring *ring, void **tag);

#endif
