/* The kernels of one program for one kind of weight: included once per kind by
 * instance.h, which defines
 *   KIND         none, u8, u16, u32, f32 or f64: the suffix of the kernels' names
 *   KIND_TYPE    the stored type of a weight; not defined when there are none
 *   KIND_REAL    1: weights are reals */
#define NAME_OF(x, kind) x##_##kind
#define NAME_WITH(x, kind) NAME_OF(x, kind)
#define NAME(x) NAME_WITH(x, KIND)

#if !defined(KIND_TYPE)
#define CONTRIBUTION(c, message, weights, e) program_gather(c, message, 1)
#define ORDERED_WEIGHT(weights, e) 1
#define FETCH_WEIGHT(weights, e)
#else
#if KIND_REAL
#define CONTRIBUTION(c, message, weights, e) program_gather_real(c, message, ((const KIND_TYPE *)(weights))[e])
#define ORDERED_WEIGHT(weights, e) td_ordered_bits(((const KIND_TYPE *)(weights))[e])
#else
#define CONTRIBUTION(c, message, weights, e) program_gather(c, message, ((const KIND_TYPE *)(weights))[e])
#define ORDERED_WEIGHT(weights, e) ((const KIND_TYPE *)(weights))[e]
#endif
#define FETCH_WEIGHT(weights, e) td_fetch((const KIND_TYPE *)(weights) + (e))
#endif

#if PROGRAM_GAS
#include "kernels/cpu/gas.h"
#include "kernels/cpu/coop.h"
#include "kernels/cpu/paths.h"
#else
#include "kernels/cpu/sweep.h"
#endif
#if PROGRAM_HAS_PRIORITY
#include "kernels/cpu/bucket.h"
#endif

#undef NAME_OF
#undef NAME_WITH
#undef NAME
#undef CONTRIBUTION
#undef ORDERED_WEIGHT
#undef FETCH_WEIGHT
#undef KIND
#undef KIND_TYPE
#undef KIND_REAL
