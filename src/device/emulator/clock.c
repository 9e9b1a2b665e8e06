/* Virtual time: how long things take on the machine that is modelled, and when a unit is free. */
#include "device/emulator/model.h"

#include <math.h>

uint64_t td_unit_take(uint64_t *free_at, uint64_t earliest, double duration_ns)
{
    uint64_t begin = *free_at > earliest ? *free_at : earliest;
    *free_at = begin + (uint64_t)ceil(duration_ns);
    return *free_at;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* What runs beside each other (memory, multiprocessors, atomics, links) counts by the slowest; what all wait for is
 * added. */
double td_model_work_ns(const td_gpu_model *gpu, const td_emu_work *work, double host_rate)
{
    double memory = (double)(work->bytes_read + work->bytes_written) / gpu->memory_rate;
    double operations = (double)work->busiest / gpu->operation_rate;
    double atomics = (double)work->atomics / gpu->atomic_rate;
    double host = host_rate > 0 ? (double)work->host_bytes / host_rate : 0;
    return larger(larger(memory, operations), larger(atomics, larger(host, work->peer_ns))) +
           (double)work->grid_barriers * gpu->grid_barrier_ns;
}

double td_model_launch_ns(const td_gpu_model *gpu, const td_emu_work *work, double host_rate)
{
    return gpu->launch_ns + td_model_work_ns(gpu, work, host_rate);
}
