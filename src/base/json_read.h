/* Reads JSON (RFC 8259) that somebody else may have written: strictly, with limits, into a tree.
 *
 * A value is followed by its elements; `next` leads to its neighbour. Strings are UTF-8 without NUL and end with one.
 * Refused with the line: everything that the grammar does not have, a key twice in an object, numbers beyond a double,
 * bytes that are not UTF-8, half surrogates, more than TD_JSON_DEPTH levels. */
#ifndef TD_BASE_JSON_READ_H
#define TD_BASE_JSON_READ_H

#include "base/status.h"

typedef enum td_json_kind {
    TD_JSON_NULL, TD_JSON_FALSE, TD_JSON_TRUE, TD_JSON_NUMBER, TD_JSON_STRING, TD_JSON_ARRAY, TD_JSON_OBJECT,
} td_json_kind;

typedef struct td_json_value {
    const char *key; /* of a member of an object; NULL: none */
    union {
        double number;
        const char *text;
        uint32_t count; /* elements of an array, members of an object */
    };
    uint32_t next; /* the value behind this one and its elements */
    td_json_kind kind;
} td_json_value;

typedef struct td_json_tree {
    char *text; /* the strings */
    td_json_value *values; /* the root first */
    uint32_t count;
} td_json_tree;

/* `name` is the file in messages. On failure *out is untouched. */
td_status td_json_read(td_json_tree *out, const char *text, uint64_t bytes, const char *name);
void td_json_tree_free(td_json_tree *tree); /* a zeroed struct is fine */

/* The member of an object; NULL: there is none, or the value is no object. */
const td_json_value *td_json_member(const td_json_tree *tree, const td_json_value *object, const char *key);

/* The elements of an array or the members of an object, one by one; NULL behind the last one, and for other values. */
const td_json_value *td_json_first(const td_json_value *parent);
const td_json_value *td_json_next(const td_json_tree *tree, const td_json_value *parent, const td_json_value *element);

/* The bytes of the UTF-8 character at `p` (which ends with a NUL), or 0 if there is none. */
int td_utf8_bytes(const unsigned char *p);

#endif
