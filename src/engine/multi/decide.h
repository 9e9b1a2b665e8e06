/* What an iteration's GPUs do (GUM, Algorithms 1 and 2): how many take part, who owns which fragment, and who processes
 * how many of whose active edges. A function of its arguments alone; the engine carries it out.
 *
 * Ownership is decided first: for every size m of a group the iteration would take z + p m, where z is the solution of
 * frontier stealing's program with the evicted GPUs forbidden. */
#ifndef TD_MULTI_DECIDE_H
#define TD_MULTI_DECIDE_H

#include "engine/multi/allocation.h"
#include "engine/multi/tree.h"

/* Why edges are stolen or not, and why the group is what it is: a name for reports, and words. */
#define TD_STEAL_REASONS(X)                                                              \
    X(STOLEN, "stolen", "edges are stolen")                                              \
    X(OFF, "off", "frontier stealing is off")                                            \
    X(ALONE, "alone", "one GPU takes part")                                              \
    X(SMALL, "small", "the busiest GPU has less work than a steal costs (t1)")           \
    X(BALANCED, "balanced", "the GPUs differ by less than a steal costs (t2)")           \
    X(NO_GAIN, "no-gain", "the best allocation saves less than a steal costs")           \
    X(UNKNOWN, "unknown", "this iteration measures what an edge costs")

#define TD_GROUP_REASONS(X)                                                              \
    X(BEST, "best", "the group with the lowest z + p m")                                 \
    X(OFF, "off", "ownership stealing is off")                                           \
    X(ALONE, "alone", "there is one GPU")                                                \
    X(LONG, "long", "the last iteration was too long to gain from fewer GPUs (t3)")      \
    X(KEPT, "kept", "another group would be better, but has not yet been worth the change")

typedef enum td_steal_reason {
#define TD_REASON(code, name, words) TD_STEAL_##code,
    TD_STEAL_REASONS(TD_REASON)
#undef TD_REASON
} td_steal_reason;

typedef enum td_group_reason {
#define TD_REASON(code, name, words) TD_GROUP_##code,
    TD_GROUP_REASONS(TD_REASON)
#undef TD_REASON
} td_group_reason;

const char *td_steal_reason_name(td_steal_reason reason);
const char *td_steal_reason_words(td_steal_reason reason);
const char *td_group_reason_name(td_group_reason reason);
const char *td_group_reason_words(td_group_reason reason);

#define TD_ADAPTIVE (-1.0) /* a threshold that is not given */

typedef struct td_decide_input {
    int n;
    const double *load;            /* l_i: active edges of fragment i in this iteration */
    const double *cost;            /* c_ij: seconds of GPU j for an edge of fragment i; INFINITY: it may not */
    const td_reduction_tree *tree;
    int least_group;               /* smaller ones are not considered; 0: any may be */
    double p;                      /* seconds an iteration takes longer for every GPU (td_sync_cost_fit) */
    double last_seconds;           /* of the last iteration; 0: there was none */
    double steal_seconds;          /* an iteration with steals takes longer by this: launches, copies, deciding */
    double steal_factor;           /* and its longest GPU by this factor than the costs say; 0: 1 */
    double change_seconds;         /* a change of owners takes this: frontiers and values migrate */
    /* The paper's thresholds. Steals only if the busiest GPU of the group has at least t1 active edges, and t2 more
     * than the idlest; tries other groups only if the last iteration took less than t3 seconds. Adaptive: t1 and t2 are
     * what a GPU processes in steal_seconds, compared in seconds; t3 is where all that fewer GPUs can save, p (n - 1),
     * is 2% of the iteration. A group of fewer than all GPUs may grow however long the last iteration took. */
    double t1, t2, t3;
    bool steal_frontiers, steal_ownership;
} td_decide_input;

/* What one decision leaves to the next. Zeroed at the start of a run. */
typedef struct td_decide_state {
    int group;     /* the size of the group; 0: none yet */
    double regret; /* seconds lost, by the estimates, since another group became better */
} td_decide_state;

typedef struct td_decision {
    int group;                       /* m */
    bool stays[TD_MULTI_GPUS];
    int owner[TD_MULTI_GPUS];        /* of fragment i */
    double share[TD_MULTI_GPUS * TD_MULTI_GPUS]; /* x_ij, n * n, edges */
    double longest;                  /* predicted seconds of the GPU that takes longest: z */
    double unbalanced;               /* the same if every owner processed its fragments */
    double predicted;                /* of the iteration: z + p m, and a steal's overhead where edges are stolen */
    td_steal_reason steal;
    td_group_reason grouping;
    bool changed;                    /* the group differs from that of the last decision */
    double estimate[TD_MULTI_GPUS + 1]; /* [m]: predicted seconds of a group of m; 0: not worth computing */
    int solves;                      /* linear programs */
} td_decision;

/* A change of group costs something, and the next iteration may call for another, so a group is kept until what it has
 * lost against the best one, summed over iterations, exceeds change_seconds (rent or buy). A jump in the work exceeds it
 * at once. Fails with TD_INVALID for arguments that td_allocation_check refuses, and for a figure that is negative or not
 * finite. */
td_status td_decide(const td_decide_input *in, td_decide_state *state, td_decision *out);

#endif
