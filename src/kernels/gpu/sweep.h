/* Sweeps: program_visit of every edge, and program_between on every vertex between sweeps. */

/* Visits one edge from u to v; returns whether a later sweep must visit it again. With `keeps` marks u in next_active
 * if so. */
TD_DEVICE bool visit_to(const td_gpu_state *state, bool keeps, uint32_t u, uint32_t v, uint32_t weight, uint64_t e)
{
    if (PROGRAM_ONCE && state->symmetric && v <= u) return false;
    bool again = program_visit(&state->context, (program_value *)state->values, u, v, weight, e);
    if (!keeps || !again || (TD_LOAD(&state->next_active[u / 32]) >> (u & 31u) & 1u) != 0) return again;
    TD_OR(&state->next_active[u / 32], 1u << (u & 31u));
    return again;
}

/* Visits edge e of u if `is`. All lanes call, because kept edges are appended per warp. */
TD_DEVICE void visit(const td_sweep_args *a, bool is, uint32_t u, uint64_t e)
{
    uint32_t v = is ? TD_READ_ONLY(&a->list.targets[e]) : 0;
    uint32_t weight = is ? ordered_weight(&a->state, a->list.weights, e) : 0;
    bool again = is && visit_to(&a->state, a->collects_vertices, u, v, weight, e);
    if (PROGRAM_LIGHT_FIRST && a->collects_edges) append_survivor(a, again, u, v, weight, e);
}

/* The part of a vertex's list to visit: without the sampled edges. */
TD_DEVICE list_part visit_part(const td_sweep_args *a, uint32_t u)
{
    list_part part = part_of(&a->part, a->list.offsets, u);
    uint64_t sampled = a->list.offsets[u] + (a->skipping ? a->sampled : 0);
    if (part.begin < sampled) part.begin = sampled;
    if (part.begin > part.end) part.begin = part.end;
    return part;
}

/* Whether a vertex belongs to the component that is skipped. */
TD_DEVICE bool is_left_out(const td_gpu_state *state, bool skipping, uint32_t left_out, uint32_t u)
{
#if PROGRAM_SAMPLES
    return skipping && program_label((const program_value *)state->values, u) == left_out;
#else
    (void)state, (void)skipping, (void)left_out, (void)u;
    return false;
#endif
}

TD_DEVICE bool is_visited(const td_sweep_args *a, uint32_t u)
{
    if (a->state.active != 0 && !bit_of(a->state.active, u)) return false; /* no edge left to visit */
    return !is_left_out(&a->state, a->skipping, a->left_out, u);
}

/* Long lists are visited by all lanes, four consecutive edges each: whole lines, also of host memory. */
enum { SWEEP_LANE = 4, SWEEP_BLOCK = SWEEP_LANE * TD_WARP, SWEEP_LONG = 48 };

TD_DEVICE void visit_lines(const td_sweep_args *a, uint32_t u, list_part part)
{
    for (uint64_t base = part.begin / SWEEP_BLOCK * SWEEP_BLOCK; base < part.end; base += SWEEP_BLOCK) {
        uint32_t v[SWEEP_LANE], weight[SWEEP_LANE];
        uint64_t e = base + td_lane() * SWEEP_LANE;
        TD_UNROLL
        for (uint32_t k = 0; k < SWEEP_LANE; k++) { /* issues all reads before the first use */
            bool is = e + k >= part.begin && e + k < part.end;
            v[k] = is ? TD_READ_ONLY(&a->list.targets[e + k]) : TD_NO_VERTEX;
            weight[k] = is ? ordered_weight(&a->state, a->list.weights, e + k) : 0;
        }
        TD_UNROLL
        for (uint32_t k = 0; k < SWEEP_LANE; k++) {
            bool again = v[k] != TD_NO_VERTEX && visit_to(&a->state, a->collects_vertices, u, v[k], weight[k], e + k);
            if (PROGRAM_LIGHT_FIRST && a->collects_edges) append_survivor(a, again, u, v[k], weight[k], e + k);
        }
    }
}

/* A warp visits the edges of 32 vertices. Long lists in host memory are processed one by one, all other edges are
 * distributed over the lanes by a scan of the degrees. High-degree vertices are cut into pieces. */
TD_KERNEL(sweep, td_sweep_args)
{
    uint64_t edges = 0, read = 0;
    uint32_t last = (a.part.end_vertex + 31) / 32;
    for (uint32_t w = a.part.first_vertex / 32 + td_global_thread() / TD_WARP; w < last;
         w += td_global_threads() / TD_WARP) {
        uint32_t u = w * 32 + td_lane();
        list_part part = {0, 0};
        if (u >= a.part.first_vertex && u < a.part.end_vertex && is_visited(&a, u)) part = visit_part(&a, u);
        uint64_t begin = part.begin;
        uint32_t degree = (uint32_t)(part.end - part.begin);
        edges += degree;
        read += sector_bytes(&a.part, part);
        if (degree >= a.high_degree) {
            cut_vertex(a.pieces, &a.state.control->slot[0].pieces, u, degree, TD_GPU_WARP_PIECE);
            degree = 0;
        }
        for (uint32_t lanes = a.part.from_host ? TD_BALLOT(TD_ALL_LANES, degree >= SWEEP_LONG)
             : 0; lanes != 0; lanes &= lanes - 1) {
            uint32_t lane = TD_LOWEST_BIT(lanes);
            list_part theirs = {TD_SHUFFLE(TD_ALL_LANES, part.begin, lane), TD_SHUFFLE(TD_ALL_LANES, part.end, lane)};
            visit_lines(&a, w * 32 + lane, theirs);
        }
        if (a.part.from_host && degree >= SWEEP_LONG) degree = 0;
        uint32_t total, before = warp_scan(degree, &total);
        for (uint32_t base = 0; base < total; base += TD_WARP) {
            uint32_t i = base + td_lane(), owner = owner_of(before, i);
            uint64_t theirs = TD_SHUFFLE(TD_ALL_LANES, begin, owner);
            uint32_t place = i - TD_SHUFFLE(TD_ALL_LANES, before, owner);
            visit(&a, i < total, w * 32 + owner, theirs + place);
        }
    }
    block_add_u64(&a.state.control->tally.edges, edges);
    if (!a.part.from_host) return;
    block_add_u64(&a.state.control->tally.host_bytes, read);
    block_add_u64(&a.state.control->tally.host_edges, edges);
}

TD_KERNEL(sweep_pieces, td_sweep_args)
{
    uint32_t count = a.state.control->slot[0].pieces;
    for (uint32_t p = td_global_thread() / TD_WARP; p < count; p += td_global_threads() / TD_WARP) {
        uint32_t u = (uint32_t)(a.pieces[p] >> 32);
        list_part part = visit_part(&a, u);
        uint64_t begin = part.begin + (a.pieces[p] & 0xffffffffu) * TD_GPU_WARP_PIECE;
        list_part piece = {begin, part.end > begin + TD_GPU_WARP_PIECE ? begin + TD_GPU_WARP_PIECE : part.end};
        visit_lines(&a, u, piece);
    }
}

/* The numbers of the first edges of an extract's parts (engine/stream/extract.c). */
TD_DEVICE const uint64_t *numbers_of(const td_gpu_extract *from)
{
    return (const uint64_t *)(((uintptr_t)(from->places + from->parts + 1) + 15) & ~(uintptr_t)15);
}

/* Sweeps along extracted lists. Their edges have the numbers that they have in the lists. */
TD_KERNEL(sweep_extracted, td_sweep_extracted_args)
{
    const td_sweep_args *s = &a.sweep;
    uint64_t edges = 0;
    uint32_t groups = a.extracts[a.count].groups_before;
    for (uint32_t g = td_global_thread() / TD_WARP; g < groups; g += td_global_threads() / TD_WARP) {
        uint32_t low = 0, high = a.count;
        while (low + 1 < high) { /* finds the group's extract */
            uint32_t middle = (low + high) / 2;
            if (a.extracts[middle].groups_before <= g) low = middle;
            else high = middle;
        }
        const td_gpu_extract *from = &a.extracts[low];
        uint32_t i = (g - from->groups_before) * TD_WARP + td_lane(), u = 0, begin = 0, degree = 0, total;
        uint64_t number = 0;
        if (i < from->parts) {
            u = from->vertices[i];
            begin = from->places[i];
            degree = from->places[i + 1] - begin;
            number = numbers_of(from)[i];
        }
        uint64_t sampled = s->list.offsets[u] + (s->skipping ? s->sampled : 0);
        edges += degree;
        uint32_t before = warp_scan(degree, &total);
        for (uint32_t base = 0; base < total; base += TD_WARP) {
            uint32_t k = base + td_lane(), owner = owner_of(before, k);
            uint32_t place = k - TD_SHUFFLE(TD_ALL_LANES, before, owner);
            uint32_t at = TD_SHUFFLE(TD_ALL_LANES, begin, owner) + place;
            uint64_t e = TD_SHUFFLE(TD_ALL_LANES, number, owner) + place;
            uint32_t who = TD_SHUFFLE(TD_ALL_LANES, u, owner);
            bool is = e >= TD_SHUFFLE(TD_ALL_LANES, sampled, owner) && k < total;
            if (is)
                visit_to(&s->state, s->collects_vertices, who, from->targets[at],
                         ordered_weight(&s->state, from->weights, at), e);
        }
    }
    block_add_u64(&s->state.control->tally.edges, edges);
}

/* Visits edge number `step` of the vertices of a share: every 16th warp's, or all others. After the first share most
 * other vertices are in the same component already and do nothing; all at once they would contend for a few roots. */
TD_KERNEL(sample, td_sample_args)
{
    uint64_t edges = 0;
    for (uint32_t u = a.first_vertex + td_global_thread(); u < a.end_vertex; u += td_global_threads()) {
        uint64_t e = a.list.offsets[u] + a.step;
        bool early = u / TD_WARP % TD_GPU_SHARE == 0;
        if (early != (a.share == 0) || e >= a.list.offsets[u + 1]) continue;
        visit_to(&a.state, false, u, TD_READ_ONLY(&a.list.targets[e]), ordered_weight(&a.state, a.list.weights, e), e);
        edges++;
    }
    if (a.from_host) block_add_u64(&a.state.control->tally.host_edges, edges);
    block_add_u64(&a.state.control->tally.edges, edges);
}

/* Writes the bitmap of the vertices that a sweep visits, for the count of useful edges. */
TD_KERNEL(choose, td_choose_args)
{
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t u = w * 32 + td_lane();
        bool visited = u < a.state.vertices && !is_left_out(&a.state, a.skipping, a.left_out, u);
        uint32_t word = TD_BALLOT(TD_ALL_LANES, visited);
        if (td_lane() == 0) a.chosen[w] = word;
    }
}

TD_KERNEL(between, td_between_args)
{
    uint64_t total = 0;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads())
        total += program_between(&a.state.context, (program_value *)a.state.values, v, (int)a.step);
    block_add_u64(&a.state.control->tally.total, total);
}

/* Replaces vertices drawn at random by their labels. */
TD_KERNEL(draw, td_labels_args)
{
    for (uint32_t i = td_global_thread(); i < TD_GPU_DRAWN; i += td_global_threads())
        a.labels[i] = program_label((const program_value *)a.state.values, a.labels[i]);
}

TD_KERNEL(label_all, td_labels_args)
{
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads())
        a.labels[v] = program_label((const program_value *)a.state.values, v);
}

#if PROGRAM_COLLECTS_EDGES
/* Collects the edges that this round adds to the forest, and resets the vertices for the next round. */
TD_KERNEL(collect, td_collect_args)
{
    program_value *values = (program_value *)a.state.values;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        uint64_t edge = program_edge(&a.state.context, &values[v]);
        if (edge != UINT64_MAX && a.edges != 0) a.edges[TD_ADD(a.count, 1u)] = edge;
        program_reset(&a.state.context, &values[v]);
    }
}

/* The subgraphs that contain edges of every component: step 0 clears the roots', step 1 adds every vertex's. */
TD_DEVICE void widen_span(const td_gpu_spans *spans, uint32_t root, uint32_t v)
{
    TD_MIN(&spans->first[root], spans->own_first[v]);
    TD_MAX(&spans->last[root], spans->own_last[v]);
}

TD_KERNEL(span_components, td_hook_args)
{
    const program_value *values = (const program_value *)a.state.values;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        if (a.step > 0) widen_span(&a.spans, program_label(values, v), v);
        else a.spans.first[v] = 0xffffffffu, a.spans.last[v] = 0;
    }
}

TD_DEVICE bool is_closed(const td_hook_args *a, uint32_t root)
{
    return TD_LOAD(&a->spans.first[root]) == a->subgraph && TD_LOAD(&a->spans.last[root]) == a->subgraph;
}

/* Scaph's reprocessing for forests. If all edges of a component are in a subgraph that has been swept, its best edge is
 * final: the component hooks at once, and a sweep of the subgraph finds the next best edges within the same round. All
 * its vertices have lists in the subgraph, so they are among those of the launch. Steps 0 to 2 are those of
 * program_between, the last with the edges found and the spans; step 3 forgets the best edges of components that are
 * still within the subgraph, because the next sweep offers all of theirs again. */
TD_KERNEL(hook_within, td_hook_args)
{
    program_value *values = (program_value *)a.state.values;
    uint64_t hooked = 0;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        if (a.step == 0 && is_closed(&a, v)) hooked += program_between(&a.state.context, values, v, 0);
        if (a.step == 1) program_between(&a.state.context, values, v, 1);
        if (a.step == 2) {
            uint64_t edge = program_edge(&a.state.context, &values[v]);
            program_between(&a.state.context, values, v, 2);
            widen_span(&a.spans, program_label(values, v), v);
            if (edge == UINT64_MAX) continue;
            a.edges[TD_ADD(a.count, 1u)] = edge;
            program_reset(&a.state.context, &values[v]);
        }
        if (a.step == 3 && program_label(values, v) == v && is_closed(&a, v))
            program_reset(&a.state.context, &values[v]);
    }
    if (a.step == 0) block_add_u64(&a.state.control->tally.total, hooked);
}
#endif
