/* Pull: every vertex gather-sums the messages of its neighbours, in two kernels.
 *
 * `pull` computes the sums. The concatenated lists are cut into pieces of equal length; a warp processes a piece in
 * steps of 128 edges, four consecutive ones per lane. One bit per edge marks where a list begins. Every lane adds up
 * its four edges, and a segmented scan over the lanes adds up lists that span several. The sum of a list that begins
 * and ends within the piece is stored; a list cut by the piece is added with an atomic, two per piece. `apply` then
 * computes every vertex's value and clears the sums. */

/* The counters of a thread while it applies sums. */
typedef struct pull_sums {
    uint64_t activated, activated_edges;
    double change, share;
} pull_sums;

TD_DEVICE void activate(const td_gpu_state *state, uint32_t v, pull_sums *sums)
{
    TD_OR(&state->next_active[v / 32], 1u << (v & 31u));
    sums->activated++;
    sums->activated_edges += degree_in(state->push_offsets, v);
}

TD_DEVICE void finish_fused(const td_gpu_state *state, const td_context *c, uint32_t v, program_accum sum,
                              pull_sums *sums)
{
    program_value *values = (program_value *)state->values;
    program_value old = TD_PEEK(&values[v]), fresh = program_apply(c, v, old, sum);
    bool activates = program_activates(c, fresh, old);
    if (PROGRAM_SUM == TD_SUM_ADD || activates) TD_POKE(&values[v], fresh);
    if (activates) activate(state, v, sums);
}

/* Adds the change and the share of a vertex's new value to the counters. */
TD_DEVICE void measure_change(const td_context *c, uint32_t v, program_value fresh, program_value old, uint32_t degree,
                              pull_sums *sums)
{
    (void)c, (void)v, (void)fresh, (void)old, (void)degree, (void)sums;
#if PROGRAM_MEASURE != TD_MEASURE_NONE
    double change = program_change(c, fresh, old);
    if (PROGRAM_MEASURE == TD_MEASURE_MAX)
        sums->change = td_larger_change(sums->change, change);
    else sums->change += change;
#endif
#if PROGRAM_SHARES
    sums->share += program_share(c, v, fresh, degree);
#endif
}

TD_DEVICE void finish_whole(const td_gpu_state *state, const td_context *c, uint32_t v, program_accum sum,
                              pull_sums *sums)
{
    program_value *values = (program_value *)state->values;
    program_value *next = (program_value *)(PROGRAM_SENDS_VALUE ? state->next_values : state->values);
    /* other threads write it if async */
    program_value old = TD_PEEK(&values[v]), fresh = program_apply(c, v, old, sum);
    if (state->async) TD_POKE(&next[v], fresh);
    else next[v] = fresh;
    uint32_t degree = 0;
#if !PROGRAM_SENDS_VALUE || PROGRAM_SHARES
    degree = degree_in(state->out_offsets, v);
#endif
#if !PROGRAM_SENDS_VALUE
    program_message *place = (program_message *)state->next_messages + v, message = program_send(c, fresh, degree);
    if (state->async) TD_POKE(place, message);
    else *place = message;
#endif
    measure_change(c, v, fresh, old, degree, sums);
}

TD_DEVICE void finish(const td_gpu_state *state, const td_context *c, uint32_t v, program_accum sum, pull_sums *sums)
{
    if (PROGRAM_FUSED) finish_fused(state, c, v, sum, sums);
    else finish_whole(state, c, v, sum, sums);
}

TD_DEVICE void add_sums(const td_gpu_state *state, const pull_sums *sums)
{
    if (PROGRAM_FUSED) add_tally(state, 0, sums->activated, sums->activated_edges);
    add_share(state, sums->share);
#if PROGRAM_MEASURE == TD_MEASURE_MAX
    block_raise_double(&state->control->tally.change, sums->change);
#elif PROGRAM_MEASURE == TD_MEASURE_SUM
    block_add_double(&state->control->tally.change, sums->change);
#endif
}

/* A fused program with additive sums must receive a change only once, so that only active neighbours count. */
TD_DEVICE program_accum gathered(const td_gpu_state *state, const td_context *c, const void *weights, uint32_t u,
                                 program_message message, uint64_t e)
{
    if (PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_ADD && !bit_of(state->active, u)) return program_zero(c);
    return contribution(state, c, message, weights, e);
}

TD_DEVICE void accumulate(program_accum *place, program_accum value)
{
#if PROGRAM_SUM == TD_SUM_ADD
    TD_ADD(place, value);
#elif PROGRAM_SUM == TD_SUM_MIN
    TD_MIN(place, value);
#elif PROGRAM_SUM == TD_SUM_MAX
    TD_MAX(place, value);
#else
    TD_OR(place, value);
#endif
}

enum { PULL_LANE = DECOMPRESS_LANE, PULL_STEP = PULL_LANE * TD_WARP };

/* Reads the lane's next four sources; TD_NO_VERTEX from `last` on. */
TD_DEVICE void read_four(const td_pull_args *a, uint64_t first, uint64_t last, uint32_t *sources)
{
    if (first + PULL_LANE <= last) {
        TD_READ_FOUR(sources, &a->list.targets[first]);
    } else {
        TD_UNROLL
        for (uint32_t k = 0; k < PULL_LANE; k++)
            sources[k] = first + k < last ? a->list.targets[first + k] : TD_NO_VERTEX;
    }
}

/* The contributions of four edges. */
TD_DEVICE void gather_four(const td_pull_args *a, const td_context *c, uint64_t first, const uint32_t *sources,
                           program_accum *brought)
{
    program_message messages[PULL_LANE];
    TD_UNROLL
    for (uint32_t k = 0; k < PULL_LANE; k++) {
        messages[k] = 0;
        if (sources[k] != TD_NO_VERTEX) messages[k] = message_of(&a->state, sources[k]);
    }
    TD_UNROLL
    for (uint32_t k = 0; k < PULL_LANE; k++) {
        brought[k] = program_zero(c);
        if (sources[k] != TD_NO_VERTEX)
            brought[k] = gathered(&a->state, c, a->list.weights, sources[k], messages[k], first + k);
    }
}

/* The state of a piece being processed. */
typedef struct pull_state {
    uint32_t lists_before; /* lists that begin before the step; the last of them is open */
    uint32_t lists_first;  /* lists that begin before the piece */
    program_accum open;    /* the sum of the open list within this piece */
} pull_state;

/* The list beginnings among the lane's four edges (`heads`), their number in the lanes below and in all lanes, and the
 * owners of the lists that end there. Computed before the contributions, so that these reads overlap. */
typedef struct pull_ends {
    uint32_t heads, below, total;
    uint32_t owners[PULL_LANE];
} pull_ends;

TD_DEVICE pull_ends find_ends(const td_pull_args *a, const pull_state *state, uint32_t heads)
{
    pull_ends ends = {heads, 0, 0, {0}};
    TD_UNROLL
    for (uint32_t k = 0; k < PULL_LANE; k++) {
        uint32_t lanes = TD_BALLOT(TD_ALL_LANES, heads >> k & 1u);
        ends.below += TD_POPCOUNT(lanes & td_lanes_below());
        ends.total += TD_POPCOUNT(lanes);
    }
    uint32_t next = state->lists_before + ends.below; /* list next - 1 is open where this lane begins */
    TD_UNROLL
    for (uint32_t k = 0; k < PULL_LANE; k++)
        if (heads >> k & 1u) {
            if (next > 0) ends.owners[k] = TD_READ_ONLY(&a->segments.lists[next - 1]);
            next++;
        }
    return ends;
}

/* Adds up 128 edges. Where a list ends, stores its sum if the list began within the piece, else adds it atomically. */
TD_DEVICE void add_step(const td_pull_args *a, const td_context *c, pull_state *state, const program_accum *brought,
                        const pull_ends *ends)
{
    program_accum *sums = (program_accum *)a->sums, before = program_zero(c), open = program_zero(c);
    uint32_t owner = 0;
    bool seen = false;
    TD_UNROLL
    for (uint32_t k = 0; k < PULL_LANE; k++) {
        if (ends->heads >> k & 1u) {
            if (seen) sums[ends->owners[k]] = open;
            else before = open, owner = ends->owners[k];
            seen = true;
            open = program_zero(c);
        }
        open = program_sum(open, brought[k]);
    }
    uint32_t headed = TD_BALLOT(TD_ALL_LANES, seen);
    uint32_t near = (headed | 1u) << (TD_WARP - 1 - td_lane()); /* this lane's bit on top, the lanes below after it */
    TD_UNROLL
    for (uint32_t by = 1; by < TD_WARP; by *= 2) { /* the sum of the list open at the end of each lane */
        program_accum lower = TD_SHUFFLE_UP(TD_ALL_LANES, open, by);
        if (near >> (TD_WARP - by) == 0) open = program_sum(lower, open);
    }
    if (headed << (TD_WARP - 1 - td_lane()) == 0) open = program_sum(state->open, open);
    program_accum incoming = TD_SHUFFLE_UP(TD_ALL_LANES, open, 1);
    if (td_lane() == 0) incoming = state->open;
    uint32_t next = state->lists_before + ends->below;
    if (seen && next > 0) {
        before = program_sum(incoming, before);
        if (next > state->lists_first) sums[owner] = before;
        else accumulate(&sums[owner], before);
    }
    state->open = TD_SHUFFLE(TD_ALL_LANES, open, TD_WARP - 1);
    state->lists_before += ends->total;
}

TD_DEVICE uint64_t piece_end(const td_pull_args *a, uint64_t piece)
{
    uint64_t end = (piece + 1) * TD_GPU_TILE;
    return end < a->segments.edges ? end : a->segments.edges;
}

TD_DEVICE void pull_step(const td_pull_args *a, const td_context *c, pull_state *state, uint64_t first,
                         const uint32_t *sources)
{
    program_accum brought[PULL_LANE];
    uint32_t heads = TD_READ_ONLY(&a->segments.heads[first / 32]) >> (first & 31u) & ((1u << PULL_LANE) - 1);
    pull_ends ends = find_ends(a, state, heads);
    gather_four(a, c, first, sources, brought);
    add_step(a, c, state, brought, &ends);
}

TD_DEVICE void close_piece(const td_pull_args *a, const pull_state *state)
{
    if (td_lane() == 0) accumulate((program_accum *)a->sums + a->segments.lists[state->lists_before - 1], state->open);
}

TD_KERNEL(pull, td_pull_args)
{
    const td_context c = kernel_context(&a.state);
    for (uint64_t piece = a.first_piece + td_global_thread() / TD_WARP; piece < a.end_piece;
         piece += td_global_threads() / TD_WARP) {
        uint64_t last = piece_end(&a, piece);
        pull_state state = {a.segments.lists_before[piece], a.segments.lists_before[piece], program_zero(&c)};
        for (uint64_t base = piece * TD_GPU_TILE; base < last; base += PULL_STEP) {
            uint32_t sources[PULL_LANE];
            read_four(&a, base + td_lane() * PULL_LANE, last, sources);
            pull_step(&a, &c, &state, base + td_lane() * PULL_LANE, sources);
        }
        close_piece(&a, &state);
    }
}

#if !PROGRAM_FUSED
/* The compressed targets of a piece; a piece is one group. */
TD_DEVICE const uint32_t *compressed_group(const td_pull_compressed_args *a, uint64_t piece)
{
    uint64_t subgraph = (piece * TD_GPU_TILE) >> a->shift;
    const uint32_t *words = a->compressed + (a->starts != 0 ? a->starts[subgraph] - a->base : 0);
    return words + words[piece - (subgraph << a->shift) / TD_GPU_TILE];
}

/* `pull` along compressed targets (decompress.h), decompressed step by step. */
TD_KERNEL(pull_compressed, td_pull_compressed_args)
{
    const td_context c = kernel_context(&a.pull.state);
    for (uint64_t piece = a.pull.first_piece + td_global_thread() / TD_WARP; piece < a.pull.end_piece;
         piece += td_global_threads() / TD_WARP) {
        uint64_t first = piece * TD_GPU_TILE, last = piece_end(&a.pull, piece);
        pull_state state = {a.pull.segments.lists_before[piece], a.pull.segments.lists_before[piece], program_zero(&c)};
        decompression it = open_group(compressed_group(&a, piece));
        for (uint64_t base = first; base < last; base += PULL_STEP) {
            uint32_t sources[PULL_LANE];
            uint64_t mine = base + td_lane() * PULL_LANE;
            decompress_four(&it, (uint32_t)(base - first) / TD_COMPRESS_BLOCK, sources);
            TD_UNROLL
            for (uint32_t k = 0; k < PULL_LANE; k++)
                if (mine + k >= last) sources[k] = TD_NO_VERTEX;
            pull_step(&a.pull, &c, &state, mine, sources);
        }
        close_piece(&a.pull, &state);
    }
}
#endif

TD_KERNEL(apply, td_apply_args)
{
    const td_context c = kernel_context(&a.state);
    pull_sums sums = {0, 0, 0, 0};
    program_accum *added = (program_accum *)a.sums;
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads()) {
        finish(&a.state, &c, v, added[v], &sums);
        added[v] = program_zero(&c); /* last, so that the reads above do not wait for it */
    }
    add_sums(&a.state, &sums);
}

/* Clears the sums before the first pull. */
TD_KERNEL(clear_sums, td_apply_args)
{
    const td_context c = kernel_context(&a.state);
    for (uint32_t v = a.first_vertex + td_global_thread(); v < a.end_vertex; v += td_global_threads())
        ((program_accum *)a.sums)[v] = program_zero(&c);
}
