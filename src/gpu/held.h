/* A GPU that stays open from run to run of one graph, with what an engine has put there (td_run_options.kept). Whatever
 * an engine keeps begins with a td_gpu_held. */
#ifndef TD_GPU_HELD_H
#define TD_GPU_HELD_H

#include "device/device.h"
#include "run/run.h"

typedef struct td_gpu_held {
    const td_graph *graph;
    char devices[128]; /* as they were asked for */
    uint64_t gpu_memory;
    td_loop *loop;
    td_device *first;  /* of those opened */
} td_gpu_held;

/* An engine's way of keeping: how much it keeps, its streams, and how all of it is given back. */
typedef struct td_gpu_keeper {
    const char *engine;
    uint64_t bytes;
    td_status (*open)(void *held, td_device *device);
    void (*release)(void *held); /* what a failed opening left, too */
} td_gpu_keeper;

/* What the run before kept, if it was the same engine's for the same graph and devices; otherwise a new one. */
td_status td_gpu_hold(const td_gpu_keeper *keeper, const td_graph *graph, const td_run_options *options, void *out);

/* After a run: given back unless it is kept. What a failed run left on the device may be half of it, and the device may
 * be lost: the next one starts anew. */
void td_gpu_let_go(const td_gpu_keeper *keeper, const td_run_options *options, void *held, bool failed);

/* Whether it is what a run of the graph would open. */
bool td_gpu_serves(const td_gpu_held *held, const td_graph *graph, const td_run_options *options);

/* The GPU of the list of devices (NULL: the first there is), for the engine named, with a loop of its own. */
td_status td_gpu_open(td_gpu_held *held, const td_run_options *options, const char *engine, td_device **out);
void td_gpu_close(td_gpu_held *held);
const char *td_gpu_wanted(const td_run_options *options);

#endif
