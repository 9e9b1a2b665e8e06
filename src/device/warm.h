/* Making a GPU's context takes tenths of a second: a thread of its own makes it while the graph is read. Opening the
 * device then finds the context, or waits for the rest of it. Failures are left to the opening, which reports them. */
#ifndef TD_DEVICE_WARM_H
#define TD_DEVICE_WARM_H

#include <pthread.h>
#include <stdbool.h>

enum { TD_WARM_GPUS = 16 };
typedef struct td_warming {
    bool running; /* the thread has not been joined */
    pthread_t thread;
    int gpus[TD_WARM_GPUS], count;
} td_warming;

/* Begins with the CUDA GPUs of a list of devices; nothing happens if there are none, if CUDA is missing, or if the
 * warming has begun before. */
void td_devices_warm(td_warming *warming, const char *list);
void td_devices_warmed(td_warming *warming); /* waits for the thread, if there is one */

#endif
