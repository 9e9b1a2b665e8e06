/* Barriers of a block, of the grid and of a set of devices. All threads of the block must come, all
 * to the same line of source; a thread that ended, or that waits elsewhere for its
 * block, makes the barrier divergent. */
#include "device/emulator/machine.h"
#include "device/emulator/watch.h"

#include <string.h>

static bool same_site(td_site a, td_site b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/* Finds a thread of the block that is not at the barrier of the others. */
static td_emu_fiber_thread *astray(td_emu_block *block, td_emu_state state, td_site site)
{
    for (uint32_t i = 0; i < block->threads; i++) {
        td_emu_fiber_thread *thread = &block->thread[i];
        if (thread->state == TD_EMU_ENDED) return thread;
        if (thread->state < TD_EMU_BARRIER || thread->state > TD_EMU_SET) continue;
        if (thread->state != state || !same_site(thread->site, site)) return thread;
    }
    return NULL;
}

static const char *name_of(td_emu_state state)
{
    return state == TD_EMU_SET ? "set " : state == TD_EMU_GRID ? "grid " : "";
}

static void report_divergence(td_emu_block *block, td_emu_state state, td_site site)
{
    char words[TD_EMU_WORDS];
    td_emu_fiber_thread *thread = astray(block, state, site);
    if (thread == NULL) return;
    td_emu_break(site, "divergent %sbarrier: thread %u of the block %s", name_of(state),
                 thread->self.thread, td_emu_describe(thread, words));
}

static void release_block(td_emu_machine *m, td_emu_block *block)
{
    block->waiting = 0;
    for (uint32_t i = 0; i < block->threads; i++) td_emu_release_on(m, &block->thread[i]);
}

/* The running thread arrives at a barrier; returns whether its whole block has. */
static bool arrive(td_emu_fiber_thread *me, td_emu_state state, td_site site)
{
    td_emu_block *block = me->block;
    bool differs = block->waiting > 0 && (block->thread_waiting->state != state ||
                                          !same_site(block->thread_waiting->site, site));
    if (block->ended > 0 || differs) report_divergence(block, state, site);
    me->state = state;
    me->site = site;
    block->thread_waiting = me;
    return ++block->waiting == block->threads;
}

void td_emu_barrier(td_site site)
{
    td_emu_fiber_thread *me = td_emu_running;
    td_emu_block *block = me->block;
    if (arrive(me, TD_EMU_BARRIER, site)) {
        td_emu_shared_check(block, site);
        td_emu_now->work.barriers++;
        block->met = td_emu_tick();
        release_block(td_emu_now, block);
    }
    td_emu_wait();
}

/* Blocks that wait at another line for the same kind of meeting; not those at a barrier of their own. */
static void check_blocks(td_emu_machine *m, td_emu_state state, td_site site)
{
    for (uint32_t i = 0; i < m->in_flight; i++) {
        td_emu_block *other = &m->blocks[i];
        bool waits = other->waiting > 0 && other->thread_waiting->state == state;
        if (waits && !same_site(other->thread_waiting->site, site)) report_divergence(other, state, site);
    }
}

void td_emu_grid_barrier(td_site site)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *me = td_emu_running;
    if (!m->shape.cooperative)
        td_emu_break(site, "grid barrier in a launch that is not cooperative (td_launch.cooperative)");
    if (arrive(me, TD_EMU_GRID, site)) {
        td_emu_shared_check(me->block, site);
        check_blocks(m, TD_EMU_GRID, site);
        if (++m->grid_waiting == m->in_flight) {
            m->grid_waiting = 0;
            m->work.grid_barriers++;
            td_watch_grid_barrier();
            for (uint32_t i = 0; i < m->in_flight; i++) release_block(m, &m->blocks[i]);
        }
    }
    td_emu_wait();
}

static void check_set(const td_emu_machine *m, const td_set_member *set, td_site site)
{
    if (m->joint == NULL)
        td_emu_break(site, "set barrier in a launch that is not joint (td_streams_launch_joint)");
    if (set->members != m->joint->count || set->member != m->member)
        td_emu_break(site, "set barrier of member %u of %u; the kernel runs as member %u of %u (td_set_member_of)",
                     set->member, set->members, m->member, m->joint->count);
}

/* Members that wait at another line. */
static void check_members(const td_emu_joint *joint, td_site site)
{
    char words[TD_EMU_WORDS];
    for (uint32_t i = 0; i < joint->count; i++) {
        const td_emu_machine *other = joint->member[i];
        if (other->set_waiting < other->in_flight) continue;
        const td_emu_fiber_thread *thread = other->blocks[0].thread_waiting;
        if (!same_site(thread->site, site))
            td_emu_break(site, "divergent set barrier: %s %s", other->device->name, td_emu_describe(thread, words));
    }
}

static void release_members(td_emu_joint *joint)
{
    joint->come = 0;
    for (uint32_t i = 0; i < joint->count; i++) {
        td_emu_machine *m = joint->member[i];
        m->set_waiting = 0;
        m->work.set_barriers++;
    }
    joint->round(joint);
    td_watch_set_barrier();
    for (uint32_t i = 0; i < joint->count; i++) {
        td_emu_machine *m = joint->member[i];
        for (uint32_t k = 0; k < m->in_flight; k++) release_block(m, &m->blocks[k]);
    }
}

void td_emu_set_barrier(const td_set_member *set, td_site site)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *me = td_emu_running;
    check_set(m, set, site);
    if (arrive(me, TD_EMU_SET, site)) {
        td_emu_shared_check(me->block, site);
        check_blocks(m, TD_EMU_SET, site);
        if (++m->set_waiting == m->in_flight) {
            check_members(m->joint, site);
            if (*set->broken != 0) {
                m->joint->ended = true;
                td_emu_abandon(TD_OK);
            }
            if (++m->joint->come == m->joint->count) release_members(m->joint);
        }
    }
    td_emu_wait();
}

void td_emu_barrier_leave(td_emu_block *block)
{
    block->ended++;
    if (block->waiting > 0) report_divergence(block, block->thread_waiting->state, block->thread_waiting->site);
    if (block->ended == block->threads) td_emu_shared_check(block, (td_site){"end of the kernel", 0});
}
