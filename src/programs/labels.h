/* Weakly connected components by label propagation: every vertex takes the smallest
 * label of its neighbours until no label changes. The gas form of wcc, for comparisons
 * with papers; the sweep of wcc.h reads every edge at most once. */
#include "kernels/program.h"

typedef uint32_t program_value;
typedef uint32_t program_message;
typedef uint32_t program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 0
#define PROGRAM_SUM TD_SUM_MIN
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 1
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_NONE

/* input[0]: the vertex's rank in the graph's own numbering, or NULL if the rank is its number. Values are ranks; after
 * the run engine/groups.h replaces them by vertex numbers. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return c->input[0] != 0 ? (uint32_t)c->input[0][v] : v;
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value label)
{
    (void)c, (void)v, (void)label;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value label, uint32_t degree)
{
    (void)c, (void)degree;
    return label;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return TD_UNREACHED;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message label, uint32_t weight)
{
    (void)c, (void)weight;
    return label;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a < b ? a : b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum label)
{
    (void)c, (void)v;
    return label < old ? label : old;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh < old;
}

static const td_program_info program_info = {
    .name = "labels", .summary = "weakly connected components by label propagation", .result = "component",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_UNUSED, .value = TD_VALUE_U32,
    .rule = TD_RULE_LABELS, .vertex_values = true,
    .order_free = true, .renumbers = true,
    .edges = "Direction is ignored; loops and parallel edges change nothing.",
};
