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
    td_order_drop(order, order->host_moment);
    for (uint32_t i = 0; i < order->notice_count; i++) td_order_drop(order, order->notices[i].moment);
    for (td_emu_moment *next; order->unused != NULL; order->unused = next) {
        next = order->unused->next;
        td_free(order->unused);
    }
    td_free(order->ops);
    td_free(order->spans);
    td_free(order->notices);
    *order = (td_emu_order){0};
}

td_status td_order_join(td_emu_order *order, uint32_t *actor)
{
    for (uint32_t i = 0; i < TD_EMU_ACTORS; i++) {
        if (order->taken[i]) continue;
        order->taken[i] = true;
        *actor = i;
        return TD_OK;
    }
    return td_fail(TD_LIMIT, "%d streams of emulated devices are open; there can be no more", TD_EMU_ACTORS);
}

void td_order_leave(td_emu_order *order, uint32_t actor) { order->taken[actor] = false; }

/* Moments. */

td_status td_order_keep(td_emu_order *order, const uint32_t *seen, td_emu_moment **out)
{
    td_emu_moment *moment = order->unused;
    *out = NULL;
    if (!order->on) return TD_OK;
    if (moment != NULL) order->unused = moment->next;
    else TD_CHECK(TD_NEW(&moment, 1, "vector clock"));
    moment->next = NULL;
    moment->holders = 1;
    memcpy(moment->seen, seen, sizeof moment->seen);
    *out = moment;
    return TD_OK;
}

td_status td_order_keep_host(td_emu_order *order, td_emu_moment **out)
{
    *out = NULL;
    if (!order->on) return TD_OK;
    if (order->host_moment == NULL) TD_CHECK(td_order_keep(order, order->host, &order->host_moment));
    order->host_moment->holders++;
    *out = order->host_moment;
    return TD_OK;
}

void td_order_drop(td_emu_order *order, td_emu_moment *moment)
{
    if (moment == NULL || --moment->holders > 0) return;
    moment->next = order->unused;
    order->unused = moment;
}

static void join(uint32_t *mine, const uint32_t *other)
{
    for (uint32_t i = 0; i < TD_EMU_ACTORS; i++) mine[i] = mine[i] > other[i] ? mine[i] : other[i];
}

void td_order_join_clocks(uint32_t *seen, const uint32_t *other) { join(seen, other); }

void td_order_learn(uint32_t *seen, const td_emu_moment *moment)
{
    if (moment != NULL) join(seen, moment->seen);
}

void td_order_host_learns(td_emu_order *order, const uint32_t *seen)
{
    if (!order->on) return;
    join(order->host, seen);
    td_order_drop(order, order->host_moment);
    order->host_moment = NULL;
}

td_status td_order_expect(td_emu_order *order, uint32_t count)
{
    if (!order->on || order->notice_count + count <= order->notice_room) return TD_OK;
    uint32_t room = (order->notice_count + count) * 2 + 16;
    TD_CHECK(TD_RESIZE(&order->notices, room, "completions of emulated streams"));
    order->notice_room = room;
    return TD_OK;
}

void td_order_notice(td_emu_order *order, uint64_t time, td_emu_moment *moment)
{
    if (!order->on) return;
    uint32_t at = order->notice_count++;
    for (; at > 0 && order->notices[at - 1].time > time; at--) order->notices[at] = order->notices[at - 1];
    order->notices[at] = (td_emu_notice){time, moment};
}

void td_order_delivered(td_emu_order *order, uint64_t time)
{
    uint32_t count = 0;
    for (; count < order->notice_count && order->notices[count].time <= time; count++) {
        td_order_host_learns(order, order->notices[count].moment->seen);
        td_order_drop(order, order->notices[count].moment);
    }
    if (count == 0) return;
    order->notice_count -= count;
    memmove(order->notices, order->notices + count, order->notice_count * sizeof *order->notices);
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

void td_order_again(td_emu_order *order, uint32_t *seen, td_emu_op *op)
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
const td_emu_op *td_order_of(const td_emu_order *order, uint32_t tick)
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
    const td_emu_op *op = td_order_of(order, tick);
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

const td_emu_op *td_order_changed(const td_emu_order *order, const void *from, uint64_t bytes, uint64_t digest)
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

const td_emu_op *td_order_unknown(const td_emu_order *order, uintptr_t begin, uintptr_t end)
{
    for (uint64_t i = order->first_span; order->on && i < order->span_count; i++) {
        const td_emu_span *span = span_at(order, i);
        if (begin >= span->end || end <= span->begin) continue;
        const td_emu_op *op = td_order_unordered(order, order->host, span->tick);
        if (op != NULL) return op;
    }
    return NULL;
}

/* A kernel that nothing orders before this clock touched one of these words: wrote it, or for `writes` read it. */
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
    char name[128];
    td_site site = td_code_line(op->caller, name, sizeof name);
    snprintf(words, TD_OP_WORDS, "%s%s (%s, queued at %s:%d)", op->kernel ? "kernel " : "the ", op->what, op->place,
             td_emu_file(site.file), site.line);
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
