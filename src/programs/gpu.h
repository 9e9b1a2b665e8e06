/* A program's kernels for GPUs, by the kind of device. */
#ifndef TD_PROGRAMS_GPU_H
#define TD_PROGRAMS_GPU_H

#include "kernels/program.h"
#include "kernels/gpu/table.h"

/* NULL if this build has no kernels for the device. */
const td_gpu_kernels *td_gpu_kernels_of(const td_program *program, td_device_kind kind);

#endif
