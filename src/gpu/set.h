/* The GPUs of a session, opened once, and the layouts that engines cache on them between runs of a graph. Every layout
 * starts with a td_gpu_layout. */
#ifndef TD_GPU_SET_H
#define TD_GPU_SET_H

#include "device/device.h"
#include "run/run.h"

enum { TD_GPUS = TD_MOST_GPUS };

typedef struct td_gpu_set {
    char devices[128]; /* as in the options */
    uint64_t gpu_memory;
    td_loop *loop;
    td_device *first;  /* list of all opened devices, including the cpu */
    int count;
    td_device *gpu[TD_GPUS];
    uint64_t opened_bytes; /* bytes of the account's memory that opening it took */
} td_gpu_set;

/* Opens the GPUs that the options name (NULL: the first GPU), for the engine. The cache owns them: they are reused if
 * they are the same; otherwise the old layout is released first. */
td_status td_gpu_set_open(const td_run_options *options, const char *engine, td_gpu_set **out);

/* Call after a run: notes how much of the account's memory the open GPUs keep. */
void td_gpu_set_note(const td_run_options *options);

/* Drops the set after a failure: completions may be in flight, and a GPU may be lost. The next run opens it again. */
void td_gpu_set_drop(const td_run_options *options);

/* After a run failed: takes its lost GPUs out of the set, for the rest of this run. All layouts are released, the other
 * GPUs stay open. Returns how many are left. */
int td_gpu_set_evict(const td_run_options *options);

/* Bytes of the set's first GPU that a run may use: free memory and the cached layout's. 0: no GPU. */
uint64_t td_gpu_set_room(const td_run_options *options, const char *engine);

const char *td_gpu_wanted(const td_run_options *options);
bool td_gpu_is_named(const char *devices); /* whether the list names a GPU; NULL: no */

/* The common part of all engines' layouts. */
typedef struct td_gpu_layout {
    const td_graph *graph;
    td_gpu_set *set;
} td_gpu_layout;

/* How an engine's layout is made and released. */
typedef struct td_gpu_layout_kind {
    const char *engine;
    uint64_t bytes;
    td_status (*open)(void *cached, td_device *device);
    void (*release)(void *cached); /* also after `open` failed */
    bool many;                     /* the engine uses all GPUs of the set, not only the first */
} td_gpu_layout_kind;

/* Returns the cached layout of the same engine, graph and GPUs if there is one; otherwise makes a new one. Layouts of
 * other graphs and engines stay as long as there is room for them. */
td_status td_gpu_layout_acquire(const td_gpu_layout_kind *kind, const td_graph *graph, const td_run_options *options,
                                void *out);

/* Call after a run. After a failure all layouts are released; otherwise the run's layout stays cached until the account
 * or a GPU needs the memory. */
void td_gpu_layout_release(const td_run_options *options, bool failed);

/* Releases the least recently used cached layout; false: every layout is in use. */
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
