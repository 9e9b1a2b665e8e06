/* What happened before what, across streams, devices and the host.
 *
 * Every stream is an actor; its operations are numbered. A stream knows, for every actor, the last operation
 * that came before its own next one (a vector clock): its own, those before events that it waited for, and those
 * that the host knew to be done when it queued the operation. The host learns by synchronizing and by completions.
 *
 * Operations are carried out one after the other, each with ticks of its own (watch.h), so the tick in a cell of the
 * watch tells the operation. Copies and fills leave a span instead of cells. Two accesses of operations that
 * nothing orders, one of them a plain write, a copy's or a fill's, race. */
#ifndef TD_DEVICE_EMULATOR_ORDER_H
#define TD_DEVICE_EMULATOR_ORDER_H

#include "device/emulator/regions.h"

enum { TD_EMU_ACTORS = 256 };  /* most streams that are open at a time */
enum { TD_EMU_REMEMBERED = 1024 }; /* operations, and spans, that may still be unordered with others */

/* A vector clock as it was at some moment; shared by those who saw it then. */
typedef struct td_emu_moment {
    struct td_emu_moment *next; /* of the unused ones */
    uint32_t holders;
    uint32_t seen[TD_EMU_ACTORS];
} td_emu_moment;

/* An operation that was carried out. */
typedef struct td_emu_op {
    uint32_t actor, number, tick;
    bool kernel;
    const char *what;    /* the kernel's name, or "copy to the device" */
    const void *caller;  /* the code that queued it */
    char place[32];      /* "stream 1 of emu:0" */
} td_emu_op;

typedef enum td_emu_span_kind { TD_EMU_READS, TD_EMU_WRITES, TD_EMU_KERNEL } td_emu_span_kind;

/* Memory that an operation touched; of a kernel, all of a region, for those who free it. */
typedef struct td_emu_span {
    uintptr_t begin, end;
    uint32_t tick;
    td_emu_span_kind kind;
    uint64_t digest, head; /* of host memory that a copy reads: of all of it, and of its first bytes */
} td_emu_span;

enum { TD_EMU_HEAD = 64 };

typedef struct td_emu_notice {
    uint64_t time;
    td_emu_moment *moment;
} td_emu_notice;

typedef struct td_emu_order {
    bool on, races; /* races: reports them */
    td_regions *regions;
    uint32_t host[TD_EMU_ACTORS];    /* what the host knows */
    uint32_t counts[TD_EMU_ACTORS];  /* operations of each actor so far */
    bool taken[TD_EMU_ACTORS];
    td_emu_moment *host_moment;      /* the host's knowledge, while it stays the same */
    td_emu_moment *unused;
    td_emu_op *ops;                  /* rings of TD_EMU_REMEMBERED, by their ticks */
    td_emu_span *spans;
    uint64_t first_op, op_count, first_span, span_count; /* numbers that only grow */
    td_emu_notice *notices;          /* by time */
    uint32_t notice_count, notice_room;
} td_emu_order;

td_status td_order_open(td_emu_order *order, td_regions *regions, bool on, bool races);
void td_order_close(td_emu_order *order);
uint64_t td_order_bytes(void);

td_status td_order_join(td_emu_order *order, uint32_t *actor); /* a new stream */
void td_order_leave(td_emu_order *order, uint32_t actor);

/* What a clock says now, to keep; NULL without order. */
td_status td_order_keep(td_emu_order *order, const uint32_t *seen, td_emu_moment **out);
td_status td_order_keep_host(td_emu_order *order, td_emu_moment **out);
void td_order_drop(td_emu_order *order, td_emu_moment *moment);

/* What came before the moment came before whatever the owner of `seen` does next. */
void td_order_learn(uint32_t *seen, const td_emu_moment *moment);

/* What came before what the owner of `other` does next, came before what the owner of `seen` does next. */
void td_order_join_clocks(uint32_t *seen, const uint32_t *other);

/* The host knows what this clock knows. */
void td_order_host_learns(td_emu_order *order, const uint32_t *seen);

/* Room for so many completions that will tell the host of a moment; one will, at this time; it has come. */
td_status td_order_expect(td_emu_order *order, uint32_t count);
void td_order_notice(td_emu_order *order, uint64_t time, td_emu_moment *moment);
void td_order_delivered(td_emu_order *order, uint64_t time);

/* An operation begins: `seen` is its stream's clock. The returned operation stays until the next begins. */
td_emu_op *td_order_begin(td_emu_order *order, uint32_t *seen, td_emu_op op);

/* The operation goes on after others were carried out: what it does from now on is a further one of its stream. */
void td_order_again(td_emu_order *order, uint32_t *seen, td_emu_op *op);

/* The operation that a tick belongs to; NULL: it is forgotten. */
const td_emu_op *td_order_of(const td_emu_order *order, uint32_t tick);

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

/* A copy from this place in host memory that the host does not know to be done, and that read something else than what is
 * there: the host changed it too early. NULL: none. */
const td_emu_op *td_order_changed(const td_emu_order *order, const void *from, uint64_t bytes, uint64_t digest);

/* An operation on this memory that the host does not know to be done; NULL: none. */
const td_emu_op *td_order_unknown(const td_emu_order *order, uintptr_t begin, uintptr_t end);

/* Forgets operations that came before everything to come: those that the host knows of, unless `misses` says that work
 * which is already queued may not be ordered behind them. */
void td_order_forget(td_emu_order *order, bool (*misses)(void *context, const td_emu_op *op), void *context);
void td_order_clear(td_emu_order *order); /* ticks begin again */

#define TD_OP_WORDS 256
const char *td_op_describe(const td_emu_op *op, char words[TD_OP_WORDS]);

#endif
