/* CUDA devices in a build without CUDA: they say so. */
#include "device/cuda/rates.h"
#include "device/kinds.h"

static const char why_not[] = "this build has no CUDA; build where nvcc is "
                              "installed, with -DTANDEM_CUDA=ON (the Python package: TANDEM_WHEEL_CUDA=ON pip install .)";

bool td_cuda_present(const char **why)
{
    if (why != NULL) *why = why_not;
    return false;
}

int td_cuda_count(void) { return 0; }
void td_cuda_stage_always(bool on) { (void)on; }
void td_cuda_warm(int index) { (void)index; }

uint64_t td_cuda_memory(int index)
{
    (void)index;
    return 0;
}

td_status td_cuda_measure(td_device *device, uint64_t largest, td_gpu_rates *out)
{
    (void)largest, (void)out;
    return td_fail(TD_UNSUPPORTED, "%s: %s", device->name, why_not);
}

td_status td_cuda_measure_gathers(td_device *device, uint64_t range, double *out)
{
    (void)range, (void)out;
    return td_fail(TD_UNSUPPORTED, "%s: %s", device->name, why_not);
}

td_status td_cuda_open(td_device **out, int index, int slices, int slice, const td_device_options *options)
{
    (void)out, (void)slices, (void)slice, (void)options;
    return td_fail(TD_UNSUPPORTED, "cuda:%d: %s", index, why_not);
}
