/* The order of vertices that a command was given, and the time that reordering took. */
#ifndef TD_CLI_ORDERING_H
#define TD_CLI_ORDERING_H

#include "base/json.h"

typedef struct td_ordering {
    const char *order; /* a name */
    bool changes;      /* it is not "none" */
    uint64_t seed;     /* of the random order */
    double seconds;
} td_ordering;

/* TD_USAGE for an unknown name; NULL: no reordering. */
td_status td_ordering_choose(td_ordering *ordering, const char *name, uint64_t seed);

/* Replaces *graph; on failure destroys it and sets it to NULL. */
td_status td_ordering_apply(td_ordering *ordering, td_graph **graph, td_session *session);

/* " reorder (hot) 0.123 s," for a line of times, or nothing. Returns `text`. */
enum { TD_ORDERING_TEXT = 64 };
char *td_ordering_text(char text[TD_ORDERING_TEXT], const td_ordering *ordering);

/* order and reorder_seconds */
void td_ordering_json(td_json *json, const td_ordering *ordering);

#endif
