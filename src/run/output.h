/* Results as text, with original ids: one line per vertex, "id value" (and the
 * parent's id, if parents were asked for), or of a forest one line per edge,
 * "source target weight". docs/guide/programs.md describes the formats. */
#ifndef TD_RUN_OUTPUT_H
#define TD_RUN_OUTPUT_H

#include "run/run.h"

typedef struct td_output_format {
    const char *name, *description;
    char separator;
    const char *unreached_whole, *unreached_real; /* text of an unreached vertex's count, or distance */
    bool scientific;                              /* reals with 16 digits and an exponent */
} td_output_format;

extern const td_output_format td_output_formats[]; /* ends with a NULL name; the first is the default */

/* A format by its name, or if that is NULL by the path's suffix. TD_USAGE listing the formats if the name is unknown. */
td_status td_output_format_find(const char *name, const char *path, const td_output_format **out);

/* "-" is standard output. `header`: a first line with the names of the columns. */
td_status td_run_write(const td_run *run, const char *path, const td_output_format *format, bool header, td_pool *pool);

#endif
