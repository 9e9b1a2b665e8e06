/* The order of the weights of parallel edges, shared by all builders. */
#ifndef TD_STORE_WEIGHT_ORDER_H
#define TD_STORE_WEIGHT_ORDER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int td_by_integer(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Minus zero sorts before zero, which makes the order unique. */
static inline int td_by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    if (x == y) return !!signbit(y) - !!signbit(x);
    return x < y ? -1 : 1;
}

/* 32-bit weights: integers, or floats when `real`. */
static inline void td_order_weights(uint32_t *weights, uint64_t count, bool real)
{
    qsort(weights, count, sizeof *weights, real ? td_by_float : td_by_integer);
}

/* A number that orders integers as the weights are ordered, and back. */
static inline uint32_t td_weight_key(uint32_t weight, bool real)
{
    return !real ? weight : weight >> 31 ? ~weight : weight | UINT32_C(1) << 31;
}

static inline uint32_t td_weight_of_key(uint32_t key, bool real)
{
    return !real ? key : key >> 31 ? key & ~(UINT32_C(1) << 31) : ~key;
}

#endif
