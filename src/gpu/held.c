/* A GPU opened for an engine, and kept for its next run of the graph. */
#include "gpu/held.h"

#include "base/alloc.h"
#include "base/log.h"

#include <string.h>

const char *td_gpu_wanted(const td_run_options *options)
{
    return options->devices != NULL ? options->devices : "cuda:0";
}

/* Opening and closing. */

static td_device *next_gpu(td_device *device)
{
    while (device != NULL && device->kind == TD_DEVICE_CPU) device = device->next;
    return device;
}

static td_status open_devices(td_gpu_held *held, const td_run_options *options, const char *engine)
{
    td_device_options how = {.loop = held->loop, .pool = options->pool, .gpu_memory = options->gpu_memory};
    td_status status = td_devices_open(&held->first, held->devices, &how);
    if (status != TD_OK && options->devices == NULL)
        return td_fail_context(status, "the %s engine needs a GPU (--devices emu emulates one)", engine);
    return status;
}

td_status td_gpu_open(td_gpu_held *held, const td_run_options *options, const char *engine, td_device **out)
{
    const char *devices = td_gpu_wanted(options);
    if (strlen(devices) >= sizeof held->devices) return td_fail(TD_USAGE, "--devices %s: too long", devices);
    memcpy(held->devices, devices, strlen(devices) + 1);
    held->gpu_memory = options->gpu_memory;
    TD_CHECK(td_loop_create(&held->loop));
    TD_CHECK(open_devices(held, options, engine));
    *out = next_gpu(held->first);
    if (*out == NULL)
        return td_fail(TD_USAGE, "--devices %s: the %s engine needs a GPU (cuda:0), or an emulated one (emu)", devices,
                       engine);
    if (next_gpu((*out)->next) != NULL)
        td_warn("the %s engine uses one GPU: of --devices %s it is %s", engine, devices, (*out)->name);
    return TD_OK;
}

void td_gpu_close(td_gpu_held *held)
{
    td_devices_close(held->first);
    td_loop_destroy(held->loop);
}

/* Keeping. */

bool td_gpu_serves(const td_gpu_held *held, const td_graph *graph, const td_run_options *options)
{
    return held->graph == graph && held->gpu_memory == options->gpu_memory &&
           strcmp(held->devices, td_gpu_wanted(options)) == 0;
}

static td_status open_new(const td_gpu_keeper *keeper, const td_graph *graph, const td_run_options *options, void **out)
{
    void *memory;
    td_device *device;
    TD_CHECK(td_new_zeroed_bytes(&memory, 1, keeper->bytes, "device and lists"));
    td_gpu_held *held = memory;
    held->graph = graph;
    td_status status = td_gpu_open(held, options, keeper->engine, &device);
    if (status == TD_OK) status = keeper->open(held, device);
    if (status != TD_OK) keeper->release(held);
    else *out = held;
    return status;
}

td_status td_gpu_hold(const td_gpu_keeper *keeper, const td_graph *graph, const td_run_options *options, void *out)
{
    td_kept *kept = options->kept;
    void *held = kept != NULL && kept->release == keeper->release ? kept->state : NULL;
    if (held != NULL && !td_gpu_serves(held, graph, options)) {
        td_kept_release(kept); /* before the next is opened: both may not fit */
        held = NULL;
    }
    if (held == NULL) {
        TD_CHECK(open_new(keeper, graph, options, &held));
        if (kept != NULL) {
            td_kept_release(kept);
            *kept = (td_kept){held, keeper->release};
        }
    }
    memcpy(out, &held, sizeof held);
    return TD_OK;
}

void td_gpu_let_go(const td_gpu_keeper *keeper, const td_run_options *options, void *held, bool failed)
{
    td_kept *kept = options->kept;
    if (kept == NULL || kept->state != held) keeper->release(held);
    else if (failed && held != NULL) td_kept_release(kept);
}
