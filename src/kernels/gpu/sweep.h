/* Sweeps: a program's visit of every edge, and its work on every vertex in between. */

/* Edges `begin` .. of a vertex, by all lanes of a warp. */
TD_DEVICE void visit(const td_gpu_args *a, uint32_t u, uint64_t e)
{
    uint32_t v = TD_READ_ONLY(&a->push.targets[e]);
    if (PROGRAM_ONCE && a->symmetric && v <= u) return;
    program_visit(&a->context, (program_value *)a->values, u, v, ordered_weight(a, a->push.weights, e), e);
}

/* What is left of a vertex's list: nothing of those that may be skipped. */
TD_DEVICE uint64_t visit_begin(const td_gpu_args *a, uint32_t u)
{
    uint64_t begin = a->push.offsets[u], end = a->push.offsets[u + 1];
#if PROGRAM_SAMPLES
    if (a->skipping && program_label((const program_value *)a->values, u) == a->left_out) return end;
#endif
    return a->skipping && begin + a->samples < end ? begin + a->samples : a->skipping ? end : begin;
}

/* 32 vertices a warp, their edges shared out by a scan of the degrees; heavy vertices are cut into pieces. */
TD_KERNEL(sweep, td_gpu_args)
{
    uint64_t edges = 0;
    uint32_t words = (a.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t u = w * 32 + td_lane();
        uint64_t begin = u < a.vertices ? visit_begin(&a, u) : 0;
        uint32_t degree = u < a.vertices ? (uint32_t)(a.push.offsets[u + 1] - begin) : 0;
        edges += degree;
        if (degree >= a.heavy) {
            cut_heavy(a.pieces, &a.control->slot[0].pieces, u, degree);
            degree = 0;
        }
        uint32_t total, before = warp_scan(degree, &total);
        for (uint32_t base = 0; base < total; base += TD_WARP) {
            uint32_t i = base + td_lane(), owner = owner_of(before, i);
            uint64_t theirs = TD_SHUFFLE(TD_ALL_LANES, begin, owner);
            uint32_t place = i - TD_SHUFFLE(TD_ALL_LANES, before, owner);
            if (i < total) visit(&a, w * 32 + owner, theirs + place);
        }
    }
    block_add_u64(&a.control->tally.edges, edges);
}

TD_KERNEL(sweep_pieces, td_gpu_args)
{
    uint32_t count = a.control->slot[0].pieces;
    for (uint32_t p = td_block(); p < count; p += td_blocks()) {
        uint32_t u = (uint32_t)(a.pieces[p] >> 32);
        uint64_t begin = a.push.offsets[u] + (a.skipping ? a.samples : 0) + (a.pieces[p] & 0xffffffffu) * TD_GPU_PIECE;
        uint64_t end = a.push.offsets[u + 1];
        if (end > begin + TD_GPU_PIECE) end = begin + TD_GPU_PIECE;
        for (uint64_t e = begin + td_thread(); e < end; e += td_threads()) visit(&a, u, e);
    }
}

/* The `step`th edge of the vertices of a share: every 16th, or all others. Once some are linked, most of the rest find
 * themselves in the same component and do nothing; all at once they would crowd around a few roots. */
TD_KERNEL(sample, td_gpu_args)
{
    uint64_t edges = 0;
    for (uint32_t u = td_global_thread(); u < a.vertices; u += td_global_threads()) {
        uint64_t e = a.push.offsets[u] + a.step;
        bool early = u / TD_WARP % TD_GPU_SHARE == 0;
        if (early != (a.share == 0) || e >= a.push.offsets[u + 1]) continue;
        visit(&a, u, e);
        edges++;
    }
    block_add_u64(&a.control->tally.edges, edges);
}

TD_KERNEL(between, td_gpu_args)
{
    uint64_t total = 0;
    for (uint32_t v = td_global_thread(); v < a.vertices; v += td_global_threads())
        total += program_between(&a.context, (program_value *)a.values, v, (int)a.step);
    block_add_u64(&a.control->tally.total, total);
}

/* Labels of vertices drawn at random, the same ones for every device. */
TD_KERNEL(draw, td_gpu_args)
{
    for (uint32_t i = td_global_thread(); i < TD_GPU_DRAWN; i += td_global_threads())
        a.drawn[i] = program_label((const program_value *)a.values, a.drawn[i]);
}

TD_KERNEL(label_all, td_gpu_args)
{
    for (uint32_t v = td_global_thread(); v < a.vertices; v += td_global_threads())
        a.labels[v] = program_label((const program_value *)a.values, v);
}

#if PROGRAM_COLLECTS_EDGES
/* The edges that this round adds to the forest; then vertices are made ready for the next. */
TD_KERNEL(collect, td_gpu_args)
{
    program_value *values = (program_value *)a.values;
    for (uint32_t v = td_global_thread(); v < a.vertices; v += td_global_threads()) {
        uint64_t edge = program_edge(&values[v]);
        if (edge != UINT64_MAX) a.edges[TD_ADD(&a.control->edge_count, 1u)] = edge;
        program_reset(&a.context, &values[v]);
    }
}
#endif
