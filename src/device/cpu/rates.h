/* Measured memory rates of this machine, the upper bounds for every engine: streaming copies and reads, and random
 * reads of 4 bytes through a list of indices, as in following edges, with small and huge pages. */
#ifndef TD_DEVICE_CPU_RATES_H
#define TD_DEVICE_CPU_RATES_H

#include "base/pool.h"

enum { TD_GATHER_RANGES = 3 };

typedef struct td_gather_rate {
    uint64_t range;           /* size of the array that is read */
    double small_pages, huge_pages; /* reads per second */
} td_gather_rate;

typedef struct td_cpu_rates {
    int threads;
    double copy; /* bytes per second, read plus written */
    double read; /* bytes per second */
    td_gather_rate gather[TD_GATHER_RANGES];
    int gather_count; /* fewer on a machine with little memory */
} td_cpu_rates;

/* Takes a second or two, in at most twice `largest` bytes of memory. */
#define TD_CPU_MEASURE_LARGEST (UINT64_C(1) << 30)
td_status td_cpu_measure(td_pool *pool, uint64_t largest, td_cpu_rates *out);

#endif
