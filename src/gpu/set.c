/* A session's GPUs, opened once, and the layouts cached on them. */
#include "gpu/set.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stddef.h>
#include <string.h>

const char *td_gpu_wanted(const td_run_options *options)
{
    return options->devices != NULL ? options->devices : "cuda:0";
}

/* Opening and closing. */

static td_status open_devices(td_gpu_set *set, const td_run_options *options, const char *engine)
{
    td_device_options how = {.loop = set->loop, .pool = options->pool, .gpu_memory = options->gpu_memory};
    td_status status = td_devices_open(&set->first, set->devices, &how);
    if (status != TD_OK && options->devices == NULL)
        return td_fail_context(status, "the %s engine needs a GPU ({devices} emu emulates one)", engine);
    return status;
}

static td_status list_gpus(td_gpu_set *set, const char *engine)
{
    for (td_device *device = set->first; device != NULL; device = device->next) {
        if (device->kind == TD_DEVICE_CPU) continue;
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
        TD_CHECK(open_set(options, engine, &cache->gpus));
        cache->close = close_set;
        cache->opens++;
    }
    *out = cache->gpus;
    return TD_OK;
}

void td_gpu_set_drop(const td_run_options *options) { td_cache_release(options->cache); }

uint64_t td_gpu_set_room(const td_run_options *options, const char *engine)
{
    td_gpu_set *set;
    if (td_gpu_set_open(options, engine, &set) != TD_OK) return 0;
    return td_device_left(set->gpu[0]) + set->gpu[0]->now;
}

/* Caching. */

static td_status new_layout(const td_gpu_layout_kind *kind, const td_graph *graph, td_gpu_set *set, void **out)
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

static bool serves(const td_cache *cache, const td_gpu_layout_kind *kind, const td_graph *graph)
{
    const td_gpu_layout *cached = cache->state;
    return cached != NULL && cache->release == kind->release && cached->graph == graph;
}

/* Releases the layout before the graph is destroyed: it points into the graph's arrays, some of which are pinned. */
static void graph_gone(td_graph_watch *watch)
{
    td_cache_release_layout((td_cache *)((char *)watch - offsetof(td_cache, watch)));
}

static td_status hold(const td_gpu_layout_kind *kind, const td_graph *graph, const td_run_options *options)
{
    td_cache *cache = options->cache;
    td_gpu_set *set;
    td_kept_take(&cache->kept); /* the run uses the layout or releases it */
    td_graph_watch_end(&cache->watch);
    TD_CHECK(td_gpu_set_open(options, kind->engine, &set));
    if (serves(cache, kind, graph)) return TD_OK;
    td_cache_release_layout(cache); /* before the next is made: both may not fit */
    if (set->count > 1 && !kind->many)
        td_warn("the %s engine uses one GPU: of {devices} %s, %s", kind->engine, set->devices,
                set->gpu[0]->name);
    TD_CHECK(new_layout(kind, graph, set, &cache->state));
    cache->release = kind->release;
    cache->engine = kind->engine;
    return TD_OK;
}

td_status td_gpu_layout_acquire(const td_gpu_layout_kind *kind, const td_graph *graph, const td_run_options *options,
                                void *out)
{
    td_status status = hold(kind, graph, options);
    if (status != TD_OK) td_gpu_set_drop(options);
    else memcpy(out, &options->cache->state, sizeof options->cache->state);
    return status;
}

/* Called when memory is short and no run uses the layout. */
static void evict(td_kept *kept) { td_cache_release_layout((td_cache *)((char *)kept - offsetof(td_cache, kept))); }

void td_gpu_layout_release(const td_run_options *options, bool failed)
{
    td_cache *cache = options->cache;
    if (failed) td_gpu_set_drop(options);
    if (cache->state == NULL) return;
    td_graph_watch_end(&cache->watch); /* a run that another engine took over did not acquire the layout */
    td_graph_watch_begin(&cache->watch, ((const td_gpu_layout *)cache->state)->graph, graph_gone);
    td_kept_offer(&cache->kept, evict);
}
