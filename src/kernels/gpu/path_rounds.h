/* Rounds along paths inside one launch (engine/paths/rounds.c): the steps of paths.h with barriers of the whole grid
 * between them, until nothing is marked, or until the host has to decide. `path_rounds` walks range after range;
 * `path_push_rounds` is the variant without paths.
 *
 * Every round has a slot of counters. All threads read it behind a barrier and take the same decisions. Per round:
 *
 *   [rank, order]  walk  [mark the paths of vertices with many edges]  [scan]  [scan below a lower threshold] */

enum { PATH_WARP_BLOCKS = 4, PATH_PACKED_BLOCKS = 2 }; /* on a multiprocessor; with 4 path_packed_rounds spills 556 bytes */

/* Words of a tally that are counts; the others are sums of real numbers and pointers. */
enum {
    PATH_COUNT_WORDS = offsetof(td_path_tally, levels) / sizeof(uint64_t),
    PATH_FIRST_REAL = offsetof(td_path_tally, residual) / sizeof(uint64_t),
    PATH_END_REAL = offsetof(td_path_tally, listed) / sizeof(uint64_t),
};

/* The first block adds the slot of the round before to the total, and clears the slot of the next round: no thread
 * reads that one since the barrier before. */
TD_DEVICE void path_turn(td_path_loop *loop, uint32_t round)
{
    const uint32_t each = sizeof(td_path_tally) / sizeof(uint64_t);
    const uint64_t *before = (const uint64_t *)&loop->slot[(round + TD_PATH_RING - 1) % TD_PATH_RING];
    uint64_t *next = (uint64_t *)&loop->slot[(round + 1) % TD_PATH_RING], *total = (uint64_t *)&loop->total;
    if (td_block() > 0) return;
    for (uint32_t i = td_thread(); i < sizeof(td_path_slot) / sizeof *next; i += td_threads()) next[i] = 0;
    for (uint32_t i = td_thread(); i < PATH_COUNT_WORDS; i += td_threads())
        if (i < PATH_FIRST_REAL || i >= PATH_END_REAL)
            for (uint32_t of = 0; of < 4; of++) total[i] += before[of * each + i];
}

/* What the host reads when the launch ends. */
TD_DEVICE void path_end_rounds(td_path_loop *loop, uint32_t walks, uint32_t rounds, uint32_t round)
{
    if (td_global_thread() != 0) return;
    loop->walks = walks;
    loop->rounds = rounds;
    loop->round = round;
}

TD_DEVICE bool path_is_real(double residual) { return residual < 1e300; }

/* Whether the rounds end after a scan: the host compares, multiplies or gives up. */
TD_DEVICE bool path_needs_host(const td_path_rule *rule, const td_path_tally *found, double updates, bool balances)
{
    if (!path_is_real(found->residual) || found->residual <= td_path_tolerance(rule, found)) return true;
    return (balances && rule->balances && td_path_unbalanced(rule, found)) || updates > rule->most_updates;
}

#if PATH_HAS_WARPS
/* Marks all paths of a range. All threads of the grid call. */
TD_DEVICE void path_mark_range(const td_path_state *s, const td_path_range *range)
{
    uint32_t warps = td_global_threads() / TD_WARP;
    for (uint32_t i = td_global_thread() / TD_WARP; i < range->partitions; i += warps) {
        uint32_t k = range->first_partition + i, first = s->first_word[k];
        for (uint32_t w = first + td_lane(); w < s->first_word[k + 1]; w += TD_WARP)
            TD_POKE(&s->marks[w], path_valid(&s->partition[k], 32 * (w - first)));
    }
}

#else
TD_DEVICE void path_mark_range(const td_path_state *s, const td_path_range *range) { (void)s, (void)range; }
#endif

/* A block's shared memory. */
typedef struct path_shared {
    td_path_tally *block;
    td_path_proxies *proxies;
    uint32_t *longest, *before_class;
    double *levels;
} path_shared;

/* Dense rounds are those of warps that walk together. */
TD_DEVICE void path_run_rounds(const td_path_rounds_args *a, path_way way, const path_shared *shared)
{
    td_path_tally *block = shared->block;
    td_path_proxies *proxies = shared->proxies;
    uint32_t *longest = shared->longest;
    double *levels = shared->levels;
    const td_context c = kernel_context(&a->of.state);
    td_path_state s = a->of.paths;
    td_path_loop *loop = a->loop;
    uint32_t at = a->first_range, walks = 0, rounds = 0, dense_rounds = 0;
    bool within = a->within != 0, opened = within, left = false, dense = false, quiet = false;
    double least = s.least, updates = 0, near_updates = 0, one_over_delta = s.one_over_delta;
    uint32_t raised = 0;
    if (s.hubs != 0) path_clear_proxies(&proxies[td_warp()], &c);
    while (at < a->end_range && !left) {
        td_path_range range = a->range; /* no choice between a parameter and memory: see cores_histogram */
        if (a->ranges != 0) range = a->ranges[at];
        const uint32_t *list = a->of.list != 0 ? a->of.list + range.first_member : 0;
        td_path_slot *slot = &loop->slot[walks % TD_PATH_RING];
        path_turn(loop, walks++);
        s.least = least;
        s.one_over_delta = range.cyclic ? one_over_delta : 0;

        /* Vertices where the paths of a range without cycles begin are applied first. */
        if (range.opens && !opened) {
            s.round++;
            s.late_count = &slot->late_open;
            td_path_tally t = path_begin_tally(block);
            for (uint32_t i = td_global_thread(); i < range.openers; i += td_global_threads())
                path_open(&s, &c, list[i], &t);
            path_end_tally(&t, &slot->open);
            TD_GRID_BARRIER(false, &loop->barrier);
            if (s.late != 0 && slot->late_open > 0) {
                t = path_begin_tally(block);
                path_notice_late(&s, &t);
                path_end_tally(&t, &slot->open);
                TD_GRID_BARRIER(false, &loop->barrier);
            }
        }
        opened = true;

        if (quiet && !dense) { /* nothing was marked in dense rounds: every path may have something to send */
            path_mark_range(&s, &range);
            TD_GRID_BARRIER(false, &loop->barrier);
        }
        quiet = dense;
        dense_rounds += dense;
        td_path_span span = {range.first_partition, range.partitions, range.ranked && !dense ? a->of.span.ranks : 0,
                             a->of.span.order, slot->classes, a->steal ? &slot->next : 0, a->of.span.early,
                             a->of.span.early_count, dense, a->of.span.pack};
        if (range.ranked && !dense) {
            path_rank_span(&s, &span);
            TD_GRID_BARRIER(false, &loop->barrier);
            path_order_span(&span, shared->before_class);
            TD_GRID_BARRIER(false, &loop->barrier);
        }
        s.round++;
        s.late_count = &slot->late;
        td_path_tally t = path_begin_tally(block);
        if (s.hubs != 0) t.proxies = &proxies[td_warp()];
        path_walk_span(&s, &c, &span, way, longest, &t);
        path_end_tally(&t, &slot->walk);
        TD_GRID_BARRIER(false, &loop->barrier);
        uint32_t listed = (uint32_t)slot->walk.listed;
        rounds += listed > 0;
        within |= listed > 0;
        updates += (double)slot->walk.updates;
        near_updates += (double)slot->walk.updates;
        if (s.late != 0 && slot->late > 0) {
            t = path_begin_tally(block);
            path_notice_late(&s, &t);
            path_end_tally(&t, &slot->walk);
            TD_GRID_BARRIER(false, &loop->barrier);
        }

        bool decides = a->until == TD_PATH_DECISION, over = listed == 0, scans = decides;
        if (a->until == TD_PATH_MEASURED) scans = over;
        if (a->until == TD_PATH_SETTLED) scans = over && range.cyclic && within;
        double bound = decides && !(least > 0) ? INFINITY : least;
        for (uint32_t which = 0; scans; which++) {
            td_path_tally *found = &slot->scan[which];
            s.least = bound;
            t = path_begin_tally(block);
            for (uint32_t i = td_global_thread(); i < range.members; i += td_global_threads())
                path_scan(&s, &c, list != 0 ? TD_READ_ONLY(&list[i]) : i, &t);
            path_end_tally(&t, found);
            TD_GRID_BARRIER(false, &loop->barrier);
            scans = false;
            if (a->until == TD_PATH_SETTLED && found->wanting > 0) over = false;
            if (!decides && s.one_over_delta > 0 && over && found->residual > 0 && which == 0) {
                td_path_raise(found->residual, near_updates, range.members, &one_over_delta, &s.bound);
                s.one_over_delta = one_over_delta;
                near_updates = 0;
                raised++;
                scans = true; /* marks the vertices up to the new bound */
                continue;
            }
            if (!decides) break;
            if (which == 0) {
                left = path_needs_host(&a->rule, found, updates, walks > 1 || a->within);
                if (left) break;
                if (td_thread() < TD_PATH_LEVELS) levels[td_thread()] = found->levels[td_thread()];
                TD_BARRIER();
                bound = td_path_threshold(&a->rule, found, levels);
                scans = !(least > 0 && bound >= least);
                least = bound;
            }
            if (!scans) left = over && found->wanting == 0;
            dense = way == PATH_BY_WARP && (double)found->reach > a->dense * (double)range.edges;
        }
        left |= rounds >= a->most_rounds;
        if (decides || !over) continue;
        at++;
        within = opened = false;
    }
    if (quiet) path_mark_range(&s, &a->range);
    path_end_rounds(loop, walks, rounds, s.round);
    if (td_global_thread() != 0) return;
    loop->dense = dense_rounds;
    loop->raised = raised;
    loop->one_over_delta = one_over_delta;
    loop->bound = s.bound;
    loop->range = at;
    loop->within = within;
    loop->least = least;
}

TD_KERNEL(path_rounds, td_path_rounds_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, longest, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, before_class, TD_PATH_CLASSES);
    TD_SHARED(double, levels, TD_PATH_LEVELS);
    const path_shared shared = {block, proxies, longest, before_class, levels};
    path_run_rounds(&a, PATH_BY_LANES, &shared);
}

#if PATH_HAS_WARPS
/* Chains of dependent accesses: more warps on a multiprocessor hide more of them than registers save. */
TD_DENSE_KERNEL(path_warp_rounds, td_path_rounds_args, TD_GPU_THREADS, PATH_WARP_BLOCKS)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, before_class, TD_PATH_CLASSES);
    TD_SHARED(double, levels, TD_PATH_LEVELS);
    uint32_t none[TD_GPU_THREADS / TD_WARP] = {0}; /* of walks lane by lane */
    const path_shared shared = {block, proxies, none, before_class, levels};
    path_run_rounds(&a, PATH_BY_WARP, &shared);
}

TD_DENSE_KERNEL(path_packed_rounds, td_path_rounds_args, TD_GPU_THREADS, PATH_PACKED_BLOCKS)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, before_class, TD_PATH_CLASSES);
    TD_SHARED(double, levels, TD_PATH_LEVELS);
    uint32_t none[TD_GPU_THREADS / TD_WARP] = {0};
    const path_shared shared = {block, proxies, none, before_class, levels};
    path_run_rounds(&a, PATH_PACKED, &shared);
}
#endif

/* The variant without paths: vertices with deposits are applied and push, until none wants a change, or all together
 * want at most rule.allowance. */
TD_KERNEL(path_push_rounds, td_path_rounds_args)
{
    TD_SHARED(td_path_tally, block, 1);
    const td_context c = kernel_context(&a.of.state);
    td_path_state s = a.of.paths;
    td_path_loop *loop = a.loop;
    uint32_t walks = 0, rounds = 0;
    for (bool left = false; !left && walks < a.most_rounds;) {
        td_path_slot *slot = &loop->slot[walks % TD_PATH_RING];
        path_turn(loop, walks++);
        s.round++;
        td_path_tally t = path_begin_tally(block);
        path_push_words(&a.of, &s, &c, &t);
        path_end_tally(&t, &slot->walk);
        TD_GRID_BARRIER(false, &loop->barrier);
        bool pushed = slot->walk.reads > 0;
        rounds += pushed;
        if (pushed && PROGRAM_MEASURE == TD_MEASURE_NONE) continue;
        t = path_begin_tally(block);
        for (uint32_t v = td_global_thread(); v < s.vertices; v += td_global_threads()) path_scan(&s, &c, v, &t);
        path_end_tally(&t, &slot->scan[0]);
        TD_GRID_BARRIER(false, &loop->barrier);
        left = !pushed && slot->scan[0].wanting == 0;
        if (PROGRAM_MEASURE != TD_MEASURE_NONE)
            left |= !path_is_real(slot->scan[0].residual) || slot->scan[0].residual <= a.rule.allowance;
    }
    path_end_rounds(loop, walks, rounds, s.round);
}
