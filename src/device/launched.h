/* For tests: which kernels are launched. */
#ifndef TD_DEVICE_LAUNCHED_H
#define TD_DEVICE_LAUNCHED_H

#include "device/device.h"

/* While set, called with the kernel of every launch that a device has accepted; of a joint launch, once for every member.
 * Threads that launch at the same time call it at the same time. NULL: none. */
typedef void (*td_launch_watcher)(const td_device *device, const td_kernel *kernel);
void td_devices_watch_launches(td_launch_watcher watcher);

void td_device_launched(td_device *device, const td_kernel *kernel); /* counts a launch, and calls the watcher */

#endif
