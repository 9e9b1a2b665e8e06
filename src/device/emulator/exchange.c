/* Exchanges within a warp: the lanes of a mask meet at one source line with the same mask and leave with a vote or each
 * other's values. An exchange also orders the lanes' accesses before and after it, for the watch. */
#include "device/emulator/machine.h"
#include "device/emulator/watch.h"

#include <string.h>

#define POISON UINT64_C(0xfff8ababfff8abab) /* value read from a lane outside the mask */

static td_emu_fiber_thread *warp_of(td_emu_fiber_thread *thread)
{
    return thread->block->thread + thread->self.thread / TD_EMU_WARP * TD_EMU_WARP;
}

static bool same_meeting(const td_emu_fiber_thread *a, const td_emu_fiber_thread *b)
{
    return a->mask == b->mask && a->site.line == b->site.line && a->exchange == b->exchange &&
           (a->site.file == b->site.file || strcmp(a->site.file, b->site.file) == 0);
}

/* Reports a lane that waits for another exchange although it and `me` are in each other's masks: neither would
 * arrive. */
static void check_meeting(const td_emu_fiber_thread *me, const td_emu_fiber_thread *other)
{
    char words[TD_EMU_WORDS];
    if ((other->mask >> me->self.thread % TD_EMU_WARP & 1) == 0) return;
    td_emu_break(me->site, "the mask 0x%08x names lane %u, which %s", me->mask, other->self.thread % TD_EMU_WARP,
                 td_emu_describe(other, words));
}

/* Joins the lanes that wait for the same exchange, or begins it; returns whether all have arrived. */
static bool come(td_emu_fiber_thread *me, td_emu_fiber_thread *warp, const td_emu_warp *lanes)
{
    uint32_t bit = 1u << me->self.thread % TD_EMU_WARP;
    if ((me->mask & bit) == 0)
        td_emu_break(me->site, "lane %u is not in its own mask 0x%08x", me->self.thread % TD_EMU_WARP, me->mask);
    if ((me->mask & lanes->ended) != 0)
        td_emu_break(me->site, "the mask 0x%08x names lane %d, which has ended", me->mask,
                     __builtin_ctz(me->mask & lanes->ended));
    me->leader = me;
    me->come = 0;
    for (uint32_t left = me->mask & lanes->waiting; left != 0 && me->leader == me; left &= left - 1) {
        td_emu_fiber_thread *other = &warp[__builtin_ctz(left)];
        if (same_meeting(me, other)) me->leader = other->leader;
        else check_meeting(me, other);
    }
    me->leader->come |= bit;
    return me->leader->come == me->mask;
}

static void vote(td_emu_fiber_thread *warp, uint32_t mask)
{
    uint32_t votes = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (warp[lane].value != 0) votes |= 1u << lane;
    }
    for (uint32_t left = mask; left != 0; left &= left - 1) warp[__builtin_ctz(left)].value = votes;
}

static void move_values(td_emu_fiber_thread *warp, uint32_t mask)
{
    uint64_t given[TD_EMU_WARP];
    for (uint32_t lane = 0; lane < TD_EMU_WARP; lane++)
        given[lane] = (mask >> lane & 1) != 0 ? warp[lane].value : POISON;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        td_emu_fiber_thread *to = &warp[__builtin_ctz(left)];
        if (to->from_lane < TD_EMU_WARP) to->value = given[to->from_lane];
    }
}

/* Merges the lanes' vector clocks: every lane learns what all others knew and did. */
static void join_times(td_emu_fiber_thread *warp, uint32_t mask)
{
    uint32_t known[TD_EMU_WARP] = {0}, now = td_emu_tick();
    for (uint32_t left = mask == UINT32_MAX ? 0 : mask; left != 0; left &= left - 1) { /* a whole warp: all are now */
        const uint32_t *seen = warp[__builtin_ctz(left)].seen;
        for (int i = 0; i < TD_EMU_WARP; i++) known[i] = seen[i] > known[i] ? seen[i] : known[i];
    }
    for (uint32_t left = mask; left != 0; left &= left - 1) known[__builtin_ctz(left)] = now;
    for (uint32_t left = mask; left != 0; left &= left - 1)
        memcpy(warp[__builtin_ctz(left)].seen, known, sizeof known);
}

static void complete(td_emu_fiber_thread *me, td_emu_fiber_thread *warp, td_emu_warp *lanes)
{
    lanes->waiting &= ~me->mask;
    if (me->exchange == TD_EMU_VOTE) vote(warp, me->mask);
    if (me->exchange == TD_EMU_MOVE_VALUE) move_values(warp, me->mask);
    td_emu_now->work.exchanges++;
    if (td_watch_on()) join_times(warp, me->mask);
    for (uint32_t left = me->mask; left != 0; left &= left - 1) td_emu_release(&warp[__builtin_ctz(left)]);
}

static uint64_t exchange(td_emu_exchange what, uint32_t mask, uint64_t value, uint32_t from_lane, td_site site)
{
    td_emu_fiber_thread *me = td_emu_running, *warp = warp_of(me);
    td_emu_warp *lanes = &me->block->warp[me->self.thread / TD_EMU_WARP];
    me->mask = mask;
    me->site = site;
    me->exchange = what;
    me->value = value;
    me->from_lane = from_lane;
    bool last = come(me, warp, lanes);
    me->state = TD_EMU_LANES;
    if (last) complete(me, warp, lanes);
    else lanes->waiting |= 1u << me->self.thread % TD_EMU_WARP;
    td_emu_wait();
    return me->value;
}

void td_emu_warp_barrier(uint32_t mask, td_site site) { exchange(TD_EMU_MEET, mask, 0, 0, site); }

uint32_t td_emu_ballot(uint32_t mask, int predicate, td_site site)
{
    return (uint32_t)exchange(TD_EMU_VOTE, mask, predicate != 0, 0, site);
}

uint64_t td_emu_shuffle(uint32_t mask, uint64_t value, uint32_t from_lane, td_site site)
{
    return exchange(TD_EMU_MOVE_VALUE, mask, value, from_lane, site);
}
