/* Java property files, as WebGraph and Graphalytics use them: `key = value`
 * lines, `#` and `!` comments, backslash escapes and continued lines. */
#ifndef TD_STORE_PROPERTIES_H
#define TD_STORE_PROPERTIES_H

#include "base/status.h"

typedef struct td_properties td_properties;

td_status td_properties_load(td_properties **out, const char *path);
void td_properties_free(td_properties *properties);
const char *td_properties_path(const td_properties *properties);

/* NULL if there is none. The last of equal keys counts. */
const char *td_properties_get(const td_properties *properties, const char *key);

/* The value of a key that begins and ends so, e.g. "graph." ... ".directed". */
const char *td_properties_match(const td_properties *properties, const char *prefix, const char *suffix);

/* A whole number between low and high; `fallback` (may be NULL) stands in for a missing key. */
td_status td_properties_number(const td_properties *properties, const char *key, uint64_t low, uint64_t high,
                               const uint64_t *fallback, uint64_t *out);

#endif
