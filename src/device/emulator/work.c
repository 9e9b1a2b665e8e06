/* What streams are given, checked when it is queued, and what it does when its time has come: launches, fills,
 * copies. */
#include "device/emulator/emulator.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static td_emu_world *world_of(const td_emu_stream *stream) { return td_emulator_of(stream->stream.device)->world; }

static const td_gpu_model *gpu_of(const td_device *device)
{
    const td_emulator *emulator = td_emulator_of(device);
    return &emulator->world->topology.gpu[emulator->number];
}

/* Memory that a slice allocated is that of the other slices of its GPU too. */
static bool is_own_memory(const td_device *device, const td_region *region)
{
    const td_emulator *emulator = td_emulator_of(device);
    if (region == NULL || region->device == NULL) return false;
    return td_topology_same_memory(&emulator->world->topology, region->number, emulator->number);
}

td_status td_emu_check_range(const td_device *device, const void *memory, uint64_t bytes, const char *what)
{
    char words[TD_EMU_WORDS];
    const td_regions *regions = &td_emulator_of(device)->world->regions;
    const td_region *region = td_region_find(regions, (uintptr_t)memory, bytes);
    if (bytes == 0 || is_own_memory(device, region)) return TD_OK;
    if (region != NULL && region->device != NULL)
        return td_fail(TD_DEVICE, "%s: %s: %llu bytes of the memory of %s", device->name, what,
                       (unsigned long long)bytes, region->device->name);
    if (region != NULL)
        return td_fail(TD_DEVICE, "%s: %s: %llu bytes of host memory", device->name, what, (unsigned long long)bytes);
    return td_fail(TD_DEVICE, "%s: %s: %llu bytes %s", device->name, what, (unsigned long long)bytes,
                   td_region_describe(regions, (uintptr_t)memory, words));
}

/* Launches. */

td_status td_emu_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
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

static td_status check_cooperative(td_device *device, const td_kernel *kernel, const td_launch *shape)
{
    uint32_t most = 0;
    TD_CHECK(td_emu_occupancy(device, kernel, shape->threads, shape->shared_bytes, &most));
    if (!shape->cooperative || shape->blocks <= most) return TD_OK;
    return td_fail(TD_DEVICE, "%s, kernel %s: %u blocks of %u threads in a cooperative launch; %u run at once",
                   device->name, kernel->name, shape->blocks, shape->threads, most);
}

td_status td_emu_launch(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                        size_t bytes)
{
    TD_CHECK(td_emu_stream_check(td_emu_stream_of(stream)));
    td_emu_entry what = {.kind = TD_EMU_LAUNCH, .kernel = *kernel, .shape = *shape, .bytes = bytes};
    return td_emu_queue(td_emu_stream_of(stream), &what, arguments, bytes);
}

void td_emu_count(td_emulator *emulator, const td_emu_work *work, double duration_ns)
{
    td_emulator_counts *all = &emulator->counts;
    all->launches++;
    all->blocks += work->blocks;
    all->threads += work->threads;
    all->barriers += work->barriers;
    all->grid_barriers += work->grid_barriers;
    all->set_barriers += work->set_barriers;
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

/* Pinned memory has no cells: what a kernel read or wrote of it is known as one range, where it touched most of that. */
static void add_hull(td_emu_world *world, const td_hull *hull, uint32_t tick, td_emu_span_kind kind)
{
    if (hull->bytes == 0 || hull->bytes < (hull->end - hull->begin) / 2) return;
    td_order_add_span(&world->order, (td_emu_span){.begin = hull->begin, .end = hull->end, .tick = tick, .kind = kind});
}

/* Which regions the kernel touched, for those who free them. */
void td_emu_note_regions(td_emu_world *world, const td_emu_op *op)
{
    for (uint64_t i = 0; world->order.on && i < world->regions.count; i++) {
        const td_region *region = &world->regions.list[i];
        if (region->used < op->tick) continue;
        td_order_add_span(&world->order, (td_emu_span){.begin = region->begin, .end = region->end, .tick = op->tick, .kind = TD_EMU_KERNEL});
        add_hull(world, &region->reads, op->tick, TD_EMU_READS);
        add_hull(world, &region->writes, op->tick, TD_EMU_WRITES);
    }
}

/* It has ended, or is paused. */
static void end_launch(td_emu_stream *stream, const td_emu_work *work, double *duration)
{
    td_device *device = stream->stream.device;
    td_emulator *emulator = td_emulator_of(device);
    const td_topology *topology = &emulator->world->topology;
    stream->paused = emulator->machine.paused;
    emulator->paused = stream->paused ? stream : NULL;
    if (stream->paused) return;
    td_emu_note_regions(emulator->world, &stream->op);
    double rate = topology->to_device[topology->host_link[emulator->number]].rate;
    *duration = td_model_launch_ns(gpu_of(device), work, rate);
    td_emu_count(emulator, work, *duration);
}

td_status td_emu_do_launch(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    td_emu_work work = {0};
    td_device *device = stream->stream.device;
    td_emu_machine *machine = &td_emulator_of(device)->machine;
    td_status status = check_cooperative(device, &entry->kernel, &entry->shape);
    const td_emu_op *op = td_emu_operate(stream, entry, entry->kernel.name);
    if (op != NULL) stream->op = *op;
    machine->seen = stream->seen;
    machine->stream = stream->number;
    machine->actor = stream->actor;
    machine->may_pause = op != NULL ? td_emu_may_pause : NULL;
    machine->paused = false;
    machine->beside = td_emu_any_paused(world_of(stream));
    machine->began_ns = stream->at;
    if (status == TD_OK)
        status = td_emu_machine_launch(machine, &entry->kernel, &entry->shape, td_emu_payload(entry), entry->bytes,
                                       &work);
    end_launch(stream, &work, duration);
    return status;
}

td_status td_emu_resume_launch(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    (void)entry;
    td_emu_work work = {0};
    td_emulator *emulator = td_emulator_of(stream->stream.device);
    uint32_t tick = stream->op.tick;
    td_order_resume(&emulator->world->order, stream->seen, &stream->op);
    stream->op.tick = tick; /* it began with the first */
    td_status status = td_emu_machine_resume(&emulator->machine, &work);
    end_launch(stream, &work, duration);
    return status;
}

/* Fills. */

td_status td_emu_fill(td_stream *stream, void *to, int byte, uint64_t bytes)
{
    TD_CHECK(td_emu_stream_check(td_emu_stream_of(stream)));
    TD_CHECK(td_emu_check_range(stream->device, to, bytes, "filled"));
    td_emu_entry what = {.kind = TD_EMU_FILL, .to = to, .byte = byte, .bytes = bytes};
    return td_emu_queue(td_emu_stream_of(stream), &what, NULL, 0);
}

td_status td_emu_do_fill(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    const td_gpu_model *gpu = gpu_of(stream->stream.device);
    const td_emu_op *op = td_emu_operate(stream, entry, "fill");
    *duration = gpu->launch_ns + (double)entry->bytes / gpu->memory_rate;
    TD_CHECK(td_order_touch(&world_of(stream)->order, stream->seen, op, stream->stream.device, entry->to, entry->bytes,
                            TD_EMU_WRITES));
    memset(entry->to, entry->byte, entry->bytes);
    return TD_OK;
}

/* Copies. */

static int number_of(const td_region *region) { return region != NULL && region->device != NULL ? region->number : -1; }

enum { CAPTURED = 64 << 10 }; /* bytes */

/* The host refilled a buffer before it knew that the earlier copy from it had ended. */
static td_status check_reused(td_emu_stream *stream, const td_emu_entry *what)
{
    char words[TD_OP_WORDS];
    const td_emu_op *op = td_order_changed_source(&world_of(stream)->order, what->from, what->bytes, what->digest);
    if (op == NULL) return TD_OK;
    return td_fail(TD_DEVICE, "%s: race with the host: it changed %llu bytes of host memory that %s may still read; "
                   "synchronize that stream, or wait for a completion, before the buffer is used again",
                   stream->stream.device->name, (unsigned long long)what->bytes, td_op_describe(op, words));
}

/* A small pageable source is taken at once, as CUDA does; another one is expected to stay as it is unless it is live. */
static td_status queue_copy(td_emu_stream *stream, td_emu_entry *what, bool live)
{
    td_emu_world *world = world_of(stream);
    const void *host = what->from_device < 0 ? what->from : what->to_device < 0 ? what->to : NULL;
    const td_region *region = host != NULL ? td_region_find(&world->regions, (uintptr_t)host, what->bytes) : NULL;
    what->pinned = region != NULL && region->device == NULL;
    what->inside = what->from_device >= 0 && what->to_device >= 0 &&
                   td_topology_same_memory(&world->topology, what->from_device, what->to_device);
    if (what->from_device >= 0 || what->bytes > CAPTURED || what->pinned) {
        what->digested = what->from_device < 0 && world->order.races && !live;
        if (what->digested) {
            what->digest = td_hash64(what->from, what->bytes);
            TD_CHECK(check_reused(stream, what));
        }
        return td_emu_queue(stream, what, NULL, 0);
    }
    const void *from = what->from;
    what->from = NULL;
    return td_emu_queue(stream, what, from, what->bytes);
}

static td_status check_ends(td_emu_stream *stream, td_emu_entry *what)
{
    td_device *device = stream->stream.device;
    const td_regions *regions = &world_of(stream)->regions;
    what->from_device = number_of(td_region_find(regions, (uintptr_t)what->from, what->bytes));
    what->to_device = number_of(td_region_find(regions, (uintptr_t)what->to, what->bytes));
    if (what->from_device >= 0 && what->to_device >= 0) return TD_OK;
    TD_CHECK(td_emu_check_range(device, what->from, what->bytes, "copied from"));
    return td_emu_check_range(device, what->to, what->bytes, "copied to");
}

td_status td_emu_copy(td_stream *base, void *to, const void *from, uint64_t bytes, td_copy_kind kind)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    int number = td_emulator_of(base->device)->number;
    td_emu_entry what = {.kind = TD_EMU_COPY, .to = to, .from = from, .bytes = bytes, .from_device = -1,
                         .to_device = -1};
    TD_CHECK(td_emu_stream_check(stream));
    if (bytes == 0) return TD_OK;
    bool live = kind == TD_TO_DEVICE_LIVE;
    if (live) kind = TD_TO_DEVICE;
    if (kind == TD_TO_DEVICE) TD_CHECK(td_emu_check_range(base->device, to, bytes, "copied to"));
    if (kind == TD_TO_HOST) TD_CHECK(td_emu_check_range(base->device, from, bytes, "copied from"));
    if (kind == TD_TO_DEVICE) what.to_device = number;
    if (kind == TD_TO_HOST) what.from_device = number;
    if (kind == TD_ON_DEVICE) TD_CHECK(check_ends(stream, &what));
    return queue_copy(stream, &what, live);
}

td_status td_emu_copy_peer(td_stream *base, td_device *to_device, void *to, td_device *from_device, const void *from,
                           uint64_t bytes)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    td_emu_entry what = {.kind = TD_EMU_COPY, .to = to, .from = from, .bytes = bytes,
                         .from_device = td_emulator_of(from_device)->number,
                         .to_device = td_emulator_of(to_device)->number};
    TD_CHECK(td_emu_stream_check(stream));
    TD_CHECK(td_emu_check_range(from_device, from, bytes, "copied from"));
    TD_CHECK(td_emu_check_range(to_device, to, bytes, "copied to"));
    return queue_copy(stream, &what, false);
}

static const char *copy_name(const td_emu_entry *entry)
{
    if (entry->from_device < 0) return "copy to the device";
    if (entry->to_device < 0) return "copy to the host";
    return entry->inside ? "copy on the device" : "copy between GPUs";
}

static td_status check_digest(const td_emu_stream *stream, const td_emu_entry *entry)
{
    char words[TD_OP_WORDS];
    td_emu_op me = {.what = copy_name(entry), .caller = entry->caller};
    if (!entry->digested || td_hash64(entry->from, entry->bytes) == entry->digest) return TD_OK;
    snprintf(me.place, sizeof me.place, "stream %u of %.16s", stream->number, stream->stream.device->name);
    return td_fail(TD_DEVICE, "%s: race with the host: %s reads %llu bytes of %s host memory, which the host changed "
                   "after it had queued the copy; synchronize the stream, or wait for a completion, before the "
                   "buffer is used again", stream->stream.device->name, td_op_describe(&me, words),
                   (unsigned long long)entry->bytes, entry->pinned ? "pinned" : "pageable");
}

/* What it touches is known from its begin on, so that kernels that run meanwhile are compared with it. */
td_status td_emu_start_copy(td_emu_stream *stream, td_emu_entry *entry)
{
    td_emu_order *order = &world_of(stream)->order;
    td_device *device = stream->stream.device;
    const td_emu_op *op = td_emu_operate(stream, entry, copy_name(entry));
    if (entry->from != NULL)
        TD_CHECK(td_order_touch(order, stream->seen, op, device, entry->from, entry->bytes, TD_EMU_READS));
    if (entry->digested) td_order_digest(order, entry->digest);
    return td_order_touch(order, stream->seen, op, device, entry->to, entry->bytes, TD_EMU_WRITES);
}

td_status td_emu_end_copy(td_emu_stream *stream, td_emu_entry *entry)
{
    TD_CHECK(check_digest(stream, entry));
    memmove(entry->to, entry->from != NULL ? entry->from : td_emu_payload(entry), entry->bytes);
    return TD_OK;
}
