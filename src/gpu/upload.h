/* Copies of large host arrays to the device, through a small ring of pinned memory.
 *
 * Workers copy pieces of the array into one half of the ring, and check them there if the graph's lists have not been
 * checked yet (store/checks.h), while the device copies the other half. The array itself is neither pinned nor copied
 * otherwise, so that it may be a mapped file. */
#ifndef TD_GPU_UPLOAD_H
#define TD_GPU_UPLOAD_H

#include "gpu/job.h"

/* Copies `bytes` from `host` to `to`, and waits for large copies. */
td_status td_gpu_upload(td_gpu_job *job, void *to, const void *host, uint64_t bytes);

/* Host memory that copying an array of so many bytes takes; 0 if it needs no ring. */
uint64_t td_gpu_upload_bytes(uint64_t bytes);

/* For tests: arrays from `from` bytes on go through a ring of halves of `half` bytes, a multiple of 64 KiB; 0, 0: the
 * default. */
void td_gpu_upload_limits(uint64_t from, uint64_t half);

#endif
