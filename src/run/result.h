/* The result of a run: a vertex's value as a number, a summary, and the top vertices. The same for every program and
 * engine. */
#ifndef TD_RUN_RESULT_H
#define TD_RUN_RESULT_H

#include "run/run.h"

static inline bool td_value_is_whole(td_value_kind kind) { return kind == TD_VALUE_U32 || kind == TD_VALUE_U64; }

/* False if the vertex has no value, because it was not reached. */
bool td_run_value(const td_run *run, uint32_t vertex, double *value);

typedef struct td_run_summary {
    uint64_t reached;             /* vertices that have a value */
    double lowest, highest, sum;  /* of their values; 0 if there are none */
    uint64_t groups, largest;     /* programs whose values are vertices: number of groups, vertices in the largest */
    uint64_t digest; /* of all (original id, value), or of the forest's edges; independent of their order */
} td_run_summary;

td_status td_run_summarise(const td_run *run, td_pool *pool, td_run_summary *out);

/* The ith edge of a forest by original ids. *from is a vertex not behind the edge's source, and becomes that: 0 for the
 * first of several edges in ascending order. An edge of a symmetric graph stands for both directions: the lower id comes
 * first, whatever the order of vertices. */
typedef struct td_named_edge {
    uint64_t source, target;
    double weight;
} td_named_edge;

td_named_edge td_run_named_edge(const td_run *run, uint64_t i, uint32_t *from);

/* The vertices with the largest values, or the largest groups (the value is then
 * the number of vertices, the vertex the one that names the group). Ties: the
 * lower original id first. *count is at most `most`; to be freed by td_free. */
typedef struct td_top {
    uint32_t vertex;
    double value;
} td_top;

td_status td_run_top(const td_run *run, td_pool *pool, uint64_t most, td_top **out, uint64_t *count);

#endif
