/* A bit stream and its instantaneous codes, as WebGraph writes them.
 *
 * Bits run from the most significant of each byte to the least. Every code is
 * decoded from a 64-bit window loaded at the current position: a leading-zero
 * count gives the unary part, a shift the rest, so that codes of typical lengths
 * need no loop and no table. After the end the stream reads as zeros, which no code
 * accepts: a malformed or truncated code gives TD_BITS_BAD, larger than
 * any value a caller allows, so that one comparison checks both.
 *
 * The codes: Boldi and Vigna, "Codes for the World-Wide Web" (zeta), and the
 * documentation of dsiutils' OutputBitStream (all others).
 */
#ifndef TD_STORE_BITS_H
#define TD_STORE_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TD_BITS_BAD UINT64_MAX

typedef struct td_bits {
    const uint8_t *data;
    uint64_t bytes;
    uint64_t at; /* the next bit */
} td_bits;

/* The numbers are those of WebGraph's CompressionFlags. */
typedef enum td_code {
    TD_CODE_DELTA = 1,
    TD_CODE_GAMMA = 2,
    TD_CODE_GOLOMB = 3,
    TD_CODE_SKEWED_GOLOMB = 4,
    TD_CODE_UNARY = 5,
    TD_CODE_ZETA = 6,
    TD_CODE_NIBBLE = 7,
} td_code;

/* The last bytes, where a whole word cannot be loaded. */
static __attribute__((noinline, unused)) uint64_t td_bits_tail(const td_bits *bits)
{
    uint64_t byte = bits->at / 8, word = 0;
    if (byte >= bits->bytes) return 0;
    memcpy(&word, bits->data + byte, bits->bytes - byte);
    return be64toh(word) << bits->at % 8;
}

/* The next 57 bits at least, from the top; zeros below them. */
static inline uint64_t td_bits_peek(const td_bits *bits)
{
    uint64_t byte = bits->at / 8, word;
    if (__builtin_expect(byte + 8 > bits->bytes, 0)) return td_bits_tail(bits);
    memcpy(&word, bits->data + byte, 8);
    return be64toh(word) << bits->at % 8;
}

static inline bool td_bits_over(const td_bits *bits) { return bits->at > 8 * bits->bytes; }

static inline uint64_t td_bits_top(uint64_t word, unsigned count) { return word >> 1 >> (63 - count); }

/* Up to 63 bits as a number. */
static inline uint64_t td_bits_read(td_bits *bits, unsigned count)
{
    uint64_t high = 0;
    if (__builtin_expect(count > 57, 0)) {
        high = td_bits_top(td_bits_peek(bits), count - 32) << 32;
        bits->at += count - 32;
        count = 32;
    }
    uint64_t low = td_bits_top(td_bits_peek(bits), count);
    bits->at += count;
    return high | low;
}

/* A run of zeros longer than the window. */
static __attribute__((noinline, unused)) uint64_t td_bits_long_unary(td_bits *bits)
{
    uint64_t start = bits->at;
    for (uint64_t word = 0; word == 0; word = td_bits_peek(bits)) {
        bits->at += 57;
        if (td_bits_over(bits)) return TD_BITS_BAD;
    }
    bits->at += (unsigned)__builtin_clzll(td_bits_peek(bits)) + 1;
    return bits->at - 1 - start;
}

static inline uint64_t td_bits_unary(td_bits *bits)
{
    uint64_t word = td_bits_peek(bits);
    if (__builtin_expect(word == 0, 0)) return td_bits_long_unary(bits);
    unsigned zeros = (unsigned)__builtin_clzll(word);
    bits->at += zeros + 1;
    return zeros;
}

/* What follows the unary part of a long gamma code, and all of a delta code's. */
static inline uint64_t td_bits_below_top(td_bits *bits, uint64_t top)
{
    if (top > 62) return TD_BITS_BAD;
    return (UINT64_C(1) << top | td_bits_read(bits, (unsigned)top)) - 1;
}

static inline uint64_t td_bits_gamma(td_bits *bits)
{
    uint64_t word = td_bits_peek(bits);
    if (__builtin_expect(word >> 35 == 0, 0)) return td_bits_below_top(bits, td_bits_unary(bits));
    unsigned zeros = (unsigned)__builtin_clzll(word); /* at most 28: the code fits the window */
    bits->at += 2 * zeros + 1;
    return (word >> (63 - 2 * zeros)) - 1;
}

static inline uint64_t td_bits_delta(td_bits *bits) { return td_bits_below_top(bits, td_bits_gamma(bits)); }

static inline uint64_t td_bits_long_zeta(td_bits *bits, unsigned k)
{
    uint64_t h = td_bits_unary(bits);
    if (h > 62 || h * k + k > 62) return TD_BITS_BAD;
    uint64_t left = UINT64_C(1) << h * k, m = td_bits_read(bits, (unsigned)h * k + k - 1);
    return m < left ? m + left - 1 : (m << 1 | td_bits_read(bits, 1)) - 1;
}

/* Both possible lengths are computed and one is chosen without a branch: which
 * of them it is cannot be predicted. */
static inline uint64_t td_bits_zeta(td_bits *bits, unsigned k)
{
    uint64_t word = td_bits_peek(bits);
    unsigned h = word == 0 ? 64 : (unsigned)__builtin_clzll(word);
    if (__builtin_expect(h * (k + 1) + k + 1 > 57, 0)) return td_bits_long_zeta(bits, k);
    unsigned body = h * k + k;
    uint64_t left = UINT64_C(1) << (body - k), longer = td_bits_top(word << (h + 1), body), shorter = longer >> 1;
    bool is_short = shorter < left;
    bits->at += h + 1 + body - is_short;
    return (is_short ? shorter + left : longer) - 1;
}

/* A number below `bound` in as few bits as that allows; bound > 0. */
static inline uint64_t td_bits_minimal(td_bits *bits, uint64_t bound)
{
    unsigned log = 63 - (unsigned)__builtin_clzll(bound);
    uint64_t short_codes = (UINT64_C(2) << log) - bound, x = td_bits_read(bits, log);
    return x < short_codes ? x : (x << 1 | td_bits_read(bits, 1)) - short_codes;
}

static inline uint64_t td_bits_golomb(td_bits *bits, uint32_t modulus)
{
    uint64_t quotient = td_bits_unary(bits);
    if (quotient >> 31 != 0) return TD_BITS_BAD;
    return quotient * modulus + td_bits_minimal(bits, modulus);
}

static inline uint64_t td_bits_skewed_golomb(td_bits *bits, uint32_t modulus)
{
    uint64_t step = td_bits_unary(bits);
    if (step > 30) return TD_BITS_BAD;
    uint64_t first = ((UINT64_C(1) << step) - 1) * modulus;
    return first + td_bits_minimal(bits, (uint64_t)modulus << step);
}

/* Three bits at a time, the last group marked by a one in front. */
static inline uint64_t td_bits_nibble(td_bits *bits)
{
    uint64_t value = 0;
    for (int group = 0; group < 21; group++) {
        uint64_t next = td_bits_read(bits, 4);
        value = value << 3 | (next & 7);
        if (next & 8) return value;
    }
    return TD_BITS_BAD;
}

/* `parameter` is zeta's k or Golomb's modulus. Folds to one code when it is a constant. */
static inline __attribute__((always_inline)) uint64_t td_bits_code(td_bits *bits, td_code code, uint32_t parameter)
{
    switch (code) {
    case TD_CODE_DELTA: return td_bits_delta(bits);
    case TD_CODE_GAMMA: return td_bits_gamma(bits);
    case TD_CODE_GOLOMB: return td_bits_golomb(bits, parameter);
    case TD_CODE_SKEWED_GOLOMB: return td_bits_skewed_golomb(bits, parameter);
    case TD_CODE_UNARY: return td_bits_unary(bits);
    case TD_CODE_ZETA: return td_bits_zeta(bits, parameter);
    case TD_CODE_NIBBLE: return td_bits_nibble(bits);
    }
    return TD_BITS_BAD;
}

#endif
