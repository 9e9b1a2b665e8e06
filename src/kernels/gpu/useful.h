/* Counts the useful edges (Scaph: UD) of every subgraph. Consecutive lists mostly share a subgraph, which takes one
 * atomic per warp. */
TD_KERNEL(useful, td_useful_args)
{
    uint32_t words = (a.state.vertices + 31) / 32;
    uint64_t vertices = 0, edges = 0;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane(), word = a.state.active[w];
        if (word == 0) continue;
        list_part part = {0, 0};
        if (word >> td_lane() & 1u) part = part_of(&a.part, a.offsets, v);
        bool is = part.begin < part.end;
        uint64_t first = part.begin >> a.shift, last = is ? (part.end - 1) >> a.shift : first;
        uint32_t lanes = TD_BALLOT(TD_ALL_LANES, is);
        if (lanes == 0) continue;
        uint64_t common = TD_SHUFFLE(TD_ALL_LANES, first, TD_LOWEST_BIT(lanes));
        bool alike = !is || (first == common && last == common);
        if (TD_BALLOT(TD_ALL_LANES, !alike) == 0) {
            warp_add_u64(&a.useful[common], part.end - part.begin);
        } else if (is) {
            for (uint64_t s = first; s <= last; s++) {
                uint64_t begin = s << a.shift, end = begin + ((uint64_t)1 << a.shift);
                TD_ADD(&a.useful[s], (end < part.end ? end : part.end) - (begin > part.begin ? begin : part.begin));
            }
        }
        vertices += is;
        edges += part.end - part.begin;
    }
    add_tally(&a.state, edges, vertices, 0);
}
