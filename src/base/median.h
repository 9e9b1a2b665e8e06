/* Times of several runs are told by their median: one slow run does not move it. */
#ifndef TD_BASE_MEDIAN_H
#define TD_BASE_MEDIAN_H

/* Of at least one value; puts them in order. */
double td_median(double *values, int count);

#endif
