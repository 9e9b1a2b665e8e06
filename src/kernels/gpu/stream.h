/* Pushes of the stream engine. The frontier is a bitmap, processed in the order of the vertices, which is the order of
 * their lists: reads of host memory in this order run at the link's rate, others do not (docs/lab/stream.md). A launch
 * processes a part of the lists: one subgraph, several, or the resident prefix of all lists. a.push.list says where the
 * edges are. */

TD_DEVICE push_round stream_round(const td_push_args *a, uint32_t bound, const td_gpu_fragments *fragments)
{
    td_gpu_slot *slots = a->state.control->slot;
    push_round r = {0, 0, 0, a->state.next_active, &slots[0], &slots[1], 0, 0, 0, bound, 0, a->state.control->far_count,
                    a->far_map != 0, fragments, a->lean PUSH_NO_CORES};
    return r;
}

/* Takes the vertices whose whole lists are in this launch's part out of a word of next_active, so that this launch
 * reprocesses them. */
TD_DEVICE uint32_t take_again(const td_push_part_args *a, push_round *r, uint32_t w)
{
    uint32_t v = w * 32 + td_lane(), word = word_within(&a->part, a->push.state.next_active, w);
    bool whole = (word >> td_lane() & 1u) != 0 && a->push.list.offsets[v] >= a->part.first_edge &&
                 a->push.list.offsets[v + 1] <= a->part.end_edge;
    uint32_t taken = TD_BALLOT(TD_ALL_LANES, whole);
    if (taken == 0) return 0;
    if (td_lane() == 0) {
        taken &= TD_AND(&a->push.state.next_active[w], ~taken);
        TD_ADD(&r->next->count, 0u - TD_POPCOUNT(taken));
    }
    TD_FENCE(); /* values are read after the bits were cleared: a value is written before its bit is set */
    taken = TD_SHUFFLE(TD_ALL_LANES, taken, 0);
    if (taken >> td_lane() & 1u) r->next_edges -= degree_in(a->push.state.push_offsets, v);
    return taken;
}

TD_DEVICE push_task stream_task(const td_push_part_args *a, push_round *r, uint32_t u, bool is, uint64_t *read)
{
    push_task task = {0, 0, 0};
    if (!is) return task;
    list_part part = part_of(&a->part, a->push.list.offsets, u);
    task.begin = part.begin;
    task.degree = (uint32_t)(part.end - part.begin);
    if (task.degree == 0) return task;
    task.message = message_of(&a->push.state, u);
    r->taken_edges += task.degree;
    *read += sector_bytes(&a->part, part);
    if (task.degree < a->push.high_degree) return task;
    cut_vertex(a->push.pieces, &r->now->pieces, u, task.degree, TD_GPU_WARP_PIECE);
    task.degree = 0;
    return task;
}

/* Long lists are processed by all lanes, whole lines of host memory at a time, because a request for a line costs as
 * much as one for a part of it. Every lane has four consecutive edges. */
enum { STREAM_LONG = 48, STREAM_BLOCK = PUSH_BATCH * TD_WARP };

TD_DEVICE void expand_lines(const td_push_args *a, const td_context *c, push_round *r, const push_task *task)
{
    uint64_t end = task->begin + task->degree;
    for (uint64_t base = task->begin / STREAM_BLOCK * STREAM_BLOCK; base < end; base += STREAM_BLOCK) {
        push_batch batch;
        TD_UNROLL
        for (uint32_t k = 0; k < PUSH_BATCH; k++) {
            batch.edge[k] = base + td_lane() * PUSH_BATCH + k;
            batch.is[k] = batch.edge[k] >= task->begin && batch.edge[k] < end;
            batch.message[k] = task->message;
        }
        push_edges(a, c, r, &batch);
    }
}

/* Adds the counters of the launch's threads to the tally. */
TD_DEVICE void end_push(const td_gpu_state *state, bool from_host, const push_round *r, uint64_t pushed,
                          uint64_t read)
{
    if (from_host) {
        block_add_u64(&state->control->tally.host_bytes, read);
        block_add_u64(&state->control->tally.host_edges, pushed);
    }
    block_add_u64(&r->next->edges, r->next_edges);
    block_add_u64(&state->control->tally.edges, pushed);
}

/* The active vertices of a launch push along their lists. */
TD_DEVICE void push_vertices(const td_push_part_args *a, const td_gpu_fragments *fragments)
{
    const td_context c = kernel_context(&a->push.state);
    push_round r = stream_round(&a->push, a->bound, fragments);
    uint64_t pushed = 0, read = 0;
    uint32_t end = (a->part.end_vertex + 31) / 32;
    for (uint32_t w = a->part.first_vertex / 32 + td_global_thread() / TD_WARP; w < end;
         w += td_global_threads() / TD_WARP) {
        uint32_t word = a->push.again ? take_again(a, &r, w) : word_within(&a->part, a->push.state.active, w);
        if (word == 0) continue;
        if (a->rest != 0 && td_lane() == 0) a->rest[w] |= word;
        if (a->heavy_rest != 0 && td_lane() == 0) a->heavy_rest[w] |= word;
        push_task task = stream_task(a, &r, w * 32 + td_lane(), word >> td_lane() & 1u, &read);
        bool is_long = task.degree >= STREAM_LONG;
        for (uint32_t lanes = TD_BALLOT(TD_ALL_LANES, is_long); lanes != 0; lanes &= lanes - 1) {
            push_task theirs = task_of_lane(task, TD_LOWEST_BIT(lanes));
            expand_lines(&a->push, &c, &r, &theirs);
        }
        if (is_long) task.degree = 0;
        expand_scanned(&a->push, &c, &r, task);
        pushed += r.taken_edges;
        r.taken_edges = 0;
    }
    end_push(&a->push.state, a->part.from_host, &r, pushed, read);
    if (fragments != 0 && a->part.cached) block_add_u64(&a->push.state.control->tally.cached_edges, pushed);
}

/* Pushes along the pieces of high-degree vertices that push_vertices listed. */
TD_DEVICE void push_pieces(const td_push_part_args *a, const td_gpu_fragments *fragments)
{
    const td_context c = kernel_context(&a->push.state);
    push_round r = stream_round(&a->push, a->bound, fragments);
    uint32_t count = a->push.state.control->slot[0].pieces;
    if (td_block() * td_threads() / TD_WARP >= count) return; /* no piece for this block */
    for (uint32_t p = td_global_thread() / TD_WARP; p < count; p += td_global_threads() / TD_WARP) {
        uint32_t u = (uint32_t)(a->push.pieces[p] >> 32);
        list_part part = part_of(&a->part, a->push.list.offsets, u);
        uint64_t begin = part.begin + (a->push.pieces[p] & 0xffffffffu) * TD_GPU_WARP_PIECE;
        uint64_t end = part.end > begin + TD_GPU_WARP_PIECE ? begin + TD_GPU_WARP_PIECE : part.end;
        push_task task = {begin, (uint32_t)(end - begin), message_of(&a->push.state, u)};
        expand_lines(&a->push, &c, &r, &task);
    }
    end_push(&a->push.state, a->part.from_host, &r, 0, 0);
}

/* One GPU has kernels without the questions of several: asked for every edge, they cost 4 to 8% of an sssp. */
TD_KERNEL(push_part, td_push_part_args) { push_vertices(&a, 0); }
TD_KERNEL(push_part_pieces, td_push_part_args) { push_pieces(&a, 0); }
#if PROGRAM_FUSED
TD_KERNEL(push_fragment, td_push_part_args) { push_vertices(&a, a.push.fragments); }
TD_KERNEL(push_fragment_pieces, td_push_part_args) { push_pieces(&a, a.push.fragments); }
#endif

/* Pushes along extracted lists; the host has cut long ones into parts. */
TD_KERNEL(push_extracted, td_push_extracted_args)
{
    const td_context c = kernel_context(&a.push.state);
    push_round r = stream_round(&a.push, a.bound, 0);
    uint64_t pushed = 0;
    uint32_t groups = a.extracts[a.count].groups_before;
    for (uint32_t g = td_global_thread() / TD_WARP; g < groups; g += td_global_threads() / TD_WARP) {
        uint32_t low = 0, high = a.count;
        while (low + 1 < high) { /* finds the group's extract */
            uint32_t middle = (low + high) / 2;
            if (a.extracts[middle].groups_before <= g) low = middle;
            else high = middle;
        }
        const td_gpu_extract *from = &a.extracts[low];
        uint32_t i = (g - from->groups_before) * TD_WARP + td_lane();
        td_push_args here = a.push;
        here.list.targets = from->targets;
        here.list.weights = from->weights;
        push_task task = {0, 0, 0};
        if (i < from->parts) {
            task.begin = from->places[i];
            task.degree = from->places[i + 1] - from->places[i];
            task.message = message_of(&a.push.state, from->vertices[i]);
        }
        pushed += task.degree;
        expand_scanned(&here, &c, &r, task);
    }
    end_push(&a.push.state, false, &r, pushed, 0);
}

#if PROGRAM_HAS_PRIORITY
/* Writes the deferred vertices as the far list of the loops. */
TD_KERNEL(list_far, td_far_args)
{
    uint32_t words = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        uint32_t word = a.far_map[w];
        warp_append(a.far, &a.state.control->far_count[0], word >> td_lane() & 1u, w * 32 + td_lane());
    }
}

/* Finds the lowest priority above the bound among the deferred vertices. */
TD_KERNEL(far_lowest, td_far_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    uint32_t least = 0xffffffffu, words = (a.end_vertex + 31) / 32;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        if ((a.far_map[w] >> td_lane() & 1u) == 0) continue;
        uint32_t priority = priority_of(a.one_over_delta, &c, values[w * 32 + td_lane()]);
        if (priority > a.bound && priority < least) least = priority;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, least, by);
        least = other < least ? other : least;
    }
    if (td_lane() == 0 && least != 0xffffffffu) TD_MIN(&a.state.control->far_lowest, least);
}

/* Divides the deferred vertices: near ones become the frontier, those up to the old bound are dropped. */
TD_KERNEL(far_split, td_far_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    uint32_t words = (a.end_vertex + 31) / 32;
    uint32_t bound = a.next_bound != 0 ? a.next_bound : a.state.control->far_lowest;
    uint64_t left = 0, near_count = 0, near_edges = 0;
    for (uint32_t w = a.first_vertex / 32 + td_global_thread() / TD_WARP; w < words;
         w += td_global_threads() / TD_WARP) {
        uint32_t word = a.far_map[w], v = w * 32 + td_lane();
        if (word == 0) continue;
        bool is = (word >> td_lane() & 1u) != 0;
        uint32_t priority = is ? priority_of(a.one_over_delta, &c, values[v]) : 0;
        bool open = is && priority > a.bound, near = open && priority <= bound;
        uint32_t near_word = TD_BALLOT(TD_ALL_LANES, near), far_word = TD_BALLOT(TD_ALL_LANES, open && !near);
        near_count += near;
        if (near) near_edges += degree_in(a.state.push_offsets, v);
        left += open && !near;
        if (td_lane() != 0) continue;
        a.far_map[w] = far_word;
        a.state.next_active[w] = near_word;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    add_tally(&a.state, left, near_count, near_edges);
}
#endif
