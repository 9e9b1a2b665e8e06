/* The happens-before relation across streams, devices and the host.
 *
 * Every stream is an actor; its operations are numbered. A stream knows, for every actor, the last operation
 * that came before its own next one (a vector clock): its own, those before events that it waited for, and those
 * that the host knew to be done when it queued the operation. The host learns by synchronizing and by completions.
 *
 * Operations are executed one after the other, each with ticks of its own (watch.h), so the tick in a cell of the
 * watch identifies the operation. Copies and fills leave a span instead of cells. Two accesses of operations that
 * nothing orders, one of them a plain write, a copy's or a fill's, race. */
#ifndef TD_DEVICE_EMULATOR_ORDER_H
#define TD_DEVICE_EMULATOR_ORDER_H

#include "device/emulator/regions.h"

enum { TD_EMU_ACTORS = 256 };  /* most streams that are open at a time */
enum { TD_EMU_REMEMBERED = 1024 }; /* operations, and spans, that may still be unordered with others */

/* A copy of a vector clock; shared by all operations that were queued while it did not change. */
typedef struct td_emu_snapshot {
    struct td_emu_snapshot *next; /* of the unused ones */
    uint32_t references;
    uint32_t seen[TD_EMU_ACTORS];
} td_emu_snapshot;

/* An operation that was executed. */
typedef struct td_emu_op {
    uint32_t actor, number, tick;
    bool kernel;
    const char *what;    /* the kernel's name, or "copy to the device" */
    const void *caller;  /* the code that queued it */
    char place[32];      /* "stream 1 of emu:0" */
} td_emu_op;

typedef enum td_emu_span_kind { TD_EMU_READS, TD_EMU_WRITES, TD_EMU_KERNEL } td_emu_span_kind;

/* Memory that an operation accessed; of a kernel, the whole region, so that freeing it too early is found. */
typedef struct td_emu_span {
    uintptr_t begin, end;
    uint32_t tick;
    td_emu_span_kind kind;
    uint64_t digest, head; /* of host memory that a copy reads: of all of it, and of its first bytes */
} td_emu_span;

enum { TD_EMU_HEAD = 64 };

typedef struct td_emu_completion {
    uint64_t time;
    td_emu_snapshot *snapshot;
} td_emu_completion;

typedef struct td_emu_order {
    bool on, races; /* races: reports them */
    td_regions *regions;
    uint32_t host[TD_EMU_ACTORS];    /* the host's vector clock */
    uint32_t counts[TD_EMU_ACTORS];  /* operations of each actor so far */
    bool taken[TD_EMU_ACTORS];
    td_emu_snapshot *host_snapshot;      /* a copy of it, until it changes */
    td_emu_snapshot *unused;
    td_emu_op *ops;                  /* rings of TD_EMU_REMEMBERED, by their ticks */
    td_emu_span *spans;
    uint64_t first_op, op_count, first_span, span_count; /* numbers that only grow */
    td_emu_completion *completions;          /* by time */
    uint32_t completion_count, completion_room;
} td_emu_order;

td_status td_order_open(td_emu_order *order, td_regions *regions, bool on, bool races);
void td_order_close(td_emu_order *order);
uint64_t td_order_bytes(void);

td_status td_order_add_stream(td_emu_order *order, uint32_t *actor); /* a new stream */
void td_order_remove_stream(td_emu_order *order, uint32_t actor);

/* A copy of a clock; NULL while order is off. */
td_status td_order_snapshot(td_emu_order *order, const uint32_t *seen, td_emu_snapshot **out);
td_status td_order_snapshot_host(td_emu_order *order, td_emu_snapshot **out);
void td_order_release(td_emu_order *order, td_emu_snapshot *snapshot);

/* Merges a snapshot into a clock: what happened before the snapshot happens before the clock's next operation. */
void td_order_merge(uint32_t *seen, const td_emu_snapshot *snapshot);

/* Merges the clock `other` into the clock `seen`. */
void td_order_merge_clock(uint32_t *seen, const uint32_t *other);

/* Merges a clock into the host's. */
void td_order_merge_host(td_emu_order *order, const uint32_t *seen);

/* Completions merge a snapshot into the host's clock: reserves room for so many; adds one, at this virtual time; the
 * host has handled those up to this time. */
td_status td_order_reserve(td_emu_order *order, uint32_t count);
void td_order_complete_at(td_emu_order *order, uint64_t time, td_emu_snapshot *snapshot);
void td_order_delivered(td_emu_order *order, uint64_t time);

/* An operation begins: `seen` is its stream's clock. The returned operation stays until the next begins. */
td_emu_op *td_order_begin(td_emu_order *order, uint32_t *seen, td_emu_op op);

/* A paused operation resumes after others were executed: the rest of it is a further operation of its stream. */
void td_order_resume(td_emu_order *order, uint32_t *seen, td_emu_op *op);

/* The operation that a tick belongs to; NULL: it was removed. */
const td_emu_op *td_order_operation(const td_emu_order *order, uint32_t tick);

/* Operations whose tick is at least that may not be ordered before one with this clock. */
uint32_t td_order_since(const td_emu_order *order, const uint32_t *seen);

/* The operation that a tick belongs to, if it is not ordered before one with this clock; NULL otherwise. */
const td_emu_op *td_order_unordered(const td_emu_order *order, const uint32_t *seen, uint32_t tick);

/* A copy or fill touches memory: TD_DEVICE with the two operations if another one that nothing orders does too. */
td_status td_order_touch(td_emu_order *order, const uint32_t *seen, const td_emu_op *me, const td_device *device,
                         const void *memory, uint64_t bytes, td_emu_span_kind kind);
void td_order_digest(td_emu_order *order, uint64_t digest); /* of the source that was touched last */
void td_order_add_span(td_emu_order *order, td_emu_span span);

/* An unordered copy or fill that conflicts with a kernel's access; NULL: none. */
const td_emu_op *td_order_conflict(const td_emu_order *order, const uint32_t *seen, uint32_t since, uintptr_t at,
                                   uint64_t bytes, bool writes, bool atomic, bool *written);

/* A copy from this place in host memory that the host has not synchronized with, and that read other bytes than are
 * there: the host changed its source too early. NULL: none. */
const td_emu_op *td_order_changed_source(const td_emu_order *order, const void *from, uint64_t bytes, uint64_t digest);

/* An operation on this memory that the host has not synchronized with; NULL: none. */
const td_emu_op *td_order_unsynchronized(const td_emu_order *order, uintptr_t begin, uintptr_t end);

/* Removes operations that happened before every later one: those in the host's clock, unless `misses` says that work
 * which is already queued may not be ordered after them. */
void td_order_forget(td_emu_order *order, bool (*misses)(void *context, const td_emu_op *op), void *context);
void td_order_clear(td_emu_order *order); /* ticks begin again */

#define TD_OP_WORDS 256
const char *td_op_describe(const td_emu_op *op, char words[TD_OP_WORDS]);

#endif
