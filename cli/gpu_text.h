/* The report of `tandem devices` on a GPU: its properties and its rates, measured or, for an
 * emulated one, from its topology. */
#ifndef TD_CLI_GPU_TEXT_H
#define TD_CLI_GPU_TEXT_H

#include "base/json.h"
#include "device/cuda/rates.h"
#include "device/kinds.h"

typedef struct td_gpu_report {
    char name[48];
    td_device_properties properties;
    uint64_t budget; /* bytes of its memory that may be used, 0: all */
    bool modelled;
    td_gpu_rates rates; /* 0: unknown */
    double peers[TD_EMULATED_DEVICES]; /* bytes per second to each open emulated device; 0: through the host */
} td_gpu_report;

td_status td_gpu_describe(td_gpu_report *out, td_device *device, uint64_t largest);
void td_gpu_print(const td_gpu_report *gpu);
void td_gpu_json(td_json *json, const td_gpu_report *gpu);

#endif
