/* The forward pass of a network whose edges carry weights: a neuron's value is
 * the activation of the weighted sum of its in-neighbours' values. Neurons with
 * an input keep it. A layered network needs as many iterations as it has layers;
 * the run ends when no value changes. */
#include "kernels/program.h"

#include <math.h>

typedef float program_value;
#define PROGRAM_VIEW TD_VIEW_FORWARD
#include "programs/field.h"

enum { NN_ACTIVATION, NN_INPUTS };

/* input[0]: the input of neurons that have one (those without in-edges do), NaN elsewhere. */
TD_INLINE bool nn_is_input(const td_context *c, uint32_t v) { return c->input[0][v] == c->input[0][v]; }

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return nn_is_input(c, v) ? (float)c->input[0][v] : 0;
}

TD_INLINE double program_flow(double value, double weight) { return value * weight; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
    if (nn_is_input(c, v)) return old;
    if (c->parameter[NN_ACTIVATION] == 0) return (float)tanh(sum);
    if (c->parameter[NN_ACTIVATION] == 1) return (float)(1 / (1 + exp(-sum)));
    return sum > 0 ? (float)sum : 0;
}

static const td_setting program_parameters[] = {
    {"activation", TD_SETTING_CHOICE, 0, 0, 0, "tanh|sigmoid|relu", "activation function of a neuron"},
    {"inputs", TD_SETTING_TEXT, 0, 0, 0, 0,
     "file of 'id value' lines: inputs (default: 1 for every neuron without in-edges)"},
    {0},
};

static const td_program_info program_info = {
    .name = "nn", .summary = "forward pass of a weighted network", .result = "value",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_F32,
    .rule = TD_RULE_REALS, .order_free = false, .renumbers = true,
    .iterations = 1000, .parameters = program_parameters,
    .edges = "Values flow from source to target. Loops and parallel edges count each, with their weights.",
};
