#include "engine/multi/cost_inside.h"

#include <math.h>
#include <string.h>

double td_cost_metric(const td_frontier_metrics *metrics, int metric)
{
    double value = metrics->value[metric];
    return metric < TD_GINI ? log1p(value) : value;
}

void td_cost_scale(const td_cost_model *model, const td_frontier_metrics *metrics, double scaled[TD_METRICS])
{
    for (int m = 0; m < TD_METRICS; m++) {
        double width = model->high[m] - model->low[m];
        double x = width > 0 ? 2 * (td_cost_metric(metrics, m) - model->low[m]) / width - 1 : 0;
        scaled[m] = x > 1 ? 1 : x < -1 ? -1 : x;
    }
}

/* A product of d metrics is one of d - 1, times a metric that does not come before its last one. */
int td_cost_products(int degree, const double scaled[TD_METRICS], double product[TD_COST_TERMS])
{
    int last[TD_COST_TERMS], begin = 0, end = 1;
    product[0] = 1;
    last[0] = 0;
    for (int d = 1; d <= degree; d++) {
        int next = end;
        for (int t = begin; t < end; t++)
            for (int m = last[t]; m < TD_METRICS; m++, next++) {
                product[next] = product[t] * scaled[m];
                last[next] = m;
            }
        begin = end;
        end = next;
    }
    return end;
}

int td_cost_terms(int degree)
{
    int terms = 1;
    for (int d = 1; d <= degree; d++) terms = terms * (TD_METRICS + d) / d;
    return terms;
}

static double polynomial(const td_cost_model *model, const double scaled[TD_METRICS])
{
    double product[TD_COST_TERMS], sum = 0;
    int terms = td_cost_products(model->degree, scaled, product);
    for (int t = 0; t < terms; t++) sum += model->weight[t] * product[t];
    return sum;
}

static double leaf(const td_cost_model *model, const double scaled[TD_METRICS])
{
    const td_cost_node *node = model->node;
    while (node->metric >= 0) node = &model->node[node->low + (scaled[node->metric] > node->limit)];
    return node->seconds;
}

double td_cost_predict(const td_cost_model *model, const td_frontier_metrics *metrics)
{
    double scaled[TD_METRICS];
    td_cost_scale(model, metrics, scaled);
    double seconds = model->kind == TD_COST_TREE ? leaf(model, scaled) : polynomial(model, scaled);
    if (model->kind == TD_COST_EXPONENTIAL) seconds = exp(seconds);
    return seconds < model->least ? model->least : seconds > model->most ? model->most : seconds;
}

double td_cost_error(const td_cost_model *model, const td_cost_sample *samples, uint64_t count, const char *family)
{
    double sum = 0;
    uint64_t seen = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (family != NULL && strcmp(samples[i].family, family) != 0) continue;
        double relative = td_cost_predict(model, &samples[i].metrics) / (samples[i].seconds / samples[i].edges) - 1;
        sum += relative * relative;
        seen++;
    }
    return seen > 0 ? sqrt(sum / (double)seen) : 0;
}
