#include "device/emulator/watch.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "device/emulator/code_line.h"
#include "device/emulator/emulator.h"
#include "device/emulator/watch_report.h"

#include <stdio.h>
#include <string.h>

static struct watch {
    bool on, races;
    bool mixed;       /* other operations ran since the launch began */
    uint32_t began;   /* the launch's first tick */
    uint32_t last_barrier;
    uint32_t since;   /* operations of earlier ticks came before this launch; UINT32_MAX: all did */
    const uint32_t *tick;
    td_emu_machine *machine;
} watch;

/* Ticks have run out: later accesses cannot be ordered. */
uint32_t td_emu_tick(void)
{
    uint32_t *tick = &td_emu_now->regions->tick;
    if (*tick == UINT32_MAX) watch.races = false;
    else ++*tick;
    return *tick;
}

void td_watch_set_barrier(void) { watch.last_barrier = td_emu_tick(); }

/* Other members of a joint launch do not take part. */
void td_watch_grid_barrier(void)
{
    uint32_t tick = td_emu_tick();
    if (td_emu_now->joint != NULL) td_emu_now->last_grid_barrier = tick;
    else watch.last_barrier = tick;
}

bool td_watch_on(void) { return watch.on; }
void td_watch_stop(void) { watch.on = false; }

static uint64_t cells_of(uint64_t bytes) { return (bytes + 3) / 4; }

static void forget_ticks(td_emu_machine *machine)
{
    for (uint32_t i = 0; i < machine->blocks_room; i++)
        if (machine->blocks[i].cells != NULL)
            memset(machine->blocks[i].cells, 0, cells_of(machine->arena_bytes) * sizeof *machine->blocks[i].cells);
    for (uint32_t i = 0; i < machine->threads_room; i++)
        memset(machine->threads[i].seen, 0, sizeof machine->threads[i].seen);
    machine->era = machine->regions->era;
}

static void begin_ticks(td_emu_machine *machine)
{
    if (machine->era != machine->regions->era) forget_ticks(machine);
    watch.began = watch.last_barrier = td_emu_tick();
}

void td_watch_member(td_emu_machine *machine) { watch.machine = machine; }

void td_watch_start_joint(td_emu_joint *joint)
{
    for (uint32_t i = 1; i < joint->count; i++)
        if (joint->member[i]->era != joint->member[i]->regions->era) forget_ticks(joint->member[i]);
    td_watch_start(joint->member[0]);
}

#if !defined(TANDEM_EMULATOR_WATCH)

bool td_watch_built(void) { return false; }

uint64_t td_watch_cells_bytes(uint64_t bytes)
{
    (void)bytes;
    return 0;
}

td_status td_watch_cells(td_emu_cell **out, uint64_t bytes)
{
    (void)bytes;
    *out = NULL;
    return TD_OK;
}

void td_watch_start(td_emu_machine *machine) { begin_ticks(machine); }
void td_watch_pause(td_emu_machine *machine) { (void)machine; }
void td_watch_resume(td_emu_machine *machine) { (void)machine; }

#else

/* Accesses between two checks whether the launch makes progress and whether the run was cancelled. */
enum { CHECK_EVERY = 1 << 20 };

/* Atomics between two yields of a thread: other threads see its unfinished work, and a thread that spins on a word
 * does not spin for ever. */
enum { YIELD_EVERY = 61 };

enum { KNOWN_PAGES = 512, PAGE_BITS = 12 };
static uint32_t until_check, until_yield;
/* Yields without progress after which a launch that waits for other GPUs is paused. */
enum { IDLE_YIELDS = 64 };
/* Yields of a member of a joint launch between two that resume another member. */
enum { MEMBER_YIELDS = 8 };
static uint32_t idle_yields;
static uint64_t checks; /* in a row, without progress */
static uint64_t progress; /* at the last check */
static td_region *known[KNOWN_PAGES]; /* by page: the region of the last access to it */

bool td_watch_built(void) { return true; }

uint64_t td_watch_cells_bytes(uint64_t bytes) { return cells_of(bytes) * sizeof(td_emu_cell); }

td_status td_watch_cells(td_emu_cell **out, uint64_t bytes)
{
    return TD_NEW_ZEROED(out, cells_of(bytes), "the emulator's watch");
}

/* Regions with a copy or fill that is not ordered before the launch: their accesses are compared with it. */
static void find_suspects(td_emu_machine *machine)
{
    td_regions *regions = machine->regions;
    const td_emu_order *order = machine->order;
    bool written;
    watch.since = order->on && machine->races ? td_order_since(order, machine->seen) : UINT32_MAX;
    for (uint64_t i = 0; i < regions->count; i++) {
        td_region *region = &regions->list[i];
        region->suspect = watch.since != UINT32_MAX &&
                          td_order_conflict(order, machine->seen, watch.since, region->begin,
                                            region->end - region->begin, true, false, &written) != NULL;
    }
}

void td_watch_start(td_emu_machine *machine)
{
    begin_ticks(machine);
    find_suspects(machine);
    memset(known, 0, sizeof known);
    watch.machine = machine;
    watch.tick = &machine->regions->tick;
    watch.races = machine->races;
    watch.on = true;
    watch.mixed = machine->beside;
    until_check = CHECK_EVERY;
    until_yield = YIELD_EVERY;
    idle_yields = 0;
    checks = 0;
    progress = 0;
}

void td_watch_pause(td_emu_machine *machine)
{
    machine->watched = (td_watch_state){watch.races, watch.mixed, watch.began, watch.last_barrier, until_check,
                                        until_yield, idle_yields, checks, progress};
}

void td_watch_resume(td_emu_machine *machine)
{
    const td_watch_state *kept = &machine->watched;
    watch.races = kept->races;
    watch.mixed = true;
    watch.began = kept->began;
    watch.last_barrier = kept->last_barrier;
    until_check = kept->until_check;
    until_yield = kept->until_yield;
    idle_yields = 0;
    checks = kept->checks;
    progress = kept->progress;
    find_suspects(machine);
    memset(known, 0, sizeof known);
    watch.machine = machine;
    watch.tick = &machine->regions->tick;
    watch.on = true;
}

/* The number of a cell's thread in the current block; at least block->threads if it belongs to another block. */
static inline uint32_t number_in_block(const td_emu_fiber_thread *me, uint64_t cell)
{
    return (thread_of(cell) - (me->id - me->self.thread)) & THREAD_MASK;
}

static inline bool is_of_member(uint64_t cell) { return td_cell_is_of(watch.machine, cell); }

/* Whether the cell's access happened before the current thread's next one. */
static bool is_past(const td_emu_fiber_thread *me, uint64_t cell)
{
    uint32_t scope = scope_of(cell), tick = tick_of(cell), other = number_in_block(me, cell);
    if (scope == ONE_THREAD && other == me->self.thread) return true;
    if (tick < watch.machine->last_grid_barrier && scope <= SEVERAL_BLOCKS && is_of_member(cell)) return true;
    if (scope >= SEVERAL_BLOCKS || other >= me->block->threads) return false;
    if (tick < me->block->met) return true;
    if (scope == ONE_BLOCK || other / TD_EMU_WARP != me->self.thread / TD_EMU_WARP) return false;
    return me->seen[other % TD_EMU_WARP] > tick;
}

static uint32_t common_scope(const td_emu_fiber_thread *me, uint64_t cell)
{
    uint32_t other = number_in_block(me, cell), scope = is_of_member(cell) ? SEVERAL_BLOCKS : SEVERAL_MEMBERS;
    if (other < me->block->threads)
        scope = other / TD_EMU_WARP == me->self.thread / TD_EMU_WARP ? ONE_WARP : ONE_BLOCK;
    return scope > scope_of(cell) ? scope : scope_of(cell);
}

static void check_earlier(uint64_t cell, access_kind kind, bool written, const void *code)
{
    if (tick_of(cell) >= watch.began && !watch.mixed) return;
    const td_emu_op *other = td_order_unordered(watch.machine->order, watch.machine->seen, tick_of(cell));
    if (other != NULL) td_watch_report_unordered(watch.machine, code, kind, other, written);
}

/* Whether a cell that is no older than the launch is of another operation, executed while the launch was paused. */
static bool is_foreign(uint64_t cell)
{
    const td_emu_op *op = td_order_operation(watch.machine->order, tick_of(cell));
    return op != NULL && op->actor != watch.machine->actor;
}

/* Kernels of two GPUs synchronize by atomics: an access to a word is ordered after the earlier atomic on it. */
static __attribute__((noinline)) void meet(const td_emu_cell *cell, access_kind kind)
{
    uint32_t tick = tick_of(cell->touched);
    const td_emu_op *op = tick > 0 ? td_order_operation(watch.machine->order, tick) : NULL;
    uint32_t *seen = watch.machine->seen;
    if (kind < ATOMIC || op == NULL || seen[op->actor] >= op->number) return;
    seen[op->actor] = op->number;
}

static const char *name_of_member(uint64_t cell) { return td_cell_member(watch.machine, cell)->device->name; }

/* Whether the thread of a cell is one of this member, or of a slice of the same GPU. */
static bool is_of_gpu(uint64_t cell)
{
    const td_emu_machine *m = watch.machine;
    return is_of_member(cell) || td_cell_member(m, cell)->first_slice == m->first_slice;
}

/* The cell `now` of an access of this kind with the change it makes, after the access in `touched` (recent: of this
 * round). An atomic of device scope is a plain access for threads of other devices. */
static __attribute__((noinline)) uint64_t change(uint64_t touched, bool recent, uint64_t now, access_kind kind,
                                                 const void *code)
{
    char name[TD_EMU_WORDS];
    uint32_t mine = kind == ATOMIC ? CHANGED : kind == ATOMIC_DEVICE ? CHANGED_FOR_DEVICE : UNCHANGED;
    uint32_t before = recent ? change_of(touched) : UNCHANGED;
    if (!recent || is_of_gpu(touched)) return with_change(now, mine > before ? mine : before);
    if (mine != UNCHANGED && before != UNCHANGED && mine + before > 2 * CHANGED)
        td_emu_break(td_code_line(code, name, sizeof name),
                     "an atomic of one device's threads: it changes a word that %s changes too, with no set barrier "
                     "between; TD_ADD_SYSTEM and the like are atomic among devices", name_of_member(touched));
    /* A load leaves the record of the thread that changed the word. */
    if (mine == UNCHANGED && before != UNCHANGED)
        return with_change(cell_make(tick_of(now), thread_of(touched), scope_of(now), bytes_of(now)), before);
    return with_change(now, mine);
}

/* The cells' accesses from `begin` on are compared as threads of one launch, those from `since` on as operations of
 * streams. */
static inline void touch_word(td_emu_cell *cell, uint32_t bytes, access_kind kind, uint32_t begin, uint32_t since,
                              bool shared, const void *code)
{
    const td_emu_fiber_thread *me = td_emu_running;
    uint64_t mine = cell_make(*watch.tick, me->id, ONE_THREAD, bytes);
    uint64_t written = cell->written, touched = cell->touched;
    bool mixed = watch.mixed && !shared, joint = watch.machine->joint != NULL && !shared;
    if (mixed) meet(cell, kind);
    if (tick_of(written) >= since && (bytes_of(written) & bytes) != 0) {
        if (tick_of(written) < begin || (mixed && is_foreign(written))) check_earlier(written, kind, true, code);
        else if (!is_past(me, written)) td_watch_report_race(watch.machine, code, kind, written, true, shared);
    }
    bool recent = tick_of(touched) >= begin && (bytes_of(touched) & bytes) != 0 && !(mixed && is_foreign(touched));
    if (kind == PLAIN_WRITE) {
        if (recent && !is_past(me, touched)) td_watch_report_race(watch.machine, code, kind, touched, false, shared);
        if (!recent && tick_of(touched) >= since && (bytes_of(touched) & bytes) != 0)
            check_earlier(touched, kind, false, code);
        cell->written = mine;
        cell->touched = 0;
    } else if (recent && touched != mine && !is_past(me, touched)) {
        uint64_t now = cell_make(tick_of(mine), me->id, common_scope(me, touched), bytes & bytes_of(touched));
        cell->touched = joint ? change(touched, true, now, kind, code) : now;
    } else {
        cell->touched = joint ? change(touched, recent, mine, kind, code) : mine;
    }
}

static void touch_words(td_emu_cell *cells, uint64_t at, uint64_t bytes, access_kind kind, uint32_t begin,
                        uint32_t since, bool shared, const void *code)
{
    for (uint64_t end = at + bytes; at < end;) {
        uint64_t next = (at | 3) + 1 < end ? (at | 3) + 1 : end;
        touch_word(&cells[at / 4], ((1u << (next - at)) - 1) << at % 4, kind, begin, since, shared, code);
        at = next;
    }
}

static inline bool holds(const td_emu_shared_piece *piece, uint64_t at, uint64_t bytes)
{
    return at >= piece->begin && at + bytes <= (uint64_t)piece->begin + piece->bytes;
}

static void touch_shared(td_emu_block *block, uint64_t at, uint64_t bytes, access_kind kind, const void *code)
{
    char name[TD_EMU_WORDS];
    uint32_t i = 0;
    while (i < block->pieces && !holds(&block->piece[i], at, bytes)) i++;
    if (i == block->pieces)
        td_emu_break(td_code_line(code, name, sizeof name),
                     "%s %llu bytes of shared memory outside of what was asked for",
                     kind == PLAIN_READ ? "reads" : "writes", (unsigned long long)bytes);
    td_emu_now->work.shared_accesses++;
    if (watch.races) touch_words(block->cells, at, bytes, kind, block->began, block->began, true, code);
}

/* Slices of one GPU have one memory, whichever of them allocated it. */
static bool is_peer(const td_region *region)
{
    const td_emu_machine *m = watch.machine;
    return region->device != NULL && (uint32_t)(region->number - m->first_slice) >= (uint32_t)m->slices;
}

/* Reads come over the link from the other GPU, writes go over the link to it. */
static void count_peer(const td_region *region, uint64_t bytes, access_kind kind)
{
    td_emu_work *work = &watch.machine->work;
    td_emulator *self = td_emulator_of(watch.machine->device), *peer = td_emulator_of(region->device);
    work->peer_bytes += bytes;
    work->peer_ns += (double)bytes / watch.machine->peer_rate[region->number];
    if (kind == PLAIN_READ || kind == ATOMIC_LOAD) {
        peer->to[self->number].reads++;
        peer->to[self->number].read_bytes += bytes;
    } else {
        self->to[peer->number].writes++;
        self->to[peer->number].written_bytes += bytes;
    }
}

static void check_copies(uintptr_t at, uint64_t bytes, access_kind kind, const void *code)
{
    bool written = false, writes = kind == PLAIN_WRITE || is_change(kind);
    const td_emu_op *other = td_order_conflict(watch.machine->order, watch.machine->seen, watch.since, at, bytes, writes,
                                               is_change(kind), &written);
    if (other != NULL) td_watch_report_unordered(watch.machine, code, kind, other, written);
}

static void touch_host(td_region *region, uintptr_t at, uint64_t bytes, access_kind kind)
{
    td_hull *hull = kind == PLAIN_READ ? &region->reads : &region->writes;
    watch.machine->work.host_bytes += bytes;
    if (kind >= ATOMIC) return;
    if (hull->bytes == 0 || at < hull->begin) hull->begin = at;
    if (at + bytes > hull->end) hull->end = at + bytes;
    hull->bytes += bytes;
}

static uint64_t stale_key(const td_region *region, uintptr_t at)
{
    return region->id << 44 | ((at & ~(uintptr_t)7) - region->begin);
}

/* The tick that current changes are recorded with: the launch's; in a joint launch that of the last set barrier. */
static uint32_t round_of(void) { return watch.machine->joint != NULL ? watch.last_barrier : watch.began; }

static void note_change(const td_region *region, uintptr_t at, uint64_t bytes)
{
    for (uintptr_t word = at & ~(uintptr_t)7; word < at + bytes; word += 8)
        td_stale_change(watch.machine->stale, stale_key(region, word), (const void *)word, watch.machine->first_slice,
                        round_of());
}

/* Places that are neither the device's nor the block's: the thread's own stack and numbers, the launch's
 * arguments, constants of the program. */
static bool is_own(uintptr_t at, uint64_t bytes, access_kind kind)
{
    const td_emu_machine *m = watch.machine;
    const td_emu_fiber_thread *me = td_emu_running;
    if (at - (uintptr_t)me->fiber->stack < me->fiber->bytes) return true;
    if (kind != PLAIN_READ) return false;
    return at - (uintptr_t)m->arguments < m->arguments_bytes || td_code_constant(at, bytes);
}

static td_region *region_of(uintptr_t at, uint64_t bytes)
{
    td_region **slot = &known[(at >> PAGE_BITS) % KNOWN_PAGES], *region = *slot;
    if (region != NULL && at >= region->begin && at < region->end && bytes <= region->end - at) return region;
    region = td_region_find(watch.machine->regions, at, bytes);
    if (region == NULL) return NULL;
    if (region->used != watch.began) region->reads = region->writes = (td_hull){0};
    region->used = watch.began;
    return *slot = region;
}

static void touch_device(uintptr_t at, uint64_t bytes, access_kind kind, const void *code)
{
    td_emu_work *work = &watch.machine->work;
    td_region *region = region_of(at, bytes);
    if (region == NULL && is_own(at, bytes, kind)) return;
    if (region == NULL) td_watch_refuse(watch.machine, at, bytes, kind, code);
    bool peer = is_peer(region);
    if (peer && !watch.machine->peer_enabled[region->number]) td_watch_refuse_peer(watch.machine, region, code);
    work->accesses++;
    if (kind >= ATOMIC) work->atomics++;
    if (peer) count_peer(region, bytes, kind);
    else if (region->device == NULL) touch_host(region, at, bytes, kind);
    else if (kind == PLAIN_WRITE) work->bytes_written += bytes;
    else work->bytes_read += bytes;
    if (region->suspect) check_copies(at, bytes, kind, code);
    if (watch.races && region->cells != NULL)
        touch_words(region->cells, at - region->begin, bytes, kind, watch.last_barrier,
                    watch.since < watch.last_barrier ? watch.since : watch.last_barrier, false, code);
    if (watch.machine->stale->delay > 0 && (kind == PLAIN_WRITE || is_change(kind)) && region->device != NULL)
        note_change(region, at, bytes);
}

static uint64_t progress_of_one(const td_emu_machine *m)
{
    return m->work.blocks + m->finished + m->work.barriers + m->work.grid_barriers + m->work.set_barriers +
           m->work.exchanges;
}

static uint64_t progress_of(const td_emu_machine *m)
{
    if (m->joint == NULL) return progress_of_one(m);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->joint->count; i++) sum += progress_of_one(m->joint->member[i]);
    return sum;
}

static void check_progress(const void *code)
{
    const td_emu_machine *m = watch.machine;
    char name[TD_EMU_WORDS];
    uint64_t now = progress_of(m);
    td_status status = td_cancel_check();
    until_check = CHECK_EVERY;
    checks = now == progress ? checks + 1 : 0;
    progress = now;
    if (status != TD_OK) td_emu_abandon(status);
    if (checks * CHECK_EVERY >= m->patience)
        td_emu_break(td_code_line(code, name, sizeof name),
                     "an endless loop: %llu accesses, and no thread came to an end or to a barrier",
                     (unsigned long long)(checks * CHECK_EVERY));
}

/* A launch that waits for another GPU makes no progress, however often its threads yield. */
static bool waits_for_others(void)
{
    td_emu_machine *m = watch.machine;
    if (++idle_yields % IDLE_YIELDS != 0 || m->may_pause == NULL || !m->may_pause(m)) return false;
    uint64_t now = progress_of(m);
    bool idle = now == m->progress_seen;
    m->progress_seen = now;
    return idle;
}

/* Other GPUs may have changed the word during the pause. */
static void yield_at(uintptr_t at, access_kind kind)
{
    until_yield = YIELD_EVERY;
    if (watch.machine->joint != NULL && ++idle_yields % MEMBER_YIELDS == 0) {
        td_emu_running->operations--;
        td_emu_pause();
        return;
    }
    if (watch.machine->joint == NULL && waits_for_others()) {
        td_emu_pause();
        const td_region *region = td_region_find(watch.machine->regions, at, 1);
        if (region != NULL && region->cells != NULL) meet(&region->cells[(at - region->begin) / 4], kind);
        return;
    }
    td_emu_running->operations--; /* a failed compare-and-swap does not count */
    td_emu_release(td_emu_running);
    td_emu_wait();
}

static inline __attribute__((always_inline)) void touch(const volatile void *place, uint64_t bytes, access_kind kind,
                                                        const void *code)
{
    uintptr_t at = (uintptr_t)place;
    if (!watch.on || at - (uintptr_t)td_emu_self < sizeof *td_emu_self || at == (uintptr_t)&td_emu_self) return;
    td_emu_block *block = td_emu_running->block;
    td_emu_running->operations++;
    if (at - (uintptr_t)block->shared < watch.machine->arena_bytes)
        touch_shared(block, at - (uintptr_t)block->shared, bytes, kind, code);
    else touch_device(at, bytes, kind, code);
    if (--until_check == 0) check_progress(code);
    if (kind >= ATOMIC && --until_yield == 0) yield_at(at, kind);
}

/* Whether a change of that tick has reached all GPUs: before the joint launch's last set barrier, or by an event. */
static bool is_visible(uint32_t tick)
{
    const td_emu_machine *m = watch.machine;
    if (m->joint != NULL && tick >= watch.began) return tick < watch.last_barrier;
    return td_order_unordered(m->order, m->seen, tick) == NULL;
}

/* An atomic load of a word that another GPU changed, in an operation that nothing orders before this launch, may read
 * the previous value. */
static __attribute__((noinline)) void see_stale(const volatile void *place, uint64_t bytes, void *value)
{
    const td_emu_machine *m = watch.machine;
    uintptr_t at = (uintptr_t)place;
    const td_region *region = watch.on ? td_region_find(m->regions, at, bytes) : NULL;
    if (region == NULL || region->device == NULL) return;
    td_emu_stale_word *word = td_stale_find(m->stale, stale_key(region, at), m->first_slice);
    if (word == NULL || is_visible(word->tick)) return;
    if (td_stale_draw(m->stale, word, round_of())) memcpy(value, (const char *)&word->old + at % 8, bytes);
}

/* The functions that compilers insert calls of. */
#define HERE __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

#define FIXED(name, bytes, kind)  \
    void name(void *place);       \
    void name(void *place) { touch(place, bytes, kind, HERE); }
#define SIZES(bytes)                                           \
    FIXED(__tsan_read##bytes, bytes, PLAIN_READ)               \
    FIXED(__tsan_write##bytes, bytes, PLAIN_WRITE)             \
    FIXED(__tsan_read_write##bytes, bytes, PLAIN_WRITE)        \
    FIXED(__tsan_unaligned_read##bytes, bytes, PLAIN_READ)     \
    FIXED(__tsan_unaligned_write##bytes, bytes, PLAIN_WRITE)   \
    FIXED(__tsan_unaligned_read_write##bytes, bytes, PLAIN_WRITE) \
    FIXED(__tsan_volatile_read##bytes, bytes, ATOMIC_LOAD)          \
    FIXED(__tsan_volatile_write##bytes, bytes, ATOMIC)
SIZES(1)
SIZES(2)
SIZES(4)
SIZES(8)
SIZES(16)

void __tsan_read_range(void *place, size_t bytes);
void __tsan_read_range(void *place, size_t bytes) { touch(place, bytes, PLAIN_READ, HERE); }
void __tsan_write_range(void *place, size_t bytes);
void __tsan_write_range(void *place, size_t bytes) { touch(place, bytes, PLAIN_WRITE, HERE); }

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) touch(from, bytes, PLAIN_READ, HERE);
    if (bytes > 0) touch(to, bytes, PLAIN_WRITE, HERE);
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) touch(from, bytes, PLAIN_READ, HERE);
    if (bytes > 0) touch(to, bytes, PLAIN_WRITE, HERE);
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int byte, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes)
{
    if (bytes > 0) touch(to, bytes, PLAIN_WRITE, HERE);
    return memset(to, byte, bytes);
}

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }

#define ATOMIC_OF(order) ((order) == TD_EMU_SYSTEM ? ATOMIC : ATOMIC_DEVICE)
#define ORDER __ATOMIC_RELAXED /* one host thread runs all emulated threads */
#define CHANGE(bits, type, name)                                                     \
    type __tsan_atomic##bits##_##name(volatile type *word, type value, int order);   \
    type __tsan_atomic##bits##_##name(volatile type *word, type value, int order)    \
    {                                                                                \
        touch(word, sizeof *word, ATOMIC_OF(order), HERE);                           \
        return __atomic_##name(word, value, ORDER);                                  \
    }
#define SWAP(bits, type, name)                                                                                   \
    int __tsan_atomic##bits##_##name(volatile type *word, type *old, type fresh, int order, int failed);         \
    int __tsan_atomic##bits##_##name(volatile type *word, type *old, type fresh, int order, int failed)          \
    {                                                                                                            \
        (void)failed;                                                                                            \
        touch(word, sizeof *word, ATOMIC_OF(order), HERE);                                                       \
        return __atomic_compare_exchange_n(word, old, fresh, false, ORDER, ORDER);                               \
    }
#define ATOMICS(bits, type)                                                                                      \
    type __tsan_atomic##bits##_load(const volatile type *word, int order);                                       \
    type __tsan_atomic##bits##_load(const volatile type *word, int order)                                        \
    {                                                                                                            \
        (void)order;                                                                                             \
        touch(word, sizeof *word, ATOMIC_LOAD, HERE);                                                            \
        type seen = __atomic_load_n(word, ORDER);                                                                \
        if (watch.on && watch.machine->stale->delay > 0) see_stale(word, sizeof *word, &seen);                   \
        return seen;                                                                                             \
    }                                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *word, type value, int order);                                \
    void __tsan_atomic##bits##_store(volatile type *word, type value, int order)                                 \
    {                                                                                                            \
        (void)order;                                                                                             \
        touch(word, sizeof *word, ATOMIC, HERE);                                                                 \
        __atomic_store_n(word, value, ORDER);                                                                    \
    }                                                                                                            \
    type __tsan_atomic##bits##_exchange(volatile type *word, type value, int order);                             \
    type __tsan_atomic##bits##_exchange(volatile type *word, type value, int order)                              \
    {                                                                                                            \
        touch(word, sizeof *word, ATOMIC_OF(order), HERE);                                                       \
        return __atomic_exchange_n(word, value, ORDER);                                                          \
    }                                                                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *word, type old, type fresh, int order, int failed); \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *word, type old, type fresh, int order, int failed)  \
    {                                                                                                            \
        (void)failed;                                                                                            \
        touch(word, sizeof *word, ATOMIC_OF(order), HERE);                                                       \
        __atomic_compare_exchange_n(word, &old, fresh, false, ORDER, ORDER);                                     \
        return old;                                                                                              \
    }                                                                                                            \
    CHANGE(bits, type, fetch_add)                                                                                \
    CHANGE(bits, type, fetch_sub)                                                                                \
    CHANGE(bits, type, fetch_and)                                                                                \
    CHANGE(bits, type, fetch_or)                                                                                 \
    CHANGE(bits, type, fetch_xor)                                                                                \
    CHANGE(bits, type, fetch_nand)                                                                               \
    SWAP(bits, type, compare_exchange_strong)                                                                    \
    SWAP(bits, type, compare_exchange_weak)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

#endif
