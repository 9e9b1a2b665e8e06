/* Java property files. */
#include "test.h"

#include "store/formats/properties.h"

static td_properties *load(const char *text)
{
    td_properties *properties = NULL;
    test_write_file(test_path("x.properties"), text, strlen(text));
    CHECK_OK(td_properties_load(&properties, test_path("x.properties")));
    return properties;
}

static void expect(const char *text, const char *key, const char *value)
{
    td_properties *properties = load(text);
    const char *seen = td_properties_get(properties, key);
    if (value == NULL)
        CHECK(seen == NULL);
    else if (seen == NULL)
        TEST_FAIL("no '%s' in '%s'", key, text);
    else
        CHECK_STR(seen, value);
    td_properties_free(properties);
}

TEST(keys_and_values_are_told_apart)
{
    expect("a=1\nb = 2\n", "a", "1");
    expect("a=1\nb = 2\n", "b", "2");
    expect("a:1\r\n  b : 2  \r\nc 3", "b", "2");
    expect("a:1\r\n  b : 2  \r\nc 3", "c", "3");
    expect("a=b=c\n", "a", "b=c");
    expect("a=\nb", "a", "");
    expect("a=\nb", "b", "");
    expect("a=1\n", "aa", NULL);
    expect("", "a", NULL);
}

TEST(comments_and_blank_lines_are_passed_over)
{
    expect("# a=1\n! a=2\n\n   \n  #a=3\na=4 # not one\n", "a", "4 # not one");
}

TEST(the_last_of_equal_keys_counts) { expect("a=1\na=2\n", "a", "2"); }

TEST(escapes_and_continued_lines_are_undone)
{
    expect("a\\ b\\=c=1\\:2\n", "a b=c", "1:2");
    expect("a=one,\\\n   two,\\\r\n\tthree\nb=x", "a", "one,two,three");
    expect("a=one,\\\n   two\nb=x", "b", "x");
    expect("a=end\\", "a", "end");
}

TEST(keys_are_found_by_both_their_ends)
{
    td_properties *properties = load("graph.x.directed = true\ngraph.x.meta.edges = 7\n");
    CHECK_STR(td_properties_match(properties, "graph.", ".directed"), "true");
    CHECK_STR(td_properties_match(properties, "graph.", ".meta.edges"), "7");
    CHECK(td_properties_match(properties, "graph.", ".edge") == NULL);
    CHECK(td_properties_match(properties, "graph.x.directed", "directed") == NULL);
    td_properties_free(properties);
}

TEST(numbers_are_checked_and_the_file_is_named)
{
    td_properties *properties = load("a=5\nb=five\nc=-1\n");
    const uint64_t fallback = 9;
    uint64_t value = 0;
    CHECK_OK(td_properties_number(properties, "a", 5, 5, NULL, &value));
    CHECK_EQ(value, 5);
    CHECK_OK(td_properties_number(properties, "z", 0, 5, &fallback, &value));
    CHECK_EQ(value, 9);
    static const char *const bad[] = {"b", "c", "z"};
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(td_properties_number(properties, bad[i], 0, 5, NULL, &value), TD_FORMAT);
        CHECK_CONTAINS(td_last_message(), "x.properties");
    }
    CHECK_STATUS(td_properties_number(properties, "a", 0, 4, NULL, &value), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "a=5, where a whole number from 0 to 4 is needed");
    CHECK_EQ(value, 9);
    td_properties_free(properties);
}

TEST(what_is_no_properties_file_is_refused)
{
    static char large[70000];
    td_properties *properties = NULL;
    test_write_file(test_path("zero.properties"), "a\0b", 3);
    CHECK_STATUS(td_properties_load(&properties, test_path("zero.properties")), TD_FORMAT);
    memset(large, '#', sizeof large);
    test_write_file(test_path("large.properties"), large, sizeof large);
    CHECK_STATUS(td_properties_load(&properties, test_path("large.properties")), TD_LIMIT);
    CHECK_STATUS(td_properties_load(&properties, test_path("absent.properties")), TD_IO);
    CHECK_STATUS(td_properties_load(&properties, test_folder()), TD_IO);
    CHECK(properties == NULL);
}

TEST(every_allocation_may_fail)
{
    test_write_file(test_path("m.properties"), "a=1\nb=2\n", 8);
    for (uint64_t nth = 1;; nth++) {
        td_properties *properties = NULL;
        uint64_t held = td_memory().now;
        td_alloc_fail_at(nth);
        td_status status = td_properties_load(&properties, test_path("m.properties"));
        td_alloc_fail_at(0);
        td_properties_free(properties);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
}

TEST_MAIN
