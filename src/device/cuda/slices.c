/* Slices of a GPU: green contexts of disjoint groups of multiprocessors (driver API since CUDA 12.5). Its functions are
 * looked up by name, because the driver at run time may be older. A slice's streams are used like any other; memory and
 * kernels belong to the whole GPU. */
#include "device/cuda/cuda.h"

#include "base/alloc.h"
#include "base/log.h"

#include <cuda.h>

/* Fallback without green contexts. */
static td_status share_plainly(int gpu, int slices, int *multiprocessors)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&warned))
        td_warn("cuda:%d: no green contexts (this build's CUDA or the driver is older than 12.5): the %d slices are "
                "plain streams that compete for all multiprocessors", gpu, slices);
    if (*multiprocessors < slices)
        return td_fail(TD_UNSUPPORTED, "cuda:%d cannot give %d slices: it has %d multiprocessors", gpu, slices,
                       *multiprocessors);
    *multiprocessors /= slices;
    return TD_OK;
}

#if CUDA_VERSION >= 12050

struct td_cuda_slice {
    CUgreenCtx context;
};

enum { SINCE = 12050 };

typedef struct driver {
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_resource)(CUdevice, CUdevResource *, CUdevResourceType);
    CUresult (*split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned);
    CUresult (*describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
    CUresult (*create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
    CUresult (*destroy)(CUgreenCtx);
    CUresult (*stream)(CUstream *, CUgreenCtx, unsigned, int);
} driver;

static bool find(const char *name, void *function)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t error = cudaGetDriverEntryPointByVersion(name, function, SINCE, cudaEnableDefault, &found);
    if (error != cudaSuccess) cudaGetLastError();
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess;
}

static bool find_driver(driver *out)
{
    return find("cuDeviceGet", &out->device_get) && find("cuDeviceGetDevResource", &out->device_resource) &&
           find("cuDevSmResourceSplitByCount", &out->split) && find("cuDevResourceGenerateDesc", &out->describe) &&
           find("cuGreenCtxCreate", &out->create) && find("cuGreenCtxDestroy", &out->destroy) &&
           find("cuGreenCtxStreamCreate", &out->stream);
}

static td_status check(CUresult result, int gpu, const char *doing)
{
    if (result == CUDA_SUCCESS) return TD_OK;
    return td_fail(TD_DEVICE, "cuda:%d: %s for a slice failed: CUDA error %d", gpu, doing, (int)result);
}

/* Number of groups of at least `size` multiprocessors, by a trial split. */
static unsigned groups_of(const driver *api, const CUdevResource *all, unsigned size)
{
    unsigned groups = 0;
    return api->split(NULL, &groups, all, NULL, 0, size) == CUDA_SUCCESS ? groups : 0;
}

/* The largest group size that gives `slices` groups; the architecture rounds sizes up to pairs or eights. */
static td_status choose_size(const driver *api, const CUdevResource *all, int gpu, int slices, unsigned *size)
{
    for (unsigned try = all->sm.smCount / (unsigned)slices; try > 0; try--) {
        if (groups_of(api, all, try) < (unsigned)slices) continue;
        *size = try;
        return TD_OK;
    }
    return td_fail(TD_UNSUPPORTED,
                   "cuda:%d cannot give %d slices: its %u multiprocessors make at most %u of disjoint groups", gpu,
                   slices, all->sm.smCount, groups_of(api, all, 1));
}

static td_status make(const driver *api, td_cuda_slice *self, int gpu, int slices, int slice, int *multiprocessors)
{
    td_status status = TD_OK;
    CUdevice device;
    CUdevResource all = {0}, *groups = NULL;
    CUdevResourceDesc described;
    unsigned size = 0, count = (unsigned)slices;
    TD_CHECK(check(api->device_get(&device, gpu), gpu, "finding the GPU"));
    TD_CHECK(check(api->device_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM), gpu, "asking for the multiprocessors"));
    TD_CHECK(choose_size(api, &all, gpu, slices, &size));
    TD_CHECK(TD_NEW_ZEROED(&groups, count, "groups of multiprocessors"));
    TD_TRY(check(api->split(groups, &count, &all, NULL, 0, size), gpu, "splitting the multiprocessors"));
    TD_TRY(check(api->describe(&described, &groups[slice], 1), gpu, "describing a group"));
    TD_TRY(check(api->create(&self->context, described, device, CU_GREEN_CTX_DEFAULT_STREAM), gpu,
                 "making a green context"));
    *multiprocessors = (int)groups[slice].sm.smCount;
done:
    td_free(groups);
    return status;
}

td_status td_cuda_slice_open(td_cuda_slice **out, int gpu, int slices, int slice, int *multiprocessors)
{
    driver api;
    td_cuda_slice *self = NULL;
    if (!find_driver(&api)) return share_plainly(gpu, slices, multiprocessors);
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "slice"));
    td_status status = make(&api, self, gpu, slices, slice, multiprocessors);
    if (status != TD_OK) td_free(self);
    else *out = self;
    return status;
}

void td_cuda_slice_close(td_cuda_slice *slice)
{
    driver api;
    if (slice == NULL) return;
    if (find_driver(&api)) api.destroy(slice->context);
    td_free(slice);
}

cudaError_t td_cuda_slice_stream(td_cuda_slice *slice, int priority, cudaStream_t *out)
{
    driver api;
    if (!find_driver(&api)) return cudaErrorNotSupported;
    return (cudaError_t)api.stream((CUstream *)out, slice->context, CU_STREAM_NON_BLOCKING, priority);
}

#else

td_status td_cuda_slice_open(td_cuda_slice **out, int gpu, int slices, int slice, int *multiprocessors)
{
    (void)out, (void)slice;
    return share_plainly(gpu, slices, multiprocessors);
}

void td_cuda_slice_close(td_cuda_slice *slice) { (void)slice; }

cudaError_t td_cuda_slice_stream(td_cuda_slice *slice, int priority, cudaStream_t *out)
{
    (void)slice, (void)priority, (void)out;
    return cudaErrorNotSupported;
}

#endif
