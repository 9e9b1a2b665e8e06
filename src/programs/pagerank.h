/* PageRank: rank = (1 - d) / n + d * (sum of the in-neighbours' messages), where a vertex
 * sends its rank divided by its out-degree. The rank of sinks is spread over all vertices
 * (pagerank.dangling=spread) or lost (ignore, the GAP convention). `personal` replaces 1/n
 * by a given distribution, for the jumps and for the spread rank. The change of an
 * iteration is the sum of |new - old|, so --tolerance is an L1 norm. Sums are doubles; ranks are floats, or doubles in
 * the second instance (docs/design/precision.md). */
#include "kernels/program.h"

#include <math.h>

#if PROGRAM_WIDE
typedef double program_value;
typedef double program_message;
#else
typedef float program_value;
typedef float program_message;
#endif
typedef double program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 0
#define PROGRAM_SUM TD_SUM_ADD
#define PROGRAM_VIEW TD_VIEW_FORWARD
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 0
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 0
#define PROGRAM_MEASURE TD_MEASURE_SUM
#define PROGRAM_BEGINS 1 /* program_begin is called on every kernel's context */
#define PROGRAM_SHARES 1 /* program_share is summed into the context */
#define PROGRAM_LINEAR 1 /* changes can be pushed instead of ranks: program_offset, program_answer, program_arrives */

enum { PAGERANK_DAMPING, PAGERANK_DANGLING, PAGERANK_PERSONAL, PAGERANK_PRECISION };

TD_INLINE double pagerank_base(const td_context *c, uint32_t v)
{
    return c->input[0] != 0 ? c->input[0][v] : c->one_over_vertices;
}

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (program_value)pagerank_base(c, v);
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value rank)
{
    (void)c, (void)v, (void)rank;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value rank, uint32_t degree)
{
    (void)c;
    return degree == 0 ? 0 : rank / (program_value)degree;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message share, uint32_t weight)
{
    (void)c, (void)weight;
    return share;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

/* Computes the constants of an iteration: the damping, and the share of every vertex in
 * the jumps and in c->global, the rank of the sinks. */
TD_INLINE void program_begin(td_context *c)
{
    double damping = c->parameter[PAGERANK_DAMPING];
    double spread = c->parameter[PAGERANK_DANGLING] == 0 ? damping * c->global : 0;
    c->round[0] = damping;
    c->round[1] = (1 - damping + spread) * (c->input[0] != 0 ? 1 : c->one_over_vertices);
}

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
    (void)old;
    double jump = c->input[0] != 0 ? c->round[1] * c->input[0][v] : c->round[1];
    return (program_value)(jump + c->round[0] * sum);
}

/* The rank as two terms: a constant of the vertex, and a linear function of its neighbours' messages (and of the sinks'
 * rank, in c->global). */
TD_INLINE double program_offset(const td_context *c, uint32_t v)
{
    return (1 - c->parameter[PAGERANK_DAMPING]) * pagerank_base(c, v);
}

TD_INLINE double program_answer(const td_context *c, uint32_t v, program_accum sum)
{
    double spread = c->parameter[PAGERANK_DANGLING] == 0 ? c->global * pagerank_base(c, v) : 0;
    return c->parameter[PAGERANK_DAMPING] * (sum + spread);
}

/* The part of a change of rank that arrives in the ranks of all vertices. */
TD_INLINE double program_arrives(const td_context *c, uint32_t degree)
{
    return degree > 0 || c->parameter[PAGERANK_DANGLING] == 0 ? c->parameter[PAGERANK_DAMPING] : 0;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh != old;
}

TD_INLINE double program_change(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fabs((double)fresh - (double)old);
}

TD_INLINE double program_share(const td_context *c, uint32_t v, program_value rank, uint32_t degree)
{
    (void)v;
    return degree == 0 && c->parameter[PAGERANK_DANGLING] == 0 ? (double)rank : 0;
}

static const td_setting program_parameters[] = {
    {"damping", TD_SETTING_NUMBER, 0.85, 0, 1, 0, "probability of following an edge instead of jumping"},
    {"dangling", TD_SETTING_CHOICE, 0, 0, 0, "spread|ignore", "rank of vertices without out-edges: spread or lost"},
    {"personal", TD_SETTING_TEXT, 0, 0, 0, 0, "file of 'id weight' lines: targets of jumps (default: all vertices)"},
    {"precision", TD_SETTING_CHOICE, 0, 0, 0, "auto|single|double",
     "ranks of 4 or 8 bytes; auto: 8 where the tolerance is below what 4 reach"},
    {0},
};

static const td_program_info program_info = {
    .name = "pagerank", .summary = "PageRank of every vertex", .result = "rank",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_UNUSED, .value = PROGRAM_WIDE ? TD_VALUE_F64 : TD_VALUE_F32,
    .rule = TD_RULE_REALS, .sinks_choice = 1 + PAGERANK_DANGLING, .order_free = true, .renumbers = true,
    .wide = PROGRAM_WIDE, .precision_choice = 1 + PAGERANK_PRECISION, .iterations = 1000, .tolerance = 1e-6,
    .parameters = program_parameters,
    .edges = "Edges lead from source to target. A loop is an out-edge that returns rank to its vertex; "
             "parallel edges count each.",
};
