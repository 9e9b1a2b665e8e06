/* Searches from many sources at once on one device (kernels/gpu/bits.h). */
#ifndef TD_GPU_GROUP_H
#define TD_GPU_GROUP_H

#include "gpu/bytes.h"
#include "gpu/rounds.h"
#include "run/group.h"

enum { TD_GPU_GROUP_LEAST = 32 }; /* bits of a word: devices have atomics of 32 and of 64 bits */

/* Runs the search of a job whose lists are on the device. */
td_status td_gpu_run_group(td_gpu_job *job, td_group *group);

/* Copies what it found into the group's arrays at the host. */
td_status td_gpu_copy_group(td_gpu_job *job, td_group *group);

/* Bytes of such a search on device and host, with the levels that are read of it. */
td_status td_gpu_group_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, uint32_t width, td_gpu_bytes *out);

#endif
