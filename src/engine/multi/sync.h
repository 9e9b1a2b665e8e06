/* The cost of a group's size: an iteration of m GPUs takes z + p m (GUM, equation 4), where z is what the longest GPU
 * computes and p m what starting, meeting and exchanging cost.
 *
 * p is fitted over m by least squares to what iterations took beyond z, recent ones weighing more. A part that does not
 * depend on m (q) is fitted as well, as soon as groups of different sizes were seen: it does not change which group is
 * best, but left out it would make small groups look better than they are. */
#ifndef TD_MULTI_SYNC_H
#define TD_MULTI_SYNC_H

typedef struct td_sync_cost {
    double count, m, mm, y, my; /* sums of 1, m, m^2, seconds, m seconds, with weights that decay */
} td_sync_cost;

/* Begins with a guess of p, in seconds, that weighs as much as one iteration of m GPUs; 0: without one. */
void td_sync_cost_begin(td_sync_cost *sync, int m, double guess);

/* An iteration of a group of m took `seconds` of which the longest GPU computed `longest`. Time that is not finite or
 * shorter than `longest` counts as no overhead. */
void td_sync_cost_add(td_sync_cost *sync, int m, double seconds, double longest);

/* p, and q if wanted (or NULL); neither is negative. 0 before anything was added. */
double td_sync_cost_fit(const td_sync_cost *sync, double *q);

#endif
