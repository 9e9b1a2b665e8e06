#include "layout/compressed.h"

#include <string.h>

enum { BLOCKS = TD_COMPRESS_GROUP / TD_COMPRESS_BLOCK };

static uint32_t difference(uint32_t target, uint32_t before)
{
    uint32_t delta = target - before;
    return delta << 1 ^ (0u - (delta >> 31)); /* the sign in the lowest bit */
}

static uint32_t bits_of(uint32_t value) { return value == 0 ? 0 : 32 - (uint32_t)__builtin_clz(value); }

typedef struct block {
    uint32_t deltas[TD_COMPRESS_BLOCK];
    uint32_t small, large, wide; /* the two widths, and a bitmap of the differences that take the larger one */
    uint32_t words;
} block;

/* Chooses the smaller width such that the block is shortest, including the bitmap of wide differences. */
static void choose_widths(block *it)
{
    uint32_t of_width[33] = {0}, larger = 0;
    for (uint32_t i = 0; i < TD_COMPRESS_BLOCK; i++) of_width[bits_of(it->deltas[i])]++;
    for (it->large = 32; it->large > 0 && of_width[it->large] == 0; it->large--) {}
    uint32_t least = TD_COMPRESS_BLOCK * it->large;
    it->small = it->large;
    for (uint32_t width = it->large; width-- > 0;) {
        larger += of_width[width + 1];
        uint32_t bits = 32 + (TD_COMPRESS_BLOCK - larger) * width + larger * it->large;
        if (bits >= least) continue;
        least = bits;
        it->small = width;
    }
    it->words = (least + 31) / 32 - (it->small != it->large); /* words of the differences */
    it->wide = 0;
    for (uint32_t i = 0; i < TD_COMPRESS_BLOCK; i++)
        if (it->small != it->large && bits_of(it->deltas[i]) > it->small) it->wide |= 1u << i;
}

static void write_differences(const block *it, uint32_t *out)
{
    uint64_t at = 0;
    memset(out, 0, it->words * sizeof *out);
    for (uint32_t i = 0; i < TD_COMPRESS_BLOCK; i++) {
        uint32_t width = it->wide >> i & 1u ? it->large : it->small;
        uint64_t value = (uint64_t)it->deltas[i] << (at & 31u);
        if (width == 0) continue;
        out[at / 32] |= (uint32_t)value;
        if ((at & 31u) + width > 32) out[at / 32 + 1] |= (uint32_t)(value >> 32);
        at += width;
    }
}

uint32_t td_compress_group(const uint32_t *targets, uint32_t count, uint32_t before, uint32_t *out)
{
    block blocks[BLOCKS];
    uint32_t apart = 0, words = 0, last = before;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        for (uint32_t i = 0; i < TD_COMPRESS_BLOCK; i++) {
            uint32_t e = b * TD_COMPRESS_BLOCK + i;
            blocks[b].deltas[i] = e < count ? difference(targets[e], last) : 0;
            if (e < count) last = targets[e];
        }
        choose_widths(&blocks[b]);
        apart += blocks[b].small != blocks[b].large;
        words += blocks[b].words;
    }
    if (out == NULL) return TD_COMPRESS_HEAD + apart + words;
    uint32_t *wide = out + TD_COMPRESS_HEAD, *at = wide + apart;
    memset(out, 0, TD_COMPRESS_HEAD * sizeof *out);
    out[0] = before;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        out[1 + b / 2] |= (blocks[b].small | blocks[b].large << 6) << (b % 2 * 16);
        if (blocks[b].small != blocks[b].large) *wide++ = blocks[b].wide;
        write_differences(&blocks[b], at);
        at += blocks[b].words;
    }
    return TD_COMPRESS_HEAD + apart + words;
}

/* Expanding. */

static uint32_t bits_at(const uint32_t *words, uint32_t bit, uint32_t width)
{
    if (width == 0) return 0;
    uint64_t pair = words[bit / 32];
    if ((bit & 31u) + width > 32) pair |= (uint64_t)words[bit / 32 + 1] << 32;
    return (uint32_t)(pair >> (bit & 31u)) & (0xffffffffu >> (32 - width));
}

/* Reads the widths and bitmaps of all blocks; false: they do not fit in the words. */
static bool read_blocks(const uint32_t *words, uint32_t length, block *blocks)
{
    uint32_t used = TD_COMPRESS_HEAD;
    if (length < TD_COMPRESS_HEAD) return false;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t widths = words[1 + b / 2] >> (b % 2 * 16) & 0xffffu;
        block *it = &blocks[b];
        *it = (block){.small = widths & 63u, .large = widths >> 6};
        if (it->small > 32 || it->large > 32) return false;
        if (it->small == it->large) continue;
        if (used == length) return false;
        it->wide = words[used++];
    }
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t wide = (uint32_t)__builtin_popcount(blocks[b].wide);
        blocks[b].words = ((TD_COMPRESS_BLOCK - wide) * blocks[b].small + wide * blocks[b].large + 31) / 32;
        used += blocks[b].words;
    }
    return used == length;
}

bool td_expand_group(const uint32_t *words, uint32_t length, uint32_t count, uint32_t *targets)
{
    block blocks[BLOCKS];
    if (!read_blocks(words, length, blocks)) return false;
    const uint32_t *at = words + TD_COMPRESS_HEAD;
    uint32_t last = words[0];
    for (uint32_t b = 0; b < BLOCKS; b++) at += blocks[b].small != blocks[b].large;
    for (uint32_t b = 0; b < BLOCKS && b * TD_COMPRESS_BLOCK < count; b++) {
        uint32_t bit = 0;
        for (uint32_t i = 0; i < TD_COMPRESS_BLOCK && b * TD_COMPRESS_BLOCK + i < count; i++) {
            uint32_t width = blocks[b].wide >> i & 1u ? blocks[b].large : blocks[b].small;
            uint32_t delta = bits_at(at, bit, width);
            last += delta >> 1 ^ (0u - (delta & 1u));
            targets[b * TD_COMPRESS_BLOCK + i] = last;
            bit += width;
        }
        at += blocks[b].words;
    }
    return true;
}
