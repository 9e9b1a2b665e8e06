/* Pull of first-hit programs: a vertex without a value scans its list up to the first active neighbour. A warp has 32
 * vertices: every lane scans the first few edges of its own vertex, then all lanes scan the remaining lists together,
 * one after another. Very long lists without a hit so far go to whole blocks (pull_late). */

typedef struct hit_sums {
    uint64_t scanned, activated, activated_edges;
} hit_sums;

TD_DEVICE void settle(const td_hit_args *a, const td_context *c, uint32_t v, uint32_t by, hit_sums *sums)
{
    program_value *values = (program_value *)a->state.values;
    program_accum found = contribution(&a->state, c, message_of(&a->state, by), 0, 0);
    TD_POKE(&values[v], program_apply(c, v, TD_PEEK(&values[v]), found));
    sums->activated++;
    sums->activated_edges += degree_in(a->state.push_offsets, v);
}

/* Tallies the scanned edges; bytes scanned in host memory also count as host_bytes. */
TD_DEVICE void add_hits(const td_hit_args *a, const hit_sums *sums)
{
    add_tally(&a->state, sums->scanned, sums->activated, sums->activated_edges);
    if (!a->part.from_host) return;
    block_add_u64(&a->state.control->tally.host_bytes, sums->scanned * sizeof(uint32_t));
    block_add_u64(&a->state.control->tally.host_edges, sums->scanned);
}

/* Edges that a single lane scans; 0 in later launches: their edges may be in host memory, which is read in lines. */
TD_DEVICE uint32_t hit_alone(const td_hit_args *a) { return a->adding ? 0 : TD_GPU_ALONE; }

/* All lanes scan begin..end - 1 together; returns the first active neighbour, or TD_NO_VERTEX. */
TD_DEVICE uint32_t scan_together(const td_hit_args *a, uint64_t begin, uint64_t end, uint64_t *scanned)
{
    for (; begin < end; begin += TD_WARP) {
        uint64_t e = begin + td_lane();
        uint32_t u = e < end ? TD_READ_ONLY(&a->list.targets[e]) : 0;
        uint32_t hits = TD_BALLOT(TD_ALL_LANES, e < end && bit_of(a->state.active, u));
        *scanned += e < end;
        if (hits != 0) return TD_SHUFFLE(TD_ALL_LANES, u, TD_LOWEST_BIT(hits));
    }
    return TD_NO_VERTEX;
}

/* A warp's word of vertices: those that are open scan. Returns whether the lane's vertex is left to a block. */
TD_DEVICE bool hit_word(const td_hit_args *a, const td_context *c, uint32_t w, bool open, hit_sums *sums)
{
    uint32_t v = w * 32 + td_lane(), by = TD_NO_VERTEX;
    if (TD_BALLOT(TD_ALL_LANES, open) == 0) {
        if (td_lane() == 0 && !a->adding) a->state.next_active[w] = 0;
        return false;
    }
    list_part part = {0, 0};
    if (open) part = part_of(&a->part, a->list.offsets, v);
    uint64_t begin = part.begin, end = part.end;
    for (uint32_t i = 0; i < hit_alone(a) && begin < end && by == TD_NO_VERTEX; i++, begin++) {
        uint32_t u = TD_READ_ONLY(&a->list.targets[begin]);
        if (bit_of(a->state.active, u)) by = u;
        sums->scanned++;
    }
    bool late = false;
    uint32_t rest = TD_BALLOT(TD_ALL_LANES, by == TD_NO_VERTEX && begin < end);
    for (; rest != 0; rest &= rest - 1) {
        uint32_t lane = TD_LOWEST_BIT(rest);
        uint64_t from = TD_SHUFFLE(TD_ALL_LANES, begin, lane), to = TD_SHUFFLE(TD_ALL_LANES, end, lane);
        bool longer = to > from + TD_GPU_LATE;
        uint32_t hit = scan_together(a, from, longer ? from + TD_GPU_LATE : to, &sums->scanned);
        if (td_lane() == lane) {
            by = hit;
            late = longer && hit == TD_NO_VERTEX;
        }
    }
    if (by != TD_NO_VERTEX) settle(a, c, v, by, sums);
    uint32_t word = TD_BALLOT(TD_ALL_LANES, by != TD_NO_VERTEX);
    if (td_lane() == 0) a->state.next_active[w] = a->adding ? a->state.next_active[w] | word : word;
    return late;
}

TD_KERNEL(pull_hit, td_hit_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values, none = program_zero(&c);
    hit_sums sums = {0, 0, 0};
    uint32_t last = (a.part.end_vertex + 31) / 32;
    for (uint32_t w = a.part.first_vertex / 32 + td_global_thread() / TD_WARP; w < last;
         w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool open = v >= a.part.first_vertex && v < a.part.end_vertex && TD_PEEK(&values[v]) == none;
        if (hit_word(&a, &c, w, open, &sums)) a.late[TD_ADD(&a.state.control->tally.late, (uint64_t)1)] = v;
    }
    add_hits(&a, &sums);
}

/* A block scans the rest of a late vertex's list. */
TD_DEVICE void hit_late(const td_hit_args *a, const td_context *c, uint32_t v, hit_sums *sums)
{
    TD_SHARED(uint32_t, hit, 1);
    if (td_thread() == 0) TD_STORE(&hit[0], TD_NO_VERTEX);
    TD_BARRIER();
    list_part part = part_of(&a->part, a->list.offsets, v);
    uint64_t end = part.end;
    for (uint64_t base = part.begin + hit_alone(a) + TD_GPU_LATE; base < end;) {
        for (int turn = 0; turn < 4; turn++, base += td_threads()) {
            uint64_t e = base + td_thread();
            if (e >= end) continue;
            uint32_t u = TD_READ_ONLY(&a->list.targets[e]);
            if (bit_of(a->state.active, u)) TD_STORE(&hit[0], u);
            sums->scanned++;
        }
        TD_BARRIER();
        bool found = TD_LOAD(&hit[0]) != TD_NO_VERTEX;
        TD_BARRIER();
        if (found) break;
    }
    TD_BARRIER();
    if (td_thread() == 0 && hit[0] != TD_NO_VERTEX) {
        settle(a, c, v, hit[0], sums);
        TD_OR(&a->state.next_active[v / 32], 1u << (v & 31u));
    }
    TD_BARRIER();
}

TD_KERNEL(pull_late, td_hit_args)
{
    const td_context c = kernel_context(&a.state);
    hit_sums sums = {0, 0, 0};
    uint64_t count = a.state.control->tally.late;
    for (uint64_t i = td_block(); i < count; i += td_blocks()) hit_late(&a, &c, a.late[i], &sums);
    add_hits(&a, &sums);
}
