/* Sums and appends by many threads at once. All threads of the warp or block named must call. */

#define DEFINE_WARP_SUM(type, name)                                                               \
    TD_DEVICE type name(type value)                                                               \
    {                                                                                             \
        for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) value += TD_SHUFFLE_XOR(TD_ALL_LANES, value, by); \
        return value;                                                                             \
    }
DEFINE_WARP_SUM(uint64_t, warp_sum_u64)
DEFINE_WARP_SUM(double, warp_sum_double)
#ifndef TD_WARP_SUM
DEFINE_WARP_SUM(uint32_t, warp_sum_u32)
#define TD_WARP_SUM(value) warp_sum_u32(value)
#endif

TD_DEVICE double warp_max_double(double value)
{
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2)
        value = td_larger_change(value, TD_SHUFFLE_XOR(TD_ALL_LANES, value, by));
    return value;
}

/* The sum of the lanes below this one; *total: the sum of all lanes. */
TD_DEVICE uint32_t warp_scan(uint32_t value, uint32_t *total)
{
    uint32_t sum = value;
    for (uint32_t by = 1; by < TD_WARP; by *= 2) {
        uint32_t below = TD_SHUFFLE_UP(TD_ALL_LANES, sum, by);
        if (td_lane() >= by) sum += below;
    }
    *total = TD_SHUFFLE(TD_ALL_LANES, sum, TD_WARP - 1);
    return sum - value;
}

/* Appends with one atomic per warp. */
TD_DEVICE void warp_append(uint32_t *list, uint32_t *count, bool wanted, uint32_t value)
{
    uint32_t lanes = TD_BALLOT(TD_ALL_LANES, wanted);
    if (lanes == 0) return;
    uint32_t first = TD_LOWEST_BIT(lanes), at = 0;
    if (td_lane() == first) at = TD_ADD(count, TD_POPCOUNT(lanes));
    at = TD_SHUFFLE(TD_ALL_LANES, at, first);
    if (wanted) list[at + TD_POPCOUNT(lanes & td_lanes_below())] = value;
}

TD_DEVICE void warp_add_u64(uint64_t *word, uint64_t value)
{
    value = warp_sum_u64(value);
    if (td_lane() == 0 && value != 0) TD_ADD(word, value);
}

/* Adds with one atomic per block: atomics of many warps on one word cost more than the block's barrier. */
TD_DEVICE void block_add_u64(uint64_t *word, uint64_t value)
{
    TD_SHARED(uint64_t, sum, 1);
    if (td_thread() == 0) TD_STORE(&sum[0], (uint64_t)0);
    TD_BARRIER();
    warp_add_u64(sum, value);
    TD_BARRIER();
    if (td_thread() == 0 && TD_LOAD(&sum[0]) != 0) TD_ADD(word, TD_LOAD(&sum[0]));
    TD_BARRIER();
}

TD_DEVICE void block_add_double(double *word, double value)
{
    TD_SHARED(double, sum, 1);
    if (td_thread() == 0) TD_POKE(&sum[0], 0.0);
    TD_BARRIER();
    value = warp_sum_double(value);
    if (td_lane() == 0 && value != 0) TD_ADD(&sum[0], value);
    TD_BARRIER();
    if (td_thread() == 0) TD_ADD(word, TD_PEEK(&sum[0]));
    TD_BARRIER();
}

TD_DEVICE void warp_add_u32(uint64_t *word, uint32_t value)
{
    value = TD_WARP_SUM(value);
    if (td_lane() == 0 && value != 0) TD_ADD(word, (uint64_t)value);
}

TD_DEVICE bool bit_of(const uint32_t *words, uint32_t v) { return words[v / 32] >> (v & 31u) & 1u; }

/* Non-negative doubles compare like their bits; NaN is above all. */
TD_DEVICE void raise_double(double *word, double value)
{
    union { double real; uint64_t bits; } both;
    both.real = value;
    TD_MAX((uint64_t *)word, both.bits);
}

TD_DEVICE void block_raise_double(double *word, double value)
{
    TD_SHARED(double, most, 1);
    if (td_thread() == 0) TD_POKE(&most[0], 0.0);
    TD_BARRIER();
    value = warp_max_double(value);
    if (td_lane() == 0) raise_double(&most[0], value);
    TD_BARRIER();
    if (td_thread() == 0) raise_double(word, TD_PEEK(&most[0]));
    TD_BARRIER();
}
