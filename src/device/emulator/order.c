#include "device/emulator/order.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "device/emulator/code_line.h"

#include <stdio.h>
#include <string.h>

td_status td_order_open(td_emu_order *order, td_regions *regions, bool on, bool races)
{
    order->on = on;
    order->races = races;
    order->regions = regions;
    if (!on) return TD_OK;
    TD_CHECK(TD_NEW(&order->ops, TD_EMU_REMEMBERED, "operations of emulated streams"));
    return TD_NEW(&order->spans, TD_EMU_REMEMBERED, "operations of emulated streams");
}

uint64_t td_order_bytes(void) { return TD_EMU_REMEMBERED * (sizeof(td_emu_op) + sizeof(td_emu_span)); }

void td_order_close(td_emu_order *order)
{
    td_order_release(order, order->host_snapshot);
    for (uint32_t i = 0; i < order->completion_count; i++) td_order_release(order, order->completions[i].snapshot);
    for (td_emu_snapshot *next; order->unused != NULL; order->unused = next) {
        next = order->unused->next;
        td_free(order->unused);
    }
    td_free(order->ops);
    td_free(order->spans);
    td_free(order->completions);
    *order = (td_emu_order){0};
}

td_status td_order_add_stream(td_emu_order *order, uint32_t *actor)
{
    for (uint32_t i = 0; i < TD_EMU_ACTORS; i++) {
        if (order->taken[i]) continue;
        order->taken[i] = true;
        *actor = i;
        return TD_OK;
    }
    return td_fail(TD_LIMIT, "%d streams of emulated devices are open; there can be no more", TD_EMU_ACTORS);
}

void td_order_remove_stream(td_emu_order *order, uint32_t actor) { order->taken[actor] = false; }

/* Snapshots. */

td_status td_order_snapshot(td_emu_order *order, const uint32_t *seen, td_emu_snapshot **out)
{
    td_emu_snapshot *snapshot = order->unused;
    *out = NULL;
    if (!order->on) return TD_OK;
    if (snapshot != NULL) order->unused = snapshot->next;
    else TD_CHECK(TD_NEW(&snapshot, 1, "vector clock"));
    snapshot->next = NULL;
    snapshot->references = 1;
    memcpy(snapshot->seen, seen, sizeof snapshot->seen);
    *out = snapshot;
    return TD_OK;
}

td_status td_order_snapshot_host(td_emu_order *order, td_emu_snapshot **out)
{
    *out = NULL;
    if (!order->on) return TD_OK;
    if (order->host_snapshot == NULL) TD_CHECK(td_order_snapshot(order, order->host, &order->host_snapshot));
    order->host_snapshot->references++;
    *out = order->host_snapshot;
    return TD_OK;
}

void td_order_release(td_emu_order *order, td_emu_snapshot *snapshot)
{
    if (snapshot == NULL || --snapshot->references > 0) return;
    snapshot->next = order->unused;
    order->unused = snapshot;
}

static void join(uint32_t *mine, const uint32_t *other)
{
    for (uint32_t i = 0; i < TD_EMU_ACTORS; i++) mine[i] = mine[i] > other[i] ? mine[i] : other[i];
}

void td_order_merge_clock(uint32_t *seen, const uint32_t *other) { join(seen, other); }

void td_order_merge(uint32_t *seen, const td_emu_snapshot *snapshot)
{
    if (snapshot != NULL) join(seen, snapshot->seen);
}

void td_order_merge_host(td_emu_order *order, const uint32_t *seen)
{
    if (!order->on) return;
    join(order->host, seen);
    td_order_release(order, order->host_snapshot);
    order->host_snapshot = NULL;
}

td_status td_order_reserve(td_emu_order *order, uint32_t count)
{
    if (!order->on || order->completion_count + count <= order->completion_room) return TD_OK;
    uint32_t room = (order->completion_count + count) * 2 + 16;
    TD_CHECK(TD_RESIZE(&order->completions, room, "completions of emulated streams"));
    order->completion_room = room;
    return TD_OK;
}

void td_order_complete_at(td_emu_order *order, uint64_t time, td_emu_snapshot *snapshot)
{
    if (!order->on) return;
    uint32_t at = order->completion_count++;
    for (; at > 0 && order->completions[at - 1].time > time; at--) order->completions[at] = order->completions[at - 1];
    order->completions[at] = (td_emu_completion){time, snapshot};
}

void td_order_delivered(td_emu_order *order, uint64_t time)
{
    uint32_t count = 0;
    for (; count < order->completion_count && order->completions[count].time <= time; count++) {
        td_order_merge_host(order, order->completions[count].snapshot->seen);
        td_order_release(order, order->completions[count].snapshot);
    }
    if (count == 0) return;
    order->completion_count -= count;
    memmove(order->completions, order->completions + count, order->completion_count * sizeof *order->completions);
}

/* Operations. */

static td_emu_op *op_at(const td_emu_order *order, uint64_t i) { return &order->ops[i % TD_EMU_REMEMBERED]; }
static td_emu_span *span_at(const td_emu_order *order, uint64_t i) { return &order->spans[i % TD_EMU_REMEMBERED]; }
static bool is_before(const td_emu_op *op, const uint32_t *seen) { return seen[op->actor] >= op->number; }

td_emu_op *td_order_begin(td_emu_order *order, uint32_t *seen, td_emu_op op)
{
    op.number = ++order->counts[op.actor];
    seen[op.actor] = op.number;
    if (!order->on) return NULL;
    if (order->op_count - order->first_op == TD_EMU_REMEMBERED) order->first_op++;
    td_emu_op *mine = op_at(order, order->op_count++);
    *mine = op;
    return mine;
}

void td_order_resume(td_emu_order *order, uint32_t *seen, td_emu_op *op)
{
    op->tick = ++order->regions->tick;
    (void)td_order_begin(order, seen, *op);
}

uint32_t td_order_since(const td_emu_order *order, const uint32_t *seen)
{
    for (uint64_t i = order->first_op; i < order->op_count; i++)
        if (!is_before(op_at(order, i), seen)) return op_at(order, i)->tick;
    return UINT32_MAX;
}

/* The last operation that began at the tick or before it. */
const td_emu_op *td_order_operation(const td_emu_order *order, uint32_t tick)
{
    uint64_t low = order->first_op, high = order->op_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (op_at(order, middle)->tick <= tick) low = middle + 1;
        else high = middle;
    }
    return low > order->first_op ? op_at(order, low - 1) : NULL;
}

const td_emu_op *td_order_unordered(const td_emu_order *order, const uint32_t *seen, uint32_t tick)
{
    const td_emu_op *op = td_order_operation(order, tick);
    return op != NULL && !is_before(op, seen) ? op : NULL;
}

void td_order_add_span(td_emu_order *order, td_emu_span span)
{
    if (!order->on) return;
    if (order->span_count - order->first_span == TD_EMU_REMEMBERED) order->first_span++;
    *span_at(order, order->span_count++) = span;
}

const td_emu_op *td_order_conflict(const td_emu_order *order, const uint32_t *seen, uint32_t since, uintptr_t at,
                                   uint64_t bytes, bool writes, bool atomic, bool *written)
{
    for (uint64_t i = order->span_count; i-- > order->first_span && span_at(order, i)->tick >= since;) {
        const td_emu_span *span = span_at(order, i);
        if (span->kind == TD_EMU_KERNEL || at >= span->end || at + bytes <= span->begin) continue;
        if (span->kind == TD_EMU_READS && (!writes || atomic)) continue;
        const td_emu_op *op = td_order_unordered(order, seen, span->tick);
        *written = span->kind == TD_EMU_WRITES;
        if (op != NULL) return op;
    }
    return NULL;
}

static uint64_t head_of(const void *from, uint64_t bytes) { return bytes < TD_EMU_HEAD ? 0 : td_hash64(from, TD_EMU_HEAD); }

void td_order_digest(td_emu_order *order, uint64_t digest)
{
    td_emu_span *span = span_at(order, order->span_count - 1);
    span->digest = digest;
    span->head = head_of((const void *)span->begin, span->end - span->begin);
}

const td_emu_op *td_order_changed_source(const td_emu_order *order, const void *from, uint64_t bytes, uint64_t digest)
{
    uint64_t head = head_of(from, bytes);
    for (uint64_t i = order->first_span; order->races && i < order->span_count; i++) {
        const td_emu_span *span = span_at(order, i);
        if (span->begin != (uintptr_t)from || span->digest == 0) continue;
        bool same = span->end - span->begin == bytes ? span->digest == digest
                                                     : head == 0 || span->head == 0 || span->head == head;
        const td_emu_op *op = same ? NULL : td_order_unordered(order, order->host, span->tick);
        if (op != NULL) return op;
    }
    return NULL;
}

const td_emu_op *td_order_unsynchronized(const td_emu_order *order, uintptr_t begin, uintptr_t end)
{
    for (uint64_t i = order->first_span; order->on && i < order->span_count; i++) {
        const td_emu_span *span = span_at(order, i);
        if (begin >= span->end || end <= span->begin) continue;
        const td_emu_op *op = td_order_unordered(order, order->host, span->tick);
        if (op != NULL) return op;
    }
    return NULL;
}

/* A kernel that nothing orders before this clock accessed one of these words: wrote it, or for `writes` read it. */
static const td_emu_op *find_kernel(const td_emu_order *order, const uint32_t *seen, uint32_t since,
                                    const td_region *region, uintptr_t at, uint64_t bytes, bool writes, bool *written)
{
    if (region->cells == NULL || region->used < since) return NULL;
    uint64_t first = (at - region->begin) / 4, end = (at - region->begin + bytes + 3) / 4;
    for (uint64_t i = first; i < end; i++) {
        uint32_t wrote = (uint32_t)(region->cells[i].written >> 32), touched = (uint32_t)(region->cells[i].touched >> 32);
        const td_emu_op *op = wrote >= since && wrote > 0 ? td_order_unordered(order, seen, wrote) : NULL;
        *written = op != NULL;
        if (op == NULL && writes && touched >= since && touched > 0) op = td_order_unordered(order, seen, touched);
        if (op != NULL) return op;
    }
    return NULL;
}

const char *td_op_describe(const td_emu_op *op, char words[TD_OP_WORDS])
{
    char name[128], place[TD_SITE_WORDS];
    td_site site = td_host_line(op->caller, name, sizeof name);
    snprintf(words, TD_OP_WORDS, "%s%s (%s, queued at %s)", op->kernel ? "kernel " : "the ", op->what, op->place,
             td_site_words(site, place));
    return words;
}

td_status td_order_touch(td_emu_order *order, const uint32_t *seen, const td_emu_op *me, const td_device *device,
                         const void *memory, uint64_t bytes, td_emu_span_kind kind)
{
    char mine[TD_OP_WORDS], other[TD_OP_WORDS];
    if (!order->on || bytes == 0) return TD_OK;
    uintptr_t at = (uintptr_t)memory;
    uint32_t since = td_order_since(order, seen);
    const td_region *region = td_region_find(order->regions, at, bytes);
    bool writes = kind == TD_EMU_WRITES, written = false;
    td_order_add_span(order, (td_emu_span){.begin = at, .end = at + bytes, .tick = me->tick, .kind = kind});
    if (since == UINT32_MAX || !order->races) return TD_OK;
    const td_emu_op *found = td_order_conflict(order, seen, since, at, bytes, writes, false, &written);
    if (found == NULL && region != NULL)
        found = find_kernel(order, seen, since, region, at, bytes, writes, &written);
    if (found == NULL) return TD_OK;
    const char *memory_words = region != NULL && region->device != NULL ? region->device->name : "pinned host memory";
    return td_fail(TD_DEVICE, "%s: race between streams: %s %s %llu bytes of %s%s that %s %s; nothing orders them: wait "
                   "for an event recorded behind the first, or synchronize its stream", device->name,
                   td_op_describe(me, mine), writes ? "writes" : "reads", (unsigned long long)bytes,
                   region != NULL && region->device != NULL ? "the memory of " : "", memory_words,
                   td_op_describe(found, other), written ? "wrote" : "read");
}

void td_order_forget(td_emu_order *order, bool (*misses)(void *context, const td_emu_op *op), void *context)
{
    while (order->first_op < order->op_count) {
        const td_emu_op *op = op_at(order, order->first_op);
        if (!is_before(op, order->host) || misses(context, op)) break;
        order->first_op++;
    }
    uint32_t oldest = order->first_op < order->op_count ? op_at(order, order->first_op)->tick : UINT32_MAX;
    while (order->first_span < order->span_count && span_at(order, order->first_span)->tick < oldest)
        order->first_span++;
}

void td_order_clear(td_emu_order *order)
{
    order->first_op = order->op_count;
    order->first_span = order->span_count;
}
