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
<<<<<<< e5d1157dfb9668bce73f3bff43cb6b70577d0c9f
    bool measures;                      /* sizes are added up, nothing is allocated */
    uint64_t bytes[TD_GPU_PURPOSES];    /* bytes declared so far */
    uint64_t host;                      /* peak host memory of loading, as noted */
=======
    struct td_cache *cache;             /* whose layouts make way when the device is full, oldest first; or NULL */
    bool measures;                      /* arrays are added up and not allocated */
    bool cooperative;                   /* measuring: kernels of the run are launched with all blocks at once */
    uint64_t bytes[TD_GPU_PURPOSES];    /* declared so far */
    td_host_memory host;                /* what is declared at the host beside them; an emulated device's, too */
>>>>>>> d1d0986c19a13dee4d4054e3c329e7e7be53dbbc
} td_gpu_memory;

/* Adds the array's size and, unless arrays are measured, allocates it into *slot; measuring leaves *slot unchanged. */
td_status td_gpu_declare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes,
                         const char *what);

<<<<<<< e5d1157dfb9668bce73f3bff43cb6b70577d0c9f
/* Notes temporary host memory of filling arrays; only the largest note counts. */
static inline void td_gpu_note_host(td_gpu_memory *memory, uint64_t bytes)
{
    if (bytes > memory->host) memory->host = bytes;
}
=======
/* Measuring: on this device, which is open and takes host memory from the begin if it is emulated; NULL: on any. */
void td_gpu_measure_on(td_gpu_memory *memory, td_device *device);

/* Frees an array of the device and takes its bytes back. */
void td_gpu_undeclare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes);
>>>>>>> d1d0986c19a13dee4d4054e3c329e7e7be53dbbc

static inline uint64_t td_gpu_memory_sum(const td_gpu_memory *memory)
{
    return memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS] + memory->bytes[TD_FOR_PROGRAM];
}

#endif
