/* Slots and their levels: who stays, who makes way, who is gone over next. */
#include "test.h"

#include "engine/stream/slots.h"

static td_slots slots_of(uint32_t count, const void *list, uint32_t subgraphs)
{
    td_slots slots;
    CHECK_OK(td_slots_make(&slots, count));
    CHECK_OK(td_slots_serve(&slots, list, subgraphs));
    td_slots_begin(&slots);
    return slots;
}

TEST(empty_slots_are_taken_first_and_busy_ones_never)
{
    int list = 0;
    td_slots slots = slots_of(3, &list, 10);
    CHECK_EQ(td_slots_take(&slots, 4), 0);
    CHECK_EQ(td_slots_take(&slots, 5), 1);
    CHECK_EQ(td_slots_take(&slots, 6), 2);
    CHECK_EQ(td_slots_take(&slots, 7), TD_NO_SLOT);
    td_slots_done(&slots, 1);
    CHECK_EQ(td_slots_take(&slots, 7), 1);
    CHECK_EQ(slots.place[5], TD_NO_SLOT);
    CHECK_EQ(slots.place[7], 1);
    CHECK_EQ(slots.evictions, 1);
    td_slots_free(&slots);
}

TEST(the_lowest_level_makes_way_and_the_smallest_is_next)
{
    int list = 0;
    td_slots slots = slots_of(3, &list, 10);
    for (uint32_t s = 0; s < 3; s++) td_slots_done(&slots, td_slots_take(&slots, s));
    td_slots_use(&slots, 1);
    td_slots_done(&slots, 1); /* levels 2, 3, 2 */
    CHECK_EQ(td_slots_next(&slots, 3), 0);
    CHECK_EQ(td_slots_next(&slots, 1), TD_NO_SLOT);
    CHECK_EQ(td_slots_take(&slots, 9), 1);
    td_slots_free(&slots);
}

/* Going round over more subgraphs than there are slots: all but the ones that change hands stay where they are. */
TEST(of_one_level_the_one_used_last_makes_way)
{
    int list = 0;
    td_slots slots = slots_of(3, &list, 10);
    for (uint32_t s = 0; s < 3; s++) td_slots_done(&slots, td_slots_take(&slots, s));
    td_slots_begin(&slots);
    static const uint32_t uses[] = {2, 0, 1};
    for (int i = 0; i < 3; i++) {
        td_slots_use(&slots, uses[i]);
        td_slots_done(&slots, uses[i]);
    }
    CHECK_EQ(td_slots_take(&slots, 9), 1);
    td_slots_free(&slots);
}

TEST(going_round_and_round_keeps_most_of_what_is_there)
{
    int list = 0;
    td_slots slots = slots_of(8, &list, 32);
    for (int round = 0; round < 4; round++) {
        uint32_t hits = 0;
        td_slots_begin(&slots);
        for (uint32_t s = 0; s < 32; s++) {
            if (slots.place[s] == TD_NO_SLOT) continue;
            hits++;
            td_slots_use(&slots, slots.place[s]);
            td_slots_done(&slots, slots.place[s]);
        }
        for (uint32_t s = 0; s < 32; s++) {
            if (slots.place[s] != TD_NO_SLOT) continue;
            td_slots_done(&slots, td_slots_take(&slots, s));
        }
        CHECK_EQ(hits, round == 0 ? 0 : 8);
    }
    td_slots_free(&slots);
}

/* Two slots for anyone, one that is subgraph 3's. */
TEST(a_slot_of_its_own_is_nobody_elses_and_what_is_there_stays)
{
    int list = 0;
    td_slots slots;
    CHECK_OK(td_slots_make(&slots, 3));
    slots.slots[2].owner = 3;
    CHECK_OK(td_slots_serve(&slots, &list, 6));
    for (int round = 0; round < 2; round++) {
        td_slots_begin(&slots);
        for (uint32_t s = 0; s < 6; s++) {
            if (slots.place[s] != TD_NO_SLOT) continue;
            uint32_t slot = td_slots_take(&slots, s);
            CHECK_EQ(slot == 2, s == 3);
            td_slots_done(&slots, slot);
        }
        CHECK_EQ(slots.place[3], 2);
    }
    CHECK_EQ(td_slots_take(&slots, 0), slots.place[0]);
    td_slots_take(&slots, 1);
    CHECK_EQ(td_slots_take(&slots, 2), TD_NO_SLOT); /* the third is idle, but not for it */
    td_slots_free(&slots);
}

TEST(another_list_finds_nothing_and_what_failed_is_forgotten)
{
    int one = 0, two = 0;
    td_slots slots = slots_of(2, &one, 4);
    td_slots_done(&slots, td_slots_take(&slots, 3));
    CHECK_OK(td_slots_serve(&slots, &one, 4));
    CHECK_EQ(slots.place[3], 0);
    td_slots_forget(&slots, 0);
    CHECK_EQ(slots.place[3], TD_NO_SLOT);
    td_slots_done(&slots, td_slots_take(&slots, 3));
    CHECK_OK(td_slots_serve(&slots, &two, 4));
    CHECK_EQ(slots.place[3], TD_NO_SLOT);
    CHECK_EQ(slots.slots[0].subgraph, TD_NO_SUBGRAPH);
    td_slots_free(&slots);
}

TEST_MAIN
