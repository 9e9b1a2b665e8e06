#include "store/formats/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PAIRS[201] = "0001020304050607080910111213141516171819202122232425262728293031323334"
                               "3536373839404142434445464748495051525354555657585960616263646566676869"
                               "707172737475767778798081828384858687888990919293949596979899";

/* `count` digits, with leading zeros. */
static char *print_digits(char *at, uint64_t value, unsigned count)
{
    char *p = at + count;
    while (p - at >= 2) {
        p -= 2;
        memcpy(p, PAIRS + value % 100 * 2, 2);
        value /= 100;
    }
    if (p > at) *at = (char)('0' + value);
    return at + count;
}

static unsigned digits_of(uint64_t value)
{
    unsigned count = 1;
    for (; value >= 10000; value /= 10000) count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

char *td_print_u64(char *at, uint64_t value) { return print_digits(at, value, digits_of(value)); }

static const double TENS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};

/* Digits behind the point that make 9 significant ones in all, for 1e-5 <= value < 1e9. */
static unsigned places_of(double value)
{
    unsigned places = 0;
    while (places < 13 && value * TENS[places] < 1e8) places++;
    return places;
}

static char *print_by_library(char *at, double value, int digits)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.*g", digits, value);
    memcpy(at, text, (size_t)length);
    if (strpbrk(text, ".en") != NULL) return at + length; /* a point, an exponent, inf or nan */
    memcpy(at + length, ".0", 2);
    return at + length + 2;
}

/* The product is off by less than a unit of double precision, which is too little for
 * the 9 digits to give another float. */
char *td_print_f32(char *at, float value)
{
    double size = fabs((double)value);
    if (!(size >= 1e-5 && size < 999999999.0)) return print_by_library(at, (double)value, 9);
    if (value < 0) *at++ = '-';
    unsigned places = places_of(size);
    uint64_t scale = (uint64_t)TENS[places], number = (uint64_t)(size * TENS[places] + 0.5);
    at = td_print_u64(at, number / scale);
    *at++ = '.';
    if (places == 0) places = 1;
    at = print_digits(at, number % scale, places);
    while (at[-1] == '0' && at[-2] != '.') at--;
    return at;
}

char *td_print_f64(char *at, double value)
{
    enum { FEW = 15, ALL = 17 };
    char text[32];
    snprintf(text, sizeof text, "%.*g", FEW, value);
    return print_by_library(at, value, strtod(text, NULL) == value ? FEW : ALL);
}
