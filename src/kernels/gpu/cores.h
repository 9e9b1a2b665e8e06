/* Core numbers in one launch, all blocks of which meet at a grid barrier between two rounds.
 *
 * Peel. The values are the neighbours that remain. A level begins with a scan for the vertices to remove. It reads
 * `near`, the vertices whose value is within the next `window` levels: those that a scan of all remaining vertices
 * found, and those that fell into the window since. When the window is past, all remaining vertices are scanned again,
 * and compacted. A scan that finds nothing knows the lowest value, and the levels below it are skipped. The rounds of a
 * level remove the queued vertices (cores_edges.h).
 *
 * Histogram. The values are bounds, at first the number of neighbours. A round has two steps, between which no bound
 * changes: queued vertices fall to the largest k such that k neighbours have a bound of at least k, read from their
 * bins; then they push the fall along their lists. When no vertex is queued the bounds are the core numbers. */

/* A scan's result for the whole grid: the lowest value above the level. */
TD_DEVICE void note_nearest(td_gpu_slot *slot, uint32_t nearest)
{
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, nearest, by);
        nearest = other > nearest ? other : nearest;
    }
    if (td_lane() == 0 && nearest != 0) TD_MAX(&slot->nearest, nearest);
}

/* Queues the vertices of a list whose value is the level, drops removed ones, and divides the others at `end`: near
 * ones, and those that are left for later windows. */
TD_DEVICE void scan_values(const td_cores_args *a, push_round *r, const uint32_t *list, uint32_t count, uint32_t level,
                           uint32_t end, uint32_t *left)
{
    const uint32_t *values = (const uint32_t *)a->loop.push.state.values;
    uint32_t nearest = 0, turns = (count + td_global_threads() - 1) / td_global_threads();
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t i = turn * td_global_threads() + td_global_thread(), v = i < count ? list[i] : 0;
        uint32_t value = i < count ? values[v] : 0;
        bool is = i < count && value >= level, removed = is && value == level, rest = is && value > level;
        if (rest && ~value > nearest) nearest = ~value;
        if (removed) expect(&a->loop.push, r, v);
        warp_append(r->out, &r->next->count, removed, v);
        warp_append(r->far, r->far_count, rest && value < end, v);
        warp_append(left, &r->next->left, rest && value >= end, v);
    }
    warp_add_u64(&r->next->edges, r->next_edges);
    note_nearest(r->next, nearest);
}

/* Where the near vertices are. */
TD_DEVICE uint32_t *near_list(const td_cores_args *a, const td_gpu_peeling *at)
{
    return at->near_spare ? a->left[1 - at->left_at] : a->near;
}

/* Finds the vertices of the next level, or the next level that has any. */
TD_DEVICE void find_level(const td_cores_args *a, push_round *r, td_gpu_peeling *at)
{
    td_gpu_control *control = a->loop.push.state.control;
    uint32_t *counts = control->peeling.near_count, level = at->next_level, count = at->left_count;
    const uint32_t *list = a->left[at->left_at];
    bool all = level >= at->window_end;
    if (all) {
        at->window_end = level > 0xffffffffu - a->window ? 0xffffffffu : level + a->window;
    } else {
        list = near_list(a, at);
        count = TD_LOAD(&counts[at->near_at]);
    }
    at->near_spare = all ? 0 : 1 - at->near_spare;
    at->near_at = (at->near_at + 1) % 3;
    if (td_global_thread() == 0) TD_STORE(&counts[(at->near_at + 1) % 3], 0u);
    r->far = near_list(a, at);
    r->far_count = &counts[at->near_at];
    scan_values(a, r, list, count, level, at->window_end, a->left[1 - at->left_at]); /* near ones are below the end */
    TD_GRID_BARRIER(false, &control->barrier);
    uint32_t nearest = TD_LOAD(&r->next->nearest), found = TD_LOAD(&r->next->count);
    if (all) {
        at->left_count = TD_LOAD(&r->next->left);
        at->left_at = 1 - at->left_at;
    }
    at->scanned += count;
    if (found > 0) at->next_level = level + 1;
    else at->next_level = nearest != 0 ? ~nearest : at->window_end; /* no vertex of the window remains */
    at->done = found == 0 && nearest == 0 && at->left_count == 0;
}

/* Few vertices: a block each, so that long lists take few steps. */
TD_DEVICE void expand_few(const td_push_args *a, const td_context *c, push_round *r, uint32_t count)
{
    for (uint32_t i = td_block(); i < count; i += td_blocks()) {
        uint32_t u = r->in[i];
        list_part part = list_in(a, r, u);
        push_task task = {part.begin, (uint32_t)(part.end - part.begin), message_from(a, r, u)};
        if (td_thread() == 0) {
            r->taken_edges += task.degree;
            r->taken_vertices++;
            if (task.degree >= a->high_degree) cut_vertex(a->pieces, &r->now->pieces, u, task.degree, TD_GPU_PIECE);
        }
        if (task.degree < a->high_degree) expand_one(a, c, r, &task, td_warp() * TD_WARP, td_threads());
    }
}

/* Pushes along the lists of entries of r->in, by the warps of the grid or of the block; `parts`: along their prefixes,
 * which are on the device, then along the rest. */
TD_DEVICE void expand_some(const td_push_args *push, const td_context *c, push_round *r, uint32_t count, bool local)
{
    if (local) expand_among(push, c, r, count, false, td_warp(), td_threads() / TD_WARP);
    else if (count <= td_blocks()) expand_few(push, c, r, count);
    else expand_by_warps(push, c, r, count, false);
}

TD_DEVICE void expand_parts(const td_cores_args *a, const td_context *c, push_round *r, uint32_t count, bool local,
                            bool parts, uint32_t *on_device)
{
    if (parts) {
        td_push_args prefix = a->loop.push;
        uint32_t edges = r->taken_edges, vertices = r->taken_vertices;
        prefix.list = a->prefix;
        prefix.high_degree = 0xffffffffu; /* pieces are of the rest */
        r->skip = 0;
        expand_some(&prefix, c, r, count, local);
        *on_device += r->taken_edges - edges;
        r->taken_vertices = vertices;
        r->skip = a->prefix.offsets;
    }
    expand_some(&a->loop.push, c, r, count, local);
}

/* Removes the vertices in the block's buffer, and those that this adds to it. All threads of the block call. */
TD_DEVICE void drain_buffer(const td_cores_args *a, const td_context *c, push_round *r, bool parts, uint32_t *on_device)
{
    uint32_t *buffer = peel_buffer(), head = 0;
    if (a->buffer == 0) return;
    for (;;) {
        TD_BARRIER();
        uint32_t tail = TD_LOAD(&buffer[PEEL_BUFFER]);
        if (tail > a->buffer) tail = a->buffer;
        TD_BARRIER(); /* all have read it before it grows */
        if (tail == head) break;
        r->in = buffer + head;
        expand_parts(a, c, r, tail - head, true, parts, on_device);
        head = tail;
    }
    if (td_thread() == 0) TD_STORE(&buffer[PEEL_BUFFER], 0u);
}

/* Pushes along the lists of `count` queued vertices; afterwards all blocks see the next queue. */
TD_DEVICE void push_queued(const td_cores_args *a, const td_context *c, push_round *r, uint32_t count, bool drains,
                           bool parts)
{
    td_gpu_control *control = a->loop.push.state.control;
    td_gpu_row *row = &control->rows[r->number];
    uint32_t on_device = 0;
    expand_parts(a, c, r, count, false, parts, &on_device);
    if (drains) drain_buffer(a, c, r, parts, &on_device);
    warp_add_u64(&r->next->edges, r->next_edges);
    TD_GRID_BARRIER(false, &control->barrier);
    uint32_t pieces = a->loop.has_high_degree ? TD_LOAD(&r->now->pieces) : 0;
    if (pieces > 0) {
        r->next_edges = 0;
        expand_pieces(&a->loop.push, c, r, pieces);
        if (drains) drain_buffer(a, c, r, parts, &on_device);
        warp_add_u64(&r->next->edges, r->next_edges);
    }
    warp_add_u32(&row->edges, r->taken_edges);
    if (parts) warp_add_u32(&row->other_edges, r->taken_edges - on_device);
    uint32_t taken = TD_WARP_SUM(r->taken_vertices);
    if (td_lane() == 0 && taken > 0) TD_ADD(&row->vertices, taken);
    if (pieces > 0) TD_GRID_BARRIER(false, &control->barrier);
}

/* Whether the loop goes on with a queue of `count` vertices in this shape of launch. */
TD_DEVICE bool stays(const td_cores_args *a, const push_round *r, uint32_t count, bool may_shrink)
{
    uint64_t edges = TD_LOAD(&r->next->edges);
    bool fits = count == 0 || (edges <= a->loop.leave_edges && (may_shrink || edges >= a->loop.stay_edges));
    return fits && r->number + 1 < a->loop.most_rounds;
}

TD_DEVICE push_round cores_round(const td_cores_args *a, uint32_t slot, uint32_t number, uint32_t pushes)
{
    push_round r = round_of(&a->loop, slot, number, false);
    if (td_global_thread() == 0) clear_slot(&a->loop.push.state.control->slot[(slot + 2) % TD_GPU_SLOTS]);
    r.map = r.next_map = 0; /* a vertex is queued once, by the atomic that crosses its limit */
    r.cores = a;
    r.cores_push = pushes;
    return r;
}

TD_DEVICE void run_peel(const td_cores_args *a, bool parts)
{
    td_context c = kernel_context(&a->loop.push.state);
    td_gpu_control *control = a->loop.push.state.control;
    td_gpu_peeling at = control->peeling;
    uint32_t slot = control->at, round = 0, count = TD_LOAD(&control->slot[slot].count);
    if (td_thread() == 0) TD_STORE(&peel_buffer()[PEEL_BUFFER], 0u);
    TD_BARRIER();
    for (bool more = true; more; slot++, round++) {
        push_round r = cores_round(a, slot, round, CORES_REMOVALS);
        bool scans = count == 0;
        c.phase = at.next_level - 1;
        r.bound = at.window_end;
        r.far = near_list(a, &at);
        r.far_count = &control->peeling.near_count[at.near_at];
        if (scans) find_level(a, &r, &at);
        else push_queued(a, &c, &r, count, true, parts);
        count = TD_LOAD(&r.next->count);
        if (scans && td_global_thread() == 0) control->rows[round].split = 1;
        more = !at.done && stays(a, &r, count, !scans);
    }
    if (td_global_thread() != 0) return;
    control->rounds = round;
    control->at = slot % TD_GPU_SLOTS;
    control->peeling.next_level = at.next_level;
    control->peeling.window_end = at.window_end;
    control->peeling.left_count = at.left_count;
    control->peeling.left_at = at.left_at;
    control->peeling.near_at = at.near_at;
    control->peeling.near_spare = at.near_spare;
    control->peeling.done = at.done;
    control->peeling.scanned = at.scanned;
}

TD_DENSE_KERNEL(cores_peel, td_cores_args, TD_GPU_CLUSTER_THREADS, PUSH_BLOCKS) { run_peel(&a, false); }
TD_DENSE_KERNEL(cores_peel_parts, td_cores_args, TD_GPU_CLUSTER_THREADS, PUSH_BLOCKS) { run_peel(&a, true); }

/* Lowers the bound of every queued vertex to what its bins allow; a warp reads 32 bins at a time, from the top. */
TD_DEVICE void let_fall(const td_cores_args *a, const uint32_t *queue, uint32_t count)
{
    uint32_t *bounds = (uint32_t *)a->loop.push.state.values;
    for (uint32_t i = td_global_thread() / TD_WARP; i < count; i += td_global_threads() / TD_WARP) {
        uint32_t v = queue[i], bound = bounds[v], have = a->support[v], above = bound, found = 0, total;
        const uint32_t *bins = a->bins + a->places[v];
        for (;;) {
            uint32_t k = above - 1 - td_lane(), bin = above > td_lane() + 1 ? bins[k - 1] : 0;
            uint32_t mine = have + bin + warp_scan(bin, &total);
            found = TD_BALLOT(TD_ALL_LANES, above > td_lane() && mine >= k); /* k = 0 is always enough */
            if (found != 0) {
                have = TD_SHUFFLE(TD_ALL_LANES, mine, TD_LOWEST_BIT(found));
                break;
            }
            have += total;
            above -= TD_WARP;
        }
        if (td_lane() != 0) continue;
        a->before[v] = bound;
        bounds[v] = above - 1 - TD_LOWEST_BIT(found);
        a->support[v] = have;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
}

/* All vertices are queued with bounds that no neighbour has seen. */
TD_DEVICE void begin_falling(const td_cores_args *a)
{
    const td_gpu_state *state = &a->loop.push.state;
    for (uint32_t v = td_global_thread(); v < state->vertices; v += td_global_threads()) {
        a->loop.queue[0][v] = v;
        a->before[v] = 0xffffffffu;
        a->support[v] = (uint32_t)state->context.input[0][v];
    }
    TD_GRID_BARRIER(false, &state->control->barrier);
}

TD_DENSE_KERNEL(cores_histogram, td_cores_args, TD_GPU_CLUSTER_THREADS, PUSH_BLOCKS)
{
    const td_context c = kernel_context(&a.loop.push.state);
    td_gpu_control *control = a.loop.push.state.control;
    uint32_t slot = control->at, round = 0;
    uint32_t count = TD_LOAD(&control->slot[slot].count); /* in both cases: nvcc 13 merges the two loads of a choice
                                                           * between a parameter and memory, and reads address 0 */
    if (a.builds) {
        count = a.loop.push.state.vertices;
        begin_falling(&a);
    }
    for (bool more = true; more; slot++, round++) {
        push_round r = cores_round(&a, slot, round, CORES_FALLS);
        if (!a.builds || round > 0) {
            let_fall(&a, r.in, count);
            TD_GRID_BARRIER(false, &control->barrier);
        }
        push_queued(&a, &c, &r, count, false, false);
        count = TD_LOAD(&r.next->count);
        more = count > 0 && stays(&a, &r, count, false);
    }
    if (td_global_thread() != 0) return;
    control->rounds = round;
    control->at = slot % TD_GPU_SLOTS;
}
