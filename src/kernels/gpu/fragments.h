/* A graph that several GPUs share (engine/multi/multi.h). Every GPU has a value for every vertex; the values of vertices
 * that another GPU owns are mirrors. A push updates mirrors like any other vertex and marks them, so that updates of one
 * vertex are aggregated where they are made. `pack` then empties the marks into one outbox per fragment, and the owner's
 * `take` applies them. For pulls the owner sends its values to the mirrors instead (list_mirrored, take_mirrored). */

/* Marks the vertices that a fragment's lists refer to. */
TD_KERNEL(mark_targets, td_targets_args)
{
    for (uint64_t e = td_global_thread(); e < a.edges; e += td_global_threads()) {
        uint32_t v = TD_READ_ONCE(&a.targets[e]), bit = 1u << (v & 31u);
        if ((TD_LOAD(&a.map[v / 32]) & bit) == 0) TD_OR(&a.map[v / 32], bit);
    }
}

/* Writes counters into pinned host memory: sooner there than a copy, which takes the link's latency. */
TD_KERNEL(report, td_report_args)
{
    for (uint32_t i = td_global_thread(); i < a.words; i += td_global_threads()) a.to[i] = a.from[i];
}

/* Copies outboxes of one GPU into the inboxes of another; this one has links to both. */
TD_KERNEL(carry, td_carry_args)
{
    for (uint32_t b = 0; b < a.count; b++) {
        uint32_t length = *a.item[b].from.length;
        uint64_t words = (uint64_t)length * a.value_words;
        const uint32_t *values = (const uint32_t *)a.item[b].from.values;
        for (uint32_t i = td_global_thread(); i < length; i += td_global_threads())
            a.item[b].vertices[i] = a.item[b].from.vertices[i];
        for (uint64_t i = td_global_thread(); i < words; i += td_global_threads()) a.item[b].values[i] = values[i];
        if (td_global_thread() == 0) *a.item[b].length = length;
    }
}

/* Appends the vertices of a word to a list and returns this lane's place in it. All lanes call. */
TD_DEVICE uint32_t places_of_word(uint32_t word, uint32_t *length)
{
    uint32_t at = 0;
    if (td_lane() == 0) at = TD_ADD(length, TD_POPCOUNT(word));
    return TD_SHUFFLE(TD_ALL_LANES, at, 0) + TD_POPCOUNT(word & td_lanes_below());
}

#if PROGRAM_GAS
#if PROGRAM_FUSED
#if PROGRAM_SUM == TD_SUM_MIN
typedef program_value sent_value;
#else
typedef program_accum sent_value;
#endif

/* What the owner of v must know. */
TD_DEVICE sent_value value_to_send(const td_pack_args *a, const td_context *c, uint32_t v)
{
#if PROGRAM_SUM == TD_SUM_MIN
    (void)c;
    return ((const program_value *)a->state.values)[v];
#else
    program_accum *sum = (program_accum *)a->sums + v, value = *sum;
    *sum = program_zero(c);
    return value;
#endif
}

/* Moves the marked vertices of other GPUs, with their values, into the outboxes. */
TD_KERNEL(pack, td_pack_args)
{
    const td_context c = kernel_context(&a.state);
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t near = a.state.next_active[w], word = near | (a.far_map != 0 ? a.far_map[w] : 0);
        if (word == 0) continue;
        uint32_t k = fragment_of(a.fragments, w * 32);
        if (a.fragments->owned >> k & 1u) continue;
        uint32_t v = w * 32 + td_lane(), at = a.fragments->first[k] + places_of_word(word, &a.state.control->lengths[k]);
        if (word >> td_lane() & 1u) {
            a.vertices[at] = v;
            ((sent_value *)a.values)[at] = value_to_send(&a, &c, v);
        }
        TD_WARP_BARRIER(TD_ALL_LANES); /* all lanes have read the words before lane 0 clears them */
        if (td_lane() != 0) continue;
        a.state.next_active[w] = 0;
        if (a.far_map != 0) a.far_map[w] = 0;
    }
}

/* Applies a value sent to an owned vertex; returns whether the vertex becomes active. */
TD_DEVICE bool apply_sent(const td_take_args *a, const td_context *c, uint32_t v, sent_value sent, program_value *fresh)
{
    program_value *value = (program_value *)a->state.values + v, old;
#if PROGRAM_SUM == TD_SUM_MIN
    (void)c;
    *fresh = sent;
    old = TD_PEEK(value);
    if (!program_activates(c, sent, old)) return false;
    old = TD_MIN(value, sent);
#else
    old = TD_PEEK(value);
    *fresh = swap_in(value, c, v, sent, &old);
#endif
    return program_activates(c, *fresh, old);
}

/* Applies what the other GPUs sent and marks the vertices that become active, or that priorities defer. */
TD_KERNEL(take, td_take_args)
{
    const td_context c = kernel_context(&a.state);
    for (uint32_t b = 0; b < a.count; b++) {
        uint32_t length = *a.box[b].length;
        for (uint32_t i = td_global_thread(); i < length; i += td_global_threads()) {
            uint32_t v = a.box[b].vertices[i];
            program_value fresh;
            if (!apply_sent(&a, &c, v, ((const sent_value *)a.box[b].values)[i], &fresh)) continue;
            uint32_t *map = a.state.next_active;
#if PROGRAM_HAS_PRIORITY
            if (a.far_map != 0 && priority_of(a.one_over_delta, &c, fresh) > a.bound) map = a.far_map;
#endif
            TD_OR(&map[v / 32], 1u << (v & 31u));
        }
    }
}

/* The class of a degree: 0 for 0, then one per power of two. */
TD_DEVICE uint32_t degree_class(uint32_t degree)
{
    uint32_t bits = 0;
    for (; degree != 0; degree >>= 1) bits++;
    return bits;
}

/* Degrees of an active vertex: by class, and their limits. */
TD_DEVICE void tally_degree(const td_measure_args *a, uint32_t k, uint32_t v, uint32_t degree)
{
    td_gpu_frontier_tally *tally = &a->tally[k];
    uint32_t other = a->other_offsets[k] != 0 ? degree_in(a->other_offsets[k], v) : 0, at = degree_class(degree + other);
    TD_ADD(&tally->vertices[at], (uint64_t)1);
    TD_ADD(&tally->edges[at], (uint64_t)degree + other);
    TD_ADD(&tally->other_edges, (uint64_t)other);
    if (~degree > TD_LOAD(&tally->not_least)) TD_MAX(&tally->not_least, ~degree);
    if (degree > TD_LOAD(&tally->most)) TD_MAX(&tally->most, degree);
    if (~other > TD_LOAD(&tally->other_not_least)) TD_MAX(&tally->other_not_least, ~other);
    if (other > TD_LOAD(&tally->other_most)) TD_MAX(&tally->other_most, other);
}

/* The word of a frontier that is a bitmap, or that is all vertices without a value. All lanes call. */
TD_DEVICE uint32_t frontier_word(const td_gpu_state *state, const td_context *c, const uint32_t *map, uint32_t w,
                                 uint32_t end)
{
    if (map != 0) return map[w];
#if PROGRAM_FIRST_HIT
    uint32_t v = w * 32 + td_lane();
    bool open = v < end && ((const program_value *)state->values)[v] == program_zero(c);
    return TD_BALLOT(TD_ALL_LANES, open);
#else
    (void)state, (void)c, (void)end;
    return 0;
#endif
}

/* Counts the vertices and edges of owned fragments' frontiers. */
TD_KERNEL(measure, td_measure_args)
{
    const td_context c = kernel_context(&a.state);
    TD_SHARED(uint64_t, sums, 2 * TD_GPU_FRAGMENTS);
    for (uint32_t i = td_thread(); i < 2 * TD_GPU_FRAGMENTS; i += td_threads()) TD_STORE(&sums[i], (uint64_t)0);
    TD_BARRIER();
    uint32_t last = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < last;
         w += td_global_threads() / TD_WARP) {
        uint32_t word = frontier_word(&a.state, &c, a.map, w, a.end_vertex), v = w * 32 + td_lane(), k = a.fragment;
        if (word == 0) continue;
        while (w * 32 >= a.first[k + 1]) k++;
        bool is = (word >> td_lane() & 1u) != 0;
        uint32_t degree = is ? degree_in(a.offsets[k], v) : 0;
        warp_add_u64(&sums[2 * k], is);
        warp_add_u64(&sums[2 * k + 1], degree);
        if (a.changed != 0 && td_lane() == 0) a.changed[w] |= word;
        if (a.tally == 0) continue;
        if (is) {
            if (a.classes) tally_degree(&a, k, v, degree);
            union { uint64_t bits; program_value value; } active = {0};
            active.value = ((const program_value *)a.state.values)[v];
            if (PROGRAM_FIRST_HIT && a.value) TD_STORE(&a.tally[k].value, active.bits);
        }
        TD_WARP_BARRIER(TD_ALL_LANES);
        warp_add_u64(&a.tally[k].chunk[(w - a.first[k] / 32) / a.chunk_words[k]], degree);
    }
    TD_BARRIER();
    for (uint32_t i = td_thread(); i < 2 * TD_GPU_FRAGMENTS; i += td_threads()) {
        uint64_t sum = TD_LOAD(&sums[i]);
        uint64_t *to = i % 2 == 0 ? a.state.control->active_vertices : a.state.control->active_edges;
        if (sum != 0) TD_ADD(&to[i / 2], sum);
    }
}

/* The chunk in which the sum of active edges reaches `wanted`; *before: the sum before the chunk. */
TD_DEVICE uint32_t find_chunk(const td_gpu_frontier_tally *tally, uint64_t wanted, uint64_t *before)
{
    uint64_t sum = 0;
    for (uint32_t base = 0; base < TD_GPU_CHUNKS; base += TD_WARP) {
        uint64_t mine = tally->chunk[base + td_lane()], total = warp_sum_u64(mine);
        if (sum + total < wanted) {
            sum += total;
            continue;
        }
        for (uint32_t lane = 0; lane < TD_WARP; lane++) {
            uint64_t theirs = TD_SHUFFLE(TD_ALL_LANES, mine, lane);
            if (sum + theirs >= wanted) {
                *before = sum;
                return base + lane;
            }
            sum += theirs;
        }
    }
    *before = sum;
    return TD_GPU_CHUNKS;
}

/* Sorted search: a warp finds one cut. */
TD_KERNEL(cut_frontier, td_cut_args)
{
    const td_context c = kernel_context(&a.state);
    uint32_t i = td_global_thread() / TD_WARP;
    if (i >= a.count) return;
    uint64_t sum;
    uint32_t chunk = find_chunk(a.tally, a.wanted[i], &sum), words = (a.end_vertex + 31) / 32;
    uint64_t w = a.first_vertex / 32 + (uint64_t)chunk * a.chunk_words;
    uint32_t vertex = a.end_vertex;
    uint64_t edge = UINT64_MAX;
    for (; sum < a.wanted[i] && w < words; w++) {
        uint32_t word = frontier_word(&a.state, &c, a.map, (uint32_t)w, a.end_vertex);
        uint32_t v = (uint32_t)w * 32 + td_lane(), total = 0, most = 0;
        if (word == 0) continue;
        uint32_t degree = word >> td_lane() & 1u ? degree_in(a.offsets, v) : 0;
        uint32_t before = warp_scan(degree, &total);
        if (sum + total < a.wanted[i]) {
            sum += total;
            continue;
        }
        uint32_t reached = TD_BALLOT(TD_ALL_LANES, sum + before + degree >= a.wanted[i]);
        most = TD_LOWEST_BIT(reached);
        uint64_t reaches = sum + TD_SHUFFLE(TD_ALL_LANES, before, most);
        uint32_t length = TD_SHUFFLE(TD_ALL_LANES, degree, most);
        vertex = (uint32_t)w * 32 + most + 1;
        sum = reaches + length;
        if (length < a.split_degree || sum == a.wanted[i]) break;
        edge = a.offsets[vertex - 1] + (a.wanted[i] - reaches);
        sum = a.wanted[i];
        break;
    }
    if (a.wanted[i] == 0) vertex = a.first_vertex;
    if (td_lane() != 0) return;
    a.cuts->vertex[i] = vertex;
    a.cuts->before[i] = sum;
    a.cuts->edge[i] = edge;
}

#if PROGRAM_FIRST_HIT
/* Gives the mirrors of active vertices their value. */
TD_KERNEL(adopt, td_adopt_args)
{
    union { uint64_t bits; program_value value; } active;
    active.bits = a.value;
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t word = a.state.active[w], v = w * 32 + td_lane();
        if (word == 0 || is_owned(a.fragments, w * 32)) continue;
        if (word >> td_lane() & 1u) ((program_value *)a.state.values)[v] = active.value;
    }
}
#endif
#endif

/* Whether the mirrors of v must be updated. */
TD_DEVICE bool is_changed(const td_mirror_args *a, uint32_t v)
{
    if (a->changed != 0) return bit_of(a->changed, v);
    return ((const program_message *)a->state.messages)[v] != ((const program_message *)a->state.next_messages)[v];
}

/* Lists the owned vertices whose mirrors must be updated, with what they send. */
TD_KERNEL(list_mirrored, td_mirror_args)
{
    uint32_t last = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < last;
         w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane(), boundary = a.boundary[w];
        if (boundary == 0) continue;
        uint32_t word = TD_BALLOT(TD_ALL_LANES, (boundary >> td_lane() & 1u) != 0 && v < a.end_vertex && is_changed(&a, v));
        if (word == 0) continue;
        uint32_t at = places_of_word(word, a.length);
        if ((word >> td_lane() & 1u) == 0) continue;
        a.vertices[at] = v;
        ((program_message *)a.messages)[at] = ((const program_message *)a.state.messages)[v];
    }
}

TD_KERNEL(take_mirrored, td_mirror_args)
{
    program_message *messages = (program_message *)a.state.messages, *next = (program_message *)a.state.next_messages;
    const program_message *sent = (const program_message *)a.messages;
    for (uint32_t i = td_global_thread(); i < *a.length; i += td_global_threads()) {
        messages[a.vertices[i]] = sent[i];
        if (a.twice) next[a.vertices[i]] = sent[i];
    }
}
#elif !PROGRAM_COLLECTS_EDGES

/* Joins the groups that another GPU's sweep found to those of this one: v and its label there are one group. */
TD_KERNEL(join, td_join_args)
{
    const program_value *labels = (const program_value *)a.labels;
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        uint32_t label = program_label(labels, v);
        if (label != v) program_visit(&a.state.context, (program_value *)a.state.values, v, label, 0, 0);
    }
}

#else

/* Lists the components that found an edge, with its key. */
TD_KERNEL(pack_best, td_best_args)
{
    const program_value *values = (const program_value *)a.state.values;
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool found = v < a.state.vertices && values[v].best[0] != TD_NO_KEY;
        uint32_t word = TD_BALLOT(TD_ALL_LANES, found);
        if (word == 0) continue;
        uint32_t at = places_of_word(word, a.length);
        if (!found) continue;
        a.vertices[at] = v;
        a.keys[2 * at] = values[v].best[0];
        a.keys[2 * at + 1] = values[v].best[1];
    }
}

/* Takes the smaller keys. The lower halves are compared in sweeps in which all GPUs have the same upper halves. */
TD_KERNEL(take_best, td_best_args)
{
    program_value *values = (program_value *)a.state.values;
    for (uint32_t i = td_global_thread(); i < *a.length; i += td_global_threads()) {
        TD_LOWER(&values[a.vertices[i]].best[0], a.keys[2 * i]);
        TD_LOWER(&values[a.vertices[i]].best[1], a.keys[2 * i + 1]);
    }
}
#endif
