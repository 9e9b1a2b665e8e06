/* What the cost model's files share. */
#ifndef TD_MULTI_COST_INSIDE_H
#define TD_MULTI_COST_INSIDE_H

#include "engine/multi/cost.h"

/* A metric as models see it, before scaling: degrees as ln(1 + degree). */
double td_cost_metric(const td_frontier_metrics *metrics, int metric);

/* Metrics scaled to -1 .. 1. */
void td_cost_scale(const td_cost_model *model, const td_frontier_metrics *metrics, double scaled[TD_METRICS]);

/* All products of at most `degree` scaled metrics; returns their number. */
int td_cost_products(int degree, const double scaled[TD_METRICS], double product[TD_COST_TERMS]);


#endif
