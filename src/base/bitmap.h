/* A bitmap is an array of 64-bit words; bit i is bit i%64 of word i/64.
 * Helpers only: the owner allocates td_bitmap_words(n) words. */
#ifndef TD_BASE_BITMAP_H
#define TD_BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t td_bitmap_words(uint64_t bits) { return bits / 64 + (bits % 64 != 0); }

static inline bool td_bit_get(const uint64_t *map, uint64_t i) { return map[i / 64] >> (i % 64) & 1; }

static inline void td_bit_set(uint64_t *map, uint64_t i) { map[i / 64] |= UINT64_C(1) << (i % 64); }

static inline void td_bit_clear(uint64_t *map, uint64_t i) { map[i / 64] &= ~(UINT64_C(1) << (i % 64)); }

/* True if this call set the bit. Reads first, because most bits are set already. */
static inline bool td_bit_set_atomic(uint64_t *map, uint64_t i)
{
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (__atomic_load_n(&map[i / 64], __ATOMIC_RELAXED) & bit) return false;
    return !(__atomic_fetch_or(&map[i / 64], bit, __ATOMIC_RELAXED) & bit);
}

static inline void td_bit_clear_atomic(uint64_t *map, uint64_t i)
{
    __atomic_fetch_and(&map[i / 64], ~(UINT64_C(1) << (i % 64)), __ATOMIC_RELAXED);
}

/* The bits that are set. Without the instruction, the compiler calls a function of its library, which looks bytes up in
 * a table; adding neighbouring fields takes half as long (docs/lab/build.md, "Portable builds"). */
static inline uint64_t td_popcount(uint64_t word)
{
#if defined(__x86_64__) && !defined(__POPCNT__)
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return word * UINT64_C(0x0101010101010101) >> 56;
#else
    return (uint64_t)__builtin_popcountll(word);
#endif
}

static inline uint64_t td_bitmap_count(const uint64_t *map, uint64_t words)
{
    uint64_t count = 0;
    for (uint64_t w = 0; w < words; w++) count += td_popcount(map[w]);
    return count;
}

#endif
