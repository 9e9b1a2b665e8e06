/* Adsorption (label spreading): a vertex's score is a mixture of what is injected
 * into it and the weighted mean of its in-neighbours' scores; the rest of the
 * walk is abandoned. score = injection * seed + continuation * mean. The change is
 * the largest one of any vertex: in that norm, not in the sum, an iteration shrinks
 * the error, because a mean moves no further than what it is the mean of. */
#include "programs/program.h"

typedef float program_value;
typedef float program_message;
typedef double program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 1
#define PROGRAM_SUM TD_SUM_ADD
#define PROGRAM_VIEW TD_VIEW_FORWARD
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 0
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_MAX

enum { ADSORPTION_INJECTION, ADSORPTION_CONTINUATION, ADSORPTION_SEEDS };

/* input[0]: what is injected; input[1]: the sum of the in-edges' weights. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (float)c->input[0][v];
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value score)
{
    (void)c, (void)v, (void)score;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value score, uint32_t degree)
{
    (void)c, (void)degree;
    return score;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message score, float weight)
{
    (void)c;
    return (double)score * (double)weight;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message score, uint32_t weight)
{
    (void)c;
    return (double)score * (double)weight;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
    (void)old;
    double mean = c->input[1][v] > 0 ? sum / c->input[1][v] : 0;
    return (float)(c->parameter[ADSORPTION_INJECTION] * c->input[0][v] + c->parameter[ADSORPTION_CONTINUATION] * mean);
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh != old;
}

TD_INLINE double program_change(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh > old ? (double)fresh - (double)old : (double)old - (double)fresh;
}

static const td_setting program_parameters[] = {
    {"injection", TD_SETTING_NUMBER, 0.25, 0, 1, 0, "probability of taking what is injected"},
    {"continuation", TD_SETTING_NUMBER, 0.7, 0, 1, 0, "probability of going on to an in-neighbour; the rest is abandoned"},
    {"seeds", TD_SETTING_TEXT, 0, 0, 0, 0, "file of 'id score' lines: what is injected (default: 1 at --source, or at the first vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "adsorption", .summary = "scores spread from seeds along weighted edges", .result = "score",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F32, .takes_source = true,
    .non_negative = true, .order_free = true, .iterations = 1000, .tolerance = 1e-6, .parameters = program_parameters,
};
