/* Shared by the files of the CUDA device. The runtime API is linked statically and the driver is reached through it, so
 * that the tool starts on machines without either. */
#ifndef TD_DEVICE_CUDA_CUDA_H
#define TD_DEVICE_CUDA_CUDA_H

#include "device/kinds.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>

typedef struct td_cuda_slice td_cuda_slice; /* slices.c */

/* A kernel whose limit of dynamic shared memory was raised. */
typedef struct td_cuda_raised {
    const void *code;
    uint32_t shared_bytes;
} td_cuda_raised;

typedef struct td_cuda_state {
    int gpu;
    td_cuda_slice *slice;   /* NULL: the whole GPU */
    int capability;         /* 90 for 9.0 */
    _Atomic int lost;       /* a sticky cudaError_t, or 0 */
    const char *_Atomic last; /* last launched kernel */
    td_cuda_raised *raised;
    uint32_t raised_count, raised_room;
} td_cuda_state;

typedef struct td_cuda_stream {
    td_stream base;
    cudaStream_t stream;
    cudaStream_t beside;  /* stream of callbacks, so that later work in the stream does not wait for the host */
    cudaEvent_t reached;  /* recorded behind the work before the last requested completion */
    _Atomic int notices;  /* requested completions that have not arrived */
    struct td_cuda_staging *stagings; /* buffers for copies through the host (links.c) */
} td_cuda_stream;

static inline td_cuda_state *td_cuda_state_of(const td_device *device) { return (td_cuda_state *)device->state; }
static inline cudaStream_t td_cuda_stream_of(td_stream *stream) { return ((td_cuda_stream *)stream)->stream; }

/* Turns a return value of the runtime into a status with a message; `doing` names the operation. Sticky errors are
 * stored: every later call reports them. */
td_status td_cuda_check(const td_device *device, cudaError_t error, const char *doing);

/* The same without calling CUDA, for callbacks. */
td_status td_cuda_fail(const td_device *device, cudaError_t error, const char *doing);
bool td_cuda_sticky(cudaError_t error);

/* Makes the device current for the calling thread; fails if it is lost. */
td_status td_cuda_enter(const td_device *device);

#define TD_CUDA(device, call, doing) TD_CHECK(td_cuda_check((device), (call), (doing)))

/* Splits the GPU into `slices` parts of disjoint multiprocessors and takes part `slice`. If the driver cannot, *out
 * stays NULL, with a warning: `multiprocessors` is that part's share, but slices compete for all of them. */
td_status td_cuda_slice_open(td_cuda_slice **out, int gpu, int slices, int slice, int *multiprocessors);
void td_cuda_slice_close(td_cuda_slice *slice);
cudaError_t td_cuda_slice_stream(td_cuda_slice *slice, int priority, cudaStream_t *out);

/* Host memory that several devices may pin at once. */
td_status td_cuda_pin(td_device *device, void *host, uint64_t bytes, void **seen);
void td_cuda_unpin(td_device *device, void *host);

/* Links (links.c). */
td_status td_cuda_link(td_device *from, td_device *to, td_link *out);
td_status td_cuda_enable_peer(td_device *device, td_device *peer);
td_status td_cuda_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device, const void *from,
                            uint64_t bytes);
void td_cuda_drop_stagings(td_cuda_stream *stream); /* of an idle stream */

/* cub.cu */
cudaError_t td_cuda_sort_bytes(uint64_t count, uint64_t *bytes);
cudaError_t td_cuda_sort(uint32_t *keys, uint32_t *values, uint64_t count, void *room, uint64_t room_bytes,
                         cudaStream_t stream);
cudaError_t td_cuda_scan_bytes(uint64_t count, uint64_t *bytes);
cudaError_t td_cuda_scan(const uint32_t *in, uint64_t *out, uint64_t count, void *room, uint64_t room_bytes,
                         cudaStream_t stream);

#endif
