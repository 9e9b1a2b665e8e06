/* The way whose heaviest edge is lightest: for every vertex, the least weight w
 * such that some way from the source uses no edge heavier than w (the highest
 * pass one has to cross, the least clearance under a chain of bridges).
 *
 * Values are ordered 32-bit words, as in sssp.h: the number itself for integer
 * weights (up to 2^32-2), the bits of a non-negative float for real ones. */
#include "kernels/program.h"

typedef uint32_t program_value;   /* what a vertex keeps */
typedef uint32_t program_message; /* what its neighbours read of it */
typedef uint32_t program_accum;   /* what contributions add up to */

#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 1                       /* program_gather looks at the weight */
#define PROGRAM_SUM TD_SUM_MIN                   /* program_sum takes the smaller one */
#define PROGRAM_VIEW TD_VIEW_FORWARD             /* edges are one-way */
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 1                          /* apply may be done piece by piece, in any order */
#define PROGRAM_FIRST_HIT 0                      /* a later neighbour may be better than the first */
#define PROGRAM_SENDS_VALUE 1                    /* the message is the value */
#define PROGRAM_MEASURE TD_MEASURE_NONE          /* it ends when nothing changes */

TD_INLINE uint32_t bottleneck_unreached(const td_context *c)
{
    return c->real_weights ? UINT32_C(0x7f800000) /* infinity */ : TD_UNREACHED;
}

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)degree;
    return v == c->source ? 0 : bottleneck_unreached(c);
}

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value value)
{
    (void)value;
    return v == c->source;
}

TD_INLINE program_message program_send(const td_context *c, program_value value, uint32_t degree)
{
    (void)c, (void)degree;
    return value;
}

TD_INLINE program_accum program_zero(const td_context *c) { return bottleneck_unreached(c); }

TD_INLINE program_accum program_gather(const td_context *c, program_message value, uint32_t weight)
{
    (void)c;
    return value > weight ? value : weight;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message value, double weight)
{
    return program_gather(c, value, td_float_to_bits((float)weight));
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a < b ? a : b; }

TD_INLINE program_value program_apply(const td_context *c, uint32_t v, program_value old, program_accum best)
{
    (void)c, (void)v;
    return best < old ? best : old;
}

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh < old;
}

static const td_program_info program_info = {
    .name = "bottleneck", .summary = "the lightest heaviest edge on a way from --source", .result = "weight",
    .kind = TD_KIND_GAS, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_U32,
    .needs_source = true, .non_negative = true, .order_free = true, .real_follows_weights = true,
};
