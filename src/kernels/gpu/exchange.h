/* Exchange with the CPU (engine/coop/coop.h): frontiers and sums come from the host, changed vertices go there. */

#if !PROGRAM_FUSED
/* Adds the sums along the second part of the lists, and the host's, to those along the first part. */
TD_KERNEL(merge_sums, td_merge_args)
{
    const td_context c = kernel_context(&a.state);
    program_accum *sums = (program_accum *)a.sums, *rest = (program_accum *)a.rest_sums;
    const program_accum *host = (const program_accum *)a.host_sums;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        program_accum sum = program_sum(sums[v], rest[v]);
        if (v >= a.host_first && v - a.host_first < a.host_count) sum = program_sum(sum, host[v - a.host_first]);
        sums[v] = sum;
        rest[v] = program_zero(&c);
    }
}
#elif PROGRAM_SUM == TD_SUM_MIN
/* Takes the frontier that the host sends: vertices in ascending order, and their values. */
TD_KERNEL(take_frontier, td_exchange_args)
{
    program_value *values = (program_value *)a.state.values;
    const program_value *sent = (const program_value *)a.values;
    for (uint32_t i = td_global_thread(); i < a.count; i += td_global_threads()) {
        uint32_t v = a.vertices[i];
        values[v] = sent[i];
        TD_OR(&a.state.active[v / 32], 1u << (v & 31u));
    }
}

/* Lists the vertices that changed, with their values, for the host, and clears the bitmaps. */
TD_KERNEL(list_changed, td_exchange_args)
{
    const program_value *values = (const program_value *)a.state.values;
    program_value *out = (program_value *)a.values;
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t word = a.state.next_active[w], v = w * 32 + td_lane(), at = 0;
        if (word != 0) {
            if (td_lane() == 0) at = TD_ADD(&a.state.control->given, TD_POPCOUNT(word));
            at = TD_SHUFFLE(TD_ALL_LANES, at, 0) + TD_POPCOUNT(word & td_lanes_below());
            if (word >> td_lane() & 1u) {
                a.vertices[at] = v;
                out[at] = values[v];
            }
        }
        TD_WARP_BARRIER(TD_ALL_LANES);
        if (td_lane() == 0) a.state.next_active[w] = a.state.active[w] = 0;
    }
}
#endif
