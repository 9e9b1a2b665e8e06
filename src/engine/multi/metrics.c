#include "engine/multi/metrics.h"

#include <math.h>

const char *const td_metric_names[TD_METRICS] = {"mean-in", "mean-out", "range-in", "range-out", "edges", "gini", "entropy"};

void td_frontier_summary_clear(td_frontier_summary *summary)
{
    *summary = (td_frontier_summary){.least_in = UINT64_MAX, .least_out = UINT64_MAX};
}

static void widen(uint64_t *least, uint64_t *most, uint64_t low, uint64_t high)
{
    if (low < *least) *least = low;
    if (high > *most) *most = high;
}

void td_frontier_summary_add(td_frontier_summary *summary, uint64_t in_degree, uint64_t out_degree)
{
    int class = td_metric_class(in_degree + out_degree);
    summary->vertices++;
    summary->in_edges += in_degree;
    summary->out_edges += out_degree;
    widen(&summary->least_in, &summary->most_in, in_degree, in_degree);
    widen(&summary->least_out, &summary->most_out, out_degree, out_degree);
    summary->class_vertices[class]++;
    summary->class_edges[class] += in_degree + out_degree;
}

void td_frontier_summary_merge(td_frontier_summary *into, const td_frontier_summary *from)
{
    into->vertices += from->vertices;
    into->in_edges += from->in_edges;
    into->out_edges += from->out_edges;
    widen(&into->least_in, &into->most_in, from->least_in, from->most_in);
    widen(&into->least_out, &into->most_out, from->least_out, from->most_out);
    for (int c = 0; c < TD_DEGREE_CLASSES; c++) {
        into->class_vertices[c] += from->class_vertices[c];
        into->class_edges[c] += from->class_edges[c];
    }
}

/* 1 less twice the area below the Lorenz curve, which is straight within a class. */
static double gini(const td_frontier_summary *s, double vertices, double edges)
{
    double below = 0, share = 0;
    for (int c = 0; c < TD_DEGREE_CLASSES; c++) {
        double next = share + (double)s->class_edges[c] / edges;
        below += (double)s->class_vertices[c] / vertices * (share + next);
        share = next;
    }
    return fmin(1, fmax(0, 1 - below));
}

/* sum -p ln p = ln E - sum (d ln d) / E */
static double entropy(const td_frontier_summary *s, double vertices, double edges)
{
    double sum = 0;
    for (int c = 0; c < TD_DEGREE_CLASSES; c++) {
        double here = (double)s->class_edges[c];
        if (here > 0) sum += here * log(here / (double)s->class_vertices[c]);
    }
    return fmin(1, fmax(0, (log(edges) - sum / edges) / log(vertices)));
}

void td_frontier_metrics_of(const td_frontier_summary *s, td_frontier_metrics *out)
{
    double vertices = (double)s->vertices, edges = (double)s->in_edges + (double)s->out_edges;
    *out = (td_frontier_metrics){.value = {[TD_ENTROPY] = 1}};
    if (s->vertices == 0) return;
    out->value[TD_MEAN_IN] = (double)s->in_edges / vertices;
    out->value[TD_MEAN_OUT] = (double)s->out_edges / vertices;
    out->value[TD_RANGE_IN] = (double)(s->most_in - s->least_in);
    out->value[TD_RANGE_OUT] = (double)(s->most_out - s->least_out);
    if (s->vertices == 1 || edges == 0) return;
    out->value[TD_GINI] = gini(s, vertices, edges);
    out->value[TD_ENTROPY] = entropy(s, vertices, edges);
}
