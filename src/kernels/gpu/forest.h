/* The edges of a forest in ascending order, each with what its list says about it. They are different numbers: marks in a
 * bitmap order them, which has a bit for every edge of a window; the next window takes its place. Every step is a kernel,
 * and a warp counts and lists a piece of the bitmap. */

TD_DEVICE uint64_t marked_words(const td_forest_args *a) { return (a->end_edge - a->first_edge + 31) / 32; }

TD_DEVICE uint64_t marked_pieces(const td_forest_args *a)
{
    return (marked_words(a) + TD_GPU_MARKS - 1) / TD_GPU_MARKS;
}

TD_DEVICE uint64_t piece_end(const td_forest_args *a, uint64_t piece)
{
    uint64_t end = (piece + 1) * TD_GPU_MARKS, words = marked_words(a);
    return end < words ? end : words;
}

TD_KERNEL(mark_forest, td_forest_args)
{
    for (uint32_t i = td_global_thread(); i < a.count; i += td_global_threads()) {
        uint64_t e = a.edges[i], bit = e - a.first_edge;
        if (e >= a.first_edge && e < a.end_edge) TD_OR(&a.marks[bit / 32], 1u << (bit & 31u));
    }
}

TD_KERNEL(count_forest, td_forest_args)
{
    uint64_t pieces = marked_pieces(&a);
    for (uint64_t p = td_global_thread() / TD_WARP; p < pieces; p += td_global_threads() / TD_WARP) {
        uint64_t end = piece_end(&a, p);
        uint32_t count = 0;
        for (uint64_t w = p * TD_GPU_MARKS + td_lane(); w < end; w += TD_WARP) count += TD_POPCOUNT(a.marks[w]);
        count = TD_WARP_SUM(count);
        if (td_lane() == 0) a.before[p] = count;
    }
}

/* Counts become places, by one warp; tally.total has the edges of earlier windows. */
TD_KERNEL(place_forest, td_forest_args)
{
    uint64_t pieces = marked_pieces(&a), *total = &a.state.control->tally.total;
    if (td_global_thread() >= TD_WARP) return;
    uint32_t at = (uint32_t)*total;
    TD_WARP_BARRIER(TD_ALL_LANES);
    for (uint64_t base = 0; base < pieces; base += TD_WARP) {
        uint64_t p = base + td_lane();
        uint32_t sum, before = warp_scan(p < pieces ? a.before[p] : 0, &sum);
        if (p < pieces) a.before[p] = at + before;
        at += sum;
    }
    if (td_lane() == 0) *total = at;
}

/* The last vertex of low .. high whose list begins at the edge or before it. */
TD_DEVICE uint32_t source_within(const uint64_t *offsets, uint64_t e, uint32_t low, uint32_t high)
{
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (TD_READ_ONLY(&offsets[middle]) <= e) low = middle;
        else high = middle - 1;
    }
    return low;
}

TD_DEVICE uint32_t weight_bits_of(const td_gpu_state *state, const void *weights, uint64_t e)
{
    switch (state->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)weights)[e];
    case TD_WEIGHT_U16: return ((const uint16_t *)weights)[e];
    case TD_WEIGHT_U32:
    case TD_WEIGHT_F32: return ((const uint32_t *)weights)[e];
    default: return 0;
    }
}

TD_KERNEL(list_forest, td_forest_args)
{
    uint64_t pieces = marked_pieces(&a);
    const uint64_t *offsets = a.list.offsets;
    for (uint64_t p = td_global_thread() / TD_WARP; p < pieces; p += td_global_threads() / TD_WARP) {
        uint64_t end = piece_end(&a, p), begin = p * TD_GPU_MARKS;
        uint32_t first = source_within(offsets, a.first_edge + begin * 32, 0, a.state.vertices - 1);
        uint32_t last = source_within(offsets, a.first_edge + end * 32, first, a.state.vertices - 1);
        uint32_t at = a.before[p], total;
        for (uint64_t base = begin; base < end; base += TD_WARP) {
            uint64_t w = base + td_lane();
            uint32_t word = w < end ? a.marks[w] : 0, place = at + warp_scan(TD_POPCOUNT(word), &total);
            for (; word != 0; word &= word - 1, place++) {
                uint64_t e = a.first_edge + w * 32 + TD_LOWEST_BIT(word);
                uint32_t u = source_within(offsets, e, first, last);
                td_gpu_listed_edge edge = {u, TD_READ_ONLY(&a.list.targets[e]),
                                           weight_bits_of(&a.state, a.list.weights, e), (uint32_t)(e - offsets[u])};
                a.listed[place] = edge;
            }
            at += total;
        }
    }
}
