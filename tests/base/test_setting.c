#include "test.h"

#include "base/setting.h"

#include <math.h>

enum { STEP, PIECE, MODE, FILE_NAME, ENTRIES };

static const td_setting table[] = {
    [STEP] = {"step", TD_SETTING_NUMBER, 0.5, 0, 1, NULL, "length of a step"},
    [PIECE] = {"piece", TD_SETTING_WHOLE, 4096, 64, 1e9, NULL, "edges in a piece"},
    [MODE] = {"mode", TD_SETTING_CHOICE, 1, 0, 0, "auto|pull|push", "how"},
    [FILE_NAME] = {"file", TD_SETTING_TEXT, 0, 0, 0, NULL, "where"},
    [ENTRIES] = {0},
};

static const td_setting others[] = {{"depth", TD_SETTING_WHOLE, 3, 0, 9, NULL, "how deep"}, {0}};

static const char *const prefixes[] = {"cpu", "heat", NULL};
static const td_setting *const tables[] = {table, others, NULL};

static td_settings settings_of(int count, const char *const *texts)
{
    td_settings settings = {0};
    for (int i = 0; i < count; i++) CHECK_OK(td_settings_add(&settings, texts[i]));
    return settings;
}

#define SETTINGS(...) \
    settings_of((int)(sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *)), (const char *const[]){__VA_ARGS__})

TEST(without_settings_the_defaults_stand)
{
    double numbers[ENTRIES];
    const char *texts[ENTRIES] = {"x", "x", "x", "x"};
    td_settings none = {0};
    const td_settings *absent[] = {NULL, &none};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_settings_resolve(absent[i], "cpu", table, numbers, texts));
        CHECK(numbers[STEP] == 0.5);
        CHECK(numbers[PIECE] == 4096);
        CHECK(numbers[MODE] == 1);
        for (int t = 0; t < ENTRIES; t++) CHECK(texts[t] == NULL);
    }
}

TEST(each_kind_is_parsed_as_its_table_says)
{
    double numbers[ENTRIES];
    const char *texts[ENTRIES];
    td_settings settings = SETTINGS("cpu.step=0.125", "cpu.piece=2M", "cpu.mode=push", "cpu.file=a=b, c");
    CHECK_OK(td_settings_resolve(&settings, "cpu", table, numbers, texts));
    CHECK(numbers[STEP] == 0.125);
    CHECK(numbers[PIECE] == 2 * 1024 * 1024);
    CHECK(numbers[MODE] == 2);
    CHECK_STR(texts[FILE_NAME], "a=b, c");
    td_settings_clear(&settings);
}

TEST(the_last_of_equal_keys_counts)
{
    double numbers[ENTRIES];
    td_settings settings = SETTINGS("cpu.piece=100", "cpu.mode=auto", "cpu.piece=200");
    CHECK_OK(td_settings_resolve(&settings, "cpu", table, numbers, NULL));
    CHECK(numbers[PIECE] == 200);
    CHECK(numbers[MODE] == 0);
    td_settings_clear(&settings);
}

TEST(keys_of_other_prefixes_are_not_mine)
{
    double numbers[ENTRIES];
    td_settings settings = SETTINGS("cpus.piece=100", "cp.piece=100", "heat.piece=100", "cpu.pieces=100",
                                    "cpu.pie=100");
    CHECK_OK(td_settings_resolve(&settings, "cpu", table, numbers, NULL));
    CHECK(numbers[PIECE] == 4096);
    td_settings_clear(&settings);
}

TEST(the_ends_of_a_range_belong_to_it)
{
    static const char *const good[] = {"cpu.step=0", "cpu.step=1", "cpu.piece=64", "cpu.piece=1000000000"};
    double numbers[ENTRIES];
    for (int i = 0; i < 4; i++) {
        td_settings settings = SETTINGS(good[i]);
        CHECK_OK(td_settings_resolve(&settings, "cpu", table, numbers, NULL));
        td_settings_clear(&settings);
    }
}

TEST(what_a_table_does_not_allow_is_refused_with_what_it_allows)
{
    static const char *const bad[][2] = {
        {"cpu.step=1.5", "from 0 to 1"}, {"cpu.step=-0.1", "from 0 to 1"}, {"cpu.step=nan", "a number"},
        {"cpu.step=", "a number"}, {"cpu.step=0.5x", "a number"}, {"cpu.piece=63", "from 64 to 1000000000"},
        {"cpu.piece=2G", "from 64 to 1000000000"}, {"cpu.piece=-100", "a whole number"},
        {"cpu.piece=many", "a whole number"}, {"cpu.mode=pus", "auto|pull|push"}, {"cpu.mode=", "auto|pull|push"},
        {"cpu.mode=auto|pull", "auto|pull|push"},
        {"cpu.mode=1", "auto|pull|push"},
    };
    double numbers[ENTRIES];
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        td_settings settings = SETTINGS(bad[i][0]);
        CHECK_STATUS(td_settings_resolve(&settings, "cpu", table, numbers, NULL), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), bad[i][0]);
        CHECK_CONTAINS(td_last_message(), bad[i][1]);
        td_settings_clear(&settings);
    }
}

TEST(a_whole_setting_takes_no_fraction)
{
    double numbers[ENTRIES];
    td_settings settings = SETTINGS("cpu.piece=100.5");
    CHECK_STATUS(td_settings_resolve(&settings, "cpu", table, numbers, NULL), TD_USAGE);
    td_settings_clear(&settings);
}

TEST(what_is_no_key_and_value_is_refused)
{
    static const char *const bad[] = {"", "cpu.piece", "=5", "="};
    td_settings settings = {0};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(td_settings_add(&settings, bad[i]), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "key=value");
    }
    CHECK_EQ(settings.count, 0);
    td_settings_clear(&settings);
}

TEST(a_mistyped_key_is_refused_with_the_one_that_was_meant)
{
    static const char *const bad[][2] = {
        {"cpu.peice=100", "'cpu.piece'"},  {"cpu.stp=1", "'cpu.step'"},      {"hat.depth=1", "'heat.depth'"},
        {"heat.dept=1", "'heat.depth'"},   {"piece=100", "'cpu.piece'"},     {"dept=1", "'heat.depth'"},
        {"heat.piece=1", "'cpu.piece'"},   {"gpu.depth=1", "'heat.depth'"},  {"cpuu.stepp=1", "'cpu.step'"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        td_settings settings = SETTINGS("cpu.piece=100", bad[i][0]);
        CHECK_STATUS(td_settings_check(&settings, prefixes, tables), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "unknown setting");
        CHECK_CONTAINS(td_last_message(), "did you mean ");
        CHECK_CONTAINS(td_last_message(), bad[i][1]);
        td_settings_clear(&settings);
    }
}

TEST(a_key_like_no_other_is_refused_with_where_all_are_listed)
{
    static const char *const bad[] = {"cpu.=1", "cpu.colour=1", "colour=1", "heat.q=1", ".=1", "cpu=1", "tpo.step2=1"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        td_settings settings = SETTINGS(bad[i]);
        CHECK_STATUS(td_settings_check(&settings, prefixes, tables), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "allowed are those of cpu and heat");
        CHECK_STR(td_last_refusal()->topics, "cpu heat");
        td_settings_clear(&settings);
    }
}

TEST(known_keys_pass)
{
    td_settings settings = SETTINGS("cpu.piece=100", "heat.depth=4", "cpu.mode=nonsense");
    CHECK_OK(td_settings_check(&settings, prefixes, tables));
    td_settings_clear(&settings);
}

TEST(a_key_too_long_to_compare_is_refused_like_any_other)
{
    char text[400];
    memset(text, 'k', sizeof text);
    memcpy(text + sizeof text - 3, "=1", 3);
    td_settings settings = SETTINGS(text);
    CHECK_STATUS(td_settings_check(&settings, prefixes, tables), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "unknown setting");
    td_settings_clear(&settings);
}

TEST(a_setting_that_cannot_be_kept_leaves_nothing_behind)
{
    td_settings settings = {0};
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = td_settings_add(&settings, "cpu.piece=100");
        td_alloc_fail_at(0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(settings.count, 0);
    }
    CHECK(nth > 1);
    td_settings_clear(&settings);
    CHECK_EQ(td_memory().now, held);
}

TEST(one_number_can_be_asked_for)
{
    double number;
    td_settings settings = SETTINGS("cpu.piece=100", "cpu.mode=push");
    CHECK_OK(td_settings_number(&settings, "cpu", table, "mode", &number));
    CHECK(number == 2);
    CHECK_OK(td_settings_number(&settings, "cpu", table, "step", &number));
    CHECK(number == 0.5);
    CHECK_STATUS(td_settings_number(&settings, "cpu", table, "stop", &number), TD_INTERNAL);
    td_settings_clear(&settings);
}

TEST(values_are_printed_as_they_are_given)
{
    char text[TD_SETTING_BYTES];
    CHECK_STR(td_setting_print(text, &table[STEP], 0.125, NULL), "0.125");
    CHECK_STR(td_setting_print(text, &table[PIECE], 2097152, NULL), "2097152");
    CHECK_STR(td_setting_print(text, &table[MODE], 0, NULL), "auto");
    CHECK_STR(td_setting_print(text, &table[MODE], 2, NULL), "push");
    CHECK_STR(td_setting_print(text, &table[FILE_NAME], 0, "a=b"), "a=b");
    CHECK_STR(td_setting_print(text, &table[FILE_NAME], 0, NULL), "");
}

TEST_MAIN
