/* Node voltages of a resistor network: edges are resistors (weights in ohms, 1
 * without weights), some nodes are held at given voltages, all others settle at
 * the mean of their neighbours weighted by conductance. Jacobi's iteration, or
 * Gauss-Seidel's when asynchronous; the change of an iteration is the largest change
 * of any node. */
#include "kernels/program.h"

typedef double program_value;
#define PROGRAM_VIEW TD_VIEW_BOTH
#include "programs/field.h"

enum { CIRCUIT_SOURCES, CIRCUIT_GROUND };

/* input[0]: the voltage a node is held at, NaN when free; input[1]: the sum of
 * the conductances to other nodes, 0 where no held node can be reached; input[2]:
 * the conductance of loops, which carry no current, or NULL where there are none. */
TD_INLINE bool circuit_is_held(const td_context *c, uint32_t v) { return c->input[0][v] == c->input[0][v]; }

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return circuit_is_held(c, v) ? c->input[0][v] : 0;
}

TD_INLINE double program_flow(double volts, double ohms) { return volts / ohms; }

#define PROGRAM_LOOPLESS 1
TD_INLINE program_value program_apply_loopless(const td_context *c, uint32_t v, program_value old,
                                               program_accum current)
{
    return circuit_is_held(c, v) || c->input[1][v] <= 0 ? old : current / c->input[1][v];
}

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum current)
{
    return program_apply_loopless(c, v, old, c->input[2] != 0 ? current - old * c->input[2][v] : current);
}

static const td_setting program_parameters[] = {
    {"sources", TD_SETTING_TEXT, 0, 0, 0, 0,
     "file of 'id volts' lines: nodes held at a voltage (default: {source} at 1 V)"},
    {"ground", TD_SETTING_TEXT, 0, 0, 0, 0, "id of a node held at 0 V (default without sources: the last vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "circuit", .summary = "node voltages of a resistor network", .result = "volts", .kind = TD_KIND_GAS,
    .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F64,
    .rule = TD_RULE_REALS, .takes_source = true, .non_negative = true, .positive = true,
    .order_free = true, .renumbers = true, .iterations = 100000, .tolerance = 1e-9, .parameters = program_parameters,
    .edges = "Direction is ignored. u -> v and v -> u of a directed graph are two resistors in parallel, "
             "as parallel edges are; loops carry no current.",
    .directed = "u -> v and v -> u are two resistors in parallel; 'tandem convert --symmetrize --dedup' makes "
                "them one",
};
