#include "test.h"

#include "base/random.h"
#include "store/formats/numbers.h"

#include <float.h>
#include <locale.h>
#include <math.h>

/* Scans from a block that ends where the text ends, so that a sanitizer sees a read behind it. */
static td_scan scan_u64(const char *text, uint64_t *value, size_t *used)
{
    size_t length = strlen(text);
    char *exact = malloc(length > 0 ? length : 1);
    memcpy(exact, text, length);
    const char *at = exact;
    td_scan scan = td_scan_u64(&at, exact + length, value);
    *used = (size_t)(at - exact);
    free(exact);
    return scan;
}

static td_scan scan_number(const char *text, td_number *number, size_t *used)
{
    size_t length = strlen(text);
    char *exact = malloc(length > 0 ? length : 1);
    memcpy(exact, text, length);
    const char *at = exact;
    td_scan scan = td_scan_number(&at, exact + length, number);
    *used = (size_t)(at - exact);
    free(exact);
    return scan;
}

TEST(whole_numbers_of_every_length)
{
    uint64_t value = 0, wanted = 0;
    size_t used;
    char text[64];
    for (int digits = 1; digits <= 19; digits++) {
        wanted = wanted * 10 + (uint64_t)(digits % 10);
        static const char *const tails[] = {"", " ", "\n", ",1234567890", "x", "/9", ":9", "\x80\xff"};
        for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
            snprintf(text, sizeof text, "%" PRIu64 "%s", wanted, tails[t]);
            CHECK_EQ(scan_u64(text, &value, &used), TD_SCAN_OK);
            CHECK(value == wanted);
            CHECK_EQ(used, digits);
        }
    }
}

TEST(the_largest_whole_number_and_the_one_above_it)
{
    uint64_t value = 0;
    size_t used;
    CHECK_EQ(scan_u64("18446744073709551615", &value, &used), TD_SCAN_OK);
    CHECK(value == UINT64_MAX);
    CHECK_EQ(scan_u64("18446744073709551616", &value, &used), TD_SCAN_RANGE);
    CHECK_EQ(used, 20);
    CHECK_EQ(scan_u64("99999999999999999999999", &value, &used), TD_SCAN_RANGE);
    CHECK_EQ(scan_u64("000000000000000000000000017", &value, &used), TD_SCAN_OK);
    CHECK_EQ(value, 17);
}

TEST(what_is_no_whole_number)
{
    uint64_t value;
    size_t used;
    static const char *const texts[] = {"", " 1", "-1", "x", "+5", ".5", "        ", "-1234567890"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_EQ(scan_u64(texts[i], &value, &used), TD_SCAN_NONE);
        CHECK_EQ(used, 0);
    }
}

TEST(integers_and_reals_are_told_apart)
{
    static const struct {
        const char *text;
        bool integer;
        double value;
        size_t used;
    } cases[] = {
        {"7", true, 7, 1},          {"-7", true, -7, 2},      {"+7", true, 7, 2},         {"0", true, 0, 1},
        {"-0", true, -0.0, 2},      {"1.5", false, 1.5, 3},   {"-.5", false, -.5, 3},     {"5.", false, 5, 2},
        {"1e3", false, 1000, 3},    {"1E-3", false, 1e-3, 4}, {"2.5e+2", false, 250, 6},  {"1e", true, 1, 1},
        {"1e+", true, 1, 1},        {"1.5x", false, 1.5, 3},  {"12 34", true, 12, 2},     {"0.1", false, .1, 3},
        {"1e-400", false, 0, 6},    {"0e999999999999999999999", false, 0, 23},
        {"123456789012345678901234567890", true, 123456789012345678901234567890.0, 30},
        {"0.000000000000000000000000000000001", false, 1e-33, 35},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_number number;
        size_t used;
        CHECK_EQ(scan_number(cases[i].text, &number, &used), TD_SCAN_OK);
        CHECK_EQ(number.integer, cases[i].integer);
        CHECK(number.value == cases[i].value);
        CHECK_EQ(used, cases[i].used);
    }
}

TEST(what_is_not_finite_or_no_number_at_all)
{
    td_number number;
    size_t used;
    static const char *const infinite[] = {"nan", "NaN", "-nan", "inf", "-Inf", "+infinity", "NAN(7)"};
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        CHECK_EQ(scan_number(infinite[i], &number, &used), TD_SCAN_NOT_FINITE);
    CHECK_EQ(scan_number("1e400", &number, &used), TD_SCAN_RANGE);
    CHECK_EQ(scan_number("-1e999999999999999999999", &number, &used), TD_SCAN_RANGE);
    static const char *const none[] = {"", "-", "+", ".", "-.", "e5", ".e5", "abc", "--1", "in", "n"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_EQ(scan_number(none[i], &number, &used), TD_SCAN_NONE);
        CHECK_EQ(used, 0);
    }
    char many[1000];
    memset(many, '3', sizeof many - 1);
    many[1] = '.';
    many[sizeof many - 1] = '\0';
    CHECK_EQ(scan_number(many, &number, &used), TD_SCAN_LONG);
}

static void expect_like_strtod(const char *text)
{
    td_number number;
    size_t used;
    CHECK_EQ(scan_number(text, &number, &used), TD_SCAN_OK);
    CHECK_EQ(used, strlen(text));
    if (number.value != strtod(text, NULL)) TEST_FAIL("%s became %.17g", text, number.value);
}

TEST(reals_are_rounded_as_the_c_library_does)
{
    char text[64];
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t bits = td_random_at(3, i);
        double any;
        memcpy(&any, &bits, sizeof any);
        snprintf(text, sizeof text, "%.*g", (int)(1 + i % 18), any);
        if (isfinite(any) && isfinite(strtod(text, NULL))) expect_like_strtod(text);
        snprintf(text, sizeof text, "%.*f", (int)(i % 12), td_random_unit(bits) * 1e6);
        expect_like_strtod(text);
    }
}

TEST(floats_written_with_nine_digits_come_back)
{
    char text[64];
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)td_random_at(4, i);
        float any;
        memcpy(&any, &bits, sizeof any);
        if (!isfinite(any)) continue;
        td_number number;
        size_t used;
        snprintf(text, sizeof text, "%.9g", (double)any);
        CHECK_EQ(scan_number(text, &number, &used), TD_SCAN_OK);
        CHECK((float)number.value == any);
    }
}

TEST(a_locale_with_a_decimal_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found) SKIP("no locale with a decimal comma is installed");
    td_number number;
    size_t used;
    td_scan scan = scan_number("1.2345678901234567890123", &number, &used);
    setlocale(LC_ALL, "C");
    CHECK_EQ(scan, TD_SCAN_OK);
    CHECK(number.value == 1.2345678901234567890123);
}

TEST_MAIN
