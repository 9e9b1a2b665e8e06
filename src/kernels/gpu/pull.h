/* Pull: every vertex adds up what its neighbours send.
 *
 * The edges, not the vertices, are cut into equal pieces, one per turn of a block. A block reads its piece's
 * edges side by side, keeps their contributions in shared memory and then adds up list by list; no atomics.
 * A list that is cut leaves a partial sum per piece, and the kernel `merge` puts them together (Garaph's CPU
 * scheme, which suits a GPU as well). */

/* What the threads of a block find out while they finish vertices. */
typedef struct pull_sums {
    uint64_t activated, activated_edges;
    double change, share;
} pull_sums;

TD_DEVICE void activate(const td_gpu_args *a, uint32_t v, pull_sums *sums)
{
    TD_OR(&a->next_active[v / 32], 1u << (v & 31u));
    sums->activated++;
    sums->activated_edges += degree_in(a->push.offsets, v);
}

TD_DEVICE void finish_fused(const td_gpu_args *a, const td_context *c, uint32_t v, program_accum sum, pull_sums *sums)
{
    program_value *values = (program_value *)a->values;
    program_value old = TD_PEEK(&values[v]), fresh = program_apply(c, v, old, sum);
    bool activates = program_activates(c, fresh, old);
    if (PROGRAM_SUM == TD_SUM_ADD || activates) TD_POKE(&values[v], fresh);
    if (activates) activate(a, v, sums);
}

TD_DEVICE void finish_whole(const td_gpu_args *a, const td_context *c, uint32_t v, program_accum sum, pull_sums *sums)
{
    (void)sums;
    program_value *values = (program_value *)a->values;
    program_value *next = (program_value *)(PROGRAM_SENDS_VALUE ? a->next_values : a->values);
    program_value old = a->async ? TD_PEEK(&values[v]) : values[v], fresh = program_apply(c, v, old, sum);
    if (a->async) TD_POKE(&next[v], fresh);
    else next[v] = fresh;
#if !PROGRAM_SENDS_VALUE || PROGRAM_SHARES
    uint32_t degree = degree_in(a->out, v);
#endif
#if !PROGRAM_SENDS_VALUE
    program_message *place = (program_message *)a->next_messages + v, message = program_send(c, fresh, degree);
    if (a->async) TD_POKE(place, message);
    else *place = message;
#endif
#if PROGRAM_MEASURE != TD_MEASURE_NONE
    double change = program_change(c, fresh, old);
    if (PROGRAM_MEASURE == TD_MEASURE_MAX) sums->change = change <= sums->change ? sums->change : change; /* NaN stays */
    else sums->change += change;
#endif
#if PROGRAM_SHARES
    sums->share += program_share(c, v, fresh, degree);
#endif
}

TD_DEVICE void finish(const td_gpu_args *a, const td_context *c, uint32_t v, program_accum sum, pull_sums *sums)
{
    if (PROGRAM_FUSED) finish_fused(a, c, v, sum, sums);
    else finish_whole(a, c, v, sum, sums);
}

TD_DEVICE void add_sums(const td_gpu_args *a, const pull_sums *sums)
{
    add_tally(a, 0, sums->activated, sums->activated_edges);
    add_share(a, sums->share);
#if PROGRAM_MEASURE == TD_MEASURE_MAX
    double change = warp_max_double(sums->change);
    if (td_lane() == 0) raise_double(&a->control->tally.change, change);
#elif PROGRAM_MEASURE == TD_MEASURE_SUM
    double change = warp_sum_double(sums->change);
    if (td_lane() == 0) TD_ADD(&a->control->tally.change, change);
#endif
}

/* Programs that add piecemeal must not hear anyone twice: only active neighbours count. */
TD_DEVICE program_accum heard(const td_gpu_args *a, const td_context *c, uint32_t u, program_message message, uint64_t e)
{
    if (PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_ADD && !bit_of(a->active, u)) return program_zero(c);
    return contribution(a, c, message, a->pull.weights, e);
}

/* Row r of a piece's `rows` has its sum: whole, or one end of a list that is cut. */
TD_DEVICE void close_row(const td_gpu_args *a, const td_context *c, uint32_t piece, uint32_t v, uint32_t r, uint32_t rows,
                         program_accum sum, pull_sums *sums)
{
    program_accum *partials = (program_accum *)a->partials + 2 * (uint64_t)piece;
    if (r == 0 && a->cuts[piece].place > 0) partials[0] = sum;
    else if (r + 1 == rows && a->cuts[piece + 1].place > 0) partials[1] = sum;
    else finish(a, c, v, sum, sums);
}

enum { PULL_UNROLL = TD_GPU_TILE / TD_GPU_THREADS };

/* Contributions of the piece's edges into `kept`: first all targets, then what they send, so that many reads are
 * under way at once. */
TD_DEVICE void gather_piece(const td_gpu_args *a, const td_context *c, uint64_t first, uint32_t count, program_accum *kept)
{
    uint32_t sources[PULL_UNROLL];
    program_message messages[PULL_UNROLL];
    const uint32_t *targets = a->pull.targets + first;
    TD_UNROLL
    for (uint32_t i = 0; i < PULL_UNROLL; i++) {
        uint32_t at = i * TD_GPU_THREADS + td_thread();
        sources[i] = at < count ? TD_READ_ONLY(&targets[at]) : TD_NO_VERTEX;
    }
    TD_UNROLL
    for (uint32_t i = 0; i < PULL_UNROLL; i++) {
        messages[i] = 0;
        if (sources[i] != TD_NO_VERTEX) messages[i] = message_of(a, sources[i]);
    }
    TD_UNROLL
    for (uint32_t i = 0; i < PULL_UNROLL; i++) {
        uint32_t at = i * TD_GPU_THREADS + td_thread();
        if (at < count) kept[at] = heard(a, c, sources[i], messages[i], first + at);
    }
}

/* Where the piece's lists begin, counted from its first edge. */
TD_DEVICE void place_rows(const td_gpu_args *a, uint32_t from, uint32_t rows, uint64_t first, uint32_t count, uint16_t *begins)
{
    for (uint32_t r = td_thread(); r <= rows; r += TD_GPU_THREADS) {
        uint64_t begin = a->pull.offsets[from + r];
        begin = begin < first ? 0 : begin - first;
        begins[r] = (uint16_t)(begin < count ? begin : count);
    }
}

/* Lanes per list: as many as an average one has edges, a power of two. */
TD_DEVICE uint32_t lanes_per_row(uint32_t rows, uint32_t count)
{
    uint32_t lanes = 1;
    while (lanes < TD_WARP && lanes * rows * 2 <= count) lanes *= 2;
    return lanes;
}

/* Adds up list by list, `lanes` neighbouring threads each. */
TD_DEVICE void add_rows(const td_gpu_args *a, const td_context *c, uint32_t piece, uint32_t from, uint32_t rows, uint32_t count,
                        const uint16_t *begins, const program_accum *kept, pull_sums *sums)
{
    uint32_t lanes = lanes_per_row(rows, count), lane = td_thread() & (lanes - 1), at_once = TD_GPU_THREADS / lanes;
    uint32_t turns = (rows + at_once - 1) / at_once;
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t r = turn * at_once + td_thread() / lanes;
        uint32_t begin = r < rows ? begins[r] : 0, end = r < rows ? begins[r + 1] : 0;
        program_accum sum = program_zero(c);
        for (uint32_t i = begin + lane; i < end; i += lanes) sum = program_sum(sum, kept[i]);
        for (uint32_t by = lanes / 2; by > 0; by /= 2) sum = program_sum(sum, TD_SHUFFLE_XOR(TD_ALL_LANES, sum, by));
        if (lane == 0 && r < rows) close_row(a, c, piece, from + r, r, rows, sum, sums);
    }
}

TD_KERNEL(pull, td_gpu_args)
{
    const td_context c = kernel_context(&a);
    pull_sums sums = {0, 0, 0, 0};
    TD_SHARED(program_accum, kept, TD_GPU_TILE);
    TD_SHARED(uint16_t, begins, TD_GPU_TILE + 2);
    for (uint32_t piece = td_block(); piece < a.cut_count; piece += td_blocks()) {
        td_gpu_cut from = a.cuts[piece], to = a.cuts[piece + 1];
        uint64_t first = a.pull.offsets[from.vertex] + from.place, last = a.pull.offsets[to.vertex] + to.place;
        uint32_t rows = to.vertex - from.vertex + (to.place > 0), count = (uint32_t)(last - first);
        gather_piece(&a, &c, first, count, kept);
        place_rows(&a, from.vertex, rows, first, count, begins);
        TD_BARRIER();
        add_rows(&a, &c, piece, from.vertex, rows, count, begins, kept, &sums);
        TD_BARRIER();
    }
    add_sums(&a, &sums);
}

TD_DEVICE program_accum warp_fold(program_accum sum)
{
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) sum = program_sum(sum, TD_SHUFFLE_XOR(TD_ALL_LANES, sum, by));
    return sum;
}

/* A list cut at the end of a piece goes on through the pieces behind it: a warp adds them up. */
TD_KERNEL(merge, td_gpu_args)
{
    const td_context c = kernel_context(&a);
    pull_sums sums = {0, 0, 0, 0};
    const program_accum *partials = (const program_accum *)a.partials;
    for (uint32_t p = td_global_thread() / TD_WARP; p < a.cut_count; p += td_global_threads() / TD_WARP) {
        td_gpu_cut from = a.cuts[p], to = a.cuts[p + 1];
        bool starts_here = from.vertex < to.vertex || from.place == 0;
        if (to.place == 0 || to.vertex >= a.vertices || !starts_here) continue;
        program_accum sum = program_zero(&c);
        bool goes_on = true;
        for (uint32_t base = p + 1; goes_on; base += TD_WARP) {
            uint32_t q = base + td_lane();
            bool mine = q < a.cut_count && a.cuts[q].vertex == to.vertex && a.cuts[q].place > 0;
            if (mine) sum = program_sum(sum, partials[2 * (uint64_t)q]);
            goes_on = TD_BALLOT(TD_ALL_LANES, mine) == TD_ALL_LANES;
        }
        sum = program_sum(warp_fold(sum), partials[2 * (uint64_t)p + 1]);
        if (td_lane() == 0) finish(&a, &c, to.vertex, sum, &sums);
    }
    add_sums(&a, &sums);
}
