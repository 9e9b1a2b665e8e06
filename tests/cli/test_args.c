/* The argument parser: what it accepts, and what it says about the rest. */
#include "../../cli/args.c"

#include "test.h"

typedef struct settings {
    bool loud, soft, help;
    const char *out, *json;
    uint64_t threads, memory, seed;
    double share;
    td_arg_pairs set;
} settings;

#define OPTION(...) TD_OPTION(settings, __VA_ARGS__)

static const td_arg_option own[] = {
    OPTION("output", TEXT, out, "FILE", "", .letter = 'o'),
    OPTION("loud", FLAG, loud, NULL, "", .letter = 'l', .excludes = "soft"),
    OPTION("soft", FLAG, soft, NULL, ""),
    OPTION("share", REAL, share, "X", "", .least = -1, .most = 1),
    OPTION("seed", COUNT, seed, "N", "", .needs = "share"),
    OPTION("set", PAIRS, set, "KEY=VALUE", ""),
    {0},
};

static const td_arg_option common[] = {
    OPTION("threads", COUNT, threads, "N", "", .least = 1, .most = 64),
    OPTION("memory", MEMORY, memory, "SIZE", ""),
    OPTION("json", TARGET, json, "[FILE]", ""),
    OPTION("help", FLAG, help, NULL, "", .letter = 'h'),
    {0},
};

static const td_arg_spec spec = {{own, NULL, common}, "IN", 1, 2};
static settings got;
static td_args words;

/* Parses a NULL-ended list of words. */
static td_status parse(char **list)
{
    int count = 0;
    while (list[count] != NULL) count++;
    got = (settings){.threads = 7};
    return td_args_parse(&spec, count, list, &got, &words);
}

#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})
#define RELEASE() td_args_free(&spec, &got, &words)

#define REFUSED(part, ...)                        \
    do {                                          \
        td_status refused_ = PARSE(__VA_ARGS__);  \
        RELEASE();                                \
        CHECK_EQ(refused_, TD_USAGE);             \
        CHECK_CONTAINS(td_last_message(), part);  \
    } while (0)

TEST(values_are_attached_or_follow)
{
    CHECK_OK(PARSE("a", "--output=x", "--threads", "3", "--memory", "2K", "--share=-0.5", "--seed", "9"));
    CHECK_STR(got.out, "x");
    CHECK_EQ(got.threads, 3);
    CHECK_EQ(got.memory, 2048);
    CHECK(got.share == -0.5);
    RELEASE();
    CHECK_OK(PARSE("-ox", "a", "--share", "-1"));
    CHECK_STR(got.out, "x");
    CHECK(got.share == -1);
    CHECK_EQ(got.threads, 7);
    RELEASE();
}

TEST(positional_arguments_stand_anywhere_and_behind_a_double_dash)
{
    CHECK_OK(PARSE("a", "-o", "x", "b"));
    CHECK_EQ(words.count, 2);
    CHECK_STR(words.words[1], "b");
    RELEASE();
    CHECK_OK(PARSE("--", "--loud"));
    CHECK_STR(words.words[0], "--loud");
    CHECK(!got.loud);
    RELEASE();
}

TEST(pairs_are_collected_in_order)
{
    CHECK_OK(PARSE("a", "--set", "k=1", "--set=l=2=3"));
    CHECK_EQ(got.set.count, 2);
    CHECK_STR(got.set.items[0], "k=1");
    CHECK_STR(got.set.items[1], "l=2=3");
    RELEASE();
}

TEST(a_target_may_be_left_out)
{
    CHECK_OK(PARSE("g.tg", "--json"));
    CHECK_STR(got.json, "-");
    RELEASE();
    CHECK_OK(PARSE("g.tg", "--json", "--loud"));
    CHECK_STR(got.json, "-");
    RELEASE();
    CHECK_OK(PARSE("g.tg", "--json", "s.json"));
    CHECK_STR(got.json, "s.json");
    RELEASE();
}

TEST(a_target_never_takes_the_last_positional_argument)
{
    CHECK_OK(PARSE("--json", "g.tg", "-l"));
    CHECK_STR(got.json, "-");
    CHECK_EQ(words.count, 1);
    CHECK_STR(words.words[0], "g.tg");
    RELEASE();
    CHECK_OK(PARSE("--json", "s.json", "g.tg"));
    CHECK_STR(got.json, "s.json");
    CHECK_STR(words.words[0], "g.tg");
    RELEASE();
    CHECK_STATUS(PARSE("--json=g.tg"), TD_USAGE);
    RELEASE();
}

TEST(a_share_of_memory_is_below_all_of_it)
{
    CHECK_OK(PARSE("a", "--memory", "50%"));
    CHECK(got.memory > 0 && got.memory < td_machine_memory());
    RELEASE();
}

TEST(unknown_options_are_named_with_the_nearest_known_one)
{
    REFUSED("unknown option '--ouptut' (did you mean '--output'?)", "a", "--ouptut=3");
    REFUSED("unknown option '--thread' (did you mean '--threads'?)", "a", "--thread", "3");
    REFUSED("unknown option '-x'", "a", "-x");
    CHECK(strstr(td_last_message(), "mean") == NULL);
    REFUSED("unknown option '--completely-different'", "a", "--completely-different");
    CHECK(strstr(td_last_message(), "mean") == NULL);
}

TEST(wrong_values_are_told_with_what_is_allowed)
{
    REFUSED("option --output needs a value (FILE)", "a", "-o");
    REFUSED("option --output needs a value (FILE)", "a", "-o", "--loud");
    REFUSED("empty value", "a", "--output=");
    REFUSED("takes no value", "a", "--loud=yes");
    REFUSED("'three' is not a whole number", "a", "--threads", "three");
    REFUSED("--threads 65: 1 to 64", "a", "--threads", "65");
    REFUSED("--threads 0: 1 to 64", "a", "--threads", "0");
    REFUSED("18446744073709551616", "a", "--share", "0", "--seed", "18446744073709551616");
    REFUSED("--share 2: -1 to 1", "a", "--share", "2");
    REFUSED("'4X' is not a size", "a", "--memory", "4X");
    REFUSED("key=value", "a", "--set", "nokey");
    REFUSED("key=value", "a", "--set", "=3");
}

TEST(options_that_do_not_go_together_are_refused)
{
    REFUSED("--loud and --soft exclude each other", "a", "--soft", "--loud");
    REFUSED("--seed has no effect without --share", "a", "--seed", "3");
    REFUSED("--threads is given twice", "a", "--threads", "3", "--threads=3");
}

TEST(too_few_and_too_many_arguments_are_told)
{
    REFUSED("an argument is missing: IN", "--loud");
    REFUSED("unexpected argument 'c'", "a", "b", "c");
}

TEST(help_asks_for_nothing_else)
{
    CHECK_OK(PARSE("-h"));
    CHECK(got.help);
    RELEASE();
}

TEST(every_failing_allocation_is_an_error_without_a_leak)
{
    for (uint64_t n = 1;; n++) {
        td_alloc_fail_at(n);
        td_status status = PARSE("a", "--set", "k=1", "--set", "l=2");
        td_alloc_fail_at(0);
        RELEASE();
        if (status == TD_OK) {
            CHECK(n > 3);
            return;
        }
        CHECK_EQ(status, TD_NO_MEMORY);
    }
}

TEST_MAIN
