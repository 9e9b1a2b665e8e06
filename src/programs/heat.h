/* Explicit steps of the heat equation on the graph: in one step a vertex gains
 * `step` times the sum over its neighbours (undirected view) of conductivity
 * times the difference in temperature. Total heat is conserved. */
#include "programs/program.h"

typedef float program_value;
typedef float program_message;
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
#define PROGRAM_OWN_VALUE 1

enum { HEAT_STEP, HEAT_INITIAL };

/* input[0]: temperatures at the start; input[1]: the sum of a vertex's conductivities. */
TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return (float)c->input[0][v];
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value heat)
{
    (void)c, (void)v, (void)heat;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value heat, uint32_t degree)
{
    (void)c, (void)degree;
    return heat;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message heat, float conductivity)
{
    (void)c;
    return (double)heat * (double)conductivity;
}

TD_INLINE program_accum program_gather(const td_context *c, program_message heat, uint32_t conductivity)
{
    (void)c;
    return (double)heat * (double)conductivity;
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value heat, program_accum sum)
{
    return (float)((double)heat + c->parameter[HEAT_STEP] * (sum - c->input[1][v] * (double)heat));
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
    {"step", TD_SETTING_NUMBER, 0, 0, 1e9, 0, "length of a step; 0: half the largest stable one"},
    {"initial", TD_SETTING_TEXT, 0, 0, 0, 0, "file of 'id temperature' lines (default: 100 at --source, or at the first vertex)"},
    {0},
};

static const td_program_info program_info = {
    .name = "heat", .summary = "explicit steps of the heat equation", .result = "temperature",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_OPTIONAL, .value = TD_VALUE_F32, .takes_source = true,
    .non_negative = true, .order_free = false, .iterations = 10, .parameters = program_parameters,
};
