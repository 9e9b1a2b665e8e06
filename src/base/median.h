/* The median, for times of several runs: one slow run does not change it. */
#ifndef TD_BASE_MEDIAN_H
#define TD_BASE_MEDIAN_H

/* The median of at least one value; sorts them. */
double td_median(double *values, int count);

#endif
