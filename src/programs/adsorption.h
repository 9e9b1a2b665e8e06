/* Adsorption (label spreading): score = injection * seed + continuation * mean, where mean
 * is the weighted mean of the in-neighbours' scores; the remaining share is abandoned. The
 * change of an iteration is the largest change of any vertex: an iteration shrinks the error
 * in that norm, but not in the sum, because a mean changes by at most the largest change of
 * its terms. */
#include "kernels/program.h"

typedef float program_value;
#define PROGRAM_VIEW TD_VIEW_FORWARD
#include "programs/field.h"

enum { ADSORPTION_INJECTION, ADSORPTION_CONTINUATION, ADSORPTION_SEEDS };

/* input[0]: the injected score; input[1]: the sum of the in-edges' weights. */
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
    {"injection", TD_SETTING_NUMBER, 0.25, 0, 1, 0, "weight of the seed in a score"},
    {"continuation", TD_SETTING_NUMBER, 0.7, 0, 1, 0,
     "weight of the in-neighbours' mean in a score; the rest is abandoned"},
    {"seeds", TD_SETTING_TEXT, 0, 0, 0, 0,
     "file of 'id score' lines: the seeds (default: 1 at {source}, or at the first vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "adsorption", .summary = "scores spread from seeds along weighted edges", .result = "score",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F32,
    .rule = TD_RULE_REALS, .takes_source = true,
    .non_negative = true, .order_free = true, .renumbers = true, .iterations = 1000, .tolerance = 1e-6,
    .parameters = program_parameters,
    .edges = "Scores flow from source to target. Loops and parallel edges count each, with their weights.",
};
