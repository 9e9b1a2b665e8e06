/* Kernels for the tests of the emulator: right ones, and ones that each break one
 * rule. They have a file of their own because kernels are compiled in their own way. */
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

typedef struct test_kernel {
    td_kernel kernel;
    int line; /* where the rule is broken */
} test_kernel;

/* Ends with a NULL name. */
extern const test_kernel test_kernels[];

const test_kernel *test_kernel_named(const char *name);

#endif
