#include "base/json.h"

#include "base/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void td_json_open(td_json *json, FILE *file) { *json = (td_json){.file = file}; }

/* No stray or missing continuation, no overlong form, no surrogate, nothing above U+10FFFF. */
int td_utf8_bytes(const unsigned char *p)
{
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    int bytes = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) return 0;
    for (int i = 2; i < bytes; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return bytes;
}

static void quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        int bytes = td_utf8_bytes(p);
        if (*p == '"' || *p == '\\') fprintf(file, "\\%c", *p);
        else if (*p == '\n') fputs("\\n", file);
        else if (*p == '\t') fputs("\\t", file);
        else if (*p < 0x20) fprintf(file, "\\u%04x", *p);
        else if (bytes == 0) fputs("\\ufffd", file);
        else fwrite(p, 1, (size_t)bytes, file);
        p += bytes == 0 ? 1 : bytes;
    }
    fputc('"', file);
}

static void new_line(td_json *json)
{
    if (json->flat[json->depth]) {
        fputc(' ', json->file);
        return;
    }
    fputc('\n', json->file);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->file);
}

static void start_value(td_json *json, const char *key)
{
    if (json->filled[json->depth]) fputc(',', json->file);
    if (json->depth > 0 && (json->filled[json->depth] || !json->flat[json->depth])) new_line(json);
    json->filled[json->depth] = true;
    if (key != NULL) {
        quoted(json->file, key);
        fputs(": ", json->file);
    }
}

static void begin(td_json *json, const char *key, char bracket, bool flat)
{
    start_value(json, key);
    fputc(bracket, json->file);
    if (json->depth + 1 == TD_JSON_DEPTH) {
        json->misnested = true;
        return;
    }
    flat = flat || json->flat[json->depth];
    json->depth++;
    json->filled[json->depth] = false;
    json->flat[json->depth] = flat;
}

static void end(td_json *json, char bracket)
{
    bool filled = json->filled[json->depth], flat = json->flat[json->depth];
    if (json->depth == 0) json->misnested = true;
    else json->depth--;
    if (filled && !flat) new_line(json);
    fputc(bracket, json->file);
}

void td_json_object(td_json *json, const char *key) { begin(json, key, '{', false); }
void td_json_array(td_json *json, const char *key) { begin(json, key, '[', false); }
void td_json_row(td_json *json, const char *key) { begin(json, key, '{', true); }
void td_json_end_object(td_json *json) { end(json, '}'); }
void td_json_end_array(td_json *json) { end(json, ']'); }

void td_json_string(td_json *json, const char *key, const char *value)
{
    start_value(json, key);
    quoted(json->file, value);
}

void td_json_u64(td_json *json, const char *key, uint64_t value)
{
    start_value(json, key);
    fprintf(json->file, "%" PRIu64, value);
}

void td_json_i64(td_json *json, const char *key, int64_t value)
{
    start_value(json, key);
    fprintf(json->file, "%" PRId64, value);
}

/* Prints the fewest digits, at least nine, that read back as the same number. */
void td_json_real(td_json *json, const char *key, double value)
{
    char text[40];
    if (!isfinite(value)) {
        td_json_null(json, key);
        return;
    }
    start_value(json, key);
    for (int digits = 9; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    char *comma = strchr(text, ','); /* some locales use a decimal comma */
    if (comma != NULL) *comma = '.';
    fputs(text, json->file);
}

void td_json_bool(td_json *json, const char *key, bool value)
{
    start_value(json, key);
    fputs(value ? "true" : "false", json->file);
}

void td_json_null(td_json *json, const char *key)
{
    start_value(json, key);
    fputs("null", json->file);
}

/* The text was written by this writer, so that its members are indented for the first level. */
void td_json_members(td_json *json, const char *object)
{
    const char *begin = strchr(object, '{'), *end = strrchr(object, '}');
    if (begin == NULL || end == NULL) return;
    begin += 1 + strspn(begin + 1, " \n");
    while (end > begin && (end[-1] == ' ' || end[-1] == '\n')) end--;
    if (end <= begin) return;
    start_value(json, NULL);
    fwrite(begin, 1, (size_t)(end - begin), json->file);
}

td_status td_json_close(td_json *json)
{
    fputc('\n', json->file);
    errno = 0;
    if (fflush(json->file) != 0 || ferror(json->file))
        return td_fail_errno(TD_IO, errno != 0 ? errno : EIO, "cannot write JSON");
    if (json->misnested || json->depth != 0)
        return td_fail(TD_INTERNAL, "JSON of more than %d levels, or with brackets that do not match",
                       TD_JSON_DEPTH - 1);
    return TD_OK;
}
