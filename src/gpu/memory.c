#include "gpu/memory.h"

#include "gpu/set.h"

#include <inttypes.h>
#include <string.h>

/* An emulated device's memory is host memory. */
static void count_emulated(td_gpu_memory *memory)
{
    if (!memory->measures || memory->device == NULL) return;
    memory->host.besides = td_device_host_bytes(memory->device, td_gpu_memory_sum(memory), memory->cooperative);
    td_host_hold(&memory->host, 0);
}

void td_gpu_measure_on(td_gpu_memory *memory, td_device *device)
{
    memory->device = device;
    count_emulated(memory);
}

td_status td_gpu_declare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes,
                         const char *what)
{
    uint64_t total, *sum = &memory->bytes[purpose];
    if (__builtin_mul_overflow(count, bytes, &total) || __builtin_add_overflow(*sum, total, sum))
        return td_fail(TD_NO_MEMORY, "%s: %" PRIu64 " elements of %" PRIu64 " bytes are more than any memory holds",
                       what, count, bytes);
    count_emulated(memory);
    if (memory->measures) return TD_OK;
    td_status status = td_device_new(memory->device, slot, count, bytes, what);
    while (status == TD_NO_MEMORY && memory->cache != NULL && td_gpu_make_way(memory->cache))
        status = td_device_new(memory->device, slot, count, bytes, what);
    return status;
}

void td_gpu_undeclare(td_gpu_memory *memory, td_gpu_purpose purpose, void *slot, uint64_t count, uint64_t bytes)
{
    void *array;
    memory->bytes[purpose] -= count * bytes;
    count_emulated(memory);
    if (memory->measures) return;
    memcpy(&array, slot, sizeof array);
    td_device_free(memory->device, array);
    array = NULL;
    memcpy(slot, &array, sizeof array);
}
