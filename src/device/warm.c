#include "device/warm.h"

#include "device/kinds.h"

static void *warm(void *context)
{
    const td_warming *self = context;
    for (int i = 0; i < self->count; i++) td_cuda_warm(self->gpus[i]);
    return NULL;
}

void td_devices_warm(td_warming *warming, const char *list)
{
    if (warming->running || warming->count > 0) return;
    warming->count = td_devices_cuda(list, warming->gpus, TD_WARM_GPUS);
    if (warming->count == 0 || !td_cuda_present(NULL)) return;
    warming->running = pthread_create(&warming->thread, NULL, warm, warming) == 0;
}

void td_devices_warmed(td_warming *warming)
{
    if (warming->running) pthread_join(warming->thread, NULL);
    warming->running = false;
}
