/* A streaming JSON writer, which adds commas, quotes and indentation. Keys are NULL
 * inside arrays. td_json_close returns an earlier write error or a nesting that is
 * too deep or not closed. Non-finite numbers become null; bytes that are not UTF-8 (a
 * file name may contain any) become the replacement character. */
#ifndef TD_BASE_JSON_H
#define TD_BASE_JSON_H

#include "base/status.h"

#include <stdio.h>

enum { TD_JSON_DEPTH = 32 };

typedef struct td_json {
    FILE *file;
    int depth;
    bool filled[TD_JSON_DEPTH]; /* this depth has an element already */
    bool flat[TD_JSON_DEPTH];   /* written on one line */
    bool misnested;
} td_json;

void td_json_open(td_json *json, FILE *file);
void td_json_object(td_json *json, const char *key);
void td_json_array(td_json *json, const char *key);
void td_json_row(td_json *json, const char *key); /* an object on one line */
void td_json_end_object(td_json *json);
void td_json_end_array(td_json *json);
void td_json_string(td_json *json, const char *key, const char *value);
void td_json_u64(td_json *json, const char *key, uint64_t value);
void td_json_i64(td_json *json, const char *key, int64_t value);
void td_json_real(td_json *json, const char *key, double value);
void td_json_bool(td_json *json, const char *key, bool value);
void td_json_null(td_json *json, const char *key);
void td_json_members(td_json *json, const char *object); /* the members of an object's text, into the open object */
td_status td_json_close(td_json *json); /* ends the line; does not close the file */

#endif
