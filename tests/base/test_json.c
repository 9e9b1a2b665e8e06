#include "test.h"

#include "base/json.h"

#include <float.h>
#include <math.h>

/* What the writer makes of one call, as text. */
static char text[65536];

static FILE *memory;

static void start(td_json *json)
{
    memset(text, 0, sizeof text);
    memory = fmemopen(text, sizeof text, "w");
    CHECK(memory != NULL);
    td_json_open(json, memory);
}

static const char *finish(td_json *json)
{
    td_status status = td_json_close(json);
    fclose(memory);
    CHECK_OK(status);
    return text;
}

TEST(values_stand_as_json_writes_them)
{
    td_json json;
    start(&json);
    td_json_row(&json, NULL);
    td_json_string(&json, "s", "word");
    td_json_u64(&json, "u", UINT64_MAX);
    td_json_i64(&json, "i", INT64_MIN);
    td_json_real(&json, "r", 0.5);
    td_json_bool(&json, "t", true);
    td_json_bool(&json, "f", false);
    td_json_null(&json, "n");
    td_json_end_object(&json);
    CHECK_STR(finish(&json), "{\"s\": \"word\", \"u\": 18446744073709551615, \"i\": -9223372036854775808, \"r\": 0.5, "
                             "\"t\": true, \"f\": false, \"n\": null}\n");
}

TEST(nesting_is_indented_and_rows_stay_on_one_line)
{
    td_json json;
    start(&json);
    td_json_object(&json, NULL);
    td_json_array(&json, "rows");
    for (uint64_t i = 0; i < 2; i++) {
        td_json_row(&json, NULL);
        td_json_u64(&json, "i", i);
        td_json_array(&json, "in");
        td_json_u64(&json, NULL, 1);
        td_json_u64(&json, NULL, 2);
        td_json_end_array(&json);
        td_json_end_object(&json);
    }
    td_json_end_array(&json);
    td_json_object(&json, "empty");
    td_json_end_object(&json);
    td_json_array(&json, "none");
    td_json_end_array(&json);
    td_json_end_object(&json);
    CHECK_STR(finish(&json), "{\n"
                             "  \"rows\": [\n"
                             "    {\"i\": 0, \"in\": [1, 2]},\n"
                             "    {\"i\": 1, \"in\": [1, 2]}\n"
                             "  ],\n"
                             "  \"empty\": {},\n"
                             "  \"none\": []\n"
                             "}\n");
}

static const char *string_as_json(const char *value)
{
    td_json json;
    start(&json);
    td_json_string(&json, NULL, value);
    return finish(&json);
}

TEST(strings_are_quoted)
{
    CHECK_STR(string_as_json(""), "\"\"\n");
    CHECK_STR(string_as_json("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"\n");
    CHECK_STR(string_as_json("\n\t\r\x01\x1f\x7f"), "\"\\n\\t\\u000d\\u0001\\u001f\x7f\"\n");
    CHECK_STR(string_as_json("Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80"),
              "\"Gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
}

TEST(bytes_that_are_no_utf8_are_replaced)
{
    CHECK_STR(string_as_json("a\xff" "b"), "\"a\\ufffdb\"\n");
    CHECK_STR(string_as_json("\xe2\x82"), "\"\\ufffd\\ufffd\"\n");         /* cut off */
    CHECK_STR(string_as_json("\xc0\xaf"), "\"\\ufffd\\ufffd\"\n");         /* overlong */
    CHECK_STR(string_as_json("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"\n"); /* a surrogate */
    CHECK_STR(string_as_json("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n");
    CHECK_STR(string_as_json("\xc3\""), "\"\\ufffd\\\"\"\n"); /* the quote is not swallowed */
}

static const char *real_as_json(double value)
{
    td_json json;
    start(&json);
    td_json_real(&json, NULL, value);
    return finish(&json);
}

TEST(reals_read_back_as_the_same_number)
{
    static const double values[] = {0, 1, -1, 0.1, 1.0 / 3, 4294967295.0, 9007199254740993.0, 1e300, DBL_MIN, DBL_MAX,
                                    DBL_EPSILON, 123456789.125, -2.5e-7, 0.30000000000000004};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *seen = real_as_json(values[i]);
        if (strtod(seen, NULL) != values[i]) TEST_FAIL("%.17g is written as %s", values[i], seen);
    }
    CHECK_STR(real_as_json(0.1), "0.1\n");
    CHECK_STR(real_as_json(4294967295.0), "4294967295\n");
}

TEST(what_is_no_number_is_null)
{
    CHECK_STR(real_as_json(NAN), "null\n");
    CHECK_STR(real_as_json(INFINITY), "null\n");
    CHECK_STR(real_as_json(-INFINITY), "null\n");
}

TEST(misnesting_is_reported_and_harmless)
{
    td_json json;
    start(&json);
    td_json_object(&json, NULL);
    CHECK_STATUS(td_json_close(&json), TD_INTERNAL);
    fclose(memory);

    start(&json);
    td_json_end_object(&json);
    CHECK_STATUS(td_json_close(&json), TD_INTERNAL);
    fclose(memory);

    start(&json);
    for (int i = 0; i < 2 * TD_JSON_DEPTH; i++) td_json_array(&json, NULL);
    for (int i = 0; i < 2 * TD_JSON_DEPTH; i++) td_json_end_array(&json);
    CHECK_STATUS(td_json_close(&json), TD_INTERNAL);
    fclose(memory);

    start(&json);
    for (int i = 1; i < TD_JSON_DEPTH; i++) td_json_array(&json, NULL);
    for (int i = 1; i < TD_JSON_DEPTH; i++) td_json_end_array(&json);
    finish(&json);
}

TEST(a_full_disk_is_reported_at_the_end)
{
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) SKIP("there is no /dev/full");
    td_json json;
    td_json_open(&json, full);
    td_json_array(&json, NULL);
    for (uint64_t i = 0; i < 100000; i++) td_json_u64(&json, NULL, i);
    td_json_end_array(&json);
    td_status status = td_json_close(&json);
    fclose(full);
    CHECK_EQ(status, TD_IO);
    CHECK_CONTAINS(td_last_message(), "No space left");
}

TEST(another_parser_reads_it)
{
    if (system("python3 -c 'import json' 2>/dev/null") != 0) SKIP("there is no python3");
    const char *path = test_path("out.json");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    td_json json;
    td_json_open(&json, file);
    td_json_object(&json, NULL);
    char all[256];
    for (int i = 0; i < 255; i++) all[i] = (char)(i + 1);
    all[255] = '\0';
    td_json_string(&json, "every \"byte\"\n", all);
    td_json_array(&json, "deep");
    for (int i = 0; i < 20; i++) td_json_array(&json, NULL);
    td_json_real(&json, NULL, 1e-300);
    for (int i = 0; i < 20; i++) td_json_end_array(&json);
    td_json_real(&json, NULL, NAN);
    td_json_row(&json, NULL);
    td_json_object(&json, "inside a row");
    td_json_i64(&json, "minus", -5);
    td_json_end_object(&json);
    td_json_end_object(&json);
    td_json_end_array(&json);
    td_json_u64(&json, "most", UINT64_MAX);
    td_json_end_object(&json);
    td_status status = td_json_close(&json);
    fclose(file);
    CHECK_OK(status);
    char command[1024];
    snprintf(command, sizeof command,
             "python3 -c 'import json,sys; d = json.load(open(sys.argv[1], encoding=\"utf-8\"));"
             " assert d[\"most\"] == 2**64 - 1; assert d[\"deep\"][1] is None;"
             " assert d[\"deep\"][2] == {\"inside a row\": {\"minus\": -5}};"
             " assert d[\"every \\\"byte\\\"\\n\"][:127] == \"\".join(map(chr, range(1, 128)))' '%s'",
             path);
    CHECK_EQ(system(command), 0);
}

/* Another object's members go into the open one, as if they had been written there. */
TEST(members_of_an_object_are_taken_over)
{
    td_json json;
    static char object[sizeof text];
    start(&json);
    td_json_object(&json, NULL);
    td_json_u64(&json, "b", 2);
    td_json_object(&json, "c");
    td_json_string(&json, "brace", "}");
    td_json_end_object(&json);
    td_json_end_object(&json);
    memcpy(object, finish(&json), sizeof object);
    start(&json);
    td_json_object(&json, NULL);
    td_json_u64(&json, "a", 1);
    td_json_members(&json, object);
    td_json_members(&json, "{}\n");
    td_json_members(&json, "");
    td_json_u64(&json, "d", 4);
    td_json_end_object(&json);
    CHECK_STR(finish(&json), "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": {\n    \"brace\": \"}\"\n  },\n  \"d\": 4\n}\n");
}

TEST_MAIN
