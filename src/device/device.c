/* What all kinds of devices have in common: budgets, counters, and the tests'
 * injected failures. Everything else goes to the kind's table of functions. */
#include "device/kinds.h"
#include "device/launched.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct td_device_block {
    void *memory;
    uint64_t bytes;
};

struct td_link_use {
    const td_device *to;
    uint64_t copies, bytes;
};

static _Atomic uint64_t fail_at;
static _Atomic bool refuses_pins;
static _Atomic(td_launch_watcher) launch_watcher;

void td_device_fail_at(uint64_t operation) { fail_at = operation; }
void td_device_refuse_pins(bool on) { refuses_pins = on; }
void td_devices_watch_launches(td_launch_watcher watcher) { launch_watcher = watcher; }

/* A device that a test loses. */
typedef struct planned_loss {
    _Atomic uint64_t at;
    char name[sizeof((td_device *)NULL)->name];
} planned_loss;
static planned_loss loss, joint_loss;

static void plan_loss(planned_loss *out, const char *name, uint64_t at)
{
    snprintf(out->name, sizeof out->name, "%s", name);
    out->at = at;
}

void td_device_lose_at(const char *name, uint64_t operation) { plan_loss(&loss, name, operation); }
void td_device_lose_in_joint(const char *name, uint64_t launch) { plan_loss(&joint_loss, name, launch); }

bool td_device_is_lost(const td_device *device)
{
    return device->lost || (device->ops->is_lost != NULL && device->ops->is_lost(device));
}

void td_device_bury(td_device *device)
{
    if (!device->lost || device->ops->poison == NULL) return;
    for (uint32_t i = 0; i < device->block_count; i++)
        if (device->blocks[i].bytes > 0) device->ops->poison(device, device->blocks[i].memory, device->blocks[i].bytes);
}

static bool is_losing(planned_loss *planned, const td_device *device)
{
    uint64_t left = planned->at;
    while (left != 0 && strcmp(device->name, planned->name) == 0)
        if (atomic_compare_exchange_weak(&planned->at, &left, left - 1)) return left == 1;
    return false;
}

bool td_device_is_lost_in_joint(td_device *device)
{
    device->dying = device->dying || is_losing(&joint_loss, device);
    return device->dying;
}

/* The host learns of a loss inside a launch when it waits. */
static void learn_loss(td_device *device)
{
    device->lost = device->lost || device->dying;
}

static td_status check_lost(td_device *device, const char *what)
{
    if (!device->lost && is_losing(&loss, device)) {
        device->lost = true;
        if (device->ops->drain != NULL) {
            device->ops->drain(device);
            td_device_bury(device);
        }
    }
    if (!device->lost) return TD_OK;
    return td_fail(TD_DEVICE, "%s: device lost for good during a %s (injected by a test)", device->name, what);
}

td_status td_device_operation(td_device *device, const char *what)
{
    uint64_t left = fail_at;
    TD_CHECK(check_lost(device, what));
    while (left != 0) {
        if (!atomic_compare_exchange_weak(&fail_at, &left, left - 1)) continue;
        if (left == 1)
            return td_fail(TD_DEVICE, "%s: device lost during a %s (injected by a test)", device->name, what);
        break;
    }
    return TD_OK;
}

td_refusal td_device_refusal(const td_device *device, uint64_t needed, uint64_t allowed)
{
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = needed, .allowed = allowed};
    memcpy(refusal.device, device->name, sizeof refusal.device);
    return refusal;
}

static td_status check_budget(const td_device *device, uint64_t bytes, const char *what)
{
    char wanted[TD_NUMBER_BYTES], taken[TD_NUMBER_BYTES], allowed[TD_NUMBER_BYTES];
    if (device->budget == 0 || (device->now <= device->budget && bytes <= device->budget - device->now)) return TD_OK;
    td_refusal refusal = td_device_refusal(device, device->now + bytes, device->budget);
    return td_refuse(&refusal,
                     "%s: %s needs %s of device memory; %s of the %s allowed are taken; {gpu_memory} allows more",
                     device->name, what, td_format_size(wanted, bytes), td_format_size(taken, device->now),
                     td_format_size(allowed, device->budget));
}

/* Makes room for one more block before it is allocated, so that none is lost. */
static td_status reserve_block(td_device *device)
{
    if (device->block_count < device->block_room) return TD_OK;
    uint32_t room = device->block_room * 2 + 16;
    TD_CHECK(TD_RESIZE(&device->blocks, room, "table of device memory"));
    device->block_room = room;
    return TD_OK;
}

td_status td_device_new(td_device *device, void *out, uint64_t count, uint64_t bytes, const char *what)
{
    void *memory = NULL;
    uint64_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return td_refuse(&(td_refusal){.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = UINT64_MAX},
                         "%s: %s: %" PRIu64 " elements of %" PRIu64 " bytes are more than any memory holds",
                         device->name, what, count, bytes);
    TD_CHECK(td_device_operation(device, "allocation"));
    TD_CHECK(check_budget(device, total, what));
    TD_CHECK(reserve_block(device));
    td_status status = device->ops->allocate(device, total > 0 ? total : 1, &memory);
    if (status != TD_OK) return td_fail_context(status, "%s", what);
    device->blocks[device->block_count++] = (struct td_device_block){memory, total};
    device->now += total;
    if (device->now > device->peak) device->peak = device->now;
    *(void **)out = memory;
    return TD_OK;
}

/* Searches from the end, because a run frees its blocks in roughly reverse order. */
static void forget_block(td_device *device, const void *memory)
{
    for (uint32_t i = device->block_count; i-- > 0;) {
        if (device->blocks[i].memory != memory) continue;
        device->now -= device->blocks[i].bytes;
        device->blocks[i] = device->blocks[--device->block_count];
        return;
    }
}

void td_device_free(td_device *device, void *memory)
{
    if (memory == NULL) return;
    device->caller = __builtin_return_address(0);
    forget_block(device, memory);
    device->ops->release(device, memory);
}

uint64_t td_device_left(const td_device *device)
{
    uint64_t allowed = device->properties.memory_free;
    if (device->budget > 0 && device->budget < allowed) allowed = device->budget;
    return allowed > device->now ? allowed - device->now : 0;
}

uint64_t td_device_host_bytes(td_device *device, uint64_t device_bytes, bool cooperative)
{
    return device->ops->host_bytes != NULL ? device->ops->host_bytes(device, device_bytes, cooperative) : 0;
}

uint64_t td_device_idle_bytes(td_device *device)
{
    return device->ops->idle_bytes != NULL ? device->ops->idle_bytes(device) : 0;
}

static void close_device(td_device *device)
{
    if (device->block_count > 0)
        td_debug("%s: closed with %" PRIu32 " blocks in use", device->name, device->block_count);
    while (device->block_count > 0) td_device_free(device, device->blocks[device->block_count - 1].memory);
    device->ops->close(device);
    td_free(device->blocks);
    td_free(device->links);
    td_free(device);
}

void td_devices_close(td_device *first)
{
    while (first != NULL) {
        td_device *next = first->next;
        close_device(first);
        first = next;
    }
}

td_status td_device_pin(td_device *device, void *host, uint64_t bytes, void *seen)
{
    void *address = NULL;
    td_refusal pinned = {.resource = TD_RESOURCE_PINNED_MEMORY, .needed = bytes};
    snprintf(pinned.device, sizeof pinned.device, "%s", device->name);
    if (refuses_pins)
        return td_refuse(&pinned, "%s: %" PRIu64 " bytes of host memory cannot be pinned (injected by a test)",
                         device->name, bytes);
    td_status status = device->ops->pin(device, host, bytes, &address);
    if (status == TD_OK) *(void **)seen = address;
    else if (status == TD_NO_MEMORY) td_refusal_set(&pinned);
    return status;
}

void td_device_unpin(td_device *device, void *host)
{
    if (host == NULL) return;
    device->caller = __builtin_return_address(0);
    device->ops->unpin(device, host);
}

td_status td_stream_open(td_device *device, td_stream **out) { return device->ops->stream_open(device, false, out); }

td_status td_stream_open_low_priority(td_device *device, td_stream **out)
{
    return device->ops->stream_open(device, true, out);
}

void td_stream_close(td_stream *stream)
{
    if (stream != NULL) stream->device->ops->stream_close(stream);
}

static void count_copy(td_device_counts *counts, uint64_t bytes, td_copy_kind kind)
{
    counts->copies++;
    if (kind == TD_TO_DEVICE || kind == TD_TO_DEVICE_LIVE) counts->bytes_to_device += bytes;
    else if (kind == TD_TO_HOST) counts->bytes_to_host += bytes;
    else counts->bytes_on_device += bytes;
}

td_status td_stream_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind)
{
    td_device *device = stream->device;
    device->caller = __builtin_return_address(0);
    if (bytes == 0) return TD_OK;
    TD_CHECK(td_device_operation(device, "copy"));
    TD_CHECK(device->ops->copy(stream, to, from, bytes, kind));
    count_copy(&device->counts, bytes, kind);
    return TD_OK;
}

td_status td_stream_fill(td_stream *stream, void *to, int byte, uint64_t bytes)
{
    td_device *device = stream->device;
    device->caller = __builtin_return_address(0);
    if (bytes == 0) return TD_OK;
    TD_CHECK(td_device_operation(device, "fill"));
    TD_CHECK(device->ops->fill(stream, to, byte, bytes));
    device->counts.fills++;
    return TD_OK;
}

void td_device_launched(td_device *device, const td_kernel *kernel)
{
    td_launch_watcher watcher = launch_watcher;
    device->counts.launches++;
    if (watcher != NULL) watcher(device, kernel);
}

td_status td_stream_launch(td_stream *stream, const td_kernel *kernel, td_launch shape, const void *arguments,
                           size_t bytes)
{
    td_device *device = stream->device;
    device->caller = __builtin_return_address(0);
    if (shape.blocks == 0 || shape.threads == 0)
        return td_fail(TD_INVALID, "%s: kernel %s launched with %" PRIu32 " blocks of %" PRIu32 " threads",
                       device->name, kernel->name, shape.blocks, shape.threads);
    TD_CHECK(td_device_operation(device, "launch"));
    TD_CHECK(device->ops->launch(stream, kernel, &shape, arguments, bytes));
    td_device_launched(device, kernel);
    return TD_OK;
}

td_status td_stream_notify(td_stream *stream, td_handler handler, void *context, uint64_t value)
{
    return stream->device->ops->notify(stream, handler, context, value);
}

td_status td_stream_record(td_stream *stream, td_event **out) { return stream->device->ops->record(stream, out); }
td_status td_stream_wait(td_stream *stream, td_event *event) { return stream->device->ops->wait(stream, event); }

void td_event_destroy(td_device *device, td_event *event)
{
    if (event != NULL) device->ops->event_destroy(event);
}

td_status td_stream_synchronize(td_stream *stream)
{
    learn_loss(stream->device);
    TD_CHECK(td_device_operation(stream->device, "wait"));
    stream->device->counts.waits++;
    return stream->device->ops->synchronize(stream);
}

static td_status ended(td_stream *stream, bool *out)
{
    learn_loss(stream->device);
    TD_CHECK(check_lost(stream->device, "wait"));
    if (stream->device->ops->ended != NULL) return stream->device->ops->ended(stream, out);
    *out = true;
    return stream->device->ops->synchronize(stream);
}

td_status td_streams_synchronize(td_stream *const *streams, int count)
{
    uint64_t left = 0; /* a bit per stream */
    for (int i = 0; i < count; i++) {
        TD_CHECK(td_device_operation(streams[i]->device, "wait"));
        streams[i]->device->counts.waits++;
        left |= UINT64_C(1) << i;
    }
    while (left != 0)
        for (int i = 0; i < count; i++) {
            bool is_through = false;
            if (left >> i & 1) TD_CHECK(ended(streams[i], &is_through));
            if (is_through) left &= ~(UINT64_C(1) << i);
        }
    return TD_OK;
}

/* Links */

static td_status check_kinds(const td_device *from, const td_device *to)
{
    if (from->ops == to->ops) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "%s and %s are of different kinds: copies between them go through host memory "
                   "(td_stream_copy)", from->name, to->name);
}

static td_status find_link(td_device *from, td_device *to, td_link *out)
{
    if (from->ops->link != NULL) return from->ops->link(from, to, out);
    *out = (td_link){.direct = true, .same_memory = true, .enabled = true};
    return TD_OK;
}

td_status td_device_link(td_device *from, td_device *to, td_link *out)
{
    *out = (td_link){0};
    TD_CHECK(check_kinds(from, to));
    return find_link(from, to, out);
}

td_status td_device_enable_peer(td_device *device, td_device *peer)
{
    td_link link = {0};
    TD_CHECK(check_kinds(device, peer));
    TD_CHECK(td_device_operation(device, "enabling of peer access"));
    TD_CHECK(find_link(peer, device, &link));
    return link.same_memory || link.enabled ? TD_OK : device->ops->enable_peer(device, peer);
}

static struct td_link_use *find_use(const td_device *from, const td_device *to)
{
    for (uint32_t i = 0; i < from->link_count; i++)
        if (from->links[i].to == to) return &from->links[i];
    return NULL;
}

/* Makes room for the counters before anything is copied. */
static td_status expect_use(td_device *from, const td_device *to, struct td_link_use **out)
{
    *out = find_use(from, to);
    if (*out != NULL) return TD_OK;
    TD_CHECK(TD_RESIZE(&from->links, from->link_count + 1, "counters of links"));
    *out = &from->links[from->link_count++];
    **out = (struct td_link_use){.to = to};
    return TD_OK;
}

td_status td_stream_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device,
                              const void *from, uint64_t bytes)
{
    td_device *device = stream->device;
    struct td_link_use *use = NULL;
    device->caller = __builtin_return_address(0);
    TD_CHECK(check_kinds(from_device, to_device));
    TD_CHECK(check_kinds(device, to_device));
    if (device != to_device && device != from_device)
        return td_fail(TD_INVALID, "%s: a copy from %s to %s is given to a stream of neither", device->name,
                       from_device->name, to_device->name);
    if (bytes == 0) return TD_OK;
    TD_CHECK(td_device_operation(device, "peer copy"));
    TD_CHECK(expect_use(from_device, to_device, &use));
    if (device->ops->copy_peer != NULL)
        TD_CHECK(device->ops->copy_peer(stream, to_device, to, from_device, from, bytes));
    else TD_CHECK(device->ops->copy(stream, to, from, bytes, TD_ON_DEVICE));
    device->counts.copies++;
    if (from_device == to_device) device->counts.bytes_on_device += bytes;
    else device->counts.bytes_to_peers += bytes;
    use->copies++;
    use->bytes += bytes;
    return TD_OK;
}

td_link_counts td_device_link_counts(const td_device *from, const td_device *to)
{
    td_link_counts out = {0};
    if (from->ops == to->ops && from->ops->link_counts != NULL) from->ops->link_counts(from, to, &out);
    const struct td_link_use *use = find_use(from, to);
    if (use != NULL) {
        out.copies = use->copies;
        out.copied_bytes = use->bytes;
    }
    return out;
}

static td_status check_sorts(const td_device *device)
{
    if (td_device_supports(device, TD_FEATURE_SORT)) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "%s: this kind of device has no sort and no scan of its own", device->name);
}

td_status td_device_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    TD_CHECK(check_sorts(device));
    return device->ops->sort_bytes(device, count, bytes);
}

td_status td_device_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    TD_CHECK(check_sorts(device));
    return device->ops->scan_bytes(device, count, bytes);
}

td_status td_stream_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                         uint64_t room_bytes)
{
    stream->device->caller = __builtin_return_address(0);
    TD_CHECK(check_sorts(stream->device));
    TD_CHECK(td_device_operation(stream->device, "launch"));
    return stream->device->ops->sort(stream, keys, values, count, room, room_bytes);
}

td_status td_stream_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                         uint64_t room_bytes)
{
    stream->device->caller = __builtin_return_address(0);
    TD_CHECK(check_sorts(stream->device));
    TD_CHECK(td_device_operation(stream->device, "launch"));
    return stream->device->ops->scan(stream, in, out, count, room, room_bytes);
}

td_status td_device_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                        uint32_t *blocks)
{
    return device->ops->occupancy(device, kernel, threads, shared_bytes, blocks);
}

bool td_device_supports(const td_device *device, td_feature feature) { return device->ops->supports(device, feature); }
uint64_t td_device_clock(td_device *device) { return device->ops->now(device); }

void td_device_host_worked(td_device *device, uint64_t bytes)
{
    if (device->ops->host_worked != NULL) device->ops->host_worked(device, bytes);
}

uint64_t td_device_host_until(td_device *device, uint64_t began, uint64_t bytes)
{
    return device->ops->host_until != NULL ? device->ops->host_until(device, began, bytes) : 0;
}

int td_device_counters(const td_device *device, td_counter out[TD_COUNTERS])
{
    return device->ops->counters != NULL ? device->ops->counters(device, out) : 0;
}
