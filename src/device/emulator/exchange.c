/* Exchanges within a warp: lanes named by a mask meet, all at one line of source
 * with the same mask, and leave with a vote or with each other's values. Meeting
 * also orders what they did before and do after, which the watch wants to know. */
#include "device/emulator/machine.h"
#include "device/emulator/watch.h"

#include <string.h>

#define POISON UINT64_C(0xfff8ababfff8abab) /* what an unnamed lane's value looks like */

static td_emu_fiber_thread *warp_of(td_emu_fiber_thread *thread)
{
    return thread->block->thread + thread->self.thread / TD_EMU_WARP * TD_EMU_WARP;
}

static bool same_meeting(const td_emu_fiber_thread *a, const td_emu_fiber_thread *b)
{
    return a->mask == b->mask && a->site.line == b->site.line && a->exchange == b->exchange &&
           (a->site.file == b->site.file || strcmp(a->site.file, b->site.file) == 0);
}

/* Looks at the lanes that `me` names; says whether all have come. */
static bool all_here(td_emu_fiber_thread *me, td_emu_fiber_thread *warp)
{
    char words[TD_EMU_WORDS];
    uint32_t lane = me->self.thread % TD_EMU_WARP;
    bool here = true;
    for (uint32_t left = me->mask; left != 0; left &= left - 1) {
        td_emu_fiber_thread *other = &warp[__builtin_ctz(left)];
        if (other == me) continue;
        if (other->state == TD_EMU_ENDED)
            td_emu_break(me->site, "the mask 0x%08x names lane %u, which has ended", me->mask,
                         other->self.thread % TD_EMU_WARP);
        bool waits = other->state == TD_EMU_LANES;
        if (waits && (other->mask >> lane & 1) != 0 && !same_meeting(me, other))
            td_emu_break(me->site, "the mask 0x%08x names lane %u, which %s", me->mask,
                         other->self.thread % TD_EMU_WARP, td_emu_describe(other, words));
        here = here && waits && same_meeting(me, other);
    }
    return here;
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
    for (uint32_t lane = 0; lane < TD_EMU_WARP; lane++) given[lane] = (mask >> lane & 1) != 0 ? warp[lane].value : POISON;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        td_emu_fiber_thread *to = &warp[__builtin_ctz(left)];
        if (to->from_lane < TD_EMU_WARP) to->value = given[to->from_lane];
    }
}

/* What any of them knew to be past, all of them know, and what each did so far. */
static void join_times(td_emu_fiber_thread *warp, uint32_t mask)
{
    uint32_t known[TD_EMU_WARP] = {0}, now = td_emu_tick();
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t *seen = warp[__builtin_ctz(left)].seen;
        for (int i = 0; i < TD_EMU_WARP; i++) known[i] = seen[i] > known[i] ? seen[i] : known[i];
    }
    for (uint32_t left = mask; left != 0; left &= left - 1) known[__builtin_ctz(left)] = now;
    for (uint32_t left = mask; left != 0; left &= left - 1)
        memcpy(warp[__builtin_ctz(left)].seen, known, sizeof known);
}

static void complete(td_emu_fiber_thread *me, td_emu_fiber_thread *warp)
{
    if (me->exchange == TD_EMU_VOTE) vote(warp, me->mask);
    if (me->exchange == TD_EMU_MOVE_VALUE) move_values(warp, me->mask);
    td_emu_now->work.exchanges++;
    if (td_watch_on()) join_times(warp, me->mask);
    for (uint32_t left = me->mask; left != 0; left &= left - 1) td_emu_release(&warp[__builtin_ctz(left)]);
}

static uint64_t exchange(td_emu_exchange what, uint32_t mask, uint64_t value, uint32_t from_lane, td_site site)
{
    td_emu_fiber_thread *me = td_emu_running, *warp = warp_of(me);
    me->mask = mask;
    me->site = site;
    me->exchange = what;
    me->value = value;
    me->from_lane = from_lane;
    if ((mask >> (me->self.thread % TD_EMU_WARP) & 1) == 0)
        td_emu_break(site, "lane %u is not in its own mask 0x%08x", me->self.thread % TD_EMU_WARP, mask);
    bool here = all_here(me, warp);
    me->state = TD_EMU_LANES;
    if (here) complete(me, warp);
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
