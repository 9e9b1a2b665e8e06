/* The claims of a network's forward pass:
 *
 *   1. a vertex with an input has it;
 *   2. after a fixed number of iterations: values are those of a replay in doubles;
 *   3. after a run to a fixpoint: one more step changes no value by more than float
 *      rounding and a change of all in-neighbours by the tolerance can explain.
 */
#include "programs/verify/verify.h"

#include "programs/verify/replay.h"

/* tanhf, expf and the division after it are off by some units in the last place. */
#define ACTIVATION_ROUNDING 0x1p-21

static double activate(td_activation activation, double sum)
{
    switch (activation) {
    case TD_ACTIVATION_TANH: return tanh(sum);
    case TD_ACTIVATION_SIGMOID: return 1 / (1 + exp(-sum));
    case TD_ACTIVATION_RELU: break;
    }
    return sum > 0 ? sum : 0;
}

/* Activations are monotonic: a sum within `error` gives a value between those of the two ends. */
static td_estimate activate_estimate(td_activation activation, double sum, double error)
{
    double value = activate(activation, sum);
    double low = activate(activation, sum - error), high = activate(activation, sum + error);
    return (td_estimate){value, fmax(value - low, high - value) + ACTIVATION_ROUNDING * fabs(value)};
}

static td_estimate step(const td_replay *replay, uint32_t v)
{
    const td_nn_claim *claim = replay->model;
    const td_adjacency *in = &replay->graph->in;
    if (!isnan(claim->inputs[v])) return (td_estimate){(double)(float)claim->inputs[v], 0};
    double sum = 0, size = 0, error = 0;
    for (uint64_t e = in->offsets[v]; e < in->offsets[v + 1]; e++) {
        double weight = td_edge_weight(replay->graph, in, e);
        td_estimate source = td_replay_at(replay, in->targets[e]);
        sum += weight * source.value;
        size += fabs(weight * source.value);
        error += fabs(weight) * source.error;
    }
    return activate_estimate(claim->activation, sum, error + td_float_rounding(td_degree(in, v)) * size);
}

static td_status check_inputs(const td_graph *graph, const float *values, const double *inputs)
{
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (!isnan(inputs[v]) && values[v] != (float)inputs[v])
            return td_refute("nn", "a vertex with an input has it", "vertex %" PRIu64 " has %.9g, its input is %.9g",
                             td_graph_id(graph, v), (double)values[v], inputs[v]);
    return TD_OK;
}

/* Starts with the inputs, and 0 elsewhere. */
static void start_from_inputs(td_replay *replay, const double *inputs)
{
    for (uint32_t v = 0; v < replay->graph->vertices; v++)
        if (!isnan(inputs[v])) replay->now[v].value = (double)(float)inputs[v];
}

static td_status verify(td_replay *replay, const float *values, const td_nn_claim *claim)
{
    if (claim->iterations > 0) {
        TD_CHECK(td_replay_create(replay));
        start_from_inputs(replay, claim->inputs);
        TD_CHECK(td_replay_run(replay, claim->iterations));
        return td_replay_compare(replay, "values are those of the iterations replayed", values, TD_RESULT_TOLERANCE);
    }
    return td_replay_check_fixpoint(replay, "one more step changes nothing", values, claim->tolerance);
}

td_status td_verify_nn(const td_graph *graph, const float *values, const td_nn_claim *claim, td_pool *pool)
{
    td_replay replay = {.program = "nn", .graph = graph, .pool = pool, .model = claim, .step = step,
                        .lists = TD_LIST_IN | TD_WITH_WEIGHTS};
    TD_CHECK(td_in_lists_check(graph));
    TD_CHECK(check_inputs(graph, values, claim->inputs));
    td_status status = verify(&replay, values, claim);
    td_replay_destroy(&replay);
    return status;
}
