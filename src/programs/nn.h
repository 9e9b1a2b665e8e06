/* The forward pass of a network whose edges carry weights: a neuron's value is
 * the activation of the weighted sum of its in-neighbours' values. Neurons with
 * an input keep it. A layered network settles after as many iterations as it
 * has layers; the run ends when nothing changes. */
#include "programs/program.h"

#include <math.h>

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

enum { NN_ACTIVATION, NN_INPUTS };

/* input[0]: the input of neurons that have one (those without in-edges do), NaN elsewhere. */
TD_INLINE bool nn_is_input(const td_context *c, uint32_t v) { return c->input[0][v] == c->input[0][v]; }

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return nn_is_input(c, v) ? (float)c->input[0][v] : 0;
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value value)
{
    (void)c, (void)v, (void)value;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value value, uint32_t degree)
{
    (void)c, (void)degree;
    return value;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message value, float weight)
{
    (void)c;
    return (double)value * (double)weight;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message value, uint32_t weight)
{
    (void)c;
    return (double)value * (double)weight;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
    if (nn_is_input(c, v)) return old;
    if (c->parameter[NN_ACTIVATION] == 0) return (float)tanh(sum);
    if (c->parameter[NN_ACTIVATION] == 1) return (float)(1 / (1 + exp(-sum)));
    return sum > 0 ? (float)sum : 0;
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
    {"activation", TD_SETTING_CHOICE, 0, 0, 0, "tanh|sigmoid|relu", "what a neuron makes of its weighted sum"},
    {"inputs", TD_SETTING_TEXT, 0, 0, 0, 0, "file of 'id value' lines: inputs (default: 1 for every neuron without in-edges)"},
    {0},
};

static const td_program_info program_info = {
    .name = "nn", .summary = "forward pass of a weighted network", .result = "value",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_F32, .order_free = false,
    .iterations = 1000, .parameters = program_parameters,
};
