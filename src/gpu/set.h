/* The GPUs of a session, opened once, and what engines cache on them between runs of a graph. Whatever an engine caches
 * begins with a td_gpu_cached. */
#ifndef TD_GPU_SET_H
#define TD_GPU_SET_H

#include "device/device.h"
#include "run/run.h"

enum { TD_GPUS = TD_MOST_GPUS };

typedef struct td_gpu_set {
    char devices[128]; /* as they were asked for */
    uint64_t gpu_memory;
    td_loop *loop;
    td_device *first;  /* of all that were opened, the cpu among them */
    int count;
    td_device *gpu[TD_GPUS];
    uint64_t opened_bytes; /* of the account's memory when it was opened */
} td_gpu_set;

/* The GPUs that the options name (NULL: the first there is), for the engine named. The cache owns them: they are opened
 * if it has none, or others, whose layouts are released first. */
td_status td_gpu_set_open(const td_run_options *options, const char *engine, td_gpu_set **out);

/* After a run: how much of the account's memory the GPUs keep. */
void td_gpu_set_note(const td_run_options *options);

/* After a failure: completions may be under way, and a GPU may be lost. The next run opens the set anew. */
void td_gpu_set_drop(const td_run_options *options);

/* Bytes of the set's first GPU that a run may take: what is free and what the cache holds there. 0: there is no GPU. */
uint64_t td_gpu_set_room(const td_run_options *options, const char *engine);

const char *td_gpu_wanted(const td_run_options *options);

/* A graph's layout on a GPU, as far as all engines' are alike. */
typedef struct td_gpu_cached {
    const td_graph *graph;
    td_gpu_set *set;
} td_gpu_cached;

/* An engine's way of caching: how large its layout is, its streams, and how all of it is released. */
typedef struct td_gpu_keeper {
    const char *engine;
    uint64_t bytes;
    td_status (*open)(void *cached, td_device *device);
    void (*release)(void *cached); /* what a failed opening left, too */
} td_gpu_keeper;

/* The cached layout of the same engine for the same graph and GPUs, if there is one; otherwise a new one. Layouts of
 * other graphs and engines stay, as long as there is room for them. */
td_status td_gpu_hold(const td_gpu_keeper *keeper, const td_graph *graph, const td_run_options *options, void *out);

/* After a run, which may have failed. Otherwise its layout stays cached until the account or a GPU needs the memory. */
void td_gpu_let_go(const td_run_options *options, bool failed);

/* Releases the cached layout that was used longest ago; false: there is none that no run uses. */
bool td_gpu_make_way(td_cache *cache);

/* An engine that makes or drops lists of the layout in use marks the memory before and notes it afterwards: so the
 * cache knows how much each layout would give back. */
typedef struct td_gpu_mark {
    uint64_t host, device[TD_GPUS];
} td_gpu_mark;
td_gpu_mark td_gpu_layout_mark(const td_run_options *options);
void td_gpu_layout_note(const td_run_options *options, const td_gpu_mark *before);

/* Bytes on the GPU of cached layouts that the run does not use. */
uint64_t td_gpu_others_bytes(const td_run_options *options, const td_device *device);

#endif
