/* Copies of whole arrays between host and device, large ones through the ring (gpu/ring.h). */
#ifndef TD_GPU_TRANSFER_H
#define TD_GPU_TRANSFER_H

#include "gpu/job.h"

/* Copies `bytes` from `host` to `to`, and waits for large copies. Lists of the job's graph that are still in its file are
 * read from it, and what has been read is checked, piece by piece (store/checks.h); they are not read in the mapping,
 * whose page table would take longer to make and to drop than the copy. */
td_status td_gpu_upload(td_gpu_job *job, void *to, const void *host, uint64_t bytes);

/* Copies `bytes` from `from` to `host`, and waits. */
td_status td_gpu_download(td_gpu_job *job, void *host, const void *from, uint64_t bytes);

#endif
