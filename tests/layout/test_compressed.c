/* Lists in fewer bits: what is read back by the description in layout/compressed.h is what was written, and sorted lists
 * shrink. */
#include "test.h"

#include "layout/compressed.h"

#include <string.h>

/* By the description, word for word. */
static uint32_t read_back(const uint32_t *group, uint32_t count, uint32_t *targets)
{
    uint32_t apart = 0, last = group[0];
    for (uint32_t b = 0; b < 32; b++) {
        uint32_t widths = group[1 + b / 2] >> (b % 2 * 16) & 0xffff;
        apart += (widths & 63) != widths >> 6;
    }
    const uint32_t *wide = group + TD_COMPRESS_HEAD, *at = wide + apart;
    for (uint32_t b = 0; b < 32; b++) {
        uint32_t widths = group[1 + b / 2] >> (b % 2 * 16) & 0xffff, small = widths & 63, large = widths >> 6, bit = 0;
        uint32_t larger = small != large ? *wide++ : 0;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t way = 0, width = larger >> i & 1 ? large : small;
            for (uint32_t k = 0; k < width; k++, bit++) way |= (at[bit / 32] >> (bit % 32) & 1u) << k;
            last += way & 1 ? 0u - (way >> 1) - 1 : way >> 1;
            if (b * 32 + i < count) targets[b * 32 + i] = last;
        }
        at += (bit + 31) / 32;
    }
    return (uint32_t)(at - group);
}

static uint32_t check(const uint32_t *targets, uint32_t count, uint32_t before)
{
    uint32_t group[TD_COMPRESS_MOST + 1], back[TD_COMPRESS_GROUP];
    uint32_t words = td_compress_group(targets, count, before, NULL);
    CHECK(words <= TD_COMPRESS_MOST);
    group[words] = 0xdeadbeef;
    CHECK_EQ(td_compress_group(targets, count, before, group), words);
    CHECK_EQ(group[words], 0xdeadbeef);
    CHECK_EQ(read_back(group, count, back), words);
    for (uint32_t i = 0; i < count; i++)
        if (back[i] != targets[i]) TEST_FAIL("target %u is %u, was %u", i, back[i], targets[i]);
    return words;
}

static uint64_t state = 88172645463325252u;
static uint32_t draw(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 16);
}

TEST(every_width_and_length_is_read_back)
{
    uint32_t targets[TD_COMPRESS_GROUP];
    for (uint32_t bits = 0; bits <= 32; bits++)
        for (uint32_t count = 1; count <= TD_COMPRESS_GROUP; count = count * 2 + 1) {
            for (uint32_t i = 0; i < count; i++) targets[i] = bits == 0 ? 7 : draw() >> (32 - bits);
            check(targets, count, bits % 2 == 0 ? 0 : draw());
        }
}

TEST(ends_of_the_range_are_read_back)
{
    uint32_t targets[TD_COMPRESS_GROUP];
    for (uint32_t i = 0; i < TD_COMPRESS_GROUP; i++) targets[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT32_MAX
        : UINT32_C(0x80000000);
    check(targets, TD_COMPRESS_GROUP, UINT32_MAX);
    for (uint32_t i = 0; i < TD_COMPRESS_GROUP; i++) targets[i] = UINT32_MAX;
    CHECK_EQ(check(targets, TD_COMPRESS_GROUP, UINT32_MAX), TD_COMPRESS_HEAD);
}

TEST(sorted_lists_take_a_third)
{
    uint32_t targets[TD_COMPRESS_GROUP], last = 0;
    for (uint32_t i = 0; i < TD_COMPRESS_GROUP; i++) {
        if (i % 50 == 0) last = draw() % 1000000; /* another list */
        targets[i] = last += draw() % 64;
    }
    CHECK(check(targets, TD_COMPRESS_GROUP, 0) < TD_COMPRESS_GROUP / 3);
}

TEST_MAIN
