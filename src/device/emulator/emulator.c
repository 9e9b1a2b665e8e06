/* The emulated device: the table of functions behind device.h. Work is done when
 * it is queued; when it ends is a matter of the virtual clock (clock.c). What goes
 * wrong in it is told as a real device would, by a later call. */
#include "device/emulator/emulator.h"

#include "base/alloc.h"
#include "device/emulator/sanitizer.h"
#include "device/kinds.h"

#include <stdio.h>
#include <string.h>

enum { ZONE = 64 }; /* bytes on either side of device memory that are nobody's */

static td_emulator *emulator_of(const td_device *device) { return device->state; }
static td_emu_stream *own(td_stream *stream) { return (td_emu_stream *)stream; }

static const td_gpu_model *gpu_of(const td_device *device)
{
    const td_emulator *emulator = emulator_of(device);
    return &emulator->world->topology.gpu[emulator->number];
}

/* The host's time: that of the completion it handles, or of the last finish, whichever is later. */
static uint64_t host_now(td_device *device)
{
    td_emu_world *world = emulator_of(device)->world;
    uint64_t handled = device->loop != NULL ? td_loop_time(device->loop) : 0;
    if (handled > world->host_now) world->host_now = handled;
    return world->host_now;
}

static uint64_t earliest(td_emu_stream *stream)
{
    uint64_t now = host_now(stream->stream.device);
    return stream->at > now ? stream->at : now;
}

void td_emu_stream_work(td_emu_stream *stream, double duration_ns)
{
    td_emulator *emulator = emulator_of(stream->stream.device);
    stream->at = td_unit_take(&emulator->kernels_at, earliest(stream), duration_ns);
}

td_status td_emu_stream_check(td_emu_stream *stream)
{
    td_status status = stream->status;
    stream->status = TD_OK;
    return status == TD_OK ? TD_OK : td_fail(status, "%s", stream->message);
}

static void keep_failure(td_emu_stream *stream, td_status status)
{
    stream->status = status;
    snprintf(stream->message, sizeof stream->message, "%s", td_last_message());
}

/* Memory. */

static td_status no_room(const td_device *device, uint64_t bytes)
{
    return td_fail(TD_NO_MEMORY, "%s: %llu bytes wanted, %llu of %llu taken", device->name, (unsigned long long)bytes,
                   (unsigned long long)emulator_of(device)->taken, (unsigned long long)device->properties.memory);
}

/* A GPU's memory holds whatever was there before: here, what is a NaN and out of every range. */
static void fill_undefined(uint32_t *memory, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof *memory; i++) memory[i] = UINT32_C(0xfff8abab);
}

static td_status allocate(td_device *device, uint64_t bytes, void **out)
{
    td_status status = TD_OK;
    td_emulator *emulator = emulator_of(device);
    td_regions *regions = &emulator->world->regions;
    td_emu_cell *cells = NULL;
    char *block = NULL, *memory;
    if (bytes > device->properties.memory - emulator->taken) return no_room(device, bytes);
    TD_TRY(td_region_expect(regions));
    TD_TRY(TD_NEW(&block, bytes + 2 * ZONE, "emulated device memory"));
    memory = block + ZONE;
    if (emulator->machine.races) {
        TD_TRY(td_watch_cells(&cells, bytes));
        fill_undefined((uint32_t *)(void *)memory, bytes);
    }
    uintptr_t begin = (uintptr_t)memory;
    td_region_add(regions, (td_region){begin, begin + bytes, device, emulator->number, 0, cells});
    emulator->taken += bytes;
    TD_FORBID(block, ZONE);
    TD_FORBID(memory + bytes, ZONE);
    *out = memory;
done:
    if (status != TD_OK) {
        td_free(cells);
        td_free(block);
    }
    return status;
}

static void release(td_device *device, void *memory)
{
    td_region region;
    td_emulator *emulator = emulator_of(device);
    if (memory == NULL || !td_region_remove(&emulator->world->regions, (uintptr_t)memory, &region)) return;
    emulator->taken -= region.end - region.begin;
    char *block = (char *)memory - ZONE;
    TD_ALLOW(block, region.end - region.begin + 2 * ZONE);
    td_free(region.cells);
    td_free(block);
}

/* The same memory may be pinned for several devices; they all see it, at the host's address. */
static td_status pin(td_device *device, void *host, uint64_t bytes, void **seen)
{
    td_regions *regions = &emulator_of(device)->world->regions;
    uintptr_t begin = (uintptr_t)host;
    td_region *region = td_region_find(regions, begin, bytes);
    bool again = region != NULL && region->device == NULL && region->begin == begin && region->end == begin + bytes;
    if (!again && td_region_overlaps(regions, begin, bytes))
        return td_fail(TD_DEVICE, "%s: some of %llu bytes to be pinned are already pinned, or the device's",
                       device->name, (unsigned long long)bytes);
    if (!again) {
        TD_CHECK(td_region_expect(regions));
        td_region_add(regions, (td_region){begin, begin + bytes, NULL, 0, 0, NULL});
        region = td_region_find(regions, begin, bytes);
    }
    if (region != NULL) region->pins++;
    *seen = host;
    return TD_OK;
}

static void unpin(td_device *device, void *host)
{
    td_regions *regions = &emulator_of(device)->world->regions;
    td_region *region = td_region_find(regions, (uintptr_t)host, 0), gone;
    if (region == NULL || region->begin != (uintptr_t)host || region->device != NULL) return;
    if (--region->pins == 0) td_region_remove(regions, region->begin, &gone);
}

td_status td_emu_check_range(const td_device *device, const void *memory, uint64_t bytes, const char *what)
{
    char words[TD_EMU_WORDS];
    const td_regions *regions = &emulator_of(device)->world->regions;
    const td_region *region = td_region_find(regions, (uintptr_t)memory, bytes);
    if (bytes == 0 || (region != NULL && region->device == device)) return TD_OK;
    if (region != NULL && region->device != NULL)
        return td_fail(TD_DEVICE, "%s: %s: %llu bytes of the memory of %s", device->name, what,
                       (unsigned long long)bytes, region->device->name);
    if (region != NULL)
        return td_fail(TD_DEVICE, "%s: %s: %llu bytes of host memory", device->name, what, (unsigned long long)bytes);
    return td_fail(TD_DEVICE, "%s: %s: %llu bytes %s", device->name, what, (unsigned long long)bytes,
                   td_region_describe(regions, (uintptr_t)memory, words));
}

/* Streams. */

/* Patient or not: streams take turns by their clocks. */
static td_status stream_open(td_device *device, bool low_priority, td_stream **out)
{
    (void)low_priority;
    td_emu_stream *stream = NULL;
    TD_CHECK(TD_NEW_ZEROED(&stream, 1, "stream"));
    stream->stream.device = device;
    stream->at = host_now(device);
    *out = &stream->stream;
    return TD_OK;
}

static void stream_close(td_stream *stream) { td_free(stream); }

/* Through the host link: a pageable copy is slower. */
static void host_copy(td_emu_stream *stream, const void *host, uint64_t bytes, bool to_device)
{
    td_emulator *emulator = emulator_of(stream->stream.device);
    td_topology *topology = &emulator->world->topology;
    int number = topology->host_link[emulator->number];
    td_link_model *link = to_device ? &topology->to_device[number] : &topology->to_host[number];
    const td_region *pinned = td_region_find(&emulator->world->regions, (uintptr_t)host, bytes);
    double rate = pinned != NULL && pinned->device == NULL ? link->rate : link->rate * topology->pageable_share;
    stream->at = td_unit_take(&link->free_at, earliest(stream), link->latency_ns + (double)bytes / rate);
}

/* From another GPU: through the link between them or, without one, through the host. */
static void peer_copy(td_emu_stream *stream, int from, int to, uint64_t bytes)
{
    td_topology *topology = &emulator_of(stream->stream.device)->world->topology;
    td_link_model *link = &topology->between[from][to];
    if (link->rate > 0) {
        stream->at = td_unit_take(&link->free_at, earliest(stream), link->latency_ns + (double)bytes / link->rate);
        return;
    }
    td_link_model *up = &topology->to_host[topology->host_link[from]];
    td_link_model *down = &topology->to_device[topology->host_link[to]];
    stream->at = td_unit_take(&up->free_at, earliest(stream), up->latency_ns + (double)bytes / up->rate);
    stream->at = td_unit_take(&down->free_at, stream->at, down->latency_ns + (double)bytes / down->rate);
}

static td_status device_copy(td_emu_stream *stream, const void *to, const void *from, uint64_t bytes)
{
    td_device *device = stream->stream.device;
    const td_regions *regions = &emulator_of(device)->world->regions;
    const td_region *source = td_region_find(regions, (uintptr_t)from, bytes);
    const td_region *target = td_region_find(regions, (uintptr_t)to, bytes);
    if (source == NULL || source->device == NULL || target == NULL || target->device == NULL) {
        TD_CHECK(td_emu_check_range(device, from, bytes, "copied from"));
        return td_emu_check_range(device, to, bytes, "copied to");
    }
    if (source->device == target->device) {
        td_emu_stream_work(stream, gpu_of(device)->launch_ns + 2.0 * (double)bytes / gpu_of(device)->memory_rate);
        return TD_OK;
    }
    peer_copy(stream, emulator_of(source->device)->number, emulator_of(target->device)->number, bytes);
    return TD_OK;
}

static td_status copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind)
{
    TD_CHECK(td_emu_stream_check(own(stream)));
    if (bytes == 0) return TD_OK;
    if (kind == TD_TO_DEVICE) TD_CHECK(td_emu_check_range(stream->device, to, bytes, "copied to"));
    if (kind == TD_TO_HOST) TD_CHECK(td_emu_check_range(stream->device, from, bytes, "copied from"));
    if (kind == TD_ON_DEVICE) TD_CHECK(device_copy(own(stream), to, from, bytes));
    else host_copy(own(stream), kind == TD_TO_DEVICE ? from : to, bytes, kind == TD_TO_DEVICE);
    memmove(to, from, bytes);
    return TD_OK;
}

static td_status fill(td_stream *stream, void *to, int byte, uint64_t bytes)
{
    TD_CHECK(td_emu_stream_check(own(stream)));
    TD_CHECK(td_emu_check_range(stream->device, to, bytes, "filled"));
    memset(to, byte, bytes);
    const td_gpu_model *gpu = gpu_of(stream->device);
    td_emu_stream_work(own(stream), gpu->launch_ns + (double)bytes / gpu->memory_rate);
    return TD_OK;
}

static void count(td_emulator *emulator, const td_emu_work *work, double duration_ns)
{
    td_emulator_counts *all = &emulator->counts;
    all->launches++;
    all->blocks += work->blocks;
    all->threads += work->threads;
    all->barriers += work->barriers;
    all->grid_barriers += work->grid_barriers;
    all->exchanges += work->exchanges;
    all->bytes_read += work->bytes_read;
    all->bytes_written += work->bytes_written;
    all->host_bytes += work->host_bytes;
    all->peer_bytes += work->peer_bytes;
    all->accesses += work->accesses;
    all->atomics += work->atomics;
    all->shared_accesses += work->shared_accesses;
    all->kernel_ns += (uint64_t)duration_ns;
}

static td_status occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                     uint32_t *blocks)
{
    (void)kernel;
    const td_gpu_model *gpu = gpu_of(device);
    uint64_t most = 0;
    if (threads > 0 && threads <= gpu->block_threads && shared_bytes <= gpu->shared_bytes) {
        uint64_t each = gpu->resident_threads / threads;
        if (shared_bytes > 0 && gpu->shared_bytes / shared_bytes < each) each = gpu->shared_bytes / shared_bytes;
        most = (each > 0 ? each : 1) * gpu->multiprocessors;
        if (most > TD_FIBERS_MOST / threads) most = TD_FIBERS_MOST / threads;
    }
    *blocks = (uint32_t)most;
    return TD_OK;
}

enum { USUAL_THREADS = 256 }; /* of a block */

static uint64_t host_bytes(td_device *device, uint64_t bytes, bool cooperative)
{
    const td_emu_machine *machine = &emulator_of(device)->machine;
    uint32_t blocks = 1;
    if (cooperative) (void)occupancy(device, NULL, USUAL_THREADS, 0, &blocks);
    return sizeof(td_emu_world) + bytes + (machine->races ? td_watch_cells_bytes(bytes) : 0) +
           td_emu_machine_bytes(machine, blocks, USUAL_THREADS);
}

/* Kernels hardly leave the first page of their stacks, and few launches have all blocks that could run at once: a guess
 * is half of them. */
static uint64_t stack_bytes(td_device *device, bool cooperative)
{
    const uint64_t page = 4096;
    uint32_t blocks = 1;
    if (cooperative) (void)occupancy(device, NULL, USUAL_THREADS, 0, &blocks);
    return (blocks + 1) / 2 * USUAL_THREADS * page;
}

static td_status check_cooperative(td_device *device, const td_kernel *kernel, const td_launch *shape)
{
    uint32_t most = 0;
    TD_CHECK(occupancy(device, kernel, shape->threads, shape->shared_bytes, &most));
    if (!shape->cooperative || shape->blocks <= most) return TD_OK;
    return td_fail(TD_DEVICE, "%s, kernel %s: %u blocks of %u threads in a cooperative launch; %u run at once", device->name,
                   kernel->name, shape->blocks, shape->threads, most);
}

static td_status launch(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                        size_t bytes)
{
    td_emu_work work = {0};
    td_emulator *emulator = emulator_of(stream->device);
    const td_topology *topology = &emulator->world->topology;
    TD_CHECK(td_emu_stream_check(own(stream)));
    td_status status = check_cooperative(stream->device, kernel, shape);
    if (status == TD_OK) status = td_emu_machine_launch(&emulator->machine, kernel, shape, arguments, bytes, &work);
    double rate = topology->to_device[topology->host_link[emulator->number]].rate;
    double duration = td_model_launch_ns(gpu_of(stream->device), &work, rate);
    td_emu_stream_work(own(stream), duration);
    count(emulator, &work, duration);
    if (status == TD_DEVICE) keep_failure(own(stream), status);
    return status == TD_DEVICE ? TD_OK : status;
}

static td_status notify(td_stream *stream, td_handler handler, void *context, uint64_t value)
{
    td_device *device = stream->device;
    uint64_t time = earliest(own(stream)) + (uint64_t)gpu_of(device)->synchronize_ns;
    if (device->loop == NULL) return td_fail(TD_INVALID, "%s: completions need an event loop", device->name);
    td_loop_expect(device->loop);
    td_loop_complete(device->loop, time > 0 ? time : 1, handler, context, td_emu_stream_check(own(stream)), value);
    return TD_OK;
}

struct td_event {
    uint64_t at;
};

static td_status record(td_stream *stream, td_event **out)
{
    TD_CHECK(td_emu_stream_check(own(stream)));
    TD_CHECK(TD_NEW(out, 1, "event"));
    (*out)->at = own(stream)->at;
    return TD_OK;
}

static td_status wait_for(td_stream *stream, td_event *event)
{
    TD_CHECK(td_emu_stream_check(own(stream)));
    if (event->at > own(stream)->at) own(stream)->at = event->at;
    return TD_OK;
}

static void event_destroy(td_event *event) { td_free(event); }

static uint64_t host_until(td_device *device, uint64_t began, uint64_t bytes)
{
    return began + (uint64_t)((double)bytes / emulator_of(device)->world->topology.gather_rate);
}

static void host_worked(td_device *device, uint64_t bytes)
{
    emulator_of(device)->world->host_now = host_until(device, host_now(device), bytes);
}

static td_status synchronize(td_stream *stream)
{
    td_emu_world *world = emulator_of(stream->device)->world;
    world->host_now = earliest(own(stream)) + (uint64_t)gpu_of(stream->device)->synchronize_ns;
    return td_emu_stream_check(own(stream));
}

static bool supports(const td_device *device, td_feature feature)
{
    (void)device;
    return feature == TD_FEATURE_COOPERATIVE || feature == TD_FEATURE_HOST_READS || feature == TD_FEATURE_SORT;
}

static uint64_t now(td_device *device) { return host_now(device); }

td_emulator_counts td_emulator_counted(const td_device *device) { return emulator_of(device)->counts; }

static int counters(const td_device *device, td_counter *out)
{
    const td_emulator_counts *c = &emulator_of(device)->counts;
    const td_counter all[] = {{"blocks", c->blocks}, {"threads", c->threads}, {"barriers", c->barriers},
                              {"grid_barriers", c->grid_barriers}, {"exchanges", c->exchanges},
                              {"bytes_read", c->bytes_read}, {"bytes_written", c->bytes_written},
                              {"host_bytes", c->host_bytes}, {"peer_bytes", c->peer_bytes}, {"accesses", c->accesses},
                              {"atomics", c->atomics}, {"shared_accesses", c->shared_accesses},
                              {"kernel_ns", c->kernel_ns}};
    _Static_assert(sizeof all <= TD_COUNTERS * sizeof *all, "there is room for all counters");
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Opening and closing. */

static void leave_world(td_emu_world *world)
{
    if (--world->open > 0) return;
    td_regions_close(&world->regions);
    td_free(world);
}

static void close_device(td_device *device)
{
    td_emulator *emulator = emulator_of(device);
    td_regions *regions = &emulator->world->regions;
    for (uint64_t i = regions->count; i-- > 0;) {
        if (regions->list[i].device == device) release(device, (void *)regions->list[i].begin);
    }
    td_emu_machine_close(&emulator->machine);
    leave_world(emulator->world);
    td_free(emulator);
}

static const td_device_ops ops = {
    .close = close_device, .allocate = allocate, .release = release, .pin = pin, .unpin = unpin,
    .stream_open = stream_open, .stream_close = stream_close, .copy = copy, .fill = fill, .launch = launch,
    .notify = notify, .record = record, .wait = wait_for, .event_destroy = event_destroy, .synchronize = synchronize,
    .occupancy = occupancy,
    .sort = td_emu_sort, .sort_bytes = td_emu_sort_bytes, .scan = td_emu_scan, .scan_bytes = td_emu_scan_bytes,
    .supports = supports, .counters = counters, .now = now, .host_bytes = host_bytes, .stack_bytes = stack_bytes,
    .host_worked = host_worked,
    .host_until = host_until};

static void describe(td_device *device, const td_gpu_model *gpu, int number)
{
    device->ops = &ops;
    device->kind = TD_DEVICE_EMULATOR;
    snprintf(device->name, sizeof device->name, "emu:%d", number);
    snprintf(device->properties.model, sizeof device->properties.model, "%s", gpu->model);
    device->properties.memory = device->properties.memory_free = gpu->memory;
    device->properties.cache = gpu->cache;
    device->properties.multiprocessors = (int)gpu->multiprocessors;
    device->properties.block_threads = (int)gpu->block_threads;
    device->properties.shared_bytes = gpu->shared_bytes;
    device->properties.cooperative = device->properties.reads_host = true;
}

static td_status open_one(td_device **out, td_emu_world *world, int number, const td_device_options *options)
{
    td_device *device = NULL;
    td_emulator *emulator = NULL;
    const td_gpu_model *gpu = &world->topology.gpu[number];
    TD_CHECK(TD_NEW_ZEROED(&device, 1, "emulated device"));
    td_status made = TD_NEW_ZEROED(&emulator, 1, "emulated device");
    if (made != TD_OK) {
        td_free(device);
        return made;
    }
    describe(device, gpu, number);
    device->loop = options->loop;
    device->budget = options->gpu_memory;
    device->state = emulator;
    emulator->world = world;
    emulator->number = number;
    emulator->machine.device = device;
    emulator->machine.regions = &world->regions;
    emulator->machine.races = world->topology.races;
    emulator->machine.patience = world->topology.patience;
    for (int i = 0; i < TD_EMULATED_DEVICES; i++)
        emulator->machine.peer_rate[i] = world->topology.between[i][number].rate;
    emulator->machine.seed = options->seed + (uint64_t)number;
    emulator->machine.shared_limit = (uint32_t)gpu->shared_bytes;
    emulator->machine.arena_bytes =
        (uint32_t)gpu->shared_bytes + (TD_EMU_SHARED_SITES + 1) * (TD_EMU_CANARY + 16);
    world->open++;
    *out = device;
    return TD_OK;
}

td_status td_emulator_open(td_device **out, int count, const char *topology, const td_device_options *options)
{
    td_status status = TD_OK;
    td_device *first = NULL, **last = &first;
    td_emu_world *world = NULL;
    TD_CHECK(TD_NEW_ZEROED(&world, 1, "emulator"));
    world->open = 1; /* ours, until the devices hold it */
    if (topology == NULL) td_topology_default(&world->topology);
    else TD_TRY(td_topology_open(&world->topology, topology));
    if (count > world->topology.devices)
        TD_TRY(td_fail(TD_USAGE, "%d emulated devices; topology '%s' has %d GPUs", count, world->topology.name,
                       world->topology.devices));
    for (int i = 0; i < count; i++) {
        TD_TRY(open_one(last, world, i, options));
        last = &(*last)->next;
    }
    *out = first;
done:
    leave_world(world);
    if (status == TD_OK) return TD_OK;
    for (td_device *next; first != NULL; first = next) {
        next = first->next;
        close_device(first);
        td_free(first);
    }
    return status;
}
