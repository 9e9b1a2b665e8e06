/* Expansion: distributes all edges of the frontier over threads. Included after a definition of
 *
 *     TD_DEVICE void push_edges(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch)
 *
 * which all lanes of a warp call at once, with a few edges each. There are four ways, chosen by
 * resident.balance: a thread per vertex; blocks, warps or threads by degree (CTA); the same, with medium
 * vertices handed to idle warps (CGgraph's inter-warp balancing, section 5.3); and a scan of the degrees of
 * 32 vertices, so that every lane gets every 32nd edge of their concatenated lists. High-degree vertices are cut
 * into pieces, which all blocks process afterwards. */

typedef struct push_task {
    uint64_t begin;
    uint32_t degree; /* 0: none */
    program_message message;
} push_task;

enum { EXPAND_WARPS = TD_GPU_THREADS / TD_WARP };

/* The task of entry i of the frontier; the list of a high-degree vertex is cut into pieces instead. */
TD_DEVICE push_task take_task(const td_push_args *a, push_round *r, uint32_t i, uint32_t count)
{
    push_task task = {0, 0, 0};
    if (i >= count) return task;
    uint32_t u = r->in[i];
    if (r->map != 0) TD_AND(&r->map[u / 32], ~(1u << (u & 31u))); /* clear for the next round */
    list_part part = list_in(a, r, u);
    task.begin = part.begin;
    task.degree = (uint32_t)(part.end - part.begin);
    task.message = message_from(a, r, u);
#if PROGRAM_PEELS
    r->taken_edges += task.degree;
    r->taken_vertices++;
#else
    if (r->lean) r->next_edges += task.degree; /* one counter for both: `levels` has no register left */
#endif
    if (task.degree < a->high_degree) return task;
    cut_vertex(a->pieces, &r->now->pieces, u, task.degree, TD_GPU_PIECE);
    task.degree = 0;
    return task;
}

/* A batch of edges at, at + step, ... of a task, as far as they are below its degree. */
TD_DEVICE push_batch batch_of(const push_task *task, uint32_t at, uint32_t step)
{
    push_batch batch;
    TD_UNROLL
    for (uint32_t k = 0; k < PUSH_BATCH; k++) {
        batch.is[k] = at + k * step < task->degree;
        batch.edge[k] = task->begin + at + k * step;
        batch.message[k] = task->message;
    }
    return batch;
}

/* Every lane processes its own list. */
TD_DEVICE void expand_lanes(const td_push_args *a, const td_context *c, push_round *r, const push_task *task)
{
    for (uint32_t i = 0; TD_BALLOT(TD_ALL_LANES, i < task->degree) != 0; i += PUSH_BATCH) {
        push_batch batch = batch_of(task, i, 1);
        push_edges(a, c, r, &batch);
    }
}

/* Processes one list with `width` lanes of one or more warps; this warp starts at edge `first`. */
TD_DEVICE void expand_one(const td_push_args *a, const td_context *c, push_round *r, const push_task *task,
                          uint32_t first, uint32_t width)
{
    for (uint32_t i = first; i < task->degree; i += width * PUSH_BATCH) {
        push_batch batch = batch_of(task, i + td_lane(), width);
        push_edges(a, c, r, &batch);
    }
}

TD_DEVICE push_task task_of_lane(push_task task, uint32_t lane)
{
    task.begin = TD_SHUFFLE(TD_ALL_LANES, task.begin, lane);
    task.degree = TD_SHUFFLE(TD_ALL_LANES, task.degree, lane);
    task.message = TD_SHUFFLE(TD_ALL_LANES, task.message, lane);
    return task;
}

/* Every lane processes every 32nd edge of the warp's concatenated lists. */
TD_DEVICE void expand_scanned(const td_push_args *a, const td_context *c, push_round *r, push_task task)
{
    uint32_t total, before = warp_scan(task.degree, &total);
    uint64_t shifted = task.begin - before; /* plus i: the place of edge i, if it is in this list */
    for (uint32_t base = 0; base < total; base += TD_WARP * PUSH_BATCH) {
        push_batch batch;
        TD_UNROLL
        for (uint32_t k = 0; k < PUSH_BATCH; k++) {
            uint32_t i = base + k * TD_WARP + td_lane(), owner = owner_of(before, i);
            batch.is[k] = i < total;
            batch.edge[k] = TD_SHUFFLE(TD_ALL_LANES, shifted, owner) + i;
            batch.message[k] = TD_SHUFFLE(TD_ALL_LANES, task.message, owner);
        }
        push_edges(a, c, r, &batch);
    }
}

/* Puts the tasks of the lanes that give one into a list in shared memory, with one atomic per warp. */
TD_DEVICE void deposit(push_task *list, uint32_t *count, bool gives, push_task task)
{
    uint32_t lanes = TD_BALLOT(TD_ALL_LANES, gives), at = 0;
    if (lanes == 0) return;
    if (td_lane() == 0) at = TD_ADD(count, TD_POPCOUNT(lanes));
    at = TD_SHUFFLE(TD_ALL_LANES, at, 0);
    if (gives) list[at + TD_POPCOUNT(lanes & td_lanes_below())] = task;
}

TD_DEVICE void expand_medium_lanes(const td_push_args *a, const td_context *c, push_round *r, push_task task,
                                   uint32_t lanes)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        push_task theirs = task_of_lane(task, TD_LOWEST_BIT(lanes));
        expand_one(a, c, r, &theirs, 0, TD_WARP);
    }
}

/* Processes a block's 256 tasks by degree, each with the block, a warp or a thread. With `share`, medium tasks above
 * the warps' mean go to shared memory, from which idle warps take them. */
TD_DEVICE void expand_block(const td_push_args *a, const td_context *c, push_round *r, push_task task, bool share)
{
    TD_SHARED(push_task, large, TD_GPU_THREADS);
    TD_SHARED(push_task, spare, TD_GPU_THREADS);
    TD_SHARED(uint32_t, counts, 4); /* large, spare, taken of spare, medium */
    if (td_thread() < 4) TD_STORE(&counts[td_thread()], 0u);
    TD_BARRIER();
    bool is_large = task.degree > TD_GPU_THREADS, is_medium = !is_large && task.degree >= TD_WARP;
    deposit(large, &counts[0], is_large, task);
    uint32_t medium = TD_BALLOT(TD_ALL_LANES, is_medium);
    if (td_lane() == 0) TD_ADD(&counts[3], TD_POPCOUNT(medium));
    TD_BARRIER();
    uint32_t mean = share ? (TD_LOAD(&counts[3]) + EXPAND_WARPS - 1) / EXPAND_WARPS : TD_WARP;
    bool gives = is_medium && TD_POPCOUNT(medium & td_lanes_below()) >= mean;
    deposit(spare, &counts[1], gives, task);
    medium = TD_BALLOT(TD_ALL_LANES, is_medium && !gives);
    TD_BARRIER();
    uint32_t larges = TD_LOAD(&counts[0]), spares = TD_LOAD(&counts[1]);
    if (td_thread() == 0 && spares > 0) TD_ADD(&a->state.control->tasks_moved, (uint64_t)spares);
    for (uint32_t l = 0; l < larges; l++) expand_one(a, c, r, &large[l], td_warp() * TD_WARP, TD_GPU_THREADS);
    expand_medium_lanes(a, c, r, task, medium);
    while (spares > 0) {
        uint32_t next = 0;
        if (td_lane() == 0) next = TD_ADD(&counts[2], 1u);
        next = TD_SHUFFLE(TD_ALL_LANES, next, 0);
        if (next >= spares) break;
        expand_one(a, c, r, &spare[next], 0, TD_WARP);
    }
    if (task.degree >= TD_WARP) task.degree = 0;
    expand_lanes(a, c, r, &task);
    TD_BARRIER();
}

/* Warps, of which this is one, take as many vertices at a time as keep all of them busy. */
TD_DEVICE void expand_among(const td_push_args *a, const td_context *c, push_round *r, uint32_t count, bool lanes,
                            uint32_t warp, uint32_t warps)
{
    uint32_t fair = (count + warps - 1) / warps, chunk = fair < TD_WARP ? fair : TD_WARP;
    for (uint64_t base = (uint64_t)warp * chunk; base < count; base += (uint64_t)warps * chunk) {
        uint32_t i = (uint32_t)base + td_lane();
        push_task task = take_task(a, r, td_lane() < chunk ? i : count, count);
        if (lanes) expand_lanes(a, c, r, &task);
        else expand_scanned(a, c, r, task);
    }
}

TD_DEVICE void expand_by_warps(const td_push_args *a, const td_context *c, push_round *r, uint32_t count, bool lanes)
{
    expand_among(a, c, r, count, lanes, td_global_thread() / TD_WARP, td_global_threads() / TD_WARP);
}

TD_DEVICE void expand_by_blocks(const td_push_args *a, const td_context *c, push_round *r, uint32_t count, bool share)
{
    for (uint64_t base = (uint64_t)td_block() * TD_GPU_THREADS; base < count;
         base += (uint64_t)td_blocks() * TD_GPU_THREADS) {
        push_task task = take_task(a, r, (uint32_t)base + td_thread(), count);
        expand_block(a, c, r, task, share);
    }
}

/* `plain` is a compile-time constant: it removes the other ways, which cost registers. */
TD_DEVICE void expand(const td_loop_args *a, const td_context *c, push_round *r, uint32_t count, bool plain)
{
    if (plain) expand_by_warps(&a->push, c, r, count, false);
    else if (a->balance == TD_BALANCE_THREAD) expand_by_warps(&a->push, c, r, count, true);
    else expand_by_blocks(&a->push, c, r, count, a->balance == TD_BALANCE_IWB);
}

/* Processes the pieces of high-degree vertices, one per block at a time. */
TD_DEVICE void expand_pieces(const td_push_args *a, const td_context *c, push_round *r, uint32_t count)
{
    for (uint32_t p = td_block(); p < count; p += td_blocks()) {
        uint32_t u = (uint32_t)(a->pieces[p] >> 32);
        list_part part = list_in(a, r, u);
        uint64_t begin = part.begin + (a->pieces[p] & 0xffffffffu) * TD_GPU_PIECE, end = part.end;
        if (end > begin + TD_GPU_PIECE) end = begin + TD_GPU_PIECE;
        push_task task = {begin, (uint32_t)(end - begin), message_from(a, r, u)};
        expand_one(a, c, r, &task, td_warp() * TD_WARP, td_threads());
    }
}
