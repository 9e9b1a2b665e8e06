/* Rounds of pushes on several GPUs at once, without the host: one cooperative launch per member of a group, all of which
 * meet at a set barrier after every round (engine/multi/loop.c). Frontiers are small here, so that latency counts and not
 * the number of messages: a member updates the owner's value and appends to the owner's queue directly, in the owner's
 * memory. Programs whose sum is TD_SUM_MIN.
 *
 * Counters go round in slots as in push.h. A slot's `count` is the length of the owner's next queue; `edges` are those of
 * the vertices that this member activated, whichever member owns them. Every warp reads the slots of all members after the
 * barrier, so that all members take the same decisions.
 *
 * `round_apart` is one such round for a host that launches every one (engine/multi/queue.c): members meet in the host's
 * waits. Its counters only grow, and the host takes differences: nothing has to be cleared between rounds, and a member
 * without active vertices is neither launched nor read. */

/* What a round counts per thread. */
typedef struct joint_round {
    uint32_t slot, next, odd;
    uint64_t taken_edges, next_edges;
    uint32_t bound, far_at;
    bool defers;
} joint_round;

TD_DEVICE joint_round joint_round_of(uint32_t slot, uint32_t number)
{
    joint_round r = {slot % TD_GPU_SLOTS, (slot + 1) % TD_GPU_SLOTS, number & 1u, 0, 0, 0, 0, false};
    return r;
}

/* Appends the lanes' vertices to the queues of their owners; all lanes call. `far`: to the lists of deferred vertices. */
TD_DEVICE void joint_append(const td_joint_args *a, const joint_round *r, bool wanted, uint32_t owner, uint32_t v,
                            bool far)
{
    for (uint32_t pending = TD_BALLOT(TD_ALL_LANES, wanted); pending != 0;) {
        uint32_t leader = TD_LOWEST_BIT(pending), to = TD_SHUFFLE(TD_ALL_LANES, owner, leader), at = 0;
        uint32_t same = TD_BALLOT(TD_ALL_LANES, wanted && owner == to);
        const td_joint_peer *peer = &a->peer[to];
        uint32_t *count = far ? &peer->control->far_count[r->far_at] : &peer->control->slot[r->next].count;
        uint32_t *list = far ? peer->far[r->far_at] : peer->queue[1 - r->odd];
        if (td_lane() == leader) at = TD_ADD_SYSTEM(count, TD_POPCOUNT(same));
        at = TD_SHUFFLE(TD_ALL_LANES, at, leader) - (far ? 0 : peer->before);
        if (same >> td_lane() & 1u) TD_STORE_SYSTEM(&list[at + TD_POPCOUNT(same & td_lanes_below())], v);
        pending &= ~same;
    }
}

/* Counts the lanes' new vertices by fragment, for the host; all lanes call. */
TD_DEVICE void joint_count(const td_joint_args *a, bool wanted, uint32_t k, uint32_t degree)
{
    td_gpu_control *control = a->state.control;
    for (uint32_t pending = TD_BALLOT(TD_ALL_LANES, wanted); pending != 0;) {
        uint32_t leader = TD_LOWEST_BIT(pending), which = TD_SHUFFLE(TD_ALL_LANES, k, leader);
        uint32_t same = TD_BALLOT(TD_ALL_LANES, wanted && k == which);
        warp_add_u64(&control->active_edges[which], wanted && k == which ? degree : 0);
        if (td_lane() == leader) TD_ADD(&control->active_vertices[which], (uint64_t)TD_POPCOUNT(same));
        pending &= ~same;
    }
}

/* Degree of a vertex of fragment k, or the mean where this member cannot read it or need not know. */
TD_DEVICE uint32_t joint_degree(const td_joint_args *a, uint32_t k, uint32_t v)
{
    return a->lean || a->list[k].offsets == 0 ? a->mean_degree : degree_in(a->list[k].offsets, v);
}

/* Relaxes one edge per lane; all lanes call. */
TD_DEVICE void joint_relax(const td_joint_args *a, const td_context *c, joint_round *r, const td_gpu_list *list, bool is,
                           uint64_t e, program_message message)
{
    uint32_t t = is ? TD_READ_ONCE(&list->targets[e]) : 0, k = is ? fragment_of(&a->fragments, t) : 0;
    uint32_t owner = a->owner[k];
    bool queued = false, deferred = false;
    if (is) {
        program_accum sum = contribution(&a->state, c, message, list->weights, e);
        program_value *value = (program_value *)a->peer[owner].values + t;
        program_value old = a->lean ? program_zero(c) : TD_LOAD_SYSTEM(value); /* a read first saves atomics, but takes time */
        program_value fresh = program_apply(c, t, old, sum);
        queued = program_activates(c, fresh, old);
        if (queued) old = TD_MIN_SYSTEM(value, fresh);
        queued = queued && program_activates(c, fresh, old);
#if PROGRAM_HAS_PRIORITY
        deferred = queued && r->defers && priority_of(a->one_over_delta, c, fresh) > r->bound;
        queued = queued && !deferred;
#endif
        if ((queued || deferred) && (a->apart || !a->state.first_hit)) {
            uint32_t *map = deferred ? a->peer[owner].far_map : a->peer[owner].map[1 - r->odd], bit = 1u << (t & 31u);
            bool marked = (TD_OR_SYSTEM(&map[t / 32], bit) & bit) != 0;
            queued = queued && !marked;
            deferred = deferred && !marked;
        }
        if (queued && !a->lean && !a->apart) r->next_edges += joint_degree(a, k, t);
    }
    joint_append(a, r, queued, owner, t, false);
    if (a->apart) joint_count(a, queued, k, queued ? joint_degree(a, k, t) : 0);
    else if (PROGRAM_HAS_PRIORITY && r->defers) joint_append(a, r, deferred, owner, t, true);
}

/* The lanes' lists of one fragment, concatenated and distributed over the lanes. */
TD_DEVICE void joint_expand_lists(const td_joint_args *a, const td_context *c, joint_round *r, const td_gpu_list *list,
                                  uint64_t begin, uint32_t degree, program_message message)
{
    uint32_t total, before = warp_scan(degree, &total);
    for (uint32_t base = 0; base < total; base += TD_WARP) {
        uint32_t i = base + td_lane(), owner = owner_of(before, i);
        uint64_t first = TD_SHUFFLE(TD_ALL_LANES, begin, owner);
        uint32_t place = i - TD_SHUFFLE(TD_ALL_LANES, before, owner);
        program_message sent = TD_SHUFFLE(TD_ALL_LANES, message, owner);
        joint_relax(a, c, r, list, i < total, first + place, sent);
    }
}

/* The part of a list that one of `team` warps processes: whole groups of 32 edges. */
TD_DEVICE void joint_cut(uint32_t team, uint32_t place, uint64_t *begin, uint32_t *degree)
{
    uint32_t each = ((*degree + team - 1) / team + TD_WARP - 1) / TD_WARP * TD_WARP, first = place * each;
    *begin += first;
    *degree = first >= *degree ? 0 : *degree - first < each ? *degree - first : each;
}

/* Warps take as many vertices at a time as keep all of them busy; where there are fewer vertices than warps, several
 * warps share a vertex's list. A member may own several fragments, whose lists are in different places: a warp processes
 * one fragment's at a time. */
TD_DEVICE void joint_expand(const td_joint_args *a, const td_context *c, joint_round *r, uint32_t count)
{
    const td_joint_peer *own = &a->peer[a->set.member];
    const uint32_t *queue = own->queue[r->odd];
    uint32_t *map = a->state.first_hit && !a->apart ? 0 : own->map[r->odd];
    uint32_t warps = td_global_threads() / TD_WARP, warp = td_global_thread() / TD_WARP;
    uint32_t team = count > 0 && count < warps ? warps / count : 1, teams = warps / team;
    uint32_t fair = (count + teams - 1) / teams, chunk = fair < TD_WARP ? fair : TD_WARP;
    for (uint64_t base = (uint64_t)(warp / team) * chunk; base < count; base += (uint64_t)teams * chunk) {
        uint32_t i = (uint32_t)base + td_lane(), u = 0, k = 0, degree = 0;
        uint64_t begin = 0;
        program_message message = 0;
        if (td_lane() < chunk && i < count) {
            u = TD_LOAD_SYSTEM(&queue[i]);
            k = fragment_of(&a->fragments, u);
            if (map != 0) TD_AND(&map[u / 32], ~(1u << (u & 31u)));
            if (a->changed != 0) TD_OR(&a->changed[u / 32], 1u << (u & 31u));
            begin = a->list[k].offsets[u];
            degree = (uint32_t)(a->list[k].offsets[u + 1] - begin);
            message = message_of(&a->state, u);
            joint_cut(team, warp % team, &begin, &degree);
        }
        r->taken_edges += degree;
        for (uint32_t pending = TD_BALLOT(TD_ALL_LANES, degree > 0); pending != 0;) {
            uint32_t which = TD_SHUFFLE(TD_ALL_LANES, k, TD_LOWEST_BIT(pending));
            uint32_t same = TD_BALLOT(TD_ALL_LANES, degree > 0 && k == which);
            joint_expand_lists(a, c, r, &a->list[which], begin, k == which ? degree : 0, message);
            pending &= ~same;
        }
    }
}

/* The sums of all members' slots, and of their deferred vertices. */
typedef struct joint_totals {
    uint64_t vertices, edges, far;
    uint32_t own; /* this member's queue */
} joint_totals;

TD_DEVICE joint_totals joint_read(const td_joint_args *a, uint32_t slot, uint32_t far_at)
{
    joint_totals totals = {0, 0, 0, 0};
    uint32_t count = 0;
    if (td_lane() < a->set.members) {
        td_gpu_control *control = a->peer[td_lane()].control;
        count = TD_LOAD_SYSTEM(&control->slot[slot].count);
        totals.edges = a->lean ? (uint64_t)count * a->mean_degree : TD_LOAD_SYSTEM(&control->slot[slot].edges);
        if (PROGRAM_HAS_PRIORITY) totals.far = TD_LOAD_SYSTEM(&control->far_count[far_at]);
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    totals.vertices = warp_sum_u64(count);
    totals.edges = warp_sum_u64(totals.edges);
    if (PROGRAM_HAS_PRIORITY) totals.far = warp_sum_u64(totals.far);
    totals.own = TD_SHUFFLE(TD_ALL_LANES, count, a->set.member);
    return totals;
}

/* Pushes along the edges of this member's frontier, meets the others and writes the round's row: the edges that this
 * member processed, and the vertices of the next frontier of all. */
TD_DEVICE joint_totals joint_push(const td_joint_args *a, const td_context *c, joint_round *r, uint32_t number,
                                  uint32_t count)
{
    td_gpu_control *control = a->state.control;
    joint_expand(a, c, r, count);
    warp_add_u64(&control->rows[number].edges, r->taken_edges);
    r->next_edges = warp_sum_u64(r->next_edges);
    if (td_lane() == 0 && r->next_edges != 0) TD_ADD_SYSTEM(&control->slot[r->next].edges, r->next_edges);
    TD_SET_BARRIER(&a->set);
    return joint_read(a, r->next, r->far_at);
}

TD_DEVICE void joint_end(const td_joint_args *a, uint32_t slot, uint32_t rounds)
{
    if (td_global_thread() != 0) return;
    a->state.control->rounds = rounds;
    a->state.control->at = slot % TD_GPU_SLOTS;
}

TD_KERNEL(levels_joint, td_joint_args)
{
    td_context c = kernel_context(&a.state);
    td_gpu_control *control = a.state.control;
    uint32_t slot = control->at, number = 0, count = TD_LOAD(&control->slot[slot].count);
    for (bool more = true; more; slot++, number++) {
        joint_round r = joint_round_of(slot, number);
        c.iteration = a.state.context.iteration + number;
        if (td_global_thread() == 0) clear_slot(&control->slot[(slot + 2) % TD_GPU_SLOTS]);
        joint_totals totals = joint_push(&a, &c, &r, number, count);
        if (td_global_thread() == 0) control->rows[number].vertices = (uint32_t)totals.vertices;
        count = totals.own;
        more = totals.vertices > 0 && totals.edges <= a.leave_edges && number + 1 < a.most_rounds;
    }
    joint_end(&a, slot, number);
}

TD_KERNEL(round_apart, td_joint_args)
{
    const td_context c = kernel_context(&a.state);
    joint_round r = joint_round_of(0, 0);
    r.bound = a.bound;
    r.defers = a.peer[a.set.member].far_map != 0;
    joint_expand(&a, &c, &r, a.count);
    block_add_u64(&a.state.control->tally.edges, r.taken_edges);
}

#if PROGRAM_HAS_PRIORITY
/* The lowest priority above the bound among the deferred vertices of all members. All threads of all members call. */
TD_DEVICE uint32_t joint_lowest(const td_joint_args *a, const td_context *c, uint32_t far_at, uint32_t bound)
{
    td_gpu_control *control = a->state.control;
    const uint32_t *far = a->peer[a->set.member].far[far_at];
    const program_value *values = (const program_value *)a->state.values;
    uint32_t count = TD_LOAD_SYSTEM(&control->far_count[far_at]), least = 0xffffffffu;
    for (uint32_t i = td_global_thread(); i < count; i += td_global_threads()) {
        uint32_t priority = priority_of(a->one_over_delta, c, TD_LOAD_SYSTEM(&values[TD_LOAD_SYSTEM(&far[i])]));
        if (priority > bound && priority < least) least = priority;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, least, by);
        least = other < least ? other : least;
    }
    if (td_lane() == 0 && least != 0xffffffffu) TD_MIN_SYSTEM(&control->far_lowest, least);
    TD_SET_BARRIER(&a->set);
    least = td_lane() < a->set.members ? TD_LOAD_SYSTEM(&a->peer[td_lane()].control->far_lowest) : 0xffffffffu;
    TD_WARP_BARRIER(TD_ALL_LANES);
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) {
        uint32_t other = TD_SHUFFLE_XOR(TD_ALL_LANES, least, by);
        least = other < least ? other : least;
    }
    return least;
}

/* Divides this member's deferred vertices: dropped, near or still far. */
TD_DEVICE void joint_split(const td_joint_args *a, const td_context *c, joint_round *r, uint32_t bound)
{
    td_gpu_control *control = a->state.control;
    const td_joint_peer *own = &a->peer[a->set.member];
    const program_value *values = (const program_value *)a->state.values;
    uint32_t count = TD_LOAD_SYSTEM(&control->far_count[r->far_at]);
    uint32_t turns = (count + td_global_threads() - 1) / td_global_threads();
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t i = turn * td_global_threads() + td_global_thread(), v = 0, bit = 0, priority = 0;
        if (i < count) {
            v = TD_LOAD_SYSTEM(&own->far[r->far_at][i]);
            bit = 1u << (v & 31u);
            priority = priority_of(a->one_over_delta, c, TD_LOAD_SYSTEM(&values[v]));
        }
        bool open = i < count && priority > r->bound, near = open && priority <= bound;
        if (i < count && !(open && !near)) TD_AND(&own->far_map[v / 32], ~bit);
        if (near) {
            TD_OR_SYSTEM(&own->map[1 - r->odd][v / 32], bit);
            if (!a->lean) r->next_edges += degree_in(a->list[fragment_of(&a->fragments, v)].offsets, v);
        }
        joint_append(a, r, near, a->set.member, v, false);
        joint_round other = *r;
        other.far_at = 1 - r->far_at;
        joint_append(a, &other, open && !near, a->set.member, v, true);
    }
}

/* When no member has a near vertex, the deferred vertices of the lowest priority become the frontier. */
TD_DEVICE joint_totals joint_deal(const td_joint_args *a, const td_context *c, joint_round *r, uint32_t *bound)
{
    td_gpu_control *control = a->state.control;
    uint32_t lowest = joint_lowest(a, c, r->far_at, *bound), fresh = lowest == 0xffffffffu ? *bound : lowest;
    joint_split(a, c, r, fresh);
    r->next_edges = warp_sum_u64(r->next_edges);
    if (td_lane() == 0 && r->next_edges != 0) TD_ADD_SYSTEM(&control->slot[r->next].edges, r->next_edges);
    TD_SET_BARRIER(&a->set);
    *bound = fresh;
    joint_totals totals = joint_read(a, r->next, 1 - r->far_at);
    if (td_global_thread() == 0) { /* no thread reads or adds to these before the next barrier */
        TD_STORE_SYSTEM(&control->far_count[r->far_at], 0u);
        TD_STORE_SYSTEM(&control->far_lowest, 0xffffffffu);
    }
    return totals;
}

TD_KERNEL(priorities_joint, td_joint_args)
{
    td_context c = kernel_context(&a.state);
    td_gpu_control *control = a.state.control;
    uint32_t slot = control->at, number = 0, far_at = control->far_at, bound = control->bound;
    joint_totals totals = joint_read(&a, slot % TD_GPU_SLOTS, far_at);
    for (bool more = true; more; slot++, number++) {
        joint_round r = joint_round_of(slot, number);
        r.bound = bound;
        r.far_at = far_at;
        r.defers = true;
        if (td_global_thread() == 0) clear_slot(&control->slot[(slot + 2) % TD_GPU_SLOTS]);
        bool split = totals.vertices == 0;
        totals = split ? joint_deal(&a, &c, &r, &bound) : joint_push(&a, &c, &r, number, totals.own);
        if (split) far_at = 1 - far_at;
        if (td_global_thread() == 0) {
            control->rows[number].vertices = (uint32_t)totals.vertices;
            control->rows[number].split = split;
        }
        bool fits = totals.vertices == 0 || totals.edges <= a.leave_edges;
        more = (totals.vertices > 0 || totals.far > 0) && fits && number + 1 < a.most_rounds;
    }
    joint_end(&a, slot, number);
    if (td_global_thread() == 0) {
        control->far_at = far_at;
        control->bound = bound;
    }
}
#endif
