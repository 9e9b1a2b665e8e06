/* Single-source shortest paths over non-negative weights.
 *
 * Distances are ordered 32-bit words: the number itself for integer weights
 * (saturating at 2^32-2, which the run reports as an overflow and never as a
 * distance), the bits of a non-negative float for real ones.
 * Scheduled by distance / delta; every schedule ends with the same distances. */
#include "kernels/program.h"

typedef uint32_t program_value;
typedef uint32_t program_message;
typedef uint32_t program_accum;

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 1
#define PROGRAM_SUM TD_SUM_MIN
#define PROGRAM_VIEW TD_VIEW_FORWARD
#define PROGRAM_SCHEDULE TD_SCHEDULE_PRIORITY
#define PROGRAM_HAS_PRIORITY 1
#define PROGRAM_FUSED 1
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_NONE

#define SSSP_SATURATED UINT32_C(0xfffffffe)
#define SSSP_INFINITE_BITS UINT32_C(0x7f800000)

TD_INLINE program_value sssp_unreached(const td_context *c)
{
    return c->real_weights ? SSSP_INFINITE_BITS : TD_UNREACHED;
}

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return v == c->source ? 0 : sssp_unreached(c);
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value distance)
{
    (void)distance;
    return v == c->source;
}

TD_INLINE program_message program_send(const td_context *c, program_value distance, uint32_t degree)
{
    (void)c, (void)degree;
    return distance;
}

TD_INLINE program_accum program_zero(const td_context *c) { return sssp_unreached(c); }

TD_INLINE program_accum program_gather(const td_context *c, program_message distance, uint32_t weight)
{
    (void)c;
    uint64_t sum = (uint64_t)distance + weight;
    return distance == TD_UNREACHED ? TD_UNREACHED : sum < SSSP_SATURATED ? (uint32_t)sum : SSSP_SATURATED;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message distance, float weight)
{
    (void)c;
    return td_float_to_bits(td_bits_to_float(distance) + weight);
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a < b ? a : b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum distance)
{
    (void)c, (void)v;
    return distance < old ? distance : old;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh < old;
}

/* The bucket of a distance. */
TD_INLINE uint64_t program_priority(const td_context *c, program_value value, double one_over_delta)
{
    double distance = c->real_weights ? (double)td_bits_to_float(value) : (double)value;
    return (uint64_t)(distance * one_over_delta);
}

static const td_program_info program_info = {
    .name = "sssp", .summary = "shortest distances from one vertex, over edge weights", .result = "distance",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_U32, .rule = TD_RULE_DISTANCES,
    .needs_source = true, .non_negative = true, .saturates = true, .gives_parents = true, .order_free = true,
    .renumbers = true, .real_follows_weights = true,
};
