/* The JSON reader: what the grammar has is read, everything else is refused with its line. */
#include "test.h"

#include "base/json.h"
#include "base/json_read.h"

static td_status read_text(td_json_tree *tree, const char *text)
{
    return td_json_read(tree, text, strlen(text), "it.json");
}

TEST(values_of_every_kind)
{
    td_json_tree tree = {0};
    CHECK_OK(read_text(&tree, " {\"a\": [1, -2.5e3, 0.25, true, false, null, \"x\"], "
                              "\"b\": {\"c\": {}}, \"d\": []}\n"));
    const td_json_value *root = tree.values, *list = td_json_member(&tree, root, "a");
    CHECK_EQ(root->kind, TD_JSON_OBJECT);
    CHECK_EQ(root->count, 3);
    CHECK_EQ(list->count, 7);
    const td_json_value *at = td_json_first(list);
    CHECK(at->number == 1);
    at = td_json_next(&tree, list, at);
    CHECK(at->number == -2500);
    for (int i = 0; i < 5; i++) at = td_json_next(&tree, list, at);
    CHECK_STR(at->text, "x");
    CHECK(td_json_next(&tree, list, at) == NULL);
    CHECK_EQ(td_json_member(&tree, td_json_member(&tree, root, "b"), "c")->kind, TD_JSON_OBJECT);
    CHECK(td_json_first(td_json_member(&tree, root, "d")) == NULL);
    CHECK(td_json_member(&tree, root, "e") == NULL);
    CHECK(td_json_member(&tree, list, "a") == NULL);
    td_json_tree_free(&tree);
}

TEST(strings_are_decoded)
{
    td_json_tree tree = {0};
    CHECK_OK(read_text(&tree, "\"a\\u00e9\\ud83d\\ude00\\u20ac\\n\\t\\\\\\/\\\"\xc3\xa9\""));
    CHECK_STR(tree.values->text, "a\xc3\xa9\xf0\x9f\x98\x80\xe2\x82\xac\n\t\\/\"\xc3\xa9");
    td_json_tree_free(&tree);
}

TEST(what_is_no_json_is_refused)
{
    static const char *const wrong[] = {
        "", " ", "{", "}", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "[1 2]", "01",
        "-", "+1", ".5", "1.", "1e", "1e999", "-1e999", "0x10", "NaN", "Infinity", "nul", "trueish", "\"a", "\"\\x\"",
        "\"\\u12\"",
        "\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud800\\u0041\"", "\"\x01\"", "\"\n\"", "\"\xff\"",
        "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "1 2", "{} {}", "// c\n1", "{\"a\":1,\"a\":2}", "[1]]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        td_json_tree tree = {0};
        td_status status = read_text(&tree, wrong[i]);
        if (status != TD_FORMAT) TEST_FAIL("'%s' gives %s", wrong[i], td_status_name(status));
        CHECK_CONTAINS(td_last_message(), "it.json, line ");
        CHECK(tree.values == NULL);
    }
}

TEST(the_line_is_named)
{
    td_json_tree tree = {0};
    CHECK_EQ(read_text(&tree, "{\n\"a\\n\\n\": 1,\n\"b\": x}"), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "line 3: a value was expected");
    CHECK_EQ(td_json_read(&tree, "1\0 2", 4, "it.json"), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "null byte");
}

TEST(depth_and_members_are_limited)
{
    char deep[201];
    td_json_tree tree = {0};
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = '\0';
    CHECK_EQ(read_text(&tree, deep), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "levels");
    deep[100 + TD_JSON_DEPTH] = '\0';
    CHECK_OK(read_text(&tree, deep + 100 - TD_JSON_DEPTH));
    td_json_tree_free(&tree);
}

TEST(failing_memory_leaves_nothing)
{
    for (uint64_t n = 1;; n++) {
        uint64_t before = td_memory_held();
        td_json_tree tree = {0};
        td_alloc_fail_at(n);
        td_status status = read_text(&tree, "[1, [2, {\"a\": \"b\"}]]");
        td_alloc_fail_at(0);
        td_json_tree_free(&tree);
        CHECK_EQ(td_memory_held(), before);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK(n < 10);
    }
}

TEST_MAIN
