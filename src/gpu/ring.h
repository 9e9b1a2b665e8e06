/* Large copies between host and device, through a small ring of pinned memory: workers fill or empty some parts of it
 * while the device copies others. The host's arrays are neither pinned nor copied otherwise, so that they may be a file.
 *
 * The ring has TD_RING_PARTS parts; a wave is what goes through a part at a time, and workers process it in pieces. The
 * caller alone queues copies and waits for them, and processes pieces as well while it waits for workers: no worker
 * waits for the last piece of a wave, only for a free part. A ring is made at the first copy that needs it and belongs
 * to the job until the job is closed. */
#ifndef TD_GPU_RING_H
#define TD_GPU_RING_H

#include "gpu/job.h"

enum { TD_RING_PARTS = 4 };

/* Fills or reads `bytes` bytes of a part, which are those of the array from `at` on. On any worker. */
typedef td_status (*td_ring_fn)(void *context, uint64_t at, char *part, uint64_t bytes);

/* Copies `bytes` bytes to the device, from what `fill` has put into the ring; or from it, for `take` to read. Pieces
 * begin at multiples of 64 KiB; 4 KiB behind the last one may be written as well. Both wait until all is done.
 * TD_NO_MEMORY: there is none for a ring, and nothing has been copied. */
td_status td_gpu_ring_send(td_gpu_job *job, void *to, uint64_t bytes, td_ring_fn fill, void *context);
td_status td_gpu_ring_receive(td_gpu_job *job, const void *from, uint64_t bytes, td_ring_fn take, void *context);

/* Whether an array of so many bytes goes through the ring. */
bool td_gpu_ring_pays(uint64_t bytes);

/* Host memory of the ring that copies an array of so many bytes; 0 if none does. */
uint64_t td_gpu_ring_bytes(uint64_t bytes);

/* Adds up the ring's host memory, once for a job, if arrays are measured and such an array is copied. */
void td_gpu_ring_note(td_gpu_job *job, uint64_t bytes);

void td_gpu_ring_close(td_gpu_job *job);

/* For tests: arrays from `from` bytes on go through a ring with parts of `part` bytes, a multiple of 64 KiB; 0, 0: the
 * default. */
void td_gpu_ring_limits(uint64_t from, uint64_t part);

#endif
