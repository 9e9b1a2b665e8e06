#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

void td_json_open(td_json *json, FILE *file) { *json = (td_json){.file = file}; }

static void quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') fprintf(file, "\\%c", *p);
        else if (*p == '\n') fputs("\\n", file);
        else if (*p == '\t') fputs("\\t", file);
        else if (*p < 0x20) fprintf(file, "\\u%04x", *p);
        else fputc(*p, file);
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
    assert(json->depth + 1 < TD_JSON_DEPTH);
    flat = flat || json->flat[json->depth];
    json->depth++;
    json->filled[json->depth] = false;
    json->flat[json->depth] = flat;
}

static void end(td_json *json, char bracket)
{
    bool filled = json->filled[json->depth], flat = json->flat[json->depth];
    json->depth--;
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

void td_json_real(td_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        td_json_null(json, key);
        return;
    }
    start_value(json, key);
    fprintf(json->file, "%.9g", value);
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

td_status td_json_close(td_json *json)
{
    fputc('\n', json->file);
    if (fflush(json->file) != 0 || ferror(json->file))
        return td_fail_errno(TD_IO, errno, "cannot write JSON");
    return TD_OK;
}
