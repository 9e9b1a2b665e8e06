/* Arrays on a device are declared once. The function that declares a group of arrays runs twice: before the run, to
 * measure them for its plan, and in the run, to allocate them. So the memory that a plan states is the memory that its
 * run takes. Whatever fills an array is no part of its declaration: a function that measures needs no device. */
#ifndef TD_GPU_MEMORY_H
#define TD_GPU_MEMORY_H

#include "base/declare.h"
#include "device/device.h"

/* What an array is for; plans state the graph's arrays (the first two) apart from the program's. */
typedef enum td_gpu_purpose { TD_FOR_EDGES, TD_FOR_LISTS, TD_FOR_PROGRAM, TD_GPU_PURPOSES } td_gpu_purpose;

typedef struct td_gpu_memory {
    td_device *device;
    struct td_cache *cache;             /* whose layouts make way when the device is full, oldest first; or NULL */
    bool measures;                      /* arrays are added up and not allocated */
    bool cooperative;                   /* measuring: kernels of the run are launched with all blocks at once */
    uint64_t bytes[TD_GPU_PURPOSES];    /* declared so far */
    td_host_memory host;                /* what is declared at the host beside them; an emulated device's, too */
} td_gpu_memory;

/* Adds the array up and, unless arrays are measured, puts its address into *slot, which otherwise stays as it is. */
td_status td_gpu_declare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes,
                         const char *what);

/* Measuring: on this device, which is open and takes host memory from the begin if it is emulated; NULL: on any. */
void td_gpu_measure_on(td_gpu_memory *memory, td_device *device);

/* Frees an array of the device and takes its bytes back. */
void td_gpu_undeclare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes);

static inline uint64_t td_gpu_memory_sum(const td_gpu_memory *memory)
{
    return memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS] + memory->bytes[TD_FOR_PROGRAM];
}

#endif
