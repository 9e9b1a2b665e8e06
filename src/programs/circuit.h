/* Node voltages of a resistor network: edges are resistors (weights in ohms, 1
 * without weights), some nodes are held at given voltages, all others settle at
 * the mean of their neighbours weighted by conductance. Jacobi's iteration, or
 * Gauss-Seidel's when asynchronous; the change is the largest one of any node. */
#include "programs/program.h"

typedef double program_value;
typedef double program_message;
typedef double program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 1
#define PROGRAM_SUM TD_SUM_ADD
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 0
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_MAX

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

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value volts)
{
    (void)c, (void)v, (void)volts;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value volts, uint32_t degree)
{
    (void)c, (void)degree;
    return volts;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message volts, float ohms)
{
    (void)c;
    return volts / (double)ohms;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message volts, uint32_t ohms)
{
    (void)c;
    return volts / (double)ohms;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum current)
{
    if (circuit_is_held(c, v) || c->input[1][v] <= 0) return old;
    return (c->input[2] != 0 ? current - old * c->input[2][v] : current) / c->input[1][v];
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh != old;
}

TD_INLINE double program_change(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh > old ? fresh - old : old - fresh;
}

static const td_setting program_parameters[] = {
    {"sources", TD_SETTING_TEXT, 0, 0, 0, 0, "file of 'id volts' lines: nodes held at a voltage (default: --source at 1 V)"},
    {"ground", TD_SETTING_TEXT, 0, 0, 0, 0, "id of a node held at 0 V (default without sources: the last vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "circuit", .summary = "node voltages of a resistor network", .result = "volts",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F64, .takes_source = true,
    .non_negative = true, .positive = true, .order_free = true, .iterations = 100000, .tolerance = 1e-9, .parameters = program_parameters,
};
