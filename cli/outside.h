/* Building out of memory, for the commands that make a .tg: whether it is
 * called for, doing it, and what is said of it. */
#ifndef TD_CLI_OUTSIDE_H
#define TD_CLI_OUTSIDE_H

#include "base/json.h"
#include "build_settings.h"
#include "store/external.h"
#include "store/formats/format.h"

typedef struct td_outside {
    const char *output, *stripes, *temporary; /* the last two may be NULL */
    const td_build_options *build;
    uint64_t expected_edges;     /* 0: unknown */
    const td_packed *ids_of;     /* as in td_external_settings */
    td_pool *pool;
    td_external_report report;
    td_graph *graph; /* the finished file, mapped: for its facts */
} td_outside;

/* About what the builder in memory holds at its peak. */
double td_inside_bytes(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build);

/* The most edges that a file of any format may hold, from its length. */
uint64_t td_most_edges(const char *path, const td_format *format);

/* TD_NO_MEMORY of whoever read such a file, with what is enough for that in the message. */
td_status td_inside_too_small(const char *path, const td_format *format, const td_build_options *build, int threads);

/* True if the graph may be too large to be built in memory. `edges` and `vertices` are what
 * is expected, with reserve. */
bool td_outside_needed(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build);

/* Whether the memory is enough for that. */
bool td_outside_possible(int threads);
uint64_t td_outside_bytes(int threads); /* the least that it takes */

/* TD_NO_MEMORY with what is enough, in memory or, where it may, out of it. */
td_status td_outside_too_small(double inside_bytes, const char *output, int threads, bool may_go_outside);

/* Builds, and maps what was built. */
td_status td_outside_build(td_outside *self, const char *name, td_edge_source_fn source, void *context);

void td_outside_tell(const td_outside *self);
void td_outside_json(td_json *json, const td_outside *self);

#endif
