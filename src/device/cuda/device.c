/* An NVIDIA GPU, or a slice of one, as a device: the runtime API behind the table of functions. Each call makes its GPU
 * current, does one thing, and turns CUDA's return value into a message (error.c). */
#include "device/cuda/cuda.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OLDEST = 75 };         /* compute capability */
enum { MOST_MOMENTS = 5000 }; /* milliseconds to wait for callbacks */

struct td_event {
    td_device *device;
    cudaEvent_t handle;
};

/* GPUs that a kernel's fault has made unusable in this process; a reset does not recover them. */
enum { MOST_GPUS = 64 };
static _Atomic int lost_gpus[MOST_GPUS]; /* the sticky error, or 0 */

static void cuda_close(td_device *device)
{
    td_cuda_state *state = td_cuda_state_of(device);
    cudaSetDevice(state->gpu);
    td_cuda_slice_close(state->slice);
    cudaGetLastError();
    if (state->lost != 0 && state->gpu < MOST_GPUS) lost_gpus[state->gpu] = state->lost;
    td_free(state->raised);
    td_free(state);
}

/* Memory */

static td_status cuda_allocate(td_device *device, uint64_t bytes, void **out)
{
    char wanted[TD_NUMBER_BYTES], left[TD_NUMBER_BYTES], whole[TD_NUMBER_BYTES];
    size_t free_bytes = 0, all = 0;
    TD_CHECK(td_cuda_enter(device));
    cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaErrorMemoryAllocation) return td_cuda_check(device, error, "allocating device memory");
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &all);
    td_refusal refusal = td_device_refusal(device, all - free_bytes + bytes, all);
    return td_refuse(&refusal, "%s: out of device memory: %s wanted, %s of %s are free", device->name,
                     td_format_size(wanted, bytes), td_format_size(left, free_bytes), td_format_size(whole, all));
}

static void cuda_release(td_device *device, void *memory)
{
    cudaSetDevice(td_cuda_state_of(device)->gpu);
    cudaFree(memory);
    cudaGetLastError();
}

/* Streams */

enum { LOW_PRIORITY = 0, NORMAL_PRIORITY = -1 }; /* lower numbers have higher priority; 0 is the lowest priority */

static cudaError_t make_stream(const td_cuda_state *state, bool low_priority, td_cuda_stream *out)
{
    int priority = low_priority ? LOW_PRIORITY : NORMAL_PRIORITY;
    cudaError_t error = state->slice != NULL
                            ? td_cuda_slice_stream(state->slice, priority, &out->stream)
                            : cudaStreamCreateWithPriority(&out->stream, cudaStreamNonBlocking, priority);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&out->beside, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&out->reached, cudaEventDisableTiming);
    return error;
}

static void drop_stream(td_cuda_stream *stream)
{
    if (stream->reached != NULL) cudaEventDestroy(stream->reached);
    if (stream->beside != NULL) cudaStreamDestroy(stream->beside);
    if (stream->stream != NULL) cudaStreamDestroy(stream->stream);
    cudaGetLastError();
    td_free(stream);
}

static td_status cuda_stream_open(td_device *device, bool low_priority, td_stream **out)
{
    td_cuda_stream *stream = NULL;
    TD_CHECK(td_cuda_enter(device));
    TD_CHECK(TD_NEW_ZEROED(&stream, 1, "stream"));
    stream->base.device = device;
    td_status status = td_cuda_check(device, make_stream(td_cuda_state_of(device), low_priority, stream), "creating a stream");
    if (status != TD_OK) drop_stream(stream);
    else *out = &stream->base;
    return status;
}

/* After a fault, synchronizing returns at once, but callbacks are still pending. */
static void await_notices(td_cuda_stream *stream)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; stream->notices > 0 && i < MOST_MOMENTS; i++) nanosleep(&moment, NULL);
}

static void cuda_stream_close(td_stream *base)
{
    td_cuda_stream *stream = (td_cuda_stream *)base;
    cudaSetDevice(td_cuda_state_of(base->device)->gpu);
    cudaStreamSynchronize(stream->stream);
    cudaStreamSynchronize(stream->beside);
    await_notices(stream);
    td_cuda_drop_stagings(stream);
    drop_stream(stream);
}

static td_status cuda_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind)
{
    static const enum cudaMemcpyKind kinds[] = {[TD_TO_DEVICE] = cudaMemcpyHostToDevice,
                                                [TD_TO_HOST] = cudaMemcpyDeviceToHost,
                                                [TD_ON_DEVICE] = cudaMemcpyDeviceToDevice,
                                                [TD_TO_DEVICE_LIVE] = cudaMemcpyHostToDevice};
    static const char *const doing[] = {[TD_TO_DEVICE] = "copying to the device", [TD_TO_HOST] = "copying to the host",
                                        [TD_ON_DEVICE] = "copying on the device",
                                        [TD_TO_DEVICE_LIVE] = "copying to the device"};
    TD_CHECK(td_cuda_enter(stream->device));
    return td_cuda_check(stream->device, cudaMemcpyAsync(to, from, bytes, kinds[kind], td_cuda_stream_of(stream)),
                         doing[kind]);
}

static td_status cuda_fill(td_stream *stream, void *to, int byte, uint64_t bytes)
{
    TD_CHECK(td_cuda_enter(stream->device));
    return td_cuda_check(stream->device, cudaMemsetAsync(to, byte, bytes, td_cuda_stream_of(stream)),
                         "filling device memory");
}

/* Kernels */

static td_status ask_shared(td_device *device, const td_kernel *kernel, uint32_t bytes)
{
    char doing[160];
    if (bytes > device->properties.shared_bytes)
        return td_fail(TD_INVALID,
                       "%s: kernel %s wants %" PRIu32 " bytes of shared memory in a block; there are %" PRIu64,
                       device->name, kernel->name, bytes, device->properties.shared_bytes);
    snprintf(doing, sizeof doing, "giving kernel %s %" PRIu32 " bytes of shared memory", kernel->name, bytes);
    return td_cuda_check(device,
                         cudaFuncSetAttribute(kernel->code, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                         doing);
}

/* A block's dynamic shared memory is limited to 48 KiB, minus static shared memory, unless a kernel opts in to more.
 * The limit is raised once per kernel and larger size. */
static td_status raise_shared(td_device *device, const td_kernel *kernel, uint32_t bytes)
{
    td_cuda_state *state = td_cuda_state_of(device);
    uint32_t i = 0;
    if (bytes == 0) return TD_OK;
    while (i < state->raised_count && state->raised[i].code != kernel->code) i++;
    if (i < state->raised_count && state->raised[i].shared_bytes >= bytes) return TD_OK;
    if (i == state->raised_room) {
        uint32_t room = state->raised_room * 2 + 16;
        TD_CHECK(TD_RESIZE(&state->raised, room, "table of kernels"));
        state->raised_room = room;
    }
    TD_CHECK(ask_shared(device, kernel, bytes));
    state->raised[i] = (td_cuda_raised){kernel->code, bytes};
    if (i == state->raised_count) state->raised_count++;
    return TD_OK;
}

static td_status fail_launch(td_device *device, const td_kernel *kernel, const td_launch *shape, cudaError_t error)
{
    char doing[160];
    snprintf(doing, sizeof doing,
             "launching %s (%" PRIu32 " blocks of %" PRIu32 " threads, %" PRIu32 " bytes shared%s)", kernel->name,
             shape->blocks, shape->threads, shape->shared_bytes, shape->cooperative ? ", cooperative" : "");
    return td_cuda_check(device, error, doing);
}

/* Blocks of a portable cluster; of a non-portable one on compute capability 9. */
enum { PORTABLE_BLOCKS = 8, CLUSTER_BLOCKS = 16 };

/* CUDA checks a slice's launches against the whole GPU: a cooperative launch that exceeds the slice would deadlock. */
static td_status check_cooperative(td_device *device, const td_kernel *kernel, const td_launch *shape)
{
    uint32_t most = 0;
    if (td_cuda_state_of(device)->slice == NULL) return TD_OK;
    TD_CHECK(td_device_occupancy(device, kernel, shape->threads, shape->shared_bytes, &most));
    return shape->blocks <= most ? TD_OK : fail_launch(device, kernel, shape, cudaErrorCooperativeLaunchTooLarge);
}

/* Launches one cluster, whose blocks have a hardware barrier. */
static cudaError_t launch_cluster(const td_kernel *kernel, const td_launch *shape, void **list, cudaStream_t queue)
{
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension,
                                     .val.clusterDim = {shape->blocks, 1, 1}};
    cudaLaunchConfig_t config = {.gridDim = {shape->blocks, 1, 1}, .blockDim = {shape->threads, 1, 1}, .stream = queue,
                                 .dynamicSmemBytes = shape->shared_bytes, .attrs = &attribute, .numAttrs = 1};
    cudaError_t error = cudaFuncSetAttribute(kernel->code, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error != cudaSuccess ? error : cudaLaunchKernelExC(&config, kernel->code, list);
}

static td_status cuda_launch(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                             size_t bytes)
{
    td_device *device = stream->device;
    cudaStream_t queue = td_cuda_stream_of(stream);
    dim3 blocks = {shape->blocks, 1, 1}, threads = {shape->threads, 1, 1};
    void *list[] = {(void *)(uintptr_t)arguments};
    (void)bytes;
    TD_CHECK(td_cuda_enter(device));
    TD_CHECK(raise_shared(device, kernel, shape->shared_bytes));
    if (shape->cooperative && !shape->cluster) TD_CHECK(check_cooperative(device, kernel, shape));
    cudaError_t error = shape->cluster ? launch_cluster(kernel, shape, list, queue)
                        : shape->cooperative
                            ? cudaLaunchCooperativeKernel(kernel->code, blocks, threads, list, shape->shared_bytes,
                                                          queue)
                            : cudaLaunchKernel(kernel->code, blocks, threads, list, shape->shared_bytes, queue);
    if (error != cudaSuccess) return fail_launch(device, kernel, shape, error);
    td_cuda_state_of(device)->last = kernel->name;
    return TD_OK;
}

static td_status cuda_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                          uint32_t *blocks)
{
    int each = 0;
    *blocks = 0;
    if (threads > (uint32_t)device->properties.block_threads || shared_bytes > device->properties.shared_bytes)
        return TD_OK;
    TD_CHECK(td_cuda_enter(device));
    TD_CHECK(raise_shared(device, kernel, shared_bytes));
    TD_CUDA(device, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel->code, (int)threads, shared_bytes),
            kernel->name);
    *blocks = (uint32_t)(each * device->properties.multiprocessors);
    return TD_OK;
}

/* Completions, events, the end. */

typedef struct notice {
    td_cuda_stream *stream;
    td_handler handler;
    void *context;
    uint64_t value;
} notice;

/* Runs on a driver thread, which must not call CUDA. */
static void CUDART_CB deliver(cudaStream_t stream, cudaError_t error, void *context)
{
    notice *self = context;
    td_cuda_stream *from = self->stream;
    td_device *device = from->base.device;
    td_status status = error == cudaSuccess ? TD_OK : td_cuda_fail(device, error, "waiting for a stream");
    (void)stream;
    td_loop_complete(device->loop, 0, self->handler, self->context, status, self->value);
    td_free(self);
    from->notices--;
}

/* A callback blocks later work in its stream until the host has executed it, so it is queued on another stream that
 * waits for this one's work. */
static cudaError_t add_callback(td_cuda_stream *stream, notice *self)
{
    cudaError_t error = cudaEventRecord(stream->reached, stream->stream);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(stream->beside, stream->reached, 0);
    return error == cudaSuccess ? cudaStreamAddCallback(stream->beside, deliver, self, 0) : error;
}

/* Uses cudaStreamAddCallback, which is called after a fault too; a host function (cudaLaunchHostFunc) is not, and the
 * event loop would wait forever. An announced completion must arrive, so a failure is delivered as its status. */
static td_status cuda_notify(td_stream *stream, td_handler handler, void *context, uint64_t value)
{
    td_device *device = stream->device;
    td_cuda_stream *mine = (td_cuda_stream *)stream;
    notice *self = NULL;
    TD_CHECK(td_cuda_enter(device));
    TD_CHECK(TD_NEW(&self, 1, "completion"));
    *self = (notice){mine, handler, context, value};
    td_loop_expect(device->loop);
    mine->notices++;
    cudaError_t error = add_callback(mine, self);
    if (error == cudaSuccess) return TD_OK;
    mine->notices--;
    td_free(self);
    td_loop_complete(device->loop, 0, handler, context, td_cuda_check(device, error, "asking for a completion"), value);
    return TD_OK;
}

static void cuda_event_destroy(td_event *event)
{
    cudaSetDevice(td_cuda_state_of(event->device)->gpu);
    cudaEventDestroy(event->handle);
    cudaGetLastError();
    td_free(event);
}

static td_status cuda_record(td_stream *stream, td_event **out)
{
    td_status status = TD_OK;
    td_device *device = stream->device;
    td_event *event = NULL;
    TD_CHECK(td_cuda_enter(device));
    TD_CHECK(TD_NEW_ZEROED(&event, 1, "event"));
    event->device = device;
    TD_TRY(td_cuda_check(device, cudaEventCreateWithFlags(&event->handle, cudaEventDisableTiming), "creating an event"));
    TD_TRY(td_cuda_check(device, cudaEventRecord(event->handle, td_cuda_stream_of(stream)), "recording an event"));
    *out = event;
    return TD_OK;
done:
    if (event->handle != NULL) cudaEventDestroy(event->handle);
    td_free(event);
    return status;
}

static td_status cuda_wait(td_stream *stream, td_event *event)
{
    TD_CHECK(td_cuda_enter(stream->device));
    return td_cuda_check(stream->device, cudaStreamWaitEvent(td_cuda_stream_of(stream), event->handle, 0),
                         "waiting for an event");
}

static td_status cuda_synchronize(td_stream *stream)
{
    td_cuda_stream *mine = (td_cuda_stream *)stream;
    TD_CHECK(td_cuda_enter(stream->device));
    cudaError_t error = cudaStreamSynchronize(mine->stream);
    if (error == cudaSuccess && mine->notices > 0) error = cudaStreamSynchronize(mine->beside);
    return td_cuda_check(stream->device, error, "waiting for a stream");
}

static td_status cuda_ended(td_stream *stream, bool *out)
{
    td_cuda_stream *mine = (td_cuda_stream *)stream;
    TD_CHECK(td_cuda_enter(stream->device));
    cudaError_t error = cudaStreamQuery(mine->stream);
    if (error == cudaSuccess && mine->notices > 0) error = cudaStreamQuery(mine->beside);
    *out = error == cudaSuccess;
    if (error != cudaErrorNotReady) return td_cuda_check(stream->device, error, "waiting for a stream");
    cudaGetLastError();
    return TD_OK;
}

/* Sorting and sums (cub.cu) */

static td_status cuda_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    TD_CHECK(td_cuda_enter(device));
    return td_cuda_check(device, td_cuda_sort_bytes(count, bytes), "planning a sort");
}

static td_status cuda_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    TD_CHECK(td_cuda_enter(device));
    return td_cuda_check(device, td_cuda_scan_bytes(count, bytes), "planning a scan");
}

static td_status cuda_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                           uint64_t room_bytes)
{
    TD_CHECK(td_cuda_enter(stream->device));
    td_cuda_state_of(stream->device)->last = "sort";
    return td_cuda_check(stream->device, td_cuda_sort(keys, values, count, room, room_bytes, td_cuda_stream_of(stream)),
                         "sorting");
}

static td_status cuda_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                           uint64_t room_bytes)
{
    TD_CHECK(td_cuda_enter(stream->device));
    td_cuda_state_of(stream->device)->last = "scan";
    return td_cuda_check(stream->device, td_cuda_scan(in, out, count, room, room_bytes, td_cuda_stream_of(stream)),
                         "scanning");
}

static bool cuda_supports(const td_device *device, td_feature feature)
{
    if (feature == TD_FEATURE_COOPERATIVE) return device->properties.cooperative;
    if (feature == TD_FEATURE_HOST_READS) return device->properties.reads_host;
    return feature == TD_FEATURE_SORT;
}

static uint64_t cuda_now(td_device *device)
{
    (void)device;
    return td_clock_ns();
}

static bool cuda_is_lost(const td_device *device) { return td_cuda_state_of(device)->lost != 0; }

static void cuda_poison(td_device *device, void *memory, uint64_t bytes)
{
    if (td_cuda_enter(device) != TD_OK) return;
    (void)cudaMemset(memory, 0xa5, bytes);
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
}

static const td_device_ops cuda_ops = {
    .is_lost = cuda_is_lost,
    .poison = cuda_poison,
    .close = cuda_close,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .pin = td_cuda_pin,
    .unpin = td_cuda_unpin,
    .stream_open = cuda_stream_open,
    .stream_close = cuda_stream_close,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .launch = cuda_launch,
    .notify = cuda_notify,
    .record = cuda_record,
    .wait = cuda_wait,
    .event_destroy = cuda_event_destroy,
    .synchronize = cuda_synchronize,
    .ended = cuda_ended,
    .occupancy = cuda_occupancy,
    .sort = cuda_sort,
    .sort_bytes = cuda_sort_bytes,
    .scan = cuda_scan,
    .scan_bytes = cuda_scan_bytes,
    .supports = cuda_supports,
    .link = td_cuda_link,
    .enable_peer = td_cuda_enable_peer,
    .copy_peer = td_cuda_copy_peer,
    .now = cuda_now,
};

/* Opening */

static td_status describe(td_device *device, int gpu)
{
    struct cudaDeviceProp found;
    td_device_properties *out = &device->properties;
    size_t free_bytes = 0, all = 0;
    TD_CUDA(device, cudaGetDeviceProperties(&found, gpu), "asking for its properties");
    TD_CUDA(device, cudaMemGetInfo(&free_bytes, &all), "asking for its memory");
    td_cuda_state_of(device)->capability = found.major * 10 + found.minor;
    snprintf(out->model, sizeof out->model, "%.*s", (int)sizeof out->model - 1, found.name);
    out->memory = all;
    out->memory_free = free_bytes;
    out->cache = (uint64_t)found.l2CacheSize;
    out->multiprocessors = found.multiProcessorCount;
    out->block_threads = found.maxThreadsPerBlock;
    out->shared_bytes = found.sharedMemPerBlockOptin;
    out->cooperative = found.cooperativeLaunch != 0;
    out->cluster = found.clusterLaunch == 0 ? 0 : found.major == 9 ? CLUSTER_BLOCKS : PORTABLE_BLOCKS;
    out->reads_host = found.canMapHostMemory != 0;
    if (td_cuda_state_of(device)->capability >= OLDEST) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "%s: %s has compute capability %d.%d; Tandem needs 7.5 or later", device->name,
                   out->model, found.major, found.minor);
}

/* Slices share the GPU's memory evenly, even without a limit. */
static td_status take_slice(td_device *device, int slices, int slice, uint64_t gpu_memory)
{
    td_cuda_state *state = td_cuda_state_of(device);
    uint64_t memory = gpu_memory > 0 ? gpu_memory : device->properties.memory_free;
    TD_CHECK(td_cuda_slice_open(&state->slice, state->gpu, slices, slice, &device->properties.multiprocessors));
    device->budget = memory / (uint64_t)slices;
    device->properties.cluster = 0; /* the multiprocessors of a slice need not be in one GPC */
    return TD_OK;
}

static td_status open_part(td_device **out, int gpu, int slices, int slice, const td_device_options *options)
{
    td_status status = TD_OK;
    td_device *device = NULL;
    td_cuda_state *state = NULL;
    TD_CHECK(TD_NEW_ZEROED(&device, 1, "device"));
    TD_TRY(TD_NEW_ZEROED(&state, 1, "device"));
    state->gpu = gpu;
    *device = (td_device){.ops = &cuda_ops, .kind = TD_DEVICE_CUDA, .loop = options->loop,
                          .budget = options->gpu_memory,
                          .state = state};
    if (slices > 0) snprintf(device->name, sizeof device->name, "cuda:%d/%d#%d", gpu, slices, slice);
    else snprintf(device->name, sizeof device->name, "cuda:%d", gpu);
    if (gpu < MOST_GPUS) state->lost = lost_gpus[gpu]; /* nothing works on it any more */
    if (state->lost == 0) {
        TD_TRY(td_cuda_enter(device));
        TD_TRY(describe(device, gpu));
        if (slices > 0) TD_TRY(take_slice(device, slices, slice, options->gpu_memory));
    }
    *out = device;
    return TD_OK;
done:
    td_free(state);
    td_free(device);
    return status;
}

/* Errors are those of the opening that follows. */
uint64_t td_cuda_memory(int index)
{
    struct cudaDeviceProp found;
    if (index >= td_cuda_count() || cudaGetDeviceProperties(&found, index) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return found.totalGlobalMem;
}

void td_cuda_warm(int index)
{
    if (index < td_cuda_count() && cudaSetDevice(index) == cudaSuccess) (void)cudaFree(NULL);
    (void)cudaGetLastError();
}

td_status td_cuda_open(td_device **out, int index, int slices, int slice, const td_device_options *options)
{
    const char *why;
    td_device *first = NULL, **last = &first;
    if (!td_cuda_present(&why)) return td_fail(TD_UNSUPPORTED, "cuda:%d: %s", index, why);
    if (index >= td_cuda_count())
        return td_fail(TD_UNSUPPORTED, "cuda:%d: the GPUs of this machine are cuda:0 to cuda:%d", index,
                       td_cuda_count() - 1);
    if (index < MOST_GPUS && lost_gpus[index] != 0 && !options->keep_lost)
        return td_fail(TD_DEVICE,
                       "cuda:%d: a fault in a kernel made this GPU unusable for the process; a new process can use it",
                       index);
    int begin = slices > 0 && slice < 0 ? 0 : slice, end = slices > 0 && slice < 0 ? slices : slice + 1;
    for (int i = begin; i < end; i++) {
        td_status status = open_part(last, index, slices, i, options);
        if (status != TD_OK) {
            td_devices_close(first);
            return status;
        }
        last = &(*last)->next;
    }
    *out = first;
    return TD_OK;
}
