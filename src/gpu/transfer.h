/* Copies of whole arrays between host and device, large ones through the ring (gpu/ring.h). */
#ifndef TD_GPU_TRANSFER_H
#define TD_GPU_TRANSFER_H

#include "gpu/ring.h"

/* Copies `bytes` from `host` to `to`, and waits for large copies. Lists of the job's graph that are still in its file are
 * read from it, and what has been read is checked, piece by piece (store/checks.h); they are not read in the mapping,
 * whose page table would take longer to make and to drop than the copy. */
td_status td_gpu_upload(td_gpu_job *job, void *to, const void *host, uint64_t bytes);

/* Adds up, while arrays are measured, the host memory that this takes: the ring, and copies of small lists of a mapped file. */
void td_gpu_note_upload(td_gpu_job *job, const void *host, uint64_t bytes);

/* Copies an array that `fill` makes in pieces, at multiples of 64 KiB and on any worker: a large one is never whole
 * at the host. td_gpu_note_made adds up the host memory that this takes. */
td_status td_gpu_upload_made(td_gpu_job *job, void *to, uint64_t bytes, td_ring_fn fill, void *context);
void td_gpu_note_made(td_gpu_job *job, uint64_t bytes);

/* Copies `bytes` from `from` to `host`, and waits. */
td_status td_gpu_download(td_gpu_job *job, void *host, const void *from, uint64_t bytes);

/* Copies list starts, and waits; adds up the host memory for finding and copying them. */
td_status td_gpu_upload_heads(td_gpu_job *job, const td_gpu_head_arrays *arrays, const td_gpu_heads *found);
void td_gpu_note_heads(td_gpu_job *job, uint64_t edges, uint64_t vertices);

#endif
