/* Kernels for the tests of the emulator: right ones, and ones that each break one
 * rule. They have files of their own because kernels are compiled in their own way. */
#ifndef EMULATOR_KERNELS_H
#define EMULATOR_KERNELS_H

#include "device/device.h"

typedef struct kernel_arguments {
    uint32_t *in, *out;
    uint64_t *wide;
    uint8_t *bytes;
    double *real;
    uint32_t count, choice;
} kernel_arguments;

/* Both end with a NULL name. */
extern const td_kernel right_kernels[], wrong_kernels[];

#endif
