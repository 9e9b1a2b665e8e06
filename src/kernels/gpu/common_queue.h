/* Rounds of pushes on GPUs that have one memory (slices of one GPU), without the host. Values, bitmaps and the queue of the
 * frontier are those of the first member, and every warp of all members takes its share of the queue, whichever owns the
 * vertices: an edge costs the same on every member there, so that equal shares are what frontier stealing strives for
 * (engine/multi/loop.c). Lists stay with their fragments. Programs whose sum is TD_SUM_MIN. */

/* Where the fragments' vertices and lists begin, in shared memory: lanes look up different fragments. */
typedef struct common_table {
    uint32_t first[TD_GPU_FRAGMENTS + 1]; /* behind the last fragment: no vertex */
    td_gpu_list list[TD_GPU_FRAGMENTS];
} common_table;

/* What this member did in a round, beside push_round. */
typedef struct common_work {
    const td_joint_args *a;
    const common_table *table;
    uint32_t warp, warps; /* of all members */
    uint32_t stolen;      /* edges along lists of fragments that others own */
    uint32_t *late;       /* 0, or: room for vertices with so long lists that all warps of all members share them */
} common_work;

TD_DEVICE void common_fill(const td_joint_args *a, common_table *table)
{
    for (uint32_t k = td_thread(); k <= TD_GPU_FRAGMENTS; k += td_threads())
        table->first[k] = k <= a->fragments.count ? a->fragments.first[k] : TD_NO_VERTEX;
    for (uint32_t k = td_thread(); k < TD_GPU_FRAGMENTS; k += td_threads()) table->list[k] = a->list[k];
    TD_BARRIER();
}

/* The fragment of a vertex: `near`, that of its neighbour, or the last one that begins at or before it. */
TD_DEVICE uint32_t common_fragment(const common_table *table, uint32_t v, uint32_t near)
{
    uint32_t k = 0;
    if (v >= table->first[near] && v < table->first[near + 1]) return near;
    TD_UNROLL
    for (uint32_t step = TD_GPU_FRAGMENTS / 2; step > 0; step /= 2)
        if (v >= table->first[k + step]) k += step;
    return k;
}

/* Relaxes the edges of a batch along the lists of `fragments`; `changed`: the targets that become active. */
TD_DEVICE void common_relax(const common_work *work, const td_context *c, const push_batch *batch,
                            const uint32_t *fragments, const uint32_t *targets, bool *changed, program_value *fresh)
{
    const td_joint_args *a = work->a;
    program_value *values = (program_value *)a->state.values, old[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        if (batch->is[k]) old[k] = a->lean ? program_zero(c) : TD_PEEK(&values[targets[k]]);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        changed[k] = false;
        if (!batch->is[k]) continue;
        const void *weights = work->table->list[fragments[k]].weights;
        program_accum sum = contribution(&a->state, c, batch->message[k], weights, batch->edge[k]);
        fresh[k] = program_apply(c, targets[k], old[k], sum);
        changed[k] = program_activates(c, fresh[k], old[k]);
        if (changed[k]) old[k] = TD_MIN(&values[targets[k]], fresh[k]);
    }
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) changed[k] = changed[k] && program_activates(c, fresh[k], old[k]);
}

/* Counts the edges of queued vertices ahead, or prefetches where their lists begin (push.h, expect). */
TD_DEVICE void common_expect(const common_work *work, push_round *r, const uint32_t *fragments, const uint32_t *targets,
                             const bool *queued)
{
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        if (!queued[k]) continue;
        const uint64_t *offsets = work->table->list[common_fragment(work->table, targets[k], fragments[k])].offsets;
        if (work->a->lean) TD_PREFETCH(&offsets[targets[k]]);
        else r->next_edges += degree_in(offsets, targets[k]);
    }
}

/* Pushes along the edges of a batch; all lanes of a warp call. */
TD_DEVICE void common_push(const common_work *work, const td_context *c, push_round *r, const push_batch *batch,
                           const uint32_t *fragments)
{
    bool queued[PUSH_BATCH], deferred[PUSH_BATCH];
    uint32_t targets[PUSH_BATCH];
    program_value fresh[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        targets[k] = batch->is[k] ? TD_READ_ONCE(&work->table->list[fragments[k]].targets[batch->edge[k]]) : 0;
    common_relax(work, c, batch, fragments, targets, queued, fresh);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        deferred[k] = false;
#if PROGRAM_HAS_PRIORITY
        deferred[k] = queued[k] && r->defers && priority_of(work->a->one_over_delta, c, fresh[k]) > r->bound;
        queued[k] = queued[k] && !deferred[k];
#endif
    }
    if (r->next_map != 0) mark_batch(work->a->peer[0].far_map, r, targets, queued, deferred);
    push_places near = count_places(queued);
    if (td_lane() == 0 && near.total > 0) near.at = TD_ADD(&r->next->count, near.total);
    common_expect(work, r, fragments, targets, queued); /* while the atomic is under way */
    if (PROGRAM_HAS_PRIORITY && r->defers) {
        push_places far = count_places(deferred);
        if (td_lane() == 1 && far.total > 0) far.at = TD_ADD(r->far_count, far.total);
        fill_places(&far, 1, r->far, deferred, targets);
    }
    fill_places(&near, 0, r->out, queued, targets);
}

/* Every lane processes every 32nd edge of the warp's concatenated lists, which may be several fragments'. */
TD_DEVICE void common_scan(const common_work *work, const td_context *c, push_round *r, push_task task,
                           uint32_t fragment)
{
    uint32_t total, before = warp_scan(task.degree, &total);
    uint64_t shifted = task.begin - before;
    for (uint32_t base = 0; base < total; base += TD_WARP * PUSH_BATCH) {
        push_batch batch;
        uint32_t fragments[PUSH_BATCH];
        TD_UNROLL
        for (uint32_t k = 0; k < PUSH_BATCH; k++) {
            uint32_t i = base + k * TD_WARP + td_lane(), owner = owner_of(before, i);
            batch.is[k] = i < total;
            batch.edge[k] = TD_SHUFFLE(TD_ALL_LANES, shifted, owner) + i;
            batch.message[k] = TD_SHUFFLE(TD_ALL_LANES, task.message, owner);
            fragments[k] = TD_SHUFFLE(TD_ALL_LANES, fragment, owner);
        }
        common_push(work, c, r, &batch, fragments);
    }
}

/* All warps of all members take as many vertices at a time as keep them busy. Where lists may be long and there are fewer
 * vertices than warps, several warps share a list. */
TD_DEVICE void common_expand(common_work *work, const td_context *c, push_round *r, uint32_t count)
{
    const td_joint_args *a = work->a;
    bool shares = a->long_lists && count > 0 && count < work->warps;
    uint32_t team = shares ? work->warps / count : 1, teams = shares ? work->warps / team : work->warps;
    uint32_t fair = (count + teams - 1) / teams, chunk = fair < TD_WARP ? fair : TD_WARP;
    uint32_t mine = shares ? work->warp / team : work->warp, place = work->warp - mine * team;
    for (uint64_t base = (uint64_t)mine * chunk; base < count && mine < teams; base += (uint64_t)teams * chunk) {
        uint32_t i = (uint32_t)base + td_lane(), k = 0;
        push_task task = {0, 0, 0};
        if (td_lane() < chunk && i < count) {
            uint32_t u = r->in[i];
            k = common_fragment(work->table, u, 0);
            if (r->map != 0) TD_AND(&r->map[u / 32], ~(1u << (u & 31u)));
            task.begin = work->table->list[k].offsets[u];
            task.degree = (uint32_t)(work->table->list[k].offsets[u + 1] - task.begin);
            task.message = message_of(&a->state, u);
            if (shares) {
                joint_cut(team, place, &task.begin, &task.degree);
            } else if (work->late != 0 && task.degree > TD_GPU_LATE) {
                work->late[TD_ADD(&r->next->pieces, 1u)] = u;
                task.degree = 0;
            }
        }
        r->taken_edges += task.degree;
        if ((a->fragments.owned >> k & 1u) == 0) work->stolen += task.degree;
        common_scan(work, c, r, task, k);
    }
}

/* All warps of all members share the lists of the first `count` late vertices. */
TD_DEVICE void common_share(common_work *work, const td_context *c, push_round *r, uint32_t count)
{
    const td_joint_args *a = work->a;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t u = work->late[i], k = common_fragment(work->table, u, 0);
        const td_gpu_list *list = &work->table->list[k];
        uint32_t degree = (uint32_t)(list->offsets[u + 1] - list->offsets[u]);
        push_task task = {list->offsets[u], degree, message_of(&a->state, u)};
        joint_cut(work->warps, work->warp, &task.begin, &task.degree);
        if (task.degree == 0) continue;
        if (td_lane() > 0) task.degree = 0;
        r->taken_edges += task.degree;
        if ((a->fragments.owned >> k & 1u) == 0) work->stolen += task.degree;
        common_scan(work, c, r, task, k);
    }
}

TD_DEVICE bool is_first_thread(const td_joint_args *a) { return a->set.member == 0 && td_global_thread() == 0; }

TD_DEVICE push_round common_round(const td_joint_args *a, uint32_t slot, uint32_t number)
{
    const td_joint_peer *first = &a->peer[0];
    uint32_t odd = number & 1u;
    td_gpu_slot *here = &first->control->slot[slot % TD_GPU_SLOTS], *next = &first->control->slot[(slot + 1) % TD_GPU_SLOTS];
    push_round r = {first->queue[odd], first->queue[1 - odd], 0, 0, here, next, 0, 0, number, 0, 0, 0, false, 0, a->lean PUSH_NO_CORES};
    if (!a->state.first_hit) {
        r.map = first->map[odd];
        r.next_map = first->map[1 - odd];
    }
    if (is_first_thread(a)) clear_slot(&first->control->slot[(slot + 2) % TD_GPU_SLOTS]);
    return r;
}

/* Meets the others and returns the length of the next queue. */
TD_DEVICE uint32_t common_meet(const td_joint_args *a, push_round *r)
{
    if (!a->lean) warp_add_u64(&r->next->edges, r->next_edges);
    TD_SET_BARRIER(&a->set);
    return TD_LOAD(&r->next->count);
}

/* Every member counts its own edges. */
TD_DEVICE uint32_t common_run(common_work *work, const td_context *c, push_round *r, uint32_t count)
{
    td_gpu_row *row = &work->a->state.control->rows[r->number];
    work->stolen = 0;
    common_expand(work, c, r, count);
    warp_add_u32(&row->edges, r->taken_edges);
    warp_add_u32(&row->other_edges, work->stolen);
    return common_meet(work->a, r);
}

/* Writes the row of a round; whether another follows. */
TD_DEVICE bool common_close(const td_joint_args *a, const push_round *r, bool split, bool any, uint32_t count)
{
    uint64_t edges = a->lean ? (uint64_t)count * a->mean_degree : TD_LOAD(&r->next->edges);
    if (is_first_thread(a)) {
        td_gpu_row *row = &a->state.control->rows[r->number];
        row->vertices = count;
        row->split = split;
    }
    return (count > 0 || any) && (count == 0 || edges <= a->leave_edges) && r->number + 1 < a->most_rounds;
}

TD_DEVICE common_work common_begin(const td_joint_args *a, common_table *table)
{
    uint32_t each = td_threads() / TD_WARP;
    common_work work = {a, table, (a->first_block + td_block()) * each + td_warp(), a->set.blocks * each, 0, 0};
    common_fill(a, table);
    return work;
}

TD_KERNEL(levels_common, td_joint_args)
{
    TD_SHARED(common_table, table, 1);
    td_context c = kernel_context(&a.state);
    const td_gpu_control *control = a.peer[0].control;
    common_work work = common_begin(&a, table);
    uint32_t slot = control->at, number = 0, count = TD_LOAD(&control->slot[slot].count);
    for (bool more = true; more; slot++, number++) {
        push_round r = common_round(&a, slot, number);
        c.iteration = a.state.context.iteration + number;
        count = common_run(&work, &c, &r, count);
        more = common_close(&a, &r, false, false, count);
    }
    if (a.set.member == 0) joint_end(&a, slot, number);
}

#if PROGRAM_HAS_PRIORITY
/* The lowest priority above the bound among the deferred vertices, of which every thread of all members reads a share. */
TD_DEVICE uint32_t common_lowest(const common_work *work, const td_context *c, const uint32_t *far, uint32_t count,
                                 uint32_t bound)
{
    const td_joint_args *a = work->a;
    td_gpu_control *control = a->peer[0].control;
    const program_value *values = (const program_value *)a->state.values;
    uint32_t least = 0xffffffffu;
    for (uint32_t i = work->warp * TD_WARP + td_lane(); i < count; i += work->warps * TD_WARP) {
        uint32_t priority = priority_of(a->one_over_delta, c, TD_PEEK(&values[far[i]]));
        if (priority > bound && priority < least) least = priority;
    }
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, least, by);
        least = other < least ? other : least;
    }
    if (td_lane() == 0 && least != 0xffffffffu) TD_MIN(&control->far_lowest, least);
    TD_SET_BARRIER(&a->set);
    return TD_LOAD(&control->far_lowest);
}

/* Divides the deferred vertices: dropped, near or still far. */
TD_DEVICE void common_split(const common_work *work, const td_context *c, push_round *r, uint32_t at, uint32_t count,
                            uint32_t bound)
{
    const td_joint_args *a = work->a;
    const td_joint_peer *first = &a->peer[0];
    const program_value *values = (const program_value *)a->state.values;
    uint32_t threads = work->warps * TD_WARP, turns = (count + threads - 1) / threads;
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t i = turn * threads + work->warp * TD_WARP + td_lane(), v = i < count ? first->far[at][i] : 0;
        uint32_t priority = i < count ? priority_of(a->one_over_delta, c, TD_PEEK(&values[v])) : 0;
        bool open = i < count && priority > r->bound, near = open && priority <= bound;
        if (i < count && !(open && !near)) TD_AND(&first->far_map[v / 32], ~(1u << (v & 31u)));
        if (near) {
            TD_OR(&r->next_map[v / 32], 1u << (v & 31u));
            if (!a->lean) r->next_edges += degree_in(work->table->list[common_fragment(work->table, v, 0)].offsets, v);
        }
        warp_append(r->out, &r->next->count, near, v);
        warp_append(first->far[1 - at], &first->control->far_count[1 - at], open && !near, v);
    }
}

/* When no near vertex remains, the deferred vertices of the lowest priority become the frontier. */
TD_DEVICE uint32_t common_deal(const common_work *work, const td_context *c, push_round *r, uint32_t *at, uint32_t *bound)
{
    const td_joint_args *a = work->a;
    td_gpu_control *control = a->peer[0].control;
    uint32_t count = TD_LOAD(&control->far_count[*at]);
    uint32_t lowest = common_lowest(work, c, a->peer[0].far[*at], count, *bound);
    uint32_t fresh = lowest == 0xffffffffu ? *bound : lowest;
    common_split(work, c, r, *at, count, fresh);
    uint32_t next = common_meet(a, r);
    if (is_first_thread(a)) { /* no thread reads or adds to these before the next barrier */
        TD_STORE(&control->far_count[*at], 0u);
        TD_STORE(&control->far_lowest, 0xffffffffu);
    }
    *at = 1 - *at;
    *bound = fresh;
    return next;
}

TD_KERNEL(priorities_common, td_joint_args)
{
    TD_SHARED(common_table, table, 1);
    td_context c = kernel_context(&a.state);
    td_gpu_control *control = a.peer[0].control;
    common_work work = common_begin(&a, table);
    uint32_t slot = control->at, number = 0, far_at = control->far_at, bound = control->bound;
    uint32_t count = TD_LOAD(&control->slot[slot % TD_GPU_SLOTS].count);
    for (bool more = true; more; slot++, number++) {
        push_round r = common_round(&a, slot, number);
        r.bound = bound;
        r.far = a.peer[0].far[far_at];
        r.far_count = &control->far_count[far_at];
        r.defers = true;
        bool split = count == 0;
        count = split ? common_deal(&work, &c, &r, &far_at, &bound) : common_run(&work, &c, &r, count);
        bool any = TD_LOAD(&control->far_count[far_at]) > 0;
        more = common_close(&a, &r, split, any, count);
    }
    if (a.set.member != 0) return;
    joint_end(&a, slot, number);
    if (td_global_thread() == 0) {
        control->far_at = far_at;
        control->bound = bound;
    }
}
#endif
