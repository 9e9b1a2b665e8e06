/* Core numbers: the largest k such that a vertex belongs to a subgraph in which
 * every vertex has k neighbours. Peeling: level k removes every vertex with at most
 * k remaining neighbours; a removal lowers the count of each neighbour by one, but
 * not below k. The core number of a vertex is its count when it is removed.
 * Neighbours are those of the undirected view (parallel edges count, loops do not);
 * with kcore.degree=in only in-neighbours count, and a removal lowers the counts of
 * the out-neighbours. With kcore.degree=neighbours the run sees another graph, of distinct
 * neighbours (td_graph_for). */
#include "kernels/program.h"

typedef uint32_t program_value;
typedef uint32_t program_message;
typedef uint32_t program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 0
#define PROGRAM_SUM TD_SUM_ADD
#define PROGRAM_VIEW TD_VIEW_BOTH /* forward with kcore.degree=in: forward_choice below */
#define PROGRAM_SCHEDULE TD_SCHEDULE_PEEL
#define PROGRAM_PEELS 1
#define PROGRAM_FUSED 1
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_NONE

enum { KCORE_DEGREE };

/* input[0]: the number of neighbours, without loops. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (uint32_t)c->input[0][v];
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value left)
{
    (void)v;
    return left <= c->phase;
}

TD_INLINE program_message program_send(const td_context *c, program_value left, uint32_t degree)
{
    (void)c, (void)degree;
    return left;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message left, uint32_t weight)
{
    (void)c, (void)left, (void)weight;
    return 1;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value left, program_accum gone)
{
    (void)v;
    if (left <= c->phase) return left;
    return left - c->phase > gone ? left - gone : c->phase;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    return old > c->phase && fresh <= c->phase;
}

static const td_setting program_parameters[] = {
    {"degree", TD_SETTING_CHOICE, 0, 0, 0, "both|in|neighbours",
     "what counts: edges of the undirected view, in-edges, or distinct neighbours"},
    {0},
};

static const td_program_info program_info = {
    .name = "kcore", .summary = "core number of every vertex", .result = "core",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_UNUSED, .value = TD_VALUE_U32,
    .rule = TD_RULE_DEGREES, .order_free = true, .renumbers = true,
    .forward_choice = 1 + KCORE_DEGREE, .parameters = program_parameters,
    .edges = "Direction is ignored. u -> v and v -> u of a directed graph count twice, parallel edges each, loops not at "
             "all; kcore.degree=neighbours counts every neighbour once.",
    .directed = "u -> v and v -> u count as two neighbours; kcore.degree=neighbours counts them once",
};
