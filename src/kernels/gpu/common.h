/* Shared by all GPU kernels of a program: its context, values under concurrent access, weights, and the
 * kernel that initialises every vertex. */

TD_DEVICE td_context kernel_context(const td_gpu_state *state)
{
    td_context context = state->context;
#if PROGRAM_BEGINS
    program_begin(&context);
#endif
    return context;
}

TD_DEVICE uint32_t degree_in(const uint64_t *offsets, uint32_t v) { return (uint32_t)(offsets[v + 1] - offsets[v]); }

/* The fragment of a vertex, and whether this GPU owns it. */
TD_DEVICE uint32_t fragment_of(const td_gpu_fragments *fragments, uint32_t v)
{
    uint32_t k = 0;
    while (v >= fragments->first[k + 1]) k++;
    return k;
}

TD_DEVICE bool is_owned(const td_gpu_fragments *fragments, uint32_t v)
{
    return fragments == 0 || (fragments->owned >> fragment_of(fragments, v) & 1u) != 0;
}

/* The part of a vertex's list that a launch processes. */
typedef struct list_part {
    uint64_t begin, end;
} list_part;

TD_DEVICE list_part part_of(const td_gpu_part *launch, const uint64_t *offsets, uint32_t v)
{
    list_part part = {offsets[v], offsets[v + 1]};
    uint64_t split = part.begin;
    if (launch->skip != 0) part.begin += launch->skip[v + 1] - launch->skip[v];
    if (launch->light != 0) {
        split += launch->light[v + 1] - launch->light[v];
        if (split < part.begin) split = part.begin;
        if (launch->heavy_edges) part.begin = split;
        else part.end = split;
    }
    if (part.begin < launch->first_edge) part.begin = launch->first_edge;
    if (part.end > launch->end_edge) part.end = launch->end_edge;
    if (part.end < part.begin) part.end = part.begin;
    return part;
}

/* Bytes that cross the link when these edges are read: memory is transferred in sectors. */
TD_DEVICE uint64_t sector_bytes(const td_gpu_part *launch, list_part part)
{
    const uint64_t sector = 32;
    uint64_t begin = part.begin * sizeof(uint32_t) / sector, end = (part.end * sizeof(uint32_t) + sector - 1) / sector;
    uint64_t weight = launch->weight_bytes, first = part.begin * weight / sector,
             last = (part.end * weight + sector - 1) / sector;
    return part.begin == part.end || !launch->from_host ? 0 : (end - begin + last - first) * sector;
}

/* A word of a bitmap, restricted to the vertices of the launch. */
TD_DEVICE uint32_t word_within(const td_gpu_part *launch, const uint32_t *map, uint32_t w)
{
    uint32_t word = TD_LOAD(&map[w]);
    if (w == launch->first_vertex / 32) word &= ~0u << (launch->first_vertex & 31u);
    if (w == launch->end_vertex / 32) word &= (1u << (launch->end_vertex & 31u)) - 1;
    return word;
}

#if PROGRAM_GAS
TD_DEVICE program_accum contribution_by(uint32_t weight_kind, const td_context *c, program_message message,
                                        const void *weights, uint64_t e)
{
    (void)weight_kind, (void)weights, (void)e;
#if PROGRAM_WEIGHTED
    switch (weight_kind) {
    case TD_WEIGHT_U8: return program_gather(c, message, TD_READ_ONLY((const uint8_t *)weights + e));
    case TD_WEIGHT_U16: return program_gather(c, message, TD_READ_ONLY((const uint16_t *)weights + e));
    case TD_WEIGHT_U32: return program_gather(c, message, TD_READ_ONLY((const uint32_t *)weights + e));
    case TD_WEIGHT_F32: return program_gather_real(c, message, (double)TD_READ_ONLY((const float *)weights + e));
    case TD_WEIGHT_F64: return program_gather_real(c, message, TD_READ_ONLY((const double *)weights + e));
    default: break;
    }
#endif
    return program_gather(c, message, 1);
}

TD_DEVICE program_accum contribution(const td_gpu_state *state, const td_context *c, program_message message,
                                     const void *weights, uint64_t e)
{
    return contribution_by(state->weights, c, message, weights, e);
}

/* The target of an edge, and below its contribution, from a target word that may be a packed edge word. */
TD_DEVICE uint32_t end_of(const td_gpu_state *state, uint32_t word)
{
    (void)state;
    return PROGRAM_WEIGHTED ? word << state->weight_bits >> state->weight_bits : word;
}

TD_DEVICE program_accum contribution_of(const td_gpu_state *state, const td_context *c, program_message message,
                                        const void *weights, uint64_t e, uint32_t word)
{
    if (PROGRAM_WEIGHTED && state->weight_bits > 0)
        return program_gather(c, message, word >> (32 - state->weight_bits));
    return contribution(state, c, message, weights, e);
}

/* The message of a neighbour, which fused programs and asynchronous runs change concurrently. */
TD_DEVICE program_message message_of(const td_gpu_state *state, uint32_t u)
{
    const program_message *messages = (const program_message *)state->messages;
    if (PROGRAM_FUSED || state->async) return TD_PEEK(&messages[u]);
    return TD_READ_ONLY(&messages[u]);
}
#else
/* Weights in the order of unsigned numbers. */
TD_DEVICE uint32_t ordered_weight(const td_gpu_state *state, const void *weights, uint64_t e)
{
    (void)weights, (void)e;
    switch (state->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)weights)[e];
    case TD_WEIGHT_U16: return ((const uint16_t *)weights)[e];
    case TD_WEIGHT_U32: return ((const uint32_t *)weights)[e];
    case TD_WEIGHT_F32: return td_ordered_bits(((const float *)weights)[e]);
    default: return 1;
    }
}
#endif

/* The lane whose list holds edge i of the concatenated lists: the last lane whose list begins at or before i. */
TD_DEVICE uint32_t owner_of(uint32_t before, uint32_t i)
{
    uint32_t owner = 0;
    TD_UNROLL
    for (uint32_t step = TD_WARP / 2; step > 0; step /= 2) {
        uint32_t begin = TD_SHUFFLE(TD_ALL_LANES, before, owner + step);
        if (begin <= i) owner += step;
    }
    return owner;
}

/* Cuts a high-degree vertex into pieces of `piece` edges for all blocks or warps. */
TD_DEVICE void cut_vertex(uint64_t *pieces, uint32_t *piece_count, uint32_t u, uint32_t degree, uint32_t piece)
{
    uint32_t count = (degree + piece - 1) / piece, at = TD_ADD(piece_count, count);
    for (uint32_t i = 0; i < count; i++) pieces[at + i] = (uint64_t)u << 32 | i;
}

/* Adds the sums of the block's threads to the tally. All threads call. */
TD_DEVICE void add_tally(const td_gpu_state *state, uint64_t edges, uint64_t activated, uint64_t activated_edges)
{
    td_gpu_tally *tally = &state->control->tally;
    block_add_u64(&tally->edges, edges);
    block_add_u64(&tally->activated, activated);
    block_add_u64(&tally->activated_edges, activated_edges);
}

TD_DEVICE void add_share(const td_gpu_state *state, double share)
{
    if (PROGRAM_SHARES) block_add_double(&state->control->tally.share, share);
}

/* Initialises every vertex, unless a checkpoint gave its value; a warp builds one word of the bitmap of active
 * vertices. In a resumed first-hit program also counts the vertices without a value and their edges. */
TD_KERNEL(init, td_init_args)
{
    const td_context c = a.state.context;
    program_value *values = (program_value *)a.state.values;
    uint64_t activated = 0, activated_edges = 0, open = 0, open_edges = 0;
    double share = 0;
    uint32_t words = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool starts = false;
        if (v < a.end_vertex) {
            uint32_t degree = degree_in(a.state.out_offsets, v);
            program_value value = a.resumed ? values[v] : program_init(&c, v, degree);
            values[v] = value;
#if PROGRAM_GAS
            if (!PROGRAM_SENDS_VALUE) ((program_message *)a.state.messages)[v] = program_send(&c, value, degree);
#if PROGRAM_SHARES
            share += program_share(&c, v, value, degree);
#endif
            starts = a.resumed ? a.state.active[w] >> td_lane() & 1u : program_starts(&c, v, value);
            activated += starts;
            if (starts) activated_edges += degree_in(a.state.push_offsets, v);
#if PROGRAM_FIRST_HIT
            if (a.resumed && !starts && value == program_zero(&c)) {
                open++;
                open_edges += degree_in(a.state.push_offsets, v);
            }
#endif
#endif
        }
        uint32_t word = TD_BALLOT(TD_ALL_LANES, starts);
        if (td_lane() == 0 && a.state.active != 0) a.state.active[w] = word;
    }
    add_tally(&a.state, open_edges, activated, activated_edges);
    if (a.resumed) block_add_u64(&a.state.control->tally.total, open);
    add_share(&a.state, share);
}

#if PROGRAM_GAS && PROGRAM_FUSED
/* Appends the bitmap's vertices to the first queue. */
TD_KERNEL(list_words, td_queue_args)
{
    td_gpu_slot *slot = &a.state.control->slot[a.state.control->at];
    uint32_t words = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane(), word = a.state.active[w];
        warp_append(a.queue, &slot->count, word >> td_lane() & 1u, v);
    }
}

/* Sets the bits of the first queue's vertices in the bitmap, which must be clear. */
TD_KERNEL(map_queue, td_queue_args)
{
    for (uint32_t i = td_global_thread(); i < a.count; i += td_global_threads()) {
        uint32_t v = a.queue[i];
        TD_OR(&a.state.active[v / 32], 1u << (v & 31u));
    }
}
#endif
