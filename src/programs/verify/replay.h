/* Replaying an iterative program in doubles.
 *
 * A right engine may compute in floats, so its values differ from the replay's.
 * How much is followed along: an estimate is a value together with what float
 * rounding may have made of it, and each step passes the errors on as it passes
 * the values on (a running error analysis: Higham, Accuracy and Stability of
 * Numerical Algorithms, 3.3) and adds its own roundings. A program brings the
 * step of one vertex; starting from the result itself, one step tells whether it
 * is a fixpoint, and needs no memory for that.
 */
#ifndef TD_PROGRAMS_VERIFY_REPLAY_H
#define TD_PROGRAMS_VERIFY_REPLAY_H

#include "programs/verify/parts.h"

#include <math.h>

typedef struct td_estimate {
    double value, error;
} td_estimate;

typedef struct td_replay td_replay;
struct td_replay {
    const char *program;
    const td_graph *graph;
    td_pool *pool;
    const void *model;
    unsigned lists; /* that the step looks at, with TD_WITH_WEIGHTS if so */
    td_estimate (*step)(const td_replay *replay, uint32_t v); /* from td_replay_at */
    td_estimate *now, *next;
    const float *result; /* instead of `now`: a result, each value of which is uncertain by `error` */
    double error;
};

static inline td_estimate td_replay_at(const td_replay *replay, uint32_t v)
{
    return replay->result != NULL ? (td_estimate){(double)replay->result[v], replay->error} : replay->now[v];
}

td_status td_replay_create(td_replay *replay); /* fills in now and next, all zero */
void td_replay_destroy(td_replay *replay);

/* Starts from what was given, which an engine may round to floats. */
void td_replay_start(td_replay *replay, const double *values);

td_status td_replay_step(td_replay *replay);
td_status td_replay_run(td_replay *replay, uint32_t iterations);

/* The claim that every value is the replay's `now`, within the error followed along plus `relative` of the value. */
td_status td_replay_compare(const td_replay *replay, const char *claim, const float *values, double relative);

/* The claim that a step from the result, each of its values uncertain by `error`, leads to it again. */
td_status td_replay_check_fixpoint(td_replay *replay, const char *claim, const float *values, double error);

#define TD_UNIT_ROUNDOFF 0x1p-24 /* of floats */

/* What a float sum of so many products, added up in any order, may be off by,
 * relative to the sum of the products' sizes: one unit roundoff for each term and
 * some for what is done to the sum. Beyond 256 terms that would excuse
 * too much; the roundings of a sum that is added up with care mostly cancel, so
 * from there on the bound grows with the root. One float accumulator for
 * hundreds of thousands of like terms does not meet it, and should not. */
static inline double td_float_rounding(uint64_t terms)
{
    return TD_UNIT_ROUNDOFF * (4 + fmin((double)terms, 16 * sqrt((double)terms)));
}

#endif
