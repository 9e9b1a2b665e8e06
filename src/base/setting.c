#include "base/setting.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

uint64_t td_settings_length(const td_setting *table)
{
    uint64_t length = 0;
    while (table != NULL && table[length].name != NULL) length++;
    return length;
}

td_status td_settings_add(td_settings *settings, const char *text)
{
    td_status status = TD_OK;
    char *key = NULL, *value = NULL;
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return td_fail(TD_USAGE, "setting '%s' is not of the form key=value", text);
    TD_TRY(td_string_copy(&key, text, "setting"));
    key[equals - text] = '\0';
    TD_TRY(td_string_copy(&value, equals + 1, "setting"));
    TD_TRY(TD_RESIZE(&settings->keys, settings->count + 1, "settings"));
    TD_TRY(TD_RESIZE(&settings->values, settings->count + 1, "settings"));
    settings->keys[settings->count] = key;
    settings->values[settings->count] = value;
    settings->count++;
    key = value = NULL;
done:
    td_free(key);
    td_free(value);
    return status;
}

void td_settings_clear(td_settings *settings)
{
    for (uint64_t i = 0; i < settings->count; i++) {
        td_free(settings->keys[i]);
        td_free(settings->values[i]);
    }
    td_free(settings->keys);
    td_free(settings->values);
    *settings = (td_settings){0};
}

/* The name after "prefix.", or NULL. */
static const char *name_in(const char *key, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(key, prefix, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static bool find_choice(const char *choices, const char *value, double *index)
{
    size_t length = strlen(value);
    double at = 0;
    for (const char *word = choices; word != NULL; at++) {
        const char *bar = strchr(word, '|');
        size_t size = bar != NULL ? (size_t)(bar - word) : strlen(word);
        if (size == length && strncmp(word, value, length) == 0) {
            *index = at;
            return true;
        }
        word = bar != NULL ? bar + 1 : NULL;
    }
    return false;
}

/* Adds the engine or program that the key begins with as the topic of the failure. */
static td_status see_owner(const char *key, td_status status)
{
    char topic[64];
    snprintf(topic, sizeof topic, "%.*s", (int)strcspn(key, "."), key);
    return td_see(topic, status);
}

static td_status parse_setting(const td_setting *entry, const char *key, const char *value, double *number)
{
    if (entry->kind == TD_SETTING_TEXT) return TD_OK;
    if (entry->kind == TD_SETTING_CHOICE)
        return find_choice(entry->choices, value, number)
                   ? TD_OK
                   : see_owner(key, td_fail(TD_USAGE, "%s=%s: allowed are %s", key, value, entry->choices));
    uint64_t whole;
    bool good = entry->kind == TD_SETTING_WHOLE ? td_parse_size(value, &whole) == TD_OK
                                                : td_parse_double(value, number) == TD_OK;
    if (good && entry->kind == TD_SETTING_WHOLE) *number = (double)whole;
    if (!good || *number < entry->lowest || *number > entry->highest)
        return see_owner(key, td_fail(TD_USAGE, "%s=%s: allowed is a %snumber from %.15g to %.15g", key, value,
                                      entry->kind == TD_SETTING_WHOLE ? "whole " : "", entry->lowest, entry->highest));
    return TD_OK;
}

/* Resolves one setting: the last of equal keys counts; without any, the fallback. */
static td_status resolve_one(const td_settings *settings, const char *prefix, const td_setting *entry, double *number,
                             const char **text)
{
    *number = entry->fallback;
    if (text != NULL) *text = NULL;
    for (uint64_t s = 0; settings != NULL && s < settings->count; s++) {
        const char *name = name_in(settings->keys[s], prefix);
        if (name == NULL || strcmp(name, entry->name) != 0) continue;
        TD_CHECK(parse_setting(entry, settings->keys[s], settings->values[s], number));
        if (text != NULL) *text = settings->values[s];
    }
    return TD_OK;
}

td_status td_settings_resolve(const td_settings *settings, const char *prefix, const td_setting *table,
                              double *numbers, const char **texts)
{
    for (uint64_t i = 0; table != NULL && table[i].name != NULL; i++)
        TD_CHECK(resolve_one(settings, prefix, &table[i], &numbers[i], texts != NULL ? &texts[i] : NULL));
    return TD_OK;
}

td_status td_settings_number(const td_settings *settings, const char *prefix, const td_setting *table, const char *name,
                             double *number)
{
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) return resolve_one(settings, prefix, table, number, NULL);
    return td_fail(TD_INTERNAL, "there is no setting %s.%s", prefix, name);
}

/* Prints word number `index` of "a|b|c". */
static void print_choice(char buffer[TD_SETTING_BYTES], const char *choices, double index)
{
    for (; index > 0 && strchr(choices, '|') != NULL; index--) choices = strchr(choices, '|') + 1;
    snprintf(buffer, TD_SETTING_BYTES, "%.*s", (int)strcspn(choices, "|"), choices);
}

char *td_setting_print(char buffer[TD_SETTING_BYTES], const td_setting *entry, double number, const char *text)
{
    if (entry->kind == TD_SETTING_TEXT) snprintf(buffer, TD_SETTING_BYTES, "%s", text != NULL ? text : "");
    else if (entry->kind == TD_SETTING_CHOICE) print_choice(buffer, entry->choices, number);
    else snprintf(buffer, TD_SETTING_BYTES, "%.15g", number);
    return buffer;
}

/* Edits between a key and prefix.name, or -1. Both parts must be near; a name that is right may have any prefix, or
 * none. */
static int key_edits(const char *key, const char *prefix, const char *name)
{
    char before[64];
    const char *dot = strchr(key, '.'), *behind = dot != NULL ? dot + 1 : key;
    int name_edits = td_edits(behind, name);
    if (dot == NULL || name_edits < 0) return name_edits;
    snprintf(before, sizeof before, "%.*s", (int)(dot - key), key);
    int prefix_edits = td_edits(before, prefix);
    if (name_edits == 0 && prefix_edits < 0) return (int)strlen(key);
    return prefix_edits >= 0 ? prefix_edits + name_edits : -1;
}

/* Fails with the nearest known key, or with the topics that have settings. */
static td_status unknown_key(const char *key, const char *const *prefixes, const td_setting *const *tables)
{
    char nearest[128] = "", owners[256] = "";
    int least = -1;
    for (int p = 0; prefixes[p] != NULL; p++) {
        size_t used = strlen(owners);
        if (td_settings_length(tables[p]) > 0)
            snprintf(owners + used, sizeof owners - used, "%s%s", used > 0 ? " and " : "", prefixes[p]);
        for (uint64_t i = 0; i < td_settings_length(tables[p]); i++) {
            int edits = key_edits(key, prefixes[p], tables[p][i].name);
            if (edits < 0 || (least >= 0 && edits >= least)) continue;
            least = edits;
            snprintf(nearest, sizeof nearest, "%s.%s", prefixes[p], tables[p][i].name);
        }
    }
    if (least >= 0) return td_fail(TD_USAGE, "unknown setting '%s' (did you mean '%s'?)", key, nearest);
    td_fail(TD_USAGE, "unknown setting '%s'; %s%s", key,
            owners[0] != '\0' ? "allowed are those of " : "neither the program nor the engine has any", owners);
    for (int p = 0; prefixes[p] != NULL; p++)
        if (td_settings_length(tables[p]) > 0) (void)td_see(prefixes[p], TD_USAGE);
    return TD_USAGE;
}

static bool has_key(const char *key, const char *prefix, const td_setting *table)
{
    const char *name = name_in(key, prefix);
    for (uint64_t i = 0; name != NULL && i < td_settings_length(table); i++)
        if (strcmp(name, table[i].name) == 0) return true;
    return false;
}

static td_status check_key(const char *key, const char *const *prefixes, const td_setting *const *tables)
{
    for (int p = 0; prefixes[p] != NULL; p++)
        if (has_key(key, prefixes[p], tables[p])) return TD_OK;
    return unknown_key(key, prefixes, tables);
}

td_status td_settings_check(const td_settings *settings, const char *const *prefixes, const td_setting *const *tables)
{
    for (uint64_t s = 0; s < settings->count; s++) TD_CHECK(check_key(settings->keys[s], prefixes, tables));
    return TD_OK;
}

bool td_settings_given(const td_settings *settings, const char *key)
{
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strcmp(settings->keys[i], key) == 0) return true;
    return false;
}
