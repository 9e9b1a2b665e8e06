/* Settings: every `--set key=value` of engines and programs, from tables.
 *
 * A table declares names, kinds, defaults, ranges and help; the same table
 * parses, refuses, prints the help and fills the numbers. Keys are
 * "prefix.name" ("cpu.direction", "pagerank.damping"). */
#ifndef TD_BASE_SETTING_H
#define TD_BASE_SETTING_H

#include "base/status.h"

typedef enum td_setting_kind {
    TD_SETTING_NUMBER, /* any number within the range */
    TD_SETTING_WHOLE,  /* a whole number within the range; sizes (32M) are fine */
    TD_SETTING_CHOICE, /* one of `choices`, kept as its index */
    TD_SETTING_TEXT,   /* a file name or list, kept as it is */
} td_setting_kind;

typedef struct td_setting {
    const char *name;
    td_setting_kind kind;
    double fallback;         /* a choice's index; NAN or 0 for text */
    double lowest, highest;  /* numbers */
    const char *choices;     /* "auto|pull|push" */
    const char *help;
} td_setting;

/* What the user gave, in order; the last of equal keys counts. */
typedef struct td_settings {
    char **keys, **values;
    uint64_t count;
} td_settings;

td_status td_settings_add(td_settings *settings, const char *key_and_value); /* "key=value" */
void td_settings_clear(td_settings *settings);

/* Whether the key, with its prefix, was given; false for NULL. */
bool td_settings_given(const td_settings *settings, const char *key);

/* Fills numbers[i] (and texts[i], may be NULL) for each entry of the table. */
td_status td_settings_resolve(const td_settings *settings, const char *prefix, const td_setting *table,
                              double *numbers, const char **texts);

/* Refuses keys that belong to none of the tables; the message names the nearest key or,
 * if none is near, the help page that lists them. `prefixes` and `tables` end with
 * NULL. */
td_status td_settings_check(const td_settings *settings, const char *const *prefixes, const td_setting *const *tables);

/* A setting's value as it is written after "key=": its text, its choice's word,
 * or the number. Returns `buffer`. */
#define TD_SETTING_BYTES 64
char *td_setting_print(char buffer[TD_SETTING_BYTES], const td_setting *entry, double number, const char *text);

/* The number of one setting of a table, which must have it. */
td_status td_settings_number(const td_settings *settings, const char *prefix, const td_setting *table, const char *name,
                             double *number);

uint64_t td_settings_length(const td_setting *table);

#endif
