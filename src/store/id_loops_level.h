/* The loops of id_loops.h for one level: included by the one unit that the build makes per level, with LEVEL defined as
 * the suffix of the level's symbols. */
#include "base/bitmap.h"
#include "store/id_loops.h"

#define PASTE(name, level) name##_##level
#define SYMBOL(name, level) PASTE(name, level)

static void range(const uint32_t *ids, uint64_t count, uint32_t *low, uint32_t *high)
{
    uint32_t lowest = *low, highest = *high;
    for (uint64_t i = 0; i < count; i++) {
        lowest = ids[i] < lowest ? ids[i] : lowest;
        highest = ids[i] > highest ? ids[i] : highest;
    }
    *low = lowest;
    *high = highest;
}

static void number(uint32_t *ids, uint64_t count, uint64_t lowest, const uint64_t *map, const uint32_t *rank)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bit = ids[i] - lowest, below = map[bit / 64] & ((UINT64_C(1) << (bit % 64)) - 1);
        ids[i] = rank[bit / 64] + (uint32_t)td_popcount(below);
    }
}

extern const td_id_loops SYMBOL(td_id_loops, LEVEL);
const td_id_loops SYMBOL(td_id_loops, LEVEL) = {range, number};
