/* Building out of memory, for the commands that make a .tg: the decision, the
 * build, and its report. */
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

/* The approximate peak memory of the builder in memory. */
double td_inside_bytes(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build);

/* Upper limit on the edges of a file, from its length and format. */
uint64_t td_most_edges(const char *path, const td_format *format);

/* TD_NO_MEMORY after reading a file failed; adds the memory needed to the message. */
td_status td_inside_too_small(const char *path, const td_format *format, const td_build_options *build, int threads);

/* True if the graph may be too large to be built in memory. `edges` and `vertices` are upper
 * estimates. */
bool td_outside_needed(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build);

/* Whether the budget allows building out of memory. */
bool td_outside_possible(int threads);
uint64_t td_outside_bytes(int threads); /* minimum of memory for it */

/* TD_NO_MEMORY with the minimum of memory: for building in memory or, if allowed, out of it. */
td_status td_outside_too_small(double inside_bytes, const char *output, int threads, bool may_go_outside);

/* Builds the file and maps it. */
td_status td_outside_build(td_outside *self, const char *name, td_edge_source_fn source, void *context);

void td_outside_show(const td_outside *self);
void td_outside_json(td_json *json, const td_outside *self);

#endif
