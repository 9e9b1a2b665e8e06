/* Measured rates of a GPU: its memory, the link to the host in both directions, launches, grid barriers, and reads of
 * host memory by kernels. */
#ifndef TD_DEVICE_CUDA_RATES_H
#define TD_DEVICE_CUDA_RATES_H

#include "device/device.h"

enum { TD_HOST_RANGES = 4 };

typedef struct td_host_reads {
    uint64_t range;  /* size of the array that is read */
    double rate;     /* bytes per second, in random lines of 128 bytes */
} td_host_reads;

/* Bytes per second, or seconds. */
typedef struct td_gpu_rates {
    double read, copy; /* of device memory; copied bytes are counted as read and as written */
    double to_device, to_host, both_ways; /* pinned host memory */
    double pageable_to_device, pageable_to_host;
    double small_to_device, small_to_host; /* seconds of a copy of 4 bytes, waited for */
    double launch, launch_synchronize;          /* seconds per launch: back to back; each synchronized */
    double grid_barrier;                   /* seconds, a block on every multiprocessor */
    double host_read;                      /* kernels reading pinned memory sequentially */
    td_host_reads host_random[TD_HOST_RANGES];
    int host_random_count;
} td_gpu_rates;

/* Random reads of 4 bytes per second, at indices that are read in order, from an array of `range` bytes: an upper bound
 * for the gathers of a pull. Needs half a gigabyte of device memory besides; `device` is of kind TD_DEVICE_CUDA. */
td_status td_cuda_measure_gathers(td_device *device, uint64_t range, double *out);

/* Takes a second or two and at most twice `largest` bytes of host memory; `device` is of kind TD_DEVICE_CUDA. */
td_status td_cuda_measure(td_device *device, uint64_t largest, td_gpu_rates *out);

#endif
