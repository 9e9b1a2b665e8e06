/* Device arrays are declared once. The function that declares a group of arrays runs twice: before the run, to measure
 * them for the plan, and in the run, to allocate them, so that a plan states what its run takes. Declarations do not
 * fill arrays, because measuring needs no device. */
#ifndef TD_GPU_MEMORY_H
#define TD_GPU_MEMORY_H

#include "base/declare.h"
#include "device/device.h"

/* Purpose of an array. Plans state the graph's arrays (the first two) apart from the program's. */
typedef enum td_gpu_purpose { TD_FOR_EDGES, TD_FOR_LISTS, TD_FOR_PROGRAM, TD_GPU_PURPOSES } td_gpu_purpose;

typedef struct td_gpu_memory {
    td_device *device;
    struct td_cache *cache;             /* its layouts are released when the device is full, oldest first; or NULL */
    bool measures;                      /* sizes are added up, nothing is allocated */
    bool cooperative;                   /* if arrays are measured: the run's kernels are cooperative launches */
    uint64_t bytes[TD_GPU_PURPOSES];    /* bytes declared so far */
    td_host_memory host;                /* host arrays declared beside them, and an emulated device's memory */
} td_gpu_memory;

/* Adds the array's size and, unless arrays are measured, allocates it into *slot; measuring leaves *slot unchanged. */
td_status td_gpu_declare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes,
                         const char *what);

/* Measures on this open device, which takes host memory from the start if it is emulated; NULL: on any. */
void td_gpu_measure_on(td_gpu_memory *memory, td_device *device);

/* Frees an array of the device and subtracts its bytes. */
void td_gpu_undeclare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes);

static inline uint64_t td_gpu_memory_sum(const td_gpu_memory *memory)
{
    return memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS] + memory->bytes[TD_FOR_PROGRAM];
}

#endif
