/* Joint launches: one entry in the stream of every member, which begins when it is the first of all of them and every
 * member's kernels are free. It is one operation in the order of things (order.h), the first member's: all streams
 * know of each other's past when it begins, and all of them have it behind them when it ends.
 *
 * Virtual time goes on at set barriers: a round takes as long as the member with most to do, plus the barrier. */
#include "device/emulator/emulator.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct td_emu_party {
    int count, references; /* streams; entries that are queued */
    bool dropped;       /* something before it in one of the streams failed */
    bool host_snapshot;          /* that stream is known in words */
    char culprit[48];   /* its device's name */
    const uint32_t *until; /* NULL, or: a member is lost; the others wait until it is not 0, and do nothing behind */
    td_emu_stream *stream[TD_EMULATED_DEVICES];
};

static double larger(double a, double b) { return a > b ? a : b; }
static td_emu_world *world_of(const td_emu_stream *stream) { return td_emulator_of(stream->stream.device)->world; }

static const td_gpu_model *gpu_of(const td_emu_machine *m)
{
    const td_emulator *emulator = td_emulator_of(m->device);
    return &emulator->world->topology.gpu[emulator->number];
}

/* What is queued. */

uint32_t td_emu_joint_threads(const td_device *device)
{
    (void)device;
    return TD_FIBERS_MOST;
}

td_status td_emu_launch_joint(td_stream *const *streams, int count, const td_kernel *const *kernels,
                              const td_launch *shapes, const void *const *arguments, size_t bytes,
                              const uint32_t *until)
{
    td_emu_party *party = NULL;
    for (int i = 0; i < count; i++) TD_CHECK(td_emu_stream_check(td_emu_stream_of(streams[i])));
    TD_CHECK(TD_NEW_ZEROED(&party, 1, "joint launch"));
    party->count = count;
    party->references = 1;
    party->until = until;
    for (int i = 0; i < count; i++) party->stream[i] = td_emu_stream_of(streams[i]);
    td_status status = TD_OK;
    for (int i = 0; i < count && status == TD_OK; i++) {
        td_emu_entry what = {.kind = TD_EMU_LAUNCH, .kernel = *kernels[i], .shape = shapes[i], .bytes = bytes,
                             .party = party};
        party->references++;
        status = td_emu_queue(party->stream[i], &what, arguments[i], bytes);
        if (status != TD_OK) party->references--;
    }
    if (status != TD_OK) party->dropped = true;
    td_emu_party_leave(party);
    return status;
}

void td_emu_party_leave(td_emu_party *party)
{
    if (party != NULL && --party->references == 0) td_free(party);
}

static bool is_given_up(const td_emu_party *party)
{
    return party->until != NULL && __atomic_load_n(party->until, __ATOMIC_ACQUIRE) != 0;
}

bool td_emu_is_dropped(const td_emu_entry *entry)
{
    return entry->dropped || (entry->party != NULL && (entry->party->dropped || is_given_up(entry->party)));
}

bool td_emu_is_held(const td_emu_entry *entry)
{
    return entry->party != NULL && entry->party->until != NULL && !td_emu_is_dropped(entry);
}

void td_emu_party_drop(td_emu_party *party, const td_emu_stream *stream)
{
    if (party == NULL || party->dropped) return;
    party->dropped = party->host_snapshot = true;
    memcpy(party->culprit, stream->stream.device->name, sizeof party->culprit);
}

/* A stream comes to a joint launch in which another member does not take part. */
void td_emu_party_skip(td_emu_stream *stream, const td_emu_entry *entry)
{
    const td_emu_party *party = entry->party;
    if (party == NULL || entry->dropped || !party->host_snapshot) return;
    td_emu_stream_fail(stream, td_fail(TD_DEVICE, "%s: the joint launch of kernel %s on %d devices did not begin: an earlier "
                                       "operation of %s failed", stream->stream.device->name, entry->kernel.name,
                                       party->count, party->culprit));
}

bool td_emu_party_time(const td_emu_stream *stream, uint64_t *time)
{
    const td_emu_party *party = stream->first->party;
    if (party->stream[0] != stream || party->until != NULL) return false;
    for (int i = 0; i < party->count; i++) {
        const td_emu_stream *other = party->stream[i];
        const td_emulator *emulator = td_emulator_of(other->stream.device);
        if (other->first == NULL || other->first->party != party || emulator->paused != NULL) return false;
        uint64_t ready = other->at > other->first->queued_at ? other->at : other->first->queued_at;
        if (emulator->kernels_at > ready) ready = emulator->kernels_at;
        if (i == 0 || ready > *time) *time = ready;
    }
    return true;
}

/* Time. */

static td_emu_work since_counted(const td_emu_machine *m, uint64_t busiest)
{
    const td_emu_work *now = &m->work, *then = &m->counted;
    return (td_emu_work){.bytes_read = now->bytes_read - then->bytes_read,
                         .bytes_written = now->bytes_written - then->bytes_written,
                         .atomics = now->atomics - then->atomics, .host_bytes = now->host_bytes - then->host_bytes,
                         .peer_ns = now->peer_ns - then->peer_ns,
                         .grid_barriers = now->grid_barriers - then->grid_barriers, .busiest = busiest};
}

static double work_ns(const td_emu_machine *m, const td_emu_work *work)
{
    const td_emulator *emulator = td_emulator_of(m->device);
    const td_topology *topology = &emulator->world->topology;
    return td_model_work_ns(gpu_of(m), work, topology->to_device[topology->host_link[emulator->number]].rate);
}

/* How long the member has worked since time went on last; it goes on now. */
static double count_work(td_emu_machine *m)
{
    uint64_t busiest = td_emu_machine_busiest(m, true);
    td_emu_work work = since_counted(m, busiest);
    m->work.busiest += busiest;
    m->counted = m->work;
    return work_ns(m, &work);
}

static void end_round(td_emu_joint *joint)
{
    double longest = 0, barrier = 0;
    for (uint32_t i = 0; i < joint->count; i++) {
        const td_gpu_model *gpu = gpu_of(joint->member[i]);
        longest = larger(longest, count_work(joint->member[i]));
        barrier = larger(barrier, joint->count > 1 ? gpu->set_barrier_ns : gpu->grid_barrier_ns);
    }
    joint->elapsed_ns += longest + barrier;
}

/* As far as the launch has come: what all its threads did until now counts. */
uint64_t td_emu_clock(void)
{
    td_emu_machine *m = td_emu_now;
    uint64_t busiest = m->shape.cooperative ? td_emu_machine_busiest(m, false) : m->work.busiest;
    td_emu_work work = m->joint != NULL ? since_counted(m, busiest) : m->work;
    work.busiest = busiest;
    double before = m->joint != NULL ? m->joint->elapsed_ns : gpu_of(m)->launch_ns;
    return m->began_ns + (uint64_t)(before + work_ns(m, &work));
}

/* What happens. */

static td_status prepare(td_emu_joint *joint, td_emu_party *party, uint64_t at)
{
    td_emu_stream *lead = party->stream[0];
    *joint = (td_emu_joint){.count = (uint32_t)party->count, .round = end_round};
    for (int i = 0; i < party->count; i++) {
        const td_emu_stream *stream = party->stream[i];
        const td_emu_entry *entry = stream->first;
        td_emu_machine *m = joint->member[i] = &td_emulator_of(stream->stream.device)->machine;
        m->seen = lead->seen;
        m->actor = lead->actor;
        m->stream = stream->number;
        m->may_pause = NULL;
        m->beside = td_emu_any_paused(world_of(lead));
        m->began_ns = at;
        joint->elapsed_ns = larger(joint->elapsed_ns, gpu_of(m)->launch_ns);
        TD_CHECK(td_emu_machine_prepare(m, &entry->kernel, &entry->shape, td_emu_payload(entry), entry->bytes));
    }
    return TD_OK;
}

/* Every stream's past is the launch's. */
static td_emu_op *order_begin(td_emu_party *party)
{
    td_emu_stream *lead = party->stream[0];
    for (int i = 1; i < party->count; i++) {
        td_order_merge(party->stream[i]->seen, party->stream[i]->first->snapshot);
        td_order_merge_clock(lead->seen, party->stream[i]->seen);
    }
    td_emu_op *op = td_emu_operate(lead, lead->first, lead->first->kernel.name);
    if (op != NULL) snprintf(op->place, sizeof op->place, "joint launch on %d devices", party->count);
    return op;
}

static void end_member(td_emu_stream *stream, td_emu_joint *joint, td_emu_machine *m, uint64_t at, bool ran)
{
    double took = joint->elapsed_ns + (ran ? count_work(m) : 0);
    stream->at = td_unit_take(&td_emulator_of(stream->stream.device)->kernels_at, at, took);
    if (ran) td_emu_count(td_emulator_of(stream->stream.device), &m->work, took);
}

/* The streams go on when the last member has ended. */
void td_emu_do_joint(td_emu_stream *lead, uint64_t at)
{
    td_emu_joint joint;
    td_emu_party *party = lead->first->party;
    const td_emu_op *begun = order_begin(party);
    td_emu_op op = begun != NULL ? *begun : (td_emu_op){0};
    td_status status = prepare(&joint, party, at);
    bool ran = status == TD_OK;
    uint64_t end = at;
    if (ran) status = td_emu_joint_run(&joint);
    td_emu_note_regions(world_of(lead), &op);
    for (int i = 0; i < party->count; i++) {
        end_member(party->stream[i], &joint, &td_emulator_of(party->stream[i]->stream.device)->machine, at, ran);
        if (party->stream[i]->at > end) end = party->stream[i]->at;
    }
    for (int i = 0; i < party->count; i++) {
        party->stream[i]->at = end;
        td_order_merge_clock(party->stream[i]->seen, lead->seen);
        if (status != TD_OK) td_emu_stream_fail(party->stream[i], status);
    }
}

int td_emu_party_streams(const td_emu_party *party, td_emu_stream **out)
{
    memcpy(out, party->stream, (size_t)party->count * sizeof *out);
    return party->count;
}
