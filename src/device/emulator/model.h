/* The modelled machine: properties and rates of an emulated GPU, and the links between GPUs and to the host. Times are
 * nanoseconds, rates per nanosecond. */
#ifndef TD_DEVICE_EMULATOR_MODEL_H
#define TD_DEVICE_EMULATOR_MODEL_H

#include "device/emulator/machine.h"

typedef struct td_gpu_model {
    char model[64];
    uint64_t memory, cache, shared_bytes;
    uint32_t multiprocessors, block_threads;
    uint32_t cluster;          /* blocks of a cluster; 0: no clusters */
    uint32_t resident_threads; /* of a multiprocessor, at once */
    double memory_rate;        /* bytes of device memory */
    double operation_rate;     /* accesses, exchanges, ... of one multiprocessor */
    double atomic_rate;        /* of the whole device */
    double launch_ns, synchronize_ns, grid_barrier_ns, set_barrier_ns;
} td_gpu_model;

/* One direction of a link; its copies are serialized. */
typedef struct td_link_model {
    double rate;  /* bytes per ns; 0: no link */
    double latency_ns;
    uint64_t free_at;
} td_link_model;

typedef struct td_topology {
    char name[64];
    int devices;
    bool races;        /* report races of kernels */
    bool hides_rates;  /* td_device_link knows no rates, as on CUDA */
    uint32_t remote_delay; /* how often a kernel may still read the old value of a word that another GPU changed; 0:
                            * never */
    uint64_t patience; /* accesses of a launch without progress after which it is aborted */
    td_gpu_model gpu[TD_EMULATED_DEVICES]; /* of a slice: its share of what the GPU's slices have in common */
    int slices[TD_EMULATED_DEVICES];       /* into which its GPU is divided; 1: the GPU is whole */
    int first_slice[TD_EMULATED_DEVICES];  /* of its GPU; of a whole one: itself */
    double gather_rate;    /* bytes per ns that the host's workers collect */
    double pageable_share; /* of a host link's rate, when the host memory is not pinned */
    int host_link[TD_EMULATED_DEVICES]; /* its number in to_device and to_host; GPUs may share one */
    td_link_model to_device[TD_EMULATED_DEVICES], to_host[TD_EMULATED_DEVICES];
    td_link_model between[TD_EMULATED_DEVICES][TD_EMULATED_DEVICES]; /* [from][to] */
} td_topology;

/* Independent GPUs, all alike, for tests: small, with plain figures. */
void td_topology_default(td_topology *out);

static inline bool td_topology_same_memory(const td_topology *topology, int a, int b)
{
    return topology->first_slice[a] == topology->first_slice[b];
}

/* A topology file, by its name or, with a '/' in it, by its path. */
td_status td_topology_open(td_topology *out, const char *name);

/* The clock. A unit (a GPU's kernels, one way of a link) does one thing at a time: work begins when the stream and the
 * unit are free, and not before `earliest`; returns when it ends. */
uint64_t td_unit_take(uint64_t *free_at, uint64_t earliest, double duration_ns);

/* How long a launch takes; host_rate is that of the link it reads host memory through. */
double td_model_launch_ns(const td_gpu_model *gpu, const td_emu_work *work, double host_rate);
double td_model_work_ns(const td_gpu_model *gpu, const td_emu_work *work, double host_rate); /* without its latency */

#endif
