/* The GPU's side of a cooperation with the CPU (engine/coop.h): what the host knows better comes in, what was found
 * here goes out. */

#if !PROGRAM_FUSED
/* The sums of the second part of the lists, and those that the host gives for its vertices, onto the first part's. */
TD_KERNEL(add_given, td_gpu_args)
{
    const td_context c = kernel_context(&a);
    program_accum *sums = (program_accum *)a.sums, *more = (program_accum *)a.more_sums;
    const program_accum *given = (const program_accum *)a.given;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        program_accum sum = program_sum(sums[v], more[v]);
        if (v >= a.given_first && v - a.given_first < a.given_count) sum = program_sum(sum, given[v - a.given_first]);
        sums[v] = sum;
        more[v] = program_zero(&c);
    }
}
#elif PROGRAM_SUM == TD_SUM_MIN
/* The frontier: vertices in ascending order, and their values. */
TD_KERNEL(take_given, td_gpu_args)
{
    program_value *values = (program_value *)a.values;
    const program_value *given = (const program_value *)a.given;
    for (uint32_t i = td_global_thread(); i < a.given_count; i += td_global_threads()) {
        uint32_t v = a.given_vertices[i];
        values[v] = given[i];
        TD_OR(&a.active[v / 32], 1u << (v & 31u));
    }
}

/* The vertices that changed, and their values; the bitmaps are clear afterwards. */
TD_KERNEL(give_changed, td_gpu_args)
{
    const program_value *values = (const program_value *)a.values;
    program_value *out = (program_value *)a.given;
    uint32_t words = (a.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t word = a.next_active[w], v = w * 32 + td_lane(), at = 0;
        if (word != 0) {
            if (td_lane() == 0) at = TD_ADD(&a.control->given, TD_POPCOUNT(word));
            at = TD_SHUFFLE(TD_ALL_LANES, at, 0) + TD_POPCOUNT(word & td_lanes_below());
            if (word >> td_lane() & 1u) {
                a.given_vertices[at] = v;
                out[at] = values[v];
            }
        }
        TD_WARP_BARRIER(TD_ALL_LANES);
        if (td_lane() == 0) a.next_active[w] = a.active[w] = 0;
    }
}
#endif
