/* Pinned host memory. CUDA refuses to pin memory twice, and slices of a GPU, or several GPUs, read the same graph:
 * references are counted here; the first device pins and the last unpins. */
#include "device/cuda/cuda.h"

#include "base/alloc.h"
#include "base/size.h"

#include <pthread.h>
#include <stdio.h>

typedef struct pinned {
    struct pinned *next;
    void *host;
    uint64_t bytes;
    int holders;
} pinned;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinned *blocks;

static pinned **find(const void *host)
{
    pinned **at = &blocks;
    while (*at != NULL && (*at)->host != host) at = &(*at)->next;
    return at;
}

/* Read-only memory, such as a mapped file, is pinned for reading. */
static cudaError_t pin_pages(void *host, uint64_t bytes)
{
    const unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
    cudaError_t error = cudaHostRegister(host, bytes, flags);
    if (error == cudaSuccess || error == cudaErrorHostMemoryAlreadyRegistered || td_cuda_sticky(error)) return error;
    cudaGetLastError();
    return cudaHostRegister(host, bytes, flags | cudaHostRegisterReadOnly) == cudaSuccess ? cudaSuccess : error;
}

static td_status pin_new(td_device *device, void *host, uint64_t bytes)
{
    char doing[96], size[TD_NUMBER_BYTES];
    pinned *block = NULL;
    snprintf(doing, sizeof doing, "pinning %s of host memory", td_format_size(size, bytes));
    TD_CHECK(TD_NEW(&block, 1, "record of pinned memory"));
    td_status status = td_cuda_check(device, pin_pages(host, bytes), doing);
    if (status != TD_OK) {
        td_free(block);
        return status;
    }
    *block = (pinned){blocks, host, bytes, 1};
    blocks = block;
    return TD_OK;
}

static td_status hold(td_device *device, void *host, uint64_t bytes)
{
    pinned *block = *find(host);
    if (block == NULL) return pin_new(device, host, bytes);
    if (block->bytes < bytes)
        return td_fail(TD_INVALID, "%s: the host memory is pinned already, but less of it", device->name);
    block->holders++;
    return TD_OK;
}

static void drop(void *host)
{
    pinned **at = find(host), *block = *at;
    if (block == NULL || --block->holders > 0) return;
    cudaHostUnregister(host);
    cudaGetLastError();
    *at = block->next;
    td_free(block);
}

td_status td_cuda_pin(td_device *device, void *host, uint64_t bytes, void **seen)
{
    TD_CHECK(td_cuda_enter(device));
    pthread_mutex_lock(&lock);
    td_status status = hold(device, host, bytes);
    if (status == TD_OK) {
        status = td_cuda_check(device, cudaHostGetDevicePointer(seen, host, 0),
                               "finding the GPU's address of pinned memory");
        if (status != TD_OK) drop(host);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void td_cuda_unpin(td_device *device, void *host)
{
    cudaSetDevice(td_cuda_state_of(device)->gpu);
    pthread_mutex_lock(&lock);
    drop(host);
    pthread_mutex_unlock(&lock);
}
