/* Adsorption (label spreading): a vertex's score is a mixture of what is injected
 * into it and the weighted mean of its in-neighbours' scores; the rest of the
 * walk is abandoned. score = injection * seed + continuation * mean. The change is
 * the largest one of any vertex: in that norm, not in the sum, an iteration shrinks
 * the error, because a mean moves no further than what it is the mean of. */
#include "kernels/program.h"

typedef float program_value;
#define PROGRAM_VIEW TD_VIEW_FORWARD
#include "programs/field.h"

enum { ADSORPTION_INJECTION, ADSORPTION_CONTINUATION, ADSORPTION_SEEDS };

/* input[0]: what is injected; input[1]: the sum of the in-edges' weights. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (float)c->input[0][v];
}

TD_INLINE double program_flow(double score, double weight) { return score * weight; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
    (void)old;
    double mean = c->input[1][v] > 0 ? sum / c->input[1][v] : 0;
    return (float)(c->parameter[ADSORPTION_INJECTION] * c->input[0][v] + c->parameter[ADSORPTION_CONTINUATION] * mean);
}

static const td_setting program_parameters[] = {
    {"injection", TD_SETTING_NUMBER, 0.25, 0, 1, 0, "probability of taking what is injected"},
    {"continuation", TD_SETTING_NUMBER, 0.7, 0, 1, 0,
     "probability of going on to an in-neighbour; the rest is abandoned"},
    {"seeds", TD_SETTING_TEXT, 0, 0, 0, 0,
     "file of 'id score' lines: what is injected (default: 1 at --source, or at the first vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "adsorption", .summary = "scores spread from seeds along weighted edges", .result = "score",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F32,
    .rule = TD_RULE_REALS, .takes_source = true,
    .non_negative = true, .order_free = true, .renumbers = true, .iterations = 1000, .tolerance = 1e-6,
    .parameters = program_parameters,
};
