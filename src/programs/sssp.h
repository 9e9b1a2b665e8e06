/* Single-source shortest paths over non-negative weights.
 *
 * Distances are ordered words: the number itself for integer weights, the bits of a non-negative float or double for real
 * ones. 32-bit numbers saturate at 2^32-2, which the run reports as an overflow and never as a distance; 64 bits hold
 * the length of any path of 32-bit weights (docs/design/precision.md). Scheduled by distance / delta; every schedule ends
 * with the same distances. */
#include "kernels/program.h"

#if PROGRAM_WIDE
typedef uint64_t program_value;
typedef uint64_t program_message;
typedef uint64_t program_accum;
#else
typedef uint32_t program_value;
typedef uint32_t program_message;
typedef uint32_t program_accum;
#endif

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

#if PROGRAM_WIDE
#define SSSP_INFINITE_BITS UINT64_C(0x7ff0000000000000)
#define SSSP_UNREACHED TD_UNREACHED_U64

TD_INLINE double sssp_real(program_value distance) { return td_bits_to_double(distance); }

/* At most 2^32 - 2 edges of at most 2^32 - 1 each: the sum fits. */
TD_INLINE program_value sssp_add(program_value distance, uint32_t weight)
{
    return distance == SSSP_UNREACHED ? SSSP_UNREACHED : distance + weight;
}

TD_INLINE program_value sssp_add_real(program_value distance, double weight)
{
    return td_double_to_bits(td_bits_to_double(distance) + weight);
}
#else
#define SSSP_INFINITE_BITS UINT32_C(0x7f800000)
#define SSSP_UNREACHED TD_UNREACHED
#define SSSP_SATURATED UINT32_C(0xfffffffe)

TD_INLINE double sssp_real(program_value distance) { return (double)td_bits_to_float(distance); }

TD_INLINE program_value sssp_add(program_value distance, uint32_t weight)
{
    uint64_t sum = (uint64_t)distance + weight;
    return distance == TD_UNREACHED ? TD_UNREACHED : sum < SSSP_SATURATED ? (uint32_t)sum : SSSP_SATURATED;
}

TD_INLINE program_value sssp_add_real(program_value distance, double weight)
{
    return td_float_to_bits(td_bits_to_float(distance) + (float)weight);
}
#endif

TD_INLINE program_value sssp_unreached(const td_context *c)
{
    return c->real_weights ? SSSP_INFINITE_BITS : SSSP_UNREACHED;
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
    return sssp_add(distance, weight);
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message distance, double weight)
{
    (void)c;
    return sssp_add_real(distance, weight);
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
    double distance = c->real_weights ? sssp_real(value) : (double)value;
    return (uint64_t)(distance * one_over_delta);
}

static const td_setting program_parameters[] = {
    {"precision", TD_SETTING_CHOICE, 0, 0, 0, "auto|single|double",
     "distances of 4 or 8 bytes; auto: 8 for real weights, and where 32-bit integers are too small"},
    {0},
};

static const td_program_info program_info = {
    .name = "sssp", .summary = "shortest distances from one vertex, over edge weights", .result = "distance",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_NEEDED, .value = PROGRAM_WIDE ? TD_VALUE_U64 : TD_VALUE_U32,
    .rule = TD_RULE_DISTANCES, .needs_source = true, .non_negative = true, .saturates = !PROGRAM_WIDE,
    .gives_parents = true, .order_free = true, .renumbers = true, .real_follows_weights = true, .wide = PROGRAM_WIDE,
    .precision_choice = 1, .parameters = program_parameters,
    .edges = "Edges lead from source to target. Loops change nothing; of parallel edges the lightest "
             "counts.",
};
