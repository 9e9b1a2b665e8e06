#include "store/formats/properties.h"

#include "base/alloc.h"
#include "base/size.h"
#include "store/input.h"

#include <string.h>

enum { MAX_BYTES = 65535 }; /* one less than td_input_head delivers, to detect a longer file */

typedef struct entry {
    const char *key, *value;
} entry;

struct td_properties {
    char *path;
    char *text; /* keys and values, each ended by a NUL */
    entry *entries;
    uint64_t count, room;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
static bool is_line_end(char c) { return c == '\n' || c == '\r' || c == '\0'; }

/* Copies from *from to *to up to an unescaped stop character or the line's end,
 * undoing escapes and joining continued lines, and ends the copy with a NUL. */
static const char *take(const char **from, char **to, bool stop_at_separator)
{
    char *start = *to;
    const char *at = *from;
    while (!is_line_end(*at) && !(stop_at_separator && (*at == '=' || *at == ':' || is_blank(*at)))) {
        if (*at == '\\') {
            at++;
            if (*at == '\r' && at[1] == '\n') at++;
            if (is_line_end(*at)) {
                if (*at != '\0') at++;
                while (is_blank(*at)) at++;
                continue;
            }
        }
        *(*to)++ = *at++;
    }
    *from = at;
    return start;
}

static void trim_end(const char *start, char **to)
{
    while (*to > start && is_blank((*to)[-1])) (*to)--;
    *(*to)++ = '\0';
}

static td_status add_entry(td_properties *properties, const char *key, const char *value)
{
    if (properties->count == properties->room) {
        uint64_t room = properties->room == 0 ? 32 : 2 * properties->room;
        TD_CHECK(TD_RESIZE(&properties->entries, room, "properties"));
        properties->room = room;
    }
    properties->entries[properties->count++] = (entry){key, value};
    return TD_OK;
}

/* `from` ends with a NUL; `to` has room for two NULs more per line than that. */
static td_status parse(td_properties *properties, const char *from, char *to)
{
    while (*from != '\0') {
        while (is_blank(*from)) from++;
        if (*from != '#' && *from != '!' && !is_line_end(*from)) {
            const char *key = take(&from, &to, true);
            *to++ = '\0';
            while (is_blank(*from)) from++;
            if (*from == '=' || *from == ':') from++;
            while (is_blank(*from)) from++;
            const char *value = take(&from, &to, false);
            trim_end(value, &to);
            TD_CHECK(add_entry(properties, key, value));
        }
        while (!is_line_end(*from)) from++;
        if (*from != '\0') from++;
    }
    return TD_OK;
}

static td_status parse_file(td_properties *properties, td_input *input)
{
    td_status status = TD_OK;
    const char *head;
    char *copy = NULL;
    size_t bytes;
    TD_CHECK(td_input_head(input, &head, &bytes));
    if (bytes > MAX_BYTES)
        return td_fail(TD_LIMIT, "%s: a properties file of more than %d bytes", properties->path, MAX_BYTES);
    if (memchr(head, '\0', bytes) != NULL)
        return td_fail(TD_FORMAT, "%s: a zero byte in a properties file; it should be text", properties->path);
    TD_TRY(TD_NEW(&copy, bytes + 1, "properties"));
    memcpy(copy, head, bytes);
    copy[bytes] = '\0';
    TD_TRY(TD_NEW(&properties->text, 2 * bytes + 2, "properties"));
    TD_TRY(parse(properties, copy, properties->text));
done:
    td_free(copy);
    return status;
}

td_status td_properties_load(td_properties **out, const char *path)
{
    td_status status = TD_OK;
    td_properties *properties = NULL;
    td_input *input = NULL;
    TD_TRY(td_input_open(&input, path));
    TD_TRY(TD_NEW_ZEROED(&properties, 1, "properties"));
    TD_TRY(td_string_copy(&properties->path, path, "file name"));
    TD_TRY(parse_file(properties, input));
    *out = properties;
    properties = NULL;
done:
    td_properties_free(properties);
    td_input_close(input);
    return status;
}

void td_properties_free(td_properties *properties)
{
    if (properties == NULL) return;
    td_free(properties->entries);
    td_free(properties->text);
    td_free(properties->path);
    td_free(properties);
}

const char *td_properties_path(const td_properties *properties) { return properties->path; }

const char *td_properties_get(const td_properties *properties, const char *key)
{
    for (uint64_t i = properties->count; i > 0; i--)
        if (strcmp(properties->entries[i - 1].key, key) == 0) return properties->entries[i - 1].value;
    return NULL;
}

const char *td_properties_match(const td_properties *properties, const char *prefix, const char *suffix)
{
    size_t before = strlen(prefix), behind = strlen(suffix);
    for (uint64_t i = properties->count; i > 0; i--) {
        const entry *e = &properties->entries[i - 1];
        size_t length = strlen(e->key);
        if (length >= before + behind && strncmp(e->key, prefix, before) == 0 &&
            strcmp(e->key + length - behind, suffix) == 0)
            return e->value;
    }
    return NULL;
}

td_status td_properties_number(const td_properties *properties, const char *key, uint64_t low, uint64_t high,
                               const uint64_t *fallback, uint64_t *out)
{
    const char *text = td_properties_get(properties, key);
    uint64_t value;
    if (text == NULL && fallback != NULL) {
        *out = *fallback;
        return TD_OK;
    }
    if (text == NULL) return td_fail(TD_FORMAT, "%s: the property '%s' is missing", properties->path, key);
    if (td_parse_u64(text, &value) != TD_OK || value < low || value > high)
        return td_fail(TD_FORMAT, "%s: %s=%s, where a whole number from %llu to %llu is needed", properties->path, key,
                       text, (unsigned long long)low, (unsigned long long)high);
    *out = value;
    return TD_OK;
}
