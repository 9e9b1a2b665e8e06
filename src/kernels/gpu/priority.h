/* Near-far (Davidson, Baxter, Garland, Owens, IPDPS'14): rounds process the near vertices, whose priority is at most
 * the bound, and defer the others to the far list. When no near vertex remains, the bound becomes the lowest far
 * priority, and the far vertices up to it become near. All rounds run in one launch, like `levels`.
 *
 * The bitmaps keep a vertex from entering a list twice. A deferred vertex that improves to a near priority stays in
 * the far list; its priority is then at most the old bound, and the next split drops it. */

/* Finds the lowest priority above the bound in the far list. All threads of the grid call. */
TD_DEVICE void find_lowest(const td_push_args *a, const td_context *c, const uint32_t *far, uint32_t count,
                           uint32_t bound, uint32_t *lowest)
{
    const program_value *values = (const program_value *)a->state.values;
    uint32_t least = 0xffffffffu;
    for (uint32_t i = td_global_thread(); i < count; i += td_global_threads()) {
        uint32_t priority = priority_of(a->one_over_delta, c, TD_PEEK(&values[far[i]]));
        if (priority > bound && priority < least) least = priority;
    }
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, least, by);
        least = other < least ? other : least;
    }
    if (td_lane() == 0 && least != 0xffffffffu) TD_MIN(lowest, least);
}

/* Divides the far vertices: dropped, near or still far. */
TD_DEVICE void split_far(const td_push_args *a, const td_context *c, push_round *r, uint32_t *const *far, uint32_t at,
                         uint32_t count, uint32_t old_bound, uint32_t bound)
{
    const program_value *values = (const program_value *)a->state.values;
    uint32_t turns = (count + td_global_threads() - 1) / td_global_threads();
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t i = turn * td_global_threads() + td_global_thread(), v = i < count ? far[at][i] : 0;
        uint32_t priority = i < count ? priority_of(a->one_over_delta, c, TD_PEEK(&values[v])) : 0;
        bool open = i < count && priority > old_bound, near = open && priority <= bound;
        if (i < count && !(open && !near)) TD_AND(&a->far_map[v / 32], ~(1u << (v & 31u)));
        if (near) {
            TD_OR(&r->next_map[v / 32], 1u << (v & 31u)); /* no other thread sets this bit: v is in the far list once */
            expect(a, r, v);
        }
        warp_append(r->out, &r->next->count, near, v);
        warp_append(far[1 - at], &a->state.control->far_count[1 - at], open && priority > bound, v);
    }
}

/* When no near vertex remains, moves the far vertices of the lowest priority to the frontier. All threads of the grid
 * call. */
TD_DEVICE void deal_out(const td_loop_args *a, const td_context *c, push_round *r, uint32_t *at, uint32_t *bound)
{
    td_gpu_control *control = a->push.state.control;
    uint32_t count = TD_LOAD(&control->far_count[*at]);
    find_lowest(&a->push, c, a->far[*at], count, *bound, &control->far_lowest);
    TD_GRID_BARRIER(a->cluster, &a->push.state.control->barrier);
    uint32_t lowest = TD_LOAD(&control->far_lowest), fresh = lowest == 0xffffffffu ? *bound : lowest;
    split_far(&a->push, c, r, a->far, *at, count, *bound, fresh);
    if (!r->lean) warp_add_u64(&r->next->edges, r->next_edges);
    TD_GRID_BARRIER(a->cluster, &a->push.state.control->barrier);
    if (td_global_thread() == 0) {
        TD_STORE(&control->far_count[*at], 0u);
        TD_STORE(&control->far_lowest, 0xffffffffu);
    }
    *at = 1 - *at;
    *bound = fresh;
}

TD_DEVICE void run_priorities(const td_loop_args *a, bool plain, bool lean)
{
    td_context c = kernel_context(&a->push.state);
    td_gpu_control *control = a->push.state.control;
    uint32_t slot = control->at, round = 0, far_at = control->far_at, bound = control->bound;
    uint32_t count = TD_LOAD(&control->slot[slot].count);
    for (bool more = true; more; slot++, round++) {
        push_round r = round_of(a, slot, round, lean);
        r.bound = bound;
        r.far = a->far[far_at];
        r.defers = true;
        r.far_count = &control->far_count[far_at];
        if (td_global_thread() == 0) clear_slot(&control->slot[(slot + 2) % TD_GPU_SLOTS]);
        bool split = count == 0;
        if (split) {
            deal_out(a, &c, &r, &far_at, &bound);
        } else {
            run_round(a, &c, &r, count, plain);
        }
        bool any = TD_LOAD(&control->far_count[far_at]) > 0;
        more = close_round(a, &r, split, any, &count);
        if (!more && lean) count_ahead(a, &r);
    }
    if (td_global_thread() == 0) {
        control->rounds = round;
        control->at = slot % TD_GPU_SLOTS;
        control->far_at = far_at;
        control->bound = bound;
    }
}

TD_DENSE_KERNEL(priorities, td_loop_args, TD_GPU_CLUSTER_THREADS, PUSH_BLOCKS) { run_priorities(&a, true, false); }
TD_DENSE_KERNEL(priorities_lean, td_loop_args, TD_GPU_CLUSTER_THREADS, 1) { run_priorities(&a, true, true); }
TD_KERNEL(priorities_otherwise, td_loop_args) { run_priorities(&a, false, a.push.lean); }
