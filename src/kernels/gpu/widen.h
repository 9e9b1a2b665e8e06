/* Lists that came over the link in fewer bits (layout/narrow.h), made whole again: a warp takes a group, its lanes a
 * block's 32 differences at a time. The data begins with the place of every group, in words. */

/* `width` bits from a bit on. */
TD_DEVICE uint32_t bits_at(const uint32_t *words, uint32_t bit, uint32_t width)
{
    uint32_t shift = bit & 31u;
    if (width == 0) return 0;
    uint64_t word = TD_READ_ONLY(&words[bit / 32]);
    if (shift + width > 32) word |= (uint64_t)TD_READ_ONLY(&words[bit / 32 + 1]) << 32;
    return (uint32_t)(word >> shift) & (0xffffffffu >> (32 - width));
}

/* A group being read: what each lane knows of one of its blocks, and the target before the next block. */
typedef struct widening {
    const uint32_t *group;
    uint32_t widths, wide, at, last;
} widening;

TD_DEVICE widening open_group(const uint32_t *group)
{
    uint32_t widths = group[1 + td_lane() / 2] >> (td_lane() % 2 * 16) & 0xffffu, small = widths & 63u,
        large = widths >> 6, total;
    uint32_t apart = TD_BALLOT(TD_ALL_LANES, small != large);
    uint32_t wide = small != large ? group[TD_NARROW_HEAD + TD_POPCOUNT(apart & td_lanes_below())] : 0;
    uint32_t bits = (TD_NARROW_BLOCK - TD_POPCOUNT(wide)) * small + TD_POPCOUNT(wide) * large;
    uint32_t at = TD_NARROW_HEAD + TD_POPCOUNT(apart) + warp_scan((bits + 31) / 32, &total);
    return (widening){group, widths, wide, at, group[0]};
}

/* The lane's target of block b; blocks come one after another. */
TD_DEVICE uint32_t widen_block(widening *it, uint32_t b)
{
    uint32_t theirs = TD_SHUFFLE(TD_ALL_LANES, it->widths, b), few = theirs & 63u, many = theirs >> 6;
    uint32_t wides = TD_SHUFFLE(TD_ALL_LANES, it->wide, b), before = TD_POPCOUNT(wides & td_lanes_below());
    uint32_t bit = (td_lane() - before) * few + before * many, steps;
    uint32_t way = bits_at(it->group + TD_SHUFFLE(TD_ALL_LANES, it->at, b), bit, wides >> td_lane() & 1u ? many : few);
    uint32_t step = way >> 1 ^ (0u - (way & 1u)), target = it->last + warp_scan(step, &steps) + step;
    it->last += steps;
    return target;
}

TD_KERNEL(widen, td_gpu_args)
{
    uint64_t groups = (a.narrow_edges + TD_NARROW_GROUP - 1) / TD_NARROW_GROUP;
    for (uint64_t g = td_global_thread() / TD_WARP; g < groups; g += td_global_threads() / TD_WARP) {
        uint64_t first = g * TD_NARROW_GROUP;
        widening it = open_group(a.narrow + a.narrow[g]);
        for (uint32_t b = 0; b < TD_NARROW_GROUP / TD_NARROW_BLOCK; b++) {
            uint64_t e = first + b * TD_NARROW_BLOCK;
            if (e >= a.narrow_edges) break;
            uint32_t target = widen_block(&it, b);
            if (e + td_lane() < a.narrow_edges) a.window[e + td_lane()] = target;
        }
    }
}
