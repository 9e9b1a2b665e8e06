/* A session's GPUs, opened once, and the layouts cached on them. */
#include "gpu/set.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <stddef.h>
#include <string.h>

const char *td_gpu_wanted(const td_run_options *options)
{
    return options->devices != NULL ? options->devices : "cuda:0";
}

bool td_gpu_is_named(const char *devices)
{
    return devices != NULL && (strstr(devices, "cuda") != NULL || strstr(devices, "emu") != NULL);
}

/* Opening and closing. */

static td_status open_devices(td_gpu_set *set, const td_run_options *options, const char *engine)
{
    td_device_options how = {.loop = set->loop, .pool = options->pool, .gpu_memory = options->gpu_memory,
                             .keep_lost = true};
    td_status status = td_devices_open(&set->first, set->devices, &how);
    if (status != TD_OK && options->devices == NULL)
        return td_fail_context(status, "the %s engine needs a GPU ({devices} emu emulates one)", engine);
    return status;
}

/* A GPU that this process lost in an earlier run is left out as long as others are named. */
static td_status leave_out(const td_gpu_set *set, const td_device *lost)
{
    bool others = false;
    for (const td_device *device = set->first; device != NULL; device = device->next)
        others = others || (device->kind != TD_DEVICE_CPU && !td_device_is_lost(device));
    if (!others)
        return td_fail(TD_DEVICE, "{devices} %s: this process has lost %s; a new process gets it again", set->devices,
                       lost->name);
    td_warn("%s was lost in an earlier run of this process and is left out; a new process gets it again", lost->name);
    return TD_OK;
}

static td_status list_gpus(td_gpu_set *set, const char *engine)
{
    for (td_device *device = set->first; device != NULL; device = device->next) {
        if (device->kind == TD_DEVICE_CPU) continue;
        if (td_device_is_lost(device)) {
            TD_CHECK(leave_out(set, device));
            continue;
        }
        if (set->count == TD_GPUS)
            return td_fail(TD_USAGE, "{devices} %s: more than %d GPUs", set->devices, TD_GPUS);
        set->gpu[set->count++] = device;
    }
    if (set->count > 0) return TD_OK;
    return td_fail(TD_USAGE, "{devices} %s: the %s engine needs a GPU (cuda:0), or an emulated one (emu)",
                   set->devices, engine);
}

static void close_set(td_gpu_set *set)
{
    td_devices_close(set->first);
    td_loop_destroy(set->loop);
    td_free(set);
}

static td_status open_set(const td_run_options *options, const char *engine, td_gpu_set **out)
{
    const char *devices = td_gpu_wanted(options);
    td_gpu_set *set = NULL;
    if (strlen(devices) >= sizeof set->devices) return td_fail(TD_USAGE, "{devices} %s: too long", devices);
    TD_CHECK(TD_NEW_ZEROED(&set, 1, "set of GPUs"));
    memcpy(set->devices, devices, strlen(devices) + 1);
    set->gpu_memory = options->gpu_memory;
    td_status status = td_loop_create(&set->loop);
    if (status == TD_OK) status = open_devices(set, options, engine);
    if (status == TD_OK) status = list_gpus(set, engine);
    if (status != TD_OK) close_set(set);
    else *out = set;
    return status;
}

static bool is_wanted(const td_gpu_set *set, const td_run_options *options)
{
    return set->gpu_memory == options->gpu_memory && strcmp(set->devices, td_gpu_wanted(options)) == 0;
}

td_status td_gpu_set_open(const td_run_options *options, const char *engine, td_gpu_set **out)
{
    td_cache *cache = options->cache;
    if (cache->gpus != NULL && !is_wanted(cache->gpus, options)) td_cache_release(cache);
    if (cache->gpus == NULL) {
        uint64_t began = td_clock_ns(), before = td_memory().now;
        TD_CHECK(open_set(options, engine, &cache->gpus));
        cache->close = close_set;
        cache->opens++;
        cache->open_seconds += td_seconds_since(began);
        cache->set_bytes = cache->gpus->opened_bytes = td_memory().now - before;
    } else {
        td_gpu_set_note(options); /* what emulated GPUs cache may have made way */
    }
    *out = cache->gpus;
    return TD_OK;
}

/* Launches have allocated memory of emulated GPUs. */
void td_gpu_set_note(const td_run_options *options)
{
    td_cache *cache = options->cache;
    if (cache->gpus == NULL) return;
    cache->set_bytes = cache->gpus->opened_bytes;
    for (int i = 0; i < cache->gpus->count; i++) cache->set_bytes += td_device_idle_bytes(cache->gpus->gpu[i]);
}

void td_gpu_set_drop(const td_run_options *options) { td_cache_release(options->cache); }

int td_gpu_set_evict(const td_run_options *options)
{
    td_gpu_set *set = options->cache->gpus;
    int left = 0;
    for (int i = 0; i < set->count; i++) td_device_bury(set->gpu[i]);
    td_cache_release_layouts(options->cache);
    for (int i = 0; i < set->count; i++)
        if (!td_device_is_lost(set->gpu[i])) set->gpu[left++] = set->gpu[i];
    set->count = left;
    return left;
}

uint64_t td_gpu_set_room(const td_run_options *options, const char *engine)
{
    td_gpu_set *set;
    if (td_gpu_set_open(options, engine, &set) != TD_OK) return 0;
    return td_device_left(set->gpu[0]) + set->gpu[0]->now;
}

/* Caching. */

/* Releases a layout that no run uses, and subtracts its bytes from the GPUs' peaks, which are those of the current run. */
static void release_idle(td_layout *layout)
{
    td_gpu_set *set = layout->cache->gpus;
    for (int i = 0; set != NULL && i < set->count; i++) {
        uint64_t bytes = layout->device_bytes[i];
        set->gpu[i]->peak -= bytes < set->gpu[i]->peak ? bytes : set->gpu[i]->peak;
    }
    td_layout_release(layout);
    for (int i = 0; set != NULL && i < set->count; i++)
        if (set->gpu[i]->peak < set->gpu[i]->now) set->gpu[i]->peak = set->gpu[i]->now;
}

bool td_gpu_make_way(td_cache *cache)
{
    td_layout *oldest = td_cache_oldest(cache);
    if (oldest != NULL) release_idle(oldest);
    return oldest != NULL;
}

static td_status new_state(const td_gpu_layout_kind *kind, const td_graph *graph, td_gpu_set *set, void **out)
{
    void *memory;
    TD_CHECK(td_new_zeroed_bytes(&memory, 1, kind->bytes, "layout on a GPU"));
    td_gpu_layout *cached = memory;
    *cached = (td_gpu_layout){graph, set};
    td_status status = kind->open(cached, set->gpu[0]);
    if (status != TD_OK) kind->release(cached);
    else *out = cached;
    return status;
}

static td_layout *find_layout(td_cache *cache, const td_gpu_layout_kind *kind, const td_graph *graph)
{
    for (int i = 0; i < TD_LAYOUTS; i++) {
        const td_gpu_layout *cached = cache->layouts[i].state;
        if (cached != NULL && cache->layouts[i].release == kind->release && cached->graph == graph)
            return &cache->layouts[i];
    }
    return NULL;
}

/* A free place, or that of the least recently used layout. */
static td_layout *free_place(td_cache *cache)
{
    for (;;) {
        for (int i = 0; i < TD_LAYOUTS; i++)
            if (cache->layouts[i].state == NULL) return &cache->layouts[i];
        if (!td_gpu_make_way(cache)) return NULL;
    }
}

/* Releases the layout before the graph is destroyed: it points into the graph's arrays, some of which are pinned. */
static void graph_gone(td_graph_watch *watch)
{
    release_idle((td_layout *)((char *)watch - offsetof(td_layout, watch)));
}

static td_status make_layout(const td_gpu_layout_kind *kind, const td_graph *graph, td_cache *cache, td_layout **out)
{
    td_gpu_set *set = cache->gpus;
    td_layout *layout = free_place(cache);
    if (layout == NULL) return td_fail(TD_INTERNAL, "%d layouts are in use at once", TD_LAYOUTS);
    if (set->count > 1 && !kind->many)
        td_warn("the %s engine uses one GPU: of {devices} %s, %s", kind->engine, set->devices,
                set->gpu[0]->name);
    *layout = (td_layout){.cache = cache, .engine = kind->engine};
    TD_CHECK(new_state(kind, graph, set, &layout->state));
    layout->release = kind->release;
    *out = layout;
    return TD_OK;
}

static td_status hold(const td_gpu_layout_kind *kind, const td_graph *graph, const td_run_options *options, void **state)
{
    td_cache *cache = options->cache;
    td_gpu_set *set;
    TD_CHECK(td_gpu_set_open(options, kind->engine, &set));
    td_layout *layout = find_layout(cache, kind, graph);
    td_gpu_mark before = td_gpu_layout_mark(options);
    bool fresh = layout == NULL;
    if (fresh) TD_CHECK(make_layout(kind, graph, cache, &layout));
    td_kept_take(&layout->kept); /* the run uses it */
    td_graph_watch_end(&layout->watch);
    layout->in_use = true;
    layout->used = ++cache->uses;
    if (fresh) td_gpu_layout_note(options, &before);
    *state = layout->state;
    return TD_OK;
}

td_status td_gpu_layout_acquire(const td_gpu_layout_kind *kind, const td_graph *graph, const td_run_options *options,
                                void *out)
{
    void *state;
    td_status status = hold(kind, graph, options, &state);
    if (status != TD_OK) td_gpu_set_drop(options);
    else memcpy(out, &state, sizeof state);
    return status;
}

/* Called when memory is short and no run uses the layout. */
static void evict(td_kept *kept) { release_idle((td_layout *)((char *)kept - offsetof(td_layout, kept))); }

void td_gpu_layout_release(const td_run_options *options, bool failed)
{
    td_cache *cache = options->cache;
    if (failed) td_gpu_set_drop(options);
    td_gpu_set_note(options);
    for (int i = 0; i < TD_LAYOUTS; i++) {
        td_layout *layout = &cache->layouts[i];
        if (!layout->in_use) continue;
        layout->in_use = false;
        td_graph_watch_begin(&layout->watch, ((const td_gpu_layout *)layout->state)->graph, &cache->user, graph_gone);
        td_kept_offer(&layout->kept, evict);
    }
}

/* Memory in use, and that of layouts released so far: releasing one does not change a mark. */
static uint64_t host_mark(const td_cache *cache) { return td_memory().now + cache->gone_host; }
static uint64_t device_mark(const td_cache *cache, int i) { return cache->gpus->gpu[i]->now + cache->gone_device[i]; }

td_gpu_mark td_gpu_layout_mark(const td_run_options *options)
{
    const td_cache *cache = options->cache;
    td_gpu_mark mark = {.host = host_mark(cache)};
    for (int i = 0; i < cache->gpus->count; i++) mark.device[i] = device_mark(cache, i);
    return mark;
}

void td_gpu_layout_note(const td_run_options *options, const td_gpu_mark *before)
{
    td_cache *cache = options->cache;
    for (int l = 0; l < TD_LAYOUTS; l++) {
        td_layout *layout = &cache->layouts[l];
        if (!layout->in_use) continue;
        layout->host_bytes += host_mark(cache) - before->host; /* dropped lists: the difference wraps and the sum is right */
        for (int i = 0; i < cache->gpus->count; i++)
            layout->device_bytes[i] += device_mark(cache, i) - before->device[i];
    }
}

uint64_t td_gpu_others_bytes(const td_run_options *options, const td_device *device)
{
    const td_cache *cache = options->cache;
    uint64_t bytes = 0;
    for (int i = 0; cache->gpus != NULL && i < cache->gpus->count; i++)
        for (int l = 0; cache->gpus->gpu[i] == device && l < TD_LAYOUTS; l++)
            bytes += cache->layouts[l].in_use ? 0 : cache->layouts[l].device_bytes[i];
    return bytes;
}
