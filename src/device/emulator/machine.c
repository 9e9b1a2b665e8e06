#include "device/emulator/machine.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/fetch.h"
#include "base/random.h"
#include "device/emulator/code_line.h"
#include "device/emulator/sanitizer.h"
#include "device/emulator/watch.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FETCHED_AHEAD = 6 };

/* Kernels find their thread through one variable, so one launch runs at a time in the process. */
static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
td_emu_machine *td_emu_now;
td_emu_fiber_thread *td_emu_running;
td_emu_thread *td_emu_self;

static void release_room(td_emu_machine *m)
{
    for (uint32_t i = 0; i < m->blocks_room; i++) {
        if (m->blocks[i].shared != NULL) TD_ALLOW(m->blocks[i].shared, m->arena_bytes);
        td_free(m->blocks[i].shared);
        td_free(m->blocks[i].cells);
    }
    td_free(m->blocks);
    td_free(m->threads);
    td_free(m->turn);
    td_free(m->next_turn);
    td_free(m->free_fibers);
    td_fiber_stacks_close(&m->stacks);
    m->blocks = NULL;
    m->threads = NULL;
    m->turn = m->next_turn = NULL;
    m->free_fibers = NULL;
    m->blocks_room = m->threads_room = 0;
}

/* Between launches the fibers and arenas are cached: they make way where memory is short, unless a launch runs, which may
 * be one that needs the memory. */

static void make_way(td_kept *kept)
{
    if (pthread_mutex_trylock(&one_launch) != 0) return;
    release_room((td_emu_machine *)(void *)((char *)kept - offsetof(td_emu_machine, kept)));
    pthread_mutex_unlock(&one_launch);
}

/* The account lists nothing that may outlive it: the stacks hold a reference. */
static void offer_room(td_emu_machine *m)
{
    if (!m->in_progress && m->stacks.account == td_account_current()) td_kept_offer(&m->kept, make_way);
}

void td_emu_machine_close(td_emu_machine *machine)
{
    td_kept_take(&machine->kept);
    release_room(machine);
    td_free(machine->loads);
    machine->loads = NULL;
}

/* Drops the stacks of all fibers. */
static void drop_all(td_emu_machine *m)
{
    m->free_count = 0;
    for (uint32_t i = 0; i < m->stacks.count; i++) {
        td_fiber_drop(&m->stacks.fibers[i]);
        m->free_fibers[m->free_count++] = &m->stacks.fibers[i];
    }
}

uint64_t td_emu_machine_bytes(const td_emu_machine *m, uint32_t blocks, uint32_t threads)
{
    uint64_t thread = sizeof *m->threads + sizeof *m->turn + sizeof *m->next_turn + sizeof *m->free_fibers +
                      sizeof *m->stacks.fibers + TD_FIBER_TOUCHED;
    uint64_t block = sizeof *m->blocks + m->arena_bytes + td_watch_cells_bytes(m->arena_bytes);
    return (uint64_t)blocks * (threads * thread + block);
}

static td_status make_blocks(td_emu_machine *m, uint32_t count)
{
    TD_CHECK(TD_NEW_ZEROED(&m->blocks, count, "emulated blocks"));
    m->blocks_room = count;
    for (uint32_t i = 0; i < count; i++) {
        TD_CHECK(TD_NEW(&m->blocks[i].shared, m->arena_bytes, "emulated shared memory"));
        TD_CHECK(td_watch_cells(&m->blocks[i].cells, m->arena_bytes));
    }
    return TD_OK;
}

/* Makes room for the launch's concurrent threads and blocks; grows, never shrinks. */
static td_status make_room(td_emu_machine *m, uint32_t blocks, uint32_t threads)
{
    td_status status = TD_OK;
    uint64_t all = (uint64_t)blocks * threads;
    if (all > TD_FIBERS_MOST)
        return td_fail(TD_DEVICE, "%u blocks of %u threads at once; the emulator runs at most %d threads together",
                       blocks, threads, TD_FIBERS_MOST);
    if (m->loads == NULL) TD_CHECK(TD_NEW_ZEROED(&m->loads, (uint64_t)m->device->properties.multiprocessors, "loads"));
    if (blocks <= m->blocks_room && all <= m->threads_room) return TD_OK;
    uint32_t room = all > m->threads_room ? (uint32_t)all : m->threads_room;
    if (blocks < m->blocks_room) blocks = m->blocks_room;
    release_room(m);
    TD_TRY(td_fiber_stacks_open(&m->stacks, room + 1));
    TD_TRY(TD_NEW_ZEROED(&m->threads, room, "emulated threads"));
    TD_TRY(TD_NEW(&m->turn, room, "emulated threads"));
    TD_TRY(TD_NEW(&m->next_turn, room, "emulated threads"));
    TD_TRY(TD_NEW(&m->free_fibers, room + 1, "fibers"));
    TD_TRY(make_blocks(m, blocks));
    m->threads_room = room;
    drop_all(m);
done:
    if (status != TD_OK) release_room(m);
    return status;
}

static void shuffle(td_emu_machine *m)
{
    uint64_t seed = td_mix64(m->seed ^ td_mix64(m->rounds++));
    for (uint32_t i = m->turn_count; i > 1; i--) {
        uint32_t other = (uint32_t)td_random_below(td_mix64(seed + i), i);
        td_emu_fiber_thread *keep = m->turn[i - 1];
        m->turn[i - 1] = m->turn[other];
        m->turn[other] = keep;
    }
}

/* Thousands of threads do not fit in the cache: the next ones are prefetched while others run. */
static void fetch_ahead(const td_emu_machine *m)
{
    const td_emu_fiber_thread *later = m->turn[m->turn_at + FETCHED_AHEAD * 2 / 3];
    const td_emu_fiber_thread *soon = m->turn[m->turn_at + FETCHED_AHEAD / 3];
    td_fetch(m->turn[m->turn_at + FETCHED_AHEAD]);
    td_fetch(later->fiber);
    if (soon->fiber != NULL) td_fetch(soon->fiber->top);
}

/* The next thread in turn; NULL if none is ready. */
static td_emu_fiber_thread *choose(td_emu_machine *m)
{
    if (m->turn_at == m->turn_count) {
        td_emu_fiber_thread **keep = m->turn;
        m->turn = m->next_turn;
        m->next_turn = keep;
        m->turn_count = m->next_count;
        m->turn_at = m->next_count = 0;
        shuffle(m);
    }
    if (m->turn_at == m->turn_count) return NULL;
    if (m->turn_at + FETCHED_AHEAD < m->turn_count) fetch_ahead(m);
    return m->turn[m->turn_at++];
}

static void fiber_begin(void);

static td_fiber *fiber_for(td_emu_machine *m, td_emu_fiber_thread *thread)
{
    if (thread->fiber != NULL) return thread->fiber;
    td_fiber *fiber = m->free_fibers[--m->free_count];
    if (!fiber->begun) td_fiber_prepare(fiber, fiber_begin);
    return fiber;
}

static void leave_for(td_emu_machine *m, td_fiber *from, td_emu_fiber_thread *next)
{
    td_fiber *to = next == NULL ? &m->caller : fiber_for(m, next);
    td_emu_running = next;
    td_emu_self = next == NULL ? NULL : &next->self;
    m->running_fiber = to;
    td_fiber_switch(from, to);
}

void td_emu_wait(void)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *me = td_emu_running, *next = choose(m);
    me->operations++;
    if (next != me) leave_for(m, me->fiber, next);
}

void td_emu_release_on(td_emu_machine *m, td_emu_fiber_thread *thread)
{
    thread->state = TD_EMU_READY;
    m->next_turn[m->next_count++] = thread;
}

void td_emu_release(td_emu_fiber_thread *thread) { td_emu_release_on(td_emu_now, thread); }

static void thread_end(td_emu_machine *m, td_emu_fiber_thread *thread)
{
    thread->state = TD_EMU_ENDED;
    thread->block->warp[thread->self.thread / TD_EMU_WARP].ended |= 1u << thread->self.thread % TD_EMU_WARP;
    m->finished++;
    td_emu_barrier_leave(thread->block);
    thread->fiber = NULL;
}

/* Runs unstarted threads one after another on this stack; in between the stack is free. */
static void fiber_begin(void)
{
    td_fiber_arrived();
    for (;;) {
        td_emu_machine *m = td_emu_now;
        td_emu_fiber_thread *thread = td_emu_running;
        td_fiber *mine = thread->fiber = m->running_fiber;
        thread->state = TD_EMU_READY;
        m->code(m->arguments);
        thread_end(m, thread);
        td_emu_fiber_thread *next = choose(m);
        if (next != NULL && next->fiber == NULL) {
            td_emu_running = next;
            td_emu_self = &next->self;
        } else {
            m->free_fibers[m->free_count++] = mine;
            leave_for(m, mine, next);
        }
    }
}

const char *td_emu_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void td_emu_abandon(td_status status)
{
    td_emu_machine *m = td_emu_now;
    td_watch_stop();
    m->status = status;
    leave_for(m, td_emu_running->fiber, NULL);
    __builtin_unreachable();
}

void td_emu_break(td_site site, const char *format, ...)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *thread = td_emu_running;
    char text[TD_MESSAGE_BYTES - 256], place[TD_SITE_WORDS];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    td_emu_abandon(td_fail(TD_DEVICE, "%s, kernel %s, %s, thread %u of block %u: %s", m->device->name, m->kernel,
                           td_site_words(site, place), thread->self.thread, thread->self.block, text));
}

const char *td_emu_describe(const td_emu_fiber_thread *thread, char words[TD_EMU_WORDS])
{
    const char *file = thread->site.file != NULL ? td_emu_file(thread->site.file) : "";
    switch (thread->state) {
    case TD_EMU_ENDED: snprintf(words, TD_EMU_WORDS, "has ended"); break;
    case TD_EMU_BARRIER:
        snprintf(words, TD_EMU_WORDS, "waits at the barrier of %s:%d", file, thread->site.line);
        break;
    case TD_EMU_GRID:
        snprintf(words, TD_EMU_WORDS, "waits at the grid barrier of %s:%d", file, thread->site.line);
        break;
    case TD_EMU_SET:
        snprintf(words, TD_EMU_WORDS, "waits at the set barrier of %s:%d", file, thread->site.line);
        break;
    case TD_EMU_LANES:
        snprintf(words, TD_EMU_WORDS, "waits at %s:%d for the lanes 0x%08x of warp %u", file, thread->site.line,
                 thread->mask, thread->self.thread / TD_EMU_WARP);
        break;
    default: snprintf(words, TD_EMU_WORDS, "runs"); break;
    }
    return words;
}

static bool waits_for(const td_emu_fiber_thread *one, const td_emu_fiber_thread *other)
{
    if (one->state == TD_EMU_GRID || one->state == TD_EMU_SET) return true;
    if (one->block != other->block) return false;
    if (one->state == TD_EMU_BARRIER) return true;
    return one->self.thread / TD_EMU_WARP == other->self.thread / TD_EMU_WARP &&
           (one->mask >> (other->self.thread % TD_EMU_WARP) & 1) != 0;
}

/* Reports a deadlock: a waiting thread, at an exchange if there is one, and one that it waits for. */
static td_status report_deadlock(td_emu_machine *m)
{
    char mine[TD_EMU_WORDS], theirs[TD_EMU_WORDS];
    const td_emu_fiber_thread *stuck = NULL, *other = NULL;
    uint32_t count = m->in_flight * m->shape.threads;
    for (uint32_t i = 0; i < count; i++) {
        const td_emu_fiber_thread *thread = &m->threads[i];
        if (thread->state == TD_EMU_ENDED) continue;
        if (stuck == NULL || (stuck->state != TD_EMU_LANES && thread->state == TD_EMU_LANES)) stuck = thread;
    }
    for (uint32_t i = 0; stuck != NULL && i < count; i++) {
        const td_emu_fiber_thread *thread = &m->threads[i];
        bool elsewhere = thread->state != stuck->state || thread->site.line != stuck->site.line;
        if (thread != stuck && waits_for(stuck, thread) && (other == NULL || elsewhere)) other = thread;
    }
    if (other == NULL) return td_fail(TD_INTERNAL, "%s, kernel %s: a thread was lost", m->device->name, m->kernel);
    return td_fail(TD_DEVICE, "%s, kernel %s, %s:%d, thread %u of block %u: deadlock: it %s; thread %u of block %u %s",
                   m->device->name, m->kernel, td_emu_file(stuck->site.file), stuck->site.line, stuck->self.thread,
                   stuck->self.block, td_emu_describe(stuck, mine), other->self.thread, other->self.block,
                   td_emu_describe(other, theirs));
}

static void block_begin(td_emu_machine *m, uint32_t slot, uint32_t number)
{
    td_emu_block *block = &m->blocks[slot];
    uint32_t threads = m->shape.threads;
    block->number = number;
    block->threads = threads;
    block->waiting = block->ended = 0;
    block->thread = m->threads + (uint64_t)slot * threads;
    block->began = block->met = td_emu_tick();
    memset(block->warp, 0, sizeof block->warp);
    td_emu_shared_begin(block);
    for (uint32_t i = 0; i < threads; i++) {
        td_emu_fiber_thread *thread = &block->thread[i];
        thread->self = (td_emu_thread){i, threads, number, m->shape.blocks};
        thread->id = m->first_id + number * threads + i;
        thread->state = TD_EMU_FRESH;
        thread->fiber = NULL;
        thread->operations = 1;
        thread->block = block;
        m->next_turn[m->next_count++] = thread;
    }
}

/* A warp is busy as long as its busiest lane. */
static uint64_t block_operations(const td_emu_block *block)
{
    uint64_t sum = 0;
    for (uint32_t first = 0; first < block->threads; first += TD_EMU_WARP) {
        uint64_t most = 0;
        for (uint32_t i = first; i < first + TD_EMU_WARP; i++)
            if (block->thread[i].operations > most) most = block->thread[i].operations;
        sum += most * TD_EMU_WARP;
    }
    return sum;
}

/* Assigns a block to the least loaded multiprocessor. */
static void give_load(td_emu_machine *m, const td_emu_block *block)
{
    int count = m->device->properties.multiprocessors, least = 0;
    for (int i = 1; i < count; i++)
        if (m->loads[i] < m->loads[least]) least = i;
    m->loads[least] += block_operations(block);
    if (m->loads[least] > m->work.busiest) m->work.busiest = m->loads[least];
}

static void clear_loads(td_emu_machine *m)
{
    memset(m->loads, 0, (size_t)m->device->properties.multiprocessors * sizeof *m->loads);
}

uint64_t td_emu_machine_busiest(td_emu_machine *m, bool restart)
{
    uint64_t kept = m->work.busiest;
    m->work.busiest = 0;
    clear_loads(m);
    for (uint32_t i = 0; i < m->in_flight; i++) give_load(m, &m->blocks[i]);
    clear_loads(m);
    uint64_t busiest = m->work.busiest;
    m->work.busiest = kept;
    for (uint32_t i = 0; restart && i < m->in_flight * m->shape.threads; i++) m->threads[i].operations = 0;
    return busiest;
}

/* The blocks first, first + 1, ... of the launch's order, in flight together. */
static void begin_blocks(td_emu_machine *m, uint32_t first, uint32_t count)
{
    m->turn_at = m->turn_count = m->next_count = m->finished = m->grid_waiting = m->set_waiting = 0;
    m->in_flight = count;
    for (uint32_t i = 0; i < count; i++) block_begin(m, i, first + i);
    m->work.blocks += count;
    m->work.threads += (uint64_t)count * m->shape.threads;
}

/* Until all have ended, or the launch is paused. */
static td_status run_blocks(td_emu_machine *m)
{
    m->caller = (td_fiber){0};
    leave_for(m, &m->caller, choose(m));
    if (m->paused || m->status != TD_OK) return m->status;
    if (m->finished < m->in_flight * m->shape.threads) return report_deadlock(m);
    for (uint32_t i = 0; i < m->in_flight; i++) give_load(m, &m->blocks[i]);
    return TD_OK;
}

static td_status run_all(td_emu_machine *m)
{
    uint32_t blocks = m->shape.blocks, each = m->shape.cooperative ? blocks : 1;
    uint32_t start = each > 1 ? 0 : (uint32_t)td_random_below(td_mix64(m->seed ^ m->launches), blocks);
    while (m->in_progress || m->block_at < blocks) {
        if (!m->in_progress) {
            if (m->block_at % 64 == 0) TD_CHECK(td_cancel_check());
            begin_blocks(m, (uint32_t)(((uint64_t)m->block_at + start) % blocks), each);
            m->block_at += each;
            m->in_progress = true;
        }
        TD_CHECK(run_blocks(m));
        if (m->paused) return TD_OK;
        m->in_progress = false;
    }
    return TD_OK;
}

void td_emu_pause(void)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *me = td_emu_running;
    td_emu_release(me);
    m->paused = true;
    leave_for(m, me->fiber, NULL);
}

static td_status check_shape(const td_emu_machine *m, const td_kernel *kernel, const td_launch *shape)
{
    const td_device_properties *limits = &m->device->properties;
    if (shape->threads == 0 || shape->threads % TD_EMU_WARP != 0 || shape->threads > (uint32_t)limits->block_threads)
        return td_fail(TD_DEVICE, "%s, kernel %s: blocks of %u threads; a multiple of 32 up to %d is possible",
                       m->device->name, kernel->name, shape->threads, limits->block_threads);
    if (shape->blocks == 0) return td_fail(TD_DEVICE, "%s, kernel %s: no blocks", m->device->name, kernel->name);
    if ((uint64_t)shape->blocks * shape->threads > UINT32_MAX)
        return td_fail(TD_DEVICE, "%s, kernel %s: %u blocks of %u threads are too many", m->device->name, kernel->name,
                       shape->blocks, shape->threads);
    if (shape->shared_bytes > limits->shared_bytes)
        return td_fail(TD_DEVICE, "%s, kernel %s: %u bytes of shared memory; a block has %llu", m->device->name,
                       kernel->name, shape->shared_bytes, (unsigned long long)limits->shared_bytes);
    return TD_OK;
}

static td_status go_on(td_emu_machine *m)
{
    td_status status = run_all(m);
    if (m->paused) td_watch_pause(m);
    td_watch_stop();
    td_emu_now = NULL;
    if (status != TD_OK) {
        m->in_progress = false;
        drop_all(m);
    }
    return status;
}

static td_status prepare(td_emu_machine *m, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                         size_t bytes)
{
    TD_CHECK(check_shape(m, kernel, shape));
    td_kept_take(&m->kept);
    TD_CHECK(make_room(m, shape->cooperative ? shape->blocks : 1, shape->threads));
    void (*code)(const void *);
    memcpy(&code, &kernel->code, sizeof code);
    m->code = code;
    m->kernel = kernel->name;
    m->arguments = arguments;
    m->arguments_bytes = bytes;
    m->shape = *shape;
    m->status = TD_OK;
    m->work = (td_emu_work){0};
    m->launches++;
    m->block_at = 0;
    m->in_progress = m->paused = false;
    m->joint = NULL;
    m->first_id = m->last_grid_barrier = 0;
    clear_loads(m);
    return TD_OK;
}

td_status td_emu_machine_prepare(td_emu_machine *machine, const td_kernel *kernel, const td_launch *shape,
                                 const void *arguments, size_t bytes)
{
    pthread_mutex_lock(&one_launch);
    td_status status = prepare(machine, kernel, shape, arguments, bytes);
    pthread_mutex_unlock(&one_launch);
    return status;
}

static td_status run_launch(td_emu_machine *m, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                            size_t bytes)
{
    TD_CHECK(prepare(m, kernel, shape, arguments, bytes));
    td_emu_now = m;
    td_watch_start(m);
    return go_on(m);
}

td_status td_emu_machine_launch(td_emu_machine *machine, const td_kernel *kernel, const td_launch *shape,
                                const void *arguments, size_t bytes, td_emu_work *work)
{
    pthread_mutex_lock(&one_launch);
    td_status status = run_launch(machine, kernel, shape, arguments, bytes);
    *work = machine->work;
    offer_room(machine);
    pthread_mutex_unlock(&one_launch);
    return status;
}

td_status td_emu_machine_resume(td_emu_machine *machine, td_emu_work *work)
{
    pthread_mutex_lock(&one_launch);
    machine->paused = false;
    td_emu_now = machine;
    td_watch_resume(machine);
    td_status status = go_on(machine);
    *work = machine->work;
    offer_room(machine);
    pthread_mutex_unlock(&one_launch);
    return status;
}

/* Joint launches. */

static bool can_go_on(const td_emu_machine *m) { return m->turn_at < m->turn_count || m->next_count > 0; }
static bool has_ended(const td_emu_machine *m) { return m->finished == m->in_flight * m->shape.threads; }

static void begin_members(td_emu_joint *joint)
{
    uint32_t ids = 0;
    for (uint32_t i = 0; i < joint->count; i++) {
        td_emu_machine *m = td_emu_now = joint->member[i];
        m->joint = joint;
        m->member = i;
        m->first_id = ids;
        m->ids = m->shape.blocks * m->shape.threads;
        m->counted = (td_emu_work){0};
        ids += m->ids;
        begin_blocks(m, 0, m->shape.blocks);
    }
}

/* One that can go on, as the first member's seed draws; NULL: none can. */
static td_emu_machine *choose_member(td_emu_joint *joint)
{
    uint64_t seed = td_mix64(joint->member[0]->seed ^ td_mix64(joint->turns++));
    uint32_t start = (uint32_t)td_random_below(seed, joint->count);
    for (uint32_t i = 0; i < joint->count; i++) {
        td_emu_machine *m = joint->member[(start + i) % joint->count];
        if (can_go_on(m)) return m;
    }
    return NULL;
}

/* Until it gives way, waits at a set barrier with all its threads, or ends. */
static td_status run_member(td_emu_joint *joint, td_emu_machine *m)
{
    td_emu_now = m;
    m->paused = false;
    td_watch_member(m);
    m->caller = (td_fiber){0};
    leave_for(m, &m->caller, choose(m));
    if (m->status != TD_OK || m->paused || joint->ended || can_go_on(m)) return m->status;
    return has_ended(m) || m->set_waiting == m->in_flight ? TD_OK : report_deadlock(m);
}

/* None can go on: all have ended, or some wait for others that have. */
static td_status check_ends(const td_emu_joint *joint)
{
    const td_emu_machine *waits = NULL, *gone = NULL;
    for (uint32_t i = 0; i < joint->count; i++) {
        if (has_ended(joint->member[i])) gone = joint->member[i];
        else waits = joint->member[i];
    }
    if (waits == NULL) return TD_OK;
    const td_emu_fiber_thread *stuck = &waits->threads[0];
    return td_fail(TD_DEVICE, "%s, kernel %s, %s:%d, thread %u of block %u: divergent set barrier: it waits for %s, whose "
                   "kernel has ended after %llu set barriers", waits->device->name, waits->kernel,
                   td_emu_file(stuck->site.file), stuck->site.line, stuck->self.thread, stuck->self.block,
                   gone != NULL ? gone->device->name : "a member", (unsigned long long)waits->work.set_barriers);
}

static td_status run_members(td_emu_joint *joint)
{
    for (;;) {
        TD_CHECK(td_cancel_check());
        td_emu_machine *m = choose_member(joint);
        if (m == NULL) return check_ends(joint);
        TD_CHECK(run_member(joint, m));
        if (joint->ended) return TD_OK;
    }
}

td_status td_emu_joint_run(td_emu_joint *joint)
{
    pthread_mutex_lock(&one_launch);
    td_emu_now = joint->member[0];
    td_watch_start_joint(joint);
    begin_members(joint);
    td_status status = run_members(joint);
    td_watch_stop();
    td_emu_now = NULL;
    for (uint32_t i = 0; i < joint->count; i++) {
        td_emu_machine *m = joint->member[i];
        m->paused = false;
        m->joint = NULL;
        if (status != TD_OK || joint->ended) drop_all(m);
        offer_room(m);
    }
    pthread_mutex_unlock(&one_launch);
    return status;
}
