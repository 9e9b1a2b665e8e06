/* Whole searches of first-hit programs (bfs) on GPUs that have one memory, without the host: rounds in which the frontier
 * pushes from a common queue (common_queue.h) or all vertices without a value pull along their lists (pull_hit.h), whichever
 * visits fewer edges (Beamer), as the host would choose. All warps of all members take equal shares of either, whichever
 * member owns the vertices.
 *
 * A frontier is in a queue behind a push and in a bitmap behind a pull, and is converted when the next round needs the other
 * one. Counters are those of the round's row, which the host has cleared: no round clears anything but bitmaps. */

typedef struct search_state {
    uint64_t vertices, edges; /* of the frontier */
    td_unsettled unsettled;
    uint32_t number, queue, map; /* of the round; the queue and the bitmap that the frontier is in, or is converted to */
    bool listed, mapped;
} search_state;

TD_DEVICE uint32_t search_words(const td_search_args *s) { return (s->joint.state.vertices + 31) / 32; }

/* When the last block of this member has done its share; the blocks that wait at the barrier are idle. */
TD_DEVICE void search_note(const td_joint_args *a, td_gpu_search_row *row)
{
    TD_BARRIER();
    if (td_thread() == 0) TD_MAX(&row->ended[a->set.member], TD_CLOCK());
}

/* Bitmap into queue. */
TD_DEVICE void search_list(const td_search_args *s, const common_work *work, search_state *now, td_gpu_search_row *row)
{
    const td_joint_peer *first = &s->joint.peer[0];
    uint32_t words = search_words(s), *queue = first->queue[now->queue];
    const uint32_t *map = first->map[now->map];
    if (now->listed) return;
    for (uint32_t w = work->warp; w < words; w += work->warps) {
        uint32_t word = map[w];
        if (word != 0) warp_append(queue, &row->listed, word >> td_lane() & 1u, w * 32 + td_lane());
    }
    TD_SET_BARRIER(&s->joint.set);
    now->listed = true;
}

/* Moves the frontier from the queue to the bitmap. */
TD_DEVICE void search_map(const td_search_args *s, const common_work *work, search_state *now)
{
    const td_joint_peer *first = &s->joint.peer[0];
    uint32_t words = search_words(s), threads = work->warps * TD_WARP, thread = work->warp * TD_WARP + td_lane();
    uint32_t *map = first->map[now->map];
    const uint32_t *queue = first->queue[now->queue];
    if (now->mapped) return;
    for (uint32_t w = thread; w < words; w += threads) TD_STORE(&map[w], 0u);
    TD_SET_BARRIER(&s->joint.set);
    for (uint64_t i = thread; i < now->vertices; i += threads) TD_OR(&map[queue[i] / 32], 1u << (queue[i] & 31u));
    TD_SET_BARRIER(&s->joint.set);
    now->mapped = true;
}

/* Push. Lists that would keep one warp at work are left to all of them. */
TD_DEVICE void search_push(const td_search_args *s, common_work *work, const td_context *c, search_state *now,
                           td_gpu_search_row *row)
{
    const td_joint_args *a = &s->joint;
    const td_joint_peer *first = &a->peer[0];
    push_round r = {first->queue[now->queue], first->queue[1 - now->queue], 0, 0, &row->next, &row->next, 0, 0, now->number, 0,
                    0, 0, false, 0, false PUSH_NO_CORES};
    work->stolen = 0;
    common_expand(work, c, &r, (uint32_t)now->vertices);
    search_note(a, row);
    if (s->late_lists) {
        TD_SET_BARRIER(&a->set);
        common_share(work, c, &r, TD_LOAD(&row->next.pieces));
    }
    block_add_u64(&row->next.edges, r.next_edges);
    block_add_u64(&row->edges[a->set.member], (uint64_t)r.taken_edges);
    block_add_u64(&row->other_edges[a->set.member], (uint64_t)work->stolen);
    TD_SET_BARRIER(&a->set);
    now->vertices = TD_LOAD(&row->next.count);
    now->queue = 1 - now->queue;
    now->listed = true;
    now->mapped = false;
}

/* Pull. */

/* What this member scans of the fragment's lists, as the launches of pull_hit.h take it. */
TD_DEVICE td_hit_args search_hit(const td_search_args *s, const search_state *now, uint32_t fragment)
{
    td_hit_args hit = {0};
    hit.state = s->joint.state;
    hit.state.active = s->joint.peer[0].map[now->map];
    hit.state.next_active = s->joint.peer[0].map[1 - now->map];
    hit.state.push_offsets = s->joint.list[fragment].offsets;
    hit.list = s->pull[fragment];
    hit.part.end_edge = 0xffffffffffffffffu;
    hit.part.end_vertex = s->joint.state.vertices;
    hit.late = s->late;
    return hit;
}

TD_DEVICE void search_pull(const td_search_args *s, common_work *work, const td_context *c, search_state *now,
                           td_gpu_search_row *row)
{
    const td_joint_args *a = &s->joint;
    uint32_t words = search_words(s), member = a->set.member;
    const program_value *values = (const program_value *)a->state.values;
    hit_sums sums = {0, 0, 0};
    uint64_t stolen = 0;
    for (uint32_t w = work->warp; w < words; w += work->warps) {
        uint32_t k = common_fragment(work->table, w * 32, 0);
        td_hit_args hit = search_hit(s, now, k);
        uint64_t before = sums.scanned;
        uint32_t v = w * 32 + td_lane();
        bool open = v < a->state.vertices && TD_PEEK(&values[v]) == program_zero(c);
        if (hit_word(&hit, c, w, open, &sums)) s->late[TD_ADD(&row->next.pieces, 1u)] = v;
        if ((a->fragments.owned >> k & 1u) == 0) stolen += sums.scanned - before;
    }
    search_note(a, row);
    if (s->late_lists) {
        TD_SET_BARRIER(&a->set);
        uint32_t count = TD_LOAD(&row->next.pieces);
        for (uint32_t i = a->first_block + td_block(); i < count; i += a->set.blocks) {
            uint32_t v = s->late[i], k = common_fragment(work->table, v, 0);
            td_hit_args hit = search_hit(s, now, k);
            uint64_t before = sums.scanned;
            hit_late(&hit, c, v, &sums);
            if ((a->fragments.owned >> k & 1u) == 0) stolen += sums.scanned - before;
        }
    }
    block_add_u64(&row->activated, sums.activated);
    block_add_u64(&row->next.edges, sums.activated_edges);
    block_add_u64(&row->edges[member], sums.scanned);
    block_add_u64(&row->other_edges[member], stolen);
    TD_SET_BARRIER(&a->set);
    now->vertices = TD_LOAD(&row->activated);
    now->map = 1 - now->map;
    now->mapped = true;
    now->listed = false;
}

TD_KERNEL(search_common, td_search_args)
{
    TD_SHARED(common_table, table, 1);
    td_context c = kernel_context(&a.joint.state);
    common_work work = common_begin(&a.joint, table);
    search_state now = {a.vertices, a.edges, a.unsettled, 0, 0, 0, false, true};
    work.late = a.late_lists ? a.late : 0;
    while (now.vertices > 0 && now.number < a.joint.most_rounds) {
        td_gpu_search_row *row = &a.search->row[now.number];
        bool pushes = now.edges < td_hit_bound(&now.unsettled, search_words(&a));
        td_unsettled_subtract(&now.unsettled, now.vertices, now.edges);
        if (is_first_thread(&a.joint)) {
            row->began = TD_CLOCK();
            row->pulled = !pushes;
        }
        c.iteration = a.joint.state.context.iteration + now.number;
        if (pushes) {
            search_list(&a, &work, &now, row);
            search_push(&a, &work, &c, &now, row);
        } else {
            search_map(&a, &work, &now);
            search_pull(&a, &work, &c, &now, row);
        }
        now.edges = TD_LOAD(&row->next.edges);
        if (is_first_thread(&a.joint)) row->vertices = now.vertices;
        now.number++;
    }
    search_map(&a, &work, &now);
    if (!is_first_thread(&a.joint)) return;
    a.search->rounds = now.number;
    a.search->map = now.map;
    a.search->ended = TD_CLOCK();
}
