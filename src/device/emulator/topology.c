/* Topology files (docs/topologies.md). */
#include "device/emulator/model.h"

#include <stdio.h>

static const td_gpu_model plain_gpu = {
    .model = "emulated GPU", .memory = UINT64_C(16) << 30, .cache = UINT64_C(4) << 20, .shared_bytes = 48 << 10,
    .multiprocessors = 4, .block_threads = 1024, .resident_threads = 1024, .memory_rate = 500, .operation_rate = 32,
    .atomic_rate = 4, .launch_ns = 4000, .finish_ns = 5000, .grid_barrier_ns = 1000};

void td_topology_default(td_topology *out)
{
    *out = (td_topology){.name = "plain", .devices = TD_MODEL_DEVICES, .races = true, .pageable_share = 0.25};
    for (int i = 0; i < TD_MODEL_DEVICES; i++) {
        out->gpu[i] = plain_gpu;
        out->host_link[i] = i;
        out->to_device[i] = out->to_host[i] = (td_link_model){.rate = 12, .latency_ns = 6000};
    }
}
