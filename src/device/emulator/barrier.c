/* Barriers of a block and of the grid. All threads of the block must arrive at the same source line; a thread that
 * ended, or that waits elsewhere for its block, makes the barrier divergent. */
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
        if (thread->state != TD_EMU_BARRIER && thread->state != TD_EMU_GRID) continue;
        if (thread->state != state || !same_site(thread->site, site)) return thread;
    }
    return NULL;
}

static void report_divergence(td_emu_block *block, td_emu_state state, td_site site)
{
    char words[TD_EMU_WORDS];
    td_emu_fiber_thread *thread = astray(block, state, site);
    if (thread == NULL) return;
    td_emu_break(site, "divergent %sbarrier: thread %u of the block %s", state == TD_EMU_GRID ? "grid " : "",
                 thread->self.thread, td_emu_describe(thread, words));
}

static void release_block(td_emu_block *block)
{
    block->waiting = 0;
    for (uint32_t i = 0; i < block->threads; i++) td_emu_release(&block->thread[i]);
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
        release_block(block);
    }
    td_emu_wait();
}

void td_emu_grid_barrier(td_site site)
{
    td_emu_machine *m = td_emu_now;
    td_emu_fiber_thread *me = td_emu_running;
    if (!m->shape.cooperative)
        td_emu_break(site, "grid barrier in a launch that is not cooperative (td_launch.cooperative)");
    if (arrive(me, TD_EMU_GRID, site)) {
        td_emu_shared_check(me->block, site);
        for (uint32_t i = 0; i < m->in_flight; i++) {
            td_emu_block *other = &m->blocks[i];
            /* It waits at the grid barrier, not at its block's. */
            bool at_grid = other->waiting > 0 && other->thread_waiting->state == TD_EMU_GRID;
            if (at_grid && !same_site(other->thread_waiting->site, site)) report_divergence(other, TD_EMU_GRID, site);
        }
        if (++m->grid_waiting == m->in_flight) {
            m->grid_waiting = 0;
            m->work.grid_barriers++;
            td_watch_all_met();
            for (uint32_t i = 0; i < m->in_flight; i++) release_block(&m->blocks[i]);
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
