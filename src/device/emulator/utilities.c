/* Sorting and prefix sums, which a GPU's library does in passes over memory. */
#include "device/emulator/emulator.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static double passes_ns(const td_stream *stream, uint64_t bytes, int passes)
{
    const td_emulator *emulator = stream->device->state;
    const td_gpu_model *gpu = &emulator->world->topology.gpu[emulator->number];
    return passes * ((double)bytes / gpu->memory_rate + gpu->launch_ns);
}

td_status td_emu_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    (void)device;
    if (count > UINT64_MAX / 16) return td_fail(TD_LIMIT, "%llu keys to sort", (unsigned long long)count);
    *bytes = count * 2 * sizeof(uint32_t);
    return TD_OK;
}

/* One pass of a stable radix sort, by the digit at `shift`. */
static void sort_pass(const uint32_t *keys, const uint32_t *values, uint32_t *to_keys, uint32_t *to_values,
                      uint64_t count, int shift)
{
    uint64_t places[DIGITS] = {0}, sum = 0;
    for (uint64_t i = 0; i < count; i++) places[keys[i] >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        uint64_t here = places[digit];
        places[digit] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t to = places[keys[i] >> shift & (DIGITS - 1)]++;
        to_keys[to] = keys[i];
        to_values[to] = values[i];
    }
}

td_status td_emu_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                      uint64_t room_bytes)
{
    uint64_t needed = 0;
    TD_CHECK(td_emu_stream_check(td_emu_stream_of(stream)));
    TD_CHECK(td_emu_sort_bytes(stream->device, count, &needed));
    if (room_bytes < needed)
        return td_fail(TD_DEVICE, "%s: %llu bytes of room to sort in; %llu are needed", stream->device->name,
                       (unsigned long long)room_bytes, (unsigned long long)needed);
    TD_CHECK(td_emu_check_range(stream->device, keys, count * sizeof *keys, "keys to sort"));
    TD_CHECK(td_emu_check_range(stream->device, values, count * sizeof *values, "values to sort"));
    TD_CHECK(td_emu_check_range(stream->device, room, needed, "room to sort in"));
    td_emu_entry what = {.kind = TD_EMU_SORT, .to = keys, .from = values, .bytes = count, .room = room};
    return td_emu_queue(td_emu_stream_of(stream), &what, NULL, 0);
}

static td_status touch(td_emu_stream *stream, const td_emu_op *op, const void *memory, uint64_t bytes,
                       td_emu_span_kind kind)
{
    td_emulator *emulator = td_emulator_of(stream->stream.device);
    return td_order_touch(&emulator->world->order, stream->seen, op, stream->stream.device, memory, bytes, kind);
}

td_status td_emu_do_sort(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    uint64_t count = entry->bytes;
    uint32_t *keys = entry->to, *values = (uint32_t *)(uintptr_t)entry->from, *other_keys = entry->room;
    uint32_t *other_values = other_keys + count;
    const td_emu_op *op = td_emu_operate(stream, entry, "sort");
    *duration = passes_ns(&stream->stream, count * 16, 32 / DIGIT_BITS);
    TD_CHECK(touch(stream, op, keys, count * sizeof *keys, TD_EMU_WRITES));
    TD_CHECK(touch(stream, op, values, count * sizeof *values, TD_EMU_WRITES));
    TD_CHECK(touch(stream, op, entry->room, count * 2 * sizeof *keys, TD_EMU_WRITES));
    for (int shift = 0; shift < 32; shift += 2 * DIGIT_BITS) {
        sort_pass(keys, values, other_keys, other_values, count, shift);
        sort_pass(other_keys, other_values, keys, values, count, shift + DIGIT_BITS);
    }
    return TD_OK;
}

td_status td_emu_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes)
{
    (void)device;
    (void)count;
    *bytes = 0;
    return TD_OK;
}

td_status td_emu_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                      uint64_t room_bytes)
{
    (void)room;
    (void)room_bytes;
    TD_CHECK(td_emu_stream_check(td_emu_stream_of(stream)));
    TD_CHECK(td_emu_check_range(stream->device, in, count * sizeof *in, "numbers to sum"));
    TD_CHECK(td_emu_check_range(stream->device, out, (count + 1) * sizeof *out, "their sums"));
    td_emu_entry what = {.kind = TD_EMU_SCAN, .to = out, .from = in, .bytes = count};
    return td_emu_queue(td_emu_stream_of(stream), &what, NULL, 0);
}

td_status td_emu_do_scan(td_emu_stream *stream, td_emu_entry *entry, double *duration)
{
    const uint32_t *in = entry->from;
    uint64_t *out = entry->to, sum = 0, count = entry->bytes;
    const td_emu_op *op = td_emu_operate(stream, entry, "scan");
    *duration = passes_ns(&stream->stream, count * 12, 1);
    TD_CHECK(touch(stream, op, in, count * sizeof *in, TD_EMU_READS));
    TD_CHECK(touch(stream, op, out, (count + 1) * sizeof *out, TD_EMU_WRITES));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t here = in[i];
        out[i] = sum;
        sum += here;
    }
    out[count] = sum;
    return TD_OK;
}
