/* Real numbers: short decimals exactly by one multiplication or division
 * (Clinger, "How to read floating point numbers accurately", 1990: the digits
 * and the power of ten are both exact doubles, so one operation rounds once),
 * all others through the C library in the C locale. */
#include "store/formats/numbers.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { LONGEST = 400 }; /* characters of a real number */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { EXACT_POWER = sizeof powers / sizeof *powers - 1 };
#define EXACT_DIGITS (UINT64_C(1) << 53)

static locale_t c_locale;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static double convert(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale != (locale_t)0 ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

/* The parts of a real number. */
typedef struct decimal {
    const char *start, *end;
    uint64_t digits;  /* as one integer */
    bool digits_fit;  /* in 64 bits */
    int64_t exponent; /* of ten */
    bool integer;
} decimal;

/* Appends the digits at *at, if there are any, to those read so far. */
static bool scan_digits(decimal *parts, const char **at, const char *end)
{
    static const uint64_t shifts[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    const char *first = *at;
    uint64_t digits;
    td_scan scan = td_scan_u64(at, end, &digits);
    if (scan == TD_SCAN_NONE) return false;
    for (size_t left = (size_t)(*at - first), step; left > 0; left -= step) {
        step = left < 9 ? left : 9;
        if (__builtin_mul_overflow(parts->digits, shifts[step], &parts->digits)) parts->digits_fit = false;
    }
    if (scan == TD_SCAN_RANGE || __builtin_add_overflow(parts->digits, digits, &parts->digits))
        parts->digits_fit = false;
    return true;
}

static bool scan_mantissa(decimal *parts, const char **at, const char *end)
{
    bool whole = scan_digits(parts, at, end);
    parts->integer = *at == end || **at != '.';
    if (parts->integer) return whole;
    const char *fraction = ++*at;
    bool more = scan_digits(parts, at, end);
    parts->exponent = -(int64_t)(*at - fraction);
    return whole || more;
}

/* "e" and digits; without digits it is not part of the number. */
static void scan_exponent(decimal *parts, const char **at, const char *end)
{
    const char *digits = *at;
    if (digits == end || (*digits | 0x20) != 'e') return;
    digits++;
    bool negative = digits < end && *digits == '-';
    if (digits < end && (*digits == '-' || *digits == '+')) digits++;
    uint64_t exponent;
    td_scan scan = td_scan_u64(&digits, end, &exponent);
    if (scan == TD_SCAN_NONE) return;
    if (scan == TD_SCAN_RANGE || exponent > 1000000) exponent = 1000000; /* as good as any larger one */
    parts->exponent += negative ? -(int64_t)exponent : (int64_t)exponent;
    parts->integer = false;
    *at = digits;
}

static bool word_at(const char *at, const char *end, const char *word)
{
    for (; *word != '\0'; at++, word++)
        if (at == end || (*at | 0x20) != *word) return false;
    return true;
}

static td_scan round_decimal(const decimal *parts, double *value)
{
    if (parts->digits_fit && parts->digits <= EXACT_DIGITS && llabs(parts->exponent) <= EXACT_POWER) {
        double digits = (double)parts->digits;
        *value = parts->exponent < 0 ? digits / powers[-parts->exponent] : digits * powers[parts->exponent];
        return TD_SCAN_OK;
    }
    char text[LONGEST + 1];
    size_t length = (size_t)(parts->end - parts->start);
    if (length > LONGEST) return TD_SCAN_LONG;
    memcpy(text, parts->start, length);
    text[length] = '\0';
    *value = convert(text);
    return isfinite(*value) ? TD_SCAN_OK : TD_SCAN_RANGE;
}

td_scan td_scan_real(const char **at, const char *end, td_number *number)
{
    const char *now = *at;
    bool negative = now < end && *now == '-';
    if (now < end && (*now == '-' || *now == '+')) now++;
    if (word_at(now, end, "nan") || word_at(now, end, "inf")) return TD_SCAN_NOT_FINITE;
    decimal parts = {.start = now, .digits_fit = true};
    if (!scan_mantissa(&parts, &now, end)) return TD_SCAN_NONE;
    scan_exponent(&parts, &now, end);
    parts.end = now;
    *at = now;
    double value = 0;
    td_scan scan = round_decimal(&parts, &value);
    *number = (td_number){negative, parts.integer, parts.digits_fit ? parts.digits : UINT64_MAX,
                          negative ? -value : value};
    return scan;
}
