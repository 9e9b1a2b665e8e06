/* Accumulating programs with active vertices. The sums persist between iterations; `pushed` is the part of a vertex's
 * message that they contain. A vertex whose message differs is active: it pushes the difference along its list, which
 * is all that a gather along the lists of its neighbours would change. With nothing pushed before, the difference is
 * the whole message; the first iteration, and the first after a checkpoint, need nothing else. */

/* The difference that v is to push becomes its message; false if there is none. A float's difference is rounded:
 * `pushed`, a double, has what was pushed, and a remainder below the message's last bit is not pushed. */
TD_DEVICE bool take_difference(const td_differences_args *a, uint32_t v, program_message message)
{
    double before = a->pushed[v];
    if ((program_message)before == message) return false;
    program_message difference = (program_message)((double)message - before);
    ((program_message *)a->state.messages)[v] = difference;
    a->pushed[v] = sizeof message == sizeof before ? (double)message : before + (double)difference;
    return degree_in(a->state.push_offsets, v) > 0;
}

/* Computes the vertex's value from its sum. */
TD_DEVICE bool settle_vertex(const td_differences_args *a, const td_context *c, uint32_t v, pull_sums *sums)
{
    program_value *values = (program_value *)a->state.values, old = values[v], fresh = old;
    uint32_t degree = degree_in(a->state.out_offsets, v);
    if (!a->first) {
        fresh = program_apply(c, v, old, ((const program_accum *)a->sums)[v]);
        values[v] = fresh;
        measure_change(c, v, fresh, old, degree, sums);
    }
    return take_difference(a, v, program_send(c, fresh, degree));
}

/* Between two pushes. `within` an iteration only vertices whose whole lists are in the part are settled: the next
 * launch over the part pushes their differences. */
TD_KERNEL(settle_differences, td_differences_args)
{
    const td_context c = kernel_context(&a.state);
    pull_sums sums = {0, 0, 0, 0};
    uint32_t words = (a.part.end_vertex + 31) / 32;
    const uint64_t *offsets = a.state.push_offsets;
    for (uint32_t w = a.part.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool is = v >= a.part.first_vertex && v < a.part.end_vertex;
        if (is && a.within)
            is = offsets[v] < offsets[v + 1] && offsets[v] >= a.part.first_edge && offsets[v + 1] <= a.part.end_edge;
        bool active = is && settle_vertex(&a, &c, v, &sums);
        if (active) sums.activated++, sums.activated_edges += degree_in(offsets, v);
        uint32_t word = TD_BALLOT(TD_ALL_LANES, active);
        if (td_lane() != 0) continue;
        if (!a.within) a.map[w] = word;
        else if (word != 0) TD_OR(&a.map[w], word);
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    add_tally(&a.state, 0, sums.activated, sums.activated_edges);
    add_sums(&a.state, &sums);
}
