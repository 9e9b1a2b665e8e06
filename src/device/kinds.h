/* The kinds of devices, as device.c opens them. An opener makes a chain of
 * td_device (TD_NEW_ZEROED) with everything filled in, `loop` and `budget` from
 * the options; their `close` frees what is theirs, device.c the struct. */
#ifndef TD_DEVICE_KINDS_H
#define TD_DEVICE_KINDS_H

#include "device/device.h"

/* One operation of a device; the one that td_device_fail_at names fails, and so do those that td_device_lose_at says. */
/* Whether a test loses the device in the joint launch that is made (set.c). */
bool td_device_is_lost_in_joint(td_device *device);
td_status td_device_operation(td_device *device, const char *what);

td_status td_cpu_device_open(td_device **out, const td_device_options *options);

/* `count` emulated GPUs, linked as the topology file says (NULL: all alike). */
enum { TD_EMULATED_DEVICES = 64 }; /* most there can be */
td_status td_emulator_open(td_device **out, int count, const char *topology, const td_device_options *options);
/* td_device_host_bytes of a GPU of the topology, which is described and not opened. */
td_status td_emulator_host_bytes(const char *topology, uint64_t bytes, bool cooperative, uint64_t *out);

/* GPU `index` whole (slices 0), all of its `slices` (slice -1), or one of them. In a build without CUDA the
 * same functions say so. */
td_status td_cuda_open(td_device **out, int index, int slices, int slice, const td_device_options *options);
bool td_cuda_present(const char **why);
void td_cuda_warm(int index); /* makes the GPU's context, if there is none (warm.h); any thread */
void td_cuda_stage_always(bool on); /* for tests: every copy between devices goes through the host */
uint64_t td_cuda_memory(int index); /* of the GPU, without making a context; 0: unknown */
int td_cuda_count(void); /* GPUs that can be opened; 0 where there is no CUDA */

/* The numbers of the CUDA GPUs in a list of devices, each once; 0 if the list is wrong. */
int td_devices_cuda(const char *list, int *gpus, int most);

#endif
