/* Breadth-first search: the number of edges on a shortest path from the source.
 * All active neighbours give a vertex the same level, so a pull stops at the first. */
#include "kernels/program.h"

typedef uint32_t program_value;
typedef uint32_t program_message;
typedef uint32_t program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 0
#define PROGRAM_SUM TD_SUM_MIN
#define PROGRAM_VIEW TD_VIEW_FORWARD
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 1 /* apply may be done contribution by contribution, in any order */
#define PROGRAM_FIRST_HIT 1 /* all active vertices send the same message: a pull stops at the first */
#define PROGRAM_SENDS_VALUE 1 /* the message is the value */
#define PROGRAM_MEASURE TD_MEASURE_NONE

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return v == c->source ? 0 : TD_UNREACHED;
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value level)
{
    (void)c, (void)v;
    return level == 0;
}

TD_INLINE program_message program_send(const td_context *c, program_value level, uint32_t degree)
{
    (void)c, (void)degree;
    return level;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return TD_UNREACHED;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message level, uint32_t weight)
{
    (void)c, (void)weight;
    return level == TD_UNREACHED ? TD_UNREACHED : level + 1;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a < b ? a : b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum level)
{
    (void)c, (void)v;
    return level < old ? level : old;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh < old;
}

static const td_program_info program_info = {
    .name = "bfs", .summary = "levels of a breadth-first search from one vertex", .result = "level",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_UNUSED, .value = TD_VALUE_U32, .rule = TD_RULE_LEVELS,
    .needs_source = true, .gives_parents = true, .order_free = true, .renumbers = true,
    .edges = "Edges lead from source to target. Loops and parallel edges change nothing.",
};
