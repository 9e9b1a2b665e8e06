/* Replaying an iterative program in doubles.
 *
 * A correct engine may compute in floats, so its values differ from the replay's.
 * An estimate is a value together with a bound on its float rounding error; each
 * step propagates the bounds together with the values and adds its own roundings (a
 * running error analysis: Higham, Accuracy and Stability of Numerical Algorithms,
 * 3.3). A program provides the step of one vertex. One step from the result itself
 * checks whether the result is a fixpoint, without memory for a replay.
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
    unsigned lists; /* the lists that the step reads, with TD_WITH_WEIGHTS if it reads weights */
    td_estimate (*step)(const td_replay *replay, uint32_t v); /* from td_replay_at */
    td_estimate *now, *next;
    bool wide;          /* values of a result are doubles, not floats */
    const void *result; /* instead of `now`: a result, each value of which is uncertain by `error` */
    double error;
};

static inline double td_replay_value(const td_replay *replay, const void *values, uint32_t v)
{
    return replay->wide ? ((const double *)values)[v] : (double)((const float *)values)[v];
}

static inline td_estimate td_replay_at(const td_replay *replay, uint32_t v)
{
    if (replay->result == NULL) return replay->now[v];
    return (td_estimate){td_replay_value(replay, replay->result, v), replay->error};
}

td_status td_replay_create(td_replay *replay); /* fills in now and next, all zero */
void td_replay_destroy(td_replay *replay);

/* Starts from given values, which an engine may round to floats. */
void td_replay_start(td_replay *replay, const double *values);

td_status td_replay_step(td_replay *replay);
td_status td_replay_run(td_replay *replay, uint32_t iterations);

/* The claim that every value is the replay's `now`, within its error bound plus `relative` of the value. */
td_status td_replay_compare(const td_replay *replay, const char *claim, const void *values, double relative);

/* The claim that a step from the result, each of its values uncertain by `error`, gives the result again. */
td_status td_replay_check_fixpoint(td_replay *replay, const char *claim, const void *values, double error);

#define TD_UNIT_ROUNDOFF 0x1p-24 /* of floats */

/* The relative error allowed for a float sum of `terms` products in any order, relative to
 * the sum of their magnitudes: one unit roundoff per term and a few more. Beyond 256 terms
 * that would allow too much: the roundings of a careful summation mostly cancel, so that the
 * bound then grows with the square root. A single float accumulator of hundreds of
 * thousands of similar terms exceeds it, and should. */
static inline double td_float_rounding(uint64_t terms)
{
    return TD_UNIT_ROUNDOFF * (4 + fmin((double)terms, 16 * sqrt((double)terms)));
}

#endif
