/* Links between emulated GPUs and to the host: durations of copies, peer access of kernels, traffic counters. */
#include "device/emulator/emulator.h"

/* A copy between GPUs without a link goes through the host in pieces: while one comes down, the next goes up. */
static const double STAGED_PIECE = 1 << 20;

static td_topology *topology_of(const td_device *device) { return &td_emulator_of(device)->world->topology; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* The links that a copy uses: one, or one up to the host and one down from it. */
typedef struct route {
    uint64_t *free_at[2];
    double latency[2], rate[2];
    int legs;
} route;

static route one_leg(td_link_model *link, double share)
{
    return (route){{&link->free_at, NULL}, {link->latency_ns, 0}, {link->rate * share, 0}, 1};
}

static route find_route(td_device *device, int from, int to, bool pinned)
{
    td_topology *topology = topology_of(device);
    double share = pinned ? 1 : topology->pageable_share;
    if (from < 0) return one_leg(&topology->to_device[topology->host_link[to]], share);
    if (to < 0) return one_leg(&topology->to_host[topology->host_link[from]], share);
    if (from != to && topology->between[from][to].rate > 0) return one_leg(&topology->between[from][to], 1);
    td_link_model *up = &topology->to_host[topology->host_link[from]];
    td_link_model *down = &topology->to_device[topology->host_link[to]];
    return (route){{&up->free_at, &down->free_at}, {up->latency_ns, down->latency_ns}, {up->rate, down->rate}, 2};
}

uint64_t td_emu_copy_free(const td_emu_stream *stream, const td_emu_entry *entry)
{
    if (entry->inside) return td_emulator_of(stream->stream.device)->kernels_at;
    return *find_route(stream->stream.device, entry->from_device, entry->to_device, entry->pinned).free_at[0];
}

/* Within one memory a copy is work like a kernel's: every byte is read and written. */
static uint64_t begin_inside(td_emu_stream *stream, const td_emu_entry *entry, uint64_t at)
{
    const td_gpu_model *gpu = &topology_of(stream->stream.device)->gpu[entry->from_device];
    return td_unit_take(&td_emulator_of(stream->stream.device)->kernels_at, at,
                        gpu->launch_ns + 2.0 * (double)entry->bytes / gpu->memory_rate);
}

uint64_t td_emu_copy_begin(td_emu_stream *stream, const td_emu_entry *entry, uint64_t at)
{
    double bytes = (double)entry->bytes, piece = smaller(bytes, STAGED_PIECE);
    if (entry->inside) return begin_inside(stream, entry, at);
    route w = find_route(stream->stream.device, entry->from_device, entry->to_device, entry->pinned);
    uint64_t up = td_unit_take(w.free_at[0], at, w.latency[0] + bytes / w.rate[0]);
    if (w.legs == 1) return up;
    uint64_t first = at + (uint64_t)(w.latency[0] + piece / w.rate[0]); /* the first piece is at the host */
    uint64_t down = td_unit_take(w.free_at[1], first, w.latency[1] + bytes / w.rate[1]);
    uint64_t last = up + (uint64_t)(w.latency[1] + piece / w.rate[1]); /* the last piece came late */
    if (last > down) *w.free_at[1] = down = last;
    return down;
}

/* Functions of device.h. */

static td_status check_together(const td_device *a, const td_device *b)
{
    if (td_emulator_of(a)->world == td_emulator_of(b)->world) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "%s and %s were not opened together", a->name, b->name);
}

td_status td_emu_link(td_device *from, td_device *to, td_link *out)
{
    TD_CHECK(check_together(from, to));
    const td_topology *topology = topology_of(from);
    int a = td_emulator_of(from)->number, b = td_emulator_of(to)->number;
    if (td_topology_same_memory(topology, a, b)) {
        const td_gpu_model *gpu = &topology->gpu[a];
        *out = (td_link){gpu->memory_rate / 2 * 1e9, gpu->launch_ns, true, true, true};
        return TD_OK;
    }
    route w = find_route(from, a, b, true);
    *out = (td_link){.rate = w.rate[0] * 1e9, .latency_ns = w.latency[0] + w.latency[1], .direct = w.legs == 1,
                     .enabled = td_emulator_of(to)->machine.peer_enabled[a]};
    if (w.legs == 2) out->rate = smaller(w.rate[0], w.rate[1]) * 1e9;
    if (topology->hides_rates) out->rate = out->latency_ns = 0;
    return TD_OK;
}

td_status td_emu_enable_peer(td_device *device, td_device *peer)
{
    TD_CHECK(check_together(device, peer));
    int number = td_emulator_of(peer)->number;
    if (topology_of(device)->between[number][td_emulator_of(device)->number].rate == 0)
        return td_fail(TD_UNSUPPORTED, "%s: kernels cannot follow pointers of %s: topology '%s' has no link between them",
                       device->name, peer->name, topology_of(device)->name);
    td_emulator_of(device)->machine.peer_enabled[number] = true;
    return TD_OK;
}

void td_emu_link_counts(const td_device *from, const td_device *to, td_link_counts *out)
{
    *out = td_emulator_of(from)->to[td_emulator_of(to)->number];
}
