/* Numbers in text, fast and exact.
 *
 * Each function reads the number that starts at *at, never reads at or beyond `end`,
 * and moves *at to the end of the number (not on TD_SCAN_NONE). The caller checks the
 * character after the number. Independent of the locale.
 */
#ifndef TD_STORE_NUMBERS_H
#define TD_STORE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum td_scan {
    TD_SCAN_OK,
    TD_SCAN_NONE,       /* no number here */
    TD_SCAN_RANGE,      /* too large for its type */
    TD_SCAN_NOT_FINITE, /* nan or inf */
    TD_SCAN_LONG,       /* a real number of too many characters */
} td_scan;

typedef struct td_number {
    bool negative;
    bool integer;       /* written without point and exponent */
    uint64_t magnitude; /* of an integer; UINT64_MAX: that or above */
    double value;       /* always set */
} td_number;

static inline bool td_is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

/* How many of the eight characters in `word`, from its first byte, are digits. */
static inline unsigned td_digits_in(uint64_t word)
{
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), zeros = UINT64_C(0x3030303030303030);
    uint64_t other = ((word & high) ^ zeros) | (((word + UINT64_C(0x0606060606060606)) & high) ^ zeros);
    return other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
}

/* The value of eight digits, the first byte being the highest: pairs, then fours, then all. */
static inline uint64_t td_eight_digits(uint64_t word)
{
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

/* Appends further digits to *value, one by one. False if it exceeds 64 bits; still skips all digits. */
static inline bool td_scan_more_digits(const char **at, const char *end, uint64_t *value)
{
    bool fits = true;
    for (; *at < end && td_is_digit(**at); ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, digit, value)) fits = false;
    }
    return fits;
}

/* Processes eight characters at once: ids vary in length, and a loop over digits would
 * mispredict its end for almost every id. */
static inline td_scan td_scan_u64(const char **at, const char *end, uint64_t *value)
{
    const char *start = *at;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (__builtin_expect(end - start >= 8, 1)) {
        uint64_t word;
        memcpy(&word, start, 8);
        unsigned digits = td_digits_in(word);
        if (digits == 0) return TD_SCAN_NONE;
        *at = start + digits;
        *value = td_eight_digits(word << (64 - 8 * digits));
        if (__builtin_expect(digits < 8, 1)) return TD_SCAN_OK;
        return td_scan_more_digits(at, end, value) ? TD_SCAN_OK : TD_SCAN_RANGE;
    }
#endif
    *value = 0;
    bool fits = td_scan_more_digits(at, end, value);
    if (*at == start) return TD_SCAN_NONE;
    return fits ? TD_SCAN_OK : TD_SCAN_RANGE;
}

/* The slow path of td_scan_number (numbers.c). */
td_scan td_scan_real(const char **at, const char *end, td_number *number);

/* An integer or a real number: 7, -7, +7, 1.5, .5, 5., 1e-3. Reals are rounded
 * to the nearest double. */
static inline td_scan td_scan_number(const char **at, const char *end, td_number *number)
{
    const char *start = *at;
    bool negative = start < end && *start == '-';
    const char *digits = start + negative;
    uint64_t magnitude = 0;
    td_scan scan = td_scan_u64(&digits, end, &magnitude);
    bool plain = digits == end || (*digits != '.' && (*digits | 0x20) != 'e');
    if (__builtin_expect(scan != TD_SCAN_OK || !plain, 0)) return td_scan_real(at, end, number);
    *at = digits;
    *number = (td_number){negative, true, magnitude, negative ? -(double)magnitude : (double)magnitude};
    return TD_SCAN_OK;
}

#endif
