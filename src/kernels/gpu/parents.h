/* Finds parents after the run of a TD_SUM_MIN program: the neighbour whose contribution equals the vertex's value. A
 * warp scans a list. Only neighbours with another value count; the host resolves equal ones (edges of weight zero). */
TD_KERNEL(find_parents, td_parents_args)
{
    const td_context c = a.state.context;
    const program_value *values = (const program_value *)a.state.values, none = program_zero(&c);
    for (uint32_t v = a.part.first_vertex + td_global_thread() / TD_WARP; v < a.part.end_vertex;
         v += td_global_threads() / TD_WARP) {
        program_value mine = values[v];
        uint32_t parent = program_starts(&c, v, mine) ? v : a.adding ? a.parents[v] : TD_NO_VERTEX;
        list_part part = part_of(&a.part, a.list.offsets, v);
        uint64_t end = part.end;
        TD_WARP_BARRIER(TD_ALL_LANES); /* all lanes have read a.parents[v] before lane 0 writes it */
        bool open = mine != none && parent == TD_NO_VERTEX;
        for (uint64_t base = part.begin; open && base < end; base += TD_WARP) {
            uint64_t e = base + td_lane();
            uint32_t word = e < end ? a.list.targets[e] : 0, u = e < end ? end_of(&a.state, word) : v;
            bool gave = e < end && values[u] != mine &&
                        contribution_of(&a.state, &c, message_of(&a.state, u), a.list.weights, e, word) == mine;
            uint32_t lanes = TD_BALLOT(TD_ALL_LANES, gave);
            if (lanes == 0) continue;
            parent = TD_SHUFFLE(TD_ALL_LANES, u, TD_LOWEST_BIT(lanes));
            open = false;
        }
        if (td_lane() == 0) a.parents[v] = parent;
    }
}
