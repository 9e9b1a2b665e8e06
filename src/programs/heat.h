/* Explicit steps of the heat equation on the graph: in one step a vertex gains
 * `step` times the sum over its neighbours (undirected view) of conductivity
 * times the difference in temperature. Total heat is conserved. */
#include "kernels/program.h"

typedef float program_value;
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_OWN_VALUE 1
#include "programs/field.h"

enum { HEAT_STEP, HEAT_INITIAL };

/* input[0]: temperatures at the start; input[1]: the sum of a vertex's conductivities. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (float)c->input[0][v];
}

TD_INLINE double program_flow(double heat, double conductivity) { return heat * conductivity; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value heat, program_accum sum)
{
    return (float)((double)heat + c->parameter[HEAT_STEP] * (sum - c->input[1][v] * (double)heat));
}

static const td_setting program_parameters[] = {
    {"step", TD_SETTING_NUMBER, 0, 0, 1e9, 0, "length of a step; 0: half the largest stable one"},
    {"initial", TD_SETTING_TEXT, 0, 0, 0, 0,
     "file of 'id temperature' lines (default: 100 at {source}, or at the first vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "heat", .summary = "explicit steps of the heat equation", .result = "temperature",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F32,
    .rule = TD_RULE_REALS, .takes_source = true,
    .non_negative = true, .order_free = false, .renumbers = true, .iterations = 10, .parameters = program_parameters,
    .edges = "Direction is ignored. u -> v and v -> u of a directed graph conduct each, parallel edges "
             "too; loops change nothing.",
    .directed = "u -> v and v -> u conduct each; 'tandem convert --symmetrize --dedup' makes them one",
};
