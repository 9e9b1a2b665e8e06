/* Decompression of targets (layout/compressed.h): a warp takes a group, four blocks at a time, and a lane four consecutive
 * differences of one block. The data begins with the offset of every group, in words. */

enum { DECOMPRESS_LANE = 4 };

/* A group being decompressed. Each lane holds the widths, the bitmap of wide differences and the offset of one block;
 * `last` is the target before the next block. */
typedef struct decompression {
    const uint32_t *group;
    uint32_t widths, wide, at, last;
} decompression;

TD_DEVICE decompression open_group(const uint32_t *group)
{
    uint32_t widths = group[1 + td_lane() / 2] >> (td_lane() % 2 * 16) & 0xffffu, small = widths & 63u,
        large = widths >> 6, total;
    uint32_t apart = TD_BALLOT(TD_ALL_LANES, small != large);
    uint32_t wide = small != large ? group[TD_COMPRESS_HEAD + TD_POPCOUNT(apart & td_lanes_below())] : 0;
    uint32_t bits = (TD_COMPRESS_BLOCK - TD_POPCOUNT(wide)) * small + TD_POPCOUNT(wide) * large;
    uint32_t at = TD_COMPRESS_HEAD + TD_POPCOUNT(apart) + warp_scan((bits + 31) / 32, &total);
    return (decompression){group, widths, wide, at, group[0]};
}

/* The lane's four consecutive targets within the four blocks from b on. Issues all loads before the first use. Blocks
 * must be taken in order. */
TD_DEVICE void decompress_four(decompression *it, uint32_t b, uint32_t *targets)
{
    uint32_t block = b + td_lane() / (TD_COMPRESS_BLOCK / DECOMPRESS_LANE);
    uint32_t i = td_lane() * DECOMPRESS_LANE % TD_COMPRESS_BLOCK;
    uint32_t theirs = TD_SHUFFLE(TD_ALL_LANES, it->widths, block), few = theirs & 63u, many = theirs >> 6;
    uint32_t wides = TD_SHUFFLE(TD_ALL_LANES, it->wide, block), before = TD_POPCOUNT(wides & ((1u << i) - 1));
    const uint32_t *words = it->group + TD_SHUFFLE(TD_ALL_LANES, it->at, block);
    uint32_t bit = (i - before) * few + before * many, sum = 0, total;
    uint32_t bits[DECOMPRESS_LANE], widths[DECOMPRESS_LANE], low[DECOMPRESS_LANE], high[DECOMPRESS_LANE];
    TD_UNROLL
    for (uint32_t k = 0; k < DECOMPRESS_LANE; k++) {
        bits[k] = bit;
        widths[k] = wides >> (i + k) & 1u ? many : few;
        low[k] = widths[k] > 0 ? TD_READ_ONLY(&words[bit / 32]) : 0;
        high[k] = (bit & 31u) + widths[k] > 32 ? TD_READ_ONLY(&words[bit / 32 + 1]) : 0;
        bit += widths[k];
    }
    TD_UNROLL
    for (uint32_t k = 0; k < DECOMPRESS_LANE; k++) {
        uint32_t delta = (uint32_t)(((uint64_t)high[k] << 32 | low[k]) >> (bits[k] & 31u));
        delta &= 0xffffffffu >> ((32 - widths[k]) & 31u); /* width 0: `way` is 0 already */
        sum += delta >> 1 ^ (0u - (delta & 1u));
        targets[k] = sum;
    }
    uint32_t last = it->last + warp_scan(sum, &total);
    TD_UNROLL
    for (uint32_t k = 0; k < DECOMPRESS_LANE; k++) targets[k] += last;
    it->last += total;
}

TD_KERNEL(decompress, td_decompress_args)
{
    uint64_t groups = (a.edges + TD_COMPRESS_GROUP - 1) / TD_COMPRESS_GROUP;
    for (uint64_t g = td_global_thread() / TD_WARP; g < groups; g += td_global_threads() / TD_WARP) {
        uint64_t first = g * TD_COMPRESS_GROUP;
        decompression it = open_group(a.compressed + a.compressed[g]);
        for (uint32_t b = 0; b < TD_COMPRESS_GROUP / TD_COMPRESS_BLOCK; b += DECOMPRESS_LANE) {
            uint64_t e = first + b * TD_COMPRESS_BLOCK + td_lane() * DECOMPRESS_LANE;
            uint32_t targets[DECOMPRESS_LANE];
            if (first + b * TD_COMPRESS_BLOCK >= a.edges) break;
            decompress_four(&it, b, targets);
            if (e + DECOMPRESS_LANE <= a.edges) {
                TD_WRITE_FOUR(&a.targets[e], targets);
            } else {
                for (uint32_t k = 0; k < DECOMPRESS_LANE; k++)
                    if (e + k < a.edges) a.targets[e + k] = targets[k];
            }
        }
    }
}
