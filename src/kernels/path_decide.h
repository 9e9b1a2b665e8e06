/* Decisions about a group whose vertices have been scanned: whether it may be final, which changes wait, whether its
 * values are to be multiplied. The host takes them after every launch, or a launch that runs rounds does
 * (gpu/path_rounds.h). */
#ifndef TD_KERNELS_PATH_DECIDE_H
#define TD_KERNELS_PATH_DECIDE_H

#include "kernels/path_state.h"

#include <math.h>

typedef struct td_path_rule {
    double allowance;    /* what the group may leave of the tolerance */
    double rounding;     /* sums of changes: the values' own rounding, below which nothing changes any more */
    double share;        /* of the changes: the vertices that hold it are applied */
    double outside;      /* the sum of the values that the vertices want before any of them has sent */
    double most_updates; /* of the launch */
    uint8_t largest;     /* changes are measured by the largest, not by their sum */
    uint8_t priority;    /* small changes wait */
    uint8_t balances;    /* the group may be multiplied */
} td_path_rule;

/* A threshold for the largest change: this part of it. */
#define TD_PATH_LARGEST_PART 0.3
/* Nearly all changes have one sign: this part of them. */
#define TD_PATH_ONE_SIGN 0.8

TD_INLINE double td_path_tolerance(const td_path_rule *rule, const td_path_tally *found)
{
    double least = rule->rounding * found->value;
    return least > rule->allowance ? least : rule->allowance;
}

/* The threshold below which changes wait. Of a sum: the vertices above it hold a share of the changes; levels are
 * powers of two. Of a largest change: a part of it. */
TD_INLINE double td_path_threshold(const td_path_rule *rule, const td_path_tally *found, const double *levels)
{
    double taken = 0, enough = rule->share * found->residual;
    if (!rule->priority) return 0;
    if (rule->largest) {
        double part = TD_PATH_LARGEST_PART * (1 - rule->share) * found->residual;
        double half = 0.5 * td_path_tolerance(rule, found);
        return part > half ? part : half;
    }
    int level = TD_PATH_LEVELS;
    while (level > 0 && taken < enough) taken += levels[--level];
    return level > 0 ? nextafter(ldexp(1.0, level - TD_PATH_LEVELS), 0.0) : 0; /* above it, its level's first too */
}

/* Whether nearly all changes that the vertices want have one sign. Values y of a group want f(y) = o + A y, with o from
 * outside: the sum of the values is off then, which walks correct slowly, by the damping in a round. */
TD_INLINE bool td_path_unbalanced(const td_path_rule *rule, const td_path_tally *found)
{
    double inside = found->fresh - rule->outside, moved = found->moved < 0 ? -found->moved : found->moved;
    return moved > TD_PATH_ONE_SIGN * found->magnitude && found->value - inside > 0 && rule->outside > 0;
}

#endif
