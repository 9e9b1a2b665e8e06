/* CUDA errors as messages: a status, the operation, the cause, the remedy. Only td_cuda_enter, td_cuda_check and
 * td_cuda_present call CUDA. */
#include "device/cuda/cuda.h"

#include "base/size.h"

#include <stdio.h>

typedef struct meaning {
    cudaError_t error;
    td_status status;
    bool sticky; /* the context is lost: the GPU is unusable until it is opened again */
    const char *words;
} meaning;

#define SANITIZER "a fault in a kernel; compute-sanitizer shows where"

static const meaning meanings[] = {
    {cudaErrorMemoryAllocation, TD_NO_MEMORY, false, "out of device memory"},
    {cudaErrorIllegalAddress, TD_DEVICE, true, "a kernel touched memory that is not there: " SANITIZER},
    {cudaErrorMisalignedAddress, TD_DEVICE, true, "a kernel used a misaligned address: " SANITIZER},
    {cudaErrorInvalidAddressSpace, TD_DEVICE, true, "a kernel used an address of the wrong kind of memory: " SANITIZER},
    {cudaErrorInvalidPc, TD_DEVICE, true, "a kernel jumped astray: " SANITIZER},
    {cudaErrorIllegalInstruction, TD_DEVICE, true, "a kernel met an illegal instruction: " SANITIZER},
    {cudaErrorHardwareStackError, TD_DEVICE, true, "a kernel's stack overflowed: " SANITIZER},
    {cudaErrorLaunchFailure, TD_DEVICE, true, "a kernel failed: " SANITIZER},
    {cudaErrorAssert, TD_DEVICE, true, "a kernel gave up (trap or assertion): " SANITIZER},
    {cudaErrorLaunchTimeout, TD_DEVICE, true,
     "a kernel ran into the time limit of a GPU that also drives a display; use another GPU or lift the limit"},
    {cudaErrorECCUncorrectable, TD_DEVICE, true,
     "the GPU's memory had an error it cannot correct; nvidia-smi -q shows it"},
    {cudaErrorUnknown, TD_DEVICE, true, "the driver reports an unknown error; dmesg and nvidia-smi may tell more"},
    {cudaErrorDevicesUnavailable, TD_DEVICE, false, "the GPU is in exclusive use by another process, or has been lost"},
    {cudaErrorNoDevice, TD_UNSUPPORTED, false, "no NVIDIA GPU is visible (nvidia-smi, CUDA_VISIBLE_DEVICES)"},
    {cudaErrorInvalidDevice, TD_UNSUPPORTED, false, "there is no such GPU"},
    {cudaErrorInsufficientDriver, TD_UNSUPPORTED, false, "the NVIDIA driver is missing or older than this build needs"},
    {cudaErrorSystemDriverMismatch, TD_UNSUPPORTED, false,
     "the NVIDIA driver in use and its libraries differ in version; reboot or reload it"},
    {cudaErrorCompatNotSupportedOnDevice, TD_UNSUPPORTED, false, "this GPU needs a newer NVIDIA driver for this build"},
    {cudaErrorNoKernelImageForDevice, TD_UNSUPPORTED, false,
     "this build has no code for this GPU; configure with -DTANDEM_CUDA_ARCHS=native"},
    {cudaErrorUnsupportedPtxVersion, TD_UNSUPPORTED, false,
     "the NVIDIA driver is too old to compile this build's code for this GPU; update it or configure with "
     "-DTANDEM_CUDA_ARCHS=native"},
    {cudaErrorInvalidConfiguration, TD_INVALID, false,
     "the launch has more blocks, threads or shared memory than the GPU takes"},
    {cudaErrorLaunchOutOfResources, TD_INVALID, false,
     "a block needs more registers or shared memory than the GPU has"},
    {cudaErrorCooperativeLaunchTooLarge, TD_INVALID, false, "more blocks than can run at once"},
    {cudaErrorHostMemoryAlreadyRegistered, TD_INVALID, false, "the host memory is pinned already"},
    {cudaErrorNotSupported, TD_UNSUPPORTED, false, "the GPU or its driver does not support it"},
    {cudaErrorInvalidValue, TD_INVALID, false, "CUDA does not accept the arguments"},
    {cudaErrorInitializationError, TD_DEVICE, false, "CUDA cannot be initialised; nvidia-smi should show the GPU"},
    {cudaErrorSystemNotReady, TD_DEVICE, false, "the system is not ready (is nvidia-fabricmanager running?)"},
};

static const meaning *meaning_of(cudaError_t error)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].error == error) return &meanings[i];
    return NULL;
}

bool td_cuda_sticky(cudaError_t error)
{
    const meaning *known = meaning_of(error);
    return known != NULL && known->sticky;
}

static void keep_lost(const td_device *device, cudaError_t error)
{
    int none = 0;
    if (td_cuda_sticky(error)) atomic_compare_exchange_strong(&td_cuda_state_of(device)->lost, &none, (int)error);
}

td_status td_cuda_fail(const td_device *device, cudaError_t error, const char *doing)
{
    const meaning *known = meaning_of(error);
    const char *last = td_cuda_state_of(device)->last;
    keep_lost(device, error);
    if (known == NULL) return td_fail(TD_DEVICE, "%s: %s: CUDA error %d", device->name, doing, (int)error);
    td_refusal refusal = {.resource = known->status == TD_NO_MEMORY ? TD_RESOURCE_DEVICE_MEMORY : TD_RESOURCE_NONE};
    if (known->status == TD_NO_MEMORY) snprintf(refusal.device, sizeof refusal.device, "%s", device->name);
    if (!known->sticky || last == NULL)
        return td_refuse_as(known->status, &refusal, "%s: %s: %s", device->name, doing, known->words);
    return td_refuse_as(known->status, &refusal, "%s: %s: %s (kernel launched last: %s)", device->name, doing,
                        known->words, last);
}

td_status td_cuda_check(const td_device *device, cudaError_t error, const char *doing)
{
    if (error == cudaSuccess) return TD_OK;
    cudaGetLastError(); /* otherwise the next call would report it again */
    if (meaning_of(error) != NULL) return td_cuda_fail(device, error, doing);
    return td_fail(TD_DEVICE, "%s: %s: %s (%s)", device->name, doing, cudaGetErrorString(error),
                   cudaGetErrorName(error));
}

td_status td_cuda_enter(const td_device *device)
{
    td_cuda_state *state = td_cuda_state_of(device);
    int lost = state->lost;
    if (lost != 0) return td_cuda_fail(device, (cudaError_t)lost, "the GPU is lost to this run");
    return td_cuda_check(device, cudaSetDevice(state->gpu), "choosing the GPU");
}

static bool driver_missing(const char **why)
{
    static char words[200];
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) snprintf(words, sizeof words, "no NVIDIA driver is installed or loaded");
    else
        snprintf(words, sizeof words,
                 "the NVIDIA driver supports CUDA %d.%d and this build needs %d.%d: update the driver "
                 "or build with an older CUDA", driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    *why = words;
    return true;
}

/* The number of GPUs; 0 with the reason in *why. */
static int count_gpus(const char **why)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    *why = "";
    if (error == cudaSuccess && count > 0) return count;
    cudaGetLastError();
    const meaning *known = meaning_of(error == cudaSuccess ? cudaErrorNoDevice : error);
    if (error == cudaErrorInsufficientDriver) driver_missing(why);
    else *why = known != NULL ? known->words : cudaGetErrorString(error);
    return 0;
}

bool td_cuda_present(const char **why)
{
    const char *words;
    int count = count_gpus(&words);
    if (why != NULL) *why = words;
    return count > 0;
}

int td_cuda_count(void)
{
    const char *words;
    return count_gpus(&words);
}
