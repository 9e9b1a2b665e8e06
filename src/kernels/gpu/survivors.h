/* Edges that later sweeps must visit, kept on the device in one array, so that these sweeps read nothing else. A launch
 * over a part of the lists appends the part's edges. If they do not all fit, they are dropped, and later sweeps process
 * the whole part again. A sweep over the kept edges removes those that no longer matter: it processes a stretch at a
 * time, writes the remaining edges to a buffer aside and copies them back, so that no edge is overwritten before it was
 * read. */

/* Appends an edge where there is room, and counts it in any case. All lanes call. */
TD_DEVICE void append_edge(td_gpu_edge *list, uint64_t room, uint64_t *count, bool wanted, td_gpu_edge edge)
{
    uint32_t lanes = TD_BALLOT(TD_ALL_LANES, wanted);
    if (lanes == 0) return;
    uint32_t first = TD_LOWEST_BIT(lanes);
    uint64_t at = 0;
    if (td_lane() == first) at = TD_ADD(count, (uint64_t)TD_POPCOUNT(lanes));
    at = TD_SHUFFLE(TD_ALL_LANES, at, first) + TD_POPCOUNT(lanes & td_lanes_below());
    if (wanted && at < room) list[at] = edge;
}

TD_DEVICE void append_survivor(const td_sweep_args *a, bool wanted, uint32_t u, uint32_t v, uint32_t weight, uint64_t e)
{
    td_gpu_edge edge = {u, v, (uint64_t)weight << a->state.context.edge_bits | e};
    append_edge(a->survivors, a->survivor_room, &a->state.control->survivor_count, wanted, edge);
}

#if PROGRAM_LIGHT_FIRST
/* Replaces the ends of an edge by their labels: there are fewer labels, so that they stay in the cache. */
TD_KERNEL(sweep_survivors, td_survivor_args)
{
    program_value *values = (program_value *)a.state.values;
    const uint32_t bits = a.state.context.edge_bits;
    const uint64_t number = ((uint64_t)1 << bits) - 1;
    uint64_t edges = 0, warps = td_global_threads() / TD_WARP;
    for (uint64_t base = a.first + td_global_thread() / TD_WARP * TD_WARP; base < a.end;
         base += warps * TD_WARP) {
        uint64_t i = base + td_lane();
        td_gpu_edge edge = {0, 0, 0};
        bool stays = false;
        if (i < a.end) {
            edge = a.survivors[i];
            edge.u = program_label(values, edge.u);
            edge.v = program_label(values, edge.v);
            stays = program_visit(&a.state.context, values, edge.u, edge.v, (uint32_t)(edge.key >> bits),
                                  edge.key & number);
            edges++;
        }
        append_edge(a.scratch, a.end - a.first, &a.state.control->scratch_count, stays, edge);
    }
    block_add_u64(&a.state.control->tally.edges, edges);
}

TD_KERNEL(move_survivors, td_survivor_args)
{
    uint64_t count = a.state.control->scratch_count, to = a.state.control->survivor_count;
    for (uint64_t i = td_global_thread(); i < count; i += td_global_threads()) a.survivors[to + i] = a.scratch[i];
}

TD_KERNEL(close_move, td_survivor_args)
{
    td_gpu_control *control = a.state.control;
    if (td_global_thread() != 0) return;
    control->part_began = control->survivor_count += control->scratch_count;
    control->scratch_count = 0;
}

/* Ends the sweep of one part of the lists: keeps all its edges, or drops them if they do not fit. */
TD_KERNEL(close_part, td_survivor_args)
{
    td_gpu_control *control = a.state.control;
    if (td_global_thread() != 0) return;
    bool fits = control->survivor_count <= a.room;
    a.part_covered[a.part] = fits;
    if (fits) control->part_began = control->survivor_count;
    else control->survivor_count = control->part_began;
}
#endif
