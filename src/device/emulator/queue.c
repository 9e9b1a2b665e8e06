/* The queue of operations, and the virtual time at which each is executed.
 *
 * Queueing executes nothing. The next operation is, among the first entries of all streams, the earliest in virtual
 * time: it begins when its stream, the event that it waits for and its unit (a GPU's kernels, one direction of a link)
 * are free, and not before the host queued it. Kernels and fills are executed when they begin, because the duration of
 * a kernel follows from its accesses; the bytes of a copy move when it ends. Virtual time never decreases, so operations
 * are executed in the order of the modelled machine. The queue advances while the host waits: for a stream, for a
 * completion (the loop's clock), for a free entry. */
#include "device/emulator/emulator.h"

#include "base/alloc.h"
#include "device/emulator/sanitizer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct td_event {
    td_emu_world *world;
    bool reached;
    uint64_t at;
    int references; /* of the caller and of entries */
    td_emu_snapshot *snapshot;
};

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static td_emu_world *world_of(const td_emu_stream *stream) { return td_emulator_of(stream->stream.device)->world; }

/* The host's time: that of the completion it handles, or of the last synchronize, whichever is later. */
uint64_t td_emu_host_now(td_emu_world *world)
{
    if (world->loop != NULL) world->host_now = later(world->host_now, td_loop_time(world->loop));
    return world->host_now;
}

/* Failures. */

td_status td_emu_stream_check(td_emu_stream *stream)
{
    td_status status = stream->status;
    stream->status = TD_OK;
    if (status != TD_OK) td_failure_set(&stream->failure);
    return status;
}

static bool is_work(const td_emu_entry *entry) { return entry->kind <= TD_EMU_SCAN; }

void td_emu_stream_fail(td_emu_stream *stream, td_status status)
{
    if (stream->status == TD_OK) {
        stream->status = status;
        td_failure_keep(&stream->failure);
    }
    td_emu_entry *begun = stream->paused ? stream->first : NULL;
    for (td_emu_entry *entry = stream->first; entry != NULL; entry = entry->next) {
        entry->dropped = is_work(entry) && entry != begun;
        if (entry->dropped) td_emu_party_drop(entry->party, stream);
    }
}

/* Entries. */

static void drop_event(td_event *event)
{
    if (event == NULL || --event->references > 0) return;
    td_order_release(&event->world->order, event->snapshot);
    td_free(event);
}

static void free_entry(td_emu_world *world, td_emu_entry *entry)
{
    td_order_release(&world->order, entry->snapshot);
    td_order_release(&world->order, entry->host_snapshot);
    drop_event(entry->event);
    td_emu_party_leave(entry->party);
    td_free(entry->large);
    entry->large = NULL;
    entry->next = world->unused;
    world->unused = entry;
}

static void pop(td_emu_stream *stream)
{
    td_emu_entry *entry = stream->first;
    stream->first = entry->next;
    if (stream->first == NULL) stream->last = &stream->first;
    if (entry->kind == TD_EMU_NOTIFY) world_of(stream)->notifies--;
    free_entry(world_of(stream), entry);
}

static bool any_held(const td_emu_world *world)
{
    for (const td_emu_stream *stream = world->streams; stream != NULL; stream = stream->next)
        if (stream->first != NULL && td_emu_is_held(stream->first)) return true;
    return false;
}

/* One step of what the host waits for; false: nothing is left to do. Behind a launch that waits for a lost member nothing
 * happens until another thread of the host breaks the set: the host hangs, as with a GPU. */
static bool await(td_emu_world *world)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    if (td_emu_step(world)) return true;
    if (!any_held(world)) return false;
    nanosleep(&moment, NULL);
    return true;
}

/* The host waits where the queue is full. */
static td_emu_entry *take_entry(td_emu_world *world)
{
    while (world->unused == NULL && await(world)) {}
    td_emu_entry *entry = world->unused;
    world->unused = entry->next;
    return entry;
}

td_status td_emu_queue(td_emu_stream *stream, const td_emu_entry *what, const void *payload, size_t bytes)
{
    td_emu_world *world = world_of(stream);
    td_emu_entry *entry = take_entry(world);
    td_status status = TD_OK;
    memcpy(entry, what, offsetof(td_emu_entry, payload));
    entry->next = NULL;
    entry->queued_at = td_emu_host_now(world);
    entry->sequence = world->queued++;
    entry->caller = stream->stream.device->caller;
    entry->snapshot = NULL;
    entry->large = NULL;
    if (bytes > TD_EMU_PAYLOAD) status = td_new_bytes(&entry->large, bytes, 1, "operation of a stream");
    if (status == TD_OK) status = td_order_snapshot_host(&world->order, &entry->snapshot);
    if (status != TD_OK) {
        entry->event = NULL;
        entry->party = NULL;
        free_entry(world, entry);
        return status;
    }
    if (bytes > 0) memcpy(entry->large != NULL ? entry->large : entry->payload, payload, bytes);
    *stream->last = entry;
    stream->last = &entry->next;
    return TD_OK;
}

/* Choosing the next operation. */

static bool needs_kernels(const td_emu_entry *entry)
{
    return is_work(entry) && (entry->kind != TD_EMU_COPY || entry->inside);
}

/* The virtual time at which the first entry of the stream can begin or resume. */
static bool find_time(const td_emu_stream *stream, uint64_t *time)
{
    const td_emu_entry *entry = stream->first;
    if (entry == NULL) return false;
    uint64_t ready = later(stream->at, entry->queued_at);
    *time = ready;
    if (stream->in_progress) *time = stream->ends;
    else if (stream->paused) return false;
    else if (entry->kind == TD_EMU_WAIT && !entry->event->reached) return false;
    else if (entry->kind == TD_EMU_WAIT) *time = later(ready, entry->event->at);
    else if (td_emu_is_dropped(entry) || !is_work(entry)) return true;
    else if (entry->party != NULL) return td_emu_party_time(stream, time);
    else if (entry->kind == TD_EMU_COPY) *time = later(ready, td_emu_copy_free(stream, entry));
    else *time = later(ready, td_emulator_of(stream->stream.device)->kernels_at);
    return !needs_kernels(entry) || td_emulator_of(stream->stream.device)->paused == NULL;
}

bool td_emu_any_paused(const td_emu_world *world)
{
    const td_emu_stream *stream = world->streams;
    while (stream != NULL && !stream->paused) stream = stream->next;
    return stream != NULL;
}

/* Launches that wait for each other take turns when no other operation is ready. */
static td_emu_stream *find_paused(const td_emu_world *world, uint64_t *time)
{
    td_emu_stream *next = NULL;
    for (td_emu_stream *stream = world->streams; stream != NULL; stream = stream->next)
        if (stream->paused && (next == NULL || stream->turn < next->turn)) next = stream;
    if (next != NULL) *time = later(next->at, world->reached);
    return next;
}

/* Among several at the same time, the one queued first: when a unit becomes free, it serves the host's earlier
 * request. */
static td_emu_stream *find_next(const td_emu_world *world, uint64_t *time)
{
    td_emu_stream *next = NULL;
    for (td_emu_stream *stream = world->streams; stream != NULL; stream = stream->next) {
        uint64_t then = 0;
        if (!find_time(stream, &then)) continue;
        if (next != NULL && (then > *time || (then == *time && stream->first->sequence > next->first->sequence))) continue;
        next = stream;
        *time = then;
    }
    return next != NULL ? next : find_paused(world, time);
}

/* A kernel that waits is paused if a copy, or a kernel of another GPU, is ready. */
bool td_emu_may_pause(td_emu_machine *machine)
{
    const td_emulator *self = td_emulator_of(machine->device);
    for (const td_emu_stream *stream = self->world->streams; stream != NULL; stream = stream->next) {
        uint64_t time = 0;
        if (stream->stream.device == machine->device) continue;
        if (stream->paused || find_time(stream, &time)) return true;
    }
    return false;
}

/* An entry that was queued before the host synchronized with the operation may not be ordered after it. */
static bool may_miss(void *context, const td_emu_op *op)
{
    const td_emu_world *world = context;
    for (const td_emu_stream *stream = world->streams; stream != NULL; stream = stream->next) {
        if (stream->first == NULL || stream->seen[op->actor] >= op->number) continue;
        if (stream->first->snapshot == NULL || stream->first->snapshot->seen[op->actor] < op->number) return true;
    }
    return false;
}

td_emu_op *td_emu_operate(td_emu_stream *stream, const td_emu_entry *entry, const char *what)
{
    td_emu_world *world = world_of(stream);
    td_regions *regions = &world->regions;
    if (regions->tick > TD_TICKS_MOST) {
        regions->tick = 0;
        regions->era++;
        td_regions_clear_cells(regions);
        td_order_clear(&world->order);
    }
    td_emu_op op = {.actor = stream->actor, .tick = ++regions->tick, .kernel = entry->kind == TD_EMU_LAUNCH, .what = what,
                    .caller = entry->caller};
    if (!world->order.on) return NULL;
    snprintf(op.place, sizeof op.place, "stream %u of %.16s", stream->number, stream->stream.device->name);
    td_order_merge(stream->seen, entry->snapshot);
    td_order_forget(&world->order, may_miss, world);
    return td_order_begin(&world->order, stream->seen, op);
}

static void learn(td_emu_stream *stream, const td_emu_entry *entry, td_emu_snapshot *out)
{
    td_order_merge(stream->seen, entry->snapshot);
    if (out != NULL) memcpy(out->seen, stream->seen, sizeof out->seen);
}

static void do_notify(td_emu_stream *stream, td_emu_entry *entry, uint64_t at)
{
    td_emu_world *world = world_of(stream);
    td_emulator *emulator = td_emulator_of(stream->stream.device);
    uint64_t time = later(at + (uint64_t)world->topology.gpu[emulator->number].synchronize_ns, 1);
    learn(stream, entry, entry->host_snapshot);
    td_order_complete_at(&world->order, time, entry->host_snapshot);
    entry->host_snapshot = NULL;
    td_loop_expect(world->loop);
    td_loop_complete(world->loop, time, entry->handler, entry->context, td_emu_stream_check(stream), entry->value);
}

static void do_record(td_emu_stream *stream, const td_emu_entry *entry, uint64_t at)
{
    learn(stream, entry, entry->event->snapshot);
    entry->event->reached = true;
    entry->event->at = at;
}

static void do_wait(td_emu_stream *stream, const td_emu_entry *entry)
{
    td_order_merge(stream->seen, entry->snapshot);
    td_order_merge(stream->seen, entry->event->snapshot);
}

static td_status do_work(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    switch (entry->kind) {
    case TD_EMU_FILL: return td_emu_do_fill(stream, entry, duration);
    case TD_EMU_SORT: return td_emu_do_sort(stream, entry, duration);
    case TD_EMU_SCAN: return td_emu_do_scan(stream, entry, duration);
    default: return stream->paused ? td_emu_resume_launch(stream, entry, duration)
                                   : td_emu_do_launch(stream, entry, duration);
    }
}

/* Begins or resumes an operation on a GPU's kernel unit. A launch that was paused ends no earlier than the operations
 * that it may have waited for. */
static void work(td_emu_stream *stream, td_emu_entry *entry, uint64_t at)
{
    double duration = 0;
    td_emulator *emulator = td_emulator_of(stream->stream.device);
    bool resumed = stream->paused;
    uint64_t began = resumed ? stream->at : at;
    td_status status = do_work(stream, entry, &duration);
    if (stream->paused) {
        stream->at = began;
        stream->turn = emulator->world->turns++;
        return;
    }
    stream->at = td_unit_take(&emulator->kernels_at, began, duration);
    if (resumed) stream->at = emulator->kernels_at = later(stream->at, emulator->world->reached);
    if (status != TD_OK) td_emu_stream_fail(stream, status);
}

static void begin(td_emu_stream *stream, td_emu_entry *entry, uint64_t at)
{
    switch (entry->kind) {
    case TD_EMU_NOTIFY: do_notify(stream, entry, at); return;
    case TD_EMU_RECORD: do_record(stream, entry, at); return;
    case TD_EMU_WAIT: do_wait(stream, entry); return;
    default: work(stream, entry, at); return;
    }
}

static void end_copy(td_emu_stream *stream, td_emu_entry *entry)
{
    stream->in_progress = false;
    stream->at = stream->ends;
    if (entry->dropped) return;
    td_status status = td_emu_end_copy(stream, entry);
    if (status != TD_OK) td_emu_stream_fail(stream, status);
}

/* Returns whether the copy is in progress. */
static bool start_copy(td_emu_stream *stream, td_emu_entry *entry, uint64_t at)
{
    td_status status = td_emu_start_copy(stream, entry);
    if (status != TD_OK) {
        td_emu_stream_fail(stream, status);
        return false;
    }
    stream->ends = td_emu_copy_begin(stream, entry, at);
    return stream->in_progress = true;
}

static void joint_launch(td_emu_stream *lead, uint64_t at)
{
    td_emu_stream *streams[TD_EMULATED_DEVICES];
    int count = td_emu_party_streams(lead->first->party, streams);
    td_emu_do_joint(lead, at);
    for (int i = 0; i < count; i++) pop(streams[i]);
}

bool td_emu_step(td_emu_world *world)
{
    uint64_t time = 0;
    td_emu_stream *stream = find_next(world, &time);
    if (stream == NULL) return false;
    td_emu_entry *entry = stream->first;
    world->reached = later(world->reached, time);
    if (!stream->in_progress && !stream->paused) stream->at = time;
    if (stream->in_progress) {
        end_copy(stream, entry);
    } else if (td_emu_is_dropped(entry)) {
        td_emu_party_skip(stream, entry);
    } else if (entry->party != NULL) {
        joint_launch(stream, time);
        return true;
    } else if (entry->kind == TD_EMU_COPY) {
        if (start_copy(stream, entry, time)) return true;
    } else {
        begin(stream, entry, time);
        if (stream->paused) return true;
    }
    pop(stream);
    return true;
}

void td_emu_drain(td_emu_world *world, const td_device *device)
{
    for (td_emu_stream *stream = world->streams; stream != NULL; stream = stream->next) {
        if (device != NULL && stream->stream.device != device) continue;
        while (stream->first != NULL && await(world)) {}
        if (device != NULL) world->host_now = later(world->host_now, stream->at);
    }
}

/* The loop's clock. */

static bool clock_pending(void *context, uint64_t *time)
{
    const td_emu_world *world = context;
    return world->notifies > 0 && find_next(world, time) != NULL;
}

static void clock_advance(void *context) { (void)td_emu_step(context); }

static void clock_delivered(void *context, uint64_t time)
{
    td_emu_world *world = context;
    world->host_now = later(world->host_now, time);
    td_order_delivered(&world->order, time);
}

void td_emu_queue_open(td_emu_world *world, td_loop *loop)
{
    for (int i = 0; i < TD_EMU_QUEUED; i++) {
        world->entries[i].next = world->unused;
        world->unused = &world->entries[i];
    }
    world->clock = (td_loop_clock){NULL, world, clock_pending, clock_advance, clock_delivered};
    world->loop = loop;
    if (loop != NULL) td_loop_add_clock(loop, &world->clock);
}

void td_emu_queue_close(td_emu_world *world)
{
    if (world->loop != NULL) td_loop_remove_clock(world->loop, &world->clock);
}

/* Streams. */

static void link_stream(td_emu_world *world, td_emu_stream *stream)
{
    td_emu_stream **at = &world->streams;
    int device = td_emulator_of(stream->stream.device)->number;
    while (*at != NULL && td_emulator_of((*at)->stream.device)->number <= device) at = &(*at)->next;
    stream->next = *at;
    *at = stream;
}

td_status td_emu_stream_open(td_device *device, bool low_priority, td_stream **out)
{
    (void)low_priority; /* streams take turns by their times */
    td_emulator *emulator = td_emulator_of(device);
    td_emu_stream *stream = NULL;
    TD_CHECK(TD_NEW_ZEROED(&stream, 1, "stream"));
    td_status status = td_order_add_stream(&emulator->world->order, &stream->actor);
    if (status != TD_OK) {
        td_free(stream);
        return status;
    }
    stream->stream.device = device;
    stream->number = emulator->streams++;
    stream->last = &stream->first;
    stream->at = td_emu_host_now(emulator->world);
    link_stream(emulator->world, stream);
    *out = &stream->stream;
    return TD_OK;
}

static void run_dry(td_emu_stream *stream)
{
    td_emu_world *world = world_of(stream);
    while (stream->first != NULL && await(world)) {}
    world->host_now = later(td_emu_host_now(world), stream->at);
    td_order_merge_host(&world->order, stream->seen);
}

void td_emu_stream_close(td_stream *base)
{
    td_emu_stream *stream = td_emu_stream_of(base), **at = &world_of(stream)->streams;
    td_failure kept;
    td_failure_keep(&kept); /* the failure for which the caller closes the stream */
    run_dry(stream);
    td_failure_set(&kept);
    td_order_remove_stream(&world_of(stream)->order, stream->actor);
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
    td_free(stream);
}

td_status td_emu_stream_synchronize(td_stream *base)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    td_emu_world *world = world_of(stream);
    run_dry(stream);
    world->host_now += (uint64_t)world->topology.gpu[td_emulator_of(base->device)->number].synchronize_ns;
    return td_emu_stream_check(stream);
}

/* Asking advances the queue by an operation, so that a host that goes on asking comes to an end. The host knows that a
 * stream has ended as long after it as of a completion (do_notify), of several streams at the same time. */
td_status td_emu_stream_ended(td_stream *base, bool *out)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    td_emu_world *world = world_of(stream);
    if (stream->first != NULL) (void)td_emu_step(world);
    *out = stream->first == NULL;
    if (!*out) return TD_OK;
    uint64_t known = stream->at + (uint64_t)world->topology.gpu[td_emulator_of(base->device)->number].synchronize_ns;
    world->host_now = later(td_emu_host_now(world), known);
    td_order_merge_host(&world->order, stream->seen);
    return td_emu_stream_check(stream);
}

td_status td_emu_notify(td_stream *base, td_handler handler, void *context, uint64_t value)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    td_device *device = base->device;
    if (device->loop == NULL) return td_fail(TD_INVALID, "%s: completions need an event loop", device->name);
    td_emu_world *world = world_of(stream);
    td_emu_entry what = {.kind = TD_EMU_NOTIFY, .handler = handler, .context = context, .value = value};
    TD_CHECK(td_order_reserve(&world->order, world->notifies + 1));
    TD_CHECK(td_order_snapshot(&world->order, stream->seen, &what.host_snapshot));
    td_status status = td_emu_queue(stream, &what, NULL, 0);
    if (status != TD_OK) return status; /* with what.host_snapshot */
    world->notifies++;
    return TD_OK;
}

td_status td_emu_record(td_stream *base, td_event **out)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    td_event *event = NULL;
    TD_CHECK(td_emu_stream_check(stream));
    TD_CHECK(TD_NEW_ZEROED(&event, 1, "event"));
    event->world = world_of(stream);
    event->references = 2;
    td_status status = td_order_snapshot(&event->world->order, stream->seen, &event->snapshot);
    if (status == TD_OK)
        status = td_emu_queue(stream, &(td_emu_entry){.kind = TD_EMU_RECORD, .event = event}, NULL, 0);
    if (status == TD_OK) {
        *out = event;
        return TD_OK;
    }
    td_order_release(&event->world->order, event->snapshot);
    td_free(event);
    return status;
}

td_status td_emu_wait_event(td_stream *base, td_event *event)
{
    td_emu_stream *stream = td_emu_stream_of(base);
    TD_CHECK(td_emu_stream_check(stream));
    if (event->world != world_of(stream))
        return td_fail(TD_INVALID, "%s: the event is one of devices that were not opened together with it",
                       base->device->name);
    event->references++;
    td_status status = td_emu_queue(stream, &(td_emu_entry){.kind = TD_EMU_WAIT, .event = event}, NULL, 0);
    if (status != TD_OK) event->references--;
    return status;
}

void td_emu_event_destroy(td_event *event) { drop_event(event); }
