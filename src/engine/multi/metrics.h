/* The metrics of a frontier (GUM, Table I), on which the cost of its edges depends, and the number of its edges, which the
 * paper's metrics leave out: on a GPU that is not at work as a whole an edge of few costs more.
 *
 * A summary collects degrees in whole numbers, so that workers and kernels may add them in any order and parts can be
 * merged; the metrics follow from it. Degrees d(u) = in + out fall into classes by powers of two, because sorting a
 * frontier for its Gini coefficient would take longer than processing it; all vertices of a class count with its mean. */
#ifndef TD_MULTI_METRICS_H
#define TD_MULTI_METRICS_H

#include "base/status.h"

typedef enum td_metric {
    TD_MEAN_IN,   /* mean in-degree */
    TD_MEAN_OUT,  /* mean out-degree */
    TD_RANGE_IN,  /* largest in-degree less the smallest */
    TD_RANGE_OUT,
    TD_EDGES,     /* that are processed; not of the summary */
    TD_GINI,      /* 2 sum_r r d_r / (V sum d) - (V + 1) / V, degrees ascending: 0 all alike, near 1 few have most */
    TD_ENTROPY,   /* sum_u -p_u ln p_u / ln V with p_u = d(u) / sum d: 1 all alike, near 0 few have most */
    TD_METRICS
} td_metric;

typedef struct td_frontier_metrics {
    double value[TD_METRICS];
} td_frontier_metrics;

extern const char *const td_metric_names[TD_METRICS];

enum { TD_DEGREE_CLASSES = 36 }; /* class 0: degree 0; class c: degrees from 2^(c-1) to 2^c - 1 */

typedef struct td_frontier_summary {
    uint64_t vertices, in_edges, out_edges;
    uint64_t least_in, most_in, least_out, most_out;
    uint64_t class_vertices[TD_DEGREE_CLASSES], class_edges[TD_DEGREE_CLASSES];
} td_frontier_summary;

static inline int td_metric_class(uint64_t degree)
{
    int bits = degree == 0 ? 0 : 64 - __builtin_clzll(degree);
    return bits < TD_DEGREE_CLASSES ? bits : TD_DEGREE_CLASSES - 1;
}

void td_frontier_summary_clear(td_frontier_summary *summary);
void td_frontier_summary_add(td_frontier_summary *summary, uint64_t in_degree, uint64_t out_degree);
void td_frontier_summary_merge(td_frontier_summary *into, const td_frontier_summary *from);

/* Of an empty frontier, and of one vertex: no range, a Gini coefficient of 0, an entropy of 1. */
void td_frontier_metrics_of(const td_frontier_summary *summary, td_frontier_metrics *out);

#endif
