#include "test.h"

#include "base/size.h"

static void check_size(const char *text, uint64_t wanted)
{
    uint64_t seen = 1;
    td_status status = td_parse_size(text, &seen);
    if (status != TD_OK || seen != wanted)
        TEST_FAIL("'%s' gives %s, %llu, not %llu", text, td_status_name(status), (unsigned long long)seen,
                  (unsigned long long)wanted);
}

TEST(sizes_are_read_as_people_write_them)
{
    check_size("0", 0);
    check_size("65536", 65536);
    check_size("512M", UINT64_C(512) << 20);
    check_size("4G", UINT64_C(4) << 30);
    check_size("4g", UINT64_C(4) << 30);
    check_size("4GB", UINT64_C(4) << 30);
    check_size("4GiB", UINT64_C(4) << 30);
    check_size("1.5K", 1536);
    check_size(".5K", 512);
    check_size("2T", UINT64_C(2) << 40);
    check_size("7B", 7);
    check_size("18446744073709551615", UINT64_MAX);
    check_size("9007199254740993", UINT64_C(9007199254740993)); /* not through a double */
}

TEST(what_is_no_size_is_refused_and_quoted)
{
    static const char *const bad[] = {"", " ", "G", "-1", "+1", "4X", "4 G", "4GG", "4iB", "4Gi", "G4", "abc", "nan",
                                      "inf", "1e999", "4%", ".", "1..5G", " 4G", "4G "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t size = 99;
        if (td_parse_size(bad[i], &size) != TD_INVALID) TEST_FAIL("'%s' is taken as a size", bad[i]);
        CHECK_EQ(size, 99);
        CHECK_CONTAINS(td_last_message(), bad[i]);
    }
}

TEST(sizes_too_large_are_refused)
{
    static const char *const large[] = {"18446744073709551616", "99999999999999999999", "8388608T", "1e30"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        uint64_t size = 99;
        CHECK_STATUS(td_parse_size(large[i], &size), TD_LIMIT);
        CHECK_EQ(size, 99);
    }
    check_size("8388607T", UINT64_C(8388607) << 40);
}

TEST(a_share_is_of_the_whole)
{
    uint64_t size = 0;
    CHECK_OK(td_parse_size_or_share("25%", 4000, &size));
    CHECK_EQ(size, 1000);
    CHECK_OK(td_parse_size_or_share("0.5%", 4000, &size));
    CHECK_EQ(size, 20);
    CHECK_OK(td_parse_size_or_share("100%", UINT64_C(1) << 40, &size));
    CHECK_EQ(size, INT64_C(1) << 40);
    CHECK_OK(td_parse_size_or_share("2K", 4000, &size));
    CHECK_EQ(size, 2048);
    CHECK_STATUS(td_parse_size_or_share("25%%", 4000, &size), TD_INVALID);
    CHECK_STATUS(td_parse_size_or_share("%", 4000, &size), TD_INVALID);
    CHECK_STATUS(td_parse_size_or_share("-5%", 4000, &size), TD_INVALID);
    CHECK_STATUS(td_parse_size_or_share("1e30%", 4000, &size), TD_LIMIT);
    CHECK_EQ(size, 2048);
}

TEST(whole_numbers_are_whole)
{
    uint64_t value = 0;
    CHECK_OK(td_parse_u64("007", &value));
    CHECK_EQ(value, 7);
    CHECK_OK(td_parse_u64("18446744073709551615", &value));
    CHECK(value == UINT64_MAX);
    CHECK_STATUS(td_parse_u64("18446744073709551616", &value), TD_LIMIT);
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "one"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_STATUS(td_parse_u64(bad[i], &value), TD_INVALID);
    CHECK(value == UINT64_MAX);
}

TEST(reals_are_finite)
{
    double value = 0;
    CHECK_OK(td_parse_double("-1.5e3", &value));
    CHECK(value == -1500);
    CHECK_OK(td_parse_double("7", &value));
    CHECK(value == 7);
    static const char *const bad[] = {"", " 1", "1 ", "1,5", "nan", "inf", "-inf", "1e999", "x", "1x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_STATUS(td_parse_double(bad[i], &value), TD_INVALID);
    CHECK(value == 7);
}

TEST(sizes_are_printed_for_people)
{
    char buffer[TD_NUMBER_BYTES];
    CHECK_STR(td_format_size(buffer, 0), "0 B");
    CHECK_STR(td_format_size(buffer, 1023), "1023 B");
    CHECK_STR(td_format_size(buffer, 1024), "1.0 KiB");
    CHECK_STR(td_format_size(buffer, 1536), "1.5 KiB");
    CHECK_STR(td_format_size(buffer, (1 << 20) - 1), "1.0 MiB");
    CHECK_STR(td_format_size(buffer, UINT64_C(3) << 30), "3.0 GiB");
    CHECK_STR(td_format_size(buffer, UINT64_MAX), "16.0 EiB");
    CHECK_STR(td_format_least(buffer, 1023), "1023 B");
    CHECK_STR(td_format_least(buffer, 1024), "1.0 KiB");
    CHECK_STR(td_format_least(buffer, 1025), "1.1 KiB");
    CHECK_STR(td_format_least(buffer, (1 << 20) - 1), "1.0 MiB");
    CHECK_STR(td_format_least(buffer, (1 << 20) + 1), "1.1 MiB");
    uint64_t read = 0;
    CHECK_OK(td_parse_size("1.5 MiB", &read)); /* as it is printed */
    CHECK_EQ(read, 3 << 19);
    CHECK_STATUS(td_parse_size("1.5 ", &read), TD_INVALID);
}

TEST(counts_are_grouped)
{
    char buffer[TD_NUMBER_BYTES];
    CHECK_STR(td_format_count(buffer, 0), "0");
    CHECK_STR(td_format_count(buffer, 999), "999");
    CHECK_STR(td_format_count(buffer, 1000), "1,000");
    CHECK_STR(td_format_count(buffer, 12345678), "12,345,678");
    CHECK_STR(td_format_count(buffer, UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST_MAIN
