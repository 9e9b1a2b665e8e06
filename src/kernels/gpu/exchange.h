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

/* Pushes of a queue in batches of a block's threads, which share the lists out by degree (expand.h). push_part divides
 * the same work evenly among the lanes of every warp. */
TD_KERNEL(push_queue, td_push_queue_args)
{
    const td_context c = kernel_context(&a.part.push.state);
    push_round r = stream_round(&a.part.push, a.part.bound, 0);
    uint64_t pushed = 0, read = 0;
    for (uint64_t base = (uint64_t)td_block() * TD_GPU_THREADS; base < a.count;
         base += (uint64_t)td_blocks() * TD_GPU_THREADS) {
        uint64_t i = base + td_thread();
        push_task task = stream_task(&a.part, &r, i < a.count ? a.queue[i] : 0, i < a.count, &read);
        if (a.balance == TD_BALANCE_THREAD) expand_lanes(&a.part.push, &c, &r, &task);
        else expand_block(&a.part.push, &c, &r, task, a.balance == TD_BALANCE_IWB);
        pushed += r.taken_edges;
        r.taken_edges = 0;
    }
    end_push(&a.part.push.state, a.part.part.from_host, &r, pushed, read);
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
