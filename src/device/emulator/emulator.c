/* The emulated device: the table of functions behind device.h, its memory, opening and closing. Queued operations wait
 * (queue.c) until virtual time reaches them; a failure is then reported by a later call, as by a real device. */
#include "device/emulator/emulator.h"

#include "base/alloc.h"
#include "device/emulator/code_line.h"
#include "device/emulator/sanitizer.h"
#include "device/kinds.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ZONE = 64 }; /* guard bytes on either side of device memory */

static td_emulator *emulator_of(const td_device *device) { return td_emulator_of(device); }

/* Memory. */

/* Bytes allocated by the device and by slices with the same memory. */
static uint64_t *taken_of(const td_device *device)
{
    td_emu_world *world = emulator_of(device)->world;
    return &world->taken[world->topology.first_slice[emulator_of(device)->number]];
}

static td_status no_room(const td_device *device, uint64_t bytes)
{
    td_refusal refusal = td_device_refusal(device, *taken_of(device) + bytes, device->properties.memory);
    return td_refuse(&refusal, "%s: %llu bytes wanted, %llu of %llu taken", device->name, (unsigned long long)bytes,
                   (unsigned long long)*taken_of(device), (unsigned long long)device->properties.memory);
}

/* New device memory is undefined on a GPU; here it is filled with NaNs that are out of range as integers. */
static void fill_undefined(uint32_t *memory, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof *memory; i++) memory[i] = UINT32_C(0xfff8abab);
}

/* A GPU's memory is taken when it is allocated, and host memory when it is pinned, whether or not it is used then. A
 * kernel that cannot populate a range gives its pages when they are touched. */
static void commit(void *memory, uint64_t bytes)
{
#if defined(MADV_POPULATE_WRITE)
    const uintptr_t page = 4096;
    uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1), end = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (begin < end) (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

static td_status allocate(td_device *device, uint64_t bytes, void **out)
{
    td_status status = TD_OK;
    td_emulator *emulator = emulator_of(device);
    td_regions *regions = &emulator->world->regions;
    td_emu_cell *cells = NULL;
    char *block = NULL, *memory;
    if (bytes > device->properties.memory - *taken_of(device)) return no_room(device, bytes);
    TD_TRY(td_region_expect(regions));
    TD_TRY(TD_NEW(&block, bytes + 2 * ZONE, "emulated device memory"));
    memory = block + ZONE;
    if (emulator->machine.races) {
        TD_TRY(td_watch_cells(&cells, bytes));
        fill_undefined((uint32_t *)(void *)memory, bytes);
    } else {
        commit(memory, bytes);
    }
    uintptr_t begin = (uintptr_t)memory;
    td_region_add(regions, (td_region){.begin = begin, .end = begin + bytes, .device = device, .number = emulator->number, .cells = cells});
    *taken_of(device) += bytes;
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

/* The stream of an operation. */
static td_emu_stream *stream_of(const td_emu_world *world, const td_emu_op *op)
{
    td_emu_stream *stream = world->streams;
    while (stream != NULL && stream->actor != op->actor) stream = stream->next;
    return stream;
}

/* Before memory is freed, the device completes all its work, as in CUDA. Work on that memory whose end the host did not
 * know is reported on its stream. */
static void find_user(td_device *device, uintptr_t begin, uintptr_t end, const char *going)
{
    char words[TD_OP_WORDS], name[TD_EMU_WORDS], place[TD_SITE_WORDS];
    td_emu_world *world = emulator_of(device)->world;
    td_emu_drain(world, device);
    td_emu_drain(world, NULL);
    const td_emu_op *op = td_order_unsynchronized(&world->order, begin, end);
    td_emu_stream *stream = op != NULL ? stream_of(world, op) : NULL;
    if (stream == NULL) return;
    td_site site = td_host_line(device->caller, name, sizeof name);
    td_emu_stream_fail(stream, td_fail(TD_DEVICE, "%s: %llu bytes of %s at %s while %s may still use them: synchronize "
                                       "that stream first", device->name, (unsigned long long)(end - begin), going,
                                       td_site_words(site, place), td_op_describe(op, words)));
}

/* Preserves the caller's failure message, because memory is also freed after failures. */
static void check_unused(td_device *device, uintptr_t begin, uintptr_t end, const char *going)
{
    td_failure kept;
    td_failure_keep(&kept);
    find_user(device, begin, end, going);
    td_failure_set(&kept);
}

static void release(td_device *device, void *memory)
{
    td_region region;
    td_emulator *emulator = emulator_of(device);
    const td_region *found = td_region_find(&emulator->world->regions, (uintptr_t)memory, 0);
    if (memory != NULL && found != NULL && found->device == device)
        check_unused(device, found->begin, found->end, "device memory are freed");
    if (memory == NULL || !td_region_remove(&emulator->world->regions, (uintptr_t)memory, &region)) return;
    *taken_of(device) -= region.end - region.begin;
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
        commit(host, bytes);
        td_region_add(regions, (td_region){.begin = begin, .end = begin + bytes});
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
    check_unused(device, region->begin, region->end, "host memory are unpinned");
    if (--region->pins == 0) td_region_remove(regions, region->begin, &gone);
}

enum { USUAL_THREADS = 256 }; /* typical threads of a block */

static uint64_t host_bytes(td_device *device, uint64_t bytes, bool cooperative)
{
    const td_emu_machine *machine = &emulator_of(device)->machine;
    uint32_t blocks = 1;
    if (cooperative) (void)td_emu_occupancy(device, NULL, USUAL_THREADS, 0, &blocks);
    return sizeof(td_emu_world) + bytes + (machine->races ? td_watch_cells_bytes(bytes) + td_order_bytes() : 0) +
           td_emu_machine_bytes(machine, blocks, USUAL_THREADS);
}

static uint64_t idle_bytes(td_device *device)
{
    const td_emu_machine *machine = &emulator_of(device)->machine;
    uint32_t blocks = machine->blocks_room;
    return blocks == 0 ? 0 : td_emu_machine_bytes(machine, blocks, machine->threads_room / blocks);
}

static uint64_t host_until(td_device *device, uint64_t began, uint64_t bytes)
{
    return began + (uint64_t)((double)bytes / emulator_of(device)->world->topology.gather_rate);
}

static void host_worked(td_device *device, uint64_t bytes)
{
    td_emu_world *world = emulator_of(device)->world;
    world->host_now = host_until(device, td_emu_host_now(world), bytes);
}

static bool supports(const td_device *device, td_feature feature)
{
    (void)device;
    return feature == TD_FEATURE_COOPERATIVE || feature == TD_FEATURE_HOST_READS || feature == TD_FEATURE_SORT;
}

static uint64_t now(td_device *device) { return td_emu_host_now(emulator_of(device)->world); }

td_emulator_counts td_emulator_counted(const td_device *device) { return emulator_of(device)->counts; }

static int counters(const td_device *device, td_counter *out)
{
    const td_emulator_counts *c = &emulator_of(device)->counts;
    const td_counter all[] = {{"blocks", c->blocks}, {"threads", c->threads}, {"barriers", c->barriers},
                              {"grid_barriers", c->grid_barriers}, {"set_barriers", c->set_barriers},
                              {"exchanges", c->exchanges},
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
    td_emu_queue_close(world);
    td_order_close(&world->order);
    td_stale_close(&world->stale);
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

/* A lost device's work and the others' ends before its memory is gone: a kernel that follows garbage would touch any
 * memory of the host. */
static void drain(td_device *device) { td_emu_drain(emulator_of(device)->world, NULL); }

static void poison(td_device *device, void *memory, uint64_t bytes)
{
    (void)device;
    memset(memory, 0xa5, bytes);
}

static const td_device_ops ops = {
    .close = close_device, .allocate = allocate, .release = release, .pin = pin, .unpin = unpin,
    .stream_open = td_emu_stream_open, .stream_close = td_emu_stream_close, .copy = td_emu_copy, .fill = td_emu_fill,
    .launch = td_emu_launch, .notify = td_emu_notify, .record = td_emu_record, .wait = td_emu_wait_event,
    .event_destroy = td_emu_event_destroy, .synchronize = td_emu_stream_synchronize,
    .ended = td_emu_stream_ended, .occupancy = td_emu_occupancy,
    .sort = td_emu_sort, .sort_bytes = td_emu_sort_bytes, .scan = td_emu_scan, .scan_bytes = td_emu_scan_bytes,
    .supports = supports, .link = td_emu_link, .enable_peer = td_emu_enable_peer, .copy_peer = td_emu_copy_peer,
    .launch_joint = td_emu_launch_joint, .joint_threads = td_emu_joint_threads, .link_counts = td_emu_link_counts,
    .counters = counters, .now = now, .host_bytes = host_bytes, .idle_bytes = idle_bytes,
    .host_worked = host_worked, .host_until = host_until, .drain = drain, .poison = poison};

/* "emu:1", "emu:0/8#3": as GPUs and their slices are named. */
static void give_name(td_device *device, const td_topology *topology, int number)
{
    int first = topology->first_slice[number], gpu = 0;
    for (int i = 0; i < first; i += topology->slices[i]) gpu++;
    if (topology->slices[number] == 1) snprintf(device->name, sizeof device->name, "emu:%d", gpu);
    else snprintf(device->name, sizeof device->name, "emu:%d/%d#%d", gpu, topology->slices[number], number - first);
}

/* Slices share the GPU's memory evenly, even without a limit, as on CUDA. */
static uint64_t budget_of(const td_topology *topology, int number, uint64_t gpu_memory)
{
    int slices = topology->slices[number];
    if (slices == 1) return gpu_memory;
    return (gpu_memory > 0 ? gpu_memory : topology->gpu[number].memory) / (uint64_t)slices;
}

static void describe(td_device *device, const td_gpu_model *gpu)
{
    device->ops = &ops;
    device->kind = TD_DEVICE_EMULATOR;
    snprintf(device->properties.model, sizeof device->properties.model, "%s", gpu->model);
    device->properties.memory = device->properties.memory_free = gpu->memory;
    device->properties.cache = gpu->cache;
    device->properties.multiprocessors = (int)gpu->multiprocessors;
    device->properties.block_threads = (int)gpu->block_threads;
    device->properties.shared_bytes = gpu->shared_bytes;
    device->properties.cluster = gpu->cluster;
    device->properties.cooperative = device->properties.reads_host = true;
}

/* What follows from the world's topology alone. */
static void describe_machine(td_emulator *emulator, td_device *device, td_emu_world *world, int number)
{
    const td_topology *topology = &world->topology;
    const td_gpu_model *gpu = &topology->gpu[number];
    describe(device, gpu);
    give_name(device, topology, number);
    device->state = emulator;
    emulator->world = world;
    emulator->number = number;
    emulator->machine.device = device;
    emulator->machine.races = topology->races;
    emulator->machine.patience = topology->patience;
    emulator->machine.shared_limit = (uint32_t)gpu->shared_bytes;
    emulator->machine.arena_bytes =
        (uint32_t)gpu->shared_bytes + (TD_EMU_SHARED_SITES + 1) * (TD_EMU_CANARY + 16);
}

td_status td_emulator_host_bytes(const char *topology, uint64_t bytes, bool cooperative, uint64_t *out)
{
    td_status status = TD_OK;
    td_emu_world *world = NULL;
    td_emulator *emulator = NULL;
    td_device device = {0};
    TD_TRY(TD_NEW_ZEROED(&world, 1, "emulator"));
    TD_TRY(TD_NEW_ZEROED(&emulator, 1, "emulated device"));
    if (topology == NULL) td_topology_default(&world->topology);
    else TD_TRY(td_topology_open(&world->topology, topology));
    describe_machine(emulator, &device, world, 0);
    *out = host_bytes(&device, bytes, cooperative);
done:
    td_free(world);
    td_free(emulator);
    return status;
}

static td_status open_one(td_device **out, td_emu_world *world, int number, const td_device_options *options)
{
    td_device *device = NULL;
    td_emulator *emulator = NULL;
    TD_CHECK(TD_NEW_ZEROED(&device, 1, "emulated device"));
    td_status made = TD_NEW_ZEROED(&emulator, 1, "emulated device");
    if (made != TD_OK) {
        td_free(device);
        return made;
    }
    describe_machine(emulator, device, world, number);
    device->loop = options->loop;
    device->budget = budget_of(&world->topology, number, options->gpu_memory);
    emulator->machine.regions = &world->regions;
    emulator->machine.order = &world->order;
    emulator->machine.stale = &world->stale;
    for (int i = 0; i < TD_EMULATED_DEVICES; i++)
        emulator->machine.peer_rate[i] = world->topology.between[i][number].rate;
    emulator->machine.first_slice = world->topology.first_slice[number];
    emulator->machine.slices = world->topology.slices[number];
    emulator->machine.seed = options->seed + (uint64_t)number;
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
    world->open = 1; /* this function's reference, until devices have theirs */
    if (topology == NULL) td_topology_default(&world->topology);
    else TD_TRY(td_topology_open(&world->topology, topology));
    if (count > world->topology.devices)
        TD_TRY(td_fail(TD_USAGE, "%d emulated devices; topology '%s' has %d GPUs", count, world->topology.name,
                       world->topology.devices));
    TD_TRY(td_order_open(&world->order, &world->regions, world->topology.races || world->topology.remote_delay > 0,
                         world->topology.races));
    TD_TRY(td_stale_open(&world->stale, world->topology.remote_delay, options->seed));
    td_emu_queue_open(world, options->loop);
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
