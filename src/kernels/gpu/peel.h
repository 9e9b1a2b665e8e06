/* Peeling: divides the remaining vertices. A vertex at this level is removed (into the first queue), one above it
 * remains. */
TD_KERNEL(peel, td_peel_args)
{
    const td_context c = a.state.context;
    const program_value *values = (const program_value *)a.state.values;
    td_gpu_slot *slot = &a.state.control->slot[a.state.control->at];
    uint64_t lowest = UINT64_MAX, edges = 0;
    uint32_t turns = (a.count + td_global_threads() - 1) / td_global_threads();
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t i = turn * td_global_threads() + td_global_thread(), v = i < a.count ? a.left[i] : 0;
        bool is = i < a.count, starts = is && program_starts(&c, v, values[v]),
             goes = starts && values[v] == c.phase;
        if (is && !starts && values[v] < lowest) lowest = values[v];
        if (goes) edges += degree_in(a.state.push_offsets, v);
        warp_append(a.next_left, &a.state.control->left_count, is && !starts, v);
        warp_append(a.queue, &slot->count, goes, v);
    }
    block_add_u64(&slot->edges, edges);
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint64_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, lowest, by);
        lowest = other < lowest ? other : lowest;
    }
    if (td_lane() == 0) TD_MIN(&a.state.control->tally.lowest, lowest);
}

/* Before the first level all vertices remain. */
TD_KERNEL(fill_left, td_peel_args)
{
    for (uint32_t i = td_global_thread(); i < a.count; i += td_global_threads()) a.left[i] = a.first_vertex + i;
}

/* Edges begin .. end - 1 of a sorted list that do not lead to v. */
TD_DEVICE uint64_t edges_to_others(const uint32_t *targets, uint64_t begin, uint64_t end, uint32_t v)
{
    uint64_t low = begin, high = end, loops = 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (TD_READ_ONLY(&targets[middle]) < v) low = middle + 1;
        else high = middle;
    }
    while (low + loops < end && TD_READ_ONLY(&targets[low + loops]) == v) loops++;
    return end - begin - loops;
}

TD_KERNEL(count_neighbours, td_neighbours_args)
{
    for (uint32_t v = td_global_thread(); v < a.vertices; v += td_global_threads()) {
        uint64_t begin = a.list.offsets[v], end = a.list.offsets[v + 1];
        uint64_t second = a.second != 0 ? end - (a.second[v + 1] - a.second[v]) : end;
        a.counts[v] = (double)(edges_to_others(a.list.targets, begin, second, v) +
                               edges_to_others(a.list.targets, second, end, v));
    }
}
